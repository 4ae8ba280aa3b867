"""Is this person in the release at all? Learnt from people of whom that is known.

For everybody, x says how well the best row fits: the logarithm of the mean likelihood ratio of all rows, and for every
attribute whether the best row disagrees, whether no row at all has the known value, or whether nothing can be compared.
A logistic regression tells stand-ins inside the release from stand-ins outside (:mod:`.rehearsal`); with as many of
both, its log-odds are ln P(x | inside)/P(x | outside), the *evidence*. It needs no independence: if agreement in
surname, street and suburb is as common among strangers as among stand-ins for the same person, it counts for nothing.

**Share outside.** If a share π of the known people is outside, the likelihood of their x is ∏ ((1 − π) e^evidence + π)
times what does not depend on π; its maximum estimates π (as Saerens, Latinne and Decaestecker, Neural Computation 14,
2002, adjust a classifier to new priors). The interval holds all π whose log-likelihood is near enough to the maximum.
How near follows from χ², widened by what the regression itself does not know (its sandwich variance) and because error
rates are estimated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unveil.arrays import Bools, Floats
from unveil.linkage.link.file_pair import FilePair
from unveil.linkage.link.row_kinds import choose_row_kinds
from unveil.linkage.link.row_scores import score_people
from unveil.run import Run

__all__ = [
    "BestRowFit",
    "MembershipModel",
    "estimate_outside",
    "fit_membership",
    "inside_probability",
    "measure_fit",
    "outside_interval",
]

_EVIDENCE_RANGE = (-20.0, 40.0)
_RIDGE = 1.0  # keeps weights finite where stand-ins are told apart perfectly
_NEWTON_STEPS = 30
_LONGEST_STEP = 5.0
_CONVERGENCE = 1e-6
_CHI_SQUARE = 3.841  # 95% of χ² with one degree of freedom
_UNKNOWN_RATES = 1.5  # how much the variance grows because error rates are estimated too, about
_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class BestRowFit:
    """How well the best row of each class of people fits: ``disagrees`` from 0 to 1, known values that no row has
    (``unseen``), and what cannot be compared (``missing``), by attribute."""

    evidence: Floats
    disagrees: Floats
    unseen: Floats
    missing: Floats

    @property
    def features(self) -> Floats:
        """What the regression is told of each class of people."""
        value = np.clip(self.evidence, *_EVIDENCE_RANGE)[:, None] / 10
        return np.concatenate([np.ones_like(value), value, value**2, self.disagrees, self.unseen, self.missing], axis=1)


def measure_fit(file_pair: FilePair, rates: Floats, run: Run | None = None) -> BestRowFit:
    """Look for everybody, and compare what is known with the best row."""
    found = score_people(file_pair, choose_row_kinds(file_pair), "likelihood", rates, 0.0, run)
    people, shape = file_pair.people, (file_pair.people.n, file_pair.people.c)
    owner = np.repeat(np.arange(people.n), people.support)
    codes = file_pair.rows.codes_at(np.maximum(found.best, 0)[owner], people.attribute)
    at = file_pair.find_ranges(file_pair.value_places, codes)
    similarity = np.where(found.best[owner] >= 0, np.append(file_pair.alike.sim, 0.0)[at], 0.0)
    unseen = ~file_pair.has_agreeing_rows[file_pair.value_places]
    compared = unseen | (codes >= 0)
    arrays = np.zeros(shape), np.zeros(shape), np.ones(shape)
    for array, value in zip(arrays, (np.where(unseen, 0.0, 1 - similarity), unseen, ~compared), strict=True):
        array[owner, people.attribute] = value
    arrays[0][arrays[2] > 0] = 0.0
    return BestRowFit(found.evidence, *arrays)


@dataclass(frozen=True, eq=False)
class MembershipModel:
    """The weights of the regression, and how uncertain they are."""

    weights: Floats
    covariance: Floats

    def evidence(self, features: Floats) -> Floats:
        """How much likelier x is of someone inside than of someone outside, as a logarithm."""
        return np.asarray(np.clip(features @ self.weights, -_EVIDENCE_RANGE[1], _EVIDENCE_RANGE[1]))


def fit_membership(features: Floats, inside: Bools, counts: Floats, start: Floats | None = None) -> MembershipModel:
    """Fit the regression to stand-ins, each of which ``counts`` so much, by Newton's method."""
    scale = counts * len(counts)
    weights = np.zeros(features.shape[1]) if start is None else start.copy()
    ridge = np.full(len(weights), _RIDGE)
    ridge[0] = _CONVERGENCE
    for _ in range(_NEWTON_STEPS):
        chance = inside_probability(np.clip(features @ weights, -30, 30), 0.5)
        slope = features.T @ (scale * (inside - chance)) - ridge * weights
        curvature = (features.T * (scale * chance * (1 - chance))) @ features + np.diag(ridge)
        step = np.linalg.solve(curvature, slope)
        step *= min(1.0, _LONGEST_STEP / max(_CONVERGENCE, float(np.abs(step).max())))
        weights += step
        if np.abs(step).max() < _CONVERGENCE:
            break
    spread = (features.T * (scale * (inside - chance)) ** 2) @ features
    inverse = np.linalg.inv(curvature)
    return MembershipModel(weights, inverse @ spread @ inverse)


def inside_probability(evidence: Floats, outside: float) -> Floats:
    """The probability that somebody is in the release, if a share of the people is outside."""
    return np.asarray((1 - outside) / (1 - outside + outside * np.exp(-evidence)))


def estimate_outside(evidence: Floats, counts: Floats) -> float:
    """The likeliest share of people outside; its log-likelihood is concave, so its slope is halved in on."""
    ratio, low, high = np.exp(evidence), 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if counts @ ((1 - ratio) / ((1 - middle) * ratio + middle)) > 0:
            low = middle
        else:
            high = middle
    return low


def outside_interval(model: MembershipModel, features: Floats, counts: Floats, outside: float) -> tuple[float, float]:
    """The interval around the likeliest share of people outside."""
    ratio = np.exp(model.evidence(features))
    mixed = (1 - outside) * ratio + outside
    information = float(counts @ ((1 - ratio) / mixed) ** 2)
    pull = (counts * ratio / mixed**2) @ features
    wider = _UNKNOWN_RATES + float(pull @ model.covariance @ pull) / max(information, _CONVERGENCE)

    def is_near(share: float) -> bool:
        return bool(2 * (counts @ np.log(mixed / ((1 - share) * ratio + share))) <= _CHI_SQUARE * wider)

    return _last_near(is_near, outside, 0.0), _last_near(is_near, outside, 1.0)


def _last_near(is_near: Callable[[float], bool], start: float, end: float) -> float:
    """The share nearest to the end that is near enough."""
    if is_near(end):
        return end
    for _ in range(_HALVINGS):
        middle = (start + end) / 2
        start, end = (middle, end) if is_near(middle) else (start, middle)
    return start
