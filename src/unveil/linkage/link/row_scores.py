"""Scoring all rows for all people: the scores of :mod:`unveil.linkage.link.best_match`, as compiled code computes them.

A row gains what its agreements with a person are worth, compared with a row that agrees in nothing. Gains are integer
multiples of 2⁻³⁶, so sums do not depend on their order and rows with the same agreements are exactly equal. Likely
pairs are kept, for links chosen jointly and for comparison with the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.linkage.link import _row_scores
from unveil.linkage.link.candidates import work_slices
from unveil.linkage.link.file_pair import FilePair
from unveil.linkage.link.row_kinds import RowKinds
from unveil.run import Run
from unveil.wording import list_text

__all__ = [
    "MAX_WORK",
    "MIN_POSTERIOR",
    "SCORE_UNIT",
    "LikelyPairs",
    "ScoreTable",
    "Scoring",
    "attribute_error_rates",
    "score_pairs",
    "score_people",
]

Scoring = Literal["rarity", "support", "likelihood"]

MIN_POSTERIOR = 0.001
"""Pairs of a person and a row are kept from this posterior on, hence at most 1,000 rows per person."""
SCORE_UNIT = 2.0**-36
MAX_WORK = 100_000_000_000
"""Agreements added up, at most: minutes."""

_ZERO_RATE = 1e-300  # stands in for an error rate of 0
_SLICE_AGREEMENTS = 40_000_000  # agreements added up in one call: a fifth of a second
_PAIR_BUFFER = 1 << 20  # pairs kept in one call


@dataclass(frozen=True, eq=False)
class LikelyPairs:
    """Pairs of a class of people and a class of rows with a ``posterior`` of at least ``MIN_POSTERIOR``, and the best
    pair of each class. ``likelihood`` is how much likelier what is known is of the row's person than of someone outside
    the release, as a logarithm in whole units."""

    person: Ints
    row: Ints
    score: Floats
    likelihood: Floats
    posterior: Floats


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """For every class of people: the ``best`` class of rows (−1 if none gains anything), how many rows are as good
    (``ties``), the ``top`` and ``second`` score in units (−1 if there is no second row), the ``deviation`` of the score
    over all rows, the ``posterior`` of a best row and of no row (``outside``), ``evidence``, the logarithm of the mean
    likelihood ratio of all rows, and ``base``, the log-likelihood ratio of a row that agrees in nothing."""

    best: Ints
    ties: Ints
    top: Ints
    second: Ints
    deviation: Floats
    posterior: Floats
    outside: Floats
    evidence: Floats
    base: Floats
    pairs: LikelyPairs


def score_people(
    file_pair: FilePair,
    common: RowKinds,
    scoring: Scoring,
    rates: Floats,
    outside: float,
    run: Run | None,
    *,
    evidence: Floats | None = None,
    most: int = MAX_WORK,
) -> ScoreTable:
    """Score all rows for all people. ``evidence`` replaces the mean likelihood ratio, by class of people."""
    if not 0 <= outside < 1:
        raise UnveilError("the share of people outside the release must be at least 0 and below 1")
    if scoring not in ("rarity", "support", "likelihood"):
        raise UnveilError("score by rarity, support or likelihood")
    people, work = file_pair.people, common.work(file_pair)
    if work.sum() > most:
        raise UnveilError(
            "too many rows agree with too many people; leave out columns in which most rows agree, or take fewer people"
        )
    gains, nulls, wrong = _agreement_gains(file_pair, scoring, rates)
    owner = np.repeat(np.arange(people.n), people.support)
    base: Floats = np.bincount(owner, wrong[people.attribute], people.n).astype(np.float64)
    wholes, reals = np.zeros((people.n, 4), np.int64), np.zeros((people.n, 4))
    counts, kept, kept_reals = np.zeros(people.n, np.int64), list[Ints](), list[Floats]()
    known, starts, common_lists, rare_lists, kinds, sizes = _kernel_arguments(file_pair, common)
    space = _kernel_space(file_pair.rows.n, common.count)
    told = np.empty(0) if evidence is None else evidence
    buffer = np.empty(max(_PAIR_BUFFER, int(1 / MIN_POSTERIOR) + 2), np.int32)
    buffer_reals = np.empty((len(buffer), 3))
    for first, last in work_slices(work, _SLICE_AGREEMENTS, "scoring rows", run):
        while first < last:
            first, filled = _row_scores.score_rows(
                known, starts, common_lists, rare_lists, gains, nulls, base, kinds, sizes, file_pair.first_row, outside,
                told, first, last, SCORE_UNIT, MIN_POSTERIOR, space, wholes, reals, buffer, buffer_reals, counts,
            )  # fmt: skip
            kept.append(buffer[:filled].astype(np.int64))
            kept_reals.append(buffer_reals[:filled].copy())
    person = np.repeat(np.arange(people.n), counts)
    row = np.concatenate([np.empty(0, np.int64), *kept])
    order = np.lexsort((row, person))
    score, likelihood, posterior = np.concatenate([np.empty((0, 3)), *kept_reals])[order].T
    found = likelihood if scoring == "likelihood" else score
    if evidence is not None:
        likelihood = likelihood + SCORE_UNIT * _to_units(evidence - reals[:, 3])[person]
    best, ties, top, second = wholes.T
    deviation, own, none, inside = reals.T
    pairs = LikelyPairs(person, row[order], found, likelihood, posterior)
    return ScoreTable(best, ties, top, second, deviation, own, none, inside, base, pairs)


def score_pairs(file_pair: FilePair, scoring: Scoring, rates: Floats, person_class: Ints, row_class: Ints) -> Ints:
    """The gains in score and log-likelihood of these pairs of classes, in units."""
    gains, nulls, _ = _agreement_gains(file_pair, scoring, rates)
    people = file_pair.people
    size = people.support[person_class]
    owner = np.repeat(np.arange(len(size)), size)
    entry = np.repeat(people.indptr[person_class] - (np.cumsum(size) - size), size) + np.arange(len(owner))
    attribute = people.attribute[entry]
    codes = file_pair.rows.codes_at(row_class[owner], attribute)
    each = np.append(gains, [[0, 0]], axis=0)[file_pair.find_ranges(file_pair.value_places[entry], codes)]
    if file_pair.nulls == "unknown":
        each = np.where((codes < 0)[:, None], nulls[attribute], each)
    found = np.zeros((len(size), 2), np.int64)
    np.add.at(found, owner, each)
    return found


def attribute_error_rates(file_pair: FilePair, errors: float | Mapping[str, float]) -> Floats:
    """The error rate q of every attribute."""
    names = file_pair.rows.names
    if isinstance(errors, Mapping):
        lost = [name for name in names if name not in errors]
        if lost:
            raise UnveilError(f"error rates are missing for {list_text(lost)}")
        errors_of = [errors[name] for name in names]
    else:
        errors_of = [errors] * len(names)
    rates = np.array(errors_of, np.float64)
    if not ((rates >= 0) & (rates < 1)).all():
        raise UnveilError("an error rate must be at least 0 and below 1")
    return rates


def _kernel_arguments(file_pair: FilePair, common: RowKinds) -> tuple[object, ...]:
    """The arguments of the kernel for people, lists and rows, in its order."""
    order = np.lexsort((file_pair.first_row, common.kind))
    sizes = np.bincount(common.kind, file_pair.row_sizes, common.count).astype(np.int64)
    indptr = np.append(0, np.cumsum(np.bincount(common.kind, minlength=common.count)))
    lists = (
        (*file_pair.posting_ends(of), of.classes, of.missing_indptr, of.missing)
        for of in (common.common_lists, common.rare_lists)
    )
    return (
        file_pair.kernel_arrays[0], file_pair.alike.indptr, *lists, (common.kind, indptr, order, sizes),
        file_pair.row_sizes,
    )  # fmt: skip


def _kernel_space(rows: int, kinds: int) -> tuple[object, ...]:
    """Working space for the kernel: scores, marks and a list of the classes it touched, scores and sizes of kinds."""
    touched = np.zeros((rows, 2), np.int64), np.zeros(rows, np.int32), np.zeros(rows, np.int32)
    return *touched, np.zeros((kinds, 2), np.int64), np.zeros(kinds, np.int64)


def _agreement_gains(file_pair: FilePair, scoring: Scoring, rates: Floats) -> tuple[Ints, Ints, Floats]:
    """What a range of alike codes adds to the score and the log-likelihood, what a null adds, both in units; and the
    log-likelihood of an attribute that disagrees, a whole number of units."""
    sim, attribute = file_pair.alike.sim, file_pair.attribute
    q, wrong = np.maximum(rates, _ZERO_RATE), np.log(np.maximum(rates, _ZERO_RATE))
    share = np.where(
        file_pair.agreeing_rows > 0, file_pair.mean_similarity[file_pair.alike.owner], 1.0
    )  # ranges without rows add nothing
    likelihood = np.log(q[attribute] + (1 - q[attribute]) * sim / share) - wrong[attribute]
    if scoring == "likelihood":
        score, null = likelihood, -wrong
    elif scoring == "support":
        score, null = sim / np.log(np.maximum(file_pair.popularity, 2))[attribute], np.zeros(len(q))
    else:
        score, null = -sim * np.log(share), np.zeros(len(q))
    gains, nulls = np.stack([score, likelihood], axis=1), np.stack([null, -wrong], axis=1)
    return _to_units(gains), _to_units(nulls), np.asarray(SCORE_UNIT * _to_units(wrong))


def _to_units(numbers: Floats) -> Ints:
    return np.rint(numbers / SCORE_UNIT).astype(np.int64)
