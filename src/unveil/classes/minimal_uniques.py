"""Which columns make a person unique? Minimal sample uniques: the smallest sets of columns that single out each person.

A person is *unique on* a set of columns if nobody else in the table agrees with them on all of these. The set is a
*minimal sample unique* (MSU) of the person if no proper subset suffices (Elliot, Skinner and Dale 1998; Manning, Haglin
and Keane, *A recursive search algorithm for statistical disclosure assessment*, 2008, who call their search SUDA2). A
person with many small sets is special, and more likely to be unique in the population as well. A set has at least one
column; a person whose row occurs more than once has no set.

**Score.** With c columns and sets of at most M columns, a set of s columns scores

    (c − s)(c − s − 1) … (c − M + 1) = Π_{i = s … M − 1} (c − i),

and a person scores the sum over their sets (Elliot, Manning, Mayes, Gurd and Bane, *SUDA: a program for detecting
special uniques*, 2005). ARX uses the same score; with M = c it is (c − s)!, as sdcMicro's ``suda2`` reports. (A product
that runs up to i = M gives every score an extra factor c − M.) Scores for different c or M are not comparable. The
*contribution* of a column is the share of the total score that comes from sets with it; as a set has several columns,
contributions sum to more than 1.

**DIS-SUDA** (Elliot and Manning, *Using DIS to modify the classification of special uniques*, 2003) distributes the
risk of the whole table over the unique people. That risk is DIS, the probability that a match with a unique person is
correct when the table is a random sample of a fraction f of the population. With U people unique on all columns and P
people in pairs, DIS = U f/(U f + P (1 − f)) (Skinner and Elliot, *A measure of disclosure risk for microdata*, 2002).
As in sdcMicro, the odds of a person with score x are the table's, U f : P (1 − f), times x^q over the harmonic mean of
all x^q, with q = 1 + (8 − c)/20. U cancels. This q is a rule of thumb, and from c = 28 on a higher score would mean
less risk: the result ranks people but is not a reliable probability.

**Computation.** Sets are visited depth first, from the last column to the first. Every subset then comes before the
set: {b, c} and {c} before anything with a, {a, c} before {a, b}. One bit per row records who is unique on a set. A set
on which a person is unique is minimal for them if removing any one of its columns ends that. Classes are divided as in
:mod:`unveil.classes.column_partitions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Int32s, Ints
from unveil.classes import _minimal_uniques
from unveil.classes.column_partitions import Columns, DivisiblePeople, divisible_people, original_columns
from unveil.errors import UnveilError
from unveil.run import Run

__all__ = ["MinimalUniques", "dis_suda_scores", "find_minimal_uniques", "smallest_unique_set"]

ColumnSet = tuple[int, ...]

_LARGEST_SET = 4
_MOST_KEPT = 20_000_000
_WORK_LIMIT = 2_000_000_000


@dataclass(frozen=True, eq=False)
class MinimalUniques:
    """All minimal sample uniques of at most ``largest_size`` columns.

    ``sets`` are the sets of columns that are minimal for somebody, ordered by size, then by columns. Row r has
    ``sets[k]`` for k in ``row_sets[begins[r] : begins[r + 1]]``, in that order. ``truncated`` if work or memory did not
    allow sets of the requested size. Of all ``people``, ``unique_people`` are unique on all columns, and
    ``people_in_pairs`` agree with exactly one other person on all columns.
    """

    columns: int
    largest_size: int
    truncated: bool
    sets: tuple[ColumnSet, ...]
    begins: Ints
    row_sets: Int32s
    people: int
    unique_people: int
    people_in_pairs: int

    def sets_of_row(self, row: int) -> tuple[ColumnSet, ...]:
        """The minimal sets of one row."""
        return tuple(self.sets[k] for k in self.row_sets[self.begins[row] : self.begins[row + 1]].tolist())

    @cached_property
    def sizes(self) -> Ints:
        """The number of columns in each set."""
        return np.array([len(s) for s in self.sets], np.int64)

    @cached_property
    def people_per_set(self) -> Ints:
        """The number of people for whom each set is minimal."""
        return np.bincount(self.row_sets, minlength=len(self.sets))

    @property
    def sets_by_size(self) -> Ints:
        """The number of minimal sample uniques with 1, 2 … columns."""
        found = np.zeros(self.largest_size + 1, np.int64)
        np.add.at(found, self.sizes, self.people_per_set)
        return found[1:]

    @property
    def points(self) -> Floats:
        """The score of a set of 1, 2 … columns."""
        factors = [self.columns - i for i in range(self.largest_size)]
        return np.array([float(prod(factors[size:])) for size in range(1, self.largest_size + 1)])

    @cached_property
    def score(self) -> Floats:
        """The SUDA score of every row, 0 for a row without a set. Sets are counted by size first, so that the order in
        which they were found changes nothing."""
        rows = len(self.begins) - 1
        owner = np.repeat(np.arange(rows), np.diff(self.begins))
        total = np.zeros(rows)
        for size, points in enumerate(self.points.tolist(), start=1):
            total += points * np.bincount(owner[self.sizes[self.row_sets] == size], minlength=rows)
        return total

    @property
    def contribution(self) -> Floats:
        """The share of the total score that comes from sets containing each column."""
        having = np.zeros((self.columns, self.largest_size + 1), np.int64)
        for columns, times in zip(self.sets, self.people_per_set.tolist(), strict=True):
            having[list(columns), len(columns)] += times
        total = float(self.sets_by_size @ self.points)
        shares: Floats = having[:, 1:] @ self.points / total if total else np.zeros(self.columns)
        return shares


def find_minimal_uniques(
    columns: Columns,
    counts: Ints | None = None,
    most: int = _LARGEST_SET,
    *,
    person: Int32s | None = None,
    work: int = _WORK_LIMIT,
    keep: int = _MOST_KEPT,
    run: Run | None = None,
) -> MinimalUniques:
    """Find all minimal sample uniques of at most ``most`` columns, for every row, or for the first row of every person
    if ``person`` says whose each row is.

    If visiting all sets would take more than ``work`` (rows visited), or there are more than ``keep`` minimal ones,
    only smaller sets are searched; of these, all are found.

    >>> table = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 0], np.int32), np.array([0, 0, 0, 1], np.int32)]
    >>> found = find_minimal_uniques(table)
    >>> [found.sets_of_row(row) for row in range(4)]
    [((0, 1),), ((1,),), ((0, 2),), ((2,),)]
    """
    if most < 1:
        raise UnveilError("minimal sample uniques have at least one column")
    rows, c, run = divisible_people(columns, counts, person), len(columns), run or Run()
    asked = most = min(most, c)
    while most > 1 and rows.estimate_work(_count_sets(c, most)) > work:
        most -= 1
    while (kept := _search_minimal_sets(rows, most, keep, run)) is None:
        most -= 1
    kept.sort(key=lambda one: (len(one[0]), one[0]))
    owners = [rows.first_row[some] for _, some in kept]
    owner, ends = np.concatenate([rows.first_row[:0], *owners]), np.cumsum([0, *map(len, owners)])
    begins = np.append(0, np.cumsum(np.bincount(owner, minlength=rows.given_rows)))
    found = np.empty(len(owner), np.int32)
    _minimal_uniques.group_sets_by_row(ends, owner, begins[:-1].copy(), found)
    paired = 2 * int((rows.weights == 2).sum())
    return MinimalUniques(
        c, most, most < asked, tuple(one for one, _ in kept), begins, found, rows.people,
        int(rows.is_one_person.sum()), paired,
    )  # fmt: skip


def smallest_unique_set(columns: Columns, counts: Ints | None, row: Sequence[int], most: int = 4) -> ColumnSet | None:
    """The smallest set of at most ``most`` columns on which one row, given by its codes, is unique; the first in order,
    or None. The row must be one of the table's rows. There may be up to 63 columns.

    A set makes the row unique if everyone else differs from it in some column of the set: it must meet the set of
    columns in which each differs, and only the smallest of these sets matter.

    >>> smallest_unique_set([np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32)], None, [0, 1])
    (0, 1)
    """
    differs = np.zeros(len(columns[0]), np.uint64)
    for c, (codes, own) in enumerate(zip(columns, row, strict=True)):
        differs |= (codes != own).astype(np.uint64) << np.uint64(c)
    same = differs == 0
    if int(same.sum() if counts is None else counts[same].sum()) != 1:
        return None
    to_meet = _smallest_bit_sets(np.unique(differs[~same] if counts is None else differs[~same & (counts > 0)]))
    for size in range(1, min(most, len(columns)) + 1):
        sets = list(combinations(range(len(columns)), size))
        left = np.array([sum(1 << c for c in s) for s in sets], np.uint64)
        places = np.arange(len(sets))
        for other in to_meet:
            kept = (left & other) != 0
            left, places = left[kept], places[kept]
        if len(places):
            return sets[int(places[0])]
    return None


def _smallest_bit_sets(sets: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Those of these sets that contain none of the others, smaller ones first."""
    left, found = sets[np.argsort(np.bitwise_count(sets), kind="stable")], list[np.uint64]()
    while len(left):
        found.append(left[0])
        left = left[(left & left[0]) != left[0]]
    return np.array(found, np.uint64)


def dis_suda_scores(score: Floats, people_in_pairs: int, columns: int, fraction: float) -> Floats:
    """DIS-SUDA scores from SUDA scores, the number of people in pairs, the number of columns and the sampling
    fraction."""
    if not 0 < fraction <= 1:
        raise UnveilError("the sampling fraction must be greater than 0 and at most 1")
    if columns > 27:
        raise UnveilError("DIS-SUDA scores are not defined for more than 27 columns")
    q = 1 + (8 - columns) / 20
    scores, times = np.unique(score[score > 0], return_counts=True)
    odds = fraction * float((times * scores**-q).sum()) * score**q
    found: Floats = np.divide(odds, odds + people_in_pairs * (1 - fraction), out=np.zeros(len(score)), where=score > 0)
    return found


def _search_minimal_sets(
    rows: DivisiblePeople, most: int, keep: int, run: Run
) -> list[tuple[ColumnSet, Int32s]] | None:
    """All minimal sets of at most ``most`` columns, each with its rows; None if there are more than ``keep`` and
    ``most`` is above 1."""
    c, found, made = len(rows.codes), list[tuple[ColumnSet, Int32s]](), 0
    number: dict[ColumnSet, int] = {(): 0}
    alone = np.zeros((1 + _count_sets(c, most - 1), len(rows) // 8 + 1), np.uint8)  # a bit for each row unique on a set

    def bits_of_set(columns: ColumnSet) -> int:
        while columns not in number:  # all rows were isolated before the last column
            columns = columns[:-1]
        return number[columns]

    def visit(split: Any, path: ColumnSet, done: int) -> bool:
        nonlocal made
        for column in reversed(range(path[-1] + 1 if path else 0, c)):
            before = done + _count_sets(c - 1 - column, most - len(path))
            run.progress("finding minimal sample uniques", before / _count_sets(c, most))
            run.check()
            further, columns = rows.divide_by(split, column), (*path, column)
            parts = np.array([bits_of_set(columns[:i] + columns[i + 1 :]) for i in range(len(path))], np.int64)
            kept = np.empty_like(further.newly_unique)
            kept = kept[: _minimal_uniques.keep_minimal(further.newly_unique, alone, parts, kept)]
            if len(kept):
                found.append((original_columns(rows, columns), kept))
                made += len(kept)
            if len(columns) == most:
                continue
            if made > keep:
                return False
            number[columns] = len(number)
            alone[number[columns]] = alone[number[path]]
            _minimal_uniques.mark_rows(further.newly_unique, alone[number[columns]])
            if len(further.order) and not visit(further, columns, before + 1):
                return False
        return True

    return found if visit(rows.single_class(), (), 0) and (made <= keep or most <= 1) else None


def _count_sets(columns: int, most: int) -> int:
    """The number of sets of at least one and at most ``most`` of these columns."""
    return sum(comb(columns, s) for s in range(1, most + 1))
