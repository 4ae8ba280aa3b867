"""Mondrian by recursion: one class at a time, row by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from reference.naive_generalisation import Goal

__all__ = ["mondrian_classes"]

Labels = Mapping[str, Sequence[str]]
"""The labels of each value from specific to general, the value first and the root last."""


def mondrian_classes(
    rows: Sequence[tuple[str, ...]],
    values: Sequence[str],
    labels: Sequence[Labels],
    numeric: Sequence[bool],
    goals: Sequence[Goal],
    weights: Sequence[float],
) -> list[list[int]] | None:
    """The rows of each class; None if even all rows together fail."""

    def is_fine(some: Sequence[int]) -> bool:
        return all(goal([values[i] for i in some], list(values)) for goal in goals)

    def split(some: list[int]) -> list[list[int]]:
        width = [w * _spread(_values_at(rows, some, c), labels[c], numeric[c]) for c, w in enumerate(weights)]
        for c in sorted(range(len(weights)), key=lambda c: -round(width[c], 9)):
            own = {i: rows[i][c] for i in some}
            if len(set(own.values())) > 1:
                found = _halves(own) if numeric[c] else _settled(_children(own, labels[c]), is_fine)
                if len(found) > 1 and all(is_fine(part) for part in found):
                    return [group for part in found for group in split(part)]
        return [some]

    everybody = list(range(len(rows)))
    return split(everybody) if is_fine(everybody) else None


def _values_at(rows: Sequence[tuple[str, ...]], some: Sequence[int], column: int) -> set[str]:
    return {rows[i][column] for i in some}


def _spread(there: set[str], labels: Labels, numeric: bool) -> float:
    """The share of all values under the label that these need, from 0 for one value to 1."""
    if len(there) == 1:
        return 0.0
    if numeric:
        low, high = min(map(Fraction, there)), max(map(Fraction, there))
        covered = sum(low <= Fraction(value) <= high for value in labels)
    else:
        level, label = _meeting(there, labels)
        covered = sum(own[level] == label for own in labels.values())
    return (covered - 1) / (len(labels) - 1)


def _meeting(there: set[str], labels: Labels) -> tuple[int, str]:
    """The lowest level on which these values have the same label, and that label."""
    height = len(next(iter(labels.values())))
    for level in range(height):
        found = {labels[value][level] for value in there}
        if len(found) == 1:
            return level, found.pop()
    raise ValueError("no root")


def _halves(own: dict[int, str]) -> list[list[int]]:
    """Those up to the value that divides them most evenly, and those above."""
    numbers = {i: Fraction(value) for i, value in own.items()}
    cuts = sorted(set(numbers.values()))[:-1]
    best = min(cuts, key=lambda cut: abs(2 * sum(n <= cut for n in numbers.values()) - len(numbers)))
    return [[i for i in own if numbers[i] <= best], [i for i in own if numbers[i] > best]]


def _children(own: dict[int, str], labels: Labels) -> list[list[int]]:
    """Those with each label on the level below the one where they meet, in the order of labels."""
    level, _ = _meeting(set(own.values()), labels)
    parts = defaultdict(list)
    for i, value in own.items():
        parts[labels[value][level - 1]].append(i)
    return [parts[label] for label in sorted(parts)]


def _settled(parts: list[list[int]], is_fine: object) -> list[list[int]]:
    """Parts that fail stay together; if that is not enough, with the smallest of the others."""
    fine = [part for part in parts if is_fine(part)]  # type: ignore[operator]
    rest = [i for part in parts if part not in fine for i in part]
    if rest and fine and not is_fine(rest):  # type: ignore[operator]
        smallest = min(fine, key=len)
        fine.remove(smallest)
        rest = rest + smallest
    return [*fine, *([rest] if rest else [])]
