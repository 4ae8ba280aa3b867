"""What speaks for two nodes of two networks being the same person: log-likelihood ratios over matched neighbours.

Some nodes of the left graph are already mapped to nodes of the right one. A mapped neighbour w of the left node u is a
*witness* for the right node v if its image x = map(w) is a neighbour of v. If u and v are the same person, an edge of
the left graph is in the right one too with probability a, and an edge of the right graph in the left one with
probability b; otherwise an edge between v and x is there by chance, ρ = d(v) · d(x) / 2m. If the witness itself is
right with probability p, the score of (u, v) is the sum of

- log(p a / ρ), at least 0, for each shared witness,
- log(1 − p a) for each mapped neighbour of u, and log(1 − p b) for each mapped neighbour of v, that is not shared,
- a log-likelihood ratio for what is known of their unmapped neighbours: how many there are, and their mean degree,
  relative to the mean degree of the graph. It is counted on the pairs matched so far, against pairs at random.

a and b are estimated from the pairs matched so far. In a directed graph each direction of an edge counts by itself, and
no outgoing edge is missed at a node of which outgoing edges are not known (*not crawled*).

**Hubs.** A witness with more than 500 neighbours, and more than 50 times the mean, proposes no pairs, unless all
witnesses of a node are so large and there are at least two: then its smallest one does. Hubs count as witnesses for
pairs that others proposed. Memory grows with nodes and edges only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unveil.errors import UnveilError
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.arrays import Bools, Floats, Int32s, Ints

__all__ = ["WORST", "ComparedGraph", "Evidence", "Partners", "check_mapping", "edge_agreement", "swap_losses"]

WORST = -3.0
"""Pairs that score less are passed over."""

_SLICE = 20_000_000  # steps between two looks at whether the run was cancelled
_CLASSES = 12  # of the number of unmapped neighbours, and of their mean degree
_AS_UNRELATED = 30.0  # pairs at random that are added to the counted ones
_FEW_PAIRS = 20  # too few to count anything
_NEVER = -1e30


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
        raise UnveilError("seeds need one entry for each node of the left graph, -1 for unknown ones")
    images = mapping[mapping >= 0]
    if len(images) and images.max() >= right.nodes:
        raise UnveilError("a seed names a node that the right graph does not have; check its number")
    if len(np.unique(images)) < len(images):
        raise UnveilError("two seeds name the same node of the right graph; leave one out")
    return mapping


@dataclass(frozen=True, eq=False)
class Partners:
    """For each node of either side, the two best partners and their scores, less the price if another has them; for
    each left node, the ``rival``: the best partner besides the present one. −1: none."""

    left_best: Floats
    left_who: Ints
    right_best: Floats
    right_who: Ints
    rival: Ints


class Evidence:
    """The scores of all pairs, given a mapping, the probability that each of its pairs is right, and the overlap."""

    def __init__(
        self, left: ComparedGraph, right: ComparedGraph, mapping: Ints, trust: Floats, overlap: tuple[float, float]
    ) -> None:
        import numpy as np

        self.left, self.right, self.mapping = left, right, mapping
        mapped = np.flatnonzero(mapping >= 0)
        images = mapping[mapped]
        self.inverse = np.full(right.nodes, -1)
        self.inverse[images] = mapped
        left_loss, right_loss = np.zeros(left.nodes), np.zeros(right.nodes)
        left_loss[mapped] = np.log1p(-trust[mapped] * overlap[0])
        right_loss[images] = np.log1p(-trust[mapped] * overlap[1])
        self.weights, self.cells = self._weigh_witnesses(mapped, images, trust, overlap[0], left_loss, right_loss)
        self.losses = (*self._sum_losses(left, left_loss, right, mapping), *self._sum_losses(right, right_loss, left))
        self.cells[:, 3] = self.losses[2]
        self.classes, self.prior = _compare_unmapped(left, right, mapped, images)

    def _weigh_witnesses(
        self, mapped: Ints, images: Ints, trust: Floats, overlap: float, left_loss: Floats, right_loss: Floats
    ) -> tuple[Any, Any]:
        """What each witness gives, and what each right node subtracts from that, by direction."""
        import numpy as np

        graph = self.right.graph
        edges = graph.edges if graph.directed else 2 * graph.edges
        log_in, log_out = (np.log(np.maximum(degrees, 1)) for degrees in (graph.in_degrees, graph.degrees))
        gain = np.full(self.right.nodes, np.log(overlap * max(edges, 1)))
        gain[images] += np.log(trust[mapped]) - left_loss[mapped] - right_loss[images]
        cells = np.zeros((self.right.nodes, 4), np.float32)
        cells[:, 1], cells[:, 2] = log_in, log_out
        return np.stack([gain - log_out, gain - log_in]).astype(np.float32), cells

    def _sum_losses(
        self, graph: ComparedGraph, loss: Floats, other: ComparedGraph, mapping: Ints | None = None
    ) -> tuple[Floats, Floats]:
        """What a node loses if it shares nothing: by neighbours whose outgoing edges the other graph knows; and by its
        own outgoing edges, which count if the partner is crawled, beside a mark of whether it is crawled itself."""
        import numpy as np

        partner = self.inverse if mapping is None else mapping
        known = np.zeros(graph.nodes)
        mapped = partner >= 0
        known[mapped] = other.crawled[partner[mapped]]
        outgoing = np.zeros((graph.nodes, 2))
        if graph.graph.directed:
            outgoing[:, 0], outgoing[:, 1] = graph.sum_neighbours(loss, 2), graph.crawled
        return graph.sum_neighbours(loss * known, 1), outgoing

    def find_partners(self, prices: tuple[Floats, Floats], run: Run) -> Partners:
        """Score all pairs with a witness: one sweep."""
        import numpy as np

        from unveil.network import _passive_kernels

        sizes = self.left.nodes, self.right.nodes
        best = tuple(make for n in sizes for make in (np.full((n, 2), _NEVER), np.full((n, 2), -1)))
        rival = np.full(sizes[0], _NEVER), np.full(sizes[0], -1)
        worst = WORST - float(self.prior.max())
        touched, node = np.empty(sizes[1] + 1, np.int64), 0
        while node < sizes[0]:
            run.check()
            node = _passive_kernels.score_all(
                node, _SLICE, self.right.hub, worst, self.left.arrays, self.right.arrays, self.mapping, prices,
                self.weights, self.cells, self.losses, self.classes, self.prior, touched, best, rival,
            )  # fmt: skip
        return Partners(best[0], best[1], best[2], best[3], rival[1])

    def score_pairs(self, lefts: Ints, rights: Ints, without: Ints) -> Floats:
        """The scores of given pairs, each without one left node as a witness."""
        import numpy as np

        from unveil.network import _passive_kernels

        found = np.empty(len(lefts))
        _passive_kernels.score_pairs(
            np.stack([lefts, rights], axis=1), without, self.left.arrays, self.right.arrays, self.mapping, self.weights,
            self.cells, self.losses, self.classes, self.prior, found,
        )  # fmt: skip
        return found


def swap_losses(evidence: Evidence, rival: Ints) -> tuple[Ints, Ints, Floats]:
    """For each mapped node u whose rival is the partner of another node w: (u, w, how much worse it would be if u and w
    changed partners). Neither is a witness for the other, because that would speak for any present mapping, right or
    wrong. A node whose partner was its rival until now is its own rival, and loses nothing."""
    import numpy as np

    mapping = evidence.mapping
    u = np.flatnonzero((mapping >= 0) & (rival >= 0))
    w = evidence.inverse[rival[u]]
    u, w = u[w >= 0], w[w >= 0]
    mine, theirs = mapping[u], mapping[w]
    now = evidence.score_pairs(u, mine, w) + evidence.score_pairs(w, theirs, u)
    return u, w, now - evidence.score_pairs(u, theirs, w) - evidence.score_pairs(w, mine, u)


def edge_agreement(left: ComparedGraph, right: ComparedGraph, mapping: Ints) -> tuple[float, float]:
    """The share of edges between mapped left nodes that the right graph has too, and the other way round.

    An edge counts if the node it leaves is crawled in both graphs.
    """
    import numpy as np

    inverse = np.full(right.nodes, -1)
    mapped = np.flatnonzero(mapping >= 0)
    inverse[mapping[mapped]] = mapped
    keys = _mapped_edges(right, inverse, left.crawled, np.arange(right.nodes), right.nodes)
    wanted = _mapped_edges(left, mapping, right.crawled, mapping, right.nodes)
    place = np.searchsorted(keys, wanted)
    shared = int((keys[np.minimum(place, max(len(keys) - 1, 0))] == wanted).sum()) if len(keys) else 0
    return (shared + 1) / (len(wanted) + 2), (shared + 1) / (len(keys) + 2)


def _mapped_edges(graph: ComparedGraph, partner: Ints, crawled: Bools, name: Ints, size: int) -> Ints:
    """The edges between mapped nodes, target first, by names of nodes; those that leave a node with a crawled
    partner."""
    neighbours, bits = graph.arrays[1], graph.arrays[2]
    kept = (partner[graph.owners] >= 0) & (partner[neighbours] >= 0) & ((bits & 1) > 0)
    kept[kept] = crawled[partner[neighbours[kept]]]
    keys: Ints = name[graph.owners[kept]] * size + name[neighbours[kept]]
    return keys


def _compare_unmapped(
    left: ComparedGraph, right: ComparedGraph, mapped: Ints, images: Ints
) -> tuple[tuple[Ints, Ints], Floats]:
    """Classes of nodes by their unmapped neighbours, and the log-likelihood ratio of each pair of classes."""
    import numpy as np

    if len(mapped) < _FEW_PAIRS:
        return (np.zeros(left.nodes, np.int64), np.zeros(right.nodes, np.int64)), np.zeros((1, 1))
    (left_count, left_mean), (right_count, right_mean) = (
        _unmapped_neighbours(graph, nodes) for graph, nodes in ((left, mapped), (right, images))
    )
    right_count = right_count * left.mean_degree / right.mean_degree
    cuts = np.quantile(np.append(left_mean, right_mean), np.arange(1, _CLASSES) / _CLASSES)
    means = [np.searchsorted(np.unique(cuts), values, side="right") for values in (left_mean, right_mean)]
    counts = [_count_classes(values) for values in (left_count, right_count)]
    first, second = (_class_ratios(ours, theirs, mapped, images) for ours, theirs in (counts, means))
    prior = (first[:, None, :, None] + second[None, :, None, :]).reshape(_CLASSES**2, _CLASSES**2)
    return (counts[0] * _CLASSES + means[0], counts[1] * _CLASSES + means[1]), prior


def _unmapped_neighbours(graph: ComparedGraph, mapped: Ints) -> tuple[Floats, Floats]:
    """For each node, the number of its unmapped neighbours, and their mean degree relative to that of the graph."""
    import numpy as np

    unmapped = np.ones(graph.nodes)
    unmapped[mapped] = 0
    count = graph.sum_neighbours(unmapped)
    return count, graph.sum_neighbours(unmapped * graph.degrees) / np.maximum(count, 1) / graph.mean_degree


def _count_classes(counts: Floats) -> Ints:
    """0 to 5 by themselves, then two classes per doubling."""
    import numpy as np

    counts = np.round(counts)
    classes = np.where(counts < 6, counts, 6 + 2 * np.log2(np.maximum(counts, 6) / 6))
    return np.minimum(classes, _CLASSES - 1).astype(np.int64)


def _class_ratios(left: Ints, right: Ints, mapped: Ints, images: Ints) -> Floats:
    """The log-likelihood ratio of each pair of classes: matched pairs, smoothed, against pairs at random."""
    import numpy as np

    counted = np.zeros((_CLASSES, _CLASSES))
    np.add.at(counted, (left[mapped], right[images]), 1)
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
