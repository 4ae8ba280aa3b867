"""Do degrees follow a power law, and with which exponent?

A whole number x ≥ x_min follows a power law if p(x) = x^(−α) / ζ(α, x_min), with Hurwitz's ζ. The exponent is the one
under which the degrees are likeliest; x_min is given, or the one with the smallest Kolmogorov–Smirnov distance between
the degrees and the law (Clauset, Shalizi and Newman, Power-law distributions in empirical data, SIAM Review 51, 2009).
A small distance does not prove a power law: other laws may fit as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from unveil.arrays import Ints

__all__ = ["PowerLaw", "fit_power_law"]

_EXPONENTS = (1.0001, 20.0)
_MOST_STARTS = 200  # values of x_min that are tried


@dataclass(frozen=True)
class PowerLaw:
    """The exponent and its standard error, from which value on it was fitted, to how many values, and the largest
    difference between the shares of values and those of the law."""

    exponent: float
    error: float
    x_min: int
    values: int
    distance: float

    def share_from(self, x: int) -> float:
        """The share of values from ``x`` on, of those from ``x_min`` on, if the law holds."""
        from scipy.special import zeta

        return float(zeta(self.exponent, x) / zeta(self.exponent, self.x_min))


def fit_power_law(values: Ints, x_min: int | None = None) -> PowerLaw | None:
    """The power law that fits best; None if fewer than two different values are left, or if they fall
    off so steeply that no exponent up to 20 is the likeliest.

    >>> values = np.repeat([1, 2, 4, 8, 16], [512, 128, 32, 8, 2])
    >>> found = fit_power_law(values, x_min=1)
    >>> (found.values, round(found.exponent, 2))
    (682, 2.7)
    """
    kept = np.sort(values[values >= max(1, x_min or 1)])
    starts = [x_min] if x_min is not None else _candidate_starts(kept)
    fits = [fit for start in starts if (fit := _fit_from(kept, int(start))) is not None]
    return min(fits, key=lambda fit: (fit.distance, fit.x_min)) if fits else None


def _candidate_starts(values: Ints) -> list[int]:
    """Values from which on a law may be fitted: not so late that only a few are left."""
    found = np.unique(values)
    found = found[: max(1, len(found) - 1)]
    if len(found) > _MOST_STARTS:
        found = found[np.unique(np.linspace(0, len(found) - 1, _MOST_STARTS).astype(int))]
    return [int(x) for x in found]


def _fit_from(values: Ints, x_min: int) -> PowerLaw | None:
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    tail = values[np.searchsorted(values, x_min) :]
    if len(tail) < 2 or tail[0] == tail[-1]:
        return None
    logs = float(np.log(tail).sum())

    def unlikelihood(exponent: float) -> float:
        return len(tail) * float(np.log(zeta(exponent, x_min))) + exponent * logs

    exponent = float(minimize_scalar(unlikelihood, bounds=_EXPONENTS, method="bounded", options={"xatol": 1e-7}).x)
    if exponent > _EXPONENTS[1] - 0.001:
        return None
    points, counts = np.unique(tail, return_counts=True)
    shares = np.cumsum(counts) / len(tail)
    whole = float(zeta(exponent, x_min))
    law = 1 - zeta(exponent, points + 1) / whole
    before = 1 - zeta(exponent, points) / whole  # the law just below each value, against the share before it
    distance = max(float(np.abs(shares - law).max()), float(np.abs(np.append(0, shares[:-1]) - before).max()))
    return PowerLaw(exponent, _standard_error(exponent, x_min, len(tail)), x_min, len(tail), distance)


def _standard_error(exponent: float, x_min: int, values: int) -> float:
    """From the curvature of the likelihood, by differences."""
    from scipy.special import zeta

    step = 1e-3
    around = [float(np.log(zeta(exponent + k * step, x_min))) for k in (-1, 0, 1)]
    curvature = (around[0] - 2 * around[1] + around[2]) / step**2
    return 1 / sqrt(values * curvature) if curvature > 0 else float("nan")
