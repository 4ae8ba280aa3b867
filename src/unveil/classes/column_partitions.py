"""People divided into classes by the columns that are known of them, one column after the other.

The classes of a set of columns are those of the set without one column, divided by that column. Whoever is alone in a
class stays alone and is dropped. Consecutive sets share most of their columns, and columns with many values come first
because they isolate the most people. Counts stay integers until the last division, so the order of rows changes
nothing.

Where every row is a person, only distinct rows matter (:class:`DistinctRows`). Where a person has several rows, two
people are in the same class if their rows show the same set of values (:class:`DistinctPeople`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Bools, Int32s, Ints
from unveil.classes import _minimal_uniques
from unveil.errors import UnveilError
from unveil.grouping import class_ids, group_people, pack_columns
from unveil.run import Run

__all__ = [
    "Columns",
    "DivisiblePeople",
    "Partition",
    "divisible_people",
    "measure_sets",
    "original_columns",
    "partitions_along",
]

Columns = Sequence[Int32s]

_LEAST_ROW_COST = 5_000
_PEOPLE_COST = 10  # dividing people by the sets of their rows takes so many times as long as dividing rows


class RowPartition(NamedTuple):
    """Distinct rows divided into classes. ``order`` omits the ``single_row_classes``. ``unique`` people are alone in
    their class; ``newly_unique`` lists the rows of those whom the last column singled out."""

    order: Int32s
    starts: Int32s
    single_row_classes: int
    unique: int
    newly_unique: Int32s

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.starts) - 1 + self.single_row_classes


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows. ``codes`` holds their columns, coded from 0, those with most values first; ``names[i]`` is the
    caller's number of column i. Each row stands for ``weights`` people and is row ``first_row`` of the ``given_rows``.
    The last three arrays are workspace of the kernel."""

    codes: tuple[Int32s, ...]
    names: tuple[int, ...]
    weights: Ints
    first_row: Ints
    given_rows: int
    people: int
    is_one_person: Bools
    value_counts: Int32s
    value_places: Int32s
    seen_values: Int32s

    def __len__(self) -> int:
        return len(self.first_row)

    def single_class(self) -> RowPartition:
        """All rows in one class: what an attacker sees who knows nothing."""
        rows = np.arange(len(self), dtype=np.int32)
        starts = np.array([0, len(rows)] if len(rows) else [0], np.int32)
        return RowPartition(rows, starts, 0, int(self.people == 1), rows[:0])

    def divide_by(self, split: RowPartition, column: int) -> RowPartition:
        """The classes once one more column is known."""
        rows = len(split.order)
        order, singles = np.empty(rows, np.int32), np.empty(rows + 1, np.int32)
        starts = np.empty(rows // 2 + 2, np.int32)
        left, classes, apart, found = _minimal_uniques.divide_classes(
            split.order, split.starts, len(split.starts) - 1, self.codes[column], self.is_one_person, self.value_counts,
            self.value_places,
            self.seen_values, order, starts, singles,
        )  # fmt: skip
        before = split.unique if split.single_row_classes else 0  # otherwise a single person would be counted twice
        return RowPartition(
            order[:left], starts[: classes + 1], split.single_row_classes + apart, before + found, singles[:found]
        )

    def estimate_work(self, sets: int) -> int:
        """Roughly the most rows visited for this many sets; a tiny table costs as much as a small one."""
        return sets * max(len(self), _LEAST_ROW_COST)


class PeoplePartition(NamedTuple):
    """People divided into classes: ``rows`` are those of the entries in ``order``, and ``row_class`` says which of them
    agree. ``larger_classes`` have several entries; the ``single_classes`` are not in ``order``. The rest is as in
    :class:`RowPartition`."""

    order: Ints
    rows: Ints
    row_class: Ints
    larger_classes: int
    single_classes: int
    unique: int
    newly_unique: Int32s

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.larger_classes + self.single_classes


@dataclass(frozen=True, eq=False)
class DistinctPeople:
    """Distinct people, some of whom have several different rows: ``codes`` holds the columns of all rows, and ``owner``
    says whose each is. The rest is as in :class:`DistinctRows`, with an entry for each distinct person."""

    codes: tuple[Int32s, ...]
    names: tuple[int, ...]
    weights: Ints
    first_row: Ints
    given_rows: int
    people: int
    is_one_person: Bools
    owner: Int32s

    def __len__(self) -> int:
        return len(self.weights)

    def single_class(self) -> PeoplePartition:
        """All people in one class: what an attacker sees who knows nothing."""
        everyone, rows = np.arange(len(self)), np.arange(len(self.owner))
        none = np.empty(0, np.int32)
        return PeoplePartition(everyone, rows, np.zeros_like(rows), 1, 0, int(self.people == 1), none)

    def divide_by(self, split: PeoplePartition, column: int) -> PeoplePartition:
        """The classes once one more column is known."""
        codes = self.codes[column][split.rows]
        _, row_class = np.unique(split.row_class * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
        own_class, person = group_people(row_class, self.owner[split.rows])
        sizes = np.bincount(own_class)
        alone = sizes[own_class] == 1
        kept, left = np.flatnonzero(~alone[person]), split.order[~alone]
        newly = split.order[alone].astype(np.int32)
        newly = newly[self.is_one_person[newly]]
        before = split.unique if split.single_classes else 0
        return PeoplePartition(
            left, split.rows[kept], row_class[kept], int((sizes > 1).sum()), split.single_classes + int(alone.sum()),
            before + len(newly), newly,
        )  # fmt: skip

    def estimate_work(self, sets: int) -> int:
        """What dividing distinct rows would cost in the same time."""
        return sets * max(_PEOPLE_COST * len(self.owner), _LEAST_ROW_COST)


DivisiblePeople = DistinctRows | DistinctPeople
Partition = RowPartition | PeoplePartition


def divisible_people(columns: Columns, counts: Ints | None = None, person: Int32s | None = None) -> DivisiblePeople:
    """The distinct people with these columns, where −1 is a value of its own. Each row stands for ``counts`` people, or
    for one by default, or ``person`` says whose it is (−1: a person of its own)."""
    rows = len(columns[0]) if columns else 0 if counts is None else len(counts)
    weight = np.ones(rows, np.int64) if counts is None else counts
    lengths = {len(weight), *map(len, columns), *([] if person is None else [len(person)])}
    if lengths != {rows}:
        raise UnveilError("columns, counts and people must have the same length")
    if (weight < 0).any():
        raise UnveilError("counts must not be negative")
    if person is not None:
        return _distinct_people(columns, person, rows)
    some = np.flatnonzero(weight)
    coded = [_renumber_codes(column[some]) for column in columns]
    names = _most_values_first(coded)
    key = pack_columns([coded[c] for c in names], len(some))[0]  # in this order, rows of one class are neighbours
    _, first, ids = np.unique(key, return_index=True, return_inverse=True)
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, ids, weight[some])
    return _distinct_rows(tuple(coded[c][first] for c in names), names, weights, some[first], rows)


def original_columns(people: DivisiblePeople, columns: Iterable[int]) -> tuple[int, ...]:
    """A set of columns by the caller's numbers."""
    return tuple(sorted(people.names[c] for c in columns))


def _distinct_rows(
    codes: tuple[Int32s, ...], names: tuple[int, ...], weights: Ints, first_row: Ints, given_rows: int
) -> DistinctRows:
    values = max((int(column.max(initial=-1)) + 1 for column in codes), default=0)
    tally, place = np.zeros(values, np.int32), np.empty(values, np.int32)
    inside = np.empty(len(weights), np.int32)
    people, lone = int(weights.sum()), weights == 1
    return DistinctRows(codes, names, weights, first_row, given_rows, people, lone, tally, place, inside)


def _distinct_people(columns: Columns, person: Int32s, rows: int) -> DivisiblePeople:
    """One entry for all people whose rows show the same set of values."""
    coded = [_renumber_codes(column) for column in columns]
    names = _most_values_first(coded)
    shows = class_ids(coded, rows)[0]
    kind, who = group_people(shows, person)
    weights = np.bincount(kind)
    first_person = np.full(len(weights), len(kind))
    np.minimum.at(first_person, kind, np.arange(len(kind)))
    first_row = np.full(len(kind), rows)
    np.minimum.at(first_row, who, np.arange(rows))
    one_each = np.flatnonzero(first_person[kind[who]] == who)  # the rows of the first person of each kind
    _, once = np.unique(kind[who[one_each]] * (int(shows.max(initial=0)) + 1) + shows[one_each], return_index=True)
    kept = one_each[once]  # in the order of kinds
    codes = tuple(coded[c][kept] for c in names)
    if len(kept) == len(weights):  # no person has different rows
        return _distinct_rows(codes, names, weights, first_row[first_person], rows)
    owner, lone = kind[who[kept]].astype(np.int32), weights == 1
    return DistinctPeople(codes, names, weights, first_row[first_person], rows, len(kind), lone, owner)


def _most_values_first(coded: Columns) -> tuple[int, ...]:
    values = [int(codes.max(initial=-1)) + 1 for codes in coded]
    return tuple(sorted(range(len(coded)), key=lambda c: (-values[c], c)))


def _renumber_codes(codes: Int32s) -> Int32s:
    """Renumber the values from 0 without gaps."""
    most = int(codes.max(initial=-1)) + 2
    if most > 4 * len(codes) + 1_000:
        return np.unique(codes, return_inverse=True)[1].astype(np.int32)
    seen = np.zeros(most, np.bool_)
    seen[codes + 1] = True
    return (np.cumsum(seen, dtype=np.int32) - 1)[codes + 1]


def partitions_along(
    rows: DivisiblePeople, paths: Sequence[tuple[int, ...]], run: Run
) -> Iterator[tuple[int, list[Partition]]]:
    """For every path of columns, in any order: its number, and the partitions after 0, 1, 2 … of its columns."""
    stack, on = list[Any]([rows.single_class()]), list[int]()
    for done, k in enumerate(sorted(range(len(paths)), key=paths.__getitem__)):
        path, same = paths[k], 0
        while same < min(len(on), len(path)) and on[same] == path[same]:
            same += 1
        del stack[same + 1 :], on[same:]
        for column in path[same:]:
            run.progress("going through sets of columns", done / len(paths))
            run.check()
            stack.append(rows.divide_by(stack[-1], column))
            on.append(column)
        yield k, stack


def measure_sets(rows: DivisiblePeople, sets: Sequence[tuple[int, ...]], run: Run) -> Ints:
    """The number of unique people (column 0) and of classes (column 1) for each set of columns."""
    found = np.empty((len(sets), 2), np.int64)
    for k, stack in partitions_along(rows, sets, run):
        found[k] = stack[-1].unique, stack[-1].classes
    return found
