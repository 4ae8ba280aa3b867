"""The finding about attackers who hold an overlapping network, with names and without any pair known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from unveil.case import Case
from unveil.finding import Curve, Finding
from unveil.network import risks
from unveil.network.settings import NetworkSettings
from unveil.network.stopping_points import PRECISION
from unveil.policy import Policy
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, percent_text

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.network.compared_graphs import ComparedGraphs
    from unveil.network.passive.attack import Matches
    from unveil.network.passive.two_views import MatchQuality, TwoViews
    from unveil.network.stopping_points import StoppingPoints

__all__ = ["asks_passive", "passive_doubts", "passive_finding"]

_NARAYANAN = (
    "A. Narayanan, V. Shmatikov, De-anonymizing social networks, S&P 2009; M. Bayati, D. Gleich, A. Saberi, Y. Wang, "
    "Message-passing algorithms for sparse network alignment, ACM TKDD 7, 2013"
)
_TRIALS = 3
_MOST_EDGES = 200_000  # up to which it is asked unless it is asked for, and other overlaps are tried
_OVERLAPS = (0.3, 0.5, 0.8)
_KNOWN_PAIRS = (50,)
_MANY_NEAR, _FEWEST_NEAR = 0.1, 5  # names of a neighbour are told if they are such a share of wrong ones, and so many
_MOST_POINTS = 30  # of a line


def asks_passive(graph: Graph, policy: Policy, run: Run) -> bool:
    """Whether to attack: the network is small enough, or somebody asks for it by name or by a tolerance."""
    if not run.asks(risks.PASSIVE) or graph.edges == 0:
        return False
    return graph.edges <= _MOST_EDGES or run.only is not None or policy.tolerance_for(risks.PASSIVE) is not None


def passive_doubts(case: Case, policy: Policy, findings: Sequence[Finding]) -> Iterator[str]:
    """That the attack was left out because the network is large."""
    graph = case.release
    assert isinstance(graph, Graph)
    was_asked = any(f.question == "network" for f in findings)
    if was_asked and graph.edges > _MOST_EDGES and not any(f.id == risks.PASSIVE.id for f in findings):
        yield (
            f"Someone who holds an overlapping network was not tried: there are more than {_MOST_EDGES:,} edges. "
            f"{option_text('only', risks.PASSIVE.id)} tries it."
        )


def passive_finding(compared: ComparedGraphs, policy: Policy, run: Run) -> Finding:
    """How many people someone finds who holds part of the edges, of the original if the release differs from it."""
    known = policy.settings_for(NetworkSettings).known_edges
    trials = [_Trial(compared, known, number, run) for number in range(_TRIALS)]
    recall = sum(trial.recall for trial in trials) / _TRIALS
    interval = _recall_interval(trials, run.confidence)
    return risks.PASSIVE.finding(
        policy,
        value=recall,
        method="simulation",
        interval=interval,
        confidence=run.confidence,
        subjects=trials[0].found.sought,
        share=interval,
        attacker=f"Holds {percent_text(known)} of the {_connections_text(compared)}, drawn at random, with names, and "
        "does not know who any node is.",
        baseline=sum(trial.by_degree() for trial in trials) / _TRIALS,
        sentence=" ".join(_sentences(trials, known, compared, interval, run)),
        curves=tuple(_charts(compared, trials, known, run)) if run.charts else (),
        source=_NARAYANAN,
    )


def _connections_text(compared: ComparedGraphs) -> str:
    """What somebody holds a part of."""
    return "connections" if compared.is_unchanged else "original's connections"


class _Found(NamedTuple):
    """What one attack found: the stopping points of its matches, all that it states, and the nodes to be found."""

    points: StoppingPoints
    stated: MatchQuality
    sought: int

    @property
    def recall(self) -> float:
        """The share of nodes that are named rightly where at least 95% of the names are."""
        return self.points.last_precise()[1] / self.sought


class _Trial:
    """The release against a random part of the edges, whose nodes are in another order. The attack is made again by
    those who know more."""

    def __init__(self, compared: ComparedGraphs, known: float, number: int, run: Run) -> None:
        from unveil.network.passive.attack import passive_attack
        from unveil.network.passive.two_views import held_part

        self._run, self._stream = run, f"{risks.PASSIVE.id} {known} {number}"
        rng = run.rng(self._stream)
        self._views: TwoViews = held_part(compared.original, compared.released, compared.place, known, rng)
        self._matches = passive_attack(self._views.left, self._views.right, run)
        self.found = self._judge(self._matches)

    @property
    def recall(self) -> float:
        """The share of nodes found."""
        return self.found.recall

    def by_degree(self) -> float:
        """The share of nodes that matching by rank of degree finds."""
        from unveil.network.passive.two_views import match_by_degree, match_quality

        return match_quality(self._views, match_by_degree(self._views)).recall

    def from_the_truth(self) -> float:
        """The share of nodes found by the same attack if it starts with all of them."""
        from unveil.network.passive.attack import attack_from_truth

        return self._judge(attack_from_truth(self._views.left, self._views.right, self._views.truth, self._run)).recall

    def with_known_pairs(self, pairs: int) -> float:
        """The share of the other nodes found by somebody who knows some at random."""
        import numpy as np

        from unveil.network.passive.attack import passive_attack
        from unveil.network.passive.two_views import draw_seeds

        known = draw_seeds(self._views, pairs, 0.0, self._run.rng(f"{self._stream} {pairs} pairs"))
        matches = passive_attack(self._views.left, self._views.right, self._run, known)
        return self._judge(matches, np.flatnonzero(known >= 0)).recall

    def _judge(self, matches: Matches, given: Ints | None = None) -> _Found:
        """What was found, counting neither nodes that were given nor guesses."""
        from unveil.network.passive.two_views import match_quality
        from unveil.network.stopping_points import stopping_points

        counts = matches.stated_mapping() >= 0
        sought = self._views.truth >= 0
        if given is not None:
            counts[given] = sought[given] = False
        mapping = matches.mapping[counts]
        points = stopping_points(matches.score[counts], mapping == self._views.truth[counts])
        return _Found(points, match_quality(self._views, matches.stated_mapping()), int(sought.sum()))


def _recall_interval(trials: Sequence[_Trial], confidence: float) -> tuple[float, float]:
    """Between which shares the mean of all trials lies: by Student over the trials, and by Wilson over the nodes of all
    of them; the wider ends count, since a few trials may agree by chance."""
    import numpy as np

    from unveil.intervals import student_half_width, wilson_interval

    recalls = np.array([trial.recall for trial in trials])
    half, mean = float(student_half_width(recalls, confidence)), float(recalls.mean())
    nodes = sum(trial.found.sought for trial in trials)
    low, high = wilson_interval(sum(trial.found.points.last_precise()[1] for trial in trials), nodes, confidence)
    return max(0.0, min(low, mean - half)), min(1.0, max(high, mean + half))


def _sentences(
    trials: Sequence[_Trial], known: float, compared: ComparedGraphs, interval: tuple[float, float], run: Run
) -> Iterator[str]:
    recall = sum(trial.recall for trial in trials) / len(trials)
    low, high = (percent_text(end) for end in interval)
    found = (
        f"Someone who holds {percent_text(known)} of the {_connections_text(compared)} with names finds "
        f"{percent_text(recall)} of {count_text(trials[0].found.sought, 'node')} by structure alone ({low} to {high}, "
        f"from {len(trials)} trials)"
    )
    if recall:
        yield (
            f"{found}, naming the clearest first, as many of the clear matches as keep at least 95% of the names right."
        )
    elif any(len(trial.found.points.stated) for trial in trials):
        yield f"{found}: however few of the clearest they name, fewer than 95% of the names are right."
    else:
        yield f"{found}: they name nobody."
    yield from _stated_sentences(trials)
    if not run.charts:
        return
    again, first = (percent_text(share) for share in (trials[0].from_the_truth(), trials[0].recall))
    yield (
        f"Started from the truth, the same attack finds {again} in the first trial, instead of {first}; that is no "
        "strict limit."
    )
    if compared.released.edges > _MOST_EDGES:
        yield (
            "Other shares of the connections, and people who know some of the nodes, were not tried: there are more "
            f"than {_MOST_EDGES:,} connections."
        )


def _stated_sentences(trials: Sequence[_Trial]) -> Iterator[str]:
    """What comes of naming all nodes whose match seems clear, as somebody must who cannot see the truth."""
    named, right, near = (sum(getattr(t.found.stated, what) for t in trials) for what in ("matched", "right", "near"))
    sought, wrong = sum(trial.found.sought for trial in trials), named - right
    who = "Someone who cannot judge when to stop, and names every node whose match seems clear,"
    if not named:
        return
    neighbours = (
        f"; {percent_text(near / wrong)} of the wrong names belong to a neighbour of the node"
        if near >= max(_FEWEST_NEAR, _MANY_NEAR * wrong)
        else ""
    )
    yield (
        f"{who} names {percent_text(named / sought)} of the nodes; {percent_text(right / named)} of these names are "
        f"right{neighbours}."
    )


def _charts(compared: ComparedGraphs, trials: Sequence[_Trial], known: float, run: Run) -> Iterator[Curve]:
    if compared.released.edges <= _MOST_EDGES:
        yield _overlap_chart(compared, trials, known, run)
    yield from _precision_chart(trials)


def _overlap_chart(compared: ComparedGraphs, trials: Sequence[_Trial], known: float, run: Run) -> Curve:
    """How many are found by the share of edges that somebody holds, and the pairs that they know."""
    each = {share: trials[0] if share == known else _Trial(compared, share, 0, run) for share in {*_OVERLAPS, known}}
    shares = sorted(each)
    lines = {"no node known": [each[share].recall for share in shares]}
    for pairs in _KNOWN_PAIRS:
        if 2 * pairs <= trials[0].found.sought:
            lines[f"{pairs} nodes known"] = [each[share].with_known_pairs(pairs) for share in shares]
    return Curve(
        title="Nodes found, by the share of the edges that somebody holds",
        kind="line",
        x_label="share of the edges held",
        y_label="share of nodes found",
        x=tuple(shares) * len(lines),
        y=tuple(recall for line in lines.values() for recall in line),
        series=tuple(name for name in lines for _ in shares),
        mark=known,
        mark_label="share assumed",
        reading="The share of nodes that are named rightly, with at least 95% of the names right. One trial for each "
        "share of the edges; nodes known beforehand do not count.",
    )


def _precision_chart(trials: Sequence[_Trial]) -> Iterator[Curve]:
    """How many names are right as more are stated, in each trial; nothing if no name is stated in any."""
    import numpy as np

    points = list[tuple[float, float, str]]()
    for number, trial in enumerate(trials, 1):
        stated, right = trial.found.points.stated, trial.found.points.right
        stops = np.flatnonzero(stated == trial.found.points.last_precise()[0])
        shown = np.unique(np.append(np.linspace(0, len(stated) - 1, min(len(stated), _MOST_POINTS)).astype(int), stops))
        points += [(right[k] / trial.found.sought, right[k] / stated[k], f"trial {number}") for k in shown.tolist()]
    if not points:
        return
    x, y, series = zip(*points, strict=True)
    yield Curve(
        title="Names that are right, by how many nodes are found",
        kind="line",
        x_label="share of nodes found",
        y_label="share of names that are right",
        x=tuple(map(float, x)),
        y=tuple(map(float, y)),
        series=series,
        levels=((PRECISION, "95% are right"),),
        reading="Nodes are named one after another, the clearest first. The finding's value is the mean over all "
        "trials of the share found where a line is last at 95% or above (0 for a trial without such a point).",
    )
