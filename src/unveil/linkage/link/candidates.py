"""Who could be whom, if what is known is right? The rows that no attribute rules out.

Row y is a *candidate* for person x if sim(x_i, y_i) ≥ α for every attribute i that both have (Narayanan and Shmatikov
2008, the first step of Scoreboard; with 0/1 similarities, the edges of Lakshmanan, Ng and Ramesh 2008, §8.1). A value
missing on either side rules nothing out, unless nulls differ from values.

**How it is computed.** Among the attributes known about a person, take the one that leaves the fewest rows, visit its
postings and the rows that lack it, and look up the other attributes. Linking 100,000 people with 100,000 rows then
takes as many comparisons as there are pairs that share the rarest known value, not 10¹⁰.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unveil.arrays import Ints
from unveil.errors import UnveilError
from unveil.linkage.link import _row_scores
from unveil.linkage.link.file_pair import FilePair
from unveil.linkage.similarity import check_threshold
from unveil.run import Run

__all__ = ["CandidateRows", "count_candidates", "find_candidates", "work_slices"]

_SLACK = 1e-12
_MAX_PAIRS = 50_000_000  # pairs of a class of people and a class of rows: 200 MB
_MAX_COMPARISONS = 20_000_000_000  # pairs compared, at most: minutes
_SLICE_COMPARISONS = 20_000_000  # pairs compared in one call: well under a fifth of a second


@dataclass(frozen=True, eq=False, repr=False)
class CandidateRows:
    """The candidates of people of class p are the rows of classes ``classes[indptr[p] … indptr[p + 1]]``, rising."""

    file_pair: FilePair
    indptr: Ints
    classes: Ints

    @cached_property
    def counts(self) -> Ints:
        """Number of candidates of each person."""
        owner = np.repeat(np.arange(self.file_pair.people.n), np.diff(self.indptr))
        rows = np.bincount(owner, self.file_pair.row_sizes[self.classes], self.file_pair.people.n).astype(np.int64)
        return rows[self.file_pair.person_class]

    def rows(self, person: int) -> Ints:
        """The candidates of a person, rising."""
        kind = self.file_pair.person_class[person]
        these = self.classes[self.indptr[kind] : self.indptr[kind + 1]]
        return np.flatnonzero(np.isin(self.file_pair.row_class, these))

    def __repr__(self) -> str:
        one, none = int((self.counts == 1).sum()), int((self.counts == 0).sum())
        return f"Possible: {self.file_pair.n:,} people, {one:,} with one candidate, {none:,} with none"


def find_candidates(
    file_pair: FilePair, least: float = 1.0, run: Run | None = None, *, most: int = _MAX_PAIRS
) -> CandidateRows:
    """Find all candidates with similarity ``least`` (α) or more; at most ``most`` pairs of classes are listed."""
    blocking, work = _blocking_attributes(file_pair, least)
    counts, _ = _count_fitting(file_pair, least, blocking, work, run)
    total = int(counts.sum())
    if total > most:
        raise UnveilError(
            f"{total:,} pairs of a person and a row fit, more than {most:,}; compare more columns, use a smaller "
            "tolerance, or take fewer people"
        )
    indptr = np.append(0, np.cumsum(counts))
    found = np.empty(total, np.int32)
    starts = indptr[:-1].copy()
    for first, last in work_slices(work, _SLICE_COMPARISONS, "listing candidates", run):
        _row_scores.find_fitting_rows(
            *_kernel_arguments(file_pair, blocking, least), first, last, starts, starts[:0], found, True
        )
    owner = np.repeat(np.arange(len(counts)), counts)
    return CandidateRows(file_pair, indptr, found[np.lexsort((found, owner))].astype(np.int64))


def count_candidates(file_pair: FilePair, least: float = 1.0, run: Run | None = None) -> Ints:
    """Count the candidates of each person without listing them."""
    blocking, work = _blocking_attributes(file_pair, least)
    return _count_fitting(file_pair, least, blocking, work, run)[1][file_pair.person_class]


def _count_fitting(file_pair: FilePair, least: float, blocking: Ints, work: Ints, run: Run | None) -> tuple[Ints, Ints]:
    counts, rows = np.zeros(file_pair.people.n, np.int64), np.zeros(file_pair.people.n, np.int64)
    for first, last in work_slices(work, _SLICE_COMPARISONS, "finding candidates", run):
        _row_scores.find_fitting_rows(
            *_kernel_arguments(file_pair, blocking, least), first, last, counts, rows, np.empty(0, np.int32), False
        )
    return counts, rows


def _blocking_attributes(file_pair: FilePair, least: float) -> tuple[Ints, Ints]:
    """For every class of people the position of the known attribute that leaves the fewest classes of rows, −1 if
    nothing is known, and the work that remains."""
    check_threshold(least)
    begin, end = file_pair.all_posting_ends
    enough = file_pair.alike.sim >= least - _SLACK
    left = np.bincount(file_pair.alike.owner, (end - begin) * enough, file_pair.base[-1]).astype(np.int64)
    people = file_pair.people
    each = left[file_pair.value_places] + np.diff(file_pair.postings.missing_indptr)[people.attribute]
    blocking, work = np.full(people.n, -1), np.full(people.n, file_pair.rows.n, np.int64)
    owner = np.repeat(np.arange(people.n), people.support)
    order = np.lexsort((each, owner))
    some = people.support > 0
    blocking[some] = order[people.indptr[:-1][some]]
    work[some] = each[blocking[some]] * people.support[some]
    if work.sum() > _MAX_COMPARISONS:
        raise UnveilError(
            "too many pairs of a person and a row remain to be compared; compare more columns, use a smaller "
            "tolerance, or take fewer people"
        )
    return blocking, work


def _kernel_arguments(file_pair: FilePair, blocking: Ints, least: float) -> tuple[object, ...]:
    """The arguments of the kernel, in its order."""
    people, rows, alike = file_pair.kernel_arrays
    return (
        people,
        rows,
        alike,
        file_pair.all_posting_ends,
        file_pair.kernel_postings,
        blocking,
        file_pair.row_sizes,
        least - _SLACK,
    )


def work_slices(work: Ints, size: int, doing: str, run: Run | None) -> Iterator[tuple[int, int]]:
    """Slices of about equal work, checking for interruption and reporting progress in between."""
    total = np.append(0, np.cumsum(work + 1))
    first = 0
    while first < len(work):
        if run:
            run.check()
            run.progress(doing, float(total[first] / total[-1]))
        last = max(first + 1, int(np.searchsorted(total, total[first] + size, "right")) - 1)
        yield first, last
        first = last
