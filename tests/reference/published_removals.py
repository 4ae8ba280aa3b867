"""A published method that adds edges, as one that removes edges: it is given the complement of the graph.

M. Vanhoef, *Privacy in databases*, 2012, Algorithm 9.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unveil import Graph
from unveil.network.protections.published_probing import ProbedGraph
from unveil.release.graph import simple_graph

__all__ = ["complement_graph", "remove_edges_only"]


def remove_edges_only(graph: Graph, add_edges: Callable[[Graph], ProbedGraph]) -> ProbedGraph:
    """What a method that adds edges makes of the complement, and of that the complement (Algorithm 9.1)."""
    found = add_edges(complement_graph(graph))
    made = None if found.graph is None else complement_graph(found.graph)
    return ProbedGraph(made, found.probes, graph.nodes - 1 - found.nearest)


def complement_graph(graph: Graph) -> Graph:
    """The graph with an edge wherever this one has none."""
    is_edge = np.zeros((graph.nodes, graph.nodes), np.bool_)
    is_edge[np.repeat(np.arange(graph.nodes), graph.degrees), graph.neighbours] = True
    ends = np.argwhere(np.triu(~is_edge, 1)).astype(np.int32)
    return simple_graph(ends.reshape(-1), graph.labels, False, graph.name, None)
