"""Degrees that single people out: tiny graphs to check on paper, and networkx as the oracle."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Graph
from unveil.network.degrees import degree_class_sizes


def test_a_star_gives_its_centre_away() -> None:
    found = unveil.assess(Graph.from_networkx(nx.star_graph(9)))
    assert found["network.degree_k"].value == 1
    assert found["network.degree_unique"].value == pytest.approx(1 / 10)
    assert found["network.degree_k"].exposed[0].subject == "node 1"
    assert found.verdict.decision == "protect first"


def test_in_a_cycle_all_look_the_same() -> None:
    found = unveil.assess(Graph.from_networkx(nx.cycle_graph(8)))
    assert (found["network.degree_k"].value, found["network.degree_unique"].value) == (8, 0)
    assert found.verdict.decision == "release"


def test_in_a_directed_graph_both_directions_are_known() -> None:
    """A directed path 0 → 1 → 2 → 3: (1,0), (1,1), (1,1), (0,1); the undirected one: 1, 2, 2, 1."""
    path = nx.path_graph(4, create_using=nx.DiGraph)
    assert degree_class_sizes(Graph.from_networkx(path)).tolist() == [1, 2, 2, 1]
    assert degree_class_sizes(Graph.from_networkx(path.to_undirected())).tolist() == [2, 2, 2, 2]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 25), st.floats(0, 1), st.integers(0, 10**6), st.booleans())
def test_agrees_with_networkx(n: int, p: float, seed: int, directed: bool) -> None:
    graph = nx.gnp_random_graph(n, p, seed=seed, directed=directed)
    known = {v: (graph.out_degree(v), graph.in_degree(v)) if directed else graph.degree(v) for v in graph}
    classes = Counter(known.values())
    assert degree_class_sizes(Graph.from_networkx(graph)).tolist() == [classes[known[v]] for v in graph]


def test_node_labels_are_shown_only_when_revealed() -> None:
    graph = nx.relabel_nodes(nx.star_graph(5), {0: "CANARY"})
    assert unveil.assess(Graph.from_networkx(graph))["network.degree_k"].exposed[0].values is None
    revealed = unveil.assess(Graph.from_networkx(graph), reveal=True)
    assert revealed["network.degree_k"].exposed[0].values == {"node": "CANARY"}
