"""Matrix Market (Boisvert, Pozo and Remington, NIST IR 5935, 1996): entries of a square matrix are edges."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release import source_file
from unveil.release.graph import Graph, simple_graph
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_matrix_market"]

_MAX_NODES = 2**31 - 1
_MAX_SMALL_NODES = 2**20  # that even a small file may declare

_VALUES_PER_ENTRY = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "complex": 2}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read_matrix_market(path: str | Path) -> Graph:
    """A graph from the entries of a square sparse matrix: directed if it is general, undirected if symmetric."""
    import numpy as np

    from unveil.release import text_tokens

    path = Path(path)
    name = safe_text(path.name)
    data = text_tokens.read_text(path)
    values, symmetry = _parse_banner(data, name)
    start, nodes, entries = _parse_size(data, name)
    texts, widths = text_tokens.split_tokens(memoryview(data)[start:], comments=True, limit=2)
    lines = np.flatnonzero(widths)  # lines of the entries, counted from the one after the size line
    before = text_tokens.line_number_at(data, start)

    def error_at(entry: int, what: str) -> UnveilError:
        return UnveilError(f"{name}: line {before + int(lines[entry]):,} {what}")

    ragged = widths[lines] != 2 + values
    if ragged.any():
        raise error_at(int(ragged.argmax()), f"must have {2 + values} values, as line 1 of the file says; correct it")
    if len(lines) != entries:
        raise UnveilError(
            f"{name}: {count_text(len(lines), 'entry', 'entries')}, but the size line says {entries:,}; export it again"
        )
    ends, bad = text_tokens.parse_whole_numbers(texts)
    if bad < 0 and ((ends < 1) | (ends > nodes)).any():
        bad = int(((ends < 1) | (ends > nodes)).argmax())
    if bad >= 0:
        raise error_at(bad // 2, f"has an index that is not a whole number from 1 to {nodes:,}; correct it")
    ends = (ends - 1).astype(np.int32)
    return simple_graph(
        ends, _number_labels(nodes), symmetry == "general", path.name, source_file.file_digest(path)
    )


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


def _parse_size(data: bytes, name: str) -> tuple[int, int, int]:
    """The end of the size line, the number of nodes and the number of entries."""
    lines = re.finditer(rb"[^\r\n]++", data)
    found = next((line for line in lines if line.group().strip()[:1] not in (b"", b"%")), None)
    sizes = found.group().split() if found else []
    if not found or len(sizes) != 3 or not all(size.isdigit() and len(size) < 19 for size in sizes):
        raise UnveilError(f"{name}: the size line (rows, columns, entries) is missing or broken; export it again")
    rows, columns, entries = map(int, sizes)
    if rows != columns:
        raise UnveilError(f"{name}: the matrix is not square, so it is not a graph; export the adjacency matrix")
    if rows > min(_MAX_NODES, max(_MAX_SMALL_NODES, len(data))):  # a few bytes must not fill the memory
        raise UnveilError(
            f"{name}: the size line says {rows:,} nodes, more than a file of this size can be about; export it again, "
            "without nodes that have no edges"
        )
    return found.end(), rows, entries
