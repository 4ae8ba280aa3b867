"""What is the best that a theorem promises? The choice of σ, given the sparsity function.

A theorem about finding the record can fail in two ways (Theorem 7 of Merener 2012, with its two errors separate). The
record named is not more than σ similar to the target, with probability n γ(σ)^m; or it is similar but a different
record, with probability f(σ). The first error grows with σ and the second falls, and any σ may be chosen.
:func:`best_bound` chooses the best one for a given m.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats
from unveil.errors import UnveilError
from unveil.linkage.theorems.exact_numbers import Number
from unveil.linkage.theorems.guarantees import Guarantee, guarantee_for_m
from unveil.linkage.theorems.statements import TheoremCase

__all__ = ["best_bound", "sparsity_steps"]

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
    sparsity: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    theorem: str = "8(a)",
    epsilon: Number = 0,
    kappa: Number | None = None,
    bound: Literal["safe", "printed"] = "safe",
    confidence: float = 1.0,
) -> Guarantee:
    """Theorem 7 with two errors, at the best σ: the largest value of 1 − n γ(σ)^m − f(σ), or 0 if that is negative.

    ``sparsity`` are points σ_k with upper limits f_k for f beyond σ_k. γ rises with σ and f falls in steps, so the best
    σ lies just above a step; because the theorem says Sim > σ, that is at the step itself, and it is found exactly.

    If f comes from a sample, pass upper limits. Because σ is chosen after seeing them, they must hold simultaneously,
    like a confidence band.

    >>> guarantee = best_bound(8619, 69, ([0.70, 0.73, 0.75], [0.145, 0.079, 0.063]))
    >>> guarantee.applied.sigma, round(guarantee.p, 4)
    (0.73, 0.8501)
    """
    first = TheoremCase(theorem, n, 0, epsilon, kappa, bound)
    sigma, f = (np.asarray(part, np.float64) for part in sparsity)
    if sigma.shape != f.shape or sigma.ndim != 1:
        raise UnveilError("every σ needs a share of records that have another one more similar")
    if not ((sigma >= 0) & (sigma <= 1) & (f >= 0) & (f <= 1)).all():
        raise UnveilError("similarities and shares of records must lie between 0 and 1")
    width, power = float(first.sigma_limit), m - first.certain_attributes
    sigma, f = (np.append(start, part[sigma < width]) for start, part in ((0.0, sigma), (1.0, f)))
    gamma = 2 * sigma / (width + sigma)
    with np.errstate(divide="ignore"):
        log_missed = math.log(float(first.confusable_records)) + (
            power * np.log(gamma) if power else np.zeros_like(gamma)
        )
    value = 1 - np.exp(np.minimum(log_missed, 0.0)) - f
    near = np.flatnonzero(value >= value.max() - _TIE_TOLERANCE)[:_MAX_TIED]
    found = [guarantee_for_m(replace(first, sigma=float(sigma[k])), m, float(f[k]), confidence) for k in near]
    return max(found, key=lambda guarantee: guarantee.p)
