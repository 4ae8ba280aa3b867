"""The nodes of a graph in an order that does not depend on the order of a file."""

from __future__ import annotations

import numpy as np

from unveil.arrays import Ints
from unveil.release.graph import Graph, edge_endpoints

__all__ = ["shuffle_nodes", "sort_nodes"]


def sort_nodes(graph: Graph) -> Graph:
    """The same graph with its nodes sorted by label, so that a random choice among them is the same whatever order the
    edges were read in."""
    import pyarrow.compute as pc

    return _reorder_nodes(graph, pc.array_sort_indices(graph.labels).to_numpy())


def shuffle_nodes(graph: Graph, rng: np.random.Generator) -> tuple[Graph, Ints]:
    """The same graph with its nodes in a random order, and the number that each of them had."""
    import pyarrow.compute as pc

    order = rng.permutation(pc.array_sort_indices(graph.labels).to_numpy()).astype(np.int64)
    return _reorder_nodes(graph, order), order


def _reorder_nodes(graph: Graph, order: Ints) -> Graph:
    place = np.empty(graph.nodes, np.int64)
    place[order] = np.arange(graph.nodes)
    sources, targets = edge_endpoints(graph)
    return Graph.from_edges(place[sources], place[targets], nodes=graph.nodes, directed=graph.directed, name=graph.name)
