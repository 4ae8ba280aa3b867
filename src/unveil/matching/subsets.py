"""Small blocks, exactly: dynamic programming over sets of columns, all marginals in one pass.

Two passes of n·2ⁿ⁻¹ multiplications give the permanent and the probability of *every* edge. All terms are
non-negative, so nothing cancels: the result is exact to rounding, unlike the alternating sums of Ryser and Glynn, which
lose digits as n grows.
"""

from __future__ import annotations

import math

import numpy as np

from unveil.errors import UnveilError
from unveil.matching.candidates import Floats
from unveil.matching.scaling import potentials

__all__ = ["LARGEST", "matrix_marginals"]

LARGEST = 24
_SMALLEST = 4


def matrix_marginals(weights: Floats) -> tuple[float, Floats]:
    """ln permanent of a square matrix of at most 24 rows, and the probability of every edge in a random matching."""
    from unveil.matching._subsets import subset_marginals

    n = len(weights)
    if n > LARGEST:
        raise UnveilError(f"this is computed for up to {LARGEST} entries")
    if n == 0:
        return 0.0, weights.copy()
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    u, v = potentials(logs)
    padded = np.eye(max(n, _SMALLEST))
    padded[:n, :n] = np.exp(logs - u[:, None] - v)
    total, edges = subset_marginals(padded)
    return math.log(total) + float(u.sum() + v.sum()), edges[:n, :n] / total
