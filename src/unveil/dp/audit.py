"""Does a mechanism keep its promise? A lower bound on ε from what it does on two neighbouring inputs.

If a mechanism is (ε, δ)-differentially private, then P(M(D) ∈ E) ≤ e^ε P(M(D′) ∈ E) + δ for every event E. So an event
whose probability is at least p on D and at most p′ on D′ proves that ε ≥ ln((p − δ)/p′). The audit runs the mechanism
on both inputs, looks for a telling event in one half of the runs, and tests that single event on the other half, with
Clopper and Pearson's limits for the two probabilities (in the manner of Jagielski, Ullman and Oprea 2020, and of
Bichsel et al.'s DP-Sniper 2021). The bound is too high with a probability of at most 1 − confidence, however the event
was found. A low bound proves nothing: there may be an event that was not looked for, or neighbours that were not
tried.

Where it looks, if no events are given: whether one of these numbers, computed from an output, reaches a threshold.

- *The sum of log-ratios.* Each number of an output is sorted into bins, and each bin has a log-ratio: how much
  likelier it was on D than on D′ in the training half. For independent numbers, their sum is the most telling number
  of all (Neyman and Pearson).
- *The log-ratio of the cell.* Outputs whose numbers all have the same bins form a cell, which finds leaks in several
  numbers together. Outputs with so many numbers that each cell holds few are left to the sums.
- *The last bits* of floating-point numbers: whether they are multiples of 2⁻ᵏ. Naive noise betrays the true answer
  there (Mironov 2012).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.dp.mechanisms.parameters import check_count
from unveil.errors import UnveilError
from unveil.intervals import check_confidence

__all__ = ["PrivacyAudit", "audit", "audit_outputs"]

_THRESHOLDS = 200
_LAST_BITS = range(30, 70)


@dataclass(frozen=True)
class PrivacyAudit:
    """A lower bound on ε and the event that proves it: how often it occurred in the tested runs on either input."""

    epsilon: float
    event: str
    occurred: tuple[int, int]
    runs: int
    confidence: float


@dataclass(frozen=True)
class _Feature:
    """A number for each output. The events are that it reaches a threshold, and that it does not."""

    name: str
    value: Callable[[Floats], Floats]


class _Event(NamedTuple):
    """A feature that reaches a threshold, or does not, and the input on which the training half saw that more often."""

    feature: _Feature
    threshold: float
    reaches: bool
    likelier: int


def audit(
    mechanism: Callable[[int], Any],
    runs: int,
    confidence: float = 0.95,
    events: Sequence[Callable[[Floats], bool]] | None = None,
    delta: float = 0.0,
) -> PrivacyAudit:
    """Run ``mechanism`` so many times on each of two neighbouring inputs, 0 and 1, and bound its ε from below.

    An output is a number or a sequence of numbers of the same length each time.

    >>> audit(lambda neighbour: 0, 100).epsilon
    0.0
    """
    count = check_count(runs, "runs", least=4)
    outputs = [[mechanism(neighbour) for _ in range(count)] for neighbour in (0, 1)]
    return audit_outputs(outputs[0], outputs[1], confidence, events, delta)


def audit_outputs(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    confidence: float = 0.95,
    events: Sequence[Callable[[Floats], bool]] | None = None,
    delta: float = 0.0,
) -> PrivacyAudit:
    """The same for independent outputs that were already drawn on the two inputs, for mechanisms that draw many at
    once."""
    both = _as_rows(first), _as_rows(second)
    check_confidence(confidence)
    if not 0 <= delta < 1:
        raise UnveilError("delta must be at least 0 and below 1")
    if both[0].shape != both[1].shape or len(both[0]) < 4:
        raise UnveilError("an audit needs equally many outputs of both inputs, at least 4, of equal length")
    half = len(both[0]) // 2
    train, test = [rows[:half] for rows in both], [rows[half:] for rows in both]
    features = _given_features(events) if events is not None else _telling_features(train[0], train[1])
    event = _most_telling_event(features, train, confidence, delta)
    hits = [int(((event.feature.value(rows) >= event.threshold) == event.reaches).sum()) for rows in test]
    often, seldom = (np.array([hits[i]]) for i in (event.likelier, 1 - event.likelier))
    bound = float(_loss_bounds(often, seldom, len(test[0]), confidence, delta)[0])
    return PrivacyAudit(max(0.0, bound), event.feature.name, (hits[0], hits[1]), len(test[0]), confidence)


def _as_rows(outputs: npt.ArrayLike) -> Floats:
    """One row of numbers for each output. Integers beyond 2⁵³ may fall together, which can only lower the bound."""
    rows = np.asarray(outputs, np.float64)
    return rows.reshape(len(rows), -1) if rows.ndim else rows.reshape(0, 0)


def _loss_bounds(often: Ints, seldom: Ints, runs: int, confidence: float, delta: float) -> Floats:
    """ln((p − δ)/p′) for events that occurred so often on either input: a lower limit for p and an upper limit for p′,
    each with half of the error probability. −∞ if p is not known to exceed δ."""
    from scipy.special import betaincinv

    error = (1 - confidence) / 2
    low = np.where(often > 0, betaincinv(np.maximum(often, 1), runs - often + 1, error), 0.0)
    high = np.where(seldom < runs, betaincinv(seldom + 1, np.maximum(runs - seldom, 1), 1 - error), 1.0)
    with np.errstate(divide="ignore"):
        bounds: Floats = np.log(np.maximum(low - delta, 0.0)) - np.log(high)
    return bounds


def _most_telling_event(
    features: Sequence[_Feature], rows: Sequence[Floats], confidence: float, delta: float
) -> _Event:
    """The event with the highest bound in the training half. Both inputs are neighbours of each other, so either may
    be D."""
    if not features:
        raise UnveilError("an audit needs at least one event")
    runs, highest, best = len(rows[0]), -math.inf, _Event(features[0], 0.0, True, 0)
    for feature in features:
        values = [np.sort(feature.value(part)) for part in rows]
        shares = np.arange(1, _THRESHOLDS) / _THRESHOLDS
        ends = np.unique(np.quantile(np.concatenate(values), shares, method="inverted_cdf"))
        below = np.column_stack([np.searchsorted(part, ends, side="left") for part in values])
        for hits, reaches in ((runs - below, True), (below, False)):
            bounds = _loss_bounds(hits.max(axis=1), hits.min(axis=1), runs, confidence, delta)
            at = int(bounds.argmax())
            if bounds[at] > highest:
                highest, best = float(bounds[at]), _Event(feature, float(ends[at]), reaches, int(hits[at].argmax()))
    return best


def _given_features(events: Sequence[Callable[[Floats], bool]]) -> list[_Feature]:
    def as_numbers(holds: Callable[[Floats], bool]) -> Callable[[Floats], Floats]:
        return lambda rows: np.fromiter((float(holds(row)) for row in rows), np.float64, len(rows))

    return [_Feature(f"event {number}", as_numbers(holds)) for number, holds in enumerate(events, 1)]


def _telling_features(first: Floats, second: Floats) -> list[_Feature]:
    """Features that may tell the inputs apart, by the training half alone."""
    features = [_sum_feature(first, second)]
    if first.shape[1] > 1:
        features.append(_cell_feature(first, second))
    if not all(np.array_equal(rows, np.rint(rows)) for rows in (first, second)):
        features += [_last_bit_feature(column) for column in range(first.shape[1])]
    return features


def _bin_edges(first: Floats, second: Floats, bins: int) -> list[Floats]:
    """For each number of an output, where bins of about equal frequency end."""
    pooled = np.concatenate([first, second])
    shares = np.arange(1, bins) / bins
    return [np.unique(np.quantile(column, shares, method="inverted_cdf")) for column in pooled.T]


def _bin_rows(rows: Floats, edges: Sequence[Floats]) -> Ints:
    """The bin of each number. A value that is an edge has a bin with the values below it."""
    binned = [np.searchsorted(ends, column, side="left") for ends, column in zip(edges, rows.T, strict=True)]
    return np.array(binned, np.int64).T


def _log_ratios(first: Ints, second: Ints, size: int) -> Floats:
    """ln of how much likelier each code is on the first input, drawn towards 0 where few were seen."""
    seen = [np.bincount(codes, minlength=size) + 1.0 for codes in (first, second)]
    ratios: Floats = np.log(seen[0] / seen[1])
    return ratios


def _sum_feature(first: Floats, second: Floats) -> _Feature:
    edges = _bin_edges(first, second, min(_THRESHOLDS, max(2, len(first) // 100)))
    binned = _bin_rows(first, edges), _bin_rows(second, edges)
    tables = [_log_ratios(binned[0][:, i], binned[1][:, i], len(ends) + 1) for i, ends in enumerate(edges)]

    def score(rows: Floats) -> Floats:
        total = np.zeros(len(rows))
        for table, bins in zip(tables, _bin_rows(rows, edges).T, strict=True):
            total += table[bins]
        return total

    return _Feature("the sum of log-ratios", score)


def _cell_feature(first: Floats, second: Floats) -> _Feature:
    columns = first.shape[1]
    edges = _bin_edges(first, second, max(2, int(len(first) ** (1 / (2 * columns)))))
    sizes = [len(ends) + 1 for ends in edges]
    edges = edges if math.prod(sizes) <= len(first) else [ends[:0] for ends in edges]  # too many cells to learn from
    places = np.cumprod([1, *(len(ends) + 1 for ends in edges[:-1])])

    def cell(rows: Floats) -> Ints:
        codes: Ints = _bin_rows(rows, edges) @ places
        return codes

    ratios = _log_ratios(cell(first), cell(second), math.prod(len(ends) + 1 for ends in edges))
    return _Feature("the log-ratio of the cell", lambda rows: ratios[cell(rows)])


def _last_bit_feature(column: int) -> _Feature:
    """How many of the powers 2⁻ᵏ a number is no multiple of."""

    def fineness(rows: Floats) -> Floats:
        scaled = [np.ldexp(rows[:, column], bits) for bits in _LAST_BITS]
        count: Floats = np.sum([part != np.rint(part) for part in scaled], axis=0, dtype=np.float64)
        return count

    return _Feature(f"the last bits of number {column + 1}", fineness)
