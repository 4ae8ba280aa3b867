"""The privacy score and what belongs to it, written from the definitions: sets of attributes, all subsets.

An individual is a pair: the attributes they have, and those they may have (a missing value may be any of its column's).
The document's own way of computing the score is here as well, with what is wrong in print put right: every intersection
of rows, the sets directly below each, and the minimal sets that meet all complements of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

import numpy as np

from unveil.arrays import Bools, Floats

__all__ = [
    "Individual",
    "all_closed_sets",
    "closure",
    "individuals_from_columns",
    "individuals_from_sets",
    "maximal_simplices",
    "minimal_generators",
    "minimal_hitting_sets",
    "poset_scores",
    "risk_weight",
    "scores_by_enumeration",
    "subsets",
]

Attributes = frozenset[int]
Individual = tuple[Attributes, Attributes]


def subsets(attributes: Attributes, most: int | None = None) -> Iterator[Attributes]:
    """All subsets, smaller ones first."""
    for size in range(1 + (len(attributes) if most is None else min(most, len(attributes)))):
        yield from map(frozenset, combinations(sorted(attributes), size))


def individuals_from_sets(sets: Sequence[Attributes]) -> list[Individual]:
    """Individuals who may have nothing but what they have."""
    return [(frozenset(one), frozenset(one)) for one in sets]


def individuals_from_columns(columns: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[Individual]:
    """One attribute per value of a column, numbered from the first column on; −1 is missing."""
    begins = [sum(sizes[:c]) for c in range(len(sizes))]
    found = []
    for row in zip(*columns, strict=True):
        has = {begins[c] + v for c, v in enumerate(row) if v >= 0}
        may = {begins[c] + v for c, one in enumerate(row) if one < 0 for v in range(sizes[c])}
        found.append((frozenset(has), frozenset(has | may)))
    return found


def closure(people: Sequence[Individual], known: Attributes) -> Attributes:
    """Everything that nobody who has ``known`` contradicts and somebody who has it confirms."""
    those = [(has, may) for has, may in people if known <= has]
    assert those
    return frozenset.intersection(*(may for _, may in those)) & frozenset().union(*(has for has, _ in those))


def risk_weight(
    people: Sequence[Individual], known: Attributes, likelihood: Sequence[float], danger: Sequence[float], offset: float
) -> float:
    """w(K) = lk(K) · dg(I_K)."""
    total = sum(danger[x] for x in closure(people, known) - known)
    return prod(likelihood[x] for x in known) * (total / (offset + total))


def scores_by_enumeration(
    people: Sequence[Individual],
    likelihood: Sequence[float],
    danger: Sequence[float],
    offset: float = 1.0,
    most: int | None = None,
) -> list[float]:
    """priv(i): the largest w(K) over all K that the individual has."""
    weights: dict[Attributes, float] = {}
    found = []
    for has, _ in people:
        for known in subsets(has, most):
            if known not in weights:
                weights[known] = risk_weight(people, known, likelihood, danger, offset)
        found.append(max(weights[known] for known in subsets(has, most)))
    return found


# ---- closed sets -----------------------------------------------------------------------------------------------------


def all_closed_sets(sets: Sequence[Attributes]) -> set[Attributes]:
    """All intersections of at least one row (definition 4.2)."""
    found: set[Attributes] = set()
    for row in sets:
        found |= {row} | {row & other for other in found}
    return found


def minimal_generators(sets: Sequence[Attributes], closed: Attributes) -> set[Attributes]:
    """The smallest K with this closure: no proper subset has it as well."""
    people = individuals_from_sets(sets)
    having = [known for known in subsets(closed) if closure(people, known) == closed]
    return {known for known in having if not any(other < known for other in having)}


def maximal_simplices(sets: Sequence[Attributes]) -> set[Attributes]:
    """The sets that are in no other."""
    return {one for one in sets if not any(one < other for other in sets)}


def minimal_hitting_sets(sets: Sequence[Attributes]) -> set[Attributes]:
    """All sets that meet each of these, without those that contain another one."""
    found = {frozenset[int]()}
    for one in sets:
        met = {k for k in found if k & one}
        grown = {k | {x} for k in found - met for x in one}
        found = met | {k for k in grown if not any(other <= k for other in met)}
        found = {k for k in found if not any(other < k for other in found)}
    return found


# ---- the document's algorithm ----------------------------------------------------------------------------------------


def poset_scores(matrix: Bools, likelihood: Floats, danger: Floats, offset: float = 1.0) -> Floats:
    """priv of every row by the poset of intersections (chapter 4): rows are bit sets and numpy compares them all at
    once, as somebody would write it who follows the document and knows numpy."""
    attributes = matrix.shape[1]
    power = 1 << np.arange(attributes, dtype=np.int64)
    rows = matrix.astype(np.int64) @ power
    closed = np.unique(rows)
    newest = closed
    while len(newest):
        pairs = np.unique((newest[:, None] & closed[None, :]).ravel())
        newest = np.setdiff1d(pairs, closed, assume_unique=True)
        closed = np.union1d(closed, newest)
    closed = closed[np.argsort(np.bitwise_count(closed), kind="stable")]
    weight: dict[int, float] = {}
    for place, one in enumerate(closed.tolist()):
        below = closed[:place]
        below = below[(below & one) == below]
        children = _largest(below)
        best = max((weight[child] for child in children), default=0.0)
        for known in _minimal_masks([one & ~child for child in children]):
            bits = [a for a in range(attributes) if known >> a & 1]
            total = float(sum(danger[a] for a in range(attributes) if (one & ~known) >> a & 1))
            best = max(best, float(prod(likelihood[a] for a in bits)) * total / (offset + total))
        weight[one] = best
    return np.array([weight[row] for row in rows.tolist()])


def _largest(below: np.ndarray) -> list[int]:  # type: ignore[type-arg]
    found: list[int] = []
    left = below[::-1]
    while len(left):
        found.append(int(left[0]))
        left = left[(left & found[-1]) != left]
    return found


def _minimal_masks(sets: Sequence[int]) -> list[int]:
    found = [0]
    for one in sets:
        met = [k for k in found if k & one]
        bits = [1 << b for b in range(one.bit_length()) if one >> b & 1]
        grown = {k | bit for k in found if not k & one for bit in bits}
        found = met + [k for k in grown if not any(other & k == other for other in met)]
    return found
