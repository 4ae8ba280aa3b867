"""Publish how many edges there are between groups of nodes, instead of the edges.

Nodes are put into groups of k or more. What is published is the size of each group, and how many edges there are within
it and between each two groups, as if groups were nodes (M. Hay, G. Miklau, D. Jensen, D. Towsley, P. Weis, *Resisting
structural re-identification in anonymized social networks*, 2008). Who wants to analyse a graph draws a *possible
world*: a graph with these groups and numbers of edges, all of which are equally likely.

**What it is worth.** In a possible world, members of a group could change places without making it less likely. So
whoever looks for a person in one, and knows the whole original and the groups, finds the right node with a probability
of 1/k at most.

**Which groups?** Nothing is lost where two groups are connected wholly or not at all. The number of possible worlds,
Π C(pairs, edges) over pairs of groups, says how much is lost: the fewer there are, the more they are like the network.
Hay et al. search for the fewest by simulated annealing. Here groups grow one after another, each from the node with the
most neighbours that is left. It takes nodes to which the most walks of two steps lead from it, where standing still is
a step: common neighbours count once for each member of the group that has them, and edges to members twice. Of equals,
it takes those with about as many neighbours as its first node. Walks are counted again after every new member, in
groups of more than 16 after every eighth of them. Where no walk leads on, the node with the most neighbours is taken.
Walks do not pass through nodes with more than 200 neighbours, so that time grows with the number of edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unveil.arrays import Int32s, Ints
from unveil.errors import UnveilError
from unveil.network.protections.distinct_draws import draw_subsets, pairs_by_rank
from unveil.release.graph import Graph, edge_endpoints, simple_graph
from unveil.run import Run
from unveil.wording import count_text, verb

__all__ = ["SuperNodes", "count_group_edges", "draw_possible_world", "group_nodes", "log_possible_worlds"]

_MOST_NEIGHBOURS = 200
_PART = 8  # of a group: one in so many joins before walks are counted again


class SuperNodes(NamedTuple):
    """What is published: the ``sizes`` of the groups, and a row for each two groups that have ``edges`` between them,
    or each one that has edges within; the lower number is ``first``."""

    sizes: Ints
    first: Ints
    second: Ints
    edges: Ints

    @property
    def pairs(self) -> Ints:
        """In each row, the number of pairs of nodes."""
        one, other = self.sizes[self.first], self.sizes[self.second]
        return np.where(self.first == self.second, one * (one - 1) // 2, one * other)


# ---- groups ----------------------------------------------------------------------------------------------------------


def group_nodes(graph: Graph, k: int, run: Run) -> Ints:
    """The group of each node. All groups have k members, but for the last, which may have up to 2k − 1.

    >>> two_stars = Graph.from_edges([0, 0, 0, 1, 1, 1], [2, 3, 4, 5, 6, 7], nodes=8)
    >>> group_nodes(two_stars, 3, Run()).tolist()
    [0, 1, 0, 0, 1, 1, 1, 1]
    """
    _check_request(graph, k)
    groups, walks = np.full(graph.nodes, -1), np.zeros(graph.nodes, np.int64)
    by_degree = np.argsort(-graph.degrees, kind="stable").tolist()
    left = (node for node in by_degree if groups[node] < 0)
    count = graph.nodes // k
    for group in range(count):
        run.check()
        run.progress("grouping nodes", group / count)
        size = k if group < count - 1 else graph.nodes - group * k
        _grow_group(graph, group, size, left, groups, walks)
    return groups


def _check_request(graph: Graph, k: int) -> None:
    if graph.directed:
        raise UnveilError("edges of this network have directions; grouping nodes needs a network without them")
    if k < 1:
        raise UnveilError("k must be at least 1")
    if graph.nodes < k:
        raise UnveilError(
            f"k is {k} but there {verb(graph.nodes, 'is', 'are')} only {count_text(graph.nodes, 'node')}; lower k"
        )


def _grow_group(graph: Graph, group: int, size: int, left: Iterator[int], groups: Ints, walks: Ints) -> None:
    """Form one group. ``left`` are the nodes without a group; ``walks`` is 0 for each node, and is so again after."""
    new, reached, count = np.array([next(left)]), np.empty(0, np.int32), 1
    groups[new], degree = group, graph.degrees[new]
    while count < size:
        reached = np.concatenate([reached, _count_walks(graph, new, walks)])
        free = reached[groups[reached] < 0]
        wanted = min(max(1, count // _PART), size - count)
        new = _choose_reached(graph, free, wanted, walks, degree) if len(free) else np.array([next(left)])
        groups[new] = group
        count += len(new)
    walks[reached] = 0


def _count_walks(graph: Graph, members: Ints, walks: Ints) -> Int32s:
    """Count walks of two steps from new members of a group; return the nodes that no walk had reached before."""
    near = _neighbours_of(graph, members)
    far = _neighbours_of(graph, near[graph.degrees[near] <= _MOST_NEIGHBOURS])
    ends = np.concatenate([near, far])
    fresh = np.sort(ends[walks[ends] == 0])
    np.add.at(walks, near, 2)
    np.add.at(walks, far, 1)
    first: Int32s = fresh[np.diff(fresh, prepend=-1) > 0]
    return first


def _choose_reached(graph: Graph, free: Int32s, wanted: int, walks: Ints, degree: Ints) -> Ints:
    """Those among some nodes that most walks have reached."""
    if len(free) > wanted:
        least = np.partition(walks[free], -wanted)[-wanted]
        free = free[walks[free] >= least]
    order = np.lexsort((free, abs(graph.degrees[free] - degree), -walks[free]))
    return free[order[:wanted]].astype(np.int64)


def _neighbours_of(graph: Graph, nodes: Ints | Int32s) -> Int32s:
    """The neighbours of some nodes, one row after another."""
    lengths = graph.degrees[nodes]
    shifts = graph.indptr[nodes] - np.cumsum(lengths) + lengths
    neighbours: Int32s = graph.neighbours[np.repeat(shifts, lengths) + np.arange(lengths.sum())]
    return neighbours


# ---- possible worlds -------------------------------------------------------------------------------------------------


def count_group_edges(graph: Graph, groups: Ints) -> SuperNodes:
    """What is published of a graph.

    >>> triangle_and_tail = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], nodes=4)
    >>> found = count_group_edges(triangle_and_tail, np.array([0, 0, 1, 1]))
    >>> found.sizes.tolist(), found.first.tolist(), found.second.tolist(), found.edges.tolist()
    ([2, 2], [0, 0, 1], [0, 1, 1], [1, 2, 1])
    """
    sizes = np.bincount(groups)
    one, other = (groups[ends] for ends in edge_endpoints(graph))
    rows = np.minimum(one, other) * len(sizes) + np.maximum(one, other)
    rows.sort()
    begins = np.flatnonzero(np.diff(rows, prepend=-1))
    first, second = np.divmod(rows[begins], len(sizes))
    return SuperNodes(sizes, first, second, np.diff(begins, append=len(rows)))


def log_possible_worlds(published: SuperNodes) -> float:
    """The natural logarithm of the number of possible worlds. Here, 2 of 4 pairs between the groups are edges:

    >>> triangle_and_tail = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], nodes=4)
    >>> published = count_group_edges(triangle_and_tail, np.array([0, 0, 1, 1]))
    >>> round(np.exp(log_possible_worlds(published)).item(), 6)
    6.0
    """
    from scipy.special import gammaln

    pairs, edges = published.pairs, published.edges
    return float((gammaln(pairs + 1) - gammaln(edges + 1) - gammaln(pairs - edges + 1)).sum())


def draw_possible_world(graph: Graph, groups: Ints, rng: np.random.Generator) -> Graph:
    """A graph drawn from all that have as many edges within and between these groups; nodes keep their positions."""
    published = count_group_edges(graph, groups)
    rows, ranks = draw_subsets(published.pairs, published.edges, rng)
    first, second = published.first[rows], published.second[rows]
    one, other = np.divmod(ranks, published.sizes[second])
    within = first == second
    one[within], other[within] = pairs_by_rank(ranks[within])
    members = np.argsort(groups, kind="stable")
    begins = np.cumsum(published.sizes) - published.sizes
    ends = members[np.stack([begins[first] + one, begins[second] + other], axis=1)].astype(np.int32)
    return simple_graph(ends.reshape(-1), graph.labels, False, graph.name, None)
