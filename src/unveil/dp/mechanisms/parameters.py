"""Which parameters does a mechanism accept? None that would silently give less privacy than was asked for.

All are public: an error about them says nothing about data. ε, ρ and confidence arrive as exact fractions, made from
the decimal that the owner typed, because 0.1 as a floating-point number is a little more than 1/10.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from fractions import Fraction
from numbers import Rational
from typing import Any

from unveil.errors import UnveilError
from unveil.intervals import check_confidence

__all__ = [
    "WIDEST_NOISE",
    "check_budget",
    "check_count",
    "check_delta",
    "check_integers",
    "check_sensitivity",
    "exact_confidence",
    "float_at_least",
    "round_up",
]

WIDEST_NOISE = 2**62
"""The largest scale and the largest sensitivity, so that OpenDP's 64-bit integers can hold them."""


def check_budget(budget: object, name: str = "epsilon") -> Fraction:
    """An amount of privacy loss, ε or ρ: an exact number above 0."""
    if isinstance(budget, float) and not math.isfinite(budget):
        raise UnveilError(f"{name} must be finite")
    if not isinstance(budget, Rational):
        raise UnveilError(f"{name} must be an exact number; write Fraction('0.1') instead of 0.1")
    if budget <= 0:
        raise UnveilError(f"{name} must be above 0")
    return Fraction(budget)


def check_delta(delta: object) -> Fraction:
    """The probability δ with which the promise of ε may fail: above 0 and below 1."""
    exact = check_budget(delta, "delta")
    if exact >= 1:
        raise UnveilError("delta must be below 1")
    return exact


def check_count(count: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """A whole number within limits."""
    try:
        number = operator.index(count)
    except TypeError:
        raise UnveilError(f"{name} must be a whole number") from None
    if number < least:
        raise UnveilError(f"{name} must be at least {least}")
    if most is not None and number > most:
        raise UnveilError(f"{name} must be at most {most:,}")
    return number


def check_sensitivity(sensitivity: Any) -> int:
    """By how much one person can change the answers in all: a whole number, 1 or more."""
    return check_count(sensitivity, "sensitivity", most=WIDEST_NOISE)


def check_integers(values: Iterable[Any], name: str = "answers") -> list[int]:
    """At least one true answer, each an integer of any size."""
    try:
        exact = [operator.index(value) for value in values]
    except TypeError:
        raise UnveilError(f"the {name} must be whole numbers; scale fractions to fixed point first") from None
    if not exact:
        raise UnveilError(f"there are no {name}")
    return exact


def exact_confidence(confidence: Fraction | float) -> Fraction:
    """The confidence as the decimal that was written.

    >>> exact_confidence(0.95)
    Fraction(19, 20)
    """
    return Fraction(str(check_confidence(confidence)))  # type: ignore[arg-type]


def float_at_least(exact: Fraction) -> float:
    """The smallest floating-point number that is not below an exact one.

    >>> float_at_least(Fraction(1, 10)) == 0.1, float_at_least(Fraction(1, 3)) == 1 / 3
    (True, False)
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def round_up(exact: Fraction, digits: int = 4) -> Fraction:
    """The next decimal with so many significant digits, so that people can read what they pay.

    >>> round_up(Fraction(1, 3)), round_up(Fraction(2)), round_up(Fraction(12345678))
    (Fraction(1667, 5000), Fraction(2, 1), Fraction(12350000, 1))
    """
    place = Fraction(10) ** (_leading_exponent(exact) - digits + 1)
    return math.ceil(exact / place) * place


def _leading_exponent(exact: Fraction) -> int:
    """e with 10^e ≤ exact < 10^(e+1)."""
    guess = len(str(exact.numerator)) - len(str(exact.denominator))
    return guess if Fraction(10) ** guess <= exact else guess - 1
