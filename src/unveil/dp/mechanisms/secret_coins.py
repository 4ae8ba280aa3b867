"""Biased coins from the operating system's randomness, with probabilities that are exact.

A probability is a number of 2⁻⁶⁴ths, so a 64-bit random number below it decides. What it costs in ε is then a
logarithm of a ratio of integers, and nothing is rounded.
"""

from __future__ import annotations

import os
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np

from unveil.arrays import Bools
from unveil.errors import UnveilError

__all__ = ["COIN_PARTS", "flip_coins", "truth_parts"]

COIN_PARTS = 2**64
_DIGITS = Context(prec=60)


def flip_coins(parts: int, count: int) -> Bools:
    """Independent coins, each true with probability ``parts``/2⁶⁴, 0 ≤ parts < 2⁶⁴."""
    return np.frombuffer(os.urandom(8 * count), np.uint64) < np.uint64(parts)


def truth_parts(epsilon: Fraction, others: int) -> int:
    """The largest p, in 2⁻⁶⁴ths, with p/((1 − p)/others) ≤ e^ε.

    >>> from fractions import Fraction
    >>> truth_parts(Fraction("1.0986122886681098"), 1) / COIN_PARTS  # ε = ln 3
    0.75
    """
    growth = _DIGITS.exp(_DIGITS.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)))
    share = _DIGITS.divide(growth, _DIGITS.add(growth, Decimal(others)))
    parts = int(_DIGITS.multiply(share, Decimal(COIN_PARTS)).to_integral_value(ROUND_FLOOR))
    if parts >= COIN_PARTS - 1:
        raise UnveilError("epsilon is so large that every answer would be true")
    return parts
