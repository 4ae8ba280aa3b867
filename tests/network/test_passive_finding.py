"""What is said about attackers who hold an overlapping network, with every number counted anew match by match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from reference.naive_active import edge_set
from unveil import Graph, Policy
from unveil.finding import Curve
from unveil.network import ask_passive
from unveil.network.node_order import sort_nodes
from unveil.network.passive.attack import Matches, attack_from_truth, passive_attack
from unveil.network.passive.two_views import TwoViews, draw_seeds, held_part, match_by_degree
from unveil.network.stopping_points import stopping_points
from unveil.run import Run
from unveil.wording import percent_text


def passive(graph: nx.Graph, **more: object) -> unveil.Assessment:
    policy = Policy(settings={"network": more})
    return unveil.assess(Graph.from_networkx(graph), policy, only=["network.passive"])


def dense_network() -> nx.Graph:
    return nx.powerlaw_cluster_graph(250, 8, 0.3, seed=4)


def lines(curve: object) -> dict[str, list[tuple[float, float]]]:
    assert isinstance(curve, Curve) and curve.series is not None
    found: dict[str, list[tuple[float, float]]] = {}
    for name, x, y in zip(curve.series, curve.x, curve.y, strict=True):
        found.setdefault(name, []).append((float(x), y))
    return found


# ---- the same numbers, slowly ----------------------------------------------------------------------------------------


def slow_recall(matches: Iterable[tuple[float, bool]], sought: int) -> float:
    """Every score is tried as the one to stop at."""
    each = list(matches)
    best = 0
    for limit in {score for score, _ in each}:
        stated = [right for score, right in each if score >= limit]
        if sum(stated) >= 0.95 * len(stated):
            best = max(best, sum(stated))
    return best / sought


@dataclass
class SlowTrial:
    views: TwoViews
    matches: Matches

    def recall(self, matches: Matches | None = None, given: Iterable[int] = ()) -> float:
        made, out = matches or self.matches, set(given)
        found = [
            (float(made.score[u]), bool(made.mapping[u] == self.views.truth[u]))
            for u in range(self.views.left.nodes)
            if u not in out and made.mapping[u] >= 0 and made.score[u] > 0
        ]
        return slow_recall(found, self.views.left.nodes - len(out))

    def stated(self) -> list[tuple[int, int]]:
        """Who is named, and as whom."""
        each = zip(self.matches.mapping.tolist(), self.matches.score.tolist(), strict=True)
        return [(u, v) for u, (v, score) in enumerate(each) if v >= 0 and score > 0]


def slow_trial(graph: nx.Graph, known: float, number: int) -> SlowTrial:
    whole = sort_nodes(Graph.from_networkx(graph))
    rng = Run().rng(f"network.passive {known} {number}")
    views = held_part(whole, whole, np.arange(whole.nodes), known, rng)
    return SlowTrial(views, passive_attack(views.left, views.right, Run()))


AWKWARD = {
    "two nodes": nx.path_graph(2),
    "in parts": nx.disjoint_union(nx.gnm_random_graph(30, 120, seed=1), nx.gnm_random_graph(20, 60, seed=2)),
    "nodes without connections": nx.compose(nx.empty_graph(60), nx.gnm_random_graph(40, 200, seed=3)),
    "complete": nx.complete_graph(8),
    "star": nx.star_graph(9),
    "ring": nx.cycle_graph(60),
    "directed": nx.gnm_random_graph(60, 600, seed=4, directed=True),
    "dense": nx.powerlaw_cluster_graph(120, 8, 0.3, seed=4),
    "sparse": nx.barabasi_albert_graph(150, 2, seed=5),
}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("known", [0.5, 0.8])
def test_every_number_is_right(name: str, known: float) -> None:
    graph = AWKWARD[name]
    found = passive(graph, known_edges=known)["network.passive"]
    trials = [slow_trial(graph, known, number) for number in range(3)]
    recalls = [trial.recall() for trial in trials]
    assert found.value == pytest.approx(sum(recalls) / 3)
    assert f"finds {percent_text(sum(recalls) / 3)} of {graph.number_of_nodes()} nodes" in found.sentence
    assert found.interval is not None and found.interval[0] <= found.value <= found.interval[1]
    by_degree = [(match_by_degree(t.views) == t.views.truth).mean() for t in trials]
    assert found.baseline == pytest.approx(sum(by_degree) / 3)
    any_pair = any(((t.matches.mapping >= 0) & (t.matches.score > 0)).any() for t in trials)
    assert ("they name nobody" in found.sentence) == (not any_pair)
    assert ("fewer than 95% of the names are right" in found.sentence) == (any_pair and not any(recalls))
    assert ("as keep at least 95% of the names right" in found.sentence) == any(recalls)
    stated = [(u, v, t) for t in trials for u, v in t.stated()]
    right = sum(t.views.truth[u] == v for u, v, t in stated)
    if stated:
        said = f"names {percent_text(len(stated) / 3 / graph.number_of_nodes())} of the nodes; "
        assert f"{said}{percent_text(right / len(stated))} of these names are right" in found.sentence
    wrong = [(int(t.views.truth[u]), v, t) for u, v, t in stated if t.views.truth[u] != v]
    near = sum(bool({(a, b), (b, a)} & edge_set(t.views.right)) for a, b, t in wrong)
    told = f"{percent_text(near / len(wrong))} of the wrong names belong to a neighbour" if wrong else "wrong names"
    assert (told in found.sentence) == (near >= 5 and near >= 0.1 * len(wrong))
    first = trials[0]
    again = first.recall(attack_from_truth(first.views.left, first.views.right, first.views.truth, Run()))
    assert (
        f"Started from the truth, the same attack finds {percent_text(again)} in the first trial, instead of "
        f"{percent_text(recalls[0])}; that is no strict limit." in found.sentence
    )


@pytest.mark.parametrize("name", AWKWARD)
def test_those_who_know_nodes_start_with_them(name: str) -> None:
    """What they know beforehand does not count as found, and not as sought."""
    graph = AWKWARD[name]
    drawn = lines(passive(graph).findings[0].curves[0])
    nodes = graph.number_of_nodes()
    assert set(drawn) == {"no node known", *(f"{n} nodes known" for n in (50,) if 2 * n <= nodes)}
    for share in (0.3, 0.5, 0.8):
        trial = slow_trial(graph, share, 0)
        assert dict(drawn["no node known"])[share] == pytest.approx(trial.recall())
        for pairs in (n for n in (50,) if 2 * n <= nodes):
            known = draw_seeds(trial.views, pairs, 0, Run().rng(f"network.passive {share} 0 {pairs} pairs"))
            given = {u: int(v) for u, v in enumerate(known) if v >= 0}
            assert len(given) == pairs
            made = passive_attack(trial.views.left, trial.views.right, Run(), known)
            assert dict(drawn[f"{pairs} nodes known"])[share] == pytest.approx(trial.recall(made, given))


@pytest.mark.parametrize("name", AWKWARD)
def test_precision_is_drawn_against_recall(name: str) -> None:
    graph, found = AWKWARD[name], passive(AWKWARD[name])["network.passive"]
    charts = [c for c in found.curves if c.title.startswith("Names that are right")]
    trials = [slow_trial(graph, 0.8, number) for number in range(3)]
    assert len(charts) == any(((t.matches.mapping >= 0) & (t.matches.score > 0)).any() for t in trials)
    for chart in charts:
        ends = []
        for number, trial in enumerate(trials, 1):
            possible = set()
            finite = [
                u for u, (v, s) in enumerate(zip(trial.matches.mapping, trial.matches.score, strict=True)) if v >= 0 < s
            ]
            for limit in {float(trial.matches.score[u]) for u in finite}:
                stated = [u for u in finite if trial.matches.score[u] >= limit]
                right = sum(trial.matches.mapping[u] == trial.views.truth[u] for u in stated)
                possible.add((round(right / graph.number_of_nodes(), 9), round(right / len(stated), 9)))
            points = [(round(x, 9), round(y, 9)) for x, y in lines(chart).get(f"trial {number}", [])]
            assert set(points) <= possible and points == sorted(points, key=lambda p: p[0])
            ends.append(max((x for x, y in points if y >= 0.95), default=0.0))
        assert sum(ends) / 3 == pytest.approx(found.value, abs=1e-6), "the value can be read off the chart"


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=40))
def test_the_last_stopping_point_is_the_largest_precise_set(matches: list[tuple[int, bool]]) -> None:
    score, right = (np.array([m[k] for m in matches]) for k in range(2))
    points = stopping_points(score.astype(float), right.astype(bool))
    assert points.stated.tolist() == [sum(s >= t for s, _ in matches) for t in sorted({s for s, _ in matches})[::-1]]
    assert points.last_precise()[1] == slow_recall(((float(s), r) for s, r in matches), 1)


# ---- what it comes to ------------------------------------------------------------------------------------------------


def test_most_of_a_dense_network_is_found() -> None:
    found = passive(dense_network(), known_edges=0.9)["network.passive"]
    assert found.value is not None and found.value > 0.7
    assert found.interval is not None and found.interval[0] < found.value <= found.interval[1]
    assert found.baseline is not None and found.baseline < found.value / 3
    assert found.sentence.startswith("Someone who holds 90% of the connections with names finds ")
    assert found.attacker.startswith("Holds 90% of the connections, drawn at random, with names")


@pytest.mark.parametrize(("tolerance", "status"), [(0.5, "over"), (1.0, "within")])
def test_a_tolerance_decides(tolerance: float, status: str) -> None:
    policy = Policy(tolerance={"network.passive": tolerance}, settings={"network": {"known_edges": 0.9}})
    found = unveil.assess(Graph.from_networkx(dense_network()), policy, only=["network.passive"])
    assert (found["network.passive"].status, found["network.passive"].decides) == (status, True)


def test_a_ring_tells_nothing() -> None:
    found = passive(nx.cycle_graph(60))["network.passive"]
    assert found.value is not None and found.value < 0.05
    assert found.interval is not None and found.interval[1] < 0.2


@pytest.mark.parametrize("name", ["two nodes", "complete", "ring"])
def test_guesses_were_right_by_luck(name: str) -> None:
    """Where nodes are alike, one of two is guessed rightly half the time; nobody would call that found."""
    found = passive(AWKWARD[name])["network.passive"]
    assert found.value == 0 and "they name nobody" in found.sentence


def test_a_network_without_edges_is_not_attacked() -> None:
    assert not passive(nx.empty_graph(5)).findings


def test_large_networks_were_left_out_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask_passive, "_MOST_EDGES", 10)
    found = unveil.assess(Graph.from_networkx(nx.cycle_graph(20)))
    assert "network.passive" not in {f.id for f in found.findings}
    assert any("Someone who holds an overlapping network was not tried" in reason for reason in found.verdict.reasons)
    tried = passive(nx.cycle_graph(20))["network.passive"]
    assert "were not tried: there are more than 10 connections" in tried.sentence
    assert not [c for c in tried.curves if c.title.startswith("Nodes found")]
    assert "not tried" not in passive(nx.cycle_graph(9))["network.passive"].sentence
