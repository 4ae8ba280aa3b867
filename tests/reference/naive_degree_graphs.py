"""Graphs with given degrees by brute force: every graph, every set of new edges; for a handful of nodes.

A graph is the set of its edges, each the pair of its ends with the smaller first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

__all__ = ["all_graphs", "condition_holds", "degree_list", "graph_degrees", "supergraph_degrees"]

Edges = frozenset[tuple[int, int]]


def all_graphs(nodes: int) -> Iterator[Edges]:
    """Every graph with these nodes."""
    yield from _subsets(list(combinations(range(nodes), 2)))


def _subsets(pairs: list[tuple[int, int]]) -> Iterator[Edges]:
    for chosen in range(1 << len(pairs)):
        yield frozenset(pair for place, pair in enumerate(pairs) if chosen >> place & 1)


def degree_list(nodes: int, edges: Edges) -> tuple[int, ...]:
    """The degree of each node."""
    return tuple(sum(v in edge for edge in edges) for v in range(nodes))


def graph_degrees(nodes: int) -> set[tuple[int, ...]]:
    """All degrees that a graph with these nodes can have."""
    return {degree_list(nodes, edges) for edges in all_graphs(nodes)}


def supergraph_degrees(nodes: int, edges: Edges) -> set[tuple[int, ...]]:
    """All degrees that a graph with these edges and any others can have."""
    missing = [pair for pair in combinations(range(nodes), 2) if pair not in edges]
    return {degree_list(nodes, edges | more) for more in _subsets(missing)}


def condition_holds(nodes: int, edges: Edges, lacking: tuple[int, ...], order: list[int]) -> bool:
    """Theorem 9.6's inequality for every ℓ, with the nodes in this order, which must be that of falling lack."""
    for size in range(1, nodes):
        inside, outside = order[:size], order[size:]
        near = [sum((min(i, j), max(i, j)) in edges for j in inside) for i in range(nodes)]
        fits = sum(size - 1 - near[i] for i in inside) + sum(min(size - near[i], lacking[i]) for i in outside)
        if sum(lacking[i] for i in inside) > fits:
            return False
    return True
