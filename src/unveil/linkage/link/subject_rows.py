"""Who is who, if a person has several rows? The attacker names a row, and any row of the person is right.

Rows are scored one by one (:mod:`unveil.linkage.link.best_match`); then they are put together by the person they belong
to, the *subject*. Identical rows of one subject count once, and every other row is equally likely a priori.

- The best match of a known person is the subject with the best row; subjects whose best row is as good tie with it.
- The posterior of a subject is the sum over their rows; that of the best match is the mean over those that tie.
- A subject is a candidate if any of their rows is.
- One to one, no two known people are the same subject.

Subjects whose rows show the same are *twins*, like rows, and are merged into classes. A class of subjects then takes
the place of a class of rows in a :class:`~unveil.linkage.link.file_pair.FilePair`, and everything that only counts and
matches classes works for both.

**How it is computed.** Subjects are put together from the likely pairs that were kept, with all their rows, so their
posteriors are exact. Of subjects none of whose rows was kept, no row has a posterior of ``MIN_POSTERIOR``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.grouping import group_people
from unveil.linkage.link.best_match import Linkage
from unveil.linkage.link.candidates import CandidateRows
from unveil.linkage.link.file_pair import FilePair
from unveil.linkage.link.row_scores import MIN_POSTERIOR, SCORE_UNIT, LikelyPairs, score_pairs
from unveil.run import Run

__all__ = ["SubjectRows", "candidate_subjects", "gather_subject_rows", "link_subjects"]

_SLICE_PAIRS = 200_000  # pairs of a person and a row scored at a time


@dataclass(frozen=True, eq=False)
class SubjectRows:
    """Subjects of class k have rows of the classes ``row_classes[indptr[k] … indptr[k + 1]]``, rising. ``owner[y]`` is
    the subject of row y, ``subject_class[s]`` the class of subject s."""

    rows: FilePair
    owner: Ints
    subject_class: Ints
    indptr: Ints
    row_classes: Ints

    @property
    def sizes(self) -> Ints:
        """Number of rows of each subject, by class."""
        return np.diff(self.indptr)

    @cached_property
    def file_pair(self) -> FilePair:
        """The known people beside subjects instead of rows."""
        some = self.rows.rows.select(self.row_classes[self.indptr[:-1]])
        return replace(self.rows, rows=some, row_class=self.subject_class, subjects=None)

    @cached_property
    def first_row(self) -> Ints:
        """The first row of each subject."""
        return np.unique(self.owner, return_index=True)[1]

    @cached_property
    def classes_with_row(self) -> tuple[Ints, Ints]:
        """The classes of subjects that have a row of each class of rows, as places in a list, and the list."""
        order = np.argsort(self.row_classes, kind="stable")
        counts = np.bincount(self.row_classes, minlength=self.rows.rows.n)
        return np.append(0, np.cumsum(counts)), np.repeat(np.arange(len(self.sizes)), self.sizes)[order]

    def spread_pairs(self, person_class: Ints, row_class: Ints) -> tuple[Ints, Ints]:
        """All pairs of a class of people and a class of subjects that has one of the rows paired with it, rising."""
        indptr, classes = self.classes_with_row
        pair, place = _expand(indptr[row_class], np.diff(indptr)[row_class])
        kinds = len(self.sizes)
        keys = np.unique(person_class[pair] * kinds + classes[place])
        return keys // max(1, kinds), keys % max(1, kinds)

    def score(self, errors: Floats, person_class: Ints, subject_class: Ints, run: Run | None = None) -> SubjectScores:
        """The log-likelihoods of these pairs of classes."""
        best, total, row = (np.zeros(len(person_class), np.int64) for _ in range(3))
        for part in _slices(self.sizes[subject_class]):
            if run:
                run.check()
            pair, place = _expand(self.indptr[subject_class[part]], self.sizes[subject_class[part]])
            rows = self.row_classes[place]
            gain = score_pairs(self.rows, "likelihood", errors, person_class[part][pair], rows)[:, 1]
            order = np.lexsort((rows, -gain, pair))  # sums do not depend on which class comes first
            start = np.flatnonzero(np.append(True, np.diff(pair) > 0))
            top = gain[order][start]
            mass = np.add.reduceat(np.exp((gain[order] - top[pair]) * SCORE_UNIT), start)
            best[part], row[part] = top, rows[order][start]
            total[part] = top + np.rint(np.log(mass) / SCORE_UNIT).astype(np.int64)
        return SubjectScores(best, total, row)

    def row_of_class(self, subject: Ints, row_class: Ints) -> Ints:
        """The row of each subject that belongs to a class of rows."""
        size = self.rows.rows.n
        keys = self.owner * size + self.rows.row_class
        order = np.argsort(keys)
        return order[np.searchsorted(keys[order], subject * size + row_class)]


class SubjectScores(NamedTuple):
    """The log-likelihoods of subjects, in units compared with a row that agrees in nothing: of their ``best`` row,
    which is of class ``row``, and of all their rows together (``total``)."""

    best: Ints
    total: Ints
    row: Ints


def gather_subject_rows(file_pair: FilePair) -> SubjectRows:
    """Put the rows of a release together by subject."""
    assert file_pair.subjects is not None
    subject_class, owner = group_people(file_pair.row_class, file_pair.subjects)
    pairs = np.unique(subject_class[owner] * max(1, file_pair.rows.n) + file_pair.row_class)
    kinds = int(subject_class.max(initial=-1)) + 1
    indptr = np.append(0, np.cumsum(np.bincount(pairs // max(1, file_pair.rows.n), minlength=kinds)))
    return SubjectRows(file_pair, owner, subject_class, indptr, pairs % max(1, file_pair.rows.n))


def candidate_subjects(subjects: SubjectRows, found: CandidateRows) -> CandidateRows:
    """The candidates of everybody, as subjects."""
    people = found.file_pair.people.n
    person, kind = subjects.spread_pairs(np.repeat(np.arange(people), np.diff(found.indptr)), found.classes)
    indptr = np.append(0, np.cumsum(np.bincount(person, minlength=people)))
    return CandidateRows(subjects.file_pair, indptr, kind)


def link_subjects(subjects: SubjectRows, found: Linkage, candidates: CandidateRows, run: Run | None = None) -> Linkage:
    """What the attacker concludes about subjects, from what they conclude about rows and from ``candidate_subjects``.

    ``best`` is then a subject, and ``best_row`` their best row."""
    rows, files = found.file_pair, subjects.file_pair
    someone = np.unique(rows.person_class, return_index=True)[1]  # of each class of people
    chance, top_class = found.posterior[someone], found.best_class[someone]
    there = np.flatnonzero(top_class >= 0)
    top = np.full(len(someone), -1, np.int64)
    top[there] = score_pairs(rows, "likelihood", found.errors, there, top_class[there])[:, 1]
    person, kind = subjects.spread_pairs(found.pairs.person, found.pairs.row)
    person, kind = person[top[person] >= 0], kind[top[person] >= 0]
    scores = subjects.score(found.errors, person, kind, run)
    posterior = np.minimum(chance[person] * np.exp((scores.total - top[person]) * SCORE_UNIT), 1.0)
    best = _best_subjects(subjects, person, kind, scores, posterior, top)
    ties = np.maximum(best.ties, _least_ties(subjects, found.ties[someone], chance))
    who = rows.person_class
    return replace(
        found,
        file_pair=files,
        best=best.subject[who],
        best_row=best.row[who],
        ties=ties[who],
        second=np.where(
            ties[who] > 1,
            found.score,
            np.where(best.second[who] < 0, np.nan, found.score - (top - best.second)[who] * SCORE_UNIT),
        ),
        eccentricity=_lead(top, best.second, ties, found, someone)[who],
        posterior=best.posterior[who],
        candidates=candidates.counts,
        pairs=_subject_pairs(found, person, kind, scores, posterior),
        subjects=subjects,
    )


class _BestSubjects(NamedTuple):
    """By class of people: the best subject, their best row, how many are as good, their mean posterior, and the score
    of the best row of anybody else (−1 if nobody else comes near)."""

    subject: Ints
    row: Ints
    ties: Ints
    posterior: Floats
    second: Ints


def _best_subjects(
    subjects: SubjectRows, person: Ints, kind: Ints, scores: SubjectScores, posterior: Floats, top: Ints
) -> _BestSubjects:
    files, people = subjects.file_pair, len(top)
    equal, size = scores.best == top[person], files.row_sizes[kind]
    ties = np.bincount(person[equal], size[equal], people).astype(np.int64)
    mean = np.bincount(person[equal], (size * posterior)[equal], people) / np.maximum(ties, 1)
    subject, row, second = (np.full(people, -1, np.int64) for _ in range(3))
    own = subjects.row_of_class(files.first_row[kind[equal]], scores.row[equal])
    order = np.lexsort((own, person[equal]))[::-1]  # the first row is written last
    subject[person[equal][order]], row[person[equal][order]] = files.first_row[kind[equal]][order], own[order]
    np.maximum.at(second, person[~equal], scores.best[~equal])
    return _BestSubjects(subject, row, ties, mean, second)


def _least_ties(subjects: SubjectRows, rows: Ints, chance: Floats) -> Ints:
    """How many subjects tie at least, if so many rows do that they were not all kept."""
    most = int(subjects.sizes.max(initial=1))
    return np.where(chance < MIN_POSTERIOR, -(-rows // most), 0)


def _lead(top: Ints, second: Ints, ties: Ints, found: Linkage, someone: Ints) -> Floats:
    """The lead of the best row over the best row of anybody else, in standard deviations; infinite if nobody else comes
    near."""
    alone = (ties == 1) & (top >= 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = (top - second) * SCORE_UNIT / found.deviation[someone]
    return np.where(alone & (second < 0), np.inf, np.where(alone & np.isfinite(lead), lead, 0.0))


def _subject_pairs(found: Linkage, person: Ints, kind: Ints, scores: SubjectScores, posterior: Floats) -> LikelyPairs:
    """The likely pairs of people and subjects."""
    shift = np.zeros(int(person.max(initial=-1)) + 1)
    pairs, rows = found.pairs, found.file_pair
    gain = score_pairs(rows, "likelihood", found.errors, pairs.person, pairs.row)[:, 1]
    known = pairs.person < len(shift)
    shift[pairs.person[known]] = (pairs.likelihood - gain * SCORE_UNIT)[known]  # the same for all rows
    score = shift[person] + scores.total * SCORE_UNIT
    kept = posterior >= MIN_POSTERIOR
    return LikelyPairs(person[kept], kind[kept], score[kept], score[kept], posterior[kept])


def _expand(start: Ints, size: Ints) -> tuple[Ints, Ints]:
    """For lists that start there and are so long: the list of every element, and its place."""
    owner = np.repeat(np.arange(len(size)), size)
    return owner, np.arange(len(owner)) + np.repeat(start - (np.cumsum(size) - size), size)


def _slices(sizes: Ints) -> Iterator[slice]:
    """Slices of about ``_SLICE_PAIRS`` elements in total."""
    number = np.cumsum(sizes) // _SLICE_PAIRS
    edges = np.append(np.flatnonzero(np.append(True, np.diff(number) > 0)), len(sizes)) if len(sizes) else np.zeros(1)
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield slice(first, last)
