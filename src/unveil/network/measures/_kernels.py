"""Compiled loops over graphs: shared neighbours, and distances from many nodes at once."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil._bits import bit_count, lowest_bit
from unveil.compilation import kernel

__all__ = ["count_shared_neighbours", "extend_paths"]


@kernel
def count_shared_neighbours(begins, later, first, last, mark, shared):
    """For each edge, add the triangles in which it lies and that begin at nodes ``first`` … ``last`` − 1.

    Of every edge, only the end that comes later in some order is in the list of the other; a triangle begins at the
    node that comes first. ``mark`` holds −1 or the place of an edge in ``later``.
    """
    for u in range(first, last):
        for i in range(begins[u], begins[u + 1]):
            mark[later[i]] = i
        for i in range(begins[u], begins[u + 1]):
            v = later[i]
            for j in range(begins[v], begins[v + 1]):
                across = mark[later[j]]
                if across >= begins[u]:
                    shared[i] += 1
                    shared[j] += 1
                    shared[across] += 1


@kernel
def extend_paths(indptr, sources_of, seen, frontier, following, totals):
    """One step of a search from 512 nodes at once: a bit for each of them says whether they reach a node.

    ``seen[v]`` are those that reach v so far and ``frontier[v]`` those that did so in the last step. ``following``
    becomes the next frontier. Returns how many pairs were new; ``totals[s]`` counts those of each source, unless it is
    empty.
    """
    new = 0
    full = ~np.uint64(0)
    for v in range(len(indptr) - 1):
        s0, s1, s2, s3, s4, s5, s6, s7 = (
            seen[v, 0], seen[v, 1], seen[v, 2], seen[v, 3], seen[v, 4], seen[v, 5], seen[v, 6], seen[v, 7],
        )  # fmt: skip
        a0, a1, a2, a3, a4, a5, a6, a7 = s0, s1, s2, s3, s4, s5, s6, s7
        at, end = indptr[v], indptr[v + 1]
        while at < end and a0 & a1 & a2 & a3 & a4 & a5 & a6 & a7 != full:
            some = min(at + 16, end)
            for i in range(at, some):
                u = sources_of[i]
                a0 |= frontier[u, 0]
                a1 |= frontier[u, 1]
                a2 |= frontier[u, 2]
                a3 |= frontier[u, 3]
                a4 |= frontier[u, 4]
                a5 |= frontier[u, 5]
                a6 |= frontier[u, 6]
                a7 |= frontier[u, 7]
            at = some
        following[v, 0] = a0 & ~s0
        following[v, 1] = a1 & ~s1
        following[v, 2] = a2 & ~s2
        following[v, 3] = a3 & ~s3
        following[v, 4] = a4 & ~s4
        following[v, 5] = a5 & ~s5
        following[v, 6] = a6 & ~s6
        following[v, 7] = a7 & ~s7
    for v in range(len(indptr) - 1):
        for k in range(8):
            word = following[v, k]
            if word:
                seen[v, k] |= word
                new += bit_count(word)
                if len(totals):
                    while word:
                        totals[64 * k + lowest_bit(word)] += 1
                        word &= word - np.uint64(1)
    return new
