"""Whole numbers from logarithms, without losing one to rounding.

A theorem says that m ≥ L attributes are enough, L = log(n/η)/log(1/γ), and m is whole. With rounded numbers L = 3 may
come out as 3 + 10⁻¹⁶, and one attribute more is asked for than needed; or 19.0004 is shown as 19, and one is missing.
So a number is taken as it is written (.1 is a tenth and not the binary fraction next to it), fractions as they are, and
logarithms have 60 digits: what is nearer than 10⁻⁴⁵ to a whole number is one, because n γ^m = η exactly. Probabilities
that are guaranteed are rounded down, so that asking for the m of a p that was given for an m gives that m again.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

from unveil.errors import UnveilError

__all__ = ["Number", "exact", "least_power", "precisely", "rounded_down", "rounded_up", "written"]

Number = int | float | Fraction

_DIGITS = 60
_SAME = Decimal("1e-45")


def precisely() -> AbstractContextManager[Context]:
    """Where decimal numbers have 60 digits."""
    return localcontext(Context(prec=_DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX))


def exact(x: Number) -> Decimal:
    """A number as it is written.

    >>> exact(0.1) == Decimal(1) / 10
    True
    """
    if isinstance(x, Fraction):
        return Decimal(x.numerator) / Decimal(x.denominator)
    return Decimal(int(x)) if isinstance(x, int | np.integer) else Decimal(repr(float(x)))


def written(x: Number) -> Fraction:
    """A similarity, a share or a rank as it is written.

    >>> written(0.8)
    Fraction(4, 5)
    """
    if isinstance(x, bool) or not 0 <= x <= 1:
        raise UnveilError("a similarity, a share or a rank lies between 0 and 1")
    return x if isinstance(x, Fraction) else Fraction(repr(float(x)))


def rounded_down(x: Decimal, strict: bool = False) -> float:
    """The largest number that, as it is written, is at most x; if ``strict``, below x by more than rounding unless that
    is 0.

    >>> with precisely():
    ...     rounded_down(1 - exact(Fraction(9, 5)) * exact(Fraction(1, 3)), strict=True)
    0.39999999999999997
    """
    found = float(x)
    while Decimal(repr(found)) > x or (strict and found > 0 and x - Decimal(repr(found)) <= _SAME):
        found = math.nextafter(found, -math.inf)
    return found


def rounded_up(x: Decimal) -> float:
    """The smallest number that, as it is written, is at least x."""
    return -rounded_down(-x)


def least_power(crowd: Decimal, eta: Decimal, gamma: Decimal, strict: bool = False) -> int:
    """The smallest whole e ≥ 0 with crowd · γ^e ≤ η; with < η if ``strict``.

    >>> with precisely():
    ...     [least_power(Decimal(8), Decimal(1), exact(Fraction(1, 2)), strict) for strict in (False, True)]
    [3, 4]
    """
    if crowd < eta or (crowd == eta and not strict):
        return 0
    if not gamma:
        return 1
    limit = (crowd / eta).ln() / -gamma.ln()
    whole = limit.to_integral_value()
    if abs(limit - whole) <= _SAME * max(Decimal(1), whole):
        return int(whole) + strict
    return int(limit.to_integral_value(ROUND_CEILING))
