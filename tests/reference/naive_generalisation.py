"""Full-domain generalisation by trying everything: every combination of levels, every class, row by row."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product

__all__ = ["Goal", "average_risk", "best_levels", "entropy_l", "kept_rows", "loss", "t_distance"]

Goal = Callable[[list[str], list[str]], bool]
"""Whether a class with these sensitive values is fine in a table with those."""


def best_levels(
    rows: Sequence[tuple[str, ...]],
    values: Sequence[str],
    labels: Sequence[dict[str, list[str]]],
    goals: Sequence[Goal],
    most_left_out: int,
    risk: float | None = None,
) -> tuple[float, list[tuple[int, ...]]]:
    """The least loss, and all levels that have it; infinite if none is fine. ``labels[c][value]`` are the labels of a
    value from specific to general, the value first and the root last."""
    best, found = math.inf, list[tuple[int, ...]]()
    for levels in product(*(range(len(next(iter(own.values())))) for own in labels)):
        kept = kept_rows(rows, values, labels, levels, goals, risk)
        if len(rows) - len(kept) > most_left_out:
            continue
        lost = loss(rows, labels, levels, kept)
        if lost < best - 1e-12:
            best, found = lost, [levels]
        elif lost < best + 1e-12:
            found.append(levels)
    return best, found


def kept_rows(
    rows: Sequence[tuple[str, ...]],
    values: Sequence[str],
    labels: Sequence[dict[str, list[str]]],
    levels: Sequence[int],
    goals: Sequence[Goal],
    risk: float | None,
) -> list[int]:
    """The rows in classes that are fine; with a limit to the average risk, without the smallest classes."""
    classes = defaultdict(list)
    for place, row in enumerate(rows):
        classes[tuple(own[x][level] for own, x, level in zip(labels, row, levels, strict=True))].append(place)
    fine = [c for c in classes.values() if all(goal([values[i] for i in c], list(values)) for goal in goals)]
    if risk is not None:
        fine = average_risk(fine, risk)
    return sorted(i for c in fine for i in c)


def average_risk(classes: list[list[int]], risk: float) -> list[list[int]]:
    """The classes of at least the smallest size for which classes divided by rows are at most this."""
    for least in sorted({len(c) for c in classes}):
        some = [c for c in classes if len(c) >= least]
        if len(some) <= risk * sum(map(len, some)) + 1e-12:
            return some
    return []


def loss(
    rows: Sequence[tuple[str, ...]], labels: Sequence[dict[str, list[str]]], levels: Sequence[int], kept: Sequence[int]
) -> float:
    """What labels cover of all values; rows that are left out are covered by everything."""
    stays = set(kept)
    logarithm = 0.0
    for column, (own, level) in enumerate(zip(labels, levels, strict=True)):
        size, under = len(own), Counter(names[level] for names in own.values())
        total = sum(under[own[row[column]][level]] / size if i in stays else 1.0 for i, row in enumerate(rows))
        n = len(rows)
        lost = (total - n / size) / (n - n / size) if size > 1 else 0.0
        logarithm += math.log1p(max(0.0, lost)) / len(labels)
    return math.exp(logarithm) - 1


def entropy_l(values: Sequence[str]) -> float:
    """e to the entropy of the values."""
    shares = [count / len(values) for count in Counter(values).values()]
    return math.exp(-sum(p * math.log(p) for p in shares))


def t_distance(values: Sequence[str], table: Sequence[str]) -> float:
    """How far the values of a class are from those of the table, all values equally far apart."""
    mine, all_ = Counter(values), Counter(table)
    return sum(max(0.0, mine[v] / len(values) - all_[v] / len(table)) for v in all_)


def recursive_c(values: Sequence[str], few: int) -> float:
    """The c that must be exceeded for recursive (c, ℓ)-diversity."""
    counts = sorted(Counter(values).values(), reverse=True)
    rest = sum(counts[few - 1 :])
    return counts[0] / rest if rest else math.inf


def all_classes(released: Sequence[tuple[str, ...]]) -> Iterator[list[int]]:
    """The rows of each class of a released table."""
    classes = defaultdict(list)
    for place, row in enumerate(released):
        classes[row].append(place)
    yield from classes.values()
