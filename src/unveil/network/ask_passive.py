"""The finding about attackers who hold an overlapping network, with names and without any pair known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from unveil.case import Case
from unveil.finding import Curve, Finding
from unveil.network import risks
from unveil.network.settings import NetworkSettings
from unveil.policy import Policy
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, percent_text

if TYPE_CHECKING:
    from unveil.network.two_views import MatchQuality

__all__ = ["asks_passive", "passive_doubts", "passive_finding"]

_NARAYANAN = (
    "A. Narayanan, V. Shmatikov, De-anonymizing social networks, S&P 2009; E. Kazemi, S. H. Hassani, M. Grossglauser, "
    "Growing a graph matching from a handful of seeds, VLDB 2015"
)
_TRIALS = 3
_MOST_EDGES = 200_000  # up to which it is asked unless it is asked for
_OVERLAPS = (0.3, 0.5, 0.8)


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


def passive_finding(graph: Graph, policy: Policy, run: Run) -> Finding:
    """How many people someone finds who holds part of the edges."""
    from unveil.network.node_order import sort_nodes

    graph = sort_nodes(graph)
    known = policy.settings_for(NetworkSettings).known_edges
    trials = [_attack(graph, known, trial, run) for trial in range(_TRIALS)]
    others = {x: [_attack(graph, x, 0, run)] for x in _OVERLAPS if x != known}
    recall = sum(trial.found.recall for trial in trials) / _TRIALS
    interval = _recall_interval(trials, run.confidence)
    return risks.PASSIVE.finding(
        policy,
        value=recall,
        method="simulation",
        interval=interval,
        confidence=run.confidence,
        subjects=graph.nodes,
        share=interval,
        attacker=f"Holds {percent_text(known)} of the edges with names, and knows of no node who it is.",
        baseline=sum(trial.by_degree for trial in trials) / _TRIALS,
        sentence=_passive_sentence(trials, known, graph.nodes, interval),
        curves=(_overlap_curve({known: trials, **others}, known),),
        source=_NARAYANAN,
    )


class _Trial(NamedTuple):
    """What one attacker found, and the share of nodes that matching by rank of degree finds."""

    found: MatchQuality
    by_degree: float


def _attack(graph: Graph, known: float, trial: int, run: Run) -> _Trial:
    """The release against a random part of its edges, whose nodes are in another order."""
    from unveil.network.passive_attack import passive_attack
    from unveil.network.two_views import match_by_degree, match_quality, two_views

    views = two_views(graph, 1.0, known, run.rng(f"{risks.PASSIVE.id} {known} {trial}"), density_ratio=known)
    found = match_quality(views, passive_attack(views.left, views.right, run).stated_mapping())
    return _Trial(found, match_quality(views, match_by_degree(views)).recall)


def _recall_interval(trials: Sequence[_Trial], confidence: float) -> tuple[float, float]:
    """Between which shares the mean of all trials lies: by Student over the trials, and by Wilson over the nodes of all
    of them; the wider ends count, since a few trials may agree by chance."""
    import numpy as np

    from unveil.intervals import student_half_width, wilson_interval

    recalls = np.array([trial.found.recall for trial in trials])
    half, mean = float(student_half_width(recalls, confidence)), float(recalls.mean())
    nodes = sum(trial.found.common for trial in trials)
    low, high = wilson_interval(sum(trial.found.right for trial in trials), nodes, confidence)
    return max(0.0, min(low, mean - half)), min(1.0, max(high, mean + half))


def _passive_sentence(trials: Sequence[_Trial], known: float, nodes: int, interval: tuple[float, float]) -> str:
    recall = sum(trial.found.recall for trial in trials) / len(trials)
    low, high = (percent_text(end) for end in interval)
    sentence = (
        f"Someone who holds {percent_text(known)} of the connections with names finds {percent_text(recall)} of "
        f"{count_text(nodes, 'node')} by structure alone ({low} to {high}, from {len(trials)} trials)"
    )
    named, right = (sum(getattr(trial.found, what) for trial in trials) for what in ("matched", "right"))
    if not named:
        return f"{sentence}; they name nobody."
    return f"{sentence}. Of the nodes they name, {percent_text(right / named)} are named rightly."


def _overlap_curve(found: dict[float, list[_Trial]], known: float) -> Curve:
    shares = sorted(found)
    recalls = [sum(trial.found.recall for trial in found[x]) / len(found[x]) for x in shares]
    return Curve(
        title="Nodes found, by the share of the edges that somebody holds",
        kind="line",
        x_label="share of the edges held",
        y_label="share of nodes found",
        x=tuple(shares),
        y=tuple(recalls),
        mark=known,
        mark_label="share assumed",
        reading=f"The share of nodes that are named rightly: at the mark the mean of {_TRIALS} trials, elsewhere one "
        "trial each.",
    )
