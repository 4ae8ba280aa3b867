"""GML (Himsolt, *GML: A portable graph file format*, 1997)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import name2codepoint
from pathlib import Path
from typing import BinaryIO

from unveil.release.graph import Graph, edge_endpoints
from unveil.release.graph_records import GraphRecords
from unveil.wording import safe_text

__all__ = ["read_gml", "write_gml"]

_BATCH = 1 << 16

_KEY = re.compile(r'(?:\s|#[^\r\n]*+)*+(?:(?P<close>\])|(?P<key>[^\s\[\]"]++)|(?P<end>\Z))?')
_VALUE = re.compile(r'(?:\s|(?<=[\r\n])#[^\r\n]*+)*+(?:(?P<open>\[)|"(?P<text>[^"]*+)"|(?P<word>[^\s\[\]"]++))?')
_ENTITY = re.compile(r"&(?:#(?P<decimal>[0-9]{1,7})|#[xX](?P<hex>[0-9a-fA-F]{1,6})|(?P<name>[0-9A-Za-z]+));")


def read_gml(path: str | Path) -> Graph:
    """A graph from GML. Nodes are named by their ``label``, or by their ``id`` if labels are missing or repeat."""
    from unveil.release.text_tokens import line_number_at, read_text

    path = Path(path)
    data = read_text(path)
    text = data.decode()
    records = GraphRecords(safe_text(path.name), lambda place: line_number_at(text[:place].encode(), len(data)))
    _collect_records(text, records)
    return records.build_graph(path)


def _collect_records(text: str, records: GraphRecords) -> None:
    """Fill the records; ``lists`` are the keys of the open lists, ``record`` the scalars of a node or edge."""
    graphs = 0
    lists: list[str] = []
    record: dict[str, str] = {}
    for key, value, place in _key_value_pairs(text, records):
        if key == "]":
            _close_list(records, lists, record, place)
            lists.pop()
        elif value is None:
            lists.append(key)
            graphs += lists == ["graph"]
            if graphs > 1:
                raise records.error_at(place, "a second graph begins here; keep one graph per file")
            if len(lists) == 2:
                record = {}
        elif len(lists) == 2:
            record[key] = value
        elif lists == ["graph"] and key == "directed":
            if value not in ("0", "1"):
                raise records.error_at(place, "directed is neither 0 nor 1; write one of them")
            records.directed = value == "1"
    if lists:
        raise records.error_at(len(text), "the file ends inside a list; close it with ]")


def _close_list(records: GraphRecords, lists: list[str], record: dict[str, str], place: int) -> None:
    if not lists:
        raise records.error_at(place, "] closes no list; remove it")
    if lists == ["graph", "node"]:
        records.add_node(record.get("id"), record.get("label"), place)
    elif lists == ["graph", "edge"]:
        records.add_edge(record.get("source"), record.get("target"), place)


def _key_value_pairs(text: str, records: GraphRecords) -> Iterator[tuple[str, str | None, int]]:
    """Keys with their values and positions. A list opens without a value and closes with the key ``]``."""
    place = 0
    while True:
        found = _KEY.match(text, place)
        assert found is not None  # every part of the pattern is optional
        place = found.end()
        if found["close"]:
            yield "]", None, place
            continue
        if found["key"] is None:
            if found["end"] is None:
                raise records.error_at(place, "expected a key; check the brackets and quotes before it")
            return
        key = found["key"]
        found = _VALUE.match(text, place)
        assert found is not None
        place = found.end()
        if found.lastgroup is None:
            raise records.error_at(place, "a key has no value, or a quote is not closed; correct it")
        value = found["word"] if found["text"] is None else _ENTITY.sub(_decode_entity, found["text"])
        yield key, value, place


def _decode_entity(entity: re.Match[str]) -> str:
    """The character of an entity such as ``&quot;`` or ``&#228;``; an unknown entity stays as it is."""
    if entity["name"]:
        code = name2codepoint.get(entity["name"], -1)
    else:
        code = int(entity["decimal"]) if entity["decimal"] else int(entity["hex"], 16)
    valid = 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000
    return chr(code) if valid else entity.group()


def write_gml(graph: Graph, file: BinaryIO) -> None:
    """Write GML, which keeps everything: nodes without edges, any label, the direction."""
    file.write(f"graph [\n  directed {int(graph.directed)}\n".encode())
    for start in range(0, graph.nodes, _BATCH):
        labels = graph.labels[start : start + _BATCH].to_pylist()
        file.write("".join(_format_node(k, label) for k, label in enumerate(labels, start)).encode())
    sources, targets = edge_endpoints(graph)
    for start in range(0, len(sources), _BATCH):
        ends = (x[start : start + _BATCH].tolist() for x in (sources, targets))
        lines = (f"  edge [\n    source {u}\n    target {v}\n  ]\n" for u, v in zip(*ends, strict=True))
        file.write("".join(lines).encode())
    file.write(b"]\n")


def _format_node(key: int, label: str) -> str:
    escaped = re.sub(r'[^ -~]|[&"]', lambda found: f"&#{ord(found.group())};", label)
    return f'  node [\n    id {key}\n    label "{escaped}"\n  ]\n'
