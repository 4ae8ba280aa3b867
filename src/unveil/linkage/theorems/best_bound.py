"""What is the best that a theorem promises? The choice of σ, given the sparsity function.

A theorem about finding the record can fail in two ways (Theorem 7 of Merener 2012, with its two errors separate). The
record named is not more than σ similar to the target, with probability n γ(σ)^m; or it is similar but a different
record, with probability f(σ). The first error grows with σ and the second falls, and any σ may be chosen.
:func:`best_bound` chooses the best one for a given m, and :func:`smallest_m` finds the smallest m for a given
probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats
from unveil.errors import UnveilError
from unveil.linkage.theorems.exact_numbers import Number
from unveil.linkage.theorems.guarantees import Guarantee, guarantee_for_m
from unveil.linkage.theorems.statements import TheoremCase

__all__ = ["best_bound", "smallest_m", "sparsity_steps"]

SparsityInput = Callable[[float], float] | tuple[npt.ArrayLike, npt.ArrayLike]

_GRID_SIZE = 10_000  # points at which a sparsity function is evaluated, so that at most 1/10,000 is lost
_MAX_ATTRIBUTES = 1 << 30  # more attributes than anyone can know
_TIE_TOLERANCE = 1e-12
_MAX_TIED = 64  # points that look equally good and are compared exactly


def sparsity_steps(nearest: npt.ArrayLike) -> tuple[Floats, Floats]:
    """f from each record's greatest similarity to another: the σ at which f falls, and f just above each.

    >>> sparsity_steps([0.5, 0.2, 0.5, 1.0])
    (array([0. , 0.2, 0.5, 1. ]), array([1.  , 0.75, 0.25, 0.  ]))
    """
    own = np.asarray(nearest, np.float64)
    if not own.size or not ((own >= 0) & (own <= 1)).all():
        raise UnveilError("the sparsity function needs at least one record, and similarities from 0 to 1")
    sigma, counts = np.unique(np.append(0.0, own), return_counts=True)
    counts[0] -= 1
    return sigma, (own.size - np.cumsum(counts)) / own.size


def best_bound(
    n: int,
    m: int,
    sparsity: SparsityInput,
    *,
    theorem: str = "8(a)",
    epsilon: Number = 0,
    kappa: Number | None = None,
    bound: Literal["safe", "printed"] = "safe",
    confidence: float = 1.0,
) -> Guarantee:
    """Theorem 7 with two errors, at the best σ: the largest value of 1 − n γ(σ)^m − f(σ), or 0 if that is negative.

    ``sparsity`` is f, or points σ_k with upper limits f_k for f beyond σ_k. γ rises with σ and f falls in steps, so the
    best σ lies just above a step; because the theorem says Sim > σ, that is at the step itself, and it is found
    exactly. A function is evaluated where η is 0, 1/10,000, …; at most 1/10,000 is lost between two points.

    If f comes from a sample, pass upper limits. Because σ is chosen after seeing them, they must hold simultaneously,
    like a confidence band.

    >>> guarantee = best_bound(8619, 69, ([0.70, 0.73, 0.75], [0.145, 0.079, 0.063]))
    >>> guarantee.applied.sigma, round(guarantee.p, 4)
    (0.73, 0.8501)
    """
    first = TheoremCase(theorem, n, 0, epsilon, kappa, bound)
    sigma, f = _sigma_places(sparsity, first, m)
    width, power = float(first.sigma_limit), m - first.certain_attributes
    gamma = 2 * sigma / (width + sigma)
    with np.errstate(divide="ignore"):
        log_missed = math.log(float(first.confusable_records)) + (
            power * np.log(gamma) if power else np.zeros_like(gamma)
        )
    value = 1 - np.exp(np.minimum(log_missed, 0.0)) - f
    near = np.flatnonzero(value >= value.max() - _TIE_TOLERANCE)[:_MAX_TIED]
    found = [guarantee_for_m(replace(first, sigma=float(sigma[k])), m, float(f[k]), confidence) for k in near]
    return max(found, key=lambda guarantee: guarantee.p)


def smallest_m(
    n: int,
    p: Number,
    sparsity: SparsityInput,
    *,
    theorem: str = "8(a)",
    epsilon: Number = 0,
    kappa: Number | None = None,
    bound: Literal["safe", "printed"] = "safe",
    confidence: float = 1.0,
) -> Guarantee | None:
    """The smallest m with which :func:`best_bound` reaches p; None if there is none because f stays above 1 − p.

    >>> found = smallest_m(8619, 0.842, ([0.70, 0.73, 0.75], [0.145, 0.079, 0.063]))
    >>> found and (found.m, found.applied.sigma)
    (69, 0.73)
    """

    def best(m: int) -> Guarantee:
        return best_bound(
            n, m, sparsity, theorem=theorem, epsilon=epsilon, kappa=kappa, bound=bound, confidence=confidence
        )

    low, high, found = 0, 1, best(1)
    while found.p < p:
        if high >= _MAX_ATTRIBUTES:
            return None
        low, high = high, 2 * high
        found = best(high)
    while high - low > 1:
        middle = (low + high) // 2
        other = best(middle)
        low, high, found = (low, middle, other) if other.p >= p else (middle, high, found)
    return found


def _sigma_places(sparsity: SparsityInput, applied: TheoremCase, m: int) -> tuple[Floats, Floats]:
    """Points σ below w, including 0, and the upper limit of f beyond each."""
    width = float(applied.sigma_limit)
    if callable(sparsity):
        sigma = _even_sigmas(applied, m, width)
        f = np.array([float(sparsity(float(s))) for s in sigma])
    else:
        sigma, f = (np.asarray(part, np.float64) for part in sparsity)
    if sigma.shape != f.shape or sigma.ndim != 1:
        raise UnveilError("every σ needs a share of records that have another one more similar")
    if not ((sigma >= 0) & (sigma <= 1) & (f >= 0) & (f <= 1)).all():
        raise UnveilError("similarities and shares of records must lie between 0 and 1")
    kept = sigma < width
    return np.append(0.0, sigma[kept]), np.append(1.0, f[kept])


def _even_sigmas(applied: TheoremCase, m: int, width: float) -> Floats:
    """The σ at which η is 0, 1/10,000, … 1; evenly spaced if η does not depend on σ."""
    power = m - applied.certain_attributes
    part = np.arange(_GRID_SIZE) / _GRID_SIZE
    gamma = np.minimum((part / float(applied.confusable_records)) ** (1 / power), 1.0) if power else part
    return np.asarray(width * gamma / (2 - gamma))
