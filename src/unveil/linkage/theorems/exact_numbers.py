"""Integers from logarithms, without losing one to rounding.

A theorem says that m ≥ L attributes suffice, L = log(n/η)/log(1/γ), for an integer m. With rounded numbers, L = 3 may
become 3 + 10⁻¹⁶, and one attribute too many is required; or 19.0004 is shown as 19, and one is missing. Numbers are
therefore taken as written (.1 is a tenth, not the nearest binary fraction), fractions as they are, and logarithms have
60 digits. A logarithm within 10⁻⁴⁵ of an integer counts as that integer, because then n γ^m = η exactly. Guaranteed
probabilities are rounded down, so that the p given for an m leads back to the same m.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

from unveil.errors import UnveilError

__all__ = [
    "Number",
    "exact_decimal",
    "high_precision",
    "round_down",
    "smallest_exponent",
    "written_fraction",
]

Number = int | float | Fraction

_PRECISION_DIGITS = 60
_EQUALITY_GAP = Decimal("1e-45")


def high_precision() -> AbstractContextManager[Context]:
    """A context in which decimal numbers have 60 digits."""
    return localcontext(Context(prec=_PRECISION_DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX))


def exact_decimal(x: Number) -> Decimal:
    """A number as written.

    >>> exact_decimal(0.1) == Decimal(1) / 10
    True
    """
    if isinstance(x, Fraction):
        return Decimal(x.numerator) / Decimal(x.denominator)
    return Decimal(int(x)) if isinstance(x, int | np.integer) else Decimal(repr(float(x)))


def written_fraction(x: Number) -> Fraction:
    """A similarity, share or rank as written.

    >>> written_fraction(0.8)
    Fraction(4, 5)
    """
    if isinstance(x, bool) or not 0 <= x <= 1:
        raise UnveilError("a similarity, share or rank must lie between 0 and 1")
    return x if isinstance(x, Fraction) else Fraction(repr(float(x)))


def round_down(x: Decimal, strict: bool = False) -> float:
    """The largest number that, as written, is at most x; if ``strict``, below x by more than rounding unless it is 0.

    >>> with high_precision():
    ...     round_down(1 - exact_decimal(Fraction(9, 5)) * exact_decimal(Fraction(1, 3)), strict=True)
    0.39999999999999997
    """
    found = float(x)
    while Decimal(repr(found)) > x or (strict and found > 0 and x - Decimal(repr(found)) <= _EQUALITY_GAP):
        found = math.nextafter(found, -math.inf)
    return found


def smallest_exponent(crowd: Decimal, eta: Decimal, gamma: Decimal, strict: bool = False) -> int:
    """The smallest integer e ≥ 0 with crowd · γ^e ≤ η, or < η if ``strict``.

    >>> with high_precision():
    ...     half = exact_decimal(Fraction(1, 2))
    ...     [smallest_exponent(Decimal(8), Decimal(1), half, strict) for strict in (False, True)]
    [3, 4]
    """
    if crowd < eta or (crowd == eta and not strict):
        return 0
    if not gamma:
        return 1
    limit = (crowd / eta).ln() / -gamma.ln()
    whole = limit.to_integral_value()
    if abs(limit - whole) <= _EQUALITY_GAP * max(Decimal(1), whole):
        return int(whole) + strict
    return int(limit.to_integral_value(ROUND_CEILING))
