"""All truths at once: how far two matrices of probabilities disagree, whichever matching is the true one.

With D the difference of two doubly stochastic matrices, an estimate minus the marginals say, the error in the expected
cracks at the truth m is Σ_i D[i, m_i], a function of D alone.

- Its mean absolute value over all n! truths needs no list of them. The first rows of a truth take some set S of
  columns, the others the rest: for every S of half the size, |x + y| is summed over all pairs of an x from the first
  rows and a y from the others by sorting them, about 2ⁿ·(n/2)! numbers instead of n!.
- The worst truth is a heaviest assignment of D or of −D, found for any n.
- Rows and columns of D sum to 0, so that over all truths the error has mean 0 and variance ΣD²/(n − 1) (Hoeffding, *A
  combinatorial central limit theorem*, 1951). The mean absolute error is at most the root of that; and as ΣD² ≤ 2n,
  it is at most √(2n/(n − 1)), whatever the estimate.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
from scipy.optimize import linear_sum_assignment

from unveil.errors import UnveilError
from unveil.matching.candidates import Floats, Ints

__all__ = ["EXACT", "mean_error", "sampled_error", "worst_truth"]

EXACT = 12
_TOGETHER = 1 << 21


def mean_error(differences: Floats) -> Floats:
    """The mean of |Σ_i D[i, m_i]| over all n! truths m, for every matrix of a stack, of up to 12 rows each.

    >>> mean_error(np.array([[[0.25, -0.25], [-0.25, 0.25]]]))
    array([0.5])
    """
    n = differences.shape[-1]
    if n > EXACT:
        raise UnveilError(f"the mean over all truths is computed for up to {EXACT} entries; sample the truths")
    count = math.comb(n, n // 2) * (math.factorial(n // 2) + math.factorial(n - n // 2))
    parts = np.array_split(differences, max(1, len(differences) * count // _TOGETHER))
    return np.concatenate([_total(part) for part in parts]) / math.factorial(n)


def _total(differences: Floats) -> Floats:
    """Σ over all truths, for a stack that fits in memory."""
    first, rest = _halves(differences.shape[-1])
    half = first.shape[1]
    x = _sums(differences[:, :half], first)
    y = -_sums(differences[:, half:], rest)
    both = np.concatenate([x, y], axis=-1)
    order = both.argsort(axis=-1)
    gaps = np.diff(np.take_along_axis(both, order, axis=-1))
    left_x = (order < x.shape[-1]).cumsum(axis=-1)[..., :-1]
    left_y = np.arange(1, both.shape[-1]) - left_x
    across = left_x * (y.shape[-1] - left_y) + left_y * (x.shape[-1] - left_x)  # pairs that lie astride each gap
    total: Floats = (gaps * across).sum(axis=(-1, -2))
    return total


@lru_cache
def _halves(n: int) -> tuple[Ints, Ints]:
    """Every set of half the columns, a row each, and beside it the other columns."""
    sets = list(combinations(range(n), n // 2))
    rest = [[j for j in range(n) if j not in chosen] for chosen in sets]
    return np.array(sets, np.int64).reshape(len(sets), -1), np.array(rest, np.int64).reshape(len(sets), -1)


def _sums(rows: Floats, sets: Ints) -> Floats:
    """The sum of every way to give the rows the columns of a set: matrices by sets by ways."""
    ways = np.array(list(permutations(range(sets.shape[1]))), np.int64)
    found = np.zeros((len(rows), len(sets), len(ways)))
    for i in range(sets.shape[1]):
        found += rows[:, i][:, sets][..., ways[:, i]]
    return found


def worst_truth(difference: Floats) -> tuple[float, Ints]:
    """The sum Σ_i D[i, m_i] of the greatest absolute value, with its sign, and the truth m where it occurs.

    Of two that are equally far off, to twelve digits, the negative one, which understates.
    """
    found = []
    for most in (False, True):
        rows, truth = linear_sum_assignment(difference, maximize=most)
        found.append((float(difference[rows, truth].sum()), truth.astype(np.int64)))
    return max(found, key=lambda pair: round(abs(pair[0]), 12))


def sampled_error(difference: Floats, rng: np.random.Generator, draws: int = 10_000) -> tuple[float, float]:
    """An estimate of the mean of |Σ_i D[i, m_i]| from random truths, and its standard error."""
    n = len(difference)
    truths = rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)
    errors = np.abs(difference[np.arange(n), truths].sum(axis=1))
    return float(errors.mean()), float(errors.std(ddof=1)) / math.sqrt(draws)
