"""GML (Himsolt, *GML: A portable graph file format*, 1997). Attributes are left out, with a note."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import name2codepoint
from pathlib import Path
from typing import BinaryIO

from unveil.release.graph import Graph, edges_in_sequence
from unveil.release.graph_records import GraphRecords
from unveil.wording import safe_text

__all__ = ["read_gml", "write_gml"]

_BATCH = 1 << 16
_NODE_KEYS = ("id", "label")
_EDGE_KEYS = ("source", "target", "id", "key")  # the last two number edges

_KEY = re.compile(r'(?:\s|#[^\r\n]*+)*+(?:(?P<close>\])|(?P<key>[^\s\[\]"]++)|(?P<end>\Z))?')
_VALUE = re.compile(r'(?:\s|(?<=[\r\n])#[^\r\n]*+)*+(?:(?P<open>\[)|"(?P<text>[^"]*+)"|(?P<word>[^\s\[\]"]++))?')
_ENTITY = re.compile(r"&(?:#(?P<decimal>[0-9]{1,7})|#[xX](?P<hex>[0-9a-fA-F]{1,6})|(?P<name>[0-9A-Za-z]+));")


def read_gml(path: str | Path) -> Graph:
    """A graph from GML. Nodes are named by their ``label``, or by their ``id`` if labels are missing or repeat."""
    path = Path(path)
    records = GraphRecords(safe_text(path.name), lambda place: _line_number(path, place))
    _collect_records(_Window(_texts(path)), records)
    return records.build_graph(path)


def _texts(path: Path) -> Iterator[str]:
    from unveil.release.text_tokens import text_pieces

    return (piece.data.decode() for piece in text_pieces(path))


def _line_number(path: Path, place: int) -> int:
    """The line of a character, found by reading the file again: only an error needs it."""
    from unveil.release.text_tokens import line_number_at

    before = 0
    for text in _texts(path):
        data = text[:place].encode()
        before, place = before + line_number_at(data, len(data)) - 1, place - len(text)
        if place <= 0:
            break
    return before + 1


class _Window:
    """The part of a text that is being parsed. Positions count characters from the beginning of the file."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._texts, self._text, self._is_last = texts, "", False
        self._before, self._next = 0, 0  # what precedes the window, and what of it has been parsed

    @property
    def place(self) -> int:
        return self._before + self._next

    def match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Go on to the end of what matches the pattern, all parts of which must be optional."""
        while True:
            found = pattern.match(self._text, self._next)
            assert found is not None
            open_quote = found.lastgroup is None and self._text.startswith('"', found.end())
            if self._is_last or (found.end() < len(self._text) and not open_quote):
                self._next = found.end()
                return found
            self._load_more()

    def _load_more(self) -> None:
        """Load at least as much as is kept, so that a long value is not copied too often."""
        kept = max(self._next - 1, 0)  # a pattern may look at the character before
        parts, loaded = [self._text[kept:]], 0
        self._before, self._next = self._before + kept, self._next - kept
        while loaded <= len(parts[0]) and not self._is_last:
            text = next(self._texts, None)
            self._is_last = text is None
            parts.append(text or "")
            loaded += len(parts[-1])
        self._text = "".join(parts)


def _collect_records(window: _Window, records: GraphRecords) -> None:
    """Fill the records; ``lists`` are the keys of the open lists, ``record`` the scalars of a node or edge."""
    graphs = 0
    lists: list[str] = []
    record: dict[str, str] = {}
    for key, value, place in _key_value_pairs(window, records):
        if key == "]":
            _close_list(records, lists, record, place)
            lists.pop()
        elif value is None:
            _note_attribute(records, lists, key)
            lists.append(key)
            graphs += lists == ["graph"]
            if graphs > 1:
                raise records.error_at(place, "a second graph begins here; keep one graph per file")
            if len(lists) == 2:
                record = {}
        elif len(lists) == 2:
            _note_attribute(records, lists, key)
            record[key] = value
        elif lists == ["graph"] and key == "directed":
            if value not in ("0", "1"):
                raise records.error_at(place, "directed is neither 0 nor 1; write one of them")
            records.directed = value == "1"
    if lists:
        raise records.error_at(window.place, "the file ends inside a list; close it with ]")


def _note_attribute(records: GraphRecords, lists: list[str], key: str) -> None:
    """Remember that a node or an edge says more than what is read."""
    if lists == ["graph", "node"]:
        records.has_node_attributes |= key not in _NODE_KEYS
    elif lists == ["graph", "edge"]:
        records.has_edge_attributes |= key not in _EDGE_KEYS


def _close_list(records: GraphRecords, lists: list[str], record: dict[str, str], place: int) -> None:
    if not lists:
        raise records.error_at(place, "] closes no list; remove it")
    if lists == ["graph", "node"]:
        records.add_node(record.get("id"), record.get("label"), place)
    elif lists == ["graph", "edge"]:
        records.add_edge(record.get("source"), record.get("target"), place)


def _key_value_pairs(window: _Window, records: GraphRecords) -> Iterator[tuple[str, str | None, int]]:
    """Keys with their values and positions. A list opens without a value and closes with the key ``]``."""
    while True:
        found = window.match(_KEY)
        if found["close"]:
            yield "]", None, window.place
            continue
        if found["key"] is None:
            if found["end"] is None:
                raise records.error_at(window.place, "expected a key; check the brackets and quotes before it")
            return
        key = found["key"]
        found = window.match(_VALUE)
        if found.lastgroup is None:
            raise records.error_at(window.place, "a key has no value, or a quote is not closed; correct it")
        value = found["word"] if found["text"] is None else _ENTITY.sub(_decode_entity, found["text"])
        yield key, value, window.place


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
    sources, targets = edges_in_sequence(graph)
    for start in range(0, len(sources), _BATCH):
        ends = (x[start : start + _BATCH].tolist() for x in (sources, targets))
        lines = (f"  edge [\n    source {u}\n    target {v}\n  ]\n" for u, v in zip(*ends, strict=True))
        file.write("".join(lines).encode())
    file.write(b"]\n")


def _format_node(key: int, label: str) -> str:
    escaped = re.sub(r'[^ -~]|[&"]', lambda found: f"&#{ord(found.group())};", label)
    return f'  node [\n    id {key}\n    label "{escaped}"\n  ]\n'
