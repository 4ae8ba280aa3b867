"""Who could be whom, if what is known is right: the rows that no attribute rules out.

Row y is a *candidate* of person x if sim(x_i, y_i) ≥ α for every attribute i that both have (document 002, the first
step of Scoreboard; with 0/1 similarities, the edges that document 003 §8.1 sets up). A value that is missing on either
side rules nothing out, unless nulls differ from values.

**How it is computed.** Of the attributes known of a person, the one that leaves the fewest rows is taken, its postings
and the rows without a value in it are gone through, and the other attributes looked up. So 100,000 people against
100,000 rows are compared in as many pairs as share the rarest of what is known, not in 10¹⁰.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unveil.errors import UnveilError
from unveil.linkage.link import _link
from unveil.linkage.link.paired import Ints, Paired
from unveil.run import Run

__all__ = ["Possible", "candidate_rows", "possible", "slices"]

_SLACK = 1e-12
_PAIRS = 50_000_000  # pairs of a class of people and a class of rows: 200 MB
_WORK = 20_000_000_000  # pairs to be looked at: minutes
_SLICE = 20_000_000  # looked at in one call: well under a fifth of a second


@dataclass(frozen=True, eq=False, repr=False)
class Possible:
    """The candidates: those of people of class p are the rows of the classes ``classes[indptr[p] … indptr[p + 1]]``,
    rising. Twins are those of ``paired``."""

    paired: Paired
    indptr: Ints
    classes: Ints

    @cached_property
    def counts(self) -> Ints:
        """How many candidates each person has."""
        owner = np.repeat(np.arange(self.paired.people.n), np.diff(self.indptr))
        rows = np.bincount(owner, self.paired.row_sizes[self.classes], self.paired.people.n).astype(np.int64)
        return rows[self.paired.person_class]

    def rows(self, person: int) -> Ints:
        """The candidates of a person, rising."""
        kind = self.paired.person_class[person]
        these = self.classes[self.indptr[kind] : self.indptr[kind + 1]]
        return np.flatnonzero(np.isin(self.paired.row_class, these))

    def __repr__(self) -> str:
        one, none = int((self.counts == 1).sum()), int((self.counts == 0).sum())
        return f"Possible: {self.paired.n:,} people, {one:,} with one candidate, {none:,} with none"


def possible(paired: Paired, least: float = 1.0, run: Run | None = None, *, most: int = _PAIRS) -> Possible:
    """All candidates, at similarity ``least`` (α) and above; ``most`` is how many pairs, twins merged, are listed."""
    blocking, work = _blocking(paired, least)
    counts, _ = _counted(paired, least, blocking, work, run)
    total = int(counts.sum())
    if total > most:
        raise UnveilError(
            f"{total:,} pairs of a person and a row fit, more than {most:,}; compare more columns, tolerate less, or "
            "take fewer people"
        )
    indptr = np.append(0, np.cumsum(counts))
    found = np.empty(total, np.int32)
    starts = indptr[:-1].copy()
    for first, last in slices(work, _SLICE, "listing candidates", run):
        _link.fitting(*_given(paired, blocking, least), first, last, starts, starts[:0], found, True)
    owner = np.repeat(np.arange(len(counts)), counts)
    return Possible(paired, indptr, found[np.lexsort((found, owner))].astype(np.int64))


def candidate_rows(paired: Paired, least: float = 1.0, run: Run | None = None) -> Ints:
    """How many candidates each person has, without listing them."""
    blocking, work = _blocking(paired, least)
    return _counted(paired, least, blocking, work, run)[1][paired.person_class]


def _counted(paired: Paired, least: float, blocking: Ints, work: Ints, run: Run | None) -> tuple[Ints, Ints]:
    counts, rows = np.zeros(paired.people.n, np.int64), np.zeros(paired.people.n, np.int64)
    for first, last in slices(work, _SLICE, "finding candidates", run):
        _link.fitting(*_given(paired, blocking, least), first, last, counts, rows, np.empty(0, np.int32), False)
    return counts, rows


def _blocking(paired: Paired, least: float) -> tuple[Ints, Ints]:
    """For every class of people the place of the known attribute that leaves the fewest classes of rows, −1 if nothing
    is known, and how many it leaves."""
    if not 0 < least <= 1:
        raise UnveilError("a similarity to be reached lies above 0 and is at most 1")
    begin, end = paired.ends
    enough = paired.alike.sim >= least - _SLACK
    left = np.bincount(paired.alike.owner, (end - begin) * enough, paired.base[-1]).astype(np.int64)
    people = paired.people
    each = left[paired.places] + np.diff(paired.postings.missing_indptr)[people.attribute]
    blocking, work = np.full(people.n, -1), np.full(people.n, paired.rows.n, np.int64)
    owner = np.repeat(np.arange(people.n), people.support)
    order = np.lexsort((each, owner))
    some = people.support > 0
    blocking[some] = order[people.indptr[:-1][some]]
    work[some] = each[blocking[some]] * people.support[some]
    if work.sum() > _WORK:
        raise UnveilError(
            "what is known leaves too many pairs of a person and a row to compare; compare more columns, tolerate "
            "less, or take fewer people"
        )
    return blocking, work


def _given(paired: Paired, blocking: Ints, least: float) -> tuple[object, ...]:
    """What the kernel is given, in its order."""
    people, rows, alike = paired.kernel_sides
    return people, rows, alike, paired.ends, paired.kernel_lists, blocking, paired.row_sizes, least - _SLACK


def slices(work: Ints, size: int, doing: str, run: Run | None) -> Iterator[tuple[int, int]]:
    """Parts of about as much work, with a chance to stop and to say how far it is."""
    total = np.append(0, np.cumsum(work + 1))
    first = 0
    while first < len(work):
        if run:
            run.check()
            run.progress(doing, float(total[first] / total[-1]))
        last = max(first + 1, int(np.searchsorted(total, total[first] + size, "right")) - 1)
        yield first, last
        first = last
