"""Edge lists: an edge a line, two labels separated by blanks, commas, semicolons or tabs.

Further values on a line are ignored and noted; lines that begin with ``#`` or ``%`` are comments.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from unveil.errors import UnveilError
from unveil.release import source
from unveil.release.graph import Graph, each_edge, simple_graph
from unveil.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["HEADERS", "read_edges", "write_edges"]

_BATCH = 1 << 16
_EMPTY = "no nodes; expected an edge a line: two nodes separated by blanks, commas or tabs"

HEADERS = {
    ("sender", "receiver"),
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("fromnodeid", "tonodeid"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("u", "v"),
}
_NUMBER = re.compile(rb"[+-]?[\d.]+(?:[eE][+-]?\d+)?")
_WITH_DICT = re.compile(rb"[^\s,;]+\s+[^\s,;]+\s+\{.*\}")
_QUOTED = re.compile(rb'(?<!\S)"[^"]*+"')


def read_edges(path: str | Path, directed: bool = False) -> Graph:
    """A graph from an edge list.

    The first line that is neither blank nor a comment (``#`` or ``%``) tells the separator, and may be a header such
    as ``source,target``. Where it is a comma, a semicolon or a tab, values may be quoted and may contain blanks.
    """
    from unveil.release import text

    path = Path(path)
    name = shown(path.name)
    data = text.read_text(path)
    first = _first_line(data)
    delimiter = _delimiter(first)
    if delimiter:
        texts, further = text.first_fields(data, delimiter, name)
    else:
        texts, further = _blank_separated(data, first, name)
    notes: tuple[str, ...] = ()
    if _is_header(first, delimiter):
        texts, notes = texts.slice(2), ("header line skipped",)
        if not directed:
            notes += ("edges read as undirected (--directed keeps their direction)",)
    if further:
        notes += ("values after the second on a line ignored",)
    codes, labels = text.encoded(texts)
    return simple_graph(codes[::2], codes[1::2], labels, directed, path.name, source.digest(path), notes, _EMPTY)


def _blank_separated(data: bytes, first: bytes, name: str) -> tuple[pa.Array, bool]:
    """The first two tokens of each line, and whether any line has more."""
    from unveil.release import text

    if any(len(quoted.split()) > 1 for quoted in _QUOTED.findall(first)):
        raise UnveilError(f"{name}: quoted values with blanks need commas, semicolons or tabs between them")
    texts, widths = text.tokens(data, comments=True, limit=2)
    lonely = widths == 1
    if lonely.any():
        line = int(lonely.argmax()) + 1
        raise UnveilError(f"{name}: line {line:,} lacks one of the two nodes of an edge; complete or remove it")
    return texts, bool((widths > 2).any())


def _first_line(data: bytes) -> bytes:
    """The first line that is neither blank nor a comment."""
    lines = (found.group().strip(b" \t") for found in re.finditer(rb"[^\r\n]++", data))
    return next((line for line in lines if line and line[0] not in b"#%"), b"")


def _delimiter(first: bytes) -> str:
    """What separates values: a comma, a semicolon or a tab, or "" for blanks.

    Tabs count as blanks between numbers, since tools mix both; between words they separate, as words may have blanks.
    """
    if _WITH_DICT.fullmatch(first):  # networkx writes the attributes of an edge as a dictionary behind it
        return ""
    outside = re.sub(rb'"[^"]*+"', b"", first)
    found = max(b",", b";", key=outside.count)
    if found in outside:
        return found.decode()
    return "\t" if b"\t" in outside and not all(map(_NUMBER.fullmatch, first.split())) else ""


def _is_header(first: bytes, delimiter: str) -> bool:
    """Whether the first line names columns. Blank-separated single letters are nodes rather than names."""
    values = [value.strip(b' \t"') for value in first.split(delimiter.encode() or None)]
    pair = tuple(value.decode().lower() for value in values[:2])
    return pair in HEADERS and (delimiter != "" or len(pair[0]) > 1)


def write_edges(graph: Graph, file: BinaryIO) -> None:
    """An edge a line, labels separated by a space, under a comment. Isolated nodes cannot be written so."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name = shown(graph.name)
    if ((graph.degrees == 0) & (graph.in_degrees == 0)).any():
        raise UnveilError(f"{name}: an edge list cannot hold nodes without edges; write .gml instead")
    if pc.any(pc.match_substring_regex(graph.labels, r'^[#%]|^$|[\s,;"{\x0b\x00\x{FEFF}]')).as_py():
        raise UnveilError(
            f"{name}: labels with blanks or punctuation cannot be written as edge list; write .gml instead"
        )
    sources, targets = each_edge(graph)
    first = " ".join(graph.labels[int(ends[0])].as_py() for ends in (sources, targets))
    if _is_header(first.encode(), ""):
        raise UnveilError(f"{name}: the first edge would read like a header; write .gml instead")
    how = "directed" if graph.directed else "undirected"
    file.write(f"# {how} graph, {graph.nodes} nodes, {graph.edges} edges\n".encode())
    for start in range(0, len(sources), _BATCH):
        ends = (graph.labels.take(pa.array(x[start : start + _BATCH])).to_pylist() for x in (sources, targets))
        file.write("".join(f"{u} {v}\n" for u, v in zip(*ends, strict=True)).encode())
