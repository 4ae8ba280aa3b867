"""How far apart are the nodes of a graph?

The distance of two nodes is the number of edges on a shortest path, along the directions of edges if they have any. The
search begins at 512 nodes at once: each node has a bit for every one of them, and one step passes the bits on along all
edges. That takes about as long as a single search, so all pairs are affordable for tens of thousands of nodes. Beyond,
a random sample of nodes is where searches begin; the average then has an interval, and the diameter is a lower bound.

**Two averages.** ``over_reachable`` is that of all pairs with a path between them. Equation 7.4 of Vanhoef (*Privacy in
databases*, 2012) counts a pair without a path as distance 0 and divides by all pairs, ``over_all``: a graph that has
fallen apart then looks closer than one that has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unveil.arrays import Floats, Int32s, Ints
from unveil.intervals import student_half_width
from unveil.network.measures import _kernels
from unveil.release.graph import Graph
from unveil.run import Run

__all__ = ["PathLengths", "affordable_sources", "measure_path_lengths"]

_BATCH = 512
_MOST_WORK = 200_000_000_000  # nodes × edges up to which all pairs are looked at
_SAMPLE = 1_024
_QUICK_WORK = 5_000_000_000  # the same within seconds


@dataclass(frozen=True, eq=False)
class PathLengths:
    """``pairs[d]`` ordered pairs have distance d, out of those that begin at one of ``sources`` nodes."""

    nodes: int
    sources: int
    pairs: Ints
    means: Floats
    """Of a sample: the mean distance from each source to all nodes, with 0 for those it does not reach."""
    reached: Ints
    """Of a sample: how many nodes each source reaches, itself not counted."""

    @property
    def is_exact(self) -> bool:
        """Whether searches began at every node."""
        return self.sources == self.nodes

    @cached_property
    def _steps(self) -> int:
        return int((np.arange(len(self.pairs)) * self.pairs).sum())

    @property
    def over_reachable(self) -> float:
        """The average distance of pairs with a path between them; NaN without any."""
        reachable = int(self.pairs[1:].sum())
        return self._steps / reachable if reachable else float("nan")

    @property
    def over_all(self) -> float:
        """The same with 0 for pairs without a path, divided by all pairs (equation 7.4)."""
        pairs = self.sources * (self.nodes - 1)
        return self._steps / pairs if pairs else float("nan")

    @property
    def reachable_share(self) -> float:
        """The share of pairs with a path between them."""
        pairs = self.sources * (self.nodes - 1)
        return int(self.pairs[1:].sum()) / pairs if pairs else float("nan")

    @property
    def diameter(self) -> int:
        """The largest distance found: of all pairs, or of those that were looked at."""
        return len(self.pairs) - 1

    def over_reachable_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Between which numbers the average of all pairs lies, a ratio of two means over sources (delta method)."""
        if self.is_exact or not self.reached.sum():
            return self.over_reachable, self.over_reachable
        ratio = self.over_reachable
        steps = self.means * (self.nodes - 1)
        residuals = (steps - ratio * self.reached) / self.reached.mean()
        half = float(student_half_width(residuals, confidence))
        return max(1.0, ratio - half), ratio + half

    def over_all_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The same for the average with 0 for pairs without a path."""
        if self.is_exact or self.sources < 2:
            return self.over_all, self.over_all
        half = float(student_half_width(self.means, confidence))
        return max(0.0, self.over_all - half), self.over_all + half


def affordable_sources(graph: Graph) -> int | None:
    """How many nodes to begin at for distances within seconds; None if all of them are affordable."""
    return None if graph.nodes * (graph.nodes + len(graph.neighbours)) <= _QUICK_WORK else _BATCH


def measure_path_lengths(
    graph: Graph, run: Run | None = None, rng: np.random.Generator | None = None, sample: int | None = None
) -> PathLengths:
    """The distances of all pairs of nodes, or those from a random sample of nodes: as many as ``sample`` says, or 1,024
    if looking at all pairs would take too long.

    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=5)
    >>> found = measure_path_lengths(path)
    >>> (found.diameter, round(found.over_reachable, 4), found.over_all)
    (3, 1.6667, 1.0)
    """
    run = run or Run()
    if sample is None and graph.nodes * (len(graph.neighbours) + graph.nodes) > _MOST_WORK:
        sample = _SAMPLE
    sources = np.arange(graph.nodes)
    is_sample = sample is not None and sample < graph.nodes
    if is_sample:
        sources = (rng or np.random.default_rng(0)).choice(graph.nodes, sample, replace=False)
    indptr, sources_of = _incoming(graph)
    pairs, steps, reached = np.zeros(1, np.int64), np.zeros(len(sources), np.int64), np.zeros(len(sources), np.int64)
    for first in range(0, len(sources), _BATCH):
        some = sources[first : first + _BATCH]
        run.progress("measuring distances", first / len(sources))
        counts, own_steps, own_reached = _search_from(some, indptr, sources_of, is_sample, run)
        size = max(len(pairs), len(counts))
        pairs = np.pad(pairs, (0, size - len(pairs))) + np.pad(counts, (0, size - len(counts)))
        steps[first : first + len(some)], reached[first : first + len(some)] = own_steps, own_reached
    means = steps / max(1, graph.nodes - 1)
    return PathLengths(graph.nodes, len(sources), pairs, means, reached)


def _incoming(graph: Graph) -> tuple[Ints, Int32s]:
    """For each node, the nodes from which an edge leads to it."""
    if not graph.directed:
        return graph.indptr, graph.neighbours
    order = np.argsort(graph.neighbours, kind="stable")
    of_edge = np.repeat(np.arange(graph.nodes, dtype=np.int32), graph.degrees)
    return np.append(0, np.cumsum(graph.in_degrees)), of_edge[order]


def _search_from(some: Ints, indptr: Ints, sources_of: Int32s, is_sample: bool, run: Run) -> tuple[Ints, Ints, Ints]:
    """How many pairs have each distance, and of a sample, the sum of distances and the nodes reached of each source."""
    nodes = len(indptr) - 1
    seen = np.zeros((nodes, _BATCH // 64), np.uint64)
    place = np.arange(len(some))
    seen[some, place >> 6] |= np.uint64(1) << (place & 63).astype(np.uint64)
    full = np.zeros((1, _BATCH // 64), np.uint64)
    for unused in range(len(some), _BATCH):  # nobody searches there: count as having arrived
        full[0, unused >> 6] |= np.uint64(1) << np.uint64(unused & 63)
    frontier, following = seen.copy(), np.zeros_like(seen)
    seen |= full
    counts, steps, reached = [len(some)], np.zeros(len(some), np.int64), np.zeros(len(some), np.int64)
    while True:
        run.check()
        totals = np.zeros(_BATCH if is_sample else 0, np.int64)
        new = _kernels.extend_paths(indptr, sources_of, seen, frontier, following, totals)
        if not new:
            return np.array(counts), steps, reached
        if is_sample:
            steps += len(counts) * totals[: len(some)]
            reached += totals[: len(some)]
        counts.append(int(new))
        frontier, following = following, frontier
