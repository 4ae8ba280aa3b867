"""How many edges have to change at least?

**For any k-anonymous degrees.** An edge that is added or removed changes two degrees by one, so that ½·Σ|d̂ − d| edges
have to change, and no k-anonymous d̂ with an even sum is nearer than the one that dynamic programming finds (equation
9.1 of Vanhoef, *Privacy in databases*, 2012).

**For the degrees that were chosen.** Let N be what all over-full nodes have to lose and P what all under-full ones have
to gain. At every over-full node v, at least s(v) = d(v) − d̂(v) edges are removed. Let s(v) of them serve v. An edge
between two over-full nodes may serve both, and the edges that do so form a part of the graph in which no over-full
node v has more than s(v) edges; M_N is the most edges that such a part can have. Every other edge serves one node, so
that at least N − M_N edges are removed. In the same way at least P − M_P are added, where M_P is the size of the
largest part of the missing edges between under-full nodes. No edge is both removed and added, so that at least
(N − M_N) + (P − M_P) edges change.

M_N is the size of a maximum b-matching. Instead of searching for one, it is bounded: node v is in at most
c(v) = min(s(v), over-full neighbours of v) of these edges, so that M_N ≤ ⌊½·Σc(v)⌋, and the bound on changes becomes
smaller but stays one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import Ints
from unveil.network.protections import _edge_kernels
from unveil.network.protections.degree_sequences import anonymise_degrees
from unveil.release.graph import Graph

__all__ = ["ChangeBounds", "find_bounds"]


class ChangeBounds(NamedTuple):
    """Fewer edges cannot change: ½·L1 to the nearest k-anonymous degrees, and for the degrees that were chosen."""

    half_distance: int
    chosen_degrees: int


def find_bounds(graph: Graph, k: int, chosen: Ints, additions_only: bool) -> ChangeBounds:
    """The bounds for a graph that is made k-degree anonymous by giving it these degrees.

    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], nodes=5)
    >>> find_bounds(path, 3, np.array([2, 2, 2, 2, 2]), additions_only=True)
    ChangeBounds(half_distance=1, chosen_degrees=1)
    """
    nearest = anonymise_degrees(graph.degrees, k, None if additions_only else 1.0, even_sum=True)
    half = int(np.abs(nearest - graph.degrees).sum()) // 2
    lost, gained = np.maximum(graph.degrees - chosen, 0), np.maximum(chosen - graph.degrees, 0)
    over, under = _count_neighbours(graph, lost > 0), _count_neighbours(graph, gained > 0)
    strangers = (gained > 0).sum() - 1 - under  # counted for under-full nodes only
    return ChangeBounds(half, _least_changes(lost, over) + _least_changes(gained, strangers))


def _least_changes(units: Ints, partners: Ints) -> int:
    """So many edges serve these units at least, if each node can share at most one with each of its partners."""
    return int(units.sum() - np.minimum(units, partners).sum(where=units > 0) // 2)


def _count_neighbours(graph: Graph, is_counted: Ints) -> Ints:
    """For each node, how many of its neighbours are counted."""
    counts = np.zeros(graph.nodes, np.int64)
    values = is_counted.astype(np.int64)
    _edge_kernels.sum_over_neighbours(graph.indptr, graph.neighbours, values, counts)
    return counts
