"""What is the best that a theorem promises? The choice of σ, where the sparsity function is known.

A theorem about finding the record errs in two ways (Theorem 7 of document 002, with its two errors apart): what is
named is not more than σ similar to the record, with probability n γ(σ)^m; or it is and still another, with probability
f(σ). The first grows with σ and the second falls, and any σ may be taken. :func:`best_bound` takes the best one for a
given m, and :func:`smallest_m` finds the smallest m for a given probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.theorems.guarantees import Guarantee, guaranteed
from unveil.linkage.theorems.statements import Setting
from unveil.linkage.theorems.whole import Number

__all__ = ["best_bound", "smallest_m", "steps"]

Floats = npt.NDArray[np.float64]
Sparsity = Callable[[float], float] | tuple[npt.ArrayLike, npt.ArrayLike]

_GRID = 10_000  # places at which a sparsity function is asked, so that 1/10,000 of the probability is lost at most
_FAR = 1 << 30  # more attributes than anyone knows
_NEAR = 1e-12
_TIED = 64  # places that look equally good and are compared exactly


def steps(nearest: npt.ArrayLike) -> tuple[Floats, Floats]:
    """f from each record's greatest similarity to another one: the σ at which it falls, and f just above each.

    >>> steps([0.5, 0.2, 0.5, 1.0])
    (array([0. , 0.2, 0.5, 1. ]), array([1.  , 0.75, 0.25, 0.  ]))
    """
    own = np.asarray(nearest, np.float64)
    if not own.size or not ((own >= 0) & (own <= 1)).all():
        raise UnveilError("the sparsity function needs a record at least, and similarities from 0 to 1")
    sigma, counts = np.unique(np.append(0.0, own), return_counts=True)
    counts[0] -= 1
    return sigma, (own.size - np.cumsum(counts)) / own.size


def best_bound(
    n: int,
    m: int,
    sparsity: Sparsity,
    *,
    theorem: str = "8(a)",
    epsilon: Number = 0,
    kappa: Number | None = None,
    bound: Literal["safe", "printed"] = "safe",
    confidence: float = 1.0,
) -> Guarantee:
    """Theorem 7 with two errors, at the best σ: the largest of 1 − n γ(σ)^m − f(σ), and 0 if that is negative.

    ``sparsity`` is f, or places σ_k with f_k, the most that f is beyond σ_k. γ rises with σ and f falls in steps, so
    the best σ lies just above a step, and with Sim > σ just above is at: it is found exactly. A function is asked where
    η is 0, 1/10,000, …: between two such places nothing better than by 1/10,000 is missed.

    Where f is known from a sample, pass upper limits of it. As σ is chosen after seeing them, they must hold all at
    once, as those of a confidence band do.

    >>> guarantee = best_bound(8619, 69, ([0.70, 0.73, 0.75], [0.145, 0.079, 0.063]))
    >>> guarantee.setting.sigma, round(guarantee.p, 4)
    (0.73, 0.8501)
    """
    first = Setting(theorem, n, 0, epsilon, kappa, bound)
    sigma, f = _places_of(sparsity, first, m)
    width, power = float(first.width), m - first.certain
    gamma = 2 * sigma / (width + sigma)
    with np.errstate(divide="ignore"):
        log_missed = math.log(float(first.crowd)) + (power * np.log(gamma) if power else np.zeros_like(gamma))
    value = 1 - np.exp(np.minimum(log_missed, 0.0)) - f
    near = np.flatnonzero(value >= value.max() - _NEAR)[:_TIED]
    found = [guaranteed(replace(first, sigma=float(sigma[k])), m, float(f[k]), confidence) for k in near]
    return max(found, key=lambda guarantee: guarantee.p)


def smallest_m(
    n: int,
    p: Number,
    sparsity: Sparsity,
    *,
    theorem: str = "8(a)",
    epsilon: Number = 0,
    kappa: Number | None = None,
    bound: Literal["safe", "printed"] = "safe",
    confidence: float = 1.0,
) -> Guarantee | None:
    """The smallest m with which :func:`best_bound` reaches p; None where none does, because f stays above 1 − p.

    >>> found = smallest_m(8619, 0.842, ([0.70, 0.73, 0.75], [0.145, 0.079, 0.063]))
    >>> found and (found.m, found.setting.sigma)
    (69, 0.73)
    """

    def best(m: int) -> Guarantee:
        return best_bound(
            n, m, sparsity, theorem=theorem, epsilon=epsilon, kappa=kappa, bound=bound, confidence=confidence
        )

    low, high, found = 0, 1, best(1)
    while found.p < p:
        if high >= _FAR:
            return None
        low, high = high, 2 * high
        found = best(high)
    while high - low > 1:
        middle = (low + high) // 2
        other = best(middle)
        low, high, found = (low, middle, other) if other.p >= p else (middle, high, found)
    return found


def _places_of(sparsity: Sparsity, setting: Setting, m: int) -> tuple[Floats, Floats]:
    """Places σ below w, 0 among them, and the most that f is beyond each."""
    width = float(setting.width)
    if callable(sparsity):
        sigma = _even(setting, m, width)
        f = np.array([float(sparsity(float(s))) for s in sigma])
    else:
        sigma, f = (np.asarray(part, np.float64) for part in sparsity)
    if sigma.shape != f.shape or sigma.ndim != 1:
        raise UnveilError("every σ needs its share of records that have another one more similar")
    if not ((sigma >= 0) & (sigma <= 1) & (f >= 0) & (f <= 1)).all():
        raise UnveilError("similarities and shares of records lie between 0 and 1")
    kept = sigma < width
    return np.append(0.0, sigma[kept]), np.append(1.0, f[kept])


def _even(setting: Setting, m: int, width: float) -> Floats:
    """The σ where η is 0, 1/10,000, … 1; those evenly spread where η does not depend on σ."""
    power = m - setting.certain
    part = np.arange(_GRID) / _GRID
    gamma = np.minimum((part / float(setting.crowd)) ** (1 / power), 1.0) if power else part
    return np.asarray(width * gamma / (2 - gamma))
