"""A graph and what was released of it, with nodes in the same order, so that both can be compared.

Nodes of the original are sorted by label, and those of the release stand in the order of the originals that became
them; nodes that were added come last. Graphs that are the same up to names then look the same, and a measure that draws
at random draws the same in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from unveil.arrays import Bools, Ints
from unveil.network.edge_keys import edge_keys
from unveil.network.node_order import sorted_places
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run

__all__ = [
    "ComparedGraphs",
    "EdgeChanges",
    "are_among",
    "compare_edges",
    "compare_graphs",
    "compared_edge_keys",
    "measure_both",
]

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class ComparedGraphs:
    """``place[v]`` is what node ``v`` of the original became in the release; −1 if it was left out."""

    original: Graph
    released: Graph
    place: Ints

    @property
    def is_unchanged(self) -> bool:
        """Whether nothing but names differs."""
        return self.released.digest == self.original.digest

    @property
    def is_one_to_one(self) -> bool:
        """Whether no two nodes became one."""
        kept = self.place[self.place >= 0]
        return len(np.unique(kept)) == len(kept)


def compare_graphs(original: Graph, released: Graph, truth: Ints) -> ComparedGraphs:
    """Both graphs in the same order. ``truth`` is what each node of the original became, −1 if it was left out.

    >>> path = Graph.from_edges(["a", "b"], ["b", "c"])
    >>> found = compare_graphs(path, Graph.from_edges([2, 0], [0, 1], nodes=3), np.array([2, 0, 1]))
    >>> found.place.tolist(), found.released.neighbours.tolist()
    ([0, 1, 2], [1, 0, 2, 1])
    """
    rank = sorted_places(original)
    became = np.empty(original.nodes, np.int64)
    became[rank] = truth
    position = _order_of_appearance(became[became >= 0], released.nodes)
    place = np.where(became >= 0, position[became], -1)
    return ComparedGraphs(_move_nodes(original, rank), _move_nodes(released, position), place)


def _order_of_appearance(nodes: Ints, many: int) -> Ints:
    """The new position of each of ``many`` nodes: in the order in which they occur first, then those that do not."""
    first = np.full(many, len(nodes))
    np.minimum.at(first, nodes, np.arange(len(nodes)))
    position = np.empty(many, np.int64)
    position[np.argsort(first, kind="stable")] = np.arange(many)
    return position


def _move_nodes(graph: Graph, position: Ints) -> Graph:
    sources, targets = (position[ends] for ends in edge_endpoints(graph))
    return Graph.from_edges(sources, targets, nodes=graph.nodes, directed=graph.directed, name=graph.name)


def measure_both(compared: ComparedGraphs, what: str, measure: Callable[[Graph], _T], run: Run) -> tuple[_T, _T]:
    """Measure both graphs: the original once per run, and a release that is the same not again."""
    was: _T = run.once(("network.use", what, compared.original.digest), lambda: measure(compared.original))
    return was, was if compared.is_unchanged else measure(compared.released)


@dataclass(frozen=True, eq=False)
class EdgeChanges:
    """Which edges of the original are not in the release, and which of the release are not in the original.

    Edges are in the order of :func:`~unveil.release.graph.edge_endpoints`.
    """

    removed: Bools
    added: Bools

    @property
    def jaccard(self) -> float:
        """|E ∩ Ê| / |E ∪ Ê|; 1 if neither graph has edges."""
        kept = int((~self.added).sum())
        union = kept + int(self.added.sum()) + int(self.removed.sum())
        return kept / union if union else 1.0


def compare_edges(compared: ComparedGraphs) -> EdgeChanges:
    """What became of the edges, if no two nodes became one.

    >>> before, after = Graph.from_edges([0, 1], [1, 2], nodes=3), Graph.from_edges([0, 0], [1, 2], nodes=3)
    >>> found = compare_edges(compare_graphs(before, after, np.arange(3)))
    >>> found.removed.tolist(), found.added.tolist(), found.jaccard
    ([False, True], [False, True], 0.3333333333333333)
    """
    was, now = compared_edge_keys(compared)
    return EdgeChanges(~are_among(was, np.sort(now)), ~are_among(now, np.sort(was)))


def compared_edge_keys(compared: ComparedGraphs) -> tuple[Ints, Ints]:
    """A number for each edge of both graphs, the same for the same edge; −1 if it has lost an end."""
    nodes = compared.released.nodes
    was = _number_edges(compared.original, compared.place, nodes)
    return was, _number_edges(compared.released, np.arange(nodes), nodes)


def _number_edges(graph: Graph, place: Ints, nodes: int) -> Ints:
    sources, targets = (place[ends] for ends in edge_endpoints(graph))
    keys: Ints = np.where((sources < 0) | (targets < 0), -1, edge_keys(sources, targets, nodes, graph.directed))
    return keys


def are_among(numbers: Ints, ordered: Ints) -> Bools:
    """Which numbers are among others, which are in rising order.

    >>> are_among(np.array([4, 1, 9]), np.array([1, 2, 4])).tolist()
    [True, True, False]
    """
    if not len(ordered):
        return np.zeros(len(numbers), np.bool_)
    found: Bools = ordered[np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)] == numbers
    return found
