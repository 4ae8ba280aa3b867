"""The levels of a quasi-identifier, as numbers: what each value becomes on each level, and how much it covers.

Values that mean missing stay what they are on every level, each as a label of its own, until the column is left out on
the last one. A hierarchy says how many values there are in all; a label covers the share of them that it may stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from unveil.arrays import Floats, Int32s
from unveil.release.coarsening import ColumnLadder
from unveil.release.codes import Codes

__all__ = ["ColumnLevels", "column_levels", "labels_on"]


@dataclass(frozen=True, eq=False)
class ColumnLevels:
    """On level l, value v becomes the label ``becomes[l][v]``, which covers the share ``covered[l][label]`` of all
    values. Nulls, −1, come last in both. On level 0 every value, missing or not, is its own label v."""

    ladder: ColumnLadder
    becomes: tuple[Int32s, ...]
    covered: tuple[Floats, ...]

    @property
    def height(self) -> int:
        """The level on which the column is left out."""
        return len(self.becomes) - 1

    @property
    def leaf_share(self) -> float:
        """What one of all values covers."""
        return float(self.covered[0].min(initial=1.0))

    def between(self, low: int, high: int) -> Int32s | None:
        """What each label of a level becomes on a higher one; nulls come last. None if the levels are the same."""
        if low == high:
            return None
        found = np.full(len(self.covered[low]), -1, np.int32)
        found[self.becomes[low]] = self.becomes[high]
        return found


def column_levels(ladder: ColumnLadder, column: Codes) -> ColumnLevels:
    """The levels of a column whose codes take missing values for values."""
    place = pc.index_in(column.values, value_set=ladder.steps[0].labels.cast(column.values.type))
    own = np.asarray(pc.fill_null(place, -1), np.int32)
    is_missing = own < 0
    one = 1 / len(ladder.hierarchy.values) if ladder.hierarchy is not None else 1 / max(1, len(ladder.steps[0].labels))
    becomes = [np.append(np.arange(len(own), dtype=np.int32), np.int32(-1))]
    covered = [np.append(np.append(ladder.steps[0].covered, one)[own], one)]
    for step in ladder.steps[1:]:
        labels = step.label_codes(own)
        labels[is_missing] = len(step.labels) + np.arange(int(is_missing.sum()))
        becomes.append(np.append(labels, np.int32(-1)))
        covered.append(np.append(step.covered, np.full(int(is_missing.sum()) + 1, one)))
    becomes.append(np.zeros(len(own) + 1, np.int32))
    covered.append(np.ones(1))
    return ColumnLevels(ladder, tuple(becomes), tuple(covered))


def labels_on(columns: Sequence[ColumnLevels], codes: Sequence[Int32s], levels: Sequence[int]) -> tuple[Int32s, ...]:
    """The labels of rows with these codes on these levels."""
    return tuple(c.becomes[level][own] for c, own, level in zip(columns, codes, levels, strict=True))
