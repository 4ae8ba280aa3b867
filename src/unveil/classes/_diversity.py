"""Compiled loops over classes, for what numpy has no word for. Pairs of class c lie at begins[c] … begins[c + 1]."""

# mypy: allow-untyped-defs
from __future__ import annotations

from unveil.compilation import kernel

__all__ = ["ordered_distance", "tree_distance"]


@kernel
def ordered_distance(begins, place, count, size, upto, area, found):
    """t with values on a line, neighbours equally far apart: the mean gap between the two rising sums.

    ``place`` is the place of a pair's value on the line, rising in each class, ``upto[i]`` the share of the table up to
    place i and ``area[i]`` the sum of ``upto`` before place i. Between two values of a class its own sum stands still,
    so that the gap is found by bisection.
    """
    m = len(upto)
    for c in range(len(size)):
        so_far, total, start = 0.0, 0.0, 0
        for p in range(begins[c], begins[c + 1] + 1):
            stop = place[p] if p < begins[c + 1] else m - 1  # the last place adds nothing: both sums are 1 there
            if stop > start:
                cross, last = start, stop
                while cross < last:
                    middle = (cross + last) >> 1
                    if upto[middle] < so_far:
                        cross = middle + 1
                    else:
                        last = middle
                total += so_far * (cross - start) - (area[cross] - area[start])
                total += area[stop] - area[cross] - so_far * (stop - cross)
            if p < begins[c + 1]:
                so_far += count[p] / size[c]
                start = max(start, stop)
        found[c] = total / (m - 1) if m > 1 else 0.0


@kernel
def tree_distance(begins, value, count, size, share, parents, levels, workspace, found):
    """t with values in a tree, as far apart as the level of their first common ancestor over the height.

    ``parents[l, v]`` is the node of value v at level l + 1. Mass moves as low as it can: at every node the lesser of
    what its children have too much and too little is moved, over that node's level. ``workspace`` is three numbers for
    each value.
    """
    height, m = parents.shape
    extra, above, below = workspace[0], workspace[1], workspace[2]
    for c in range(len(size)):
        for v in range(m):
            extra[v] = -share[v]
        for p in range(begins[c], begins[c + 1]):
            extra[value[p]] += count[p] / size[c]
        width, total = m, 0.0
        for level in range(height):
            for v in range(levels[level]):
                above[v] = below[v] = 0.0
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
