"""Who is found by the number of connections that they had before a network was changed?

Someone knows how many connections a person had in the original, or how many each of the person's neighbours had, and
picks one of the nodes of the release of which the same is true, all being equally likely. If c nodes match and theirs
is among them, a person is found with probability 1/c; if theirs no longer matches, never. The shares are the means over
all people of the original: they are exact, and say what is found on average.

Where nothing was changed, every node is among those that are picked from, so that the share is the number of classes of
nodes that are alike, divided by the number of nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import Ints
from unveil.network.compared_graphs import ComparedGraphs
from unveil.network.degrees import degree_classes
from unveil.network.fingerprints import refine_classes
from unveil.release.graph import Graph, edge_endpoints

__all__ = ["FoundByConnections", "found_by_connections"]


class FoundByConnections(NamedTuple):
    """The shares of people found by their own number of connections, and by those of their neighbours."""

    by_degree: float
    by_neighbours: float


def found_by_connections(compared: ComparedGraphs) -> FoundByConnections:
    """Both shares. In a path of three, nothing but the middle is told by its degree:

    >>> path = Graph.from_edges([0, 1], [1, 2], nodes=3)
    >>> found_by_connections(ComparedGraphs(path, path, np.arange(3))).by_degree
    0.6666666666666666
    """
    people, both = compared.original.nodes, _side_by_side(compared.original, compared.released)
    by_degree = degree_classes(both)
    by_neighbours = refine_classes(both, by_degree)
    return FoundByConnections(
        *(_share_found(c[:people], c[people:], compared.place) for c in (by_degree, by_neighbours))
    )


def _side_by_side(one: Graph, other: Graph) -> Graph:
    """A graph of two that are not connected; the nodes of the second come last."""
    ends = zip(edge_endpoints(one), edge_endpoints(other), strict=True)
    sources, targets = (np.append(a, b + one.nodes) for a, b in ends)
    return Graph.from_edges(sources, targets, nodes=one.nodes + other.nodes, directed=one.directed)


def _share_found(known: Ints, shown: Ints, place: Ints) -> float:
    """The share of people found by someone who knows the class of each, and picks a node that is of this class."""
    sizes = np.bincount(shown, minlength=int(known.max()) + 1)
    is_own = (place >= 0) & (shown[place] == known)
    return float((is_own / np.maximum(sizes[known], 1)).mean())
