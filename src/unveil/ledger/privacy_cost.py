"""What an answer costs, in exact numbers: ten times 0.1 is 1.

A floating-point budget is overdrawn or refused by rounding errors: ``0.1 + 0.2 > 0.3``. Costs are therefore fractions.
They are read from text (``"0.1"``, ``"1/3"``, ``"1e-6"``), because the number 0.1 of a program is already slightly more
than one tenth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from unveil.errors import UnveilError
from unveil.wording import number_text, safe_text

__all__ = ["UNITS", "PrivacyCost", "exact_number", "exact_text", "fraction_text"]

UNITS = {"epsilon": "ε", "rho": "ρ"}
"""What a privacy loss may be counted in, with its symbol: ε of differential privacy, or ρ of zero-concentrated
differential privacy."""

_NUMBER = re.compile(r"\d{1,40}(/0{0,9}[1-9]\d{0,39}|(\.\d{1,40})?([eE][+-]?\d{1,3})?)|\.\d{1,40}([eE][+-]?\d{1,3})?")
_MOST_DIGITS = 1000
_MOST_DECIMALS = 12


@dataclass(frozen=True)
class PrivacyCost:
    """A privacy loss, ε or ρ, with a probability δ that it is exceeded. Both are exact and add up.

    >>> sum((PrivacyCost.of("0.1") for _ in range(10)), PrivacyCost.of(0)) == PrivacyCost.of(1)
    True
    """

    loss: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name, number in (("loss", self.loss), ("δ", self.delta)):
            if type(number) is not Fraction:
                raise TypeError(f"the privacy {name} must be a Fraction; PrivacyCost.of makes one from text")
            if number < 0:
                raise UnveilError(f"the privacy {name} must not be negative")
            if len(fraction_text(number)) > _MOST_DIGITS:
                raise UnveilError(f"the privacy {name} has too many digits to be kept exactly; round it up")

    @classmethod
    def of(cls, loss: str | int | Fraction, delta: str | int | Fraction = 0) -> PrivacyCost:
        """A cost from numbers as people type them."""
        return cls(exact_number(loss), exact_number(delta))

    def __add__(self, other: PrivacyCost) -> PrivacyCost:
        return PrivacyCost(self.loss + other.loss, self.delta + other.delta)

    def __sub__(self, other: PrivacyCost) -> PrivacyCost:
        return PrivacyCost(self.loss - other.loss, self.delta - other.delta)

    def fits(self, left: PrivacyCost) -> bool:
        """Whether no more is spent than what is left."""
        return self.loss <= left.loss and self.delta <= left.delta

    def text(self, unit: str, with_delta: bool = False) -> str:
        """The cost in a sentence; δ is left out where it is 0, unless it is wanted.

        >>> PrivacyCost.of("0.5", "1e-6").text("epsilon"), PrivacyCost.of("1/3").text("rho")
        ('ε = 0.5 and δ = 0.000001', 'ρ = 1/3')
        """
        loss = f"{UNITS[unit]} = {exact_text(self.loss)}"
        return f"{loss} and δ = {exact_text(self.delta)}" if self.delta or with_delta else loss


def exact_number(given: str | int | Fraction) -> Fraction:
    """A number as it was typed, without rounding.

    >>> exact_number("0.1"), exact_number("1/3"), exact_number("1e-6")
    (Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000000))
    """
    if isinstance(given, Fraction) or type(given) is int:
        return Fraction(given)
    if not isinstance(given, str):
        raise TypeError("a privacy cost is made from text, a whole number or a Fraction; floating point is not exact")
    text = given.strip()
    if not (text.isascii() and _NUMBER.fullmatch(text)):
        raise UnveilError(f"{safe_text(text)!r} is not a privacy cost; write a number such as 0.1, 1/3 or 1e-6")
    return Fraction(text)


def exact_text(number: Fraction) -> str:
    """A number as people read it: exact where that is short, else rounded and marked as such.

    >>> exact_text(Fraction(1, 20)), exact_text(Fraction(3)), exact_text(Fraction(1, 3)), exact_text(Fraction(1, 7**20))
    ('0.05', '3', '1/3', 'about 1.253 × 10⁻¹⁷')
    """
    scaled = number * 10**_MOST_DECIMALS
    if scaled.denominator == 1:
        digits = f"{Decimal(scaled.numerator).scaleb(-_MOST_DECIMALS):,f}"
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    short = str(number)
    return short if len(short) <= _MOST_DECIMALS else f"about {number_text(float(number))}"


def fraction_text(number: Fraction) -> str:
    """A number as a ledger keeps it.

    >>> fraction_text(Fraction(1, 10)), fraction_text(Fraction(2))
    ('1/10', '2/1')
    """
    return f"{number.numerator}/{number.denominator}"
