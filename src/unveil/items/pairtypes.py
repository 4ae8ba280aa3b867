"""Pairs of items, counted by type: 135 million of them need not be gone through one by one.

Whether a pair is vulnerable depends on no more than the classes of its items and the groups of their pseudonyms. With D
the event that two items x and y have their own pseudonyms, C that they have each other's, and m the marginals of single
items:

- in different blocks, P({x, y}) = m(x, x′) m(y, y′) + m(x, y′) m(y, x′), because blocks are independent;
- in the same block, D ≤ min(m(x, x′), m(y, y′)), and likewise C; also D ≤ m(x, x′)/t if y or y′ has t − 1 twins beside
  x and x′, who would have it as likely; D ≥ m(x, x′) + m(y, y′) − 1, likewise C, and D + C ≥ both rows' sum − 1;
- what is still open is settled by the marginals of the block without x and x′ (for D) or without x and y′ (for C).
  Between twins D and C are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from unveil.items.joint import Joint
from unveil.matching.candidates import Candidates, Floats, Ints

__all__ = ["estimated_pairs", "vulnerable_pairs"]

_CELLS = 1 << 20  # pairs of types that are looked at together
_OPEN = 1 << 22  # pairs of types that are kept for closer inspection


def estimated_pairs(candidates: Candidates, items: Ints, danger: float) -> int:
    """How many pairs of the items are vulnerable by OS."""
    chances = 1 / np.maximum(candidates.degrees, 1)
    per_class = np.zeros(len(candidates.class_sizes))
    per_class[candidates.entry_class] = chances
    matrix = _matrix(candidates, per_class[candidates.edge_class])
    types = _Types.of(candidates, items)
    types = types.kept(2 * per_class[types.a] >= danger)
    own = _along(matrix, types)
    found = 0
    for rows, across, back, ways in _type_pairs(types, (matrix,)):
        os = (own[rows, None] + across[0]) * (own + back[0])
        found += int(ways[os >= danger].sum())
    return found


def vulnerable_pairs(exact: Joint, items: Ints, danger: float) -> tuple[int, int]:
    """How many pairs of items are certainly vulnerable, and how many may be."""
    matrices = _matrix(exact.candidates, exact.low), _matrix(exact.candidates, exact.high)
    types = _Types.of(exact.candidates, items)
    row, column = (np.zeros(count) for count in matrices[1].shape)
    np.maximum.at(row, exact.candidates.edge_class, exact.high)
    np.maximum.at(column, exact.candidates.groups, exact.high)
    beside = np.minimum(row[types.a], column[types.b])  # the most that an edge across or back can have
    types = types.kept(_along(matrices[1], types) + beside >= danger)
    certain = beyond = kept = 0
    opened = []
    for rows, across, back, ways in _type_pairs(types, matrices):
        bounds = _bounds(exact, types, rows, across, back, [_along(m, types) for m in matrices])
        low, high = bounds[0] + bounds[2], np.minimum(bounds[1] + bounds[3], 1.0)
        low = np.maximum(low, bounds[4])
        certain += int(ways[low >= danger].sum())
        i, j = np.nonzero((low < danger) & (high >= danger) & (ways > 0))
        within = exact.class_block[types.a[rows][i]] == exact.class_block[types.a[j]]
        kept += int(within.sum())
        if kept > _OPEN:
            within[:] = False
        beyond += int(ways[i, j][~within].sum())
        i, j = i[within], j[within]
        opened.append(_Open(rows.start + i, j, ways[i, j], *(x[i, j] for x in bounds[:4])))
        exact.run.check()
    settled, undecided = _settled(exact, types, _Open.joined(opened), danger) if opened else (0, 0)
    return certain + settled, undecided + beyond


@dataclass(frozen=True, eq=False)
class _Types:
    """Items of the same class a whose pseudonyms are of the same group b, and how many there are."""

    a: Ints
    b: Ints
    count: Ints

    @classmethod
    def of(cls, candidates: Candidates, items: Ints) -> _Types:
        pairs = np.stack([candidates.entry_class[items], candidates.pseudonym_group[items]])
        (a, b), count = np.unique(pairs, axis=1, return_counts=True)
        return cls(a, b, count.astype(np.int64))

    def kept(self, some: npt.NDArray[np.bool_]) -> _Types:
        return _Types(self.a[some], self.b[some], self.count[some])


def _matrix(candidates: Candidates, values: Floats) -> csr_array:
    shape = len(candidates.class_sizes), len(candidates.group_sizes)
    return csr_array((values, candidates.groups, candidates.indptr), shape=shape)


def _along(matrix: csr_array, types: _Types) -> Floats:
    """The value of every type's own edge."""
    if not len(types.a):
        return np.zeros(0)
    found: Floats = np.asarray(matrix[types.a, types.b]).reshape(-1)
    return found


def _type_pairs(
    types: _Types, matrices: tuple[csr_array, ...]
) -> Iterator[tuple[slice, list[Floats], list[Floats], Ints]]:
    """Stretches of types against all types: for every matrix the values of the edges across, from the first's class to
    the second's group, and back; and how many pairs of items there are, each counted once."""
    count = len(types.a)
    step = max(1, _CELLS // max(count, 1))
    columns = [matrix.tocsc() for matrix in matrices]
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        across = [matrix[types.a[rows]].toarray()[:, types.b] for matrix in matrices]
        back = [matrix[:, types.b[rows]].toarray()[types.a].T for matrix in columns]
        ways = types.count[rows, None] * types.count
        ways[np.arange(count) < np.arange(rows.start, rows.stop)[:, None]] = 0
        own = np.arange(rows.start, rows.stop)
        ways[own - start, own] = types.count[own] * (types.count[own] - 1) // 2
        yield rows, across, back, ways


def _bounds(
    exact: Joint, types: _Types, rows: slice, across: list[Floats], back: list[Floats], own: list[Floats]
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Between which bounds D and C lie, and a bound below D + C, for every pair of types."""
    same = exact.class_block[types.a[rows], None] == exact.class_block[types.a]
    first, second = [x[rows, None] for x in own], own
    t = _twins(exact, types, rows)
    low_d = np.maximum(first[0] + second[0] - 1, 0)
    low_c = np.maximum(across[0] + back[0] - 1, 0)
    high_d = np.minimum(np.minimum(first[1], second[1]), np.minimum(first[1] / t[1], second[1] / t[0]))
    high_c = np.minimum(np.minimum(across[1], back[1]), np.minimum(across[1] / t[3], back[1] / t[2]))
    both = first[0] + across[0] + second[0] + back[0] - 1
    return (
        np.where(same, low_d, first[0] * second[0]),
        np.where(same, high_d, first[1] * second[1]),
        np.where(same, low_c, across[0] * back[0]),
        np.where(same, high_c, across[1] * back[1]),
        np.where(same, both, 0.0),
    )


def _twins(exact: Joint, types: _Types, rows: slice) -> tuple[Floats, Floats, Floats, Floats]:
    """For every pair of types among how many an edge is as likely, given the other edge of the pair: the first's
    and second's own, and those across and back."""
    r, c = exact.class_twins[types.a], exact.group_twins[types.b]
    k, a, b = exact.class_block[types.a], exact.class_local[types.a], exact.group_local[types.b]
    same = k[rows, None] == k
    r_left = same & (a[rows, None] == a)
    c_left = same & (b[rows, None] == b)
    one_r, two_r = r[rows, None] - r_left, r[None] - r_left
    one_c, two_c = c[rows, None] - c_left, c[None] - c_left
    sizes = ((one_r, one_c), (two_r, two_c), (one_r, two_c), (two_r, one_c))
    first, second, across, back = (np.maximum(np.maximum(x, y), 1).astype(np.float64) for x, y in sizes)
    return first, second, across, back


@dataclass(frozen=True, eq=False)
class _Open:
    """Pairs of types in one block that the bounds leave open; the bounds of D and C are narrowed in place."""

    i: Ints
    j: Ints
    ways: Ints
    low_d: Floats
    high_d: Floats
    low_c: Floats
    high_c: Floats

    @classmethod
    def joined(cls, parts: list[_Open]) -> _Open:
        names = ("i", "j", "ways", "low_d", "high_d", "low_c", "high_c")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def still(self, danger: float) -> npt.NDArray[np.bool_]:
        """Which are still open."""
        low, high = self.low_d + self.low_c, self.high_d + self.high_c
        undecided: npt.NDArray[np.bool_] = (low < danger) & (high >= danger)
        return undecided


def _settled(exact: Joint, types: _Types, pairs: _Open, danger: float) -> tuple[int, int]:
    """Of the open pairs those that prove vulnerable, and those that stay open: first D is computed, given for each type
    in turn, the one with most open pairs first, that it is cracked; then C, given an edge across."""
    still = pairs.still(danger)
    tried = np.zeros(len(types.a), bool)
    while True:
        ahead = still & (pairs.low_d < pairs.high_d) & ~(tried[pairs.i] | tried[pairs.j])
        if not ahead.any() or exact.left <= 0:
            break
        heavy = np.bincount(np.concatenate([pairs.i[ahead], pairs.j[ahead]]), minlength=len(tried))
        one = int(np.argmax(heavy))
        tried[one] = True
        with_one = np.flatnonzero(ahead & ((pairs.i == one) | (pairs.j == one)))
        other = np.where(pairs.i[with_one] == one, pairs.j[with_one], pairs.i[with_one])
        _crack(exact, types, pairs, with_one, one, other)
        still = pairs.still(danger)
        exact.run.progress("inspecting pairs", 1 - still.mean())
    a, b = types.a[pairs.i], types.b[pairs.j]
    keys = exact.class_local[a] * (exact.group_local.max() + 1) + exact.group_local[b]
    keys = exact.class_block[a] * (keys.max(initial=0) + 1) + keys
    edges, sizes = np.unique(keys[still & (pairs.low_c < pairs.high_c)], return_counts=True)
    for key in edges[np.argsort(-sizes, kind="stable")]:
        across = np.flatnonzero(still & (keys == key) & (pairs.low_c < pairs.high_c))
        _swap(exact, types, pairs, across)
    still = pairs.still(danger)
    certain = pairs.ways[pairs.low_d + pairs.low_c >= danger].sum()
    return int(certain), int(pairs.ways[still].sum())


def _crack(exact: Joint, types: _Types, pairs: _Open, which: Ints, one: int, other: Ints) -> None:
    """D of pairs that share a type, and C where twins make it the same."""
    a, b = types.a[one], types.b[one]
    then = exact.given(a, b, types.a[other], types.b[other])
    if then is None:
        return
    found = exact.marginal(a, b) * then
    pairs.low_d[which] = pairs.high_d[which] = found
    same = (exact.class_local[a] == exact.class_local[types.a[other]]) | (
        exact.group_local[b] == exact.group_local[types.b[other]]
    )
    pairs.low_c[which[same]] = pairs.high_c[which[same]] = found[same]


def _swap(exact: Joint, types: _Types, pairs: _Open, which: Ints) -> None:
    """C of pairs whose edge across is the same."""
    i, j = pairs.i[which], pairs.j[which]
    a, b = types.a[i[0]], types.b[j[0]]
    then = exact.given(a, b, types.a[j], types.b[i])
    if then is not None:
        pairs.low_c[which] = pairs.high_c[which] = exact.marginal(a, b) * then
