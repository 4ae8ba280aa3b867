"""How plausible is a connection? Someone who ranks those of a release may tell which were added.

A protection that adds edges between nodes with nothing in common protects nobody from an attacker who removes them
again (link prediction turned round: D. Liben-Nowell, J. Kleinberg, The link-prediction problem for social networks, J.
Am. Soc. Inf. Sci. 58, 2007). Two nodes are plausible neighbours if they share many; an edge between them does not count
itself. Two scores:

- **Excess**: log((c + 1) / (e + 1)) for c shared neighbours, where e = a·b·Σd(w)(d(w) − 1) / (2m)² would be expected if
  edges joined their ends at random. a and b are the numbers of other neighbours of both nodes, d(w) all degrees, and m
  the number of edges. It finds edges that were added between nodes with many neighbours.
- **Adamic–Adar**: Σ 1 / log d(w) over the shared neighbours w (L. A. Adamic, E. Adar, Friends and neighbors on the web,
  Social Networks 25, 2003). It finds edges that were added between any two nodes.

How well a score tells is the **AUC**: how often a real edge has a higher score than an added one, ties counted half; ½
is guessing. Below ½, an attacker turns the ranking round, and has 1 − AUC. The largest of the four counts, since an
attacker may know how edges were added. Directions do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unveil.arrays import Floats, Int32s, Ints
from unveil.intervals import estimate_mean
from unveil.network.compared_graphs import (
    ComparedGraphs,
    are_among,
    compare_edges,
    compare_graphs,
    compared_edge_keys,
)
from unveil.network.measures.graph_measures import undirected_graph
from unveil.network.use import _kernels
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run
from unveil.slices import chunks
from unveil.usefulness.use_measure import UseMeasure
from unveil.wording import percent_text

__all__ = [
    "EdgeTelling",
    "PairEvidence",
    "edge_scores",
    "fake_edge_auc",
    "fake_edge_sentence",
    "pair_evidence",
    "pair_scores",
    "plausibility_use",
    "ranking_auc",
    "removed_edge_auc",
]

_DIGITS = 9  # of sums of weights; beyond, they are equal
_SLICE = 1 << 18  # pairs between two looks at whether to stop
_ALL_PAIRS = 200_000  # pairs of nodes up to which all that are not edges are ranked
_SAMPLE = 20_000  # as many otherwise
_DRAWS = 1_000_000  # pairs that are drawn for that, since some are edges


@dataclass(frozen=True, eq=False)
class PairEvidence:
    """What speaks for an edge between the nodes of each of some pairs: both scores."""

    excess: Floats
    adamic_adar: Floats


def pair_evidence(graph: Graph, sources: Ints | Int32s, targets: Ints | Int32s, run: Run | None = None) -> PairEvidence:
    """Both scores of each pair of nodes, whether or not there is an edge between them."""
    whole, run = undirected_graph(graph), run or Run()
    degrees = whole.degrees.astype(np.float64)
    weights = np.divide(1.0, np.log(np.maximum(degrees, 2)))
    sources, targets = np.asarray(sources, np.int32), np.asarray(targets, np.int32)
    shared, sums = np.zeros(len(sources), np.int64), np.zeros(len(sources))
    are_edges = np.zeros(len(sources), np.bool_)
    for first, last in chunks(len(sources), run, _SLICE):
        _kernels.count_shared_neighbours(
            whole.indptr, whole.neighbours, weights, sources, targets, first, last, shared, sums, are_edges
        )
    ends = max(1, len(whole.neighbours))
    expected = (degrees[sources] - are_edges) * (degrees[targets] - are_edges)
    expected *= float((degrees * (degrees - 1)).sum()) / ends**2
    return PairEvidence(np.log((shared + 1) / (expected + 1)), sums.round(_DIGITS))


def pair_scores(graph: Graph, sources: Ints | Int32s, targets: Ints | Int32s, run: Run | None = None) -> Floats:
    """How plausible an edge between the nodes of each pair is, by excess: the higher, the more plausible.

    >>> kite = Graph.from_edges([0, 0, 1, 1, 2, 3], [1, 2, 2, 3, 3, 4], nodes=5)
    >>> pair_scores(kite, np.array([0, 0]), np.array([3, 4])).round(3).tolist()
    [0.492, -0.245]
    """
    return pair_evidence(graph, sources, targets, run).excess


def edge_scores(graph: Graph, run: Run | None = None) -> Floats:
    """The same of every edge, in the order of :func:`~unveil.release.graph.edge_endpoints`."""
    return pair_scores(graph, *edge_endpoints(graph), run)


def ranking_auc(higher: Floats, lower: Floats) -> float:
    """How often one of the first scores is higher than one of the second; ties count half.

    >>> ranking_auc(np.array([3.0, 2.0]), np.array([1.0, 2.0, 4.0]))
    0.5833333333333334
    """
    return float(_placements(higher, lower).sum() / (2 * len(higher) * len(lower)))


def _placements(higher: Floats, lower: Floats) -> Ints:
    """For each of the first scores, twice how many of the second it exceeds, and once how many it equals."""
    ordered = np.sort(lower)
    return np.searchsorted(ordered, higher, "left") + np.searchsorted(ordered, higher, "right")


@dataclass(frozen=True)
class EdgeTelling:
    """How well someone tells ``few`` edges that were added or removed from ``others``, by both scores.

    ``intervals`` say where the numbers lie with 95% confidence, if the others are a sample.
    """

    few: int
    others: int
    by_excess: float
    by_adamic_adar: float
    intervals: tuple[tuple[float, float], tuple[float, float]] | None = None

    @property
    def auc(self) -> float:
        """What the better of both scores achieves, turned round if that is better: never below ½."""
        return max(max(auc, 1 - auc) for auc in (self.by_excess, self.by_adamic_adar))


def fake_edge_auc(original: Graph, released: Graph, truth: Ints, run: Run | None = None) -> EdgeTelling | None:
    """How well someone who has the release tells edges that were added from those that were there; None if there are
    not both.

    ``truth`` is what each node of the original became, −1 if it was left out; no two became one.
    """
    return _tell_added(compare_graphs(original, released, truth), run)


def plausibility_use(compared: ComparedGraphs, run: Run) -> Iterator[UseMeasure]:
    """How well added edges are told from real ones, if some were added: those that are recognised are of no use."""
    found = _tell_added(compared, run)
    if found is not None:
        title = "Added connections recognised (about 50%: guessing)"
        yield UseMeasure("added_recognised", title, None, found.auc, fake_edge_sentence(found))


def _tell_added(compared: ComparedGraphs, run: Run | None) -> EdgeTelling | None:
    added = compare_edges(compared).added
    if not added.any() or added.all():
        return None
    found = pair_evidence(compared.released, *edge_endpoints(compared.released), run)
    by_excess, by_adamic_adar = (ranking_auc(s[~added], s[added]) for s in (found.excess, found.adamic_adar))
    return EdgeTelling(int(added.sum()), int((~added).sum()), by_excess, by_adamic_adar)


def fake_edge_sentence(found: EdgeTelling) -> str:
    """What was found of edges that were added, for the owner."""
    return (
        "Someone who ranks the connections by the neighbours that their ends share, and knows which way tells best, "
        f"tells an added one from an original one {percent_text(found.auc)} of the time (ties count half; guessing: "
        "about 50%)."
    )


def removed_edge_auc(
    original: Graph, released: Graph, truth: Ints, rng: np.random.Generator, run: Run | None = None
) -> EdgeTelling | None:
    """How well someone who has the release tells pairs of nodes whose edge was removed from pairs that never had one;
    None if there are not both. In a large graph these are a sample.

    Only edges between nodes that are in the release can be found.
    """
    compared = compare_graphs(original, released, truth)
    removed = compare_edges(compared).removed
    ends = [compared.place[nodes[removed]] for nodes in edge_endpoints(compared.original)]
    there = (ends[0] >= 0) & (ends[1] >= 0)
    never, is_sample = _pairs_without_edge(compared, rng)
    if not there.any() or not len(never[0]):
        return None
    gone = pair_evidence(compared.released, ends[0][there], ends[1][there], run)
    others = pair_evidence(compared.released, *never, run)
    both = ((gone.excess, others.excess), (gone.adamic_adar, others.adamic_adar))
    by_excess, by_adamic_adar = (ranking_auc(*scores) for scores in both)
    excess_ends, adamic_adar_ends = (_auc_interval(*scores) for scores in both)
    intervals = (excess_ends, adamic_adar_ends) if is_sample else None
    return EdgeTelling(int(there.sum()), len(never[0]), by_excess, by_adamic_adar, intervals)


def _auc_interval(higher: Floats, sampled: Floats) -> tuple[float, float]:
    """Where the AUC against all pairs lies: it is the mean, over them, of the share of the first scores above."""
    shares = 1 - _placements(sampled, higher) / (2 * len(higher))
    return estimate_mean(shares).interval


def _pairs_without_edge(compared: ComparedGraphs, rng: np.random.Generator) -> tuple[tuple[Ints, Ints], bool]:
    """Pairs of released nodes without an edge in either graph, and whether they are a sample."""
    nodes, directed = compared.released.nodes, compared.original.directed
    is_sample = nodes * nodes > _ALL_PAIRS
    keys = rng.integers(0, nodes * nodes, _DRAWS) if is_sample else np.arange(nodes * nodes)
    sources, targets = keys // nodes, keys % nodes
    is_free = (sources != targets) if directed else (sources < targets)
    is_free &= ~are_among(keys, np.sort(np.concatenate(compared_edge_keys(compared))))
    most = _SAMPLE if is_sample else len(keys)
    return (sources[is_free][:most], targets[is_free][:most]), is_sample
