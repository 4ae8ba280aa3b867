"""How probable it is that a match of the passive attack is right, calibrated by rehearsals.

The score of a match takes all other matches for granted. On sparse networks it is far
too sure of itself. So the attack is rehearsed where the truth is known: views are drawn of a network like the attacked
ones, and attacked in the same way. How often a match like this is right there is the probability that is stated here.

**Like this** means by its score and by what else is known of it (:data:`unveil.network.passive.attack.EVIDENCE`): each
has a step function of its own, and their sum is the log-odds of being right. The steps, at most ``_STEPS`` of equal
numbers of matches each, are fitted to the rehearsals by logistic regression with a ridge penalty, so that many small
steps cost more than none (an additive model: T. Hastie, R. Tibshirani, Generalized Additive Models, 1990).

**What is rehearsed on.** The left graph, with the edges of the right one between matched nodes added. Its views overlap
in as many nodes and edges as the attacked graphs seem to. Both are estimated too high or too low from matches alone, so
a first rehearsal shows by how much, and the next ones are corrected: they find as many matches and as large an overlap
as the attack did. If people differ much in the share of their edges that is in the other network, rehearsed views lose
whole neighbourhoods, too. Seeds are found in the same way, or drawn from the truth if they were given: as many, and as
often wrong as the attack found them to be.

**What is not counted.** A rehearsal that states less than half or more than twice as many matches as the attack did
says little about it: the attack may have got stuck in a wrong corner, or the rehearsal. If all of them do, there is no
calibration.

**How sure it can be.** Nobody is stated surer than rehearsals show. For each of them, the model is fitted to the others
and applied to it. A level of probability holds if at least the level less ``_SLACK`` is right of all matches stated at
it or above, over all rehearsals, by the lower end of a Wilson interval, so that few matches show little. Probabilities
are cut to the highest of ``_LEVELS`` that holds (or to the lowest, if none does), unless that is the first. One
rehearsal alone shows nothing.

A network whose two versions differ in other ways than by edges missing at random is attacked less well than rehearsed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unveil.intervals import wilson_interval
from unveil.network.passive.attack import Matches, passive_attack
from unveil.network.passive.two_views import TwoViews, draw_seeds, two_views
from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run

if TYPE_CHECKING:
    import numpy as np

    from unveil.arrays import Bools, Floats, Ints

__all__ = ["Calibration", "calibrate_matches"]

_REHEARSALS = 3
_FIRST_GUESS = 0.8  # of the node overlap
_LEAST = 0.05  # overlap that is rehearsed
_UNEVEN = 20.0  # or less: whole neighbourhoods are missing
_CORRELATION = 0.5
_STEPS = 9
_LIKE_HERE = 0.5, 2.0  # times as many matches as the attack has stated
_LEVELS = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
_SLACK = 0.02
_CONFIDENCE = 0.95
_RIDGE = 1.0
_ITERATIONS = 50


@dataclass(frozen=True, eq=False)
class Calibration:
    """Step functions, one for each column of what is known of matches: where they rise or fall, and by how much. Their
    sum and the ``base`` are the log-odds of being right. There is no base if no rehearsal was like the attack.
    ``highest`` is the most that is stated."""

    thresholds: tuple[Floats, ...]
    steps: Floats | tuple[()]
    base: float | None
    highest: float = 1.0

    def probability(self, matches: Matches) -> Floats:
        """For each left node, the probability that its match is right; 0 if it has none."""
        import numpy as np

        found, matched = np.zeros(len(matches.mapping)), matches.mapping >= 0
        if self.base is not None:
            found[matched] = self.probability_of(_known_of_matches(matches, matched))
        return found

    def probability_of(self, known: Floats) -> Floats:
        """The probability that each match is right of which this is known."""
        import numpy as np

        odds = _passed_thresholds(known, self.thresholds) @ np.asarray(self.steps) + (self.base or 0.0)
        probability: Floats = np.minimum(1 / (1 + np.exp(-odds)), self.highest)
        return probability


_NO_CALIBRATION = Calibration((), (), None)


def calibrate_matches(
    matches: Matches, left: Graph, right: Graph, run: Run, stream: str = "network.passive"
) -> Calibration:
    """Rehearse the attack that led to these matches. ``stream`` names the random stream."""
    import numpy as np

    rng = run.rng(f"{stream} calibration")
    base = _merged_graph(matches, left, right)
    nodes, edges = _FIRST_GUESS, np.clip(matches.overlap, _LEAST, 1.0)
    stated = (matches.stated_mapping() >= 0).mean()
    names = (matches.stated_mapping() >= 0).sum()
    correlation = _CORRELATION if min(matches.evenness) <= _UNEVEN else 0.0
    rehearsed: list[tuple[Floats, Bools]] = []
    for k in range(1 + _REHEARSALS):
        views = _draw_views(base, nodes, edges, correlation, rng)
        again = passive_attack(views.left, views.right, run, _same_seeds(views, matches, rng))
        if k == 0:  # too easy or too hard: only to learn from
            nodes = float(np.clip(nodes * stated / max((again.stated_mapping() >= 0).mean(), 1e-3), _LEAST, 1))
            edges = np.clip(edges * edges / np.maximum(again.overlap, _LEAST), _LEAST, 1)
            continue
        if not _LIKE_HERE[0] <= (again.stated_mapping() >= 0).sum() / max(names, 1) <= _LIKE_HERE[1]:
            continue
        matched = again.mapping >= 0
        rehearsed.append((_known_of_matches(again, matched), again.mapping[matched] == views.truth[matched]))
    return replace(_fit_calibration(rehearsed), highest=_highest_level(rehearsed))


def _highest_level(rehearsed: Sequence[tuple[Floats, Bools]]) -> float:
    """The most that may be stated: no limit if the first level holds in rehearsals that the model has not seen."""
    stated: list[Floats] = []
    right_ones: list[Bools] = []
    for k, (known, right) in enumerate(rehearsed):
        others = _fit_calibration([*rehearsed[:k], *rehearsed[k + 1 :]])
        if others.base is not None:
            stated.append(others.probability_of(known))
            right_ones.append(right)
    for level in _LEVELS:
        there = [right[probability >= level] for probability, right in zip(stated, right_ones, strict=True)]
        named = sum(map(len, there))
        low = wilson_interval(sum(int(right.sum()) for right in there), named, _CONFIDENCE)[0] if named else 0.0
        if low >= level - _SLACK:
            return 1.0 if level == _LEVELS[0] else level
    return _LEVELS[-1]


def _known_of_matches(matches: Matches, matched: Bools) -> Floats:
    """One row for each match: its score, and what else is known."""
    import numpy as np

    return np.column_stack([matches.score[matched], matches.evidence[matched]])


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


def _draw_views(base: Graph, nodes: float, edges: Floats, correlation: float, rng: np.random.Generator) -> TwoViews:
    """Views with these shares of left edges in the right view and of right edges in the left one."""
    in_right, in_left = (float(share) for share in edges)
    overlap = in_left * in_right / (in_left + in_right - in_left * in_right)
    return two_views(base, nodes, overlap, rng, density_ratio=in_left / in_right, correlation=correlation)


def _same_seeds(views: TwoViews, matches: Matches, rng: np.random.Generator) -> Ints | None:
    """Seeds as the attack was given them: none, or as many with as many wrong ones."""
    seeds = int((matches.given >= 0).sum())
    return draw_seeds(views, seeds, 1 - matches.confirmed_seeds(), rng) if seeds else None


def _fit_calibration(rehearsed: Sequence[tuple[Floats, Bools]]) -> Calibration:
    """Logistic regression by Newton's method, on what is known of matches and whether they are right."""
    import numpy as np

    if not any(len(known) for known, _ in rehearsed):
        return _NO_CALIBRATION
    known, right = (np.concatenate(part) for part in zip(*rehearsed, strict=True))
    places = np.arange(1, _STEPS + 1) / (_STEPS + 1)
    values = [np.unique(column) for column in known.T]
    thresholds = tuple(
        few if len(few) <= len(places) else np.unique(np.quantile(column, places))
        for few, column in zip(values, known.T, strict=True)
    )
    design = np.column_stack([np.ones(len(known)), _passed_thresholds(known, thresholds)])
    weights, penalty = np.zeros(design.shape[1]), np.full(design.shape[1], _RIDGE)
    for _ in range(_ITERATIONS):
        expected = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (right - expected) - penalty * weights
        curvature = (design * (expected * (1 - expected))[:, None]).T @ design + np.diag(penalty)
        change = np.linalg.solve(curvature, gradient)
        weights += change
        if np.abs(change).max() < 1e-6:
            break
    return Calibration(thresholds, weights[1:], float(weights[0]))


def _passed_thresholds(known: Floats, thresholds: tuple[Floats, ...]) -> Floats:
    """For each row and each threshold of each column, 1 if the value has reached it, else 0."""
    import numpy as np

    passed: Floats = np.concatenate(
        [column[:, None] >= places for column, places in zip(known.T, thresholds, strict=True)], axis=1
    ).astype(np.float64)
    return passed
