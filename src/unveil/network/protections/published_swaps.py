"""GreedySwap: exchange the ends of edges until a graph resembles another one, without changing any degree.

Two edges i–j and k–l are replaced by i–k and j–l, or by i–l and j–k, if neither is there yet: a *valid swap*. Its gain
is the number of edges that both graphs then have in common, minus that number before. Of a random sample of edges, the
best swap of two is made, as long as it gains anything.

Algorithm: K. Liu, E. Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008; M. Vanhoef, *Privacy in
databases*, 2012, Algorithm 9.6. Samples of log |E| edges are published, without a base; here it is ⌈ln |E|⌉. As
published, the first sample without a gain ends it: with 9 of the power grid's 6,594 edges, that is nearly every sample,
and nothing changes. ``patience`` says how many of them in a row do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from math import ceil, log

import numpy as np

from unveil.release.graph import Graph, edge_endpoints, simple_graph
from unveil.run import Run

__all__ = ["resemble_by_swaps"]

_BATCH = 1_000  # samples between two looks at whether the run was cancelled


def resemble_by_swaps(
    start: Graph, model: Graph, rng: np.random.Generator, patience: int, run: Run | None = None
) -> Graph:
    """``start`` with edges swapped until it resembles ``model``, on the same nodes, and named like it. It ends after
    ``patience`` samples without a gain.

    >>> start = Graph.from_edges([0, 2], [1, 3], nodes=4)
    >>> model = Graph.from_edges([0, 1], [2, 3], nodes=4)
    >>> resemble_by_swaps(start, model, np.random.default_rng(0), patience=9).neighbours.tolist()
    [2, 3, 0, 1]
    """
    swapped = _SwappedEdges(start, model)
    failures = 0
    for places in _edge_samples(start.edges, rng, run or Run()):
        if failures == patience:
            break
        failures = 0 if swapped.make_best_swap(places) else failures + 1
    ends = np.array(swapped.edges, np.int32).reshape(-1)
    return simple_graph(ends, model.labels, False, model.name, None)


def _edge_samples(edges: int, rng: np.random.Generator, run: Run) -> Iterator[list[int]]:
    """Random places of edges, again and again; none if there are fewer than two edges. An edge that is drawn twice
    counts once."""
    while edges > 1:
        run.check()
        size = min(edges, max(2, ceil(log(edges))))
        for places in rng.integers(edges, size=(_BATCH, size)).tolist():
            yield sorted(set(places))


class _SwappedEdges:
    """The edges of a graph that is being changed, and those of its model that it lacks."""

    def __init__(self, start: Graph, model: Graph) -> None:
        sources, targets = edge_endpoints(start)
        self.edges = list(zip(sources.tolist(), targets.tolist(), strict=True))
        self._present, self._wanted = _neighbour_sets(start), _neighbour_sets(model)
        self._missing = [wanted - there for wanted, there in zip(self._wanted, self._present, strict=True)]

    def make_best_swap(self, places: list[int]) -> bool:
        """Make the best swap of two of these edges, if it gains anything. It must add an edge that is missing."""
        sampled = defaultdict[int, list[tuple[int, int]]](list)
        for place in places:
            for own, other in (self.edges[place], self.edges[place][::-1]):
                sampled[own].append((place, other))
        most, best = 0, None
        for a in sampled:
            for c in self._missing[a].intersection(sampled):
                for (first, b), (second, d) in product(sampled[a], sampled[c]):  # a–b, c–d become a–c, b–d
                    gain = 1 + (d in self._wanted[b]) - (b in self._wanted[a]) - (d in self._wanted[c])
                    if gain > most and b != d and d not in self._present[b]:
                        most, best = gain, ((first, (a, c)), (second, (b, d)))
        for place, edge in best or ():
            self._remove(*self.edges[place])
            self._add(*edge)
            self.edges[place] = edge
        return best is not None

    def _remove(self, a: int, b: int) -> None:
        for own, other in ((a, b), (b, a)):
            self._present[own].remove(other)
            if other in self._wanted[own]:
                self._missing[own].add(other)

    def _add(self, a: int, b: int) -> None:
        for own, other in ((a, b), (b, a)):
            self._present[own].add(other)
            self._missing[own].discard(other)


def _neighbour_sets(graph: Graph) -> list[set[int]]:
    return [set(others.tolist()) for others in np.split(graph.neighbours, graph.indptr[1:-1])]
