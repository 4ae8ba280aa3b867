"""Local recoding: each row only as coarse as its own class needs. Nobody is left out.

All rows begin as one class on the highest levels. In every round, each class is split by the column that gains most:
its rows go one level down in that column. Parts that would fail stay behind together, on the level where they are; if
these fail as well, the smallest of the other parts stays with them. A class that no column can split is finished.

All classes are split at once, so that a round takes a few passes over the combinations, however many classes there are.
Sensitive values have a say in how classes are split, but which class somebody is in follows from the quasi-identifiers
and the published table; whoever knows the quasi-identifiers learns the class, which meets the goals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.classes.protections.class_goals import ClassGoals
from unveil.classes.protections.column_levels import ColumnLevels
from unveil.classes.protections.combinations import Combinations
from unveil.run import Run

__all__ = ["RecodedRows", "parts_that_stay", "recode_locally"]


@dataclass(frozen=True, eq=False)
class RecodedRows:
    """The class of each combination, and the level of each class in each column: ``levels[class, column]``."""

    class_of: Ints
    levels: Int32s

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.levels)


@dataclass(frozen=True, eq=False)
class _Split:
    """A way to split some classes by one column: the part of each combination, −1 if it stays where it is, and what
    each class gains; 0 if it cannot be split."""

    column: int
    part: Ints
    gain: Floats


def recode_locally(
    columns: Sequence[ColumnLevels],
    people: Combinations,
    goals: ClassGoals,
    weights: Floats,
    run: Run,
    kept_columns: frozenset[int] = frozenset(),
) -> RecodedRows | None:
    """Split classes until none can be split; None if even all rows together fail. ``people`` are the combinations on
    level 0; columns to keep are never coarsened."""
    heights = [0 if c in kept_columns else column.height for c, column in enumerate(columns)]
    start = people.with_labels(
        [c.becomes[top][own] for c, top, own in zip(columns, heights, people.labels, strict=True)]
    )
    used, class_of = np.unique(start.class_of(range(len(columns)))[0], return_inverse=True)
    if goals.failing_classes(people, class_of, len(used)).any():
        return None
    levels = np.tile(np.array(heights, np.int32), (len(used), 1))
    tables = [_Descent.from_levels(column) for column in columns]
    open_ = np.ones(len(used), np.bool_)
    whole = int(levels.sum(axis=1).max(initial=1))
    while open_.any():
        run.check()
        run.progress("splitting classes", 1 - float(levels[open_].sum(axis=1).max(initial=0)) / max(1, whole))
        best = _best_splits(tables, people, goals, weights, class_of, levels, open_)
        class_of, levels, open_ = _apply_splits(best, class_of, levels, len(columns))
    return RecodedRows(class_of, levels)


@dataclass(frozen=True, eq=False)
class _Descent:
    """``labels[level, value]`` is the label of a value on a level, ``covered[level, value]`` what it covers; nulls are
    the last value."""

    labels: Int32s
    covered: Floats
    scale: float

    @classmethod
    def from_levels(cls, column: ColumnLevels) -> _Descent:
        labels = np.array(column.becomes, np.int32)
        covered = np.array([own[becomes] for own, becomes in zip(column.covered, column.becomes, strict=True)])
        return cls(labels, covered, 1 / max(1e-9, 1 - column.leaf_share))


def _best_splits(
    tables: Sequence[_Descent],
    people: Combinations,
    goals: ClassGoals,
    weights: Floats,
    class_of: Ints,
    levels: Int32s,
    open_: Bools,
) -> tuple[Ints, Ints]:
    """The column by which each class is split, −1 if by none, and the part that each combination goes to, −1 if it
    stays."""
    chosen, gain = np.full(len(levels), -1), np.zeros(len(levels))
    part = np.full(len(class_of), -1)
    for column, table in enumerate(tables):
        can = open_ & (levels[:, column] > 0)
        if not can.any():
            continue
        split = _split_by(column, table, people, goals, class_of, levels, can)
        gained = split.gain * weights[column] * table.scale
        better = gained > gain
        gain[better], chosen[better] = gained[better], column
        changed = better[class_of]
        part[changed] = split.part[changed]
    return chosen, part


def _split_by(
    column: int,
    table: _Descent,
    people: Combinations,
    goals: ClassGoals,
    class_of: Ints,
    levels: Int32s,
    can: Bools,
) -> _Split:
    some = np.flatnonzero(can[class_of])
    own, level, values = class_of[some], levels[class_of[some], column], people.labels[column][some]
    label = table.labels[level - 1, values].astype(np.int64)
    width = int(table.labels.max(initial=0)) + 2
    keys, part = np.unique(own * width + label + 1, return_inverse=True)
    here, class_of_part = people.select(some), keys // width
    sizes = np.bincount(part, here.people, minlength=len(keys)).astype(np.float64)
    stays = goals.failing_classes(here, part, len(keys))
    stays = parts_that_stay(stays, class_of_part, sizes, here, goals, part, len(can))
    moves = ~stays[part]
    saved = here.people * (table.covered[level, values] - table.covered[level - 1, values])
    gain = np.bincount(own[moves], saved[moves], minlength=len(can))
    whole_part = np.bincount(class_of_part[~stays], minlength=len(can)) > 0
    found = np.full(len(class_of), -1)
    found[some[moves]] = part[moves]
    tiny = np.bincount(own[moves], here.people[moves], minlength=len(can)) * 1e-12
    return _Split(column, found, np.where(whole_part, gain + tiny, 0.0))


def parts_that_stay(
    stays: Bools,
    class_of_part: Ints,
    sizes: Floats | Ints,
    people: Combinations,
    goals: ClassGoals,
    part: Ints,
    classes: int,
) -> Bools:
    """Which parts stay behind. Where those that fail would fail together as well, the smallest part that does not fail
    stays with them; where that is not enough, all parts stay."""
    for _ in range(2):
        rest = stays[part]
        if not rest.any():
            return stays
        failing = np.zeros(classes, np.bool_)
        staying = people.select(rest)
        together, number = np.unique(class_of_part[part[rest]], return_inverse=True)
        failing[together] = goals.failing_classes(staying, number, len(together))
        if not failing.any():
            return stays
        moving = np.flatnonzero(~stays & failing[class_of_part])
        order = moving[np.lexsort((sizes[moving], class_of_part[moving]))]
        _, first = np.unique(class_of_part[order], return_index=True)
        stays = stays.copy()
        stays[order[first]] = True
    rest = stays[part]
    together, number = np.unique(class_of_part[part[rest]], return_inverse=True)
    failing = np.zeros(classes, np.bool_)
    failing[together] = goals.failing_classes(people.select(rest), number, len(together))
    stays[failing[class_of_part]] = True
    return stays


def _apply_splits(best: tuple[Ints, Ints], class_of: Ints, levels: Int32s, columns: int) -> tuple[Ints, Int32s, Bools]:
    """The classes after all splits, and which of them may be split further."""
    chosen, part = best
    key = np.where(part >= 0, part + 1, 0) + class_of * (int(part.max(initial=-1)) + 2)
    _, first, fresh = np.unique(key, return_index=True, return_inverse=True)
    came_from, moved = class_of[first], part[first] >= 0
    new_levels = levels[came_from].copy()
    down = np.flatnonzero(moved)
    new_levels[down, chosen[came_from[down]]] -= 1
    return fresh, new_levels, (chosen[came_from] >= 0)
