"""The passive attack: someone who holds an overlapping network finds people in a release without names.

Two graphs show many of the same people: the released one, without names, and one that the attacker holds. The attack
matches their nodes by structure alone, starting from a few known pairs (*seeds*) or from none
(:mod:`unveil.network.passive_seeds`).

**How it grows.** Each sweep scores all pairs that have a matched neighbour in common
(:mod:`unveil.network.passive_evidence`) and matches anew: two nodes that are each other's best partner, the clearest
ones first, and at most ``_GROWTH`` times as many as before, so that early mistakes, wrong seeds among them, are
outvoted. A partner who is taken costs what its present match would lose. Then pairs that fit better crosswise are
exchanged. When nothing grows any more, the *core*, the matches that are clear by ``_CORE``, is kept, the rest is
dropped, and the core grows again. What is left then may be matched by the published method
(:mod:`unveil.network.passive_published`), with the lowest score that is stated.

**Scores.** The score of a match is its margin: the log-likelihood ratio against the best alternative of either node,
against no match at all, and against changing partners with another pair. It is no probability: mistakes of one match
speak for mistakes of others. :mod:`unveil.network.passive_calibration` turns it into one.

**Ceiling.** The same attack with the truth as its seeds shows about how much can be found with these scores, however
good the first pairs are. It is no strict limit.

Either graph may be the released one; exchanging them exchanges the answer.

References: A. Narayanan, V. Shmatikov, De-anonymizing social networks, S&P 2009; E. Kazemi, S. H. Hassani,
M. Grossglauser, Growing a graph matching from a handful of seeds, VLDB 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.network.passive_evidence import (
    WORST,
    ComparedGraph,
    Evidence,
    Partners,
    check_mapping,
    edge_agreement,
    swap_losses,
)
from unveil.network.passive_published import published_attack
from unveil.network.passive_seeds import profile_seeds
from unveil.release.graph import Graph
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.arrays import Bools, Floats, Ints

__all__ = ["CLEAR", "Matches", "grow_matches", "passive_attack"]

CLEAR = 1.0
"""Matches with at least this score are stated: e times as likely as any alternative."""

_GROWTH = 1.5
_REGROWTH = 1.3
_CORE = 4.0
_TAKEN = 0.2  # the least price of a partner who is taken, so that of two equal nodes each gets one
_SEED_TRUST = 0.9
_SWEEPS = 40
_SETTLED = 0.001  # the share of nodes that may still change
_LATE = 10  # sweeps after growth has ended
_LARGE = 100_000  # nodes: growth is faster, and ends sooner
_LARGE_GROWTH = 2.5
_SIMILAR = 0.5  # eccentricity


@dataclass(frozen=True, eq=False)
class Matches:
    """``mapping`` is, for each left node, its partner or −1, and ``score`` how clear that is; pairs with a score below
    ``CLEAR`` are guesses that served as witnesses. ``overlap`` is the estimated share of edges of the left graph that
    are in the right one, and of the right one in the left one. ``seeds`` is what it started from."""

    mapping: Ints
    score: Floats
    overlap: tuple[float, float]
    seeds: Ints
    sweeps: int

    def stated_mapping(self) -> Ints:
        """The mapping without guesses."""
        import numpy as np

        return np.where(self.score >= CLEAR, self.mapping, -1)

    def confirmed_seeds(self) -> float:
        """The share of seeds that the attack, which decides on them again, agrees with; NaN without seeds."""
        import numpy as np

        seeds = np.flatnonzero(self.seeds >= 0)
        return float((self.mapping[seeds] == self.seeds[seeds]).mean()) if len(seeds) else float("nan")


def passive_attack(
    left: Graph,
    right: Graph,
    run: Run,
    seeds: Ints | None = None,
    left_crawled: Bools | None = None,
    right_crawled: Bools | None = None,
) -> Matches:
    """Match the nodes of two graphs.

    ``seeds`` is, for each left node, the right node it is believed to be, or −1; without seeds they are found. The
    marks say of which nodes of a directed graph outgoing edges are known; by default of those that have any.
    """
    if left.directed != right.directed:
        raise UnveilError("one graph is directed and the other is not; read both the same way")
    sides = ComparedGraph(left, left_crawled), ComparedGraph(right, right_crawled)
    start = profile_seeds(*sides, run) if seeds is None else check_mapping(seeds, left, right)
    first = grow_matches(*sides, start, run)
    core = _keep_core(first)
    if core is None:
        return first
    again = grow_matches(*sides, core, run, first.overlap, _REGROWTH)
    mapping, score = again.mapping, again.score
    if left.nodes < _LARGE:
        mapping, score = _add_similar_nodes(again, left, right, sides[0].crawled, sides[1].crawled, run)
    return Matches(mapping, score, again.overlap, start, first.sweeps + again.sweeps)


def _keep_core(found: Matches) -> Ints | None:
    """The clearest matches; None if there are too few to start from."""
    import numpy as np

    core = np.where((found.mapping >= 0) & (found.score >= _CORE), found.mapping, -1)
    return core if (core >= 0).sum() >= 10 else None


def _add_similar_nodes(
    found: Matches, left: Graph, right: Graph, left_crawled: Bools, right_crawled: Bools, run: Run
) -> tuple[Ints, Floats]:
    """Let the published method, started from the clear matches, match what is left. Where whole neighbourhoods are
    missing in one graph, too few neighbours are shared for a clear match, but still more than with any other node."""
    import numpy as np

    mapping, score = found.stated_mapping(), np.where(found.score >= CLEAR, found.score, -np.inf)
    similar = published_attack(left, right, mapping, run, _SIMILAR, left_crawled, right_crawled)
    taken = np.zeros(right.nodes + 1, np.bool_)
    taken[mapping] = True  # the last place stands for none
    added = np.flatnonzero((mapping < 0) & (similar >= 0) & ~taken[similar])
    mapping[added], score[added] = similar[added], CLEAR
    taken[mapping[added]] = True
    guessed = np.flatnonzero((mapping < 0) & (found.mapping >= 0) & ~taken[found.mapping])
    mapping[guessed], score[guessed] = found.mapping[guessed], found.score[guessed]
    return mapping, score


def grow_matches(
    left: ComparedGraph,
    right: ComparedGraph,
    seeds: Ints,
    run: Run,
    overlap: tuple[float, float] = (0.5, 0.5),
    growth: float = _GROWTH,
) -> Matches:
    """Grow a mapping until it settles."""
    import numpy as np

    mapping, trust = seeds, np.full(left.nodes, _SEED_TRUST)
    score = np.where(seeds >= 0, 0.0, -np.inf)
    prices = np.zeros(left.nodes), np.zeros(right.nodes)
    size, late, sweep = max(int((seeds >= 0).sum()), 10), 0, 0
    while sweep < _SWEEPS and late <= (_LATE if left.nodes < _LARGE else 2):
        run.progress("matching nodes", None)
        sweep += 1
        evidence = Evidence(left, right, mapping, trust, overlap)
        partners = evidence.find_partners(prices, run)
        size = int(size * (growth if left.nodes < _LARGE else _LARGE_GROWTH))
        before, (mapping, score) = mapping, _clearest_pairs(partners, right.nodes - int((mapping >= 0).sum()), size)
        late += int((mapping >= 0).sum()) < size
        mapping, score = _exchange(left, right, mapping, score, overlap, partners.rival)
        trust = _trust(score)
        prices = _prices(mapping, score, right.nodes)
        low, high = 0.1, 0.97
        agreement = edge_agreement(left, right, mapping)
        overlap = min(max(agreement[0], low), high), min(max(agreement[1], low), high)
        if late > 2 and (mapping != before).mean() < _SETTLED:
            break
    return Matches(mapping, np.where(mapping >= 0, score, -np.inf), overlap, seeds, sweep)


def _clearest_pairs(partners: Partners, free: int, size: int) -> tuple[Ints, Floats]:
    """The mutual best pairs with the largest margins, at most so many of them; the margins, −∞ for all others.

    No match at all scores log(free + 1): the right nodes that nobody has are equally likely by themselves.
    """
    import numpy as np

    none = np.log(max(free, 0) + 1)
    who = partners.left_who[:, 0]
    mutual = np.flatnonzero(who >= 0)
    mutual = mutual[partners.right_who[who[mutual], 0] == mutual]
    left_margin, right_margin = (
        best[:, 0] - np.maximum(best[:, 1], none) for best in (partners.left_best, partners.right_best)
    )
    margin = np.minimum(left_margin[mutual], right_margin[who[mutual]])
    chosen = np.argsort(-margin, kind="stable")[:size]
    chosen = chosen[margin[chosen] > WORST]
    mapping, score = np.full(len(who), -1), np.full(len(who), -np.inf)
    mapping[mutual[chosen]], score[mutual[chosen]] = who[mutual[chosen]], margin[chosen]
    return mapping, score


def _exchange(
    left: ComparedGraph,
    right: ComparedGraph,
    mapping: Ints,
    score: Floats,
    overlap: tuple[float, float],
    rival: Ints,
) -> tuple[Ints, Floats]:
    """Let pairs of nodes change partners where that fits better. What is lost by the next best change limits the score
    of both; a node that has changed scores 0 at most."""
    import numpy as np

    score, trust, original = score.copy(), _trust(score), mapping
    for _ in range(3):
        u, w, loss = swap_losses(Evidence(left, right, mapping, trust, overlap), rival)
        better = np.flatnonzero(loss < -0.01)
        if len(better) == 0:
            break
        mapping, used = mapping.copy(), set[int]()
        for a, b in zip(
            *(nodes[better[np.argsort(loss[better], kind="stable")]].tolist() for nodes in (u, w)), strict=True
        ):
            if not {a, b} & used:
                used |= {a, b}
                mapping[a], mapping[b] = mapping[b], mapping[a]
    np.minimum.at(score, u, loss)
    np.minimum.at(score, w, loss)
    changed = mapping != original
    score[changed] = np.minimum(score[changed], 0.0)
    return mapping, score


def _trust(score: Floats) -> Floats:
    """How far a witness is believed: its odds are the square root of what its score says."""
    import numpy as np

    trust: Floats = np.clip(1 / (1 + np.exp(-np.clip(score, -50, 50) / 2)), 0.02, 0.99)
    return trust


def _prices(mapping: Ints, score: Floats, nodes: int) -> tuple[Floats, Floats]:
    """What a taken left and a taken right node cost."""
    import numpy as np

    mapped = np.flatnonzero(mapping >= 0)
    price = np.clip(score[mapped], _TAKEN, 50)
    left, right = np.zeros(len(mapping)), np.zeros(nodes)
    left[mapped], right[mapping[mapped]] = price, price
    return left, right
