"""The risk of a row that stands for several people of a population, from sampling weights.

A survey gives every row a weight w: how many people of the population it stands for. Of the F people in the population
who look like a row, f are in the release. An attacker who does not know who is in the release finds the row's person
with probability 1/F. F is unknown; R. Benedetti and L. Franconi (Statistical and technological solutions for controlled
data dissemination, NTTS 1998) take it to be negative binomial given f, with p = f/Σw, Σw over the rows of the class::

    P(F = h | f) = C(h−1, f−1) p^f q^(h−f),  h ≥ f,  q = 1 − p

so that the row's risk is r = E[1/F | f] = (p/f) ₂F₁(1, 1; f+1; q). Integration by parts gives

    r_1 = (p/q) ln(1/p),   r_f = (p/q) (1/(f−1) − r_{f−1})

The recursion loses no digits where p ≤ q, and the hypergeometric series converges fast where q ≤ ½ or f is large. Only
the model is approximate: the result is an estimate.
"""

from __future__ import annotations

import numpy as np

from unveil.arrays import Floats, Int32s, Ints

__all__ = ["combine_household_risks", "household_members", "individual_risks"]

_SERIES_TERMS = 64
_SERIES_FROM = 30  # class size from which the series converges fast for every p


def individual_risks(size: Ints, weight: Floats) -> Floats:
    """E[1/F | f] for classes of ``size`` rows whose weights, none below 1, add up to ``weight``.

    >>> individual_risks(np.array([1, 2, 3]), np.array([5.0, 110.0, 3.0])).round(5).tolist()
    [0.40236, 0.01714, 0.33333]
    """
    f = size.astype(np.float64)
    p = np.minimum(f / weight, 1.0)
    q = 1.0 - p
    steps = (f < _SERIES_FROM) & (q > 0.5)
    risk: Floats = np.where(steps, 0.0, p / f * _series(f, q))
    risk[steps] = _recursion(size[steps], p[steps], q[steps])
    return risk


def _series(f: Floats, q: Floats) -> Floats:
    """₂F₁(1, 1; f+1; q) = Σ q^n n! f!/(f+n)!"""
    term, total = np.ones_like(f), np.ones_like(f)
    for n in range(1, _SERIES_TERMS + 1):
        term *= n * q / (f + n)
        total += term
    return total


def _recursion(size: Ints, p: Floats, q: Floats) -> Floats:
    odds = p / q
    risk: Floats = -odds * np.log(p)
    for f in range(2, int(size.max(initial=1)) + 1):
        more = size >= f
        risk[more] = odds[more] * (1 / (f - 1) - risk[more])
    return risk


def household_members(household: Int32s) -> Ints:
    """The household of every row, numbered from 0; a row without one is a household of its own.

    >>> household_members(np.array([1, -1, 1, -1, 0], np.int32)).tolist()
    [1, 2, 1, 3, 0]
    """
    alone = household < 0
    number = household.astype(np.int64)
    number[alone] = int(household.max(initial=-1)) + 1 + np.arange(int(alone.sum()))
    found: Ints = np.unique(number, return_inverse=True)[1]
    return found


def combine_household_risks(household: Ints, risk: Floats) -> tuple[Floats, Floats, Floats]:
    """The probability that at least one member of each household is found: the least and the most that it can be if
    members are found with these probabilities, max r and min(1, Σ r), and in between what it is if they are found
    independently, 1 − Π(1 − r)."""
    order = np.lexsort((risk, household))
    starts = np.flatnonzero(np.diff(household[order], prepend=-1))
    ordered = risk[order]
    least, total = np.maximum.reduceat(ordered, starts), np.add.reduceat(ordered, starts)
    most = np.minimum(total, 1.0)
    independent = 1.0 - np.multiply.reduceat(1.0 - ordered, starts)
    return least, np.clip(independent, least, most), most
