"""Compiled loops over classes, for what numpy has no word for. Pairs of class c lie at begins[c] … begins[c + 1]."""

from __future__ import annotations

import numpy as np

from unveil.compiled import kernel


@kernel
def ordered_distance(begins, value, count, size, rank, upto, area):  # type: ignore[no-untyped-def]
    """t with values on a line, neighbours equally far apart: the mean gap between the two rising sums.

    ``rank`` is the place of a value in the order, ``upto[i]`` the share of the table up to place i and ``area[i]`` the
    sum of ``upto`` before place i. Between two values of a class its own sum stands still, so that the gap is found by
    bisection.
    """
    m = len(upto)
    found = np.empty(len(size))
    places, numbers = np.empty(0, np.int64), np.empty(0, np.int64)
    for c in range(len(size)):
        k = begins[c + 1] - begins[c]
        if k > len(places):
            places, numbers = np.empty(2 * k, np.int64), np.empty(2 * k, np.int64)
        for p in range(k):
            places[p] = rank[value[begins[c] + p]]
        order = np.argsort(places[:k])
        for p in range(k):
            numbers[p] = count[begins[c] + order[p]]
        so_far, total, start = 0.0, 0.0, 0
        for p in range(k + 1):
            stop = places[order[p]] if p < k else m - 1  # the last place adds nothing: both sums are 1 there
            if stop > start:
                cross = start + np.searchsorted(upto[start:stop], so_far)
                total += so_far * (cross - start) - (area[cross] - area[start])
                total += area[stop] - area[cross] - so_far * (stop - cross)
            if p < k:
                so_far += numbers[p] / size[c]
                start = max(start, stop)
        found[c] = total / (m - 1) if m > 1 else 0.0
    return found


@kernel
def tree_distance(begins, value, count, size, share, parents, levels):  # type: ignore[no-untyped-def]
    """t with values in a tree, as far apart as the level of their first common ancestor over the height.

    ``parents[l, v]`` is the node of value v at level l + 1. Mass moves as low as it can: at every node the lesser of
    what its children have too much and too little is moved, over that node's level.
    """
    height, m = parents.shape
    found = np.empty(len(size))
    extra, above, below = np.empty(m), np.empty(m), np.empty(m)
    node = np.empty(m, np.int64)
    for c in range(len(size)):
        for v in range(m):
            extra[v], node[v] = -share[v], v
        for p in range(begins[c], begins[c + 1]):
            extra[value[p]] += count[p] / size[c]
        width, total = m, 0.0
        for level in range(height):
            above[: levels[level]], below[: levels[level]] = 0.0, 0.0
            for v in range(width):
                up = parents[level, v]
                if extra[v] > 0:
                    above[up] += extra[v]
                else:
                    below[up] -= extra[v]
            width = levels[level]
            for v in range(width):
                total += min(above[v], below[v]) * (level + 1) / height
                extra[v] = above[v] - below[v]
        left = 0.0
        for v in range(width):
            left += max(0.0, extra[v])
        found[c] = total + left  # what has no common ancestor is moved over the whole height
    return found


@kernel
def recursive(begins, count, few):  # type: ignore[no-untyped-def]
    """Of every class: its largest count over the sum of all but the ``few`` − 1 largest; infinite if there are none."""
    found = np.empty(len(begins) - 1)
    for c in range(len(begins) - 1):
        ordered = np.sort(count[begins[c] : begins[c + 1]])[::-1]
        rest = ordered[few - 1 :].sum()
        found[c] = ordered[0] / rest if rest > 0 else np.inf
    return found
