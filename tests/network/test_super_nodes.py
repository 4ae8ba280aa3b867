"""Graphs published as groups: sizes, counts, and possible worlds that are all equally likely."""

from __future__ import annotations

from collections import Counter
from math import exp

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from network.test_degree_completion import AWKWARD, edge_set, from_networkx, small_graphs
from network.test_random_changes import check_frequencies
from reference.naive_degree_anonymity import Edges, all_graphs
from unveil import Graph
from unveil.errors import UnveilError
from unveil.network.protections.super_nodes import (
    count_group_edges,
    draw_possible_world,
    group_nodes,
    log_possible_worlds,
)
from unveil.run import Run


def edges_by_groups(edges: Edges, groups: list[int]) -> Counter[tuple[int, int]]:
    """How many edges each two groups have between them, by looking at every edge."""
    return Counter((min(a, b), max(a, b)) for a, b in ((groups[u], groups[v]) for u, v in edges))


def check_groups(graph: Graph, k: int) -> np.ndarray:
    groups = group_nodes(graph, k, Run())
    sizes = np.bincount(groups)
    assert len(groups) == graph.nodes and len(sizes) == graph.nodes // k
    assert (sizes[:-1] == k).all() and k <= sizes[-1] < 2 * k
    return groups


@settings(max_examples=200, deadline=None)
@given(small_graphs(12), st.integers(0, 9))
def test_small_graphs(made: tuple[Graph, int], seed: int) -> None:
    graph, k = made
    groups = check_groups(graph, k)
    published = count_group_edges(graph, groups)
    counted = edges_by_groups(edge_set(graph), groups.tolist())
    rows = zip(published.first.tolist(), published.second.tolist(), published.edges.tolist(), strict=True)
    assert {(a, b): edges for a, b, edges in rows} == dict(counted)
    assert np.array_equal(published.sizes, np.bincount(groups))
    world = draw_possible_world(graph, groups, np.random.default_rng(seed))
    assert edges_by_groups(edge_set(world), groups.tolist()) == counted
    assert world.labels.equals(graph.labels)


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs(name: str) -> None:
    graph = from_networkx(nx.convert_node_labels_to_integers(AWKWARD[name], ordering="sorted"))
    for k in range(1, graph.nodes + 1):
        groups = check_groups(graph, k)
        assert draw_possible_world(graph, groups, np.random.default_rng(0)).edges == graph.edges


def test_groups_of_one_give_the_graph_itself() -> None:
    graph = from_networkx(nx.gnp_random_graph(12, 0.4, seed=1))
    groups = check_groups(graph, 1)
    assert draw_possible_world(graph, groups, np.random.default_rng(0)).digest == graph.digest
    assert log_possible_worlds(count_group_edges(graph, groups)) == 0


GROUPS = np.array([0, 0, 1, 1, 1])
TAIL = from_networkx(nx.Graph([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)]))


def worlds_like(graph: Graph, groups: np.ndarray) -> set[Edges]:
    wanted = edges_by_groups(edge_set(graph), groups.tolist())
    return {edges for edges in all_graphs(graph.nodes) if edges_by_groups(edges, groups.tolist()) == wanted}


def test_all_possible_worlds_are_equally_likely() -> None:
    """2 of 6 pairs between the groups, 2 of 3 within the second: 45 worlds."""
    worlds = worlds_like(TAIL, GROUPS)
    assert len(worlds) == 45 == round(exp(log_possible_worlds(count_group_edges(TAIL, GROUPS))))
    rng = np.random.default_rng(3)
    seen = Counter(edge_set(draw_possible_world(TAIL, GROUPS, rng)) for _ in range(2_700))
    check_frequencies(seen, dict.fromkeys(worlds, 1.0))


def test_members_of_a_group_could_change_places() -> None:
    worlds = worlds_like(TAIL, GROUPS)
    for places in ((1, 0, 2, 3, 4), (0, 1, 3, 2, 4), (0, 1, 4, 2, 3)):
        changed = {frozenset((min(a, b), max(a, b)) for a, b in moved(edges, places)) for edges in worlds}
        assert changed == worlds


def moved(edges: Edges, places: tuple[int, ...]) -> set[tuple[int, int]]:
    return {(places[u], places[v]) for u, v in edges}


def test_cliques_become_groups() -> None:
    """Ten cliques of eight in a ring: grouped by degree alone, almost everything would be lost."""
    graph = from_networkx(nx.convert_node_labels_to_integers(nx.connected_caveman_graph(10, 8)))
    groups = check_groups(graph, 8)
    by_degree = np.empty(80, np.int64)
    by_degree[np.argsort(graph.degrees, kind="stable")] = np.arange(80) // 8
    few, many = (log_possible_worlds(count_group_edges(graph, each)) for each in (groups, by_degree))
    assert few < many / 3


def test_the_same_graph_has_the_same_groups() -> None:
    graph = from_networkx(nx.barabasi_albert_graph(300, 4, seed=7))
    assert np.array_equal(check_groups(graph, 40), check_groups(graph, 40))


def test_a_cancelled_run_ends() -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        group_nodes(from_networkx(nx.star_graph(9)), 3, run)


def test_impossible_wishes() -> None:
    star = from_networkx(nx.star_graph(9))
    for k, says in ((0, "k must be at least 1"), (11, "only 10 nodes")):
        with pytest.raises(UnveilError, match=says):
            group_nodes(star, k, Run())
    with pytest.raises(UnveilError, match="directions"):
        group_nodes(Graph.from_edges([0], [1], nodes=2, directed=True), 1, Run())
