"""Move added edges to where they are plausible, without changing how many there are of each degree.

Whoever can tell which edges were added takes them away again. What tells them is how many neighbours their ends share:
:mod:`unveil.network.use.edge_plausibility` has two scores for that, and ranks all edges by each. Here an added edge is
as plausible as the shares of the original's edges that score lower, by both scores; a share above ½ counts as ½, since
an edge that is more plausible than most real ones would be told by that.

Two kinds of moves change no more edges than before, and leave a graph k-degree anonymous that was so:

- An added edge u–w becomes v–w, where v has one neighbour fewer than u. Both then have the degree that the other had.
- Two added edges a–b and c–d become a–c and b–d.

Moves are tried for each added edge in turn, with nodes v two steps away from w, with any of the degree, and with other
added edges; those that make edges more plausible are made. The score that tells more counts for more. Added edges also
support each other, so that all are rated anew after every round. What comes out is the round after which edges are told
least well, by the score that tells them better; at the worst, that is what there was at the beginning. Where both
scores put added edges above real ones, nothing is moved. Moves are found by a fixed rule: they follow from the graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.network.edge_keys import edge_keys
from unveil.network.protections import _plausible_kernels
from unveil.network.protections.changed_graph import ChangedGraph, apply_changes, changed_degrees, edges_in, make_room
from unveil.network.use.edge_plausibility import pair_evidence
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run

__all__ = ["move_to_plausible"]

_SAMPLE = 10_000  # edges of the graph that added ones are compared with
_ROUNDS = 8
_TRIES = 30  # for each edge, in each round
_MOST_STEPS = 1 << 28
_LARGE = 1 << 20  # edges beyond which there is one round
_SLICE = 1 << 22  # steps between two looks at whether to stop


class _Scale(NamedTuple):
    """What pairs are rated by: the weight of each shared neighbour, how many are expected, and real edges' scores."""

    weights: Floats
    factor: float
    excess: Floats
    adamic_adar: Floats


def move_to_plausible(graph: Graph, changed: ChangedGraph, run: Run) -> ChangedGraph:
    """The graph with as many changes, and with added edges that are not told from real ones more easily."""
    ends = edges_in(changed.added).astype(np.int64)
    if not len(ends):
        return changed
    degrees = changed_degrees(changed)
    order = np.argsort(degrees, kind="stable")
    place = np.argsort(order)
    begins = np.searchsorted(degrees[order], np.arange(graph.nodes + 1))
    state, best, lowest = np.ones(1, np.uint64), changed, np.inf
    rounds = _ROUNDS if graph.edges <= _LARGE else 1
    for round_ in range(rounds + 1):
        run.progress("making added edges plausible", round_ / rounds)
        now = apply_changes(graph, changed)
        scale = _scale_of(graph, now, changed, run)
        if scale is None:
            return changed
        ranks = _rank_pairs(now, ends, scale, run)
        telling = np.maximum(0.5 - ranks.mean(axis=0), 0)
        if telling.max() >= lowest:
            break
        best, lowest = changed, telling.max()
        if lowest == 0 or round_ == rounds:
            break
        importance = telling / telling.sum()
        rates, rows = np.minimum(ranks, 0.5) @ importance, (now.indptr, now.neighbours)
        cursor, budget = 0, _MOST_STEPS
        while cursor < len(ends) and budget > 0:
            run.check()
            room = len(ends) + 2 * _TRIES
            changed, budget = make_room(changed, 0, room), budget - _SLICE
            cursor = _plausible_kernels.move_added_edges(
                cursor, _SLICE, room, _TRIES, ends, rates, changed, degrees, order, place, begins, rows, scale,
                importance, state,
            )  # fmt: skip
    return best


def _scale_of(graph: Graph, now: Graph, changed: ChangedGraph, run: Run) -> _Scale | None:
    """What pairs are rated by in a changed graph; None if none of its edges is real."""
    sources, targets = edge_endpoints(graph)
    some = np.unique(np.linspace(0, max(0, graph.edges - 1), _SAMPLE).astype(np.int64))[: graph.edges]
    gone = edges_in(changed.removed)
    keys = edge_keys(sources[some], targets[some], graph.nodes)
    kept = some[~np.isin(keys, edge_keys(gone[:, 0], gone[:, 1], graph.nodes))]
    if not len(kept):
        return None
    found = pair_evidence(now, sources[kept], targets[kept], run)
    degrees = now.degrees.astype(np.float64)
    weights = 1 / np.log(np.maximum(degrees, 2))
    factor = float((degrees * (degrees - 1)).sum()) / len(now.neighbours) ** 2
    return _Scale(weights, factor, np.sort(found.excess), np.sort(found.adamic_adar))


def _rank_pairs(now: Graph, ends: Ints, scale: _Scale, run: Run) -> Floats:
    """The share of real edges that each of some pairs exceeds, by both scores; equal ones count half."""
    found = pair_evidence(now, ends[:, 0], ends[:, 1], run)
    ranks = [
        (np.searchsorted(real, own, "left") + np.searchsorted(real, own, "right")) / (2 * len(real))
        for real, own in ((scale.excess, found.excess), (scale.adamic_adar, found.adamic_adar))
    ]
    return np.stack(ranks, axis=1)
