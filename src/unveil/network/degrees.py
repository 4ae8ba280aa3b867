"""Degree classes: nodes with the same number of neighbours.

Removing names from a network leaves its structure. The first thing that others know about a person is the number of
their connections. In a directed network this is a pair: the numbers of outgoing and incoming connections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.release.graph import Graph

if TYPE_CHECKING:
    from unveil.arrays import Ints

__all__ = ["degree_class_sizes", "degree_classes"]


def degree_classes(graph: Graph) -> Ints:
    """The class of each node by its degree; in and out if edges have directions."""
    import numpy as np

    known = graph.degrees.astype(np.int64)
    if graph.directed:
        known = known * (graph.nodes + 1) + graph.in_degrees
    return np.unique(known, return_inverse=True)[1].astype(np.int64)


def degree_class_sizes(graph: Graph) -> Ints:
    """For every node, the number of nodes with the same degree, including itself."""
    import numpy as np

    classes = degree_classes(graph)
    return np.bincount(classes)[classes].astype(np.int64)
