"""Corollaries: the figures that Merener (2012) derives from its theorems.

Corollary 5 and Example 1 say how much an attacker learns by finding a similar record, §4.4 what a long tail is worth.
"""

from __future__ import annotations

from decimal import ROUND_CEILING

from unveil.linkage.theorems.exact_numbers import Number, exact_decimal, high_precision
from unveil.linkage.theorems.guarantees import guarantee_for_p
from unveil.linkage.theorems.statements import TheoremCase

__all__ = ["doubling_width", "halving_kappa", "learned_values"]


def learned_values(c: int, sigma: Number) -> int:
    """Corollary 5: if no value is null and c attributes are compared for equality, finding a record that is σ similar
    reveals ⌈σc⌉ values of the true one, including those known before.

    >>> learned_values(160, 0.35)
    56
    """
    with high_precision():
        return int((c * exact_decimal(sigma)).to_integral_value(ROUND_CEILING))


def doubling_width(n: int, p: Number, sigma: Number) -> tuple[float, int]:
    """Example 1: the number of attributes c from which Corollary 5 doubles what the attacker knows, 2m ≤ σc. Returns
    the real number for m = L, as printed, and the integer for an integer m."""
    applied = TheoremCase("4(1)", n, sigma)
    m = guarantee_for_p(applied, p).m
    with high_precision():
        limit = 2 * applied.exact_limit(1 - exact_decimal(p)) / exact_decimal(sigma)
        return float(limit), int((2 * m / exact_decimal(sigma)).to_integral_value(ROUND_CEILING))


def halving_kappa(n: int, p: Number) -> float:
    """κ = √((1−p)/n), for which the L of a long tail is half of L without it (§4.4); the safe m is one more."""
    with high_precision():
        return float(((1 - exact_decimal(p)) / n).sqrt())
