"""The compiled inner loops of ``subsets``. Only sums of products of non-negative numbers: nothing cancels."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.compiled import kernel

__all__ = [
    "subset_cracks",
    "subset_marginals",
]

_LOW = 4  # columns in the low bits of a set of columns: 16 sets lie side by side and are worked on as a vector
_WIDTH = 1 << _LOW


@kernel
def _popcount(x: Any) -> Any:
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@kernel
def subset_marginals(w: Any) -> Any:
    """The permanent of a square matrix of at least four rows, and the weight of all matchings through each edge.

    Dynamic programming over sets S of columns. ``before[S]`` is the weight of matching the first |S| rows onto S,
    ``after[S]`` that of matching the other rows onto the rest; an edge (i, j) carries
    Σ_{|S| = i, j ∉ S} before[S] · w[i, j] · after[S ∪ j]. The row that a set belongs to depends on its size, so the
    weights are laid out by the size of the high part and the low part itself (``weight``).
    """
    n = len(w)
    high = n - _LOW
    low_size = np.array([_popcount(low) for low in range(_WIDTH)])
    weight = np.zeros((high + 1, n, _WIDTH))  # weight[p, j, low] = w[p + |low|, j]
    for p in range(high + 1):
        for j in range(n):
            for low in range(_WIDTH):
                if p + low_size[low] < n:
                    weight[p, j, low] = w[p + low_size[low], j]
    before = np.zeros(1 << n)
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
                    total += block[low ^ (1 << j)] * w[p + low_size[low] - 1, j]
            block[low] = total
    after = np.zeros(1 << n)
    after[-1] = 1.0
    through = np.zeros((high + 1, n, _WIDTH))  # sums of before[S] · after[S ∪ j], laid out like the weights
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
            if p + low_size[low] < n:
                total = block[low]
                for j in range(_LOW):
                    if not low >> j & 1:
                        value = block[low | (1 << j)]
                        total += value * w[p + low_size[low], j]
                        through[p, j, low] += value * front[low]
                block[low] = total
    edges = np.zeros((n, n))
    for p in range(high + 1):
        for j in range(n):
            for low in range(_WIDTH):
                i = p + low_size[low]
                if i < n:
                    edges[i, j] += w[i, j] * through[p, j, low]
    return before[-1], edges


@kernel
def subset_cracks(w: Any, true: Any) -> Any:
    """The weight of all matchings with exactly 0, 1, … n true pairs, by the same sum over sets."""
    n = len(w)
    weight = np.zeros((1 << n, n + 1))
    weight[0, 0] = 1.0
    for chosen in range(1, 1 << n):
        i = _popcount(chosen) - 1
        for j in range(n):
            if chosen >> j & 1 and w[i, j] > 0:
                before = weight[chosen ^ (1 << j)]
                for cracks in range(i + 1):
                    weight[chosen, cracks + true[i, j]] += before[cracks] * w[i, j]
    return weight[-1].copy()
