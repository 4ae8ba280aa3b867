"""Which degrees can a graph be given by adding edges only?

Degrees are *realisable subject to a graph* if a graph that contains all edges of this one has them. Let a(i) be what
node i still lacks, V_ℓ the ℓ nodes that lack most, and d_ℓ(i) the number of neighbours of i in V_ℓ. Then the sum of all
a(i) must be even, and for every ℓ,

    Σ_{i ∈ V_ℓ} a(i)  ≤  Σ_{i ∈ V_ℓ} (ℓ − 1 − d_ℓ(i)) + Σ_{i ∉ V_ℓ} min(ℓ − d_ℓ(i), a(i)):

what V_ℓ lacks fits on pairs that are no edges yet (K. Liu, E. Terzi, *Towards identity anonymization on graphs*, SIGMOD
2008; M. Vanhoef, *Privacy in databases*, 2012, Theorem 9.6). This is necessary, not sufficient.

The theorem leaves open who comes first among nodes that lack as much. Each order is necessary; the one used here, nodes
with more neighbours that lack something first, lets the fewest impossible cases pass: of the 109,760 on five nodes, 35,
and by the number of the node 2,022. It rejects a triangle and a node without edges where each node lacks one neighbour,
which passes if the single node comes first.
"""

from __future__ import annotations

import numpy as np

from unveil.arrays import Ints
from unveil.release.graph import Graph, edge_endpoints

__all__ = ["may_be_realised_on"]


def may_be_realised_on(graph: Graph, target: Ints) -> bool:
    """Whether the condition holds that a supergraph with these degrees must fulfil. If not, there is none.

    Once V_ℓ contains every node that lacks a neighbour, larger sets add nothing to the left side, so only those nodes
    are looked at. Nodes 2 and 3 of a square with one diagonal lack two neighbours each, as does the single node 4,
    which the ends of the diagonal need: that is impossible, but the condition holds.

    >>> square = Graph.from_edges([0, 0, 0, 1, 1], [1, 2, 3, 2, 3], nodes=5)
    >>> may_be_realised_on(square, square.degrees + [1, 1, 1, 1, 2])
    True
    >>> may_be_realised_on(square, square.degrees + [1, 1, 2, 2, 2])
    True
    >>> may_be_realised_on(square, square.degrees + [1, 1, 0, 0, 0])
    False
    """
    lacking = target - graph.degrees
    if lacking.min() < 0 or lacking.sum() % 2 or target.max() >= graph.nodes:
        return False
    order = _sort_by_lack(graph, lacking)
    rank = np.full(graph.nodes, len(order))
    rank[order] = np.arange(len(order))
    lacked = lacking[order]
    inside, wanted, free = np.zeros(len(order) + 1, np.int64), 0, 0
    for chosen, node in enumerate(order.tolist(), start=1):
        wanted += int(lacked[chosen - 1])
        free += 2 * (chosen - 1 - int(inside[chosen - 1]))  # pairs of this node with earlier ones, seen from both ends
        inside[rank[graph.neighbours[graph.indptr[node] : graph.indptr[node + 1]]]] += 1
        outside = np.minimum(chosen - inside[chosen:-1], lacked[chosen:])
        if wanted > free + int(outside.sum()):
            return False
    return True


def _sort_by_lack(graph: Graph, lacking: Ints) -> Ints:
    """The nodes that lack neighbours, those that lack most first; of equal ones, those with more such neighbours."""
    is_lacking = lacking > 0
    sources, targets = edge_endpoints(graph)
    both = is_lacking[sources] & is_lacking[targets]
    near = np.bincount(sources[both], minlength=graph.nodes) + np.bincount(targets[both], minlength=graph.nodes)
    nodes = np.flatnonzero(is_lacking)
    return nodes[np.lexsort((-near[nodes], -lacking[nodes]))]
