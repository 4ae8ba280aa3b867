"""What is said about attackers who hold an overlapping network."""

from __future__ import annotations

import networkx as nx
import pytest

import unveil
from unveil import Graph, Policy
from unveil.network import ask_passive


def passive(graph: nx.Graph, **more: object) -> unveil.Assessment:
    policy = Policy(settings={"network": more})
    return unveil.assess(Graph.from_networkx(graph), policy, only=["network.passive"])


def dense_network() -> nx.Graph:
    return nx.powerlaw_cluster_graph(250, 8, 0.3, seed=4)


def test_most_of_a_dense_network_is_found() -> None:
    found = passive(dense_network(), known_edges=0.9)["network.passive"]
    assert found.value is not None and found.value > 0.7
    assert found.interval is not None and found.interval[0] < found.value <= found.interval[1]
    assert found.baseline is not None and found.baseline < found.value / 3
    assert found.sentence.startswith("Someone who holds 90% of the connections with names finds ")
    assert "are named rightly" in found.sentence


@pytest.mark.parametrize(("tolerance", "status"), [(0.5, "over"), (1.0, "within")])
def test_a_tolerance_decides(tolerance: float, status: str) -> None:
    policy = Policy(tolerance={"network.passive": tolerance}, settings={"network": {"known_edges": 0.9}})
    found = unveil.assess(Graph.from_networkx(dense_network()), policy, only=["network.passive"])
    assert (found["network.passive"].status, found["network.passive"].decides) == (status, True)


def test_a_ring_tells_nothing() -> None:
    found = passive(nx.cycle_graph(60))["network.passive"]
    assert found.value is not None and found.value < 0.05
    assert found.interval is not None and found.interval[1] < 0.2


def test_a_network_without_edges_is_not_attacked() -> None:
    assert not passive(nx.empty_graph(5)).findings


def test_large_networks_were_left_out_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask_passive, "_MOST_EDGES", 10)
    found = unveil.assess(Graph.from_networkx(nx.cycle_graph(20)))
    assert "network.passive" not in {f.id for f in found.findings}
    assert any("Someone who holds an overlapping network was not tried" in reason for reason in found.verdict.reasons)
    assert "network.passive" in {f.id for f in passive(nx.cycle_graph(20)).findings}
