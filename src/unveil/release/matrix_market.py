"""Matrix Market (Boisvert, Pozo and Remington, NIST IR 5935, 1996): the entries of a square matrix are the edges."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release import source
from unveil.release.graph import Graph, simple_graph
from unveil.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_matrix_market"]

_MOST_NODES = 2**31 - 1

_VALUES = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "complex": 2}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read_matrix_market(path: str | Path) -> Graph:
    """A graph from the entries of a square sparse matrix: directed if it is general, undirected if symmetric."""
    import numpy as np

    from unveil.release import text

    path = Path(path)
    name = shown(path.name)
    data = text.read_text(path)
    values, symmetry = _banner(data, name)
    start, nodes, entries = _size(data, name)
    texts, widths = text.tokens(memoryview(data)[start:], comments=True, limit=2)
    lines = np.flatnonzero(widths)  # of the entries, from the one after the size line
    before = text.line_at(data, start)

    def wrong(entry: int, what: str) -> UnveilError:
        return UnveilError(f"{name}: line {before + int(lines[entry]):,} {what}")

    ragged = widths[lines] != 2 + values
    if ragged.any():
        raise wrong(int(ragged.argmax()), f"must have {2 + values} values, as its first line says; mend it")
    if len(lines) != entries:
        raise UnveilError(
            f"{name}: {len(lines):,} entries where the size line says {entries:,}; mend it or export again"
        )
    ends, bad = text.whole_numbers(texts)
    if bad < 0 and ((ends < 1) | (ends > nodes)).any():
        bad = int(((ends < 1) | (ends > nodes)).argmax())
    if bad >= 0:
        raise wrong(bad // 2, f"has an index that is not a whole number from 1 to {nodes:,}; mend it")
    labels = _numbered(nodes)
    return simple_graph(ends[::2] - 1, ends[1::2] - 1, labels, symmetry == "general", path.name, source.digest(path))


def _numbered(nodes: int) -> pa.Array:
    """The labels "1" … "n"."""
    import numpy as np
    import pyarrow as pa

    return pa.array(np.arange(1, nodes + 1)).cast(pa.string())


def _banner(data: bytes, name: str) -> tuple[int, str]:
    """How many values follow an entry's two indices, and the symmetry."""
    words = re.split(rb"[\r\n]", data[:1000], maxsplit=1)[0].lower().split()
    if words[:2] != [b"%%matrixmarket", b"matrix"] or len(words) != 5:
        raise UnveilError(f"{name}: line 1 is not that of a Matrix Market matrix; export it again")
    layout, values, symmetry = (word.decode(errors="replace") for word in words[2:])
    if layout != "coordinate":
        raise UnveilError(f"{name}: only the coordinate format of Matrix Market is a graph; export it so")
    if values not in _VALUES or symmetry not in _SYMMETRIES:
        raise UnveilError(f"{name}: line 1 names an unknown kind of values or symmetry; export it again")
    return _VALUES[values], symmetry


def _size(data: bytes, name: str) -> tuple[int, int, int]:
    """Where the size line ends, the number of nodes and the number of entries."""
    lines = re.finditer(rb"[^\r\n]++", data)
    found = next((line for line in lines if line.group().strip()[:1] not in (b"", b"%")), None)
    sizes = found.group().split() if found else []
    if not found or len(sizes) != 3 or not all(size.isdigit() and len(size) < 19 for size in sizes):
        raise UnveilError(f"{name}: the size line (rows, columns, entries) is missing or broken; export it again")
    rows, columns, entries = map(int, sizes)
    if rows != columns:
        raise UnveilError(f"{name}: the matrix is not square, so it is not a graph; export the adjacency matrix")
    if rows > min(_MOST_NODES, max(2**24, 100 * len(data))):  # refuse to fill the memory for a few bytes
        raise UnveilError(f"{name}: the size line says more nodes than the file can hold; export it again")
    return found.end(), rows, entries
