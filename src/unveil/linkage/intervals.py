"""How sure? What is known of a share or a mean from some of all.

Draws are independent here. Where they are a sample without replacement, shares and means vary less than all of these
take for granted: intervals are too wide rather than too narrow.

- :func:`wilson` is where a share lies, by a normal approximation (Wilson, 1927). It serves for the mean of values
  between 0 and 1 too: of all distributions there with the same mean, that of 0 and 1 has the largest variance, so
  that for fractions it is wider than need be.
- :func:`highest` and :func:`lowest` are what a share is at most and at least, each by itself and by the binomial
  distribution (Clopper and Pearson, 1934). 0 of 400 is no 0, but at most .0075 with 95 % confidence.
- :func:`estimated` gives a mean with Wilson's interval and one that holds for any distribution on 0 … 1 and any number
  of values (Maurer and Pontil 2009, Theorem 4), and is wider.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError

__all__ = ["Estimate", "confident", "estimated", "highest", "lowest", "wilson"]


@dataclass(frozen=True)
class Estimate:
    """The mean of ``count`` values from 0 to 1, and two intervals for what it estimates: Wilson's, and one that is
    ``sure`` whatever the distribution. NaN if there is nothing to average."""

    value: float
    interval: tuple[float, float]
    sure: tuple[float, float]
    count: int


def confident(confidence: float) -> float:
    """A confidence that is one."""
    if not 0 < confidence < 1:
        raise UnveilError("a confidence lies between 0 and 1")
    return confidence


def wilson(count: float, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """Where a share lies of which ``count`` were found among ``of`` draws.

    >>> [round(x, 4) for x in wilson(58, 400)]
    [0.1139, 0.1829]
    """
    z = NormalDist().inv_cdf((1 + confident(confidence)) / 2)
    middle = (count + z * z / 2) / (of + z * z)
    half = z / (of + z * z) * sqrt(count * (of - count) / of + z * z / 4)
    return max(0.0, middle - half) if count else 0.0, min(1.0, middle + half) if count < of else 1.0


def highest(count: int, of: int, confidence: float = 0.95) -> float:
    """What a share is at most.

    >>> round(highest(0, 400), 5)
    0.00746
    """
    from scipy.special import betaincinv

    return float(betaincinv(count + 1, of - count, confident(confidence))) if count < of else 1.0


def lowest(count: int, of: int, confidence: float = 0.95) -> float:
    """What a share is at least."""
    return 1 - highest(of - count, of, confidence)


def estimated(values: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """The mean of values from 0 to 1, in whatever order they come.

    >>> found = estimated([1, 1, 0.5, 0, 1, 1, 1, 1, 1, 1])
    >>> found.value, [round(x, 3) for x in found.interval], [round(x, 3) for x in found.sure]
    (0.85, [0.541, 0.965], [0.0, 1.0])
    """
    ordered = np.sort(np.asarray(values, np.float64))  # so that sums do not depend on the order
    count, term = len(ordered), log(4 / (1 - confident(confidence)))
    if count == 0:
        return Estimate(float("nan"), (0.0, 1.0), (0.0, 1.0), 0)
    mean, sure = min(1.0, float(ordered.mean())), (0.0, 1.0)
    if count > 1:
        width = sqrt(2 * float(ordered.var(ddof=1)) * term / count) + 7 * term / (3 * (count - 1))
        sure = max(0.0, mean - width), min(1.0, mean + width)
    return Estimate(mean, wilson(mean * count, count, confidence), sure, count)
