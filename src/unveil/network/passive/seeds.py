"""The first pairs of two networks, found by structure alone when none are known.

**Degree profiles.** The degrees of a person's neighbours, relative to the mean degree of the network, are similar in
two views of it, even if one is denser. The nodes with the most neighbours are compared by the quantiles of these
(J. Ding, Z. Ma, Y. Wu, J. Xu, Efficient random graph matching via degree profiles, PTRF 2021).

**Soft matching.** Few of these comparisons are decisive. So each node starts with a probability for every partner,
and the probabilities are improved all at once: two nodes fit if their neighbours probably are the same, with the
log-likelihood ratios of :mod:`unveil.network.passive.evidence` weighed by the probabilities, and rows and columns are
scaled to sum to 1 (R. Sinkhorn, 1964). The pairs that become the surest are the seeds. A node with an equal gives none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.network.passive.compared_graph import ComparedGraph
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.arrays import Bools, Floats, Ints

__all__ = ["profile_seeds"]

_QUANTILES = 24
_ROUNDS = 12
_LEAD = 0.9


def profile_seeds(left: ComparedGraph, right: ComparedGraph, run: Run, seeds: int = 100, top: int = 1_000) -> Ints:
    """For each left node, a right node that is probably the same, or −1: so many pairs among the ``top`` nodes with the
    most neighbours of each graph."""
    import numpy as np

    top = min(top, *(int((graph.degrees > 0).sum()) for graph in (left, right)))
    found = np.full(left.nodes, -1)
    if top == 0:
        return found
    nodes = [np.argsort(-graph.degrees, kind="stable")[:top] for graph in (left, right)]
    start = -_profile_distances(left, nodes[0], right, nodes[1])
    likely = _soft_matching(_adjacency(left, nodes[0]), _adjacency(right, nodes[1]), start, run)
    best, sure = likely.argmax(axis=1), likely.max(axis=1)
    clear = _leads(likely) & _leads(likely.T)[best]
    mutual = np.flatnonzero(clear & (likely.argmax(axis=0)[best] == np.arange(top)))
    mutual = mutual[np.argsort(-sure[mutual], kind="stable")][:seeds]
    found[nodes[0][mutual]] = nodes[1][best[mutual]]
    return found


def _leads(likely: Floats) -> Bools:
    """Whether the largest value of each row is well above the second, so that it is not the first of equal ones."""
    import numpy as np

    if likely.shape[1] < 2:
        return np.ones(len(likely), np.bool_)
    two = np.partition(likely, -2, axis=1)[:, -2:]
    leads: Bools = two[:, 0] < _LEAD * two[:, 1]
    return leads


def _profile_distances(left: ComparedGraph, left_nodes: Ints, right: ComparedGraph, right_nodes: Ints) -> Floats:
    """The distances of degree profiles, in units that shrink with the square root of the smaller degree."""
    import numpy as np

    profiles, degrees = zip(_degree_profiles(left, left_nodes), _degree_profiles(right, right_nodes), strict=True)
    distance = np.abs(degrees[0][:, None] - degrees[1]) / 2
    for k in range(_QUANTILES):
        distance += np.abs(profiles[0][:, k, None] - profiles[1][:, k]) / _QUANTILES
    smaller = np.minimum(left.degrees[left_nodes][:, None], right.degrees[right_nodes])
    result: Floats = distance * np.sqrt(smaller)
    return result


def _degree_profiles(graph: ComparedGraph, nodes: Ints) -> tuple[Floats, Floats]:
    """Quantiles of the logarithms of the neighbours' degrees, and of the node's own, relative to the mean degree."""
    import numpy as np

    logs = np.log(np.maximum(graph.degrees, 1) / graph.mean_degree)
    starts, neighbours = graph.arrays[:2]
    places = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    profiles = [np.quantile(logs[neighbours[starts[v] : starts[v + 1]]], places) for v in nodes]
    return np.array(profiles), logs[nodes]


def _adjacency(graph: ComparedGraph, nodes: Ints) -> Floats:
    """The edges among some nodes, as a matrix."""
    import numpy as np

    place = np.full(graph.nodes, -1)
    place[nodes] = np.arange(len(nodes))
    ends = place[graph.owners], place[graph.arrays[1]]
    inside = (ends[0] >= 0) & (ends[1] >= 0)
    matrix = np.zeros((len(nodes), len(nodes)), np.float32)
    matrix[ends[0][inside], ends[1][inside]] = 1
    return matrix  # type: ignore[return-value]  # half the memory


def _soft_matching(left: Floats, right: Floats, start: Floats, run: Run) -> Floats:
    """Probabilities of partners, improved round by round with a growing share of the evidence."""
    import numpy as np

    likely, overlap = _scale_to_one(start), 0.6
    degrees = right.sum(axis=1)
    logs, edges = np.log(np.maximum(degrees, 1)), max(float(degrees.sum()), 1.0)
    for k in range(_ROUNDS):
        run.check()
        run.progress("looking for first pairs", k / _ROUNDS)
        loss = np.log(1 - overlap)
        weight = (np.log(overlap * edges) - logs - 2 * loss).astype(np.float32)
        single = likely.astype(np.float32)
        reached = left @ single
        evidence = (reached * weight) @ right - (reached @ right) * logs
        evidence += loss * (reached.sum(axis=1)[:, None] + single.sum(axis=0) @ right)
        likely = (likely + _scale_to_one(min(1.0, 0.15 + 0.1 * k) * evidence + start)) / 2
        overlap = _agreement_of_surest(left, right, likely)
    return likely


def _agreement_of_surest(left: Floats, right: Floats, likely: Floats) -> float:
    """The share of left edges among the surest pairs, a tenth of them, that the right graph has too."""
    import numpy as np

    best = likely.argmax(axis=1)
    surest = np.argsort(-likely.max(axis=1), kind="stable")[: max(30, len(best) // 10)]
    mine, theirs = left[np.ix_(surest, surest)], right[np.ix_(best[surest], best[surest])]
    return float(np.clip((mine * theirs).sum() / max(float(mine.sum()), 1.0), 0.2, 0.95))


def _scale_to_one(logs: Floats, rounds: int = 8) -> Floats:
    """exp(logs), with rows and columns scaled in turn to sum to about 1, rows to at most 1."""
    import numpy as np

    scaled: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    for _ in range(rounds):
        scaled /= scaled.sum(axis=1, keepdims=True) + 1e-12
        scaled /= np.maximum(scaled.sum(axis=0, keepdims=True), 1e-12)
    scaled /= np.maximum(scaled.sum(axis=1, keepdims=True), 1)
    return scaled
