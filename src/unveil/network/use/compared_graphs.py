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
from unveil.network.node_order import sorted_places
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run

__all__ = ["ComparedGraphs", "EdgeChanges", "compare_edges", "compare_graphs", "measure_both"]

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class ComparedGraphs:
    """``place[v]`` is what node ``v`` of the original became in the release; −1 if it was left out."""

    original: Graph
    released: Graph
    place: Ints

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
    return was, was if compared.released.digest == compared.original.digest else measure(compared.released)


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
    was = _edge_keys(compared.original, compared.place, compared.released.nodes)
    now = _edge_keys(compared.released, np.arange(compared.released.nodes), compared.released.nodes)
    return EdgeChanges(~_are_among(was, np.sort(now)), ~_are_among(now, np.sort(was)))


def _are_among(keys: Ints, ordered: Ints) -> Bools:
    """Which keys are among others, which are in rising order."""
    if not len(ordered):
        return np.zeros(len(keys), np.bool_)
    found: Bools = ordered[np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)] == keys
    return found


def _edge_keys(graph: Graph, place: Ints, nodes: int) -> Ints:
    """A number for each edge by the places of its ends, and −1 for one that has lost an end."""
    sources, targets = (place[ends] for ends in edge_endpoints(graph))
    if not graph.directed:
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
    keys: Ints = np.where((sources < 0) | (targets < 0), -1, sources * nodes + targets)
    return keys
