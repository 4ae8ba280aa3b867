"""Edge lists: one edge per line, two labels separated by blanks, commas, semicolons or tabs.

Further values on a line, such as weights, are left out, with a note; lines that begin with ``#`` or ``%`` are comments.
A comment ``# directed graph, 3 nodes, …`` as :func:`write_edges` writes it says that edges have directions. If another
comment before the first edge calls the graph directed, a note asks about it: files with each edge in both directions
often say so as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release.graph import Graph, edges_in_sequence, simple_graph
from unveil.settings import option_text
from unveil.wording import safe_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EDGE_HEADERS", "check_no_isolated_nodes", "read_edges", "write_edges"]

_BATCH = 1 << 16
_EMPTY_MESSAGE = "there are no nodes; expected one edge per line: two nodes separated by blanks, commas or tabs"

EDGE_HEADERS = {
    ("sender", "receiver"),
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("fromnodeid", "tonodeid"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("u", "v"),
}
_OWN_COMMENT = re.compile(rb"# directed graph, \d+ nodes, \d+ edges")
_DIRECTED_COMMENT = re.compile(rb"(?i)(?<!un)(?<!non-)\bdirected\b")
_NUMBER = re.compile(rb"[+-]?[\d.]+(?:[eE][+-]?\d+)?")
_NETWORKX_LINE = re.compile(rb"[^\s,;]+\s+[^\s,;]+\s+\{.*\}")
_QUOTED_VALUE = re.compile(rb'(?<!\S)"[^"]*+"')


def read_edges(path: str | Path, directed: bool = False) -> Graph:
    """A graph from an edge list.

    The first line that is neither blank nor a comment (``#`` or ``%``) shows the separator, and may be a header such
    as ``source_file,target``. If the separator is a comma, a semicolon or a tab, values may be quoted and contain
    blanks.
    """
    from unveil.release import text_tokens

    path = Path(path)
    name = safe_text(path.name)
    first = next((line for piece in text_tokens.text_pieces(path) if (line := _first_line(piece.data))), b"")
    delimiter = _detect_delimiter(first)
    says = _says_directed(next(text_tokens.text_pieces(path)).data)
    directed = directed or says == "here"
    header, further = _is_header(first, delimiter), False

    def pieces() -> Iterator[pa.Array]:
        nonlocal further
        skip = 2 if header else 0
        for data, before, _ in text_tokens.text_pieces(path):
            if delimiter:
                texts, more = text_tokens.first_fields(data, delimiter, name, before)
            else:
                texts, more = _split_by_blanks(data, first, name, before)
            yield texts.slice(skip)
            skip, further = max(0, skip - len(texts)), further or more

    codes, labels = text_tokens.encode_texts(pieces(), by_appearance=True)
    notes: tuple[str, ...] = ()
    if header:
        notes = ("the header line was skipped",)
        if not directed:
            notes += (f"edges are read as undirected; pass {option_text('directed')} to keep their direction",)
    if further:
        notes += ("values after the second on a line, such as weights, are left out",)
    if says == "elsewhere" and not directed:
        notes += (
            f"a comment calls the graph directed; edges are read as undirected without {option_text('directed')}",
        )
    digest = source_file.file_digest(path)
    return simple_graph(codes, labels, directed, path.name, digest, notes, _EMPTY_MESSAGE)


def _split_by_blanks(data: bytes, first: bytes, name: str, lines_before: int) -> tuple[pa.Array, bool]:
    """The first two tokens of each line, and whether any line has more."""
    from unveil.release import text_tokens

    if any(len(quoted.split()) > 1 for quoted in _QUOTED_VALUE.findall(first)):
        raise UnveilError(
            f"{name}: the first line has quoted values with blanks; separate values by commas, semicolons or tabs"
        )
    texts, widths = text_tokens.split_tokens(data, comments=True, limit=2)
    lonely = widths == 1
    if lonely.any():
        line = lines_before + int(lonely.argmax()) + 1
        raise UnveilError(f"{name}: line {line:,} lacks one of the two nodes of an edge; complete or remove it")
    return texts, bool((widths > 2).any())


def _first_line(data: bytes) -> bytes:
    """The first line that is neither blank nor a comment."""
    lines = (found.group().strip(b" \t") for found in re.finditer(rb"[^\r\n]++", data))
    return next((line for line in lines if line and line[0] not in b"#%"), b"")


def _says_directed(data: bytes) -> str:
    """Whether a comment before the first edge calls the graph directed: "here" as :func:`write_edges` does, "elsewhere"
    otherwise, or "" if none does."""
    for found in re.finditer(rb"[^\r\n]++", data):
        line = found.group().strip(b" \t")
        if line and line[0] not in b"#%":
            break
        if _OWN_COMMENT.fullmatch(line):
            return "here"
        if _DIRECTED_COMMENT.search(line):
            return "elsewhere"
    return ""


def _detect_delimiter(first: bytes) -> str:
    """The separator of values: a comma, a semicolon or a tab, or "" for blanks.

    Between numbers a tab counts as a blank, because tools mix both; between words, which may contain blanks, it is a
    separator.
    """
    if _NETWORKX_LINE.fullmatch(first):  # networkx writes the attributes of an edge as a dictionary after it
        return ""
    outside = re.sub(rb'"[^"]*+"', b"", first)
    found = max(b",", b";", key=outside.count)
    if found in outside:
        return found.decode()
    return "\t" if b"\t" in outside and not all(map(_NUMBER.fullmatch, first.split())) else ""


def _is_header(first: bytes, delimiter: str) -> bool:
    """Whether the first line names columns. Blank-separated single letters are nodes, not column names."""
    values = [value.strip(b' \t"') for value in first.split(delimiter.encode() or None)]
    pair = tuple(value.decode().lower() for value in values[:2])
    return pair in EDGE_HEADERS and (delimiter != "" or len(pair[0]) > 1)


def check_no_isolated_nodes(graph: Graph) -> None:
    """Refuse a graph of which an edge list would lose nodes."""
    if ((graph.degrees == 0) & (graph.in_degrees == 0)).any():
        raise UnveilError(f"{safe_text(graph.name)}: an edge list cannot hold nodes without edges; write .gml instead")


def write_edges(graph: Graph, file: BinaryIO) -> None:
    """Write a comment, then one edge per line, labels separated by a space. Isolated nodes are refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    check_no_isolated_nodes(graph)
    name = safe_text(graph.name)
    if pc.any(pc.match_substring_regex(graph.labels, r'^[#%]|^$|[\s,;"{\x0b\x00\x{FEFF}]')).as_py():
        raise UnveilError(f"{name}: labels with blanks or punctuation do not fit into an edge list; write .gml instead")
    sources, targets = edges_in_sequence(graph)
    first = " ".join(graph.labels[int(ends[0])].as_py() for ends in (sources, targets))
    if _is_header(first.encode(), ""):
        raise UnveilError(f"{name}: the first edge would be read as a header; write .gml instead")
    how = "directed" if graph.directed else "undirected"
    file.write(f"# {how} graph, {graph.nodes} nodes, {graph.edges} edges\n".encode())
    for start in range(0, len(sources), _BATCH):
        ends = (graph.labels.take(pa.array(x[start : start + _BATCH])).to_pylist() for x in (sources, targets))
        file.write("".join(f"{u} {v}\n" for u, v in zip(*ends, strict=True)).encode())
