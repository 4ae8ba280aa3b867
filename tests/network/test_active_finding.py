"""What is said about attackers who created accounts before the release, or who are members themselves.

Every number is measured anew: the same accounts are planted, and all sequences of nodes are tried as their place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import networkx as nx
import numpy as np
import pytest

import unveil
from reference.naive_active import all_copies, edge_set, target_of_copy
from unveil import Graph, Policy
from unveil.finding import Curve, GraphChart
from unveil.network.active.attack import form_coalition
from unveil.network.active.planted_nodes import AttackedGraph, choose_degree_window, plant_nodes
from unveil.network.measures.graph_measures import undirected_graph
from unveil.network.node_order import sort_nodes
from unveil.run import Run
from unveil.wording import count_text, number_text, percent_text


@cache
def active(graph: nx.Graph, planted: int = 7) -> unveil.Finding:
    policy = Policy(settings={"network": {"planted_nodes": planted}})
    return unveil.assess(Graph.from_networkx(graph), policy, only=["network.active"])["network.active"]


def lines(curve: object) -> dict[str, dict[float, float]]:
    assert isinstance(curve, Curve)
    found: dict[str, dict[float, float]] = {}
    for name, x, y in zip(curve.series or ("",) * len(curve.x), curve.x, curve.y, strict=True):
        found.setdefault(name, {})[float(x)] = y
    return found


@dataclass
class Slow:
    """Sums over trials."""

    own: int = 0
    single: int = 0
    targets: int = 0
    shares: float = 0
    with_targets: int = 0
    links: int = 0
    revealed: int = 0


def attack_slowly(prepare: Callable[[np.random.Generator], AttackedGraph], stream: str, trials: int = 40) -> Slow:
    """The attack as it is described: the place that leads to most targets, if these are at least half of them."""
    sums = Slow()
    for rng in Run().rng(stream).spawn(trials):
        attacked = prepare(rng)
        known, edges = attacked.known, edge_set(attacked.graph)
        right, targets = tuple(attacked.nodes.tolist()), attacked.targets.tolist()
        led_to = {
            copy: [target_of_copy(attacked.graph, list(copy), int(wanted)) for wanted in known.target_sets]
            for copy in all_copies(attacked.graph, known)
        }
        most = max(sum(t >= 0 for t in ends) for ends in led_to.values())
        best = [copy for copy, ends in led_to.items() if sum(t >= 0 for t in ends) == most]
        concludes = 2 * most >= len(targets)
        sums.own += concludes and best == [right]
        sums.single += list(led_to) == [right]
        found = [concludes and {led_to[copy][k] for copy in best} == {target} for k, target in enumerate(targets)]
        sums.targets += len(targets)
        sums.with_targets += bool(targets)
        sums.shares += sum(found) / len(targets) if targets else 0
        pairs = [(i, j) for i in range(len(targets)) for j in range(i) if (targets[i], targets[j]) in edges]
        sums.links += len(pairs)
        sums.revealed += sum(found[i] and found[j] for i, j in pairs)
    return sums


AWKWARD = {
    "two nodes": nx.path_graph(2),
    "in parts": nx.Graph([(0, 1), (2, 3), (3, 4), (4, 2)]),
    "nodes without connections": nx.compose(nx.empty_graph(7), nx.path_graph(4)),
    "complete": nx.complete_graph(5),
    "complete, larger": nx.complete_graph(8),
    "star": nx.star_graph(6),
    "no connections": nx.empty_graph(4),
    "directed": nx.DiGraph([(0, 1), (1, 0), (1, 2), (3, 1), (4, 3)]),
    "two paths and a ring": nx.disjoint_union(nx.path_graph(3), nx.cycle_graph(4)),
}
GROWN = nx.barabasi_albert_graph(300, 3, seed=1)


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("planted", [2, 3])
def test_every_number_is_right(name: str, planted: int) -> None:
    found = active(AWKWARD[name], planted)
    graph = undirected_graph(sort_nodes(Graph.from_networkx(AWKWARD[name])))
    window = choose_degree_window(graph, planted)
    slow = attack_slowly(lambda rng: plant_nodes(graph, planted, rng, window), f"network.active {planted}")
    assert found.value == pytest.approx(slow.shares / 40)
    assert f"finds {percent_text(slow.shares / 40)} of the people they linked them with" in found.sentence
    assert f"{number_text(slow.targets / 40)} on average in each of 40 trials" in found.sentence
    assert f"found their own accounts in {slow.own} of 40 trials" in found.sentence
    learned = (
        f"learned of {count_text(slow.revealed, 'connection')} of {slow.links:,} among their targets"
        if slow.links
        else "there are no connections among their targets."
    )
    assert learned in found.sentence
    drawn = lines(found.curves[0])
    assert drawn["found"][planted] == pytest.approx(slow.own / 40)
    assert drawn["no other place fits"][planted] == pytest.approx(slow.single / 40)


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("members", [2, 3])
def test_every_number_about_coalitions_is_right(name: str, members: int) -> None:
    found = active(AWKWARD[name], members)
    graph = undirected_graph(sort_nodes(Graph.from_networkx(AWKWARD[name])))
    if graph.degrees.max() < members - 1:
        assert f"No node has {count_text(members - 1, 'neighbour')} to put together" in found.sentence
        return
    slow = attack_slowly(lambda rng: form_coalition(graph, members, rng), f"network.active coalition {members}")
    assert f"One member and {count_text(members - 1, 'neighbour')} of theirs" in found.sentence
    assert f"their own places in {slow.own} of 40 trials" in found.sentence
    if not slow.targets:
        assert "can tell nobody else apart" in found.sentence
        return
    share = slow.shares / slow.with_targets
    assert f"find {percent_text(share)} of the people whom they can tell apart" in found.sentence
    assert f"{number_text(slow.targets / 40)} on average" in found.sentence
    (chart,) = (c for c in found.curves if "put together" in c.title)
    assert lines(chart)[""][members] == pytest.approx(share)


@pytest.mark.parametrize("name", AWKWARD)
def test_how_far_accounts_stand_out_is_right(name: str) -> None:
    """At most ten nodes: each account is compared with all of them."""
    graph = undirected_graph(sort_nodes(Graph.from_networkx(AWKWARD[name])))
    more, fewer = list[float](), list[float]()
    for rng in Run().rng("network.active detection").spawn(10):
        attacked = plant_nodes(graph, 3, rng)
        whole = nx.Graph(list(edge_set(attacked.graph)))
        whole.add_nodes_from(range(attacked.graph.nodes))
        clustering = nx.clustering(whole)
        for account in attacked.nodes.tolist():
            for node in range(graph.nodes):
                more.append(np.sign(whole.degree[account] - whole.degree[node]) / 2 + 0.5)
                fewer.append(np.sign(round(clustering[node] - clustering[account], 9)) / 2 + 0.5)
    said = active(AWKWARD[name], 3).sentence
    assert f"has more connections than {percent_text(float(np.mean(more)))} of the nodes" in said
    assert f"know each other than for {percent_text(float(np.mean(fewer)))} of the nodes" in said


def test_planted_accounts_are_found_in_a_network() -> None:
    found = active(GROWN)
    assert found.method == "simulation" and found.value is not None and found.value > 0.9
    assert found.interval is not None and found.interval[0] < found.value <= found.interval[1]
    assert found.baseline == 1 / 300
    assert found.sentence.startswith("Someone who created 7 accounts before the release finds ")
    assert "of the people they linked them with" in found.sentence
    assert "in 40 of 40 trials" in found.sentence


def test_what_is_proved_stands_beside_what_was_measured() -> None:
    """nᵏ · 2^−C(k−1, 2) with n = 307 for 7 accounts and 320 for 20; at most 1% from 19 accounts on."""
    drawn = lines(active(GROWN).curves[0])
    assert drawn["proved"][7] == 0 and drawn["no other place fits"][7] > 0.5
    many = active(GROWN, 20)
    assert lines(many.curves[0])["proved"][20] == pytest.approx(1 - 320**20 / 2**171)
    least = next(k for k in range(2, 60) if 300**k / 2 ** ((k - 1) * (k - 2) // 2) <= 0.01)
    assert f"at least 99% from {least} accounts on" in many.curves[0].reading


def test_the_search_is_counted() -> None:
    """Two accounts: the search looks at the nodes with the degree of the first, and at each neighbour of these with the
    degree of the second."""
    other = nx.barabasi_albert_graph(60, 2, seed=3)
    found = active(other, 2)
    (chart,) = (c for c in found.curves if "How long" in c.title)
    graph = sort_nodes(Graph.from_networkx(other))
    starts = places = 0
    for rng in Run().rng("network.active 2").spawn(40):
        attacked = plant_nodes(graph, 2, rng, choose_degree_window(graph, 2))
        degrees, (first, second) = attacked.graph.degrees, attacked.known.degrees
        starts += int((degrees == first).sum())
        places += int((degrees == first).sum())
        places += sum(degrees[a] == first and degrees[b] == second for a, b in edge_set(attacked.graph))
    drawn = lines(chart)
    assert drawn["nodes that the search begins with"][2] == pytest.approx(starts / 40)
    assert drawn["places looked at"][2] == pytest.approx(places / 40)


def test_a_planted_subgraph_is_drawn_without_names() -> None:
    other = nx.relabel_nodes(nx.barabasi_albert_graph(60, 3, seed=3), {k: f"secret {k}" for k in range(60)})
    (drawing,) = (c for c in active(other, 5).curves if isinstance(c, GraphChart))
    attacked = plant_nodes(sort_nodes(Graph.from_networkx(other)), 5, Run().rng("network.active drawing"))
    known = attacked.known
    assert (drawing.inner, drawing.outer) == (5, len(attacked.targets))
    place = [*attacked.nodes.tolist(), *attacked.targets.tolist()]
    edges = edge_set(attacked.graph)
    expected = {(i, j) for i in range(5) for j in range(i + 1, 5 + drawing.outer) if (place[i], place[j]) in edges}
    assert set(drawing.edges) == expected and len(expected) == (
        sum(int(x).bit_count() for x in known.links) // 2 + sum(int(x).bit_count() for x in known.target_sets)
    )
    assert "secret" not in str(drawing)
    assert not [c for c in active(other, 20).curves if isinstance(c, GraphChart)], "too many to see"


def test_fewer_accounts_find_fewer() -> None:
    """In a ring everybody has two neighbours, so two accounts fit in many places."""
    ring = nx.cycle_graph(200)
    few, many = active(ring, 2), active(ring, 8)
    assert few.value is not None and many.value is not None and few.value < many.value
    found = list(lines(many.curves[0])["found"].values())
    assert found[0] == min(found)


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_networks_are_attacked_all_the_same(name: str) -> None:
    found = active(AWKWARD[name])
    assert found.value is not None and 0 <= found.value <= 1


def test_one_node_is_nobody_to_be_found() -> None:
    found = unveil.assess(Graph.from_networkx(nx.empty_graph(1)))
    assert "network.failed" not in {f.id for f in found.findings}


def test_the_same_seed_finds_the_same() -> None:
    first, again = (active(nx.barabasi_albert_graph(100, 2, seed=1)) for _ in range(2))
    assert first is not again and first.sentence == again.sentence
