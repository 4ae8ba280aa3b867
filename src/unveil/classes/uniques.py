"""Unique because of what? Minimal sample uniques, of every person all smallest sets of columns that single them out.

A person is *unique on* a set of columns when nobody else in the table agrees with them on all of these. The set is a
*minimal sample unique* (MSU) of the person if no part of it will do (Elliot, Skinner and Dale 1998; Manning, Haglin and
Keane, *A recursive search algorithm for statistical disclosure assessment*, 2008, who call their search SUDA2). Few
columns and many such sets mean that a person is special, and more likely to be the only one of their kind in the
population as well. A set has at least one column; someone whose row occurs more than once has none.

**The score.** With c columns and sets of at most M columns, a set of s columns scores

    (c − s)(c − s − 1) … (c − M + 1) = Π_{i = s … M − 1} (c − i),

and a person the sum over their sets (Elliot, Manning, Mayes, Gurd and Bane, *SUDA: a program for detecting special
uniques*, 2005). ARX has the same; with M = c it is (c − s)!, as sdcMicro's ``suda2`` reports. (Where the product is
written up to i = M, all scores have the factor c − M more.) Scores of different c or M cannot be compared. The
*contribution* of a column is the share of the total score that comes from sets with it; as a set has several columns,
contributions sum to more than 1.

**DIS-SUDA** (Elliot and Manning, *Using DIS to modify the classification of special uniques*, 2003) spreads over the
unique people what the table risks as a whole: the probability DIS that a match with a unique person is right, when the
table is a random sample of a share f of the population. With U people who are unique on all columns and P who are in
pairs, DIS = U f/(U f + P (1 − f)) (Skinner and Elliot, *A measure of disclosure risk for microdata*, 2002). As in
sdcMicro, the odds of a person with score x are the table's, U f : P (1 − f), times x^q over the harmonic mean of all
x^q, with q = 1 + (8 − c)/20. U cancels. That q is a rule of thumb, and from c = 28 on a higher score would mean less
risk: the result ranks people, and is no probability to rely on.

**How it is computed.** Sets are gone through depth first, from the last column to the first. Then every part of a set
comes before the set: {b, c} and {c} before anything with a, {a, c} before {a, b}. A bit for each row remembers who is
unique on a set, and a set is minimal for whoever is not unique on it without one of its columns. Classes are divided
as in :mod:`unveil.classes.knowledge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod

import numpy as np
import numpy.typing as npt

from unveil.classes import _uniques
from unveil.classes.knowledge import Columns, Floats, Rows, Split, different
from unveil.errors import UnveilError
from unveil.grouping import Ints
from unveil.run import Run

__all__ = ["Uniques", "dis_suda", "minimal_uniques", "why_unique"]

Set = tuple[int, ...]

_MOST = 4
_KEEP = 20_000_000
_WORK = 2_000_000_000


@dataclass(frozen=True, eq=False)
class Uniques:
    """All minimal sample uniques of at most ``most`` columns.

    ``sets`` are the sets of columns that are minimal for somebody, smaller ones first, then in the order of columns.
    Those of row r are ``sets[k]`` for k in ``found[begins[r] : begins[r + 1]]``, in that order. ``truncated`` if larger
    sets were asked for than the work or the room allowed. ``alone`` people are unique on all columns, ``paired`` agree
    with one other person on all.
    """

    columns: int
    most: int
    truncated: bool
    sets: tuple[Set, ...]
    begins: Ints
    found: npt.NDArray[np.int32]
    alone: int
    paired: int

    def of(self, row: int) -> tuple[Set, ...]:
        """The minimal sets of one row."""
        return tuple(self.sets[k] for k in self.found[self.begins[row] : self.begins[row + 1]].tolist())

    @cached_property
    def first(self) -> npt.NDArray[np.int32]:
        """The smallest set of every row, of several the first in the order of columns; −1 where there is none."""
        return np.where(np.diff(self.begins) > 0, np.append(self.found, np.int32(-1))[self.begins[:-1]], np.int32(-1))

    @cached_property
    def sizes(self) -> Ints:
        """How many columns each set has."""
        return np.array([len(s) for s in self.sets], np.int64)

    @cached_property
    def times(self) -> Ints:
        """For how many people each set is minimal."""
        return np.bincount(self.found, minlength=len(self.sets))

    @property
    def by_size(self) -> Ints:
        """How many minimal sample uniques have 1, 2 … columns."""
        found = np.zeros(self.most + 1, np.int64)
        np.add.at(found, self.sizes, self.times)
        return found[1:]

    @property
    def people_by_size(self) -> Ints:
        """How many people have a smallest set of 1, 2 … columns."""
        return np.bincount(self.sizes[self.first[self.first >= 0]], minlength=self.most + 1)[1:]

    @property
    def points(self) -> Floats:
        """What a set of 1, 2 … columns scores."""
        c, most = self.columns, self.most
        return np.array([float(prod(c - i for i in range(s, most))) for s in range(1, most + 1)])

    @cached_property
    def score(self) -> Floats:
        """The SUDA score of every row, 0 where there is no set. How many sets of each size are counted first: the order
        in which they were found changes nothing."""
        rows = len(self.begins) - 1
        owner = np.repeat(np.arange(rows), np.diff(self.begins))
        total = np.zeros(rows)
        for size, points in enumerate(self.points.tolist(), start=1):
            total += points * np.bincount(owner[self.sizes[self.found] == size], minlength=rows)
        return total

    @property
    def contribution(self) -> Floats:
        """The share of the total score that comes from sets with each column."""
        having = np.zeros((self.columns, self.most + 1), np.int64)
        for columns, times in zip(self.sets, self.times.tolist(), strict=True):
            having[list(columns), len(columns)] += times
        total = float(self.by_size @ self.points)
        shares: Floats = having[:, 1:] @ self.points / total if total else np.zeros(self.columns)
        return shares


def minimal_uniques(
    columns: Columns,
    counts: Ints | None = None,
    most: int = _MOST,
    *,
    work: int = _WORK,
    keep: int = _KEEP,
    run: Run | None = None,
) -> Uniques:
    """Of every row all minimal sample uniques of at most ``most`` columns.

    All of them are found. Where going through all sets would take more than ``work`` (rows gone through), or there are
    more than ``keep``, only smaller sets are looked at.

    >>> table = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 0], np.int32), np.array([0, 0, 0, 1], np.int32)]
    >>> found = minimal_uniques(table)
    >>> [found.of(row) for row in range(4)]
    [((0, 1),), ((1,),), ((0, 2),), ((2,),)]
    """
    if most < 1:
        raise UnveilError("minimal sample uniques have at least one column")
    rows, c = different(columns, counts), len(columns)
    asked = most = min(most, c)
    while most > 1 and rows.cost(_below(c, most)) > work:
        most -= 1
    while (kept := _searched(rows, most, keep, run)) is None:
        most -= 1
    kept.sort(key=lambda one: (len(one[0]), one[0]))
    owners = [rows.where[some] for _, some in kept]
    owner = np.concatenate([rows.where[:0], *owners])
    begins = np.zeros(rows.given + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=rows.given), out=begins[1:])
    found = np.empty(len(owner), np.int32)
    ends = np.cumsum([0, *map(len, owners)])
    _uniques.dealt(ends, owner, begins[:-1].copy(), found)
    paired = 2 * int((rows.weights == 2).sum())
    return Uniques(c, most, most < asked, tuple(one for one, _ in kept), begins, found, int(rows.lone.sum()), paired)


def why_unique(columns: Columns, counts: Ints | None, row: Sequence[int], most: int = 4) -> Set | None:
    """A smallest set of at most ``most`` columns on which one row, given by its codes, is unique: the first in order.
    None if there is none; the row must be among the rows.

    >>> why_unique([np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32)], None, [0, 1])
    (0, 1)
    """
    weights = np.ones(len(columns[0]), np.int64) if counts is None else counts
    agrees = [codes == own for codes, own in zip(columns, row, strict=True)]
    for size in range(1, min(most, len(columns)) + 1):
        for chosen in combinations(range(len(columns)), size):
            same = agrees[chosen[0]]
            for c in chosen[1:]:
                same = same & agrees[c]
            if int(weights[same].sum()) == 1:
                return chosen
    return None


def dis_suda(score: Floats, paired: int, columns: int, fraction: float) -> Floats:
    """The DIS-SUDA scores of people with these scores, with so many others in pairs and so many columns; the table is
    this fraction of the population."""
    if not 0 < fraction <= 1:
        raise UnveilError("the sampling fraction must be above 0 and at most 1")
    if columns > 27:
        raise UnveilError("DIS-SUDA scores are not defined for more than 27 columns")
    q = 1 + (8 - columns) / 20
    scores, times = np.unique(score[score > 0], return_counts=True)
    odds = fraction * float((times * scores**-q).sum()) * score**q
    found: Floats = np.divide(odds, odds + paired * (1 - fraction), out=np.zeros(len(score)), where=score > 0)
    return found


# ---- the search ------------------------------------------------------------------------------------------------------


def _searched(rows: Rows, most: int, keep: int, run: Run | None) -> list[tuple[Set, npt.NDArray[np.int32]]] | None:
    """All minimal sets of at most ``most`` columns and the rows they are of, or None if there are more than ``keep``
    (which one column never is)."""
    c, found, made = len(rows.codes), list[tuple[Set, npt.NDArray[np.int32]]](), 0
    number: dict[Set, int] = {(): 0}
    alone = np.zeros((1 + _below(c, most - 1), len(rows) // 8 + 1), np.uint8)  # a bit for each row unique on a set

    def of(columns: Set) -> int:
        while columns not in number:  # all rows were apart before the last column
            columns = columns[:-1]
        return number[columns]

    def visit(split: Split, path: Set, done: int) -> bool:
        nonlocal made
        for column in reversed(range(path[-1] + 1 if path else 0, c)):
            before = done + _below(c - 1 - column, most - len(path))
            if run is not None:
                run.progress("finding minimal sample uniques", before / _below(c, most))
                run.check()
            further, columns = rows.divide(split, column), (*path, column)
            parts = np.array([of(columns[:i] + columns[i + 1 :]) for i in range(len(path))], np.int64)
            kept = _uniques.kept(further.fresh, alone, parts, np.empty_like(further.fresh))
            if len(kept):
                found.append((rows.named(columns), kept))
                made += len(kept)
            if len(columns) == most:
                continue
            if made > keep:
                return False
            number[columns] = len(number)
            alone[number[columns]] = alone[number[path]]
            _uniques.marked(further.fresh, alone[number[columns]])
            if len(further.order) and not visit(further, columns, before + 1):
                return False
        return True

    return found if visit(rows.whole(), (), 0) and (made <= keep or most <= 1) else None


def _below(columns: int, most: int) -> int:
    """How many sets there are of at least one and at most so many of these columns."""
    return sum(comb(columns, s) for s in range(1, most + 1))
