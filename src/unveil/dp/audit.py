"""Does a mechanism keep its promise? A lower bound on ε from what it does on two neighbouring inputs.

If a mechanism is (ε, δ)-differentially private, then P(M(D) ∈ E) ≤ e^ε P(M(D′) ∈ E) + δ for every event E. So an event whose probability is at least
p on D and at most p′ on D′ proves that ε ≥ ln((p − δ)/p′). The audit runs the mechanism on both inputs, looks for a telling event in
one half of the runs, and tests that single event on the other half, with Clopper and Pearson's limits for the two
probabilities (in the manner of Jagielski, Ullman and Oprea 2020, and of Bichsel et al.'s DP-Sniper 2021). The bound is too high
with a probability of at most 1 − confidence, however the event was found. A low bound proves nothing: there may be an event that
was not looked for, or neighbours that were not tried.

Where it looks, if no events are given:

- *cells*: each number of an output is sorted into bins, and outputs with the same bins form a cell. Cells in which D is
  overrepresented are joined, the most telling ones first (Neyman and Pearson's test).
- *sums*: per number of an output, each bin's log-ratio between D and D′; the sum of an output's log-ratios is compared with thresholds. This
  finds leaks that are spread over many independent numbers.
- *last bits*: for floating-point numbers, whether they are multiples of 2⁻ᵏ. Naive noise betrays the true answer there (Mironov 2012).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Ints
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
class _Event:
    """A set of outputs: what it is called, and which outputs are in it."""

    name: str
    contains: Callable[[Floats], Bools]


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
    """The same for independent outputs that were already drawn on the two inputs, for mechanisms that draw many at once."""
    both = _as_rows(first), _as_rows(second)
    check_confidence(confidence)
    if not 0 <= delta < 1:
        raise UnveilError("delta must be at least 0 and below 1")
    if both[0].shape != both[1].shape or len(both[0]) < 4:
        raise UnveilError("an audit needs equally many outputs of both inputs, at least 4, of equal length")
    half = len(both[0]) // 2
    train, test = [rows[:half] for rows in both], [rows[half:] for rows in both]
    candidates = _given_events(events) if events is not None else _telling_events(train[0], train[1])
    best, swapped = _most_telling(candidates, train, confidence, delta)
    hits = [int(best.contains(rows).sum()) for rows in test]
    runs = len(test[0])
    high, low = (hits[1], hits[0]) if swapped else (hits[0], hits[1])
    bound = float(_loss_bound(np.array([high]), np.array([low]), runs, confidence, delta)[0])
    return PrivacyAudit(max(0.0, bound), best.name, (hits[0], hits[1]), runs, confidence)


def _as_rows(outputs: npt.ArrayLike) -> Floats:
    """One row of numbers for each output. Integers beyond 2⁵³ may fall together, which can only lower the bound."""
    rows = np.asarray(outputs, np.float64)
    return rows.reshape(len(rows), -1) if rows.ndim else rows.reshape(0, 0)


def _loss_bound(often: Ints, seldom: Ints, runs: int, confidence: float, delta: float) -> Floats:
    """ln((p − δ)/p′), with a lower limit for p and an upper limit for p′, each with half of the error probability; −∞ if
    p is not known to exceed δ."""
    from scipy.special import betaincinv

    error = (1 - confidence) / 2
    low = np.where(often > 0, betaincinv(np.maximum(often, 1), runs - often + 1, error), 0.0)
    high = np.where(seldom < runs, betaincinv(seldom + 1, np.maximum(runs - seldom, 1), 1 - error), 1.0)
    with np.errstate(divide="ignore"):
        bound: Floats = np.log(np.maximum(low - delta, 0.0)) - np.log(high)
    return bound


def _most_telling(
    events: Sequence[_Event], rows: Sequence[Floats], confidence: float, delta: float
) -> tuple[_Event, bool]:
    """The event with the highest bound in the training half, and whether it is likelier on the second input."""
    if not events:
        raise UnveilError("an audit needs at least one event")
    hits = np.array([[int(event.contains(part).sum()) for part in rows] for event in events], np.int64)
    runs = len(rows[0])
    forward = _loss_bound(hits[:, 0], hits[:, 1], runs, confidence, delta)
    backward = _loss_bound(hits[:, 1], hits[:, 0], runs, confidence, delta)
    best = int(np.argmax(np.maximum(forward, backward)))
    return events[best], bool(backward[best] > forward[best])


def _given_events(events: Sequence[Callable[[Floats], bool]]) -> list[_Event]:
    def over_rows(holds: Callable[[Floats], bool]) -> Callable[[Floats], Bools]:
        return lambda rows: np.fromiter((bool(holds(row)) for row in rows), np.bool_, len(rows))

    return [_Event(f"event {number}", over_rows(holds)) for number, holds in enumerate(events, 1)]


def _telling_events(first: Floats, second: Floats) -> list[_Event]:
    """Events that may tell the inputs apart, by the training half alone."""
    return [*_cell_events(first, second), *_sum_events(first, second), *_last_bit_events(first, second)]


def _bin_edges(first: Floats, second: Floats, bins: int) -> list[Floats]:
    """For each number of an output, where bins of about equal frequency end."""
    pooled = np.concatenate([first, second])
    shares = np.arange(1, bins) / bins
    return [np.unique(np.quantile(column, shares, method="inverted_cdf")) for column in pooled.T]


def _bin_rows(rows: Floats, edges: Sequence[Floats]) -> Ints:
    """The bin of each number. A value that is an edge has a bin with the values below it."""
    binned = [np.searchsorted(ends, column, side="left") for ends, column in zip(edges, rows.T, strict=True)]
    return np.array(binned, np.int64).T


def _cell_events(first: Floats, second: Floats) -> Iterator[_Event]:
    columns = first.shape[1]
    bins = max(2, min(_THRESHOLDS, int(len(first) ** (1 / (2 * columns)))))
    edges = _bin_edges(first, second, bins)
    if sum(len(ends) for ends in edges) > 62 and columns > 1:
        return  # too many cells to learn from, or to number
    sizes = np.array([len(ends) + 1 for ends in edges], np.int64)
    places = np.concatenate([[1], np.cumprod(sizes[:-1])])

    def cell(rows: Floats) -> Ints:
        numbers: Ints = _bin_rows(rows, edges) @ places
        return numbers

    cells, where = np.unique(np.concatenate([cell(first), cell(second)]), return_inverse=True)
    seen = [np.bincount(part, minlength=len(cells)) for part in np.split(where, [len(first)])]
    order = np.argsort((seen[1] + 0.5) / (seen[0] + 0.5), kind="stable")
    for size in np.unique(np.linspace(1, len(cells) - 1, _THRESHOLDS).astype(np.int64)) if len(cells) > 1 else ():
        for name, chosen in (("most", order[:size]), ("fewest", order[-size:])):
            members = cells[chosen]
            yield _Event(
                f"the {len(members)} cells with the {name} outputs of the first input",
                lambda rows, members=members: np.isin(cell(rows), members),  # type: ignore[misc]
            )


def _sum_events(first: Floats, second: Floats) -> Iterator[_Event]:
    edges = _bin_edges(first, second, max(2, min(_THRESHOLDS, int(len(first) ** 0.5) // 4)))
    tables = []
    for column, ends in enumerate(edges):
        seen = [
            np.bincount(np.searchsorted(ends, rows[:, column], side="left"), minlength=len(ends) + 1)
            for rows in (first, second)
        ]
        tables.append(np.log((seen[0] + 1) / (seen[1] + 1)))

    def score(rows: Floats) -> Floats:
        total = np.zeros(len(rows))
        for table, binned in zip(tables, _bin_rows(rows, edges).T, strict=True):
            total += table[binned]
        return total

    pooled = np.concatenate([score(first), score(second)])
    for threshold in np.unique(np.quantile(pooled, np.arange(1, _THRESHOLDS) / _THRESHOLDS)):
        yield _Event("a high sum of log-ratios", lambda rows, t=threshold: score(rows) >= t)  # type: ignore[misc]
        yield _Event("a low sum of log-ratios", lambda rows, t=threshold: score(rows) < t)  # type: ignore[misc]


def _last_bit_events(first: Floats, second: Floats) -> Iterator[_Event]:
    if all(np.array_equal(rows, np.rint(rows)) for rows in (first, second)):
        return
    for column in range(first.shape[1]):
        for bits in _LAST_BITS:

            def fine(rows: Floats, column: int = column, bits: int = bits) -> Bools:
                scaled = np.ldexp(rows[:, column], bits)
                return np.isfinite(scaled) & (scaled != np.rint(scaled))

            yield _Event(f"number {column + 1} is no multiple of 2 to the power of −{bits}", fine)
