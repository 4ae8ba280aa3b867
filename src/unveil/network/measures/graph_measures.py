"""What a graph looks like as a whole: how dense, how clustered, how far apart, how unequal.

Directions of edges play no part but in :mod:`unveil.network.measures.path_lengths`: a directed graph is measured as if
each edge went both ways.

**Clustering** is how likely two neighbours of a node know each other. With Δ(v) the triangles of node v, and
p(v) = d(v)(d(v) − 1)/2 the pairs of its neighbours, three averages are in use (Vanhoef, *Privacy in databases*, 2012,
equations 7.1 to 7.3, numbered so there):

- ``over_all``: the mean of Δ(v)/p(v) over all nodes, 0 where a node has fewer than two neighbours (7.1);
- ``of_pairs``: ΣΔ(v) / Σp(v), also called transitivity (7.2);
- ``over_pairs``: the mean over the nodes with at least two neighbours (7.3).

**Assortativity** is the correlation of the degrees at both ends of an edge (Newman, Phys. Rev. Lett. 89, 2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.arrays import Floats, Int32s, Ints
from unveil.network.measures import _kernels
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run

__all__ = [
    "Clustering",
    "SharedNeighbours",
    "assortativity",
    "component_sizes",
    "density",
    "local_clustering",
    "measure_clustering",
    "node_components",
    "shared_neighbours",
    "triangles_of_nodes",
    "undirected_graph",
]

_SLICE = 1 << 22  # edges between two looks at whether to stop


@dataclass(frozen=True)
class Clustering:
    """Three averages of how likely two neighbours know each other; NaN where there is nothing to average."""

    over_all: float
    of_pairs: float
    over_pairs: float


def undirected_graph(graph: Graph) -> Graph:
    """The same nodes, with each edge in both directions."""
    if not graph.directed:
        return graph
    sources, targets = edge_endpoints(graph)
    return Graph.from_edges(sources, targets, nodes=graph.nodes, name=graph.name)


def density(graph: Graph) -> float:
    """The share of all possible edges that are there; NaN for a single node."""
    pairs = graph.nodes * (graph.nodes - 1) // (1 if graph.directed else 2)
    return graph.edges / pairs if pairs else float("nan")


@dataclass(frozen=True, eq=False)
class SharedNeighbours:
    """Every edge once, from ``sources`` to ``targets``, and how many neighbours both ends share."""

    sources: Int32s
    targets: Int32s
    shared: Ints


def shared_neighbours(graph: Graph, run: Run | None = None) -> SharedNeighbours:
    """How many neighbours the ends of each edge share.

    Every edge is kept at the end with fewer neighbours, so that no node has more than √(2·edges) of them.
    """
    run, whole = run or Run(), undirected_graph(graph)
    sources = np.repeat(np.arange(whole.nodes, dtype=np.int32), whole.degrees)
    own, other = whole.degrees[sources], whole.degrees[whole.neighbours]
    kept = (own < other) | ((own == other) & (sources < whole.neighbours))
    sources, later = sources[kept], whole.neighbours[kept]
    begins = np.append(0, np.cumsum(np.bincount(sources, minlength=whole.nodes)))
    shared, mark = np.zeros(len(later), np.int64), np.full(whole.nodes, -1, np.int64)
    first = 0
    while first < whole.nodes:
        run.check()
        last = min(whole.nodes, max(first + 1, int(np.searchsorted(begins, begins[first] + _SLICE))))
        _kernels.count_shared_neighbours(begins, later, first, last, mark, shared)
        run.progress("counting triangles", last / whole.nodes)
        first = last
    return SharedNeighbours(sources, later, shared)


def triangles_of_nodes(graph: Graph, run: Run | None = None) -> Ints:
    """How many triangles each node is part of."""
    found = shared_neighbours(graph, run)
    counts = np.zeros(graph.nodes)
    for ends in (found.sources, found.targets):
        counts += np.bincount(ends, found.shared, minlength=graph.nodes)
    return (counts / 2).astype(np.int64)


def local_clustering(graph: Graph, run: Run | None = None) -> Floats:
    """For each node, the share of the pairs of its neighbours that know each other; NaN with fewer than two."""
    whole = undirected_graph(graph)
    pairs = whole.degrees * (whole.degrees - 1) / 2
    found: Floats = np.divide(triangles_of_nodes(whole, run), pairs, out=np.full(whole.nodes, np.nan), where=pairs > 0)
    return found


def measure_clustering(graph: Graph, run: Run | None = None) -> Clustering:
    """The three averages.

    >>> measure_clustering(Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], nodes=5))
    Clustering(over_all=0.4666666666666667, of_pairs=0.6, over_pairs=0.7777777777777778)
    """
    whole = undirected_graph(graph)
    local = local_clustering(whole, run)
    pairs = whole.degrees * (whole.degrees - 1) / 2
    there = local[~np.isnan(local)]
    triangles = float(np.nansum(local * pairs))
    return Clustering(
        float(there.sum() / whole.nodes),
        triangles / float(pairs.sum()) if pairs.sum() else float("nan"),
        float(there.mean()) if len(there) else float("nan"),
    )


def assortativity(graph: Graph) -> float:
    """The correlation of the degrees at both ends of an edge; NaN if all are the same."""
    whole = undirected_graph(graph)
    ends = np.repeat(np.arange(whole.nodes), whole.degrees)
    own, other = whole.degrees[ends].astype(np.float64), whole.degrees[whole.neighbours].astype(np.float64)
    if not len(own) or (own == own[0]).all():
        return float("nan")
    middle = own.mean()
    return float(((own - middle) * (other - middle)).sum() / ((own - middle) ** 2).sum())


def node_components(graph: Graph) -> Ints:
    """The number of the component of each node; directions do not count."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    edges = csr_array(
        (np.ones(len(graph.neighbours), np.int8), graph.neighbours, graph.indptr), shape=(graph.nodes, graph.nodes)
    )
    return np.asarray(connected_components(edges, directed=False)[1], np.int64)


def component_sizes(graph: Graph) -> Ints:
    """The sizes of the components, the largest first."""
    return np.sort(np.bincount(node_components(graph)))[::-1].astype(np.int64)
