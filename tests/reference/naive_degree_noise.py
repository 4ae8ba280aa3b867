"""Sensitivities of degrees and triangles by looking at every small graph and every neighbour; isotonic regression by
its formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

__all__ = [
    "Graph",
    "all_graphs",
    "best_falling",
    "common_neighbours",
    "degrees_of",
    "edge_neighbours",
    "node_neighbours",
    "triangles_of",
]

Graph = tuple[int, frozenset[tuple[int, int]]]
"""A number of nodes and the edges, each as a pair in rising order."""


def all_graphs(nodes: int) -> Iterator[Graph]:
    """Every labelled graph on so many nodes."""
    pairs = list(combinations(range(nodes), 2))
    for chosen in range(2 ** len(pairs)):
        yield nodes, frozenset(pair for bit, pair in enumerate(pairs) if chosen >> bit & 1)


def edge_neighbours(graph: Graph, edges: int) -> Iterator[Graph]:
    """Graphs with up to so many edges more or less, and the one with a node more that has no edges."""
    nodes, present = graph
    for size in range(1, edges + 1):
        for changed in combinations(combinations(range(nodes), 2), size):
            yield nodes, present ^ frozenset(changed)
    yield nodes + 1, present


def node_neighbours(graph: Graph) -> Iterator[Graph]:
    """Graphs with one node more, joined to any of the others."""
    nodes, present = graph
    for chosen in range(2**nodes):
        yield nodes + 1, present | {(node, nodes) for node in range(nodes) if chosen >> node & 1}


def degrees_of(graph: Graph) -> list[int]:
    nodes, present = graph
    return [sum(node in edge for edge in present) for node in range(nodes)]


def common_neighbours(graph: Graph) -> int:
    """The most common neighbours of any two nodes."""
    nodes, present = graph

    def joined(u: int, v: int) -> bool:
        return (min(u, v), max(u, v)) in present

    return max(
        (
            sum(joined(u, w) and joined(v, w) for w in range(nodes) if w not in (u, v))
            for u, v in combinations(range(nodes), 2)
        ),
        default=0,
    )


def triangles_of(graph: Graph) -> int:
    nodes, present = graph
    return sum(all(pair in present for pair in combinations(three, 2)) for three in combinations(range(nodes), 3))


def best_falling(values: Sequence[int]) -> list[Fraction]:
    """xᵢ = min over starts s ≤ i of the max over ends e ≥ i of the mean of values s … e, for a falling sequence."""
    n = len(values)

    def mean(s: int, e: int) -> Fraction:
        return Fraction(sum(values[s : e + 1]), e - s + 1)

    return [min(max(mean(s, e) for e in range(i, n)) for s in range(i + 1)) for i in range(n)]
