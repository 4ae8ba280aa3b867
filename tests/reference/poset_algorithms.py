"""Algorithms 1 to 7 of *A privacy score for anonymous databases*, from what they are for: as printed, 2 intersects the
rows with each other again and again, 5 never collects what it makes, and 6 and 7 miss minimal sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

__all__ = [
    "all_intersections",
    "crossing_sets",
    "intersection_poset",
    "minimal_crossing_sets",
    "minimal_implying_sets",
    "pairwise_intersections",
]

Attributes = frozenset[int]


def pairwise_intersections(sets: Iterable[Attributes]) -> set[Attributes]:
    """Algorithm 1: what any two of these have in common."""
    return {one & other for one, other in combinations(sets, 2)}


def all_intersections(rows: Sequence[Attributes]) -> set[Attributes]:
    """Algorithm 2: the intersections of any number of rows."""
    found, before = set(rows), set[Attributes]()
    while found != before:
        before, found = found, found | pairwise_intersections(found)
    return found


def intersection_poset(rows: Sequence[Attributes]) -> dict[Attributes, set[Attributes]]:
    """Algorithm 3: every intersection, and its direct children, the largest ones within it."""
    found = all_intersections(rows)
    within = {one: {other for other in found if other < one} for one in found}
    return {one: {c for c in below if not any(c < other for other in below)} for one, below in within.items()}


def crossing_sets(complements: Sequence[Attributes]) -> set[Attributes]:
    """Algorithms 4 and 5: one element of each complement, in all ways."""
    if not complements:
        return {frozenset()}
    return {chosen | {x} for chosen in crossing_sets(complements[1:]) for x in complements[0]}


def minimal_crossing_sets(complements: Sequence[Attributes]) -> set[Attributes]:
    """Algorithms 6 and 7: the smallest sets with an element of each complement, by choosing the most frequent element
    of what is left first, and never again one that all sets with it were found for."""

    def search(chosen: Attributes, left: Sequence[Attributes], eliminated: Attributes) -> Iterator[Attributes]:
        if not left:
            yield chosen
        frequency = Counter(x for one in left for x in one if x not in eliminated)
        for x, _ in sorted(frequency.items(), key=lambda pair: (-pair[1], pair[0])):
            yield from search(chosen | {x}, [one for one in left if x not in one], eliminated)
            eliminated |= {x}

    found = set(search(frozenset(), list(complements), frozenset()))
    return {one for one in found if not any(other < one for other in found)}


def minimal_implying_sets(rows: Sequence[Attributes], target: int) -> set[Attributes]:
    """The smallest K without the target whose closure, a set of the poset, has it. Each is a minimal generator of its
    closure, or else a smaller set had the same closure."""
    found = {
        known
        for closed, children in intersection_poset(rows).items()
        if target in closed
        for known in minimal_crossing_sets([closed - one for one in children])
        if target not in known
    }
    return {one for one in found if not any(other < one for other in found)}
