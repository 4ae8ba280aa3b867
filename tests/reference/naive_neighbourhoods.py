"""The neighbourhoods of nodes, compared by networkx, each with each."""

from __future__ import annotations

import networkx as nx

from reference.naive_degree_anonymity import Edges

__all__ = ["count_alike", "have_same_neighbourhood"]


def have_same_neighbourhood(graph: nx.Graph, one: int, other: int) -> bool:
    first, second = (graph.subgraph(graph.neighbors(node)) for node in (one, other))
    return nx.faster_could_be_isomorphic(first, second) and nx.is_isomorphic(first, second)


def count_alike(edges: Edges, nodes: int) -> list[int]:
    """For each node, how many have the same neighbourhood, itself included."""
    graph = nx.empty_graph(nodes)
    graph.add_edges_from(edges)
    return [sum(have_same_neighbourhood(graph, one, other) for other in range(nodes)) for one in range(nodes)]
