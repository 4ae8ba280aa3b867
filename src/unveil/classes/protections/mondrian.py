"""Mondrian: split people again and again, each time in the column in which they are most different.

All people begin as one class. A class is split by the column in which it is widest: where its label would cover most of
all values, times the importance of the column. Numbers are cut in two at their median: at the border between two values
that divides people most evenly. Other values are divided by the labels one level below the lowest that all have in
common; parts that would fail stay together, as in :mod:`unveil.classes.protections.local_recoding`. A split is allowed
only if every part meets all goals. If it is not, the class is split by the next widest column; if none is left, the
class is finished (LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006).

That is the strict form: people with the same values are in the same class. In the relaxed form, a class of numbers that
no column can split is cut in the middle even if people on both sides have the same number.

All classes are split at once, so that a round takes a few passes over the combinations, however many classes there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.classes.protections.class_goals import ClassGoals
from unveil.classes.protections.column_order import ColumnOrder
from unveil.classes.protections.combinations import Combinations
from unveil.classes.protections.local_recoding import parts_that_stay
from unveil.grouping import class_ids
from unveil.run import Run

__all__ = ["PeopleGroups", "split_people"]

_BLOCK_ROWS = 1 << 17  # combinations that are worked on at a time, unless a class has more
_DIGITS = 12  # decimals of a width that count; the rest is noise, which must not decide
_DENSE = 4  # keys up to so many times the combinations are marked in an array; otherwise they are sorted


@dataclass(frozen=True, eq=False)
class PeopleGroups:
    """The class of each combination, and the first and the last place of each class in each column: ``low[class,
    column]`` and ``high[class, column]``."""

    class_of: Int32s
    low: Int32s
    high: Int32s

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.low)


def split_people(
    orders: Sequence[ColumnOrder],
    people: Combinations,
    goals: ClassGoals,
    weights: Floats,
    run: Run,
    kept_columns: frozenset[int] = frozenset(),
    divide_ties: bool = False,
) -> PeopleGroups | None:
    """Split people until no class can be split; None if they fail unsplit. ``people`` are the combinations on level 0;
    columns to keep are never coarsened. To ``divide_ties``, each combination must be one person, in random order."""
    bare = replace(people, labels=())
    waiting = _first_classes([people.labels[c] for c in sorted(kept_columns)], bare, goals)
    if waiting is None:
        return None
    splitter = _Splitter(tuple(orders), people.labels, bare, goals, weights, divide_ties)
    found, lows, highs = np.full(len(people), -1, np.int32), list[Int32s](), list[Int32s]()
    finished = done = 0
    while waiting:
        run.check()
        run.progress("splitting classes", done / len(people))
        classes = waiting.pop()
        extent = splitter.measure_extent(classes)
        part = splitter.split_classes(classes, extent)
        whole = part[classes.starts] < 0
        stays = whole[classes.class_of]
        found[classes.rows[stays]] = (finished + np.cumsum(whole) - 1)[classes.class_of[stays]]
        finished, done = finished + int(whole.sum()), done + int(stays.sum())
        lows.append(extent.low[whole])
        highs.append(extent.high[whole])
        waiting += _group_rows(classes.rows[~stays], _number_pairs(classes.class_of[~stays], part[~stays])[1])
    return PeopleGroups(found, np.concatenate(lows), np.concatenate(highs))


@dataclass(frozen=True, eq=False)
class _ClassRows:
    """Combinations in the order of their classes, the class of each, and where each class starts."""

    rows: Int32s
    class_of: Int32s
    starts: Ints


def _first_classes(kept: Sequence[Int32s], people: Combinations, goals: ClassGoals) -> list[_ClassRows] | None:
    """All people with the same values in the columns to keep; None if these classes fail."""
    class_of, classes = class_ids(kept, len(people)) if kept else (np.zeros(len(people), np.int64), 1)
    if goals.failing_classes(people, class_of, classes).any():
        return None
    return _group_rows(np.arange(len(people), dtype=np.int32), class_of)


def _group_rows(rows: Int32s, class_of: Int32s | Ints) -> list[_ClassRows]:
    """The combinations of some classes, in blocks of whole classes; small blocks need little memory."""
    order = np.argsort(class_of, kind="stable")
    rows, class_of = rows[order], class_of[order]
    starts = np.flatnonzero(np.append(True, class_of[1:] != class_of[:-1])[: len(rows)])
    block = starts // _BLOCK_ROWS
    first = np.flatnonzero(np.append(True, block[1:] != block[:-1])[: len(starts)])
    made = []
    for begin, end in pairwise([*first.tolist(), len(starts)]):
        low, high = int(starts[begin]), int(starts[end]) if end < len(starts) else len(rows)
        lengths = np.diff(np.append(starts[begin:end], high))
        own = np.repeat(np.arange(end - begin, dtype=np.int32), lengths)
        made.append(_ClassRows(rows[low:high].copy(), own, starts[begin:end] - low))
    return made


def _number_pairs(first: Int32s, second: Int32s) -> tuple[Ints, Int32s]:
    """The distinct pairs in order, as numbers whose remainder by one more than the largest second part is that part;
    and the place of each pair among them."""
    width = int(second.max(initial=0)) + 1
    bound = (int(first.max(initial=-1)) + 1) * width
    key = first * np.int64(width) if bound > np.iinfo(np.int32).max else first * np.int32(width)
    key += second
    if bound > _DENSE * len(key):
        keys, place = np.unique(key, return_inverse=True)
        return keys.astype(np.int64), place.astype(np.int32)
    there = np.zeros(bound, np.bool_)
    there[key] = True
    return np.flatnonzero(there), (np.cumsum(there, dtype=np.int32) - np.int32(1))[key]


@dataclass(frozen=True, eq=False)
class _Extent:
    """The first and the last place of each class in each column, and how many people it has."""

    low: Int32s
    high: Int32s
    people: Ints


@dataclass(frozen=True, eq=False)
class _Splitter:
    """What is known about people, with which classes are split."""

    orders: tuple[ColumnOrder, ...]
    labels: tuple[Int32s, ...]
    people: Combinations
    goals: ClassGoals
    weights: Floats
    divide_ties: bool

    def _places(self, column: int, rows: Int32s) -> Int32s:
        """The places of some combinations in a column."""
        return self.orders[column].place[self.labels[column][rows]]

    def measure_extent(self, classes: _ClassRows) -> _Extent:
        """Where each class begins and ends."""
        low, high = (np.empty((len(classes.starts), len(self.orders)), np.int32) for _ in range(2))
        for c in range(len(self.orders)):
            own = self._places(c, classes.rows)
            low[:, c], high[:, c] = (ends.reduceat(own, classes.starts) for ends in (np.minimum, np.maximum))
        return _Extent(low, high, np.add.reduceat(self.people.people[classes.rows], classes.starts))

    def split_classes(self, classes: _ClassRows, extent: _Extent) -> Int32s:
        """The part of each combination after its class was split in the widest column that allows it; −1 if none
        does."""
        part = np.full(len(classes.rows), -1, np.int32)
        ranked, usable = self._rank_columns(extent)
        pending = np.flatnonzero(extent.people >= 2 * self.goals.k)
        for attempt in range(ranked.shape[1]):
            tried = pending[usable[pending, attempt]]
            if not len(tried):
                continue
            number = np.full(len(classes.starts), -1, np.int32)
            number[tried] = np.arange(len(tried))
            some = np.flatnonzero(number[classes.class_of] >= 0).astype(np.int32)
            rows, own = classes.rows[some], number[classes.class_of[some]]
            child = self._divide(rows, own, ranked[tried, attempt], extent.low[tried], extent.high[tried])
            part[some] = self._allowed_parts(rows, own, child, len(tried))
            pending = pending[part[classes.starts[pending]] < 0]
        return part

    def _rank_columns(self, extent: _Extent) -> tuple[Ints, Bools]:
        """The columns of each class from the widest to the narrowest, and whether there is something to split in each;
        with ties to divide, the columns of numbers follow once more, counted from the number of columns."""
        wide = np.stack(
            [
                order.spreads(extent.low[:, c], extent.high[:, c]) * weight
                for c, (order, weight) in enumerate(zip(self.orders, self.weights, strict=True))
            ],
            axis=1,
        )
        ranked = np.argsort(-wide.round(_DIGITS), axis=1, kind="stable")
        usable = np.take_along_axis(extent.low < extent.high, ranked, axis=1)
        if not self.divide_ties:
            return ranked, usable
        ranges = np.stack(
            [order.is_range(extent.low[:, c], extent.high[:, c]) for c, order in enumerate(self.orders)], axis=1
        )
        again = np.take_along_axis(ranges, ranked, axis=1)
        return np.hstack([ranked, ranked + len(self.orders)]), np.hstack([usable, again])

    def _divide(self, rows: Int32s, class_of: Int32s, column: Ints, low: Int32s, high: Int32s) -> Int32s:
        """The part of each combination if class i is split by ``column[i]``."""
        child = np.zeros(len(rows), np.int32)
        for c in np.unique(column).tolist():
            some = np.flatnonzero((column == c)[class_of]).astype(np.int32)
            number, order = c % len(self.orders), self.orders[c % len(self.orders)]
            place, own = self._places(number, rows[some]), class_of[some]
            if c >= len(self.orders):
                child[some] = _second_half(place, own)
                continue
            child[some] = order.parts(place, own, low[:, number], high[:, number])
            numbers = np.flatnonzero(order.is_range(low[:, number], high[:, number])[own])
            if len(numbers):
                child[some[numbers]] = self._above_median(rows[some[numbers]], place[numbers], own[numbers])
        return child

    def _above_median(self, rows: Int32s, place: Int32s, class_of: Int32s) -> Bools:
        """Whether each combination is above the border that divides its class most evenly."""
        keys, value = _number_pairs(class_of, place)
        own = keys // (int(place.max(initial=0)) + 1)
        begins = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
        number = np.cumsum(np.append(0, own[1:] != own[:-1]))
        count = self._count_people(rows, value, len(keys))
        so_far, total = np.cumsum(count), np.add.reduceat(count, begins)
        below = so_far - (np.cumsum(total) - total)[number]
        uneven = np.abs(2 * below - total[number])
        uneven[np.append(begins[1:], len(keys)) - 1] = np.iinfo(np.int64).max  # above the last value is nobody
        best = np.flatnonzero(uneven == np.minimum.reduceat(uneven, begins)[number])
        border = best[np.unique(number[best], return_index=True)[1]].astype(np.int32)
        above: Bools = value > border[number][value]
        return above

    def _count_people(self, rows: Int32s, key: Int32s, keys: int) -> Ints:
        """How many people have each key; in steps, because counting needs several times the memory of what it
        counts."""
        found = np.zeros(keys, np.int64)
        for begin in range(0, len(rows), _BLOCK_ROWS * 4):
            some = slice(begin, begin + _BLOCK_ROWS * 4)
            found += np.bincount(key[some], self.people.people[rows[some]], minlength=keys).astype(np.int64)
        return found

    def _allowed_parts(self, rows: Int32s, class_of: Int32s, child: Int32s, classes: int) -> Int32s:
        """The new class of each combination, numbered within its old one; −1 if the old class cannot be split so."""
        keys, part = _number_pairs(class_of, child)
        class_of_part = keys // (int(child.max(initial=0)) + 1)
        sizes = self._count_people(rows, part, len(keys))
        if self.goals.values:
            moving, number = self.people.select(rows.astype(np.int64)), part.astype(np.int64)
            stays = self.goals.failing_classes(moving, number, len(keys))
            stays = parts_that_stay(stays, class_of_part, sizes, moving, self.goals, number, classes)
        else:  # all that counts is the number of people in each part
            each, number = Combinations((), (), sizes), np.arange(len(keys))
            stays = parts_that_stay(sizes < self.goals.k, class_of_part, sizes, each, self.goals, number, classes)
        can = np.bincount(class_of_part[~stays], minlength=classes) > 0
        first = np.searchsorted(class_of_part, np.arange(classes))
        new = np.where(stays, 0, np.arange(len(keys)) - first[class_of_part] + 1)
        new[~can[class_of_part]] = -1
        return new.astype(np.int32)[part]


def _second_half(place: Int32s, class_of: Int32s) -> Bools:
    """Whether each person is in the upper half of their class; people at the same place are divided as they come."""
    order = np.lexsort((place, class_of))
    sizes = np.bincount(class_of)
    begins = np.cumsum(sizes) - sizes
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    upper: Bools = rank - begins[class_of] >= sizes[class_of] // 2
    return upper
