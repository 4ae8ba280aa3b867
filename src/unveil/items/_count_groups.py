"""Compiled: counts on a line, merged into groups with as little movement as possible."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import allocating_kernel

__all__ = ["gather_counts"]


@allocating_kernel
def gather_counts(values, weights, price):
    """The new value of every value, after merging neighbours into groups at a weighted median so that the total
    distance moved, plus a ``price`` per group, is least. ``values`` are ascending."""
    n = len(values)
    best, cut = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    best[0] = 0.0
    for i in range(n):
        if best[i] == np.inf:
            continue
        middle, left, right, moved = i, 0.0, 0.0, 0.0  # weights below and above the median, and the distance moved
        for j in range(i, n):
            right += weights[j] if j > middle else 0.0
            moved += weights[j] * (values[j] - values[middle])
            while left + weights[middle] < right:
                step = values[middle + 1] - values[middle]
                left += weights[middle]
                moved += step * (left - right)
                middle += 1
                right -= weights[middle]
            total = best[i] + moved + price
            if total < best[j + 1]:
                best[j + 1], cut[j + 1] = total, i
    new = np.empty(n)
    stop = n
    while stop > 0:
        start = cut[stop]
        half, middle = weights[start:stop].sum() / 2, start
        below = weights[start]
        while below < half:
            middle += 1
            below += weights[middle]
        new[start:stop] = values[middle]
        stop = start
    return new
