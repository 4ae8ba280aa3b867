"""What follows from the theorems: the figures that document 002 takes from them.

Corollary 5 and Example 1 say how much an attacker learns who finds a similar record, §4.4 what a long tail is worth.
"""

from __future__ import annotations

from decimal import ROUND_CEILING

from unveil.linkage.theorems.guarantees import sufficient
from unveil.linkage.theorems.statements import Setting
from unveil.linkage.theorems.whole import Number, exact, precisely

__all__ = ["doubling_width", "halving_kappa", "learned"]


def learned(c: int, sigma: Number) -> int:
    """Corollary 5: where no value is null and c attributes are compared for equality, whoever finds a record σ similar
    learns ⌈σc⌉ values of the true one, those known before included.

    >>> learned(160, 0.35)
    56
    """
    with precisely():
        return int((c * exact(sigma)).to_integral_value(ROUND_CEILING))


def doubling_width(n: int, p: Number, sigma: Number) -> tuple[float, int]:
    """Example 1: how many attributes c there must be for Corollary 5 to double what the attacker knows: 2m ≤ σc. The
    real number for m = L, as printed, and the whole one for a whole m."""
    setting = Setting("4(1)", n, sigma)
    m = sufficient(setting, p).m
    with precisely():
        limit = 2 * setting.exact_limit(1 - exact(p)) / exact(sigma)
        return float(limit), int((2 * m / exact(sigma)).to_integral_value(ROUND_CEILING))


def halving_kappa(n: int, p: Number) -> float:
    """κ = √((1−p)/n), with which the L of a long tail is half of that without (§4.4); the safe m is one more."""
    with precisely():
        return float(((1 - exact(p)) / n).sqrt())
