"""A graph that is compared with another one: the edges of every node in both directions, and whose outgoing edges are
known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unveil.errors import UnveilError
from unveil.release.graph import Graph, edge_endpoints

if TYPE_CHECKING:
    from unveil.arrays import Bools, Floats, Int32s, Ints

__all__ = ["ComparedGraph", "check_mapping"]


class ComparedGraph:
    """A graph with, for each node, its neighbours in rising order and the directions of the edges.

    ``crawled`` marks the nodes of which outgoing edges are known; by default those of a directed graph that have any,
    and all of an undirected one.
    """

    def __init__(self, graph: Graph, crawled: Bools | None = None) -> None:
        import numpy as np

        self.graph, self.nodes = graph, graph.nodes
        if graph.directed:
            starts, neighbours, bits = _both_directions(graph)
            back = ((bits & 1) << 1) | (bits >> 1)
            self.crawled: Bools = graph.degrees > 0 if crawled is None else crawled
        else:
            starts, neighbours = graph.indptr, graph.neighbours
            bits = back = np.ones(len(neighbours), np.uint8)
            self.crawled = np.ones(graph.nodes, np.bool_)
        self.arrays = starts, neighbours, bits, back
        for array in self.arrays:
            array.flags.writeable = False  # as in a Graph, so that kernels are compiled once
        self.degrees: Ints = np.diff(self.arrays[0])
        self.owners: Ints = np.repeat(np.arange(self.nodes), self.degrees)
        self.mean_degree = max(float(self.degrees.mean()), 1e-9)
        self.hub = max(500, int(50 * self.mean_degree))

    def sum_neighbours(self, values: Floats, bit: int = 3) -> Floats:
        """For each node, the sum of its neighbours' values over edges with one of these bits."""
        import numpy as np

        _, neighbours, bits, _ = self.arrays
        kept = values[neighbours] * ((bits & bit) > 0)
        return np.bincount(self.owners, weights=kept, minlength=self.nodes).astype(np.float64)


def _both_directions(graph: Graph) -> tuple[Ints, Int32s, Any]:
    import numpy as np

    sources, targets = (ends.astype(np.int64) for ends in edge_endpoints(graph))
    keys = np.append(targets * graph.nodes + sources, sources * graph.nodes + targets)
    keys, place = np.unique(keys, return_inverse=True)
    bits = np.zeros(len(keys), np.uint8)
    bits[place[: len(sources)]] |= 1
    bits[place[len(sources) :]] |= 2
    starts = np.searchsorted(keys, np.arange(graph.nodes + 1) * graph.nodes)
    return starts, (keys % graph.nodes).astype(np.int32), bits


def check_mapping(mapping: Ints, left: Graph, right: Graph) -> Ints:
    """Return a mapping of left to right nodes if it is one-to-one and within both graphs, else refuse it."""
    import numpy as np

    mapping = np.asarray(mapping, np.int64)
    if mapping.shape != (left.nodes,):
        raise UnveilError("a mapping needs one entry for each node of the left graph, -1 for unknown ones")
    images = mapping[mapping >= 0]
    if len(images) and images.max() >= right.nodes:
        raise UnveilError("the mapping names a node that the right graph does not have; check its number")
    if len(np.unique(images)) < len(images):
        raise UnveilError("the mapping gives two nodes the same partner; leave one out")
    return mapping
