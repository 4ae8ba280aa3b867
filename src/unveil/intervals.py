"""How certain is a share or a mean that was measured on a sample?

The formulas assume independent draws. A sample without replacement varies less, so the intervals are then too wide
rather than too narrow.

- :func:`wilson_interval` contains a share, by a normal approximation (Wilson, 1927). It also serves for the mean of
  values between 0 and 1: among all such distributions with the same mean, the one on {0, 1} has the largest variance,
  so the interval is wider than necessary for fractions.
- :func:`upper_bound` is a one-sided limit from the binomial distribution (Clopper and Pearson, 1934), and
  :func:`binomial_interval` is two-sided. 0 of 400 does not mean 0, but at most .0075 with 95% confidence.
- :func:`bounded_mean_interval` contains the mean of any distribution between two ends, for any number of values (Maurer
  and Pontil 2009, Theorem 4). :func:`estimate_mean` gives a mean with this interval and Wilson's.
- :func:`student_half_width` is how far a mean of few values may be off, by Student's t.
- :func:`normal_quantile` is how many standard errors a mean may be off, and :func:`normal_interval` contains the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats
from unveil.errors import UnveilError

__all__ = [
    "Estimate",
    "binomial_interval",
    "bounded_mean_interval",
    "check_confidence",
    "estimate_mean",
    "normal_interval",
    "normal_quantile",
    "student_half_width",
    "upper_bound",
    "wilson_interval",
]


@dataclass(frozen=True)
class Estimate:
    """The mean of ``count`` values from 0 to 1 with two intervals: Wilson's, and one that is ``sure`` for any
    distribution. NaN if there are no values."""

    value: float
    interval: tuple[float, float]
    sure: tuple[float, float]
    count: int


def check_confidence(confidence: float) -> float:
    """Return the confidence if it lies between 0 and 1, else refuse it."""
    if not 0 < confidence < 1:
        raise UnveilError("a confidence must lie between 0 and 1")
    return confidence


def wilson_interval(count: float, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval for a share, given that ``count`` of ``of`` draws had the property.

    >>> [round(x, 4) for x in wilson_interval(58, 400)]
    [0.1139, 0.1829]
    """
    z = NormalDist().inv_cdf((1 + check_confidence(confidence)) / 2)
    middle = (count + z * z / 2) / (of + z * z)
    half = z / (of + z * z) * sqrt(count * (of - count) / of + z * z / 4)
    return max(0.0, middle - half) if count else 0.0, min(1.0, middle + half) if count < of else 1.0


def upper_bound(count: int, of: int, confidence: float = 0.95) -> float:
    """Upper limit for the share.

    >>> round(upper_bound(0, 400), 5)
    0.00746
    """
    from scipy.special import betaincinv

    return float(betaincinv(count + 1, of - count, check_confidence(confidence))) if count < of else 1.0


def binomial_interval(fewest: int, most: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval for a share, given that at least ``fewest`` and at most ``most`` of ``of`` draws had the property.

    >>> [round(x, 4) for x in binomial_interval(58, 58, 400)]
    [0.112, 0.1834]
    """
    from scipy.special import betaincinv

    tail = (1 - check_confidence(confidence)) / 2
    low = float(betaincinv(fewest, of - fewest + 1, tail)) if fewest else 0.0
    return low, upper_bound(most, of, 1 - tail)


def normal_quantile(confidence: float = 0.95) -> float:
    """z: a normal value is at most so many standard deviations from its mean, with this confidence.

    >>> round(normal_quantile(), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(ndtri((1 + check_confidence(confidence)) / 2))


def normal_interval(mean: float, error: float, most: float, confidence: float = 0.95) -> tuple[float, float]:
    """Interval for a mean of values from 0 to ``most``, given its standard error."""
    width = normal_quantile(confidence) * error
    return max(0.0, mean - width), min(most, mean + width)


def student_half_width(values: Floats, confidence: float = 0.95) -> Floats:
    """How far the mean of at least 2 values, along the first axis, may be from that of all."""
    from scipy.special import stdtrit

    count = len(values)
    t = float(stdtrit(count - 1, (1 + check_confidence(confidence)) / 2))
    width: Floats = t * values.std(axis=0, ddof=1) / sqrt(count)
    return width


def bounded_mean_interval(
    values: Floats, mean: float, ends: Sequence[float] = (0.0, 1.0), confidence: float = 0.95
) -> tuple[float, float]:
    """Interval for the mean of a distribution between two ends, from at least 2 independent values."""
    count, term = len(values), log(4 / (1 - check_confidence(confidence)))
    width = sqrt(2 * float(values.var(ddof=1)) * term / count) + 7 * (ends[1] - ends[0]) * term / (3 * (count - 1))
    return max(ends[0], mean - width), min(ends[1], mean + width)


def estimate_mean(values: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Estimate the mean of values from 0 to 1; their order does not matter.

    >>> found = estimate_mean([1, 1, 0.5, 0, 1, 1, 1, 1, 1, 1])
    >>> found.value, [round(x, 3) for x in found.interval], [round(x, 3) for x in found.sure]
    (0.85, [0.541, 0.965], [0.0, 1.0])
    """
    ordered = np.sort(np.asarray(values, np.float64))  # sums then do not depend on the order
    count = len(ordered)
    check_confidence(confidence)
    if count == 0:
        return Estimate(float("nan"), (0.0, 1.0), (0.0, 1.0), 0)
    mean = min(1.0, float(ordered.mean()))
    sure = bounded_mean_interval(ordered, mean, confidence=confidence) if count > 1 else (0.0, 1.0)
    return Estimate(mean, wilson_interval(mean * count, count, confidence), sure, count)
