"""The nodes of a graph in an order that does not depend on the order of a file."""

from __future__ import annotations

import numpy as np

from unveil.arrays import Ints
from unveil.release.graph import Graph, edge_endpoints

__all__ = ["shuffle_nodes", "sort_nodes", "sorted_places"]


def sort_nodes(graph: Graph) -> Graph:
    """The same graph with its nodes sorted by label, so that a random choice among them is the same whatever order the
    edges were read in."""
    return _reorder_nodes(graph, sorted_places(graph))


def shuffle_nodes(graph: Graph, rng: np.random.Generator) -> tuple[Graph, Ints]:
    """The same graph with its nodes in a random order, and the number that each of them had."""
    import pyarrow.compute as pc

    order = rng.permutation(pc.array_sort_indices(graph.labels).to_numpy()).astype(np.int64)
    place = np.empty(graph.nodes, np.int64)
    place[order] = np.arange(graph.nodes)
    return _reorder_nodes(graph, place), order


def _reorder_nodes(graph: Graph, place: Ints) -> Graph:
    sources, targets = edge_endpoints(graph)
    return Graph.from_edges(place[sources], place[targets], nodes=graph.nodes, directed=graph.directed, name=graph.name)


def sorted_places(graph: Graph) -> Ints:
    """The position of each node once nodes are sorted by label."""
    import pyarrow.compute as pc

    place = np.empty(graph.nodes, np.int64)
    place[pc.array_sort_indices(graph.labels).to_numpy()] = np.arange(graph.nodes)
    return place
