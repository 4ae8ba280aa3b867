"""The values of a quasi-identifier in an order in which a class needs few neighbouring places.

Numbers are in numerical order, and a label may stand for any range of them. Other values are in the order of the tree
of their levels, so that the values of a label are next to each other. Either way, the label that a class needs in a
column follows from the first and the last place of its people: a range, or the lowest label above both.

A column is one of numbers if all values are, no two of them are equal, every label of its hierarchy stands for
neighbouring numbers, and none hides characters, as those of zip codes do. Missing values come after all numbers; each
is a label of its own, which meets others only where everything is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.classes.protections.column_levels import ColumnLevels
from unveil.release.coarse_table import ChangedColumn, RelabelledColumn
from unveil.release.codes import cast_to_text
from unveil.release.generalised_labels import ROOT_LABEL, parse_fraction, range_label
from unveil.release.hierarchy import Hierarchy

__all__ = ["ColumnOrder", "column_order"]

Places: TypeAlias = Int32s | Ints

_MAX_TEXT = 40  # characters of a number, at most: two of them are still read as a range


@dataclass(frozen=True, eq=False)
class ColumnOrder:
    """``place[label]`` is the place of a label of level 0, nulls last. On level l, the value at place p has the label
    ``labels[l, p]``, which covers the share ``covered[l, p]`` of all values. The first places are ``numbers``, in
    order; there are none if the column has other values. ``before[p]`` is the share of all values below number p."""

    column: ColumnLevels
    place: Int32s
    labels: Int32s
    covered: Floats
    numbers: tuple[Fraction, ...] = ()
    before: Floats | None = None

    @property
    def place_count(self) -> int:
        """The number of places."""
        return len(self.place)

    def is_range(self, low: Places, high: Places) -> Bools:
        """Whether the places from ``low`` to ``high`` are different numbers."""
        found: Bools = (low < high) & (high < len(self.numbers))
        return found

    def levels(self, low: Places, high: Places) -> Ints:
        """The lowest level on which the first and the last place, and so all between, have the same label. Numbers meet
        on the highest only."""
        found = np.full(len(low), self.column.height, np.int64)
        for level in range(self.column.height - 1, -1, -1):
            same = self.labels[level, low] == self.labels[level, high]
            found[same & ((low == high) | (low >= len(self.numbers)))] = level
        return found

    def shares(self, low: Places, high: Places) -> Floats:
        """The share of all values that the label of a class covers."""
        found: Floats = self.covered[self.levels(low, high), low]
        if self.before is not None:
            some = self.is_range(low, high)
            found[some] = self.before[high[some]] - self.before[low[some]] + self.column.leaf_share
        return found

    def spreads(self, low: Places, high: Places) -> Floats:
        """The same from 0, for a single value, to 1."""
        least = self.column.leaf_share
        found: Floats = (self.shares(low, high) - least) / max(1e-9, 1 - least)
        return found

    def parts(self, place: Int32s, class_of: Int32s, low: Int32s, high: Int32s) -> Int32s:
        """The label of each place one level below the one of its class, which begins at ``low[class]`` and ends at
        ``high[class]``; all numbers have the same."""
        if self.numbers:
            return np.where(place < len(self.numbers), np.int32(0), place)
        below = np.maximum(self.levels(low, high) - 1, 0)
        return self.labels[below[class_of], place] + np.int32(1)

    def changed_column(self, low: Int32s, high: Int32s) -> ChangedColumn:
        """What becomes of the column if each row is in a class between these places."""
        is_whole = not ((low > low.min(initial=0)) | (high < high.max(initial=0))).any()
        if not self.numbers or (is_whole and (low < high).any()):
            return self.column.on_levels(self.levels(low, high))
        used, codes = np.unique(low.astype(np.int64) * self.place_count + high, return_inverse=True)
        first, last = used // self.place_count, used % self.place_count
        labels = [
            range_label(self.numbers[a], self.numbers[b]) if is_range else ROOT_LABEL
            for a, b, is_range in zip(first.tolist(), last.tolist(), self.is_range(first, last).tolist(), strict=True)
        ]
        return RelabelledColumn(self.column.ladder, pa.array(labels, pa.string()), codes.astype(np.int32), low < high)


def column_order(column: ColumnLevels) -> ColumnOrder:
    """The order of a column."""
    becomes = np.array(column.becomes)
    numbers = _ordered_numbers(column)
    if numbers is None:
        order = np.lexsort(becomes)
    else:
        order = np.array([*sorted(numbers, key=numbers.__getitem__), *np.flatnonzero(np.append(column.own, -1) < 0)])
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    labels = becomes[:, order]
    covered = np.array([own[labels[level]] for level, own in enumerate(column.covered)])
    if numbers is None:
        return ColumnOrder(column, place, labels, covered)
    ordered = tuple(sorted(numbers.values()))
    return ColumnOrder(column, place, labels, covered, ordered, _shares_below(column, ordered))


def _ordered_numbers(column: ColumnLevels) -> dict[int, Fraction] | None:
    """The number of each value that does not mean missing; None if the column is not one of numbers."""
    texts = cast_to_text(column.ladder.steps[0].labels).to_pylist()
    read = [parse_fraction(text.strip()) if len(text) <= _MAX_TEXT else None for text in texts]
    numbers = {v: read[i] for v, i in enumerate(column.own.tolist()) if i >= 0 and read[i] is not None}
    if len(numbers) < max(2, len(texts)) or len(set(numbers.values())) < len(numbers):
        return None
    if any(len(range_label(n, n)) > _MAX_TEXT for n in numbers.values()) or any(map(_has_leading_zero, texts)):
        return None
    order = sorted(numbers, key=numbers.__getitem__)
    for becomes in column.becomes[1:-1]:
        own = becomes[order]
        if int((own[1:] != own[:-1]).sum()) + 1 > len(np.unique(own)):
            return None
    return None if _hides_characters(column.ladder.hierarchy) else numbers


def _has_leading_zero(text: str) -> bool:
    """Whether a number is written as a code: 02139 is not 2139."""
    bare = text.strip().lstrip("+-−")
    return bare[:1] == "0" and bare[1:2].isdigit()


def _hides_characters(hierarchy: Hierarchy | None) -> bool:
    """Whether a label shows a part of the values under it, such as 816**."""
    if hierarchy is None:
        return False
    labels = (label for level in range(1, hierarchy.height + 1) for label in hierarchy.labels(level).to_pylist())
    return any("*" in label and label != ROOT_LABEL for label in labels)


def _shares_below(column: ColumnLevels, numbers: Sequence[Fraction]) -> Floats:
    """The share of all values in the hierarchy below each number."""
    hierarchy = column.ladder.hierarchy
    known = list(numbers)
    if hierarchy is not None:
        read = (parse_fraction(text.strip()) for text in hierarchy.values.to_pylist())
        known = sorted({number for number in read if number is not None} | set(numbers))
    place = {number: i for i, number in enumerate(known)}
    total = len(known) if hierarchy is None else len(hierarchy.values)
    return np.array([place[number] for number in numbers]) / max(1, total)
