"""What is said about attackers who created accounts before the release."""

from __future__ import annotations

import networkx as nx
import pytest

import unveil
from unveil import Graph, Policy


def active(graph: nx.Graph, planted: int = 7) -> unveil.Finding:
    policy = Policy(settings={"network": {"planted_nodes": planted}})
    return unveil.assess(Graph.from_networkx(graph), policy, only=["network.active"])["network.active"]


def test_planted_accounts_are_found_in_a_network() -> None:
    found = active(nx.barabasi_albert_graph(300, 3, seed=1))
    assert found.method == "simulation" and found.value is not None and found.value > 0.9
    assert found.interval is not None and found.interval[0] < found.value <= found.interval[1]
    assert found.baseline == 1 / 300
    assert found.sentence.startswith("Someone who created 7 accounts before the release finds ")
    assert "of the people they linked them with" in found.sentence
    assert "in 40 of 40 trials" in found.sentence


def test_fewer_accounts_find_fewer() -> None:
    """In a ring everybody has two neighbours, so two accounts fit in many places."""
    ring = nx.cycle_graph(200)
    few, many = active(ring, 2), active(ring, 8)
    assert few.value is not None and many.value is not None and few.value < many.value
    curve = many.curves[0]
    found = [y for y, label in zip(curve.y, curve.series or (), strict=True) if label == "found"]
    assert found[0] == min(found)


@pytest.mark.parametrize(
    "graph",
    [nx.path_graph(2), nx.complete_graph(5), nx.star_graph(9), nx.empty_graph(6), nx.path_graph(3, nx.DiGraph)],
    ids=["two nodes", "complete", "star", "no edges", "directed"],
)
def test_awkward_networks_are_attacked_all_the_same(graph: nx.Graph) -> None:
    found = active(graph)
    assert found.value is not None and 0 <= found.value <= 1


def test_the_same_seed_finds_the_same() -> None:
    graph = nx.barabasi_albert_graph(100, 2, seed=1)
    assert active(graph).sentence == active(graph).sentence
