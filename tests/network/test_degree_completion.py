"""k-degree anonymous graphs: what was promised holds, by a check that shares no code with what made them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference.naive_degree_anonymity import (
    Edges,
    degrees_of,
    fewest_changes,
    fewest_changes_to_degrees,
    is_anonymous,
)
from reference.naive_degree_sequences import least_cost_of_sorted
from unveil import Graph
from unveil.errors import UnveilError
from unveil.network.protections import degree_completion
from unveil.network.protections.degree_completion import AnonymisedGraph, anonymise_graph
from unveil.run import Run


def edge_set(graph: Graph) -> Edges:
    """The edges, read from the rows; rows must be rising and symmetric, without the node itself."""
    rows = [graph.neighbours[graph.indptr[v] : graph.indptr[v + 1]].tolist() for v in range(graph.nodes)]
    assert all(sorted(set(row)) == row and v not in row for v, row in enumerate(rows))
    assert all(v in rows[w] for v, row in enumerate(rows) for w in row)
    return frozenset((v, w) for v, row in enumerate(rows) for w in row if v < w)


def make_graph(edges: Edges, nodes: int) -> Graph:
    return Graph.from_edges([u for u, _ in edges], [v for _, v in edges], nodes=nodes, name="friends")


def from_networkx(other: nx.Graph) -> Graph:
    return make_graph(frozenset((min(pair), max(pair)) for pair in other.edges), len(other))


def check_anonymised(graph: Graph, k: int, additions_only: bool) -> AnonymisedGraph:
    found = anonymise_graph(graph, k, Run(), additions_only)
    before, after = edge_set(graph), edge_set(found.graph)
    assert found.graph.nodes == graph.nodes
    assert is_anonymous(degrees_of(after, graph.nodes), k)
    assert [tuple(pair) for pair in found.removed.tolist()] == sorted(before - after)
    assert [tuple(pair) for pair in found.added.tolist()] == sorted(after - before)
    assert len(found.removed) + len(found.added) == found.changes == len(before ^ after)
    assert not additions_only or before <= after
    assert max(found.bounds) <= found.changes
    assert found.graph.labels.equals(graph.labels)
    assert (found.graph.name, found.graph.directed) == (graph.name, False)
    return found


@st.composite
def small_graphs(draw: st.DrawFn, most: int) -> tuple[Graph, int]:
    nodes = draw(st.integers(1, most))
    pairs = [(u, v) for u in range(nodes) for v in range(u + 1, nodes)]
    edges = frozenset(draw(st.sets(st.sampled_from(pairs)))) if pairs else frozenset()
    return make_graph(edges, nodes), draw(st.integers(1, nodes))


@settings(max_examples=200, deadline=None)
@given(small_graphs(14))
def test_small_graphs(made: tuple[Graph, int]) -> None:
    both, additions = (check_anonymised(*made, additions_only) for additions_only in (False, True))
    assert both.changes <= additions.changes


@settings(max_examples=60, deadline=None)
@given(small_graphs(5), st.booleans())
@example((make_graph(frozenset({(0, 1), (0, 2), (1, 2)}), 4), 4), True)  # a triangle and a node that knows nobody
def test_bounds_and_changes_against_all_graphs(made: tuple[Graph, int], additions_only: bool) -> None:
    graph, k = made
    edges = edge_set(graph)
    found = check_anonymised(graph, k, additions_only)
    fewest = fewest_changes(edges, graph.nodes, k, additions_only)
    assert found.bounds.half_distance <= fewest <= found.changes
    distance = least_cost_of_sorted(graph.degrees.tolist(), k, None if additions_only else 1.0, even_sum=True)
    assert found.bounds.half_distance == distance / 2
    chosen = found.graph.degrees.tolist()
    assert found.bounds.chosen_degrees <= fewest_changes_to_degrees(edges, chosen, additions_only)


AWKWARD = {
    "one node": nx.empty_graph(1),
    "two nodes": nx.path_graph(2),
    "empty": nx.empty_graph(7),
    "complete": nx.complete_graph(7),
    "star": nx.star_graph(8),
    "two stars": nx.disjoint_union(nx.star_graph(6), nx.star_graph(3)),
    "cycle": nx.cycle_graph(9),
    "path": nx.path_graph(9),
    "lollipop": nx.lollipop_graph(5, 4),
    "complete but for one edge": nx.complement(nx.Graph([(0, 1), *((v, v) for v in range(6))])),
    "complete, and a node that knows nobody": nx.disjoint_union(nx.complete_graph(6), nx.empty_graph(1)),
    "complete bipartite": nx.complete_bipartite_graph(2, 7),
    "wheel": nx.wheel_graph(8),
    "half graph": nx.Graph([(u, 6 + v) for u in range(6) for v in range(u, 6)]),  # every degree occurs twice
}  # fmt: skip


@pytest.mark.parametrize("additions_only", [False, True])
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs(name: str, additions_only: bool) -> None:
    graph = from_networkx(nx.convert_node_labels_to_integers(AWKWARD[name], ordering="sorted"))
    for k in range(1, graph.nodes + 1):
        check_anonymised(graph, k, additions_only)


@pytest.mark.parametrize("additions_only", [False, True])
@pytest.mark.parametrize("k", [2, 5, 40])
def test_graphs_with_hubs(k: int, additions_only: bool) -> None:
    check_anonymised(from_networkx(nx.barabasi_albert_graph(400, 3, seed=2)), k, additions_only)
    check_anonymised(from_networkx(nx.gnp_random_graph(90, 0.5, seed=2)), k, additions_only)


def test_the_example_of_figure_9_2() -> None:
    """Degrees 3, 3, 3, 2, 2, 1 need one edge to be 2-anonymous."""
    graph = from_networkx(nx.Graph([(1, 2), (1, 4), (2, 4), (1, 3), (2, 5), (3, 5), (4, 0)]))
    assert sorted(graph.degrees.tolist()) == [1, 2, 2, 3, 3, 3]
    assert check_anonymised(graph, 2, True).changes == 1


def test_of_equal_nodes_those_are_raised_that_do_not_know_each_other() -> None:
    """Node 0 and one of the three with two neighbours have to gain one; 1 knows 0, so that it cannot be 1."""
    graph = make_graph(frozenset({(0, 1), (1, 2), (2, 5), (2, 6), (5, 6)}), 7)
    assert check_anonymised(graph, 2, True).changes == 1


def test_what_is_anonymous_already_stays_as_it_is() -> None:
    graph = from_networkx(nx.random_regular_graph(4, 20, seed=1))
    for additions_only in (False, True):
        found = check_anonymised(graph, 20, additions_only)
        assert (found.changes, found.bounds) == (0, (0, 0))


def test_fewer_edges_change_when_some_may_go() -> None:
    graph = from_networkx(nx.barabasi_albert_graph(500, 4, seed=5))
    assert check_anonymised(graph, 10, False).changes < check_anonymised(graph, 10, True).changes


def test_the_same_graph_is_protected_in_the_same_way() -> None:
    graph = from_networkx(nx.barabasi_albert_graph(300, 4, seed=7))
    first, second = (anonymise_graph(graph, 8, Run()) for _ in range(2))
    assert first.graph.digest == second.graph.digest
    assert np.array_equal(first.removed, second.removed) and np.array_equal(first.added, second.added)


def test_without_patience_only_additions_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps rounds from going round in circles: deletions end after some of them."""
    monkeypatch.setattr(degree_completion, "_ROUNDS", 0)
    graph = from_networkx(nx.barabasi_albert_graph(60, 3, seed=7))
    assert len(check_anonymised(graph, 7, False).removed) == 0


def test_a_cancelled_run_ends() -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        anonymise_graph(from_networkx(nx.star_graph(9)), 3, run)


def test_impossible_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    star = from_networkx(nx.star_graph(9))
    for k, says in ((0, "k must be at least 1"), (11, "only 10 nodes")):
        with pytest.raises(UnveilError, match=says):
            anonymise_graph(star, k, Run())
    with pytest.raises(UnveilError, match="directions"):
        anonymise_graph(Graph.from_edges([0], [1], nodes=2, directed=True), 1, Run())
    monkeypatch.setattr(degree_completion, "_MOST_ADDITIONS", 10)
    with pytest.raises(UnveilError, match="at least 36 more edges"):
        anonymise_graph(star, 10, Run(), additions_only=True)


def test_few_edges_too_many_change_in_small_graphs() -> None:
    """All graphs with five nodes: changes are seldom more than the fewest there are."""
    excess = []
    for other in nx.graph_atlas_g()[19:53]:
        graph = from_networkx(other)
        for k in range(2, 6):
            for additions_only in (False, True):
                fewest = fewest_changes(edge_set(graph), 5, k, additions_only)
                excess.append(anonymise_graph(graph, k, Run(), additions_only).changes - fewest)
    assert len(excess) == 34 * 4 * 2
    assert sum(map(bool, excess)) <= 10 and sum(excess) <= 12


@pytest.mark.parametrize("k", [3, 10, 40])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_little_is_above_the_bound_for_the_degrees(k: int, seed: int) -> None:
    graph = from_networkx(nx.powerlaw_cluster_graph(500, 6, 0.5, seed=seed))
    found = check_anonymised(graph, k, False)
    assert found.changes <= 1.12 * found.bounds.chosen_degrees
    found = check_anonymised(graph, k, True)
    assert found.changes == found.bounds.chosen_degrees


@pytest.mark.parametrize("k", [10, 30, 100])
def test_pairs_serve_nearly_all_residuals_where_no_node_stands_out(k: int) -> None:
    graph = from_networkx(nx.gnp_random_graph(300, 0.3, seed=1))
    found = check_anonymised(graph, k, False)
    assert found.changes <= found.bounds.half_distance + 1
