"""The passive attack: someone who holds an overlapping network finds people in a release without names.

Two graphs show many of the same people: the released one, without names, and one that the attacker holds. The attack
matches their nodes by structure alone, starting from a few known pairs (*seeds*) or from none
(:mod:`unveil.network.passive.seeds`).

**Sweeps.** No match is ever decided on. Every left node has probabilities of being each of several right nodes, or
nobody in the right graph. A sweep scores all pairs that have a neighbour in common, as far as it is known who that is
(:mod:`unveil.network.passive.evidence`), turns the scores into new probabilities
(:mod:`unveil.network.passive.partner_probabilities`), and estimates anew how much both graphs have in common
(:mod:`unveil.network.passive.overlap`). From the second sweep
on, old and new probabilities are averaged, so that early mistakes, wrong seeds
among them, are outvoted. A group of nodes that cannot be told apart shares its probabilities, and still tells its
neighbours apart from others. The attack ends when probabilities settle, and after ``_SWEEPS`` at the latest: more of
them make the attack surer, but not better.

**Matches** are the pairs that are the likeliest for both nodes. The published method
(:mod:`unveil.network.passive.published_attack`) is run from the same seeds. It makes other mistakes, so that a match of
both is surer, and where the sweeps leave a node unnamed, its match counts. In very large networks it is not tried. What
is known of a match beside its score is kept: :mod:`unveil.network.passive.calibration` needs it.

**Scores.** The score of a match is its log-odds, if all other matches were right, and ``_CONFIRMED`` more if the
published method makes it as well. It is no probability: mistakes of one
match speak for mistakes of others. :mod:`unveil.network.passive.calibration` turns it into one.

**Ceiling.** The same attack started from the truth shows about how much can be found with these scores, however good
the first pairs are. It is no strict limit.

Either graph may be the released one.

References: A. Narayanan, V. Shmatikov, De-anonymizing social networks, S&P 2009; M. Bayati, D. Gleich, A. Saberi,
Y. Wang, Message-passing algorithms for sparse network alignment, ACM TKDD 7, 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from unveil.errors import UnveilError
from unveil.network.passive.compared_graph import ComparedGraph, check_mapping
from unveil.network.passive.evidence import Evidence
from unveil.network.passive.overlap import EdgeOverlap, estimate_overlap
from unveil.network.passive.partner_probabilities import (
    PairProbabilities,
    certain_matrix,
    likeliest_pairs,
    mix_matrices,
    pair_probabilities,
)
from unveil.network.passive.published_attack import published_attack
from unveil.network.passive.seeds import profile_seeds
from unveil.release.graph import Graph
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.arrays import Bools, Floats, Ints

__all__ = ["CLEAR", "EVIDENCE", "Matches", "attack_from_truth", "passive_attack"]

CLEAR = 0.0
"""Matches with a score above this are stated: more likely right than wrong, by their own account."""

EVIDENCE = ("runner_up", "shared", "shared_of_all", "shared_of_fewer", "unmatched", "unmatched_difference", "published")
"""What is known of a match beside its score: the probability of the next best partner of either node; how many edges
are shared, and which share that is of all edges of both, and of those of the node with fewer; how many neighbours of
both have no partner, and how many more of one than of the other; whether the published method confirms it (1), alone
states it (−1), or neither (0)."""

_SWEEPS = 15
_SETTLED = 0.002  # the share of all probability that may still move
_FIRST_TRUST = 0.9  # in seeds
_NONE = 2.0  # the score of having no partner
_GIVEN_GAIN = 6.0  # what speaks for a seed that was given
_CONFIRMED = 3.0  # what speaks for a match that the published method makes as well
_PUBLISHED_ALONE = 0.5  # the score of a match that only the published method makes
_PUBLISHED_THETA = 0.5  # its eccentricity
_MOST_NODES_TO_CONFIRM = 200_000


@dataclass(frozen=True, eq=False)
class Matches:
    """``mapping`` is, for each left node, its likeliest partner or −1, and ``score`` how clear that is: the log-odds,
    and more for a match that the published method makes as well. Pairs with a score of at most ``CLEAR`` are guesses.
    ``evidence`` is what else is known, in the order of ``EVIDENCE``. ``overlap`` is the estimated share of edges of the
    left graph that are in the right one, and of the right one in the left one, and ``evenness`` how alike these shares
    are from node to node. ``seeds`` is what it started from, ``given`` those among them that were given."""

    mapping: Ints
    score: Floats
    evidence: Floats
    overlap: tuple[float, float]
    evenness: tuple[float, float]
    seeds: Ints
    given: Ints
    sweeps: int

    def stated_mapping(self) -> Ints:
        """The mapping without guesses."""
        import numpy as np

        return np.where(self.score > CLEAR, self.mapping, -1)

    def confirmed_seeds(self) -> float:
        """The share of given seeds that the attack, which decides on them again, agrees with; NaN if none was given."""
        import numpy as np

        known = np.flatnonzero(self.given >= 0)
        return float((self.mapping[known] == self.given[known]).mean()) if len(known) else float("nan")


def passive_attack(
    left: Graph,
    right: Graph,
    run: Run,
    seeds: Ints | None = None,
    left_crawled: Bools | None = None,
    right_crawled: Bools | None = None,
) -> Matches:
    """Match the nodes of two graphs.

    ``seeds`` is, for each left node, the right node it is believed to be, or −1; others are found. The
    marks say of which nodes of a directed graph outgoing edges are known; by default of those that have any.
    """
    import numpy as np

    sides = _compare_graphs(left, right, left_crawled, right_crawled)
    given = np.full(left.nodes, -1) if seeds is None else check_mapping(seeds, left, right)
    start = _add_seeds(given, profile_seeds(*sides, run))
    settled = _settle_probabilities(*sides, start, given, run)
    return _state_matches(settled, _published_matches(*sides, start, run), start)


def attack_from_truth(
    left: Graph,
    right: Graph,
    truth: Ints,
    run: Run,
    left_crawled: Bools | None = None,
    right_crawled: Bools | None = None,
) -> Matches:
    """The ceiling: the same attack started from the truth, which then counts no more than any other matches. The
    published method is not asked: it would repeat the truth."""
    import numpy as np

    sides = _compare_graphs(left, right, left_crawled, right_crawled)
    start = check_mapping(truth, left, right)
    settled = _settle_probabilities(*sides, start, np.full(left.nodes, -1), run)
    return _state_matches(settled, np.full(left.nodes, -1), start)


def _add_seeds(given: Ints, found: Ints) -> Ints:
    """The pairs that were given, and those that were found and do not contradict them."""
    import numpy as np

    free = (given < 0) & ~np.isin(found, given[given >= 0])
    return np.where(free, found, given)


def _compare_graphs(
    left: Graph, right: Graph, left_crawled: Bools | None, right_crawled: Bools | None
) -> tuple[ComparedGraph, ComparedGraph]:
    if left.directed != right.directed:
        raise UnveilError("one graph is directed and the other is not; read both the same way")
    return ComparedGraph(left, left_crawled), ComparedGraph(right, right_crawled)


class _Settled(NamedTuple):
    """The probabilities of pairs after so many sweeps, and the last evidence for them."""

    likely: Any
    evidence: Evidence
    pairs: PairProbabilities
    overlap: EdgeOverlap
    sweeps: int


def _settle_probabilities(left: ComparedGraph, right: ComparedGraph, seeds: Ints, given: Ints, run: Run) -> _Settled:
    """Sweep until the probabilities settle."""
    likely = certain_matrix(seeds, right.nodes, _FIRST_TRUST)
    overlap, sweep, settled = EdgeOverlap(), 0, False
    while sweep < _SWEEPS and not settled:
        sweep += 1
        evidence = Evidence(left, right, likely, overlap, given)
        pairs = pair_probabilities(evidence.find_candidates(_NONE, _GIVEN_GAIN, run), right.nodes)
        fresh = pairs.as_matrix(left.nodes, right.nodes)
        before, likely = likely, fresh if sweep == 1 else mix_matrices(likely, fresh)
        overlap = estimate_overlap(evidence, pairs)
        settled = abs(likely - before).sum() <= _SETTLED * max(likely.sum(), 1.0)
    return _Settled(likely, evidence, pairs, overlap, sweep)


def _published_matches(left: ComparedGraph, right: ComparedGraph, seeds: Ints, run: Run) -> Ints:
    """What the published method says, from the same seeds, of nodes that it does not leave as they were; nothing if the
    networks are too large for it."""
    import numpy as np

    if left.nodes > _MOST_NODES_TO_CONFIRM:
        return np.full(left.nodes, -1)
    similar = published_attack(left.graph, right.graph, seeds, run, _PUBLISHED_THETA, left.crawled, right.crawled)
    return np.where(similar == seeds, -1, similar)


def _state_matches(settled: _Settled, published: Ints, seeds: Ints) -> Matches:
    """The pairs that are the likeliest for both of their nodes; and, where there is no such pair or only a guess, what
    the published method says."""
    import numpy as np

    best = likeliest_pairs(settled.likely)
    probability = np.clip(best.probability, 1e-6, 1 - 1e-6)
    mapping, score = np.full(settled.likely.shape[0], -1), np.full(settled.likely.shape[0], -np.inf)
    runner_up = _likeliest_partners(settled.likely, published)
    mapping[best.lefts], score[best.lefts] = best.rights, np.log(probability / (1 - probability))
    confirmed = (mapping >= 0) & (mapping == published)
    runner_up[best.lefts] = best.runner_up
    score[confirmed] = np.maximum(score[confirmed] + _CONFIRMED, _PUBLISHED_ALONE)
    adopted = (published >= 0) & (score <= CLEAR) & ~np.isin(published, mapping[score > CLEAR])
    replaced = np.isin(mapping, published[adopted]) | adopted
    mapping[replaced], score[replaced] = -1, -np.inf
    mapping[adopted], score[adopted] = published[adopted], _PUBLISHED_ALONE
    described = _describe_matches(settled, mapping, runner_up, confirmed - 1.0 * adopted)
    overlap = settled.overlap
    return Matches(
        mapping, score, described, overlap.shares, overlap.evenness, seeds, settled.evidence.given, settled.sweeps
    )


def _likeliest_partners(likely: Any, partners: Ints) -> Floats:
    """For each left node and the right one that is named for it, the highest probability of a partner of either."""
    import numpy as np

    highest = [np.zeros(likely.shape[axis]) for axis in range(2)]
    lefts = np.repeat(np.arange(likely.shape[0]), np.diff(likely.indptr))
    for side, nodes in zip(highest, (lefts, likely.indices), strict=True):
        np.maximum.at(side, nodes, likely.data)
    named = np.flatnonzero(partners >= 0)
    highest[0][named] = np.maximum(highest[0][named], highest[1][partners[named]])
    return highest[0]


def _describe_matches(settled: _Settled, mapping: Ints, runner_up: Floats, published: Floats) -> Floats:
    """What is known of each match, in the order of ``EVIDENCE``; 0 for nodes without one."""
    import numpy as np

    evidence, pairs = settled.evidence, settled.pairs
    described = np.zeros((len(mapping), len(EVIDENCE)))
    nodes = np.flatnonzero(mapping >= 0)
    shared = np.zeros(len(mapping))
    stated = mapping[pairs.lefts] == pairs.rights
    shared[pairs.lefts[stated]] = pairs.shared[stated]
    mine, theirs = evidence.possible_shared(nodes, mapping[nodes])
    unmatched = [evidence.unmatched_neighbours[0][nodes], evidence.unmatched_neighbours[1][mapping[nodes]]]
    common = shared[nodes]
    described[nodes] = np.stack(
        [
            runner_up[nodes],
            common,
            (common + 0.5) / (np.maximum(mine + theirs - common, common) + 1),
            (common + 0.5) / (np.maximum(np.minimum(mine, theirs), common) + 1),
            unmatched[0] + unmatched[1],
            np.abs(unmatched[0] - unmatched[1]),
            published[nodes],
        ],
        axis=1,
    )
    return described
