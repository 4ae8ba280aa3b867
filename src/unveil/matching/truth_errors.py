"""All truths at once: how far two matrices of probabilities disagree, whichever matching is the true one.

Let D be the difference of two doubly stochastic matrices, such as an estimate minus the marginals. At the truth m, the
error in the expected cracks is Σ_i D[i, m_i], a function of D alone.

- Its mean absolute value over all n! truths does not require listing them. The first half of the rows takes some set S
  of columns, the other half takes the rest. For every S, sorting gives the sum of |x + y| over all pairs of an x from
  the first rows and a y from the others, with about 2ⁿ·(n/2)! numbers instead of n!.
- The worst truth is a heaviest assignment of D or of −D, for any n.
- Rows and columns of D sum to 0, so over all truths the error has mean 0 and variance ΣD²/(n − 1) (Hoeffding, *A
  combinatorial central limit theorem*, 1951). Its root bounds the mean absolute error; since ΣD² ≤ 2n, that is at most
  √(2n/(n − 1)), whatever the estimate.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
from scipy.optimize import linear_sum_assignment

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError

__all__ = ["MOST_EXACT_ENTRIES", "mean_absolute_error", "worst_truth"]

MOST_EXACT_ENTRIES = 12
_NUMBERS_AT_ONCE = 1 << 21


def mean_absolute_error(differences: Floats) -> Floats:
    """The mean of |Σ_i D[i, m_i]| over all n! truths m, for a stack of matrices of up to 12 rows each.

    >>> mean_absolute_error(np.array([[[0.25, -0.25], [-0.25, 0.25]]]))
    array([0.5])
    """
    n = differences.shape[-1]
    if n > MOST_EXACT_ENTRIES:
        raise UnveilError(
            f"the mean over all truths is only available for up to {MOST_EXACT_ENTRIES} entries; sample the truths"
        )
    count = math.comb(n, n // 2) * (math.factorial(n // 2) + math.factorial(n - n // 2))
    parts = np.array_split(differences, max(1, len(differences) * count // _NUMBERS_AT_ONCE))
    return np.concatenate([_total_absolute_error(part) for part in parts]) / math.factorial(n)


def _total_absolute_error(differences: Floats) -> Floats:
    """Σ over all truths, for a stack that fits in memory."""
    first, rest = _half_column_sets(differences.shape[-1])
    half = first.shape[1]
    x = _assignment_sums(differences[:, :half], first)
    y = -_assignment_sums(differences[:, half:], rest)
    both = np.concatenate([x, y], axis=-1)
    order = both.argsort(axis=-1)
    gaps = np.diff(np.take_along_axis(both, order, axis=-1))
    left_x = (order < x.shape[-1]).cumsum(axis=-1)[..., :-1]
    left_y = np.arange(1, both.shape[-1]) - left_x
    across = left_x * (y.shape[-1] - left_y) + left_y * (x.shape[-1] - left_x)  # pairs on both sides of each gap
    total: Floats = (gaps * across).sum(axis=(-1, -2))
    return total


@lru_cache
def _half_column_sets(n: int) -> tuple[Ints, Ints]:
    """Every set of half the columns, one per row, and the complementary sets."""
    sets = list(combinations(range(n), n // 2))
    rest = [[j for j in range(n) if j not in chosen] for chosen in sets]
    return np.array(sets, np.int64).reshape(len(sets), -1), np.array(rest, np.int64).reshape(len(sets), -1)


def _assignment_sums(rows: Floats, sets: Ints) -> Floats:
    """The sums of all assignments of a set's columns to the rows: matrices by sets by assignments."""
    ways = np.array(list(permutations(range(sets.shape[1]))), np.int64)
    found = np.zeros((len(rows), len(sets), len(ways)))
    for i in range(sets.shape[1]):
        found += rows[:, i][:, sets][..., ways[:, i]]
    return found


def worst_truth(difference: Floats) -> tuple[float, Ints]:
    """The sum Σ_i D[i, m_i] of greatest absolute value, with its sign, and the truth m at which it occurs.

    Of two errors that are equal to twelve decimals, the negative one, which understates.
    """
    found = []
    for most in (False, True):
        rows, truth = linear_sum_assignment(difference, maximize=most)
        found.append((float(difference[rows, truth].sum()), truth.astype(np.int64)))
    return max(found, key=lambda pair: round(abs(pair[0]), 12))
