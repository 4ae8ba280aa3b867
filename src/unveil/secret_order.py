"""Orders that nobody can replay, for protections: from a known seed anyone could compute what was done."""

from __future__ import annotations

import os

import numpy as np

from unveil.arrays import Bools, Ints

__all__ = ["secret_coins", "secret_generator", "secret_permutation"]


def secret_permutation(n: int) -> Ints:
    """0 … n − 1 in an order drawn from the operating system's randomness."""
    return np.argsort(np.frombuffer(os.urandom(8 * n), np.uint64))


def secret_coins(n: int) -> Bools:
    """Fair coins, drawn from the operating system's randomness."""
    return np.unpackbits(np.frombuffer(os.urandom(n // 8 + 1), np.uint8), count=n).astype(np.bool_)


def secret_generator() -> np.random.Generator:
    """A random generator seeded by the operating system. Its state is kept nowhere."""
    return np.random.default_rng(int.from_bytes(os.urandom(32)))
