"""How much do a few facts raise belief in somebody's own sensitive value?

Someone who knows a few values of a person, the *facts*, looks at the people in the release who share them, without
finding out who is who. If a share c of them has the person's own sensitive value, and a share s of everybody has it,
belief in that value rises by c − s: the *gain*. A value is *certain* if everybody who shares the facts has it. Facts
that fewer than so many people share do not count: they are about finding the person, which is another question.

A missing sensitive value neither supports nor refutes anything: c and s are shares of those who have a value.

Facts are searched depth first, column by column. Adding a fact never makes a group larger, so people whose group is too
small drop out. With several rows per person, facts are about one row, and people are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.inference import _belief_gains
from unveil.run import Run

__all__ = [
    "BeliefGains",
    "TellingColumns",
    "affordable_facts",
    "count_people",
    "drop_larger_sets",
    "lowest_that_reaches",
    "measure_gains",
    "most_telling_first",
    "reaches",
]

_MAX_COUNTS = 1 << 24  # of a table of cells and values; beyond, cells are numbered by sorting
_MAX_WORK = 3_000_000_000  # rows × sets of columns
_ROUNDING = 1e-12  # what differences of shares may be off by; it must not decide


@dataclass(frozen=True)
class TellingColumns:
    """Columns whose values raise the belief of ``people`` enough, out of ``sharing`` who share such facts."""

    columns: tuple[int, ...]
    people: int
    sharing: int


@dataclass(frozen=True, eq=False)
class BeliefGains:
    """``best[f][i]`` is the largest gain about person i of at most f facts, and ``certain[f][i]`` says whether their
    value is then certain. ``telling`` lists the sets of columns that raise somebody's belief enough."""

    best: Floats
    certain: Bools
    telling: tuple[TellingColumns, ...]

    def share_of_people(self, facts: int, gain: float) -> float:
        """The share of people about whom so many facts or fewer gain at least so much."""
        at = self.best[min(facts, len(self.best) - 1)]
        return float(reaches(at, gain).mean()) if len(at) else 0.0


def lowest_that_reaches(gain: float) -> float:
    """The smallest number that counts as such a gain: differences of shares are rounded."""
    return gain - _ROUNDING


def reaches(found: Floats, gain: float) -> Bools:
    """Whether gains are at least so large."""
    enough: Bools = found >= lowest_that_reaches(gain)
    return enough


def most_telling_first(telling: Iterable[TellingColumns]) -> list[TellingColumns]:
    """Sets of facts: those about most people first, and of these, the smallest."""
    return sorted(telling, key=lambda t: (-t.people, len(t.columns), t.columns))


def drop_larger_sets(telling: Sequence[TellingColumns]) -> tuple[TellingColumns, ...]:
    """Sets of facts, the most telling first, without those that contain another one of them: a smaller set that tells
    about as many people comes before."""
    kept: list[TellingColumns] = []
    for one in telling:
        if not any({*smaller.columns} < {*one.columns} for smaller in kept):
            kept.append(one)
    return tuple(kept)


def affordable_facts(rows: int, columns: int, facts: int) -> int:
    """The most facts, up to those wanted, for which all sets of columns can be looked at."""
    sets, found = 1, 0
    for wanted in range(1, min(facts, columns) + 1):
        sets += comb(columns, wanted)
        if rows * sets > _MAX_WORK:
            break
        found = wanted
    return found


def measure_gains(
    columns: Sequence[Int32s],
    sensitive: Int32s,
    *,
    facts: int,
    fewest: int,
    gain: float,
    person: Int32s | None = None,
    run: Run | None = None,
) -> BeliefGains:
    """The gains of all sets of at most so many columns about a column of codes of which −1 is missing. In the columns
    that may be known, −1 is no fact. At least ``fewest`` people must share the facts. ``person`` says whom each row is
    about."""
    search = _Search(columns, sensitive, min(facts, len(columns)), fewest, gain, person, run or Run())
    search.begin()
    best, certain = np.maximum.accumulate(search.best), np.logical_or.accumulate(search.certain)
    if person is not None:
        people = int(person.max(initial=-1)) + 1
        best, certain = _by_person(best, person, people, -1.0), _by_person(certain, person, people, False)
    return BeliefGains(best, certain, tuple(most_telling_first(search.telling)))


def _by_person(of_rows: Floats | Bools, person: Int32s, people: int, nothing: float | bool) -> Any:
    """The largest number of each person's rows."""
    found = np.full((len(of_rows), people), nothing, of_rows.dtype)
    for own, rows in zip(found, of_rows, strict=True):
        np.maximum.at(own, person, rows)
    return found


class _Groups(NamedTuple):
    """People who share facts: which rows are left, the group of each, and how many groups there are."""

    rows: Int32s
    of_row: Int32s
    groups: int


class _Search:
    """The state of a search over sets of columns."""

    def __init__(
        self,
        columns: Sequence[Int32s],
        sensitive: Int32s,
        facts: int,
        fewest: int,
        gain: float,
        person: Int32s | None,
        run: Run,
    ) -> None:
        rows = len(sensitive)
        self.columns, self.facts, self.fewest, self.run = columns, facts, fewest, run
        self.gain = lowest_that_reaches(gain)
        self.sizes = [int(column.max(initial=-1)) + 1 for column in columns]
        self.has_gaps = [bool((column < 0).any()) for column in columns]
        self.value, self.person = (sensitive + 1).astype(np.int32), person
        self.values = int(self.value.max(initial=0)) + 1
        self.shares = np.zeros(self.values)
        self.best = np.full((facts + 1, rows), -1.0)
        self.certain = np.zeros((facts + 1, rows), np.bool_)
        self.telling = list[TellingColumns]()
        self.sets, self.done = sum(comb(len(columns), f) for f in range(facts + 1)), 0
        self.counts, self.gains = np.zeros(0, np.int32), np.zeros(0)
        self.is_certain = np.zeros(0, np.bool_)

    def begin(self) -> None:
        """Measure what is known without facts, and then everything else."""
        rows = np.arange(len(self.value), dtype=np.int32)
        everybody = _Groups(rows, np.zeros(len(rows), np.int32), 1)
        self.shares = self._value_shares()
        nothing = np.zeros(len(rows), np.int32)
        self._measure((), everybody, nothing, 1, False)
        if self.facts:
            self._visit((), everybody)

    def _value_shares(self) -> Floats:
        """The share of those with a value who have each."""
        there = self.value > 0
        if self.person is None:
            counts, known = np.bincount(self.value[there], minlength=self.values), int(there.sum())
        else:
            pairs = np.unique(self.person[there].astype(np.int64) * self.values + self.value[there])
            counts, known = (
                np.bincount(pairs % self.values, minlength=self.values),
                len(np.unique(self.person[there])),
            )
        found: Floats = counts / max(1, known)
        return found

    def _visit(self, chosen: tuple[int, ...], groups: _Groups) -> None:
        """Measure all sets of columns that begin with these."""
        for c in range(chosen[-1] + 1 if chosen else 0, len(self.columns)):
            self.run.check()
            deeper = len(chosen) + 1 < self.facts and c + 1 < len(self.columns)
            below = self._measure((*chosen, c), self._with_fact(groups, c), self.columns[c], self.sizes[c], deeper)
            self.done += 1
            self.run.progress("looking for telling facts", self.done / self.sets)
            if deeper and len(below.rows):
                self._visit((*chosen, c), below)

    def _with_fact(self, groups: _Groups, column: int) -> _Groups:
        """The people about whom there is a fact in this column."""
        if not self.has_gaps[column]:
            return groups
        there = self.columns[column][groups.rows] >= 0
        return _Groups(groups.rows[there], groups.of_row[there], groups.groups)

    def _measure(self, chosen: tuple[int, ...], groups: _Groups, column: Int32s, base: int, deeper: bool) -> _Groups:
        """Measure one set of columns, the last of which is given; returns the people left, if wanted."""
        cells = groups.groups * base
        if self.person is not None or cells * self.values > _MAX_COUNTS:
            return self._measure_by_sorting(chosen, groups, column, base)
        size = cells * self.values
        if len(self.counts) < size:
            self.counts, self.gains = np.zeros(size, np.int32), np.zeros(size)
            self.is_certain = np.zeros(size, np.bool_)
        rows, of_row, facts = groups.rows, groups.of_row, len(chosen)
        people, totals = np.zeros(cells, np.int32), np.zeros(2, np.int64)
        _belief_gains.count_cells(rows, of_row, column, base, self.value, self.values, self.counts, size)
        _belief_gains.measure_cells(
            self.counts, cells, self.values, self.shares, self.fewest, self.gain, self.gains, self.is_certain, people,
            totals,
        )  # fmt: skip
        _belief_gains.raise_gains(
            rows, of_row, column, base, self.value, self.values, self.gains, self.is_certain, self.best[facts],
            self.certain[facts],
        )  # fmt: skip
        self._remember(chosen, int(totals[0]), int(totals[1]))
        if not deeper:
            return groups
        number, kept = np.empty(cells, np.int32), np.zeros(2, np.int64)
        kept_rows, kept_group = np.empty(len(rows), np.int32), np.empty(len(rows), np.int32)
        _belief_gains.keep_large_groups(
            rows, of_row, column, base, people, cells, self.fewest, number, kept_rows, kept_group, kept
        )
        return _Groups(kept_rows[: kept[1]], kept_group[: kept[1]], int(kept[0]))

    def _measure_by_sorting(self, chosen: tuple[int, ...], groups: _Groups, column: Int32s, base: int) -> _Groups:
        """The same without a table of all cells and values, and also where several rows are one person."""
        rows, facts = groups.rows, len(chosen)
        _, cell = np.unique(groups.of_row.astype(np.int64) * base + column[rows], return_inverse=True)
        who = rows if self.person is None else self.person[rows]
        value = self.value[rows]
        people = count_people(cell, who)
        kept = people[cell] >= self.fewest
        pairs, pair = np.unique(cell * self.values + value, return_inverse=True)
        having = count_people(pair, who)
        known = count_people(cell[value > 0], who[value > 0], len(people))
        of_cell, of_value = pairs // self.values, pairs % self.values
        fine = (of_value > 0) & (people[of_cell] >= self.fewest)
        gains = np.where(fine, having / np.maximum(1, known[of_cell]) - self.shares[of_value], -1.0)
        certain = fine & (having == known[of_cell]) & (self.shares[of_value] < 1)
        self.best[facts, rows] = np.maximum(self.best[facts, rows], gains[pair])
        self.certain[facts, rows] |= certain[pair]
        telling = fine & (gains >= self.gain)
        shares_facts = np.isin(cell, of_cell[telling])  # of several rows of a person, one is enough
        self._remember(chosen, len(np.unique(who[telling[pair]])), len(np.unique(who[shares_facts])))
        _, number = np.unique(cell[kept], return_inverse=True)
        return _Groups(rows[kept], number.astype(np.int32), int(number.max(initial=-1)) + 1)

    def _remember(self, chosen: tuple[int, ...], people: int, sharing: int) -> None:
        if people:
            self.telling.append(TellingColumns(chosen, people, sharing))


def count_people(group: Ints, who: Int32s, groups: int = 0) -> Ints:
    """How many different people each group has."""
    size = max(groups, int(group.max(initial=-1)) + 1)
    everybody = int(who.max(initial=-1)) + 1
    pairs = np.unique(group.astype(np.int64) * everybody + who)
    return np.bincount(pairs // max(1, everybody), minlength=size)
