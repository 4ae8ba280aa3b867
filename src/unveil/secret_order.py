"""Orders that nobody can replay, for protections: from a known seed anyone could compute what was done."""

from __future__ import annotations

import os

import numpy as np

from unveil.arrays import Bools, Ints

__all__ = ["secret_coins", "secret_permutation"]


def secret_permutation(n: int) -> Ints:
    """0 … n − 1 in an order drawn from the operating system's randomness."""
    return np.argsort(np.frombuffer(os.urandom(8 * n), np.uint64))


def secret_coins(n: int) -> Bools:
    """Fair coins, drawn from the operating system's randomness."""
    return np.unpackbits(np.frombuffer(os.urandom(n // 8 + 1), np.uint8), count=n).astype(np.bool_)
