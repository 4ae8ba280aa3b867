"""Compiled: bit sets, 64 bits to a word."""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from unveil.compilation import helper

__all__ = ["bit_count", "has_bit", "lowest_bit"]


def _emit_bit_count(_context: Any, _x: Any) -> Any:
    """The number of set bits in a word. A single instruction, so the compiler can vectorise loops over it."""

    def emit_count(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), emit_count


bit_count: Any = intrinsic(_emit_bit_count)


@helper
def has_bit(words, place):
    """1 if the bit at a place is set, else 0."""
    return (words[place >> 6] >> np.uint64(place & 63)) & np.uint64(1)


@helper
def lowest_bit(x):
    """The position of the lowest set bit."""
    return np.int64(bit_count((x & (~x + np.uint64(1))) - np.uint64(1)))
