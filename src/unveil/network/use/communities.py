"""Groups of nodes that are connected with each other more than with the rest, and how far two such divisions agree.

**Modularity** of a division is the share of edges within groups, less the share that would be expected there if edges
joined their ends at random. *Louvain* looks for a division with much of it: each node in turn joins the group where
modularity gains most, until few still move; then groups become nodes, and all starts again (V. D. Blondel et al., Fast
unfolding of communities in large networks, J. Stat. Mech. P10008, 2008). Gains are compared as whole numbers.

The result depends on the order in which nodes move. So what a changed graph does to communities shows only beside how
far those agree that are found twice in the same graph.

**Agreement** of two divisions is the adjusted Rand index: of pairs of nodes, how often both divisions say alike
together or apart, scaled so that 1 is the same division and 0 what chance gives (L. Hubert, P. Arabie, Comparing
partitions, J. Classification 2, 1985). Directions of edges do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.arrays import Ints
from unveil.network.measures.graph_measures import undirected_graph
from unveil.network.use import _kernels
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.slices import chunks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["adjusted_rand_index", "find_communities", "modularity"]

_FEW = 100  # nodes to each one that may still want to move


def find_communities(graph: Graph, rng: np.random.Generator, run: Run | None = None) -> Ints:
    """The number of the community of each node.

    >>> two_triangles = Graph.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3], nodes=6)
    >>> find_communities(two_triangles, np.random.default_rng(0)).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    edges, of_node = _adjacency(undirected_graph(graph)), np.arange(graph.nodes)
    while True:
        found = _divide_once(edges, rng, run or Run())
        communities = int(found.max()) + 1
        of_node = found[of_node]
        if communities == edges.shape[0]:
            return _number_by_appearance(of_node)
        edges = _merge_nodes(edges, found, communities)


def _adjacency(graph: Graph) -> csr_array[Any]:
    from scipy.sparse import csr_array

    ones = np.ones(len(graph.neighbours), np.int64)
    return csr_array((ones, graph.neighbours, graph.indptr), shape=(graph.nodes, graph.nodes))


def _divide_once(edges: csr_array[Any], rng: np.random.Generator, run: Run) -> Ints:
    """Let every node join the best community until few still move; communities are numbered from 0 on."""
    nodes, strengths = edges.shape[0], np.asarray(edges.sum(axis=1), np.int64)
    graph = edges.indptr, edges.indices, edges.data, strengths, int(strengths.sum())
    order, found = rng.permutation(nodes), np.arange(nodes)
    waiting, totals, links = np.ones(nodes, np.bool_), strengths.copy(), np.zeros(nodes, np.int64)
    begins = np.append(0, np.cumsum(np.diff(edges.indptr)[order] + 1))
    while True:
        moved = 0
        for first, last in chunks(begins, run):
            moved += _kernels.join_communities(*graph, order, first, last, waiting, found, totals, links)
        if moved <= nodes // _FEW:
            return np.unique(found, return_inverse=True)[1]


def _merge_nodes(edges: csr_array[Any], found: Ints, communities: int) -> csr_array[Any]:
    """The graph between communities. Edges within one lie on the diagonal, each of them twice."""
    from scipy.sparse import csr_array

    nodes = len(found)
    member = csr_array((np.ones(nodes, np.int64), found, np.arange(nodes + 1)), shape=(nodes, communities))
    return csr_array(member.T @ edges @ member)


def _number_by_appearance(communities: Ints) -> Ints:
    first, inverse = np.unique(communities, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[inverse]


def modularity(graph: Graph, communities: Ints) -> float:
    """The share of edges within communities, less the share expected there; NaN without edges.

    >>> two_triangles = Graph.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3], nodes=6)
    >>> modularity(two_triangles, np.array([0, 0, 0, 1, 1, 1])) == 6 / 7 - 1 / 2
    True
    """
    whole = undirected_graph(graph)
    ends = len(whole.neighbours)
    if not ends:
        return float("nan")
    inside = communities[np.repeat(np.arange(whole.nodes), whole.degrees)] == communities[whole.neighbours]
    totals = np.bincount(communities, whole.degrees)
    return float(inside.sum() / ends - ((totals / ends) ** 2).sum())


def adjusted_rand_index(first: Ints, second: Ints) -> float:
    """How far two divisions of the same nodes agree: 1 if they are the same, 0 on average by chance.

    >>> adjusted_rand_index(np.array([0, 0, 1, 1]), np.array([5, 5, 3, 3]))
    1.0
    >>> round(adjusted_rand_index(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])), 4)
    0.5714
    """
    together, in_first, in_second = map(_pairs_together, (first * (int(second.max()) + 1) + second, first, second))
    pairs = len(first) * (len(first) - 1) // 2
    highest = (in_first + in_second) * pairs - 2 * in_first * in_second
    return 2 * (together * pairs - in_first * in_second) / highest if highest else 1.0


def _pairs_together(labels: Ints) -> int:
    """How many pairs of nodes have the same label."""
    sizes = np.unique(labels, return_counts=True)[1].astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())
