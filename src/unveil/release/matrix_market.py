"""Matrix Market (Boisvert, Pozo and Remington, NIST IR 5935, 1996): entries of a square matrix are edges. Their values
are left out, with a note."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release.graph import Graph, simple_graph
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Int32s
    from unveil.release.text_tokens import TextPiece

__all__ = ["read_matrix_market"]

_MAX_NODES = 2**31 - 1
_MAX_SMALL_NODES = 2**20  # that even a small file may declare

_VALUES_PER_ENTRY = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "complex": 2}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read_matrix_market(path: str | Path) -> Graph:
    """A graph from the entries of a square sparse matrix: directed if it is general, undirected if symmetric."""
    from unveil.release.text_tokens import text_pieces

    path = Path(path)
    name = safe_text(path.name)
    size = sum(len(piece.data) for piece in text_pieces(path))
    pieces = text_pieces(path)
    head = next(pieces).data
    values, symmetry = _parse_banner(head, name)
    while _find_size_line(head) is None and (piece := next(pieces, None)):
        head += piece.data
    start, nodes, entries = _parse_size(head, size, name)
    ends = _read_entries(head, start, pieces, 2 + values, nodes, entries, name)
    notes = ("values of entries, such as weights, are left out",) if values else ()
    digest = source_file.file_digest(path)
    return simple_graph(ends, _number_labels(nodes), symmetry == "general", path.name, digest, notes)


def _read_entries(
    head: bytes, start: int, pieces: Iterator[TextPiece], width: int, nodes: int, entries: int, name: str
) -> Int32s:
    """The row and the column of each entry, one after another, from 0."""
    import numpy as np

    from unveil.release import text_tokens
    from unveil.release.label_table import GrowingArray

    found, count, invalid = GrowingArray(), 0, 0
    first = text_tokens.TextPiece(head[start:], text_tokens.line_number_at(head, start) - 1)
    for data, before, _ in itertools.chain([first], pieces):
        texts, widths = text_tokens.split_tokens(data, comments=True, limit=2)
        lines = np.flatnonzero(widths)
        ragged = widths[lines] != width
        if ragged.any():
            line = before + int(lines[ragged.argmax()]) + 1
            raise UnveilError(f"{name}: line {line:,} must have {width} values, as line 1 of the file says; correct it")
        ends, bad = text_tokens.parse_whole_numbers(texts)
        wrong = (ends < 1) | (ends > nodes)
        wrong[bad : bad + 1] |= bad >= 0
        if wrong.any() and not invalid:
            invalid = before + int(lines[wrong.argmax() // 2]) + 1
        found.extend((ends - 1).astype(np.int32))
        count += len(lines)
    if count != entries:
        raise UnveilError(
            f"{name}: {count_text(count, 'entry', 'entries')}, but the size line says {entries:,}; export it again"
        )
    if invalid:
        raise UnveilError(
            f"{name}: line {invalid:,} has an index that is not a whole number from 1 to {nodes:,}; correct it"
        )
    return found.take()


def _number_labels(nodes: int) -> pa.Array:
    """The labels "1" … "n"."""
    import numpy as np
    import pyarrow as pa

    return pa.array(np.arange(1, nodes + 1)).cast(pa.string())


def _parse_banner(data: bytes, name: str) -> tuple[int, str]:
    """The number of values after an entry's two indices, and the symmetry."""
    words = re.split(rb"[\r\n]", data[:1000], maxsplit=1)[0].lower().split()
    if words[:2] != [b"%%matrixmarket", b"matrix"] or len(words) != 5:
        raise UnveilError(f"{name}: line 1 is not the first line of a Matrix Market matrix; export it again")
    layout, values, symmetry = (word.decode(errors="replace") for word in words[2:])
    if layout != "coordinate":
        raise UnveilError(f"{name}: line 1 does not say coordinate; export the graph in coordinate format")
    if values not in _VALUES_PER_ENTRY or symmetry not in _SYMMETRIES:
        raise UnveilError(f"{name}: line 1 names an unknown kind of values or symmetry; export it again")
    return _VALUES_PER_ENTRY[values], symmetry


def _find_size_line(data: bytes) -> re.Match[bytes] | None:
    lines = re.finditer(rb"[^\r\n]++", data)
    return next((line for line in lines if line.group().strip()[:1] not in (b"", b"%")), None)


def _parse_size(data: bytes, file_size: int, name: str) -> tuple[int, int, int]:
    """The end of the size line, the number of nodes and the number of entries."""
    found = _find_size_line(data)
    sizes = found.group().split() if found else []
    if not found or len(sizes) != 3 or not all(size.isdigit() and len(size) < 19 for size in sizes):
        raise UnveilError(f"{name}: the size line (rows, columns, entries) is missing or broken; export it again")
    rows, columns, entries = map(int, sizes)
    if rows != columns:
        raise UnveilError(f"{name}: the matrix is not square, so it is not a graph; export the adjacency matrix")
    if rows > min(_MAX_NODES, max(_MAX_SMALL_NODES, file_size)):  # a few bytes must not fill the memory
        raise UnveilError(
            f"{name}: the size line says {rows:,} nodes, more than a file of this size can be about; export it again, "
            "without nodes that have no edges"
        )
    return found.end(), rows, entries
