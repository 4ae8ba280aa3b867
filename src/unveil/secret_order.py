"""Orders that nobody can replay, for protections: from a known seed anyone could compute what was done."""

from __future__ import annotations

import os

import numpy as np

from unveil.arrays import Ints

__all__ = ["secret_permutation"]


def secret_permutation(n: int) -> Ints:
    """0 … n − 1 in an order drawn from the operating system's randomness."""
    return np.argsort(np.frombuffer(os.urandom(8 * n), np.uint64))
