"""Scoring all rows for all people: what :mod:`unveil.linkage.link.matches` defines, as the compiled code computes it.

A row gains what its agreements with a person are worth, over a row that agrees in nothing. Gains are whole multiples of
2⁻³⁶, so that sums do not depend on their order and rows that agree in the same are equal. Likely pairs are kept, for
links that are chosen together and for what is measured against the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil.errors import UnveilError
from unveil.linkage.link import _link
from unveil.linkage.link.kinds import Kinds
from unveil.linkage.link.paired import Floats, Ints, Paired
from unveil.linkage.link.possible import slices
from unveil.run import Run
from unveil.wording import listed

__all__ = ["KEPT", "UNIT", "WORK", "Pairs", "Scored", "Scoring", "error_rates", "scored"]

Scoring = Literal["rarity", "support", "likelihood"]

KEPT = 0.001
"""A pair of a person and a row is kept if its posterior is at least this, hence at most 1,000 rows for a person."""
UNIT = 2.0**-36
WORK = 100_000_000_000
"""Agreements that are added up at most: minutes."""

_NEVER = 1e-300  # stands for an error rate of 0
_SLICE = 40_000_000  # added up in one call: a fifth of a second
_ROOM = 1 << 20  # pairs kept by one call


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a class of people and a class of rows, of which a person and a row belong together with probability
    ``posterior`` at least ``KEPT``, or the best one of the class; ``likelihood`` is their log-likelihood ratio."""

    person: Ints
    row: Ints
    score: Floats
    likelihood: Floats
    posterior: Floats


@dataclass(frozen=True, eq=False)
class Scored:
    """For every class of people what the kernel finds, which says what it is, and ``base``, the log-likelihood ratio of
    a row that agrees in nothing. ``tally`` is, by attribute, how often the row that is a person's is expected to be
    wrong there, and how often to have a value."""

    wholes: Ints
    reals: Floats
    base: Floats
    pairs: Pairs
    tally: Floats


def scored(
    paired: Paired,
    common: Kinds,
    scoring: Scoring,
    rates: Floats,
    outside: float,
    run: Run | None,
    *,
    most: int = WORK,
    count_errors: bool = False,
) -> Scored:
    """Score all rows; errors are counted if asked for."""
    if not 0 <= outside < 1:
        raise UnveilError("the share of people outside the release is 0 or more and less than 1")
    if scoring not in ("rarity", "support", "likelihood"):
        raise UnveilError("score by rarity, support or likelihood")
    people, work = paired.people, common.work(paired)
    if work.sum() > most:
        raise UnveilError(
            "too many rows agree with people in something; leave out columns in which most rows agree, or take fewer "
            "people"
        )
    gains, nulls, wrong, blame = _gains(paired, scoring, rates)
    owner = np.repeat(np.arange(people.n), people.support)
    base: Floats = np.bincount(owner, wrong[people.attribute], people.n).astype(np.float64)
    wholes, reals = np.zeros((people.n, 4), np.int64), np.zeros((people.n, 3))
    counts, kept, kept_reals = np.zeros(people.n, np.int64), list[Ints](), list[Floats]()
    given, (room, chances) = _given(paired, common), _room(paired.rows.n, common.count)
    tally = np.zeros((paired.rows.c if count_errors else 0, 2))
    buffer = np.empty(max(_ROOM, int(1 / KEPT) + 2), np.int32)
    buffer_reals = np.empty((len(buffer), 3))
    for first, last in slices(work, _SLICE, "scoring rows", run):
        while first < last:
            first, filled = _link.scored(
                *given[:4], gains, nulls, base, *given[4:], outside, first, last, UNIT, KEPT, room, wholes, reals,
                buffer, buffer_reals, counts, paired.person_sizes, blame, chances, tally,
            )  # fmt: skip
            kept.append(buffer[:filled].astype(np.int64))
            kept_reals.append(buffer_reals[:filled].copy())
    person = np.repeat(np.arange(people.n), counts)
    row = np.concatenate([np.empty(0, np.int64), *kept])
    order = np.lexsort((row, person))
    score, likelihood, posterior = np.concatenate([np.empty((0, 3)), *kept_reals])[order].T
    pairs = Pairs(person, row[order], likelihood if scoring == "likelihood" else score, likelihood, posterior)
    return Scored(wholes, reals, base, pairs, tally)


def error_rates(paired: Paired, errors: float | Mapping[str, float]) -> Floats:
    """q of every attribute."""
    names = paired.rows.names
    if isinstance(errors, Mapping):
        lost = [name for name in names if name not in errors]
        if lost:
            raise UnveilError(f"give the error rate of {listed(lost)} as well")
        errors_of = [errors[name] for name in names]
    else:
        errors_of = [errors] * len(names)
    rates = np.array(errors_of, np.float64)
    if not ((rates >= 0) & (rates < 1)).all():
        raise UnveilError("an error rate is 0 or more and less than 1")
    return rates


def _given(paired: Paired, common: Kinds) -> tuple[object, ...]:
    """What the kernel is given about people, lists and rows, in its order."""
    order = np.argsort(common.kind, kind="stable")
    sizes = np.bincount(common.kind, paired.row_sizes, common.count).astype(np.int64)
    indptr = np.append(0, np.cumsum(np.bincount(common.kind, minlength=common.count)))
    lists = (
        (*paired.ends_in(of), of.classes, of.missing_indptr, of.missing)
        for of in (common.common_lists, common.rare_lists)
    )
    return (
        paired.kernel_sides[0], paired.alike.indptr, *lists, (common.kind, indptr, order, sizes), paired.row_sizes,
    )  # fmt: skip


def _room(rows: int, kinds: int) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """What the kernel works in: scores, marks and a list of the classes it touched, scores and sizes of kinds; and the
    posterior of classes and kinds."""
    touched = np.zeros((rows, 2), np.int64), np.zeros(rows, np.int32), np.zeros(rows, np.int32)
    return (*touched, np.zeros((kinds, 2), np.int64), np.zeros(kinds, np.int64)), (np.zeros(rows), np.zeros(kinds))


def _gains(paired: Paired, scoring: Scoring, rates: Floats) -> tuple[Ints, Ints, Floats, Floats]:
    """What a run of alike codes adds to score and log-likelihood, what a null adds, both in units; the
    log-likelihood of an attribute that disagrees; and how likely agreement in a run is chance."""
    sim, attribute = paired.alike.sim, paired.attribute
    q, wrong = np.maximum(rates, _NEVER), np.log(np.maximum(rates, _NEVER))
    share = np.where(paired.agreeing > 0, paired.share[paired.alike.owner], 1.0)  # runs without rows add nothing
    ratio = q[attribute] + (1 - q[attribute]) * sim / share
    likelihood = np.log(ratio) - wrong[attribute]
    if scoring == "likelihood":
        score, null = likelihood, -wrong
    elif scoring == "support":
        score, null = sim / np.log(np.maximum(paired.popularity, 2))[attribute], np.zeros(len(q))
    else:
        score, null = -sim * np.log(share), np.zeros(len(q))
    gains, nulls = np.stack([score, likelihood], axis=1), np.stack([null, -wrong], axis=1)
    return _units(gains), _units(nulls), wrong, q[attribute] / ratio


def _units(numbers: Floats) -> Ints:
    return np.rint(numbers / UNIT).astype(np.int64)
