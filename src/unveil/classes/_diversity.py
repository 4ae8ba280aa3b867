"""Compiled loops over classes, for which numpy has no function. The pairs of class c are
``begins[c] … begins[c + 1]``."""

# mypy: allow-untyped-defs
from __future__ import annotations

from unveil.compilation import kernel

__all__ = ["ordered_distance", "tree_distance"]


@kernel
def ordered_distance(begins, place, count, size, upto, area, found):
    """t for values on a line with equally distant neighbours: the mean absolute difference between the cumulative
    distributions of the class and of the table.

    ``place`` is the position of a pair's value on the line, ascending within a class; ``upto[i]`` is the share of the
    table up to position i, and ``area[i]`` = ``upto[:i].sum()``. Between two values of a class its own distribution is
    constant, so bisection finds where the difference changes its sign.
    """
    m = len(upto)
    for c in range(len(size)):
        so_far, total, start = 0.0, 0.0, 0
        for p in range(begins[c], begins[c + 1] + 1):
            stop = (
                place[p] if p < begins[c + 1] else m - 1
            )  # the last position adds nothing: both distributions are 1 there
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
    """t for values in a tree, where the distance of two values is the level of their lowest common ancestor divided by
    the height.

    ``parents[l, v]`` is the parent, on level l + 1, of node v on level l. Mass moves on the lowest possible level: at
    every node, the smaller of its children's total surplus and total deficit moves, over the level of that node.
    ``workspace`` has three numbers for each value.
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
        found[c] = total + left  # mass without a common ancestor moves over the whole height
