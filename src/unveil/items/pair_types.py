"""Count vulnerable pairs by type, so that 135 million pairs need not be inspected one by one.

Whether a pair is vulnerable depends only on the classes of its items and the groups of their pseudonyms. Let D be the
probability that two items x and y have their own pseudonyms, C that they have each other's, and m the marginals of
single items:

- in different blocks, P({x, y}) = m(x, x′) m(y, y′) + m(x, y′) m(y, x′), because blocks are independent;
- in the same block, D ≤ min(m(x, x′), m(y, y′)), and likewise C; also D ≤ m(x, x′)/t if y or y′ has t − 1 twins other
  than x and x′, each of which is as likely; D ≥ m(x, x′) + m(y, y′) − 1, and likewise C; and D + C is at least the sum
  of all four marginals − 1;
- the remaining pairs are settled by the marginals of the block without x and x′ (for D) or without x and y′ (for C).
  For twins, D and C are equal;
- what is still open is simulated, if the error rate allows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unveil.arrays import Bools, Floats, Ints
from unveil.items.joint_probability import JointProbability
from unveil.matching.candidates import Candidates

__all__ = ["count_estimated_pairs", "count_vulnerable_pairs"]

_CELLS = 1 << 20  # pairs of types inspected together
_OPEN = 1 << 22  # pairs of types kept for closer inspection
_MOST_SIMULATED = 20_000  # pairs of types that are simulated, those of most pairs of items first


def count_estimated_pairs(candidates: Candidates, items: Ints, threshold: float) -> int:
    """The number of pairs of these items that are vulnerable by OS."""
    chances = 1 / np.maximum(candidates.degrees, 1)
    per_class = np.zeros(len(candidates.class_sizes))
    per_class[candidates.entry_class] = chances
    matrix = _edge_matrix(candidates, per_class[candidates.edge_class])
    types = _ItemTypes.from_items(candidates, items)
    types = types.select_types(2 * per_class[types.a] >= threshold)
    own = _own_edge_values(matrix, types)
    found = 0
    for rows, across, back, ways in _type_pairs(types, (matrix,)):
        os = (own[rows, None] + across[0]) * (own + back[0])
        found += int(ways[os >= threshold].sum())
    return found


def count_vulnerable_pairs(exact: JointProbability, items: Ints, threshold: float) -> tuple[int, int]:
    """The number of pairs of these items that are certainly vulnerable, and of those that may be."""
    matrices = _edge_matrix(exact.candidates, exact.low), _edge_matrix(exact.candidates, exact.high)
    types = _ItemTypes.from_items(exact.candidates, items)
    row, column = (np.zeros(count) for count in matrices[1].shape)
    np.maximum.at(row, exact.candidates.edge_class, exact.high)
    np.maximum.at(column, exact.candidates.groups, exact.high)
    beside = np.minimum(row[types.a], column[types.b])  # the most that an edge across or back can weigh
    types = types.select_types(_own_edge_values(matrices[1], types) + beside >= threshold)
    certain = beyond = kept = 0
    opened = []
    for rows, across, back, ways in _type_pairs(types, matrices):
        bounds = _pair_bounds(exact, types, rows, across, back, [_own_edge_values(m, types) for m in matrices])
        low = np.maximum(bounds.low_d + bounds.low_c, bounds.low_sum)
        high = np.minimum(bounds.high_d + bounds.high_c, 1.0)
        certain += int(ways[low >= threshold].sum())
        i, j = np.nonzero((low < threshold) & (high >= threshold) & (ways > 0))
        within = exact.class_block[types.a[rows][i]] == exact.class_block[types.a[j]]
        kept += int(within.sum())
        if kept > _OPEN:
            within[:] = False
        beyond += int(ways[i, j][~within].sum())
        i, j = i[within], j[within]
        opened.append(_OpenPairs(rows.start + i, j, ways[i, j], *(x[i, j] for x in bounds[:4])))
        exact.run.check()
    settled = undecided = 0
    if opened:
        pairs = _OpenPairs(*map(np.concatenate, zip(*opened, strict=True)))
        settled, undecided = _settle_open_pairs(exact, types, pairs, threshold)
    return certain + settled, undecided + beyond


@dataclass(frozen=True, eq=False)
class _ItemTypes:
    """Types of items: class a, group b of their pseudonyms, and the number of items of that type."""

    a: Ints
    b: Ints
    count: Ints

    @classmethod
    def from_items(cls, candidates: Candidates, items: Ints) -> _ItemTypes:
        pairs = np.stack([candidates.entry_class[items], candidates.pseudonym_group[items]])
        (a, b), count = np.unique(pairs, axis=1, return_counts=True)
        return cls(a, b, count.astype(np.int64))

    def select_types(self, some: Bools) -> _ItemTypes:
        return _ItemTypes(self.a[some], self.b[some], self.count[some])


def _edge_matrix(candidates: Candidates, values: Floats) -> csr_array:
    shape = len(candidates.class_sizes), len(candidates.group_sizes)
    return csr_array((values, candidates.groups, candidates.indptr), shape=shape)


def _own_edge_values(matrix: csr_array, types: _ItemTypes) -> Floats:
    """The value of every type's own edge."""
    if not len(types.a):
        return np.zeros(0)
    found: Floats = np.asarray(matrix[types.a, types.b]).reshape(-1)
    return found


def _type_pairs(
    types: _ItemTypes, matrices: tuple[csr_array, ...]
) -> Iterator[tuple[slice, list[Floats], list[Floats], Ints]]:
    """Slices of types against all types: for every matrix the values of the edges across, from the first's class to the
    second's group, and back; and the number of pairs of items, each counted once."""
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


class _PairBounds(NamedTuple):
    """For every pair of types, bounds on D and on C, and a lower bound on D + C."""

    low_d: Floats
    high_d: Floats
    low_c: Floats
    high_c: Floats
    low_sum: Floats


def _pair_bounds(
    exact: JointProbability, types: _ItemTypes, rows: slice, across: list[Floats], back: list[Floats], own: list[Floats]
) -> _PairBounds:
    """Bound D and C by the marginals of single items."""
    same = exact.class_block[types.a[rows], None] == exact.class_block[types.a]
    first, second = [x[rows, None] for x in own], own
    r, c = exact.class_twins[types.a], exact.group_twins[types.b]
    a, b = exact.class_local[types.a], exact.group_local[types.b]
    r_left, c_left = same & (a[rows, None] == a), same & (b[rows, None] == b)
    one_r, two_r = r[rows, None] - r_left, r[None] - r_left
    one_c, two_c = c[rows, None] - c_left, c[None] - c_left
    # the number of equally likely alternatives to each edge, given the other edge of the pair
    sizes = ((one_r, one_c), (two_r, two_c), (one_r, two_c), (two_r, one_c))
    of_first, of_second, of_across, of_back = (np.maximum(np.maximum(x, y), 1).astype(np.float64) for x, y in sizes)
    low_d = np.maximum(first[0] + second[0] - 1, 0)
    low_c = np.maximum(across[0] + back[0] - 1, 0)
    high_d = np.minimum(np.minimum(first[1], second[1]), np.minimum(first[1] / of_second, second[1] / of_first))
    high_c = np.minimum(np.minimum(across[1], back[1]), np.minimum(across[1] / of_back, back[1] / of_across))
    low_sum = first[0] + across[0] + second[0] + back[0] - 1
    return _PairBounds(
        low_d=np.where(same, low_d, first[0] * second[0]),
        high_d=np.where(same, high_d, first[1] * second[1]),
        low_c=np.where(same, low_c, across[0] * back[0]),
        high_c=np.where(same, high_c, across[1] * back[1]),
        low_sum=np.where(same, low_sum, 0.0),
    )


class _OpenPairs(NamedTuple):
    """Pairs of types in one block that the bounds leave open; the bounds on D and C are narrowed in place."""

    i: Ints
    j: Ints
    ways: Ints
    low_d: Floats
    high_d: Floats
    low_c: Floats
    high_c: Floats

    def undecided_mask(self, threshold: float) -> Bools:
        """Which pairs are neither certainly vulnerable nor certainly not."""
        low, high = self.low_d + self.low_c, self.high_d + self.high_c
        undecided: Bools = (low < threshold) & (high >= threshold)
        return undecided


def _settle_open_pairs(
    exact: JointProbability, types: _ItemTypes, pairs: _OpenPairs, threshold: float
) -> tuple[int, int]:
    """The number of open pairs that prove vulnerable, and of those that stay open. First D is computed, conditional on
    one cracked type after another, those with most open pairs first; then C, conditional on an edge across."""
    still = pairs.undecided_mask(threshold)
    tried = np.zeros(len(types.a), bool)
    while True:
        ahead = still & (pairs.low_d < pairs.high_d) & ~(tried[pairs.i] | tried[pairs.j])
        if not ahead.any() or exact.solves_left <= 0:
            break
        heavy = np.bincount(np.concatenate([pairs.i[ahead], pairs.j[ahead]]), minlength=len(tried))
        one = int(np.argmax(heavy))
        tried[one] = True
        with_one = np.flatnonzero(ahead & ((pairs.i == one) | (pairs.j == one)))
        other = np.where(pairs.i[with_one] == one, pairs.j[with_one], pairs.i[with_one])
        _compute_own_edges(exact, types, pairs, with_one, one, other)
        still = pairs.undecided_mask(threshold)
        exact.run.progress("inspecting pairs", 1 - still.mean())
    a, b = types.a[pairs.i], types.b[pairs.j]
    keys = exact.class_local[a] * (exact.group_local.max() + 1) + exact.group_local[b]
    keys = exact.class_block[a] * (keys.max(initial=0) + 1) + keys
    edges, sizes = np.unique(keys[still & (pairs.low_c < pairs.high_c)], return_counts=True)
    for key in edges[np.argsort(-sizes, kind="stable")]:
        across = np.flatnonzero(still & (keys == key) & (pairs.low_c < pairs.high_c))
        _compute_crossed_edges(exact, types, pairs, across)
    low, high = pairs.low_d + pairs.low_c, pairs.high_d + pairs.high_c
    if exact.error:
        _simulate_open_pairs(exact, types, pairs, np.flatnonzero(pairs.undecided_mask(threshold)), low, high)
    is_certain, is_possible = low >= threshold, high >= threshold
    return int(pairs.ways[is_certain].sum()), int(pairs.ways[is_possible & ~is_certain].sum())


def _simulate_open_pairs(
    exact: JointProbability, types: _ItemTypes, pairs: _OpenPairs, still: Ints, low: Floats, high: Floats
) -> None:
    """Narrow the bounds on D + C for pairs that are still open."""
    still = still[np.argsort(-pairs.ways[still], kind="stable")[:_MOST_SIMULATED]]
    both = np.stack([pairs.i[still], pairs.j[still]], axis=1)
    block = exact.class_block[types.a[pairs.i[still]]]
    for k in np.unique(block).tolist():
        here = block == k
        least, most = exact.simulate_sets(k, types.a[both[here]], types.b[both[here]], len(still))
        low[still[here]] = np.maximum(low[still[here]], least)
        high[still[here]] = np.minimum(high[still[here]], most)


def _compute_own_edges(
    exact: JointProbability, types: _ItemTypes, pairs: _OpenPairs, which: Ints, one: int, other: Ints
) -> None:
    """Compute D for pairs that share a type, and C where twins make it equal."""
    a, b = types.a[one], types.b[one]
    then = exact.conditional_marginals(a, b, types.a[other], types.b[other])
    if then is None:
        return
    found = exact.marginal(a, b) * then
    pairs.low_d[which] = pairs.high_d[which] = found
    same = (exact.class_local[a] == exact.class_local[types.a[other]]) | (
        exact.group_local[b] == exact.group_local[types.b[other]]
    )
    pairs.low_c[which[same]] = pairs.high_c[which[same]] = found[same]


def _compute_crossed_edges(exact: JointProbability, types: _ItemTypes, pairs: _OpenPairs, which: Ints) -> None:
    """Compute C for pairs with the same edge across."""
    i, j = pairs.i[which], pairs.j[which]
    a, b = types.a[i[0]], types.b[j[0]]
    then = exact.conditional_marginals(a, b, types.a[j], types.b[i])
    if then is not None:
        pairs.low_c[which] = pairs.high_c[which] = exact.marginal(a, b) * then
