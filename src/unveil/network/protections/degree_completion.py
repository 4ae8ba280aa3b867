"""A k-degree anonymous graph near a given one, deterministically, and always.

A graph is k-degree anonymous if at least k nodes have each degree that occurs (K. Liu, E. Terzi, *Towards identity
anonymization on graphs*, SIGMOD 2008). The published search for one near a graph tries degree sequences at random until
one can be realised: thousands of attempts on social networks, and many more edges than needed. Here degrees and edges
are brought together in rounds:

1. Choose the nearest k-anonymous degrees (:mod:`unveil.network.protections.degree_sequences`). Among nodes of equal
   degree, those are lowered that know over-full nodes, and those are raised that do not know under-full ones.
2. Change edges that serve two residuals at once: delete edges between over-full nodes, add edges between under-full
   ones, those that lack most with those that lack most (V. Havel, S. Hakimi). If two nodes u and v are left over that
   cannot be paired, turn a change a–b into u–a and v–b.
3. Move ends of edges from over-full to under-full nodes: one deletion and one addition serve two residuals.
4. What is then left over is of one kind. Each unit takes an edge whose other end is a node that can move to the next
   degree, since enough others have both; or any node, if there is none such. Nodes of low degree come first, so that
   whole groups of them move.
5. If the degrees are not k-anonymous now, begin again with them.

All of this is done for several prices of lowering a degree, and the fewest changes are kept: two under-full nodes are
nearly always strangers, but two over-full ones seldom know each other, so that lowering may cost up to twice as many
edges, while on dense networks with few hubs it is the other way round.

**Why it ends.** Without deletions each round adds an edge: a node below its target, which is at most n − 1, has a node
to which it is not connected, and step 4 finds one. At the latest the complete graph is k-degree anonymous. With
deletions rounds might go round in circles, so after some rounds only additions are allowed. In practice there are one
to three rounds.

**What is free.** In step 2, which of several partners is chosen; in steps 3 and 4, which node is at the other end. All
that counts there is how many edges change. Afterwards added edges move to where they are plausible, as many as there
are (:mod:`unveil.network.protections.plausible_edges`); nodes may exchange degrees then, but no degree becomes rarer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from unveil.arrays import Int32s, Ints
from unveil.errors import UnveilError
from unveil.network.protections import _edge_kernels
from unveil.network.protections.change_bounds import ChangeBounds, find_bounds
from unveil.network.protections.changed_graph import (
    ChangedGraph,
    apply_changes,
    changed_degrees,
    count_changes,
    edges_in,
    make_room,
    start_changes,
)
from unveil.network.protections.degree_sequences import anonymise_degrees
from unveil.network.protections.plausible_edges import move_to_plausible
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.wording import count_text

__all__ = ["AnonymisedGraph", "anonymise_graph"]

_PRICES = (1.0, 1.1, 1.2, 1.3, 1.5, 1.7, 2.0, 2.5, 0.85, 0.75, 0.67, 0.6, 0.5)  # of lowering a degree; raising costs 1
_SCARCITY = 4  # an edge between over-full nodes is harder to find than a gap between under-full ones
_MOST_WORK = 1 << 30  # nodes × k up to which all prices are tried
_ANYWHERE = -1  # as many nodes have every degree
_ROUNDS = 20  # until no more edges may be deleted
_MOST_ADDITIONS = 1 << 26  # edges that fit into memory
_SLICE = 1 << 12  # nodes between two looks at whether to stop
_STEPS = 1 << 20  # steps between two looks at whether to stop


class AnonymisedGraph(NamedTuple):
    """A k-degree anonymous graph, the edges that differ, and how many have to differ at least."""

    graph: Graph
    removed: Int32s
    added: Int32s
    bounds: ChangeBounds

    @property
    def changes(self) -> int:
        """How many edges differ, |Ê∖E| + |E∖Ê|."""
        return len(self.removed) + len(self.added)


def anonymise_graph(graph: Graph, k: int, run: Run, additions_only: bool = False) -> AnonymisedGraph:
    """A k-degree anonymous graph with few changed edges; nodes keep their positions.

    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], nodes=5)
    >>> found = anonymise_graph(path, 3, Run())
    >>> found.graph.degrees.tolist(), found.changes
    ([2, 2, 2, 2, 2], 1)
    >>> found.added.tolist()
    [[0, 4]]
    """
    if graph.directed:
        raise UnveilError("edges of this network have directions; k-degree anonymity needs a network without them")
    best, fewest = None, graph.nodes**2
    prices = _choose_prices(graph, k, additions_only)
    for place, price in enumerate(prices):
        run.progress("choosing edges to change", place / len(prices))
        changed = _complete_degrees(graph, k, price, fewest, run)
        if changed is not None and count_changes(changed) < fewest:
            best, fewest = changed, count_changes(changed)
    assert best is not None
    bounds = find_bounds(graph, k, changed_degrees(best), additions_only)
    best = move_to_plausible(graph, best, run)
    return AnonymisedGraph(apply_changes(graph, best), edges_in(best.removed), edges_in(best.added), bounds)


def _choose_prices(graph: Graph, k: int, additions_only: bool) -> Sequence[float | None]:
    """The prices that are tried, None for additions only: a single one where the dynamic programme takes seconds."""
    if additions_only:
        return (None,)
    return (*_PRICES, None) if graph.nodes * k <= _MOST_WORK else (_PRICES[0],)


def _complete_degrees(graph: Graph, k: int, price: float | None, fewest: int, run: Run) -> ChangedGraph | None:
    """Changes that make degrees k-anonymous; None if there would be at least as many as the fewest that are known."""
    changed, degrees, completed = start_changes(graph), graph.degrees, 0
    while True:
        run.check()
        targets = anonymise_degrees(degrees, k, price if completed < _ROUNDS else None, even_sum=True, run=run)
        distance = int(np.abs(targets - degrees).sum())
        if distance == 0:
            return changed
        if distance >= 2 * fewest:
            return None
        targets = _choose_among_equals(graph, degrees, targets)
        residual = targets - degrees
        changed = _make_room(changed, residual)
        _serve_pairs(changed, residual, run)
        _serve_singles(changed, residual, targets, k, run)
        degrees = changed_degrees(changed)
        completed += 1


def _make_room(changed: ChangedGraph, residual: Ints) -> ChangedGraph:
    """Room for one change for each unit of residual."""
    surplus, missing = int(-residual[residual < 0].sum()), int(residual[residual > 0].sum())
    if missing > 2 * _MOST_ADDITIONS:
        raise UnveilError(f"this takes at least {count_text(missing // 2, 'more edge')}; lower k")
    return make_room(changed, surplus, missing)


def _choose_among_equals(graph: Graph, degrees: Ints, targets: Ints) -> Ints:
    """Give the lowest targets among nodes of equal degree to those who know the most over-full nodes, and the highest
    to those who know the fewest under-full ones."""
    change = targets - degrees
    values = np.where(change < 0, -_SCARCITY * change, change)
    weights = np.zeros(graph.nodes, np.int64)
    _edge_kernels.sum_over_neighbours(graph.indptr, graph.neighbours, values, weights)
    has_choice = np.bincount(degrees, change != 0) > 0
    nodes = np.flatnonzero(has_choice[degrees])
    by_weight = nodes[np.lexsort((weights[nodes], -degrees[nodes]))]
    by_target = nodes[np.lexsort((-targets[nodes], -degrees[nodes]))]
    chosen = targets.copy()
    chosen[by_weight] = targets[by_target]
    return chosen


def _serve_pairs(changed: ChangedGraph, residual: Ints, run: Run) -> None:
    """Change edges that serve two residuals."""
    for some in _in_slices(_neediest_first(-residual), run):
        _edge_kernels.delete_between(some, residual, changed)
    _add_between(changed, residual, run)
    for sign in (-1, 1):
        cursor = 0
        stubs = _neediest_first(sign * residual)
        for some in _in_slices(stubs, run):
            cursor = _edge_kernels.swap_changes(sign, _STEPS, cursor, some, residual, changed)


def _add_between(changed: ChangedGraph, residual: Ints, run: Run) -> None:
    """Add edges between under-full nodes."""
    queue = _neediest_first(residual)
    if not len(queue):
        return
    lacking = np.maximum(residual, 0)
    mark, unserved = np.full(len(residual), -1), np.zeros_like(residual)
    place, work = np.empty_like(residual), np.empty_like(residual)
    place[queue] = np.arange(len(queue))
    ends = np.cumsum(np.bincount(lacking[queue])[::-1])[::-1].copy()
    while _edge_kernels.add_between(_STEPS, lacking, changed, queue, place, ends, mark, unserved, work):
        run.check()
    residual[residual > 0] = unserved[residual > 0]


def _serve_singles(changed: ChangedGraph, residual: Ints, targets: Ints, k: int, run: Run) -> None:
    """Change edges that serve one residual."""
    under = _neediest_first(residual)
    for some in _in_slices(_neediest_first(-residual), run):
        _edge_kernels.move_ends(some, under, residual, changed)
    degrees, sizes = targets.copy(), np.bincount(targets, minlength=len(targets) + 1)
    for sign in (-1, 1):
        for least in (k, _ANYWHERE):
            _spread(sign, least, changed, residual, degrees, sizes, run)


def _spread(sign: int, least: int, changed: ChangedGraph, residual: Ints, degrees: Ints, sizes: Ints, run: Run) -> None:
    """Let other nodes move to the next degree, those with the fewest neighbours first. That many of the same degree
    move together is what saves edges in the next round."""
    stubs = _neediest_first(sign * residual)
    if not len(stubs):
        return
    everybody = _by_degree(np.arange(len(degrees), dtype=np.int32), degrees)
    for u in stubs.tolist():
        run.check()
        if sign > 0:
            useless = _edge_kernels.spread_residual(u, sign, least, everybody, residual, degrees, sizes, changed)
            everybody = everybody[useless:]
        else:
            known = _by_degree(changed.neighbours[changed.starts[u] : changed.starts[u + 1]], degrees)
            _edge_kernels.spread_residual(u, sign, least, known, residual, degrees, sizes, changed)


def _by_degree(nodes: Int32s, degrees: Ints) -> Int32s:
    return nodes[np.argsort(degrees[nodes], kind="stable")]


def _neediest_first(needs: Ints) -> Ints:
    """The nodes that need something, by falling need."""
    nodes = np.flatnonzero(needs > 0)
    return nodes[np.argsort(-needs[nodes], kind="stable")]


def _in_slices(nodes: Ints, run: Run) -> Iterator[Ints]:
    for first in range(0, len(nodes), _SLICE):
        run.check()
        yield nodes[first : first + _SLICE]
