"""The compiled inner loops of ``column_subsets``. All terms are non-negative, so nothing cancels."""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any

import numpy as np

from unveil.arrays import Floats
from unveil.compilation import kernel

__all__ = [
    "subset_cracks",
    "subset_marginals",
    "subset_permanent",
]


_LOW = 4  # columns in the low bits of a set: 16 sets are adjacent and form one vector
_WIDTH = 1 << _LOW


def subset_marginals(w: Floats) -> tuple[float, Floats]:
    """The permanent of a square matrix of at least four rows, and the weight of all matchings through each edge.

    ``before[S]`` is the weight of matching the first |S| rows onto a set S of columns, ``after[S]`` that of matching
    the last |S| rows onto S: the same sum for the rows in reverse order. An edge (i, j) carries
    Σ_{|S| = i, j ∉ S} before[S] · w[i, j] · after[(S ∪ j)ᶜ].
    """
    n = len(w)
    sizes, before, after = np.bitwise_count(np.arange(1 << (n - _LOW))), *np.zeros((2, 1 << n))
    row = np.arange(n - _LOW + 1)[:, None] + np.bitwise_count(np.arange(_WIDTH))
    through = np.zeros((n - _LOW + 1, n, _WIDTH))
    for rows, made in ((w, before), (w[::-1], after)):
        made[0] = 1.0
        weights = np.ascontiguousarray(np.vstack([np.zeros(n), rows])[row].transpose(0, 2, 1))
        _fill_subsets(weights, sizes, before, made, through, made is after)
    edges = np.zeros((n + 1, n))
    np.add.at(edges, row, (weights * through).transpose(0, 2, 1))
    return float(before[-1]), edges[:0:-1]


def subset_permanent(w: Any) -> Any:
    """The permanent of such a matrix alone; modulo 2⁶⁴ if its weights are unsigned whole numbers of 64 bits."""
    n = len(w)
    sizes, made = np.bitwise_count(np.arange(1 << (n - _LOW))), np.zeros(1 << n, w.dtype)
    made[0] = 1
    row = np.arange(n - _LOW + 1)[:, None] + np.bitwise_count(np.arange(_WIDTH))
    weights = np.ascontiguousarray(np.vstack([np.zeros(n, w.dtype), w])[row].transpose(0, 2, 1))
    _fill_subsets(weights, sizes, made, made, np.zeros((0, n, _WIDTH), w.dtype), False)
    return made[-1]


@kernel
def _fill_subsets(weights, sizes, before, made, through, back):
    """Fill ``made[S]``, the weight of matching the first |S| rows onto each set S of columns. It is 1 for the empty set
    and 0 for all others at first.

    The last row depends on the size of S, so the weights are laid out by the size of the high part of S and by its low
    part: ``weights[p, j, low]`` is that of row p + |low| − 1 and column j. If the rows are in reverse order (``back``),
    add the sums of made[S ∖ j] · before[Sᶜ] to ``through``, laid out likewise.
    """
    for top in range(len(sizes)):
        p, start = sizes[top], (len(sizes) - 1 - top) << _LOW
        block, rest = made[top << _LOW : (top + 1) << _LOW], before[start : start + _WIDTH]
        bits = top
        while bits:
            bit = bits & -bits
            bits ^= bit
            j, other = _LOW + sizes[bit - 1], made[(top ^ bit) << _LOW : ((top ^ bit) + 1) << _LOW]
            for low in range(_WIDTH):
                block[low] += other[low] * weights[p, j, low]
            if back:
                for low in range(_WIDTH):
                    through[p, j, low] += other[low] * rest[_WIDTH - 1 - low]
        for low in range(1, _WIDTH):
            total = block[low]
            for j in range(_LOW):
                if low >> j & 1:
                    value = block[low - (1 << j)]
                    total += value * weights[p, j, low]
                    if back:
                        through[p, j, low] += value * rest[_WIDTH - 1 - low]
            block[low] = total


def subset_cracks(w: Floats, true: Any) -> Floats:
    """The weight of all matchings with exactly 0, 1, … n true pairs, by the same sum over sets."""
    weight = np.zeros((1 << len(w), len(w) + 1))
    _fill_cracks(w, true, np.bitwise_count(np.arange(1 << len(w))), weight)
    cracks: Floats = weight[-1].copy()
    return cracks


@kernel
def _fill_cracks(w, true, sizes, weight):
    weight[0, 0] = 1.0
    for chosen in range(1, len(sizes)):
        i = sizes[chosen] - 1
        for j in range(len(w)):
            if chosen >> j & 1 and w[i, j] > 0:
                before = weight[chosen ^ (1 << j)]
                for cracks in range(i + 1):
                    weight[chosen, cracks + true[i, j]] += before[cracks] * w[i, j]
