"""The compiled inner loops of ``subsets``. Only sums of products of non-negative numbers: nothing cancels."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.arrays import Floats
from unveil.compilation import helper, kernel

__all__ = [
    "subset_cracks",
    "subset_marginals",
]


_LOW = 4  # columns in the low bits of a set of columns: 16 sets lie side by side and are worked on as a vector
_WIDTH = 1 << _LOW
_LOW_SIZE = np.array([low.bit_count() for low in range(_WIDTH)])


@helper
def _popcount(x: Any) -> Any:
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


def subset_marginals(w: Floats) -> tuple[float, Floats]:
    """The permanent of a square matrix of at least four rows, and the weight of all matchings through each edge."""
    n, edges = len(w), np.zeros((len(w), len(w)))
    before, after = np.zeros((2, 1 << n))
    weight, through = np.zeros((2, n - _LOW + 1, n, _WIDTH))
    _fill_marginals(w, before, after, weight, through, edges)
    return float(before[-1]), edges


@kernel
def _fill_marginals(w: Any, before: Any, after: Any, weight: Any, through: Any, edges: Any) -> None:
    """Fill the weight of all matchings through each edge; the last of ``before`` is the permanent. All are 0 at first.

    Dynamic programming over sets S of columns. ``before[S]`` is the weight of matching the first |S| rows onto S,
    ``after[S]`` that of matching the other rows onto the rest; an edge (i, j) carries
    Σ_{|S| = i, j ∉ S} before[S] · w[i, j] · after[S ∪ j]. The row that a set belongs to depends on its size, so the
    weights are laid out by the size of the high part and the low part itself: ``weight[p, j, low]`` is
    w[p + |low|, j]. ``through`` are sums of before[S] · after[S ∪ j], laid out likewise.
    """
    n = len(w)
    high = n - _LOW
    for p in range(high + 1):
        for j in range(n):
            for low in range(_WIDTH):
                if p + _LOW_SIZE[low] < n:
                    weight[p, j, low] = w[p + _LOW_SIZE[low], j]
    before[0] = 1.0
    for top in range(1 << high):
        p = _popcount(top)
        block = before[top << _LOW : (top + 1) << _LOW]
        rest = top
        while rest:
            bit = rest & -rest
            rest ^= bit
            j = _LOW + _popcount(bit - 1)
            other = before[(top ^ bit) << _LOW : ((top ^ bit) + 1) << _LOW]
            row = weight[p - 1, j]
            for low in range(_WIDTH):
                block[low] += other[low] * row[low]
        for low in range(1, _WIDTH):
            total = block[low]
            for j in range(_LOW):
                if low >> j & 1:
                    total += block[low ^ (1 << j)] * w[p + _LOW_SIZE[low] - 1, j]
            block[low] = total
    after[-1] = 1.0
    everything = (1 << high) - 1
    for top in range((1 << high) - 1, -1, -1):
        p = _popcount(top)
        block = after[top << _LOW : (top + 1) << _LOW]
        front = before[top << _LOW : (top + 1) << _LOW]
        rest = everything ^ top
        while rest:
            bit = rest & -rest
            rest ^= bit
            j = _LOW + _popcount(bit - 1)
            other = after[(top | bit) << _LOW : ((top | bit) + 1) << _LOW]
            row = weight[p, j]
            sums = through[p, j]
            for low in range(_WIDTH):
                block[low] += other[low] * row[low]
                sums[low] += other[low] * front[low]
        for low in range(_WIDTH - 1, -1, -1):
            if p + _LOW_SIZE[low] < n:
                total = block[low]
                for j in range(_LOW):
                    if not low >> j & 1:
                        value = block[low | (1 << j)]
                        total += value * w[p + _LOW_SIZE[low], j]
                        through[p, j, low] += value * front[low]
                block[low] = total
    for p in range(high + 1):
        for j in range(n):
            for low in range(_WIDTH):
                i = p + _LOW_SIZE[low]
                if i < n:
                    edges[i, j] += w[i, j] * through[p, j, low]


def subset_cracks(w: Floats, true: Any) -> Floats:
    """The weight of all matchings with exactly 0, 1, … n true pairs, by the same sum over sets."""
    weight = np.zeros((1 << len(w), len(w) + 1))
    _fill_cracks(w, true, weight)
    cracks: Floats = weight[-1].copy()
    return cracks


@kernel
def _fill_cracks(w: Any, true: Any, weight: Any) -> None:
    n = len(w)
    weight[0, 0] = 1.0
    for chosen in range(1, 1 << n):
        i = _popcount(chosen) - 1
        for j in range(n):
            if chosen >> j & 1 and w[i, j] > 0:
                before = weight[chosen ^ (1 << j)]
                for cracks in range(i + 1):
                    weight[chosen, cracks + true[i, j]] += before[cracks] * w[i, j]
