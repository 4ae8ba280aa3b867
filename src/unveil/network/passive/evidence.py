"""What speaks for two nodes of two networks being the same person: log-likelihood ratios over likely matches.

For nodes w of the left graph it is known, with probabilities p(w, x), which node x of the right graph they are. A
neighbour w of the left node u speaks, with weight p(w, x), for the neighbours v of x: it is a *witness* for them. The
score of u and v is a sum:

- for each shared neighbour, log(1/ρ), where ρ = d(v) · d(x) / 2m is the chance of an edge between v and x. Since nodes
  near each other share more than nodes at random, it counts at most ``_MOST_GAIN``, but never less than what an edge
  is worth against a wrong candidate (:mod:`unveil.network.passive.overlap`);
- the log-likelihood of s shared ones among the t neighbours of u whose partner is known, and the same for v. The share
  of edges that a person has in the other network follows a beta distribution, so that nobody is ruled out by a
  neighbourhood that is missing as a whole. Shared ones are seen from both sides, and count half for each;
- a log-likelihood ratio for what is known of their other neighbours: how many there are, and their mean degree,
  relative to the mean degree of the graph. It is counted on the matches so far, against pairs at random.

In a directed graph each direction of an edge counts by itself, and no outgoing edge is missed at a node of which
outgoing edges are not known (*not crawled*).

**Hubs.** A witness with more than 500 neighbours, and more than 50 times the mean, proposes no pairs, unless all
witnesses of a node are so large and there are at least two: then its smallest one does. Hubs count as witnesses for
pairs that others proposed. Memory grows with nodes and edges only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from unveil.network.passive.compared_graph import ComparedGraph
from unveil.network.passive.overlap import EdgeOverlap
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.arrays import Floats, Int32s, Ints

__all__ = ["CANDIDATES", "Candidates", "Evidence"]

CANDIDATES = 16
"""The most partners that are considered for a node at once."""

_SLICE = 10_000_000  # steps between two looks at whether the run was cancelled
_MOST_GAIN = 4.0  # of a shared edge: in a network, one makes others likely
_NEGLIGIBLE = -5.0  # a score
_CLASSES = 12  # of the number of other neighbours, and of their mean degree
_AS_UNRELATED = 30.0  # pairs at random that are added to the counted ones
_FEW_MATCHES = 20.0  # too few to count anything


class Candidates(NamedTuple):
    """For each left node, the right nodes with the highest scores, in falling order; −1: no more. ``shared`` is how
    many edges they share with it, by probability."""

    who: Int32s
    score: Floats
    shared: Floats


class Evidence:
    """The scores of pairs, given how probable each partner is of each left node (a sparse matrix), and how many edges
    of each graph are in the other one."""

    def __init__(
        self, left: ComparedGraph, right: ComparedGraph, likely: Any, overlap: EdgeOverlap, given: Ints
    ) -> None:
        import numpy as np

        self.left, self.right, self.likely, self.given, self.overlap = left, right, likely, given, overlap
        self.shares = overlap.beta_parameters()
        mass = likely.sum(axis=1), likely.sum(axis=0)
        known = likely @ right.crawled.astype(np.float64), likely.T @ left.crawled.astype(np.float64)
        self.totals = _witness_totals(left, known[0], mass[0]), _witness_totals(right, known[1], mass[1])
        unmatched = [_unmatched_neighbours(graph, each) for graph, each in zip((left, right), mass, strict=True)]
        self.unmatched_neighbours = unmatched[0][0], unmatched[1][0]
        self.classes, self.prior = _compare_unmatched(left, right, likely, unmatched)

    def find_candidates(self, none: float, given_gain: float, run: Run) -> Candidates:
        """Score all pairs with a witness: one sweep. ``none`` is the score of having no partner at all."""
        import numpy as np

        from unveil.network.passive import _kernels
        from unveil.slices import parallel_for

        size = self.left.nodes, CANDIDATES
        found = Candidates(np.full(size, -1, np.int32), np.full(size, -np.inf), np.zeros(size))
        likely = self.likely
        candidates = likely.indptr.astype(np.int64), likely.indices.astype(np.int32), likely.data.astype(np.float32)
        graph = self.right.graph
        edges = graph.edges if graph.directed else 2 * graph.edges
        overlap = self.overlap
        least = -np.log(overlap.chance_of_wrong_candidate())
        chance = np.array([np.log(max(edges, 1)), least, max(least, _MOST_GAIN), graph.directed], np.float32)
        degrees = np.stack([graph.in_degrees, graph.degrees], axis=1)

        crawled = self.left.crawled, self.right.crawled
        limits = none + _NEGLIGIBLE, float(self.prior.max())

        def score_some(first: int, last: int) -> int:
            cells = np.zeros((self.right.nodes, 4), np.float32)
            cells[:, 2:] = np.log(np.maximum(degrees, 1))
            touched = np.empty(self.right.nodes + 1, np.int64)
            return int(
                _kernels.score_candidates(
                    first, last, _SLICE, self.right.hub, limits, self.left.arrays, self.right.arrays, candidates,
                    self.totals, crawled, self.shares, chance, self.classes, self.prior, (self.given, given_gain),
                    cells, touched, found,
                )
            )  # fmt: skip

        parallel_for(score_some, self.left.nodes, "matching nodes", run)
        return found._replace(score=found.score - none)

    def possible_shared(self, lefts: Ints, rights: Ints) -> tuple[Floats, Floats]:
        """For given pairs, how many matched neighbours of the left node, and of the right one, could be shared."""
        (left_into, left_out), (right_into, right_out) = self.totals
        mine = left_into[lefts] + left_out[lefts] * self.right.crawled[rights]
        return mine, right_into[rights] + right_out[rights] * self.left.crawled[lefts]


def _witness_totals(graph: ComparedGraph, known: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """For each node, how many of the neighbours that point to it have a partner whose outgoing edges are known; and how
    many of those that it points to have a partner, in a directed graph."""
    import numpy as np

    outgoing = graph.sum_neighbours(mass, 2) if graph.graph.directed else np.zeros(graph.nodes)
    return graph.sum_neighbours(known, 1), outgoing


def _compare_unmatched(
    left: ComparedGraph, right: ComparedGraph, likely: Any, unmatched: Sequence[tuple[Floats, Floats]]
) -> tuple[tuple[Ints, Ints], Floats]:
    """Classes of nodes by their neighbours without a partner, and the log-likelihood ratio of each two classes."""
    import numpy as np

    if likely.sum() < _FEW_MATCHES:
        return (np.zeros(left.nodes, np.int64), np.zeros(right.nodes, np.int64)), np.zeros((1, 1))
    (left_count, left_mean), (right_count, right_mean) = unmatched
    right_count = right_count * left.mean_degree / right.mean_degree
    cuts = np.unique(np.quantile(np.append(left_mean, right_mean), np.arange(1, _CLASSES) / _CLASSES))
    means = [np.searchsorted(cuts, values, side="right") for values in (left_mean, right_mean)]
    counts = [_count_classes(values) for values in (left_count, right_count)]
    first, second = (_class_ratios(ours, theirs, likely) for ours, theirs in (counts, means))
    prior = (first[:, None, :, None] + second[None, :, None, :]).reshape(_CLASSES**2, _CLASSES**2)
    return (counts[0] * _CLASSES + means[0], counts[1] * _CLASSES + means[1]), prior


def _unmatched_neighbours(graph: ComparedGraph, matched: Floats) -> tuple[Floats, Floats]:
    """For each node, the number of its neighbours without a partner, and their mean degree relative to the graph's."""
    import numpy as np

    unmatched = np.maximum(1 - matched, 0)
    count = graph.sum_neighbours(unmatched)
    return count, graph.sum_neighbours(unmatched * graph.degrees) / np.maximum(count, 1) / graph.mean_degree


def _count_classes(counts: Floats) -> Ints:
    """0 to 5 by themselves, then two classes per doubling."""
    import numpy as np

    counts = np.round(counts)
    classes = np.where(counts < 6, counts, 6 + 2 * np.log2(np.maximum(counts, 6) / 6))
    return np.minimum(classes, _CLASSES - 1).astype(np.int64)


def _class_ratios(left: Ints, right: Ints, likely: Any) -> Floats:
    """The log-likelihood ratio of each pair of classes: likely matches, smoothed, against pairs at random."""
    import numpy as np

    counted = np.zeros((_CLASSES, _CLASSES))
    rows = np.repeat(np.arange(len(left)), np.diff(likely.indptr))
    np.add.at(counted, (left[rows], right[likely.indices]), likely.data)
    smooth = counted.copy()
    smooth[1:] += counted[:-1] / 4
    smooth[:-1] += counted[1:] / 4
    smooth[:, 1:] += counted[:, :-1] / 4
    smooth[:, :-1] += counted[:, 1:] / 4
    smooth *= counted.sum() / smooth.sum()
    shares = [np.bincount(classes, minlength=_CLASSES) + 1.0 for classes in (left, right)]
    random = np.outer(shares[0] / shares[0].sum(), shares[1] / shares[1].sum())
    ratios: Floats = np.log((smooth + _AS_UNRELATED * random) / (counted.sum() + _AS_UNRELATED) / random)
    return ratios
