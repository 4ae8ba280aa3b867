"""Compiled loops of the comparison of two graphs: nodes that join communities, and neighbours that two nodes share."""

# mypy: allow-untyped-defs
from __future__ import annotations

from unveil.compilation import helper, kernel

__all__ = ["count_shared_neighbours", "join_communities"]


@kernel
def join_communities(
    indptr, neighbours, weights, strengths, all_ends, order, first, last, waiting, communities, totals, links
):
    """Move those of the nodes ``order[first:last]`` that wait to the community where modularity gains most, and return
    how many have moved. Neighbours outside that community wait from then on.

    Node u gains, by joining community c, in units of 1 / ``all_ends``: its edges to c, times ``all_ends``, less its
    strength times that of c. ``totals`` are the strengths of communities. ``links`` is zero, and left so.
    """
    moved = 0
    for i in range(first, last):
        u = order[i]
        if not waiting[u]:
            continue
        waiting[u] = False
        own = communities[u]
        totals[own] -= strengths[u]
        for e in range(indptr[u], indptr[u + 1]):
            if neighbours[e] != u:
                links[communities[neighbours[e]]] += weights[e]
        best, most = own, links[own] * all_ends - totals[own] * strengths[u]
        for e in range(indptr[u], indptr[u + 1]):
            candidate = communities[neighbours[e]]
            gain = links[candidate] * all_ends - totals[candidate] * strengths[u]
            if gain > most:
                best, most = candidate, gain
        for e in range(indptr[u], indptr[u + 1]):
            links[communities[neighbours[e]]] = 0
        totals[best] += strengths[u]
        if best != own:
            communities[u] = best
            moved += 1
            for e in range(indptr[u], indptr[u + 1]):
                waiting[neighbours[e]] |= communities[neighbours[e]] != best
    return moved


@helper
def _has_neighbour(neighbours, low, high, wanted):
    """Whether a node is in a rising row."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if neighbours[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < end and neighbours[low] == wanted


@kernel
def count_shared_neighbours(indptr, neighbours, weights, sources, targets, first, last, counts, sums, are_edges):
    """For pairs ``first`` to ``last``, how many neighbours both nodes share, the sum of the weights of these, and
    whether both nodes are neighbours."""
    for pair in range(first, last):
        u, v = sources[pair], targets[pair]
        if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
            u, v = v, u
        are_edges[pair] = _has_neighbour(neighbours, indptr[u], indptr[u + 1], v)
        for e in range(indptr[u], indptr[u + 1]):
            if _has_neighbour(neighbours, indptr[v], indptr[v + 1], neighbours[e]):
                counts[pair] += 1
                sums[pair] += weights[neighbours[e]]
