"""Sets of columns the slow, obvious way: group all people by every set of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from math import factorial, prod

import numpy as np

from unveil.arrays import Bools, Int32s, Ints

__all__ = [
    "count_classes",
    "count_uniques",
    "dis_suda",
    "identifying_sets",
    "minimal_sets",
    "minimal_sets_by_numpy",
    "separated_pairs",
    "set_score",
    "shapley_values",
]

Row = Sequence[int]
Set = tuple[int, ...]


def _class_counts(rows: Sequence[Row], columns: Set) -> Counter[tuple[int, ...]]:
    return Counter(tuple(row[c] for c in columns) for row in rows)


def count_classes(rows: Sequence[Row], columns: Set) -> int:
    """How many classes people fall into."""
    return len(_class_counts(rows, columns))


def count_uniques(rows: Sequence[Row], columns: Set) -> int:
    """How many people are alone in their class."""
    return sum(size == 1 for size in _class_counts(rows, columns).values())


def separated_pairs(rows: Sequence[Row], columns: Set) -> float:
    """The share of pairs of people that differ in one of the columns."""
    told = [any(a[c] != b[c] for c in columns) for a, b in combinations(rows, 2)]
    return sum(told) / len(told) if told else 1.0


def column_subsets(columns: Sequence[int], most: int) -> Iterator[Set]:
    """All sets of at least one and at most so many columns, smaller ones first."""
    for size in range(1, most + 1):
        yield from combinations(columns, size)


def minimal_sets(rows: Sequence[Row], columns: int, most: int) -> list[list[Set]]:
    """Of every person, the sets of columns they are unique on, without those that have such a set in them."""
    found: list[list[Set]] = [[] for _ in rows]
    for chosen in column_subsets(range(columns), most):
        groups = _class_counts(rows, chosen)
        for sets, row in zip(found, rows, strict=True):
            alone = groups[tuple(row[c] for c in chosen)] == 1
            if alone and not any(set(part) <= set(chosen) for part in sets):
                sets.append(chosen)
    return found


def set_score(columns: int, most: int, size: int) -> int:
    """What a minimal set of this size scores."""
    return prod(columns - i for i in range(size, most))


def dis_suda(rows: Sequence[Row], columns: int, most: int, fraction: float) -> list[float]:
    """The DIS-SUDA score of every person, step by step as Elliot and Manning (2003) and sdcMicro have it: the risk of
    the table as odds, times the score to a power over the harmonic mean of these."""
    scores = [sum(set_score(columns, most, len(s)) for s in sets) for sets in minimal_sets(rows, columns, most)]
    power = 1 + (8 - columns) / 20
    powers = [score**power for score in scores if score]
    if not powers:
        return [0.0] * len(rows)
    paired = sum(2 for size in _class_counts(rows, tuple(range(columns))).values() if size == 2)
    dis = len(powers) * fraction / (len(powers) * fraction + paired * (1 - fraction))
    if dis == 1:
        return [1.0 if score else 0.0 for score in scores]
    mean = len(powers) / sum(1 / x for x in powers)
    odds = [dis / (1 - dis) * score**power / mean if score else 0.0 for score in scores]
    return [x / (1 + x) for x in odds]


def identifying_sets(rows: Sequence[Row], columns: int, share: float, most: int) -> list[Set]:
    """All sets that single out at least a share of the people, without those that have such a set in them."""
    found: list[Set] = []
    for chosen in [(), *column_subsets(range(columns), most)]:
        if count_uniques(rows, chosen) / len(rows) >= share and not any(set(part) <= set(chosen) for part in found):
            found.append(chosen)
    return found


def shapley_values(rows: Sequence[Row], columns: int, value: object) -> list[float]:
    """The mean gain from every column over all orders in which they can become known; ``value`` is one of the above."""
    gains = [0.0] * columns
    for order in permutations(range(columns)):
        for k, column in enumerate(order):
            before, after = (value(rows, tuple(order[: k + i])) for i in (0, 1))  # type: ignore[operator]
            gains[column] += after - before
    return [gain / factorial(columns) / len(rows) for gain in gains]


def minimal_sets_by_numpy(columns: Sequence[Int32s], most: int) -> dict[Set, Ints]:
    """The same as ``minimal_sets``, of every set the rows: grouped by numpy and compared with each set's parts. A
    search for minimal sample uniques has to be faster than this."""
    bases = [int(codes.max()) + 2 for codes in columns]
    alone: dict[Set, Bools] = {}
    found = {}
    for chosen in column_subsets(range(len(columns)), most):
        key = np.zeros(len(columns[0]), np.int64)
        for c in chosen:
            key = key * bases[c] + columns[c] + 1
        _, ids, counts = np.unique(key, return_inverse=True, return_counts=True)
        alone[chosen] = counts[ids] == 1
        new = alone[chosen].copy()
        for c in chosen if len(chosen) > 1 else ():
            new &= ~alone[tuple(x for x in chosen if x != c)]
        found[chosen] = np.flatnonzero(new)
    return found
