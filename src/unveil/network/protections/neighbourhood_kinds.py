"""Which nodes have the same neighbourhood?

The *neighbourhood* of a node is the graph of its neighbours and the edges among these. Two of them are the same if one
can be mapped to the other so that edges become edges (they are *isomorphic*).

**Exactly.** All neighbourhoods are copied into one graph, each with its node, which is connected with all of the copy.
Two nodes have the same neighbourhood if an automorphism maps one to the other there: one that maps a copy to a copy can
be changed to map the node of one to that of the other, because both are connected with everything in theirs. Orbits of
automorphisms are found exactly (:mod:`unveil.network.automorphisms`); where that takes too long, nodes count as
different.

**While edges are added**, a neighbourhood is described by its *kind*: the components that it falls into, each by its
number of nodes and what refinement by neighbours' classes says of them. The same neighbourhoods are of the same kind.
Different ones may be, if they are as regular as a prism and a complete bipartite graph of six nodes; so a last look is
exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from unveil.arrays import Ints
from unveil.network.automorphisms import find_orbits
from unveil.network.fingerprints import refine_to_the_end
from unveil.release.graph import Graph, edge_endpoints, simple_graph
from unveil.run import Run

__all__ = ["Component", "GrowingGraph", "Kind", "neighbourhood_classes"]


def neighbourhood_classes(graph: Graph, run: Run) -> Ints:
    """The class of each node by its neighbourhood, exactly.

    >>> triangle_with_tail = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], nodes=5)
    >>> neighbourhood_classes(triangle_with_tail, Run()).tolist()
    [0, 0, 1, 2, 3]
    """
    copies = _copy_neighbourhoods(graph)
    orbits = find_orbits(copies, refine_to_the_end(copies, run), run)
    return np.unique(orbits.orbit[: graph.nodes], return_inverse=True)[1].astype(np.int64)


def _copy_neighbourhoods(graph: Graph) -> Graph:
    """A graph of all neighbourhoods: the nodes, and behind them a copy of each neighbour of each node."""
    nodes, copies = graph.nodes, len(graph.neighbours)
    owners = np.repeat(np.arange(nodes), graph.degrees)
    keys = owners * nodes + graph.neighbours  # in rising order
    lengths = graph.degrees[graph.neighbours]
    copy = np.repeat(np.arange(copies), lengths)
    shifts = graph.indptr[graph.neighbours] - np.cumsum(lengths) + lengths
    ends = graph.neighbours[np.repeat(shifts, lengths) + np.arange(len(copy))]
    wanted = owners[copy] * nodes + ends  # the copy of a neighbour's neighbour for the same owner, if there is one
    place = np.minimum(np.searchsorted(keys, wanted), max(copies - 1, 0))
    inside = (keys[place] == wanted) & (place > copy)
    sources = np.concatenate([owners, nodes + copy[inside]])
    targets = np.concatenate([nodes + np.arange(copies), nodes + place[inside]])
    return Graph.from_edges(sources, targets, nodes=nodes + copies)


# ---- while edges are added -------------------------------------------------------------------------------------------

Kind = tuple[int, ...]
"""The numbers of the components of a neighbourhood, in rising order."""


class Component(NamedTuple):
    """A component of a neighbourhood: nodes 0 … n − 1, and edges."""

    nodes: int
    edges: tuple[tuple[int, int], ...]

    @property
    def cost(self) -> int:
        """How many edges it takes to give such a component to the neighbourhood of a node."""
        return self.nodes + len(self.edges)


class GrowingGraph:
    """A graph to which edges are added, with the kind of every neighbourhood, and how many are of each kind."""

    def __init__(self, graph: Graph) -> None:
        self._original = graph
        rows = np.split(graph.neighbours, graph.indptr[1:-1])
        self.neighbours: list[set[int]] = [set(row.tolist()) for row in rows]
        self.components: list[Component] = []
        self.added: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._colours: dict[tuple[int, ...], int] = {}
        self.kinds = [self._find_kind(node) for node in range(graph.nodes)]
        self.counts = Counter(self.kinds)

    def add_edges(self, edges: Iterable[tuple[int, int]]) -> None:
        """Add those of some edges that are not there yet."""
        new = [(u, v) for u, v in dict.fromkeys((min(e), max(e)) for e in edges) if v not in self.neighbours[u]]
        for u, v in new:
            self.neighbours[u].add(v)
            self.neighbours[v].add(u)
        self.added += new
        changed = set[int]().union(*({u, v} | (self.neighbours[u] & self.neighbours[v]) for u, v in new))
        for node in sorted(changed):
            self.counts[self.kinds[node]] -= 1
            self.kinds[node] = self._find_kind(node)
            self.counts[self.kinds[node]] += 1

    def rare_nodes(self, k: int) -> list[int]:
        """The nodes whose kind of neighbourhood fewer than k have."""
        return [node for node, kind in enumerate(self.kinds) if self.counts[kind] < k]

    def largest_of(self, nodes: Iterable[int]) -> int:
        """The one with the most neighbours; of several, the one whose neighbourhood takes the most edges to make."""
        return max(nodes, key=lambda node: (len(self.neighbours[node]), self.cost(self.kinds[node]), -node))

    def to_graph(self) -> Graph:
        """The graph with all edges that were added."""
        graph, added = self._original, np.array(self.added, np.int32).reshape(-1, 2)
        ends = np.concatenate([np.stack(edge_endpoints(graph), axis=1), added])
        return simple_graph(ends.reshape(-1), graph.labels, False, graph.name, None)

    def pairs_of_neighbours(self) -> int:
        """Σ C(d(v), 2), to which the time for a look at all neighbourhoods is proportional."""
        return sum(len(row) * (len(row) - 1) // 2 for row in self.neighbours)

    def cost(self, kind: Iterable[int]) -> int:
        """How many edges it takes to make a neighbourhood of this kind."""
        return sum(self.components[number].cost for number in kind)

    def _find_kind(self, node: int) -> Kind:
        left, found = set(self.neighbours[node]), list[int]()
        for first in sorted(left):
            if first in left:
                part = self._take_component(first, left)
                found.append(self._number_component(part))
        return tuple(sorted(found))

    def _take_component(self, first: int, left: set[int]) -> dict[int, list[int]]:
        """Take the component of a node out of some nodes; return its rows, in which nodes have new numbers."""
        left.discard(first)
        part, inside = [first], {first}
        for node in part:
            more = self.neighbours[node] & left
            left -= more
            inside |= more
            part += sorted(more)
        place = {node: number for number, node in enumerate(part)}
        return {place[node]: [place[other] for other in self.neighbours[node] & inside] for node in part}

    def _number_component(self, rows: dict[int, list[int]]) -> int:
        """The number of a component, the same for all that refinement does not tell apart."""
        colours, count = self._number_colours([(len(rows[node]),) for node in rows]), 0
        while len(set(colours)) > count:
            count = len(set(colours))
            seen = [(colours[node], *sorted(colours[other] for other in rows[node])) for node in rows]
            colours = self._number_colours(seen)
        number = self._numbers.setdefault(tuple(sorted(colours)), len(self._numbers))
        if number == len(self.components):
            edges = tuple((node, other) for node in rows for other in sorted(rows[node]) if node < other)
            self.components.append(Component(len(rows), edges))
        return number

    def _number_colours(self, colours: Sequence[tuple[int, ...]]) -> list[int]:
        return [self._colours.setdefault(colour, len(self._colours)) for colour in colours]
