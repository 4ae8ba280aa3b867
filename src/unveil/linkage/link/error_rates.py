"""How often is what is known wrong, and how many people are outside? Estimated from the two files alone.

The posterior of :mod:`unveil.linkage.link.best_match` needs q, the error rate of every attribute, and π, the share of
known people who are not in the release. The attacker knows neither. Both are estimated by rehearsal
(:mod:`unveil.linkage.link.rehearsal`): stand-ins are drawn from the release with errors of some rates, a regression
learns from them what tells people inside from people outside (:mod:`unveil.linkage.link.membership`), and that gives π.
The rates are right if the best rows of stand-ins, with a share π of them outside, disagree as often as those of the
known people; where they disagree less, the rate is raised in proportion, and so on until nothing changes (the method of
simulated moments). Stand-ins are then drawn anew with these rates.

Whatever is given, π or some of the rates, is kept, and only the rest is estimated. One additional person keeps rates
away from 0, except that of values that no row has, where all known values occur. Errors cannot be estimated well from
few people, or from attributes in which most rows agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil.arrays import Bools, Floats
from unveil.errors import UnveilError
from unveil.linkage.link.file_pair import FilePair, pair_other_people
from unveil.linkage.link.membership import (
    BestRowFit,
    MembershipModel,
    estimate_outside,
    fit_membership,
    inside_probability,
    measure_fit,
    outside_interval,
)
from unveil.linkage.link.rehearsal import Rehearsal, rehearse
from unveil.run import Run

__all__ = ["MAX_ATTRIBUTES", "ErrorRates", "estimate_error_rates"]

MAX_ATTRIBUTES = 200
"""Attributes whose rates can be estimated, at most."""
_START = 0.025  # each of the two kinds of error, to begin with
_LEAST, _MOST = 0.0005, 0.45  # each of the two kinds of error
_STAND_INS = (1_000, 1_000, 2_000)  # in each round, inside and outside
_MAX_PEOPLE = 5_000  # known people from whom rates are estimated
_STEPS = 30  # of rates, in each round
_CONVERGENCE = 1e-3


@dataclass(frozen=True, eq=False)
class ErrorRates:
    """Error rates by attribute, and the share of people outside the release.

    ``wrong`` is the share of known values that differ from the person's row; ``errors`` is q, which includes values
    that are the same by coincidence. ``outside_interval`` is None if ``outside`` was given. ``evidence``, by class of
    people, is what :func:`unveil.linkage.link.best_match.link_people` takes.
    """

    errors: Mapping[str, float]
    wrong: Mapping[str, float]
    outside: float
    outside_interval: tuple[float, float] | None
    evidence: Floats


class _Rates(NamedTuple):
    """Errors by attribute: values of other rows, and values that no row has; and the share of people outside."""

    replaced: Floats
    unseen: Floats
    outside: float

    def as_drawn(self, coincidence: Floats) -> Floats:
        """q: errors, including those that give the right value by chance."""
        return np.clip(self.unseen + self.replaced / np.maximum(1 - coincidence, 0.1), _LEAST, 2 * _MOST)


def estimate_error_rates(
    file_pair: FilePair,
    *,
    wrong: Mapping[str, float] | None = None,
    outside: float | None = None,
    rng: np.random.Generator | None = None,
    run: Run | None = None,
) -> ErrorRates:
    """Estimate the share of people outside, unless it is given, and of values that are wrong, for attributes not in
    ``wrong``."""
    names, draw = file_pair.rows.names, rng or np.random.default_rng(0)
    given = np.array([(wrong or {}).get(name, np.nan) for name in names])
    _check_input(file_pair, given, outside)
    sample, counts = _sample_people(file_pair, draw)
    coincidence = _chance_agreement(file_pair)
    start = np.where(np.isnan(given), _START, np.clip(given / 2, _LEAST, _MOST))
    is_unseen = ~file_pair.has_agreeing_rows[file_pair.value_places]
    may_be_unseen = np.bincount(file_pair.people.attribute, is_unseen, len(names)) > 0
    rates = _Rates(start, np.where(may_be_unseen, start, 0.0), 0.1 if outside is None else outside)
    for size in _STAND_INS:
        scoring = rates.as_drawn(coincidence)
        known = measure_fit(sample, scoring, run)
        stand_ins = _measure_stand_ins(rehearse(file_pair, rates.replaced, rates.unseen, size, draw), scoring, run)
        rates, model = _fit_rates(rates, known, counts, stand_ins, given, outside)
    everyone = known if sample is file_pair else measure_fit(file_pair, scoring, run)
    interval = None if outside is not None else outside_interval(model, known.features, counts, rates.outside)
    shares = np.where(np.isnan(given), rates.replaced + rates.unseen, given)
    return ErrorRates(
        dict(zip(names, rates.as_drawn(coincidence).tolist(), strict=True)),
        dict(zip(names, shares.tolist(), strict=True)),
        rates.outside,
        interval,
        model.evidence(everyone.features),
    )


def _check_input(file_pair: FilePair, given: Floats, outside: float | None) -> None:
    if outside is not None and not 0 <= outside < 1:
        raise UnveilError("the share of people outside the release must be at least 0 and below 1")
    if not (np.isnan(given) | ((given >= 0) & (given < 1))).all():
        raise UnveilError("a share of wrong values must be at least 0 and below 1")
    if file_pair.rows.c > MAX_ATTRIBUTES or file_pair.row_count < 2 or not file_pair.n:
        raise UnveilError(
            f"error rates can be estimated for up to {MAX_ATTRIBUTES} attributes, from at least two rows and one person"
        )


def _sample_people(file_pair: FilePair, rng: np.random.Generator) -> tuple[FilePair, Floats]:
    """At most ``_MAX_PEOPLE`` of the known people, and how many each class of them stands for."""
    if file_pair.n <= _MAX_PEOPLE:
        return file_pair, file_pair.person_sizes.astype(np.float64)
    chosen = rng.choice(np.repeat(np.arange(file_pair.people.n), file_pair.person_sizes), _MAX_PEOPLE, replace=False)
    sample = pair_other_people(file_pair, file_pair.row_sizes, file_pair.people.select(np.sort(chosen)))
    return sample, sample.person_sizes.astype(np.float64)


def _chance_agreement(file_pair: FilePair) -> Floats:
    """By attribute, how often a random row agrees with a known value that some row has."""
    people = file_pair.people
    size = np.repeat(file_pair.person_sizes, people.support) * file_pair.has_agreeing_rows[file_pair.value_places]
    total = np.bincount(people.attribute, size * file_pair.mean_similarity[file_pair.value_places], people.c)
    return np.asarray(total / np.maximum(np.bincount(people.attribute, size, people.c), 1))


# ---- one round -------------------------------------------------------------------------------------------------------


class _StandIns(NamedTuple):
    """Stand-ins of several rehearsals, with how well their best rows fit."""

    rehearsals: list[Rehearsal]
    inside: Bools
    fit: BestRowFit

    def weights(self, rates: _Rates) -> Floats:
        """How much each stand-in counts, with these rates; 1 in total."""
        parts = [each.weights(rates.replaced, rates.unseen) for each in self.rehearsals]
        return np.concatenate(parts) / len(parts)


def _measure_stand_ins(rehearsals: list[Rehearsal], scoring: Floats, run: Run | None) -> _StandIns:
    fits = []
    for each in rehearsals:
        found, people = measure_fit(each.file_pair, scoring, run), each.file_pair.person_class
        fits.append(
            BestRowFit(found.evidence[people], found.disagrees[people], found.unseen[people], found.missing[people])
        )
    joined = (np.concatenate([getattr(fit, name) for fit in fits]) for name in BestRowFit.__dataclass_fields__)
    inside = np.concatenate([each.inside for each in rehearsals])
    return _StandIns(rehearsals, inside, BestRowFit(*joined))


def _fit_rates(
    rates: _Rates, known: BestRowFit, counts: Floats, stand_ins: _StandIns, given: Floats, outside: float | None
) -> tuple[_Rates, MembershipModel]:
    """The rates with which stand-ins resemble the known people, and what tells inside from outside."""
    features, others, model = known.features, stand_ins.fit.features, None
    for _ in range(_STEPS):
        weights = stand_ins.weights(rates)
        model = fit_membership(others, stand_ins.inside, weights, None if model is None else model.weights)
        evidence = model.evidence(features)
        share = estimate_outside(evidence, counts) if outside is None else outside
        here = counts * inside_probability(evidence, share)
        there = inside_probability(model.evidence(others), share)
        there *= weights * 2 * np.where(stand_ins.inside, 1 - share, share) * counts.sum()
        replaced, unseen = (
            np.where(rate > 0, np.clip(rate * (1 + here @ own) / (1 + there @ theirs), _LEAST, _MOST), 0.0)
            for rate, own, theirs in (
                (rates.replaced, known.disagrees, stand_ins.fit.disagrees),
                (rates.unseen, known.unseen, stand_ins.fit.unseen),
            )
        )
        before, rates = rates, _keep_given(_Rates(replaced, unseen, share), given)
        moves = np.abs(np.subtract(rates[:2], before[:2])).max(), abs(rates.outside - before.outside)
        if max(moves) < _CONVERGENCE:
            break
    assert model is not None
    return rates, model


def _keep_given(rates: _Rates, given: Floats) -> _Rates:
    """Errors of both kinds in the same proportion, but in total as given."""
    scale = np.where(np.isnan(given), 1.0, np.clip(given, 2 * _LEAST, 2 * _MOST) / (rates.replaced + rates.unseen))
    return _Rates(rates.replaced * scale, rates.unseen * scale, rates.outside)
