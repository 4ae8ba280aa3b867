"""Small blocks, exactly: dynamic programming over sets of columns, all marginals at once.

Two passes of n·2ⁿ⁻¹ multiplications give the permanent and the probability of *every* edge. All terms are non-negative,
so nothing cancels. The result is exact up to rounding, unlike the alternating sums of Ryser and Glynn, which lose
digits as n grows.
"""

from __future__ import annotations

import math

import numpy as np

from unveil.arrays import Floats
from unveil.errors import UnveilError
from unveil.matching.scaling import normalise_matrix

__all__ = ["LARGEST_MATRIX", "matrix_marginals"]

LARGEST_MATRIX = 24
_SMALLEST_MATRIX = 4


def matrix_marginals(weights: Floats) -> tuple[float, Floats]:
    """ln permanent of a square matrix of up to 24 rows, and the probability of every edge in a random matching."""
    from unveil.matching._column_subsets import subset_marginals

    n = len(weights)
    if n > LARGEST_MATRIX:
        raise UnveilError(f"exact marginals of a matrix are only available for up to {LARGEST_MATRIX} entries")
    if n == 0:
        return 0.0, weights.copy()
    padded = np.eye(max(n, _SMALLEST_MATRIX))
    padded[:n, :n], factor = normalise_matrix(weights)
    total, edges = subset_marginals(padded)
    return math.log(total) + factor, edges[:n, :n] / total
