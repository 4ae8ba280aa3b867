"""Sets of columns the slow, obvious way: group all people by every set of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from math import factorial, prod

import numpy as np
import numpy.typing as npt

__all__ = ["classes", "group_by", "identifying", "minimal", "points", "separation", "shapley", "unique"]

Row = Sequence[int]
Set = tuple[int, ...]


def _groups(rows: Sequence[Row], columns: Set) -> Counter[tuple[int, ...]]:
    return Counter(tuple(row[c] for c in columns) for row in rows)


def classes(rows: Sequence[Row], columns: Set) -> int:
    """How many classes people fall into."""
    return len(_groups(rows, columns))


def unique(rows: Sequence[Row], columns: Set) -> int:
    """How many people are alone in their class."""
    return sum(size == 1 for size in _groups(rows, columns).values())


def separation(rows: Sequence[Row], columns: Set) -> float:
    """The share of pairs of people that differ in one of the columns."""
    told = [any(a[c] != b[c] for c in columns) for a, b in combinations(rows, 2)]
    return sum(told) / len(told) if told else 1.0


def subsets(columns: Sequence[int], most: int) -> Iterator[Set]:
    """All sets of at least one and at most so many columns, smaller ones first."""
    for size in range(1, most + 1):
        yield from combinations(columns, size)


def minimal(rows: Sequence[Row], columns: int, most: int) -> list[list[Set]]:
    """Of every person, the sets of columns they are unique on, without those that have such a set in them."""
    found: list[list[Set]] = [[] for _ in rows]
    for chosen in subsets(range(columns), most):
        groups = _groups(rows, chosen)
        for sets, row in zip(found, rows, strict=True):
            alone = groups[tuple(row[c] for c in chosen)] == 1
            if alone and not any(set(part) <= set(chosen) for part in sets):
                sets.append(chosen)
    return found


def points(columns: int, most: int, size: int) -> int:
    """What a minimal set of this size scores."""
    return prod(columns - i for i in range(size, most))


def identifying(rows: Sequence[Row], columns: int, share: float, most: int) -> list[Set]:
    """All sets that single out at least a share of the people, without those that have such a set in them."""
    found: list[Set] = []
    for chosen in [(), *subsets(range(columns), most)]:
        if unique(rows, chosen) / len(rows) >= share and not any(set(part) <= set(chosen) for part in found):
            found.append(chosen)
    return found


def shapley(rows: Sequence[Row], columns: int, value: object) -> list[float]:
    """The mean gain from every column over all orders in which they can become known; ``value`` is one of the above."""
    gains = [0.0] * columns
    for order in permutations(range(columns)):
        for k, column in enumerate(order):
            before, after = (value(rows, tuple(order[: k + i])) for i in (0, 1))  # type: ignore[operator]
            gains[column] += after - before
    return [gain / factorial(columns) / len(rows) for gain in gains]


def group_by(columns: Sequence[npt.NDArray[np.int32]], most: int) -> dict[Set, npt.NDArray[np.int64]]:
    """The same as ``minimal``, of every set the rows: grouped by numpy and compared with each set's parts. A search for
    minimal sample uniques has to be faster than this."""
    bases = [int(codes.max()) + 2 for codes in columns]
    alone: dict[Set, npt.NDArray[np.bool_]] = {}
    found = {}
    for chosen in subsets(range(len(columns)), most):
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
