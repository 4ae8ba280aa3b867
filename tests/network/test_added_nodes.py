"""k-degree anonymity by adding nodes: the old network is in the new one, unchanged, and all degrees are shared."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from network.test_degree_completion import AWKWARD, edge_set, from_networkx, small_graphs
from reference.naive_added_nodes import fewest_added_nodes, smallest_spread
from reference.naive_degree_anonymity import degrees_of, is_anonymous
from unveil import Graph
from unveil.errors import UnveilError
from unveil.network.protections.added_nodes import add_nodes


def check_grown(graph: Graph, k: int, seed: int = 0) -> Graph:
    grown = add_nodes(graph, k, np.random.default_rng(seed))
    before, after = edge_set(graph), edge_set(grown)
    assert {pair for pair in after if max(pair) < graph.nodes} == before
    assert is_anonymous(degrees_of(after, grown.nodes), k)
    labels = grown.labels.to_pylist()
    assert labels[: graph.nodes] == graph.labels.to_pylist()
    assert len(set(labels)) == grown.nodes
    return grown


@settings(max_examples=300, deadline=None)
@given(small_graphs(12), st.integers(0, 9))
def test_small_graphs(made: tuple[Graph, int], seed: int) -> None:
    check_grown(*made, seed)


def test_nearly_the_fewest_nodes_of_all() -> None:
    """On all graphs of up to four nodes and for all k, by how many more than the fewest possible."""
    excess = Counter[int]()
    for nodes in (2, 3, 4):
        pairs = list(combinations(range(nodes), 2))
        for drawn in product((False, True), repeat=len(pairs)):
            ends = [pair for pair, is_edge in zip(pairs, drawn, strict=True) if is_edge]
            graph = Graph.from_edges([one for one, _ in ends], [other for _, other in ends], nodes=nodes)
            for k in range(1, nodes + 1):
                added = add_nodes(graph, k, np.random.default_rng(0)).nodes - nodes
                excess[added - fewest_added_nodes(frozenset(ends), nodes, k)] += 1
    assert excess == {0: 264, 1: 14, 2: 6}  # 2 for the six that lack one edge of being complete, with k = 4


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs(name: str) -> None:
    graph = from_networkx(nx.convert_node_labels_to_integers(AWKWARD[name], ordering="sorted"))
    for k in range(1, graph.nodes + 1):
        check_grown(graph, k)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_few_nodes_for_graphs_with_hubs(k: int) -> None:
    graph = from_networkx(nx.barabasi_albert_graph(200, 3, seed=2))
    needed = smallest_spread(graph.degrees.tolist(), k)
    assert needed <= check_grown(graph, k).nodes - graph.nodes <= needed + 1


def test_what_is_anonymous_already_stays_as_it_is() -> None:
    graph = from_networkx(nx.random_regular_graph(4, 20, seed=1))
    assert add_nodes(graph, 20, np.random.default_rng(0)).digest == graph.digest


def test_who_knows_which_new_node_is_left_to_chance() -> None:
    graph = from_networkx(nx.barabasi_albert_graph(60, 3, seed=7))
    grown = [check_grown(graph, 5, seed) for seed in range(2)]
    assert grown[0].nodes == grown[1].nodes
    assert edge_set(grown[0]) != edge_set(grown[1])


def test_impossible_wishes() -> None:
    star, rng = from_networkx(nx.star_graph(9)), np.random.default_rng(0)
    for k, says in ((0, "k must be at least 1"), (11, "only 10 nodes")):
        with pytest.raises(UnveilError, match=says):
            add_nodes(star, k, rng)
    with pytest.raises(UnveilError, match="directions"):
        add_nodes(Graph.from_edges([0], [1], nodes=2, directed=True), 1, rng)
