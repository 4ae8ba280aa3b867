"""Degree classes: nodes with the same number of neighbours.

Removing names from a network leaves its shape. The first thing about a person that others know is how many connections
they have. In a directed network that is a pair: how many point away, how many point here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.release.graph import Graph

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["degree_class_sizes"]


def degree_class_sizes(graph: Graph) -> npt.NDArray[np.int64]:
    """For every node, how many nodes (itself included) have its degree."""
    import numpy as np

    known = graph.degrees.astype(np.int64)
    if graph.directed:
        known = known * (graph.nodes + 1) + graph.in_degrees
    _, group, size = np.unique(known, return_inverse=True, return_counts=True)
    return size[group].astype(np.int64)
