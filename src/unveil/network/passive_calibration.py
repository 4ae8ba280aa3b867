"""How probable it is that a match of the passive attack is right: its score, calibrated by rehearsals.

A score is a log-likelihood ratio that takes all other matches for granted. On sparse networks it is far too sure of
itself. So the attack is rehearsed where the truth is known: two views are drawn of a network like the attacked ones,
and attacked in the same way. How often a match with such a score is right there (isotonic regression: never less often
with a higher score) is the probability that is stated here.

**What is rehearsed on.** The left graph, with the edges of the right one between matched nodes added. Its views overlap
in as many nodes and edges as the attacked graphs seem to. Both are estimated too high or too low from matches alone, so
a first rehearsal shows by how much, and the next ones are corrected: they find as many matches and as large an overlap
as the attack did. Seeds are found in the same way, or drawn from the truth if they were given: as many, and as often
wrong as the attack found them to be.

A network whose two versions differ in other ways than by edges missing at random is attacked less well than rehearsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.network.passive_attack import Matches, passive_attack
from unveil.network.two_views import TwoViews, two_views, wrong_seeds
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run

if TYPE_CHECKING:
    import numpy as np

    from unveil.arrays import Floats, Ints

__all__ = ["Calibration", "calibrate_matches"]

_REHEARSALS = 3
_FIRST_GUESS = 0.8  # of the node overlap
_LEAST = 0.05  # overlap that is rehearsed


@dataclass(frozen=True, eq=False)
class Calibration:
    """The probability of being right for scores from each of the rising ``scores`` to the next; below the first, 0."""

    scores: Floats
    right: Floats

    def probability(self, matches: Matches) -> Floats:
        """For each left node, the probability that its match is right; 0 if it has none."""
        import numpy as np

        place = np.searchsorted(self.scores, matches.score, side="right") - 1
        found: Floats = np.where((matches.mapping >= 0) & (place >= 0), np.append(self.right, 0.0)[place], 0.0)
        return found


def calibrate_matches(
    matches: Matches, left: Graph, right: Graph, seeds_were_given: bool, run: Run, stream: str = "network.passive"
) -> Calibration:
    """Rehearse the attack that led to these matches. ``stream`` names the random stream."""
    import numpy as np

    rng = run.rng(f"{stream} calibration")
    base = _merged_graph(matches, left, right)
    wrong = 1 - matches.confirmed_seeds() if seeds_were_given else None
    nodes, edges = _FIRST_GUESS, np.clip(matches.overlap, _LEAST, 1.0)
    found = (matches.stated_mapping() >= 0).mean()
    scores: list[Floats] = []
    truths: list[Floats] = []
    for k in range(_REHEARSALS):
        views = _draw_views(base, nodes, edges, rng)
        again = passive_attack(views.left, views.right, run, _same_seeds(views, matches, wrong, rng))
        matched = again.mapping >= 0
        scores.append(again.score[matched])
        truths.append((again.mapping[matched] == views.truth[matched]).astype(np.float64))
        if k == 0:  # too easy or too hard: only to learn from
            nodes = float(np.clip(nodes * found / max((again.stated_mapping() >= 0).mean(), 1e-3), _LEAST, 1))
            edges = np.clip(edges * edges / np.maximum(again.overlap, _LEAST), _LEAST, 1)
            scores, truths = [], []
    return _fit_calibration(np.concatenate(scores), np.concatenate(truths))


def _merged_graph(matches: Matches, left: Graph, right: Graph) -> Graph:
    """The left graph with the edges of the right one between nodes that are matched."""
    import numpy as np

    inverse = np.full(right.nodes, -1)
    stated = matches.stated_mapping()
    inverse[stated[stated >= 0]] = np.flatnonzero(stated >= 0)
    sources, targets = (inverse[ends] for ends in edge_endpoints(right))
    known = (sources >= 0) & (targets >= 0)
    ends = [np.append(a, b[known]) for a, b in zip(edge_endpoints(left), (sources, targets), strict=True)]
    return Graph.from_edges(ends[0], ends[1], nodes=left.nodes, directed=left.directed)


def _draw_views(base: Graph, nodes: float, edges: Floats, rng: np.random.Generator) -> TwoViews:
    """Views with these shares of left edges in the right view and of right edges in the left one."""
    in_right, in_left = (float(share) for share in edges)
    overlap = in_left * in_right / (in_left + in_right - in_left * in_right)
    return two_views(base, nodes, overlap, rng, density_ratio=in_left / in_right)


def _same_seeds(views: TwoViews, matches: Matches, wrong: float | None, rng: np.random.Generator) -> Ints | None:
    """Seeds as the attack had them: none, or as many with as many wrong ones."""
    if wrong is None:
        return None
    return wrong_seeds(views, int((matches.seeds >= 0).sum()), wrong if wrong == wrong else 0.0, rng)


def _fit_calibration(scores: Floats, right: Floats) -> Calibration:
    """Isotonic regression; k right ones of n in a block are taken for k + ½ of n + 1, so that none is certain."""
    import numpy as np
    from scipy.optimize import isotonic_regression

    if len(scores) == 0:
        return Calibration(np.empty(0), np.empty(0))
    values, group = np.unique(scores, return_inverse=True)
    count, successes = np.bincount(group).astype(np.float64), np.bincount(group, weights=right)
    blocks = isotonic_regression(successes / count, weights=count).blocks[:-1]
    sizes = np.add.reduceat(count, blocks)
    shares = (np.add.reduceat(successes, blocks) + 0.5) / (sizes + 1)
    return Calibration(values[blocks], np.maximum.accumulate(shares))
