"""Graphs with given degrees, as published: from nothing, and by adding edges to a graph.

Both algorithms pick a node that lacks neighbours, connect it with the nodes that lack most, as many as it lacks, and
never touch it again; until no node lacks anything. **ConstructGraph** begins without edges. It fails exactly if the
degrees are not realisable, whichever node is picked (Erdős and Gallai). A random pick makes an average graph, the
highest first a dense core, the lowest first a sparse one. **SuperGraph** begins with the edges of a graph and skips
neighbours. It may fail although a supergraph with these degrees exists, so it has three answers.

Algorithms: K. Liu, E. Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008; M. Vanhoef, *Privacy in
databases*, 2012, Algorithms 9.2 and 9.3. Two misprints are corrected. What a picked node lacks is set to 0 after it was
used, not before; and SuperGraph ranks nodes by what they lack, not by the degree that they shall have. Which of equal
nodes come first is not published; here an order that is drawn at the beginning decides.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from unveil.arrays import Ints
from unveil.network.protections.realisability import may_be_realised_on
from unveil.release.graph import Graph, edge_endpoints, simple_graph

__all__ = ["NoSupergraph", "Pivot", "build_supergraph", "construct_graph"]

Pivot = Literal["random", "highest", "lowest"]
"""Which of the nodes that lack neighbours is picked: any, or one that lacks most or least."""

NoSupergraph = Literal["No", "Unknown"]
"""Why there is no supergraph: none exists, or none was found."""


def construct_graph(degrees: Ints, rng: np.random.Generator, pivot: Pivot = "random") -> Graph | None:
    """A graph with these degrees; None if there is no such graph (Algorithm 9.2).

    >>> made = construct_graph(np.array([2, 2, 2, 1, 1]), np.random.default_rng(0))
    >>> made.degrees.tolist()
    [2, 2, 2, 1, 1]
    >>> construct_graph(np.array([3, 3, 1, 1]), np.random.default_rng(0)) is None
    True
    """
    if degrees.sum() % 2 or (degrees < 0).any():
        return None
    nodes, lacking = _sort_by_lack(degrees, rng)
    edges = _EdgeCollector()
    while len(nodes):
        place = _pick_place(len(nodes), pivot, rng)
        node, lacks = int(nodes[place]), int(lacking[place])
        nodes, lacking = np.delete(nodes, place), np.delete(lacking, place)
        if lacks > len(nodes):
            return None
        edges.connect(node, nodes[_decrease_highest(lacking, lacks)])
        done = int(np.searchsorted(lacking, 0, side="right"))
        nodes, lacking = nodes[done:], lacking[done:]
    return Graph.from_edges(*edges.endpoints(), nodes=len(degrees))


def _sort_by_lack(lacking: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The nodes that lack neighbours, those that lack least first, and what they lack; equal ones in random order."""
    nodes = rng.permutation(np.flatnonzero(lacking))
    nodes = nodes[np.argsort(lacking[nodes], kind="stable")]
    return nodes, lacking[nodes]


def _pick_place(count: int, pivot: Pivot, rng: np.random.Generator) -> int:
    if pivot == "random":
        return int(rng.integers(count))
    return count - 1 if pivot == "highest" else 0


def _decrease_highest(lacking: Ints, count: int) -> Ints:
    """Take 1 from the ``count`` highest of rising numbers, and say where they were.

    Of numbers equal to the lowest of these, the first ones are taken, so that the numbers still rise.
    """
    lowest = lacking[len(lacking) - count]
    begins, ends = np.searchsorted(lacking, [lowest, lowest + 1])
    equal = count - (len(lacking) - ends)
    places = np.append(np.arange(begins, begins + equal), np.arange(ends, len(lacking)))
    lacking[places] -= 1
    return places


class _EdgeCollector:
    """Edges from one node to several, one call after another."""

    def __init__(self) -> None:
        self._sources, self._targets = list[Ints](), list[Ints]()

    def connect(self, node: int, others: Ints) -> None:
        """Add an edge from a node to each of the others."""
        self._sources.append(np.full(len(others), node))
        self._targets.append(others)

    def endpoints(self) -> tuple[Ints, Ints]:
        """The sources and targets of all edges."""
        nothing = np.empty(0, np.int64)
        return np.concatenate([nothing, *self._sources]), np.concatenate([nothing, *self._targets])


def build_supergraph(
    graph: Graph, target: Ints, rng: np.random.Generator, pivot: Pivot = "random"
) -> Graph | NoSupergraph:
    """An undirected graph with edges added until every node has its target degree (Algorithm 9.3).

    "No" if the condition of Theorem 9.6 is violated, so that no supergraph has these degrees; "Unknown" if none was
    found, though there may be one.

    >>> square = Graph.from_edges([0, 0, 0, 1, 1], [1, 2, 3, 2, 3], nodes=5)
    >>> build_supergraph(square, square.degrees + [0, 1, 0, 0, 1], np.random.default_rng(0)).edges
    6
    >>> build_supergraph(square, square.degrees + [1, 1, 0, 0, 0], np.random.default_rng(0))
    'No'
    >>> build_supergraph(square, square.degrees + [1, 1, 2, 2, 2], np.random.default_rng(0))
    'Unknown'
    """
    if not may_be_realised_on(graph, target):
        return "No"
    nodes, lacking = _sort_by_lack(target - graph.degrees, rng)
    edges, is_excluded = _EdgeCollector(), np.zeros(graph.nodes, np.bool_)
    while len(nodes):
        place = _pick_place(len(nodes), pivot, rng)
        excluded = _closed_neighbours(graph, int(nodes[place]))
        is_excluded[excluded] = True
        free = np.flatnonzero(~is_excluded[nodes])
        is_excluded[excluded] = False
        if lacking[place] > len(free):
            return "Unknown"
        chosen = free[len(free) - lacking[place] :]
        edges.connect(int(nodes[place]), nodes[chosen])
        lacking[place] = 0
        lacking[chosen] -= 1
        order = np.argsort(lacking, kind="stable")
        order = order[np.searchsorted(lacking[order], 0, side="right") :]
        nodes, lacking = nodes[order], lacking[order]
    return _add_edges(graph, *edges.endpoints())


def _closed_neighbours(graph: Graph, node: int) -> Ints:
    """A node and its neighbours. Edges that were added need not be looked at: one of their ends lacks nothing more."""
    return np.append(graph.neighbours[graph.indptr[node] : graph.indptr[node + 1]], node).astype(np.int64)


def _add_edges(graph: Graph, sources: Ints, targets: Ints) -> Graph:
    present = edge_endpoints(graph)
    ends = [np.append(old, new) for old, new in zip(present, (sources, targets), strict=True)]
    return simple_graph(np.stack(ends, axis=1).astype(np.int32).reshape(-1), graph.labels, False, graph.name, None)
