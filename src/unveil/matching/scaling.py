"""Scaling rows and columns: the same matching problem with well-scaled weights.

Multiplying a row or a column by a positive factor multiplies the weight of every perfect matching by it and changes no
probability. :func:`dual_potentials` finds factors under which the heaviest matching weighs 1 and no edge weighs more
(the dual of the assignment problem), so nothing overflows and whatever underflows is negligible.
:func:`balance_weights` finds factors under which rows and columns have given sums (Sinkhorn and Knopp 1967); for a 0/1
matrix without useless edges the limit is its *flat matrix*.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from unveil.arrays import Floats, Ints

__all__ = ["balance_weights", "dual_potentials", "normalise_matrix", "scale_weights"]

_WIDEST_SPAN = 60.0  # in ln weight: 26 orders of magnitude
_MOST_ASSIGNED_ENTRIES = 2000


def dual_potentials(logs: Floats) -> tuple[Floats, Floats]:
    """Numbers u, v with ``logs[i, j] ≤ u[i] + v[j]``, equal along a heaviest perfect matching.

    ``logs`` holds the logarithms of the weights, −∞ where there is no edge; there must be a perfect matching.
    """
    n = len(logs)
    rows, match = linear_sum_assignment(np.where(np.isneginf(logs), np.inf, -logs))
    step = logs - logs[rows, match][:, None]  # what row i gains by moving to column j
    v = np.zeros(n)
    for _ in range(n):  # longest paths: no cycle gains, because the matching is heaviest
        longer = np.maximum(v, (v[match][:, None] + step).max(axis=0))
        if (longer <= v).all():
            break
        v = longer
    return logs[rows, match] - v[match], v


def normalise_matrix(weights: Floats) -> tuple[Floats, float]:
    """The matrix scaled so that the heaviest perfect matching weighs 1 and no edge more, and ln of the factor by which
    all matchings were divided."""
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    u, v = dual_potentials(logs)
    return np.exp(logs - u[:, None] - v), float(u.sum() + v.sum())


def scale_weights(a: Ints, b: Ints, weights: Floats, r: Ints, c: Ints) -> tuple[Floats, Floats, Floats]:
    """Log factors u, v for classes of r and groups of c twins, and the well-scaled weights.

    Weights of similar size are balanced. For a wider span, balancing takes too long and would drown the edges that
    matter; dual potentials, equal for twins, are used instead unless there are too many entries.
    """
    logs = np.log(weights)
    entries = int(r.sum())
    if float(np.ptp(logs)) <= _WIDEST_SPAN or entries > _MOST_ASSIGNED_ENTRIES:
        return balance_weights(a, b, weights, r, c, sweeps=200, tolerance=1e-6)
    small = np.full((len(r), len(c)), -np.inf)
    small[a, b] = logs
    of_entry, of_slot = np.repeat(np.arange(len(r)), r), np.repeat(np.arange(len(c)), c)
    u, v = dual_potentials(small[np.ix_(of_entry, of_slot)])
    of_class, of_group = -np.bincount(of_entry, u) / r, -np.bincount(of_slot, v) / c
    return of_class, of_group, np.exp(logs + of_class[a] + of_group[b])


def balance_weights(
    a: Ints, b: Ints, weights: Floats, r: Floats | Ints, c: Floats | Ints, sweeps: int = 1000, tolerance: float = 1e-12
) -> tuple[Floats, Floats, Floats]:
    """Log factors u, v and the scaled edge weights, which sum to r over classes and to c over groups.

    Works on logarithms, so no weight is too large or small. Stops at the tolerance or after ``sweeps`` sweeps.
    """
    logs = np.log(weights)
    log_r, log_c = np.log(r), np.log(c)
    u, v = np.zeros(len(r)), np.zeros(len(c))
    for _ in range(sweeps):
        u = log_r - _log_sums(a, logs + v[b], len(r))
        before = v
        v = log_c - _log_sums(b, logs + u[a], len(c))
        if np.abs(v - before).max(initial=0.0) < tolerance:
            break
    return u, v, np.exp(logs + u[a] + v[b])


def _log_sums(index: Ints, logs: Floats, count: int) -> Floats:
    """ln Σ exp over the edges with each index."""
    top = np.full(count, -np.inf)
    np.maximum.at(top, index, logs)
    sums: Floats = top + np.log(np.bincount(index, np.exp(logs - top[index]), count))
    return sums
