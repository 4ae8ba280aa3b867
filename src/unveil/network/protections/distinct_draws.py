"""Draw different things at random: a subset of each of several ranges, and pairs of nodes by their number.

Every subset of the wanted size is equally likely. What is missing is drawn again until all draws are different; of a
range of which more than half is wanted, what stays out is drawn instead, so that every draw is a new one with a
probability of ½ or more.
"""

from __future__ import annotations

import numpy as np

from unveil.arrays import Ints

__all__ = ["draw_subsets", "pairs_by_rank"]


def draw_subsets(sizes: Ints, counts: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw ``counts[b]`` different numbers below ``sizes[b]`` for each b; return b and the number of each draw, in
    rising order.

    >>> ranges, numbers = draw_subsets(np.array([3, 2]), np.array([3, 0]), np.random.default_rng(0))
    >>> ranges.tolist(), numbers.tolist()
    ([0, 0, 0], [0, 1, 2])
    """
    begins = np.cumsum(sizes) - sizes
    turned = 2 * counts > sizes
    drawn = _draw_few(sizes, begins, np.where(turned, sizes - counts, counts), rng)
    ranges = np.searchsorted(begins, drawn, side="right") - 1
    some = np.flatnonzero(turned)
    whole = np.repeat(begins[some], sizes[some]) + _count_up(sizes[some])
    kept = np.setdiff1d(whole, drawn[turned[ranges]], assume_unique=True)
    drawn = np.sort(np.concatenate([drawn[~turned[ranges]], kept]))
    ranges = np.searchsorted(begins, drawn, side="right") - 1
    return ranges, drawn - begins[ranges]


def _draw_few(sizes: Ints, begins: Ints, counts: Ints, rng: np.random.Generator) -> Ints:
    """Numbers of all ranges, which follow each other, in rising order; half of each range at most."""
    drawn = np.empty(0, np.int64)
    missing = counts
    while missing.any():
        more = np.repeat(begins, missing) + rng.integers(0, np.repeat(sizes, missing))
        drawn = np.sort(np.concatenate([drawn, more]))
        drawn = drawn[np.diff(drawn, prepend=-1) > 0]
        ranges = np.searchsorted(begins, drawn, side="right") - 1
        missing = counts - np.bincount(ranges, minlength=len(sizes))
    return drawn


def _count_up(sizes: Ints) -> Ints:
    """0 … size − 1 for each size."""
    counted: Ints = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return counted


def pairs_by_rank(ranks: Ints) -> tuple[Ints, Ints]:
    """The lower and the higher number of pairs in the order (0, 1), (0, 2), (1, 2), (0, 3) …

    >>> [ends.tolist() for ends in pairs_by_rank(np.arange(6))]
    [[0, 0, 1, 0, 1, 2], [1, 2, 2, 3, 3, 3]]
    """
    high = ((1 + np.sqrt(8.0 * ranks + 1)) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > ranks  # the root may be rounded either way
    high += high * (high + 1) // 2 <= ranks
    return ranks - high * (high - 1) // 2, high
