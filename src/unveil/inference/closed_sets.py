"""The lattice of a small relation: which sets of attributes belong together, and from what do they follow?

A set of attributes is *closed* if it equals its closure: it is an intersection of rows (definition 4.2 of *Database
privacy score*). Closed sets are ordered by inclusion; a set *covers* those directly below it. A *minimal generator* of
a closed set S is a set K with closure S and no smaller such set within: K meets S ∖ S' for every S' that S covers
(section 4.3 there).

The *Dowker complexes* of the relation are the sets of attributes that somebody has all of, and the sets of individuals
who all share something. Their *maximal simplices* are in no other. A *free face* is in exactly one maximal simplex and
is not maximal itself; the empty set counts. A *minimal non-face* is in no simplex, but everything smaller is. Both
complexes have the same homology (Dowker 1952), so their Betti numbers are equal; these are computed by ranks of
boundary matrices over the field with two elements.

Attributes that individuals merely may have play no part here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from unveil.errors import UnveilError
from unveil.inference.relation import Relation, unpack_bits

__all__ = [
    "ClosedSets",
    "betti_numbers",
    "find_closed_sets",
    "find_free_faces",
    "find_minimal_non_faces",
    "find_simplices",
    "minimal_hitting_sets",
]

Attributes = frozenset[int]

_MOST_SETS = 5_000
_MOST_FACES = 100_000
_MOST_HITTING_SETS = 10_000


@dataclass(frozen=True, eq=False)
class ClosedSets:
    """All closed sets that somebody has, smaller ones first. ``people`` counts who has each, ``generators`` are its
    minimal generators, and ``covers`` the numbers of the sets directly below."""

    sets: tuple[Attributes, ...]
    people: tuple[int, ...]
    generators: tuple[tuple[Attributes, ...], ...]
    covers: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]

    def as_plain(self) -> dict[str, Any]:
        """The lattice as lists and dictionaries that can be written as JSON."""
        return {
            "attributes": list(self.names),
            "sets": [
                {
                    "attributes": sorted(one),
                    "people": people,
                    "generators": [sorted(k) for k in generators],
                    "covers": list(covers),
                }
                for one, people, generators, covers in zip(
                    self.sets, self.people, self.generators, self.covers, strict=True
                )
            ],
        }

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Pairs of a set and one that it covers."""
        return tuple((upper, lower) for upper, below in enumerate(self.covers) for lower in below)

    def label(self, number: int) -> str:
        """The names of the attributes of a set."""
        return ", ".join(self.names[a] for a in sorted(self.sets[number])) or "∅"


def find_closed_sets(relation: Relation, most: int = _MOST_SETS) -> ClosedSets:
    """All closed sets that somebody has.

    >>> found = find_closed_sets(Relation.from_sets(["abcd", "abce", "abfg", "bcfg"]))
    >>> [found.label(k) for k in range(4)]
    ['b', 'a, b', 'b, c', 'a, b, c']
    """
    has_too_many = len(relation.rows.counts) > most  # every row is a closed set
    rows = [] if has_too_many else _row_sets(relation)
    closed = set[Attributes]()
    for row in rows:
        closed |= {row} | {row & other for other in closed}
        if has_too_many := len(closed) > most:
            break
    if has_too_many:
        raise UnveilError(f"more than {most:,} closed sets; take fewer columns, items or rows")
    ordered = sorted(closed, key=lambda one: (len(one), sorted(one)))
    number = {one: k for k, one in enumerate(ordered)}
    counts = relation.rows.counts.tolist()
    people = tuple(sum(count for row, count in zip(rows, counts, strict=True) if one <= row) for one in ordered)
    covers = [_maximal([other for other in ordered[:k] if other < one]) for k, one in enumerate(ordered)]
    generators = [
        minimal_hitting_sets([one - below for below in under]) for one, under in zip(ordered, covers, strict=True)
    ]
    names = relation.names or tuple(map(str, range(relation.attributes)))
    return ClosedSets(
        tuple(ordered), people, tuple(tuple(some) for some in generators),
        tuple(tuple(sorted(number[below] for below in under)) for under in covers), names,
    )  # fmt: skip


def minimal_hitting_sets(sets: Sequence[Attributes], most: int = _MOST_HITTING_SETS) -> list[Attributes]:
    """All minimal sets that meet each of these, smaller ones first.

    >>> [sorted(k) for k in minimal_hitting_sets([frozenset({0, 1}), frozenset({1, 2})])]
    [[1], [0, 2]]
    """
    found = [frozenset[int]()]
    for one in sets:
        met = [k for k in found if k & one]
        grown = {k | {x} for k in found if not k & one for x in one}
        if len(grown) > most:
            raise UnveilError(f"a set follows from more than {most:,} others; take fewer columns or items")
        found = met + [k for k in grown if not any(other <= k for other in met)]
    return sorted(found, key=lambda k: (len(k), sorted(k)))


# ---- Dowker complexes ------------------------------------------------------------------------------------------------


def find_simplices(relation: Relation) -> tuple[list[Attributes], list[Attributes]]:
    """The maximal simplices of both Dowker complexes: sets of attributes that one individual has, and sets of
    individuals who share an attribute."""
    marks = unpack_bits(relation.rows.has, relation.attributes)[relation.rows.row_of]
    by_attribute = [frozenset(np.flatnonzero(column).tolist()) for column in marks.T]
    return _maximal(_row_sets(relation)), _maximal([one for one in by_attribute if one])


def find_free_faces(maximal: Sequence[Attributes], most: int = _MOST_FACES) -> list[Attributes]:
    """The sets that are in exactly one maximal simplex, and not equal to it. ∅ counts."""
    found = []
    for number, one in enumerate(maximal):
        meets = [one & other for k, other in enumerate(maximal) if k != number]
        if sum(1 << len(each) for each in maximal) > most:
            raise UnveilError(f"the relation has more than {most:,} faces; take fewer attributes")
        for size in range(len(one)):
            for face in map(frozenset, combinations(sorted(one), size)):
                if not any(face <= meet for meet in meets):
                    found.append(face)
    return sorted(found, key=lambda face: (len(face), sorted(face)))


def find_minimal_non_faces(maximal: Sequence[Attributes], vertices: int) -> list[Attributes]:
    """The smallest sets of vertices that are in no simplex: they meet the complement of every maximal one."""
    everything = frozenset(range(vertices))
    return minimal_hitting_sets([everything - one for one in maximal])


def betti_numbers(maximal: Sequence[Attributes], most: int = _MOST_FACES) -> list[int]:
    """How many components, holes, voids … a complex has, given by its maximal simplices; up to its dimension.

    >>> betti_numbers([frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})])
    [1, 1]
    """
    if sum(1 << len(one) for one in maximal) > most:
        raise UnveilError(f"the complex has more than {most:,} faces; take fewer attributes or individuals")
    top = max(map(len, maximal), default=0)
    faces = [sorted({f for one in maximal for f in combinations(sorted(one), size)}) for size in range(1, top + 1)]
    ranks = [0, *(_boundary_rank(low, high) for low, high in pairwise(faces)), 0]
    return [len(some) - ranks[k] - ranks[k + 1] for k, some in enumerate(faces)]


def _boundary_rank(low: Sequence[tuple[int, ...]], high: Sequence[tuple[int, ...]]) -> int:
    """The rank of the boundary matrix over the field with two elements: its columns as bits, eliminated in turn."""
    place = {face: k for k, face in enumerate(low)}
    pivots: dict[int, int] = {}
    for face in high:
        column = 0
        for k in range(len(face)):
            column ^= 1 << place[face[:k] + face[k + 1 :]]
        while column and column.bit_length() in pivots:
            column ^= pivots[column.bit_length()]
        if column:
            pivots[column.bit_length()] = column
    return len(pivots)


def _row_sets(relation: Relation) -> list[Attributes]:
    marks = unpack_bits(relation.rows.has, relation.attributes)
    return [frozenset(np.flatnonzero(row).tolist()) for row in marks]


def _maximal(sets: Iterable[Attributes]) -> list[Attributes]:
    """Those that are in no other, in order."""
    found: list[Attributes] = []
    for one in sorted(set(sets), key=lambda one: (-len(one), sorted(one))):
        if not any(one <= other for other in found):
            found.append(one)
    return sorted(found, key=lambda one: (len(one), sorted(one)))
