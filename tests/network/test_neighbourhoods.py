"""k-neighbourhood anonymous graphs: every neighbourhood is that of k nodes, as networkx sees it."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from network.test_degree_completion import AWKWARD, edge_set, from_networkx, small_graphs
from reference.naive_neighbourhoods import count_alike
from unveil import Graph
from unveil.errors import UnveilError
from unveil.network.protections import neighbourhoods, twin_nodes
from unveil.network.protections.neighbourhood_kinds import GrowingGraph, neighbourhood_classes
from unveil.network.protections.neighbourhoods import anonymise_neighbourhoods
from unveil.run import Run


def check_anonymised(graph: Graph, k: int, seed: int = 0) -> Graph:
    made = anonymise_neighbourhoods(graph, k, np.random.default_rng(seed), Run())
    before, after = edge_set(graph), edge_set(made)
    assert before <= after
    assert made.nodes == graph.nodes
    assert min(count_alike(after, made.nodes)) >= k
    assert made.labels.equals(graph.labels)
    return made


@settings(max_examples=80, deadline=None)
@given(small_graphs(9), st.integers(0, 9))
def test_small_graphs(made: tuple[Graph, int], seed: int) -> None:
    check_anonymised(*made, seed)


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs(name: str) -> None:
    graph = from_networkx(nx.convert_node_labels_to_integers(AWKWARD[name], ordering="sorted"))
    for k in {1, 2, 3, graph.nodes}:
        if k <= graph.nodes:
            check_anonymised(graph, k)


@pytest.mark.parametrize(
    ("other", "k", "most"),
    [
        (nx.gnm_random_graph(150, 210, seed=1), 5, 60),
        (nx.random_labeled_tree(150, seed=2), 5, 60),
        (nx.watts_strogatz_graph(100, 4, 0.1, seed=1), 2, 100),
        (nx.karate_club_graph(), 2, 60),
    ],
)
def test_larger_graphs(other: nx.Graph, k: int, most: int) -> None:
    graph = from_networkx(other)
    assert check_anonymised(graph, k).edges - graph.edges <= most


def test_what_is_anonymous_already_stays_as_it_is() -> None:
    graph = from_networkx(nx.circular_ladder_graph(10))
    assert check_anonymised(graph, 20).digest == graph.digest


def test_the_complete_graph_is_the_last_resort() -> None:
    """One node knows all 15 others, so that all have to."""
    graph = from_networkx(nx.convert_node_labels_to_integers(nx.wheel_graph(16)))
    assert check_anonymised(graph, 16).edges == 16 * 15 // 2


# ---- comparing neighbourhoods ----------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(small_graphs(9))
def test_classes_of_neighbourhoods(made: tuple[Graph, int]) -> None:
    graph = made[0]
    classes = neighbourhood_classes(graph, Run())
    assert np.bincount(classes)[classes].tolist() == count_alike(edge_set(graph), graph.nodes)


@settings(max_examples=100, deadline=None)
@given(small_graphs(8), st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=6))
def test_the_same_neighbourhoods_are_of_one_kind(made: tuple[Graph, int], new: list[tuple[int, int]]) -> None:
    """Up to 6 neighbours refinement tells different ones apart, but for two regular graphs of six nodes."""
    grown = GrowingGraph(made[0])
    new = [(u, v) for u, v in new if u != v and max(u, v) < made[0].nodes]
    grown.add_edges(new)
    edges = edge_set(made[0]) | {(min(pair), max(pair)) for pair in new}
    alike = count_alike(frozenset(edges), made[0].nodes)
    assert all(grown.counts[kind] >= count for kind, count in zip(grown.kinds, alike, strict=True))
    assert sorted(grown.added) == sorted(edges - edge_set(made[0]))
    if max(len(row) for row in grown.neighbours) < 6:
        assert [grown.counts[kind] for kind in grown.kinds] == alike


def prism_and_bipartite() -> Graph:
    """Two nodes with six neighbours each, among whom each has three: one has a prism, the other K₃,₃."""
    cones = [nx.full_join(nx.empty_graph(1), other, ("c", "n")) for other in (PRISM, nx.complete_bipartite_graph(3, 3))]
    return from_networkx(nx.convert_node_labels_to_integers(nx.disjoint_union(*cones)))


PRISM = nx.circular_ladder_graph(3)


def test_what_refinement_cannot_tell_apart() -> None:
    graph = prism_and_bipartite()
    hubs = np.flatnonzero(graph.degrees == 6)
    grown = GrowingGraph(graph)
    assert grown.kinds[hubs[0]] == grown.kinds[hubs[1]]
    classes = neighbourhood_classes(graph, Run())
    assert classes[hubs[0]] != classes[hubs[1]]
    check_anonymised(graph, 2)


def test_twins_can_change_places() -> None:
    """Three of them, made of the ends and the middle of a path, and of whom nobody else is changed."""
    grown = GrowingGraph(from_networkx(nx.path_graph(7)))
    grown.add_edges(twin_nodes._twin_edges(grown, frozenset({0, 3, 6})))
    assert [sorted(grown.neighbours[node]) for node in (0, 3, 6)] == [[1, 2, 4, 5]] * 3
    assert [sorted(row) for row in grown.neighbours[1:3]] == [[0, 2, 3, 6], [0, 1, 3, 6]]
    grown.add_edges(twin_nodes._twin_edges(grown, frozenset({0, 1, 3, 6})))
    assert all(grown.neighbours[node] | {node} == set(range(7)) for node in (0, 1, 3, 6))


@settings(max_examples=100, deadline=None)
@given(small_graphs(8))
def test_the_cost_of_merging_is_the_number_of_edges(made: tuple[Graph, int]) -> None:
    grown = GrowingGraph(made[0])
    twins = frozenset({0})
    for node in range(1, made[0].nodes):
        cost, before = twin_nodes._merging_cost(grown, twins, frozenset({node})), len(grown.added)
        twins |= {node}
        grown.add_edges(twin_nodes._twin_edges(grown, twins))
        assert len(grown.added) - before == cost


# ---- limits ----------------------------------------------------------------------------------------------------------


def test_large_networks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UnveilError, match="this network has more than 1,000,000 pairs of neighbours"):
        anonymise_neighbourhoods(from_networkx(nx.complete_graph(127)), 2, rng, Run())
    monkeypatch.setattr(neighbourhoods, "_MOST_PAIRS", 600)
    with pytest.raises(UnveilError, match="k = 10 leads to more than 600 pairs"):
        anonymise_neighbourhoods(from_networkx(nx.karate_club_graph()), 10, rng, Run())


def test_a_cancelled_run_ends() -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        anonymise_neighbourhoods(from_networkx(nx.karate_club_graph()), 3, np.random.default_rng(0), run)


def test_impossible_wishes() -> None:
    star, rng = from_networkx(nx.star_graph(9)), np.random.default_rng(0)
    for k, says in ((0, "k must be at least 1"), (11, "only 10 nodes")):
        with pytest.raises(UnveilError, match=says):
            anonymise_neighbourhoods(star, k, rng, Run())
    with pytest.raises(UnveilError, match="directions"):
        anonymise_neighbourhoods(Graph.from_edges([0], [1], nodes=2, directed=True), 1, rng, Run())
