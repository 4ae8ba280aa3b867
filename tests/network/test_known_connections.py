"""People who are looked for by the connections that they had: against a count by hand, node by node."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Case, Graph, Policy, UnveilError
from unveil.network.compared_graphs import ComparedGraphs
from unveil.network.known_connections import found_by_connections

PATH = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])


def naive_shares(before: nx.Graph, after: nx.Graph, place: list[int]) -> tuple[Fraction, Fraction]:
    """For each person, 1 over the nodes of which the same is true, if the person's own is among them."""

    def own(graph: nx.Graph, v: int) -> object:
        return (graph.out_degree(v), graph.in_degree(v)) if graph.is_directed() else graph.degree(v)

    def around(graph: nx.Graph, v: int) -> object:
        ways = (graph.successors, graph.predecessors) if graph.is_directed() else (graph.neighbors,)
        return own(graph, v), *(sorted(own(graph, u) for u in way(v)) for way in ways)

    shares = []
    for told in (own, around):
        total = Fraction(0)
        for v in before:
            alike = [u for u in after if told(after, u) == told(before, v)]
            total += Fraction(place[v] in alike, max(1, len(alike)))
        shares.append(total / len(before))
    return shares[0], shares[1]


def to_graph(network: nx.Graph) -> Graph:
    sources, targets = ([e[k] for e in network.edges] for k in range(2))
    return Graph.from_edges(np.array(sources, int), np.array(targets, int), nodes=len(network),
                            directed=network.is_directed())  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 8), st.integers(0, 3), st.floats(0, 1), st.integers(0, 9999), st.booleans())
def test_shares_are_those_counted_node_by_node(nodes: int, more: int, dense: float, seed: int, directed: bool) -> None:
    before = nx.gnp_random_graph(nodes, dense, seed=seed, directed=directed)
    after = nx.gnp_random_graph(nodes + more, dense, seed=seed + 1, directed=directed)
    after.add_edges_from(list(before.edges)[: nodes // 2])
    place = [-1 if (seed >> v) % 5 == 0 else v for v in range(nodes)]
    found = found_by_connections(ComparedGraphs(to_graph(before), to_graph(after), np.array(place)))
    for value, expected in zip(found, naive_shares(before, after, place), strict=True):
        assert value == pytest.approx(float(expected))


def test_without_changes_it_is_the_number_of_classes_per_node() -> None:
    found = unveil.assess(PATH, only=["network.degree_found", "network.signature_found"])
    assert [found[f"network.{name}_found"].value for name in ("degree", "signature")] == [0.5, 0.5]
    assert found["network.degree_found"].sentence == (
        "Someone who knows how many connections a person has, and picks at random one of the released nodes with as "
        "many, finds 50% of 4 people on average."
    )
    assert found["network.signature_found"].sentence == (
        "Someone who knows how many connections each neighbour of a person has, and picks at random one of the "
        "released nodes with neighbours that have as many, finds 50% of 4 people on average."
    )
    directed = Graph.from_edges([0, 1], [1, 2], nodes=3, directed=True)
    assert unveil.assess(directed, only="network.degree_found")["network.degree_found"].sentence == (
        "Someone who knows how many outgoing and incoming connections a person has, and picks at random one of the "
        "released nodes with as many of both, finds 100% of 3 people on average."
    )


def test_a_possible_world_is_judged_by_who_is_found_in_it() -> None:
    """Every number of connections is unique in the release, and nobody's is that of the original."""
    original = Graph.from_edges(["a", "b", "c"], ["b", "c", "a"])
    released = Graph.from_edges([0, 3], [1, 1], nodes=4)
    found = unveil.assess(
        Case(released, original, np.array([0, 1, 2])), Policy(tolerance={"network.degree_found": 0.1})
    )
    assert found["network.degree_k"].value == 1
    finding = found["network.degree_found"]
    assert (finding.status, finding.subjects) == ("over", 3), "b has two connections before and after"
    assert finding.value == pytest.approx(1 / 3)
    moved = unveil.assess(
        Case(released, original, np.array([1, 0, 2])), Policy(tolerance={"network.degree_found": 0.1})
    )
    assert moved["network.signature_found"].value == 0
    assert moved["network.degree_found"].value == pytest.approx(1 / 3), "a became the node with two"
    gone = unveil.assess(Case(released, original, np.array([0, -1, 2])), only="network.degree_found")
    assert gone["network.degree_found"].value == 0
    assert gone["network.degree_found"].sentence.endswith(
        "knows how many connections a person had in the original, and picks at random one of the released nodes with "
        "as many, finds none of 3 people."
    )


def test_nodes_that_are_only_in_the_release_are_nobody() -> None:
    grown = Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 0], nodes=5)
    found = unveil.assess(Case(grown, PATH, np.arange(4)), only="network.degree_found")
    assert found["network.degree_found"].value == pytest.approx((1 / 3 + 1 / 3 + 1 / 2) / 4)
    with pytest.raises(UnveilError, match="a node of the release, or −1, for each node of the original"):
        unveil.assess(Case(PATH, grown, np.arange(5)))
