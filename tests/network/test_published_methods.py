"""Probing, swaps, and the three published ways to a k-degree anonymous graph."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference.published_removals import complement_graph, remove_edges_only
from unveil import Graph, Run
from unveil.network.protections import published_swaps
from unveil.network.protections.degree_sequences import anonymise_degrees, is_k_anonymous
from unveil.network.protections.published_construction import construct_graph
from unveil.network.protections.published_methods import (
    relaxed_graph,
    simultaneous_swap_graph,
    supergraph,
)
from unveil.network.protections.published_probing import (
    ProbedGraph,
    ProbingScheme,
    add_degree_noise,
    probe_degrees,
)
from unveil.network.protections.published_swaps import resemble_by_swaps
from unveil.release.graph import edge_endpoints

SCHEMES: tuple[ProbingScheme, ...] = (1, 2, 3, 4)
METHODS = (supergraph, relaxed_graph, simultaneous_swap_graph)


def edge_set(graph: Graph) -> set[tuple[int, int]]:
    return set(zip(*(ends.tolist() for ends in edge_endpoints(graph)), strict=True))


@st.composite
def graphs(draw: st.DrawFn, most: int = 12) -> Graph:
    nodes = draw(st.integers(2, most))
    pairs = list(combinations(range(nodes), 2))
    ends = np.array(draw(st.lists(st.sampled_from(pairs), unique=True)), np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], nodes=nodes)


# ---- probing ---------------------------------------------------------------------------------------------------------


def noise(degrees: list[int], scheme: ProbingScheme) -> tuple[set[int], set[int]]:
    """Which nodes are ever raised, and by how much."""
    rng = np.random.default_rng(0)
    added = [add_degree_noise(np.array(degrees), scheme, rng) - degrees for _ in range(400)]
    assert all(np.count_nonzero(change) <= 1 for change in added)
    return {int(change.argmax()) for change in added}, {int(change.sum()) for change in added}


def test_each_scheme_raises_the_nodes_and_by_the_numbers_it_should() -> None:
    even, everyone = [7, 1, 5, 2, 4, 3, 6, 2] + [0] * 12, set(range(20))
    assert noise(even, 1) == (everyone, set(range(1, 11)))
    assert noise(even, 2) == (everyone, {2, 4, 6, 8, 10})
    assert noise([8, *even[1:]], 2) == (everyone, {1})
    assert noise(even, 3) == ({19}, {1})
    assert noise(even, 4) == (set(range(10, 20)), {1})
    assert noise([1, 0, 2, 0, 3], 4) == ({0, 1, 3}, {1})  # in falling order: 4, 2, 0, 1, 3


def test_no_degree_exceeds_all_others() -> None:
    assert noise([3, 3, 3, 3], 1) == ({0}, {0})
    assert noise([3, 3, 3, 3], 3) == ({0}, {0})
    assert noise([3, 3, 2, 3], 3) == ({2}, {1})


@pytest.mark.parametrize("scheme", SCHEMES)
def test_probing_ends_with_the_complete_graph_at_last(scheme: ProbingScheme) -> None:
    """Construction that accepts nothing else."""
    rng = np.random.default_rng(0)

    def only_complete(target: np.ndarray) -> Graph | None:
        return construct_graph(target, rng) if (target == 7).all() else None

    found = probe_degrees(np.full(8, 2), lambda d: anonymise_degrees(d, 3), only_complete, scheme, rng, 10_000, Run())
    assert found.graph is not None and found.graph.edges == 28
    assert found.probes > 0


def test_probing_gives_up_after_so_many_probes() -> None:
    asked = []

    def refuse(target: np.ndarray) -> None:
        asked.append(target)

    found = probe_degrees(np.arange(5), lambda d: d, refuse, 4, np.random.default_rng(0), 7, Run())
    assert (found.graph, found.probes, len(asked)) == (None, 7, 8)
    assert found.nearest.tolist() == [0, 1, 2, 3, 4]


def test_a_cancelled_run_ends() -> None:
    run = Run()
    run.cancelled.set()
    path = Graph.from_networkx(nx.path_graph(9))
    for method in METHODS:
        with pytest.raises(KeyboardInterrupt):
            method(path, 3, np.random.default_rng(0), run=run)
    with pytest.raises(KeyboardInterrupt):
        resemble_by_swaps(path, path, np.random.default_rng(0), 10, run)


# ---- swaps -----------------------------------------------------------------------------------------------------------


def best_swaps(edges: set[tuple[int, int]], model: set[tuple[int, int]]) -> tuple[int, list[set[tuple[int, int]]]]:
    """The largest gain of any valid swap of two edges, and what is left of each that has it; from the definition."""
    most, results = 0, list[set[tuple[int, int]]]()
    for (a, b), (c, d) in combinations(sorted(edges), 2):
        for new in (((a, c), (b, d)), ((a, d), (b, c))):
            added = {(min(pair), max(pair)) for pair in new}
            if len(added) < 2 or any(u == v for u, v in added) or added & edges:
                continue
            after = (edges - {(a, b), (c, d)}) | added
            gain = len(after & model) - len(edges & model)
            if gain > most:
                most, results = gain, []
            if gain == most > 0:
                results.append(after)
    return most, results


@settings(max_examples=150, deadline=None)
@given(graphs(7), graphs(7), st.integers(0, 99))
def test_swaps_keep_degrees_and_end_where_none_gains(start: Graph, model: Graph, seed: int) -> None:
    model = Graph.from_edges(*(ends % start.nodes for ends in edge_endpoints(model)), nodes=start.nodes)
    found = resemble_by_swaps(start, model, np.random.default_rng(seed), patience=1_500)
    assert found.degrees.tolist() == start.degrees.tolist()
    before, after, wanted = edge_set(start), edge_set(found), edge_set(model)
    assert len(after & wanted) >= len(before & wanted)
    assert best_swaps(after, wanted)[0] == 0


def graph_of(*edges: tuple[int, int]) -> Graph:
    return Graph.from_edges([a for a, _ in edges], [b for _, b in edges], nodes=1 + max(map(max, edges)))


@settings(max_examples=100, deadline=None)
@given(graphs(7), graphs(7))
@example(graph_of((0, 1), (2, 3)), graph_of((0, 1), (0, 2), (1, 3)))  # two for one that both had
def test_the_best_swap_of_all_edges_is_made(start: Graph, model: Graph) -> None:
    model = Graph.from_edges(*(ends % start.nodes for ends in edge_endpoints(model)), nodes=start.nodes)
    swapped = published_swaps._SwappedEdges(start, model)
    now, wanted = edge_set(start), edge_set(model)
    while True:
        most, results = best_swaps(now, wanted)
        assert swapped.make_best_swap(list(range(start.edges))) == (most > 0)
        if not most:
            break
        now = {(min(edge), max(edge)) for edge in swapped.edges}
        assert now in results
        there = {frozenset((a, b)) for a, others in enumerate(swapped._missing) for b in others}
        assert there == {frozenset(edge) for edge in wanted - now}


def test_it_ends_after_so_many_samples_without_a_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    """One gain after two failures begins the count anew."""
    answers = iter([False, False, True, False, False, False, True])
    monkeypatch.setattr(published_swaps._SwappedEdges, "make_best_swap", lambda *_: next(answers))
    path = Graph.from_networkx(nx.path_graph(9))
    resemble_by_swaps(path, path, np.random.default_rng(0), patience=3)
    assert list(answers) == [True]


def test_the_first_sample_without_a_gain_ends_it_as_printed() -> None:
    """On a sparse graph that is nearly the first sample of all."""
    model = Graph.from_networkx(nx.random_regular_graph(3, 600, seed=1))
    start = construct_graph(model.degrees, np.random.default_rng(0))
    assert start is not None
    common = [
        len(edge_set(resemble_by_swaps(start, model, np.random.default_rng(0), patience)) & edge_set(model))
        for patience in (1, 30, 1_000)
    ]
    assert common[0] < 20 < common[1] < common[2]
    assert common[2] > 500


# ---- the methods -----------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(graphs(), st.integers(1, 12), st.sampled_from(METHODS), st.sampled_from(SCHEMES), st.integers(0, 99))
def test_every_graph_is_anonymous(
    graph: Graph, k: int, method: Callable[..., ProbedGraph], scheme: ProbingScheme, seed: int
) -> None:
    k = min(k, graph.nodes)
    found = method(graph, k, np.random.default_rng(seed), scheme)
    assert found.graph is not None  # a few nodes reach the complete graph soon
    assert is_k_anonymous(found.graph.degrees, k)
    assert found.graph.labels.equals(graph.labels)
    if method is supergraph:
        assert edge_set(graph) <= edge_set(found.graph)
    if method is not simultaneous_swap_graph:
        assert (found.graph.degrees >= graph.degrees).all()
    if found.probes == 0:
        assert found.graph.degrees.tolist() == found.nearest.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_graphs_that_need_no_change(method: Callable[..., ProbedGraph]) -> None:
    for made in (nx.empty_graph(6), nx.complete_graph(6), nx.cycle_graph(6)):
        graph = Graph.from_networkx(made)
        found = method(graph, 6, np.random.default_rng(0))
        assert found.probes == 0
        assert found.graph is not None and found.graph.degrees.tolist() == graph.degrees.tolist()


def test_simultaneous_changes_cost_less_than_additions() -> None:
    star = Graph.from_networkx(nx.star_graph(29))
    rng = np.random.default_rng(0)
    added, both = (method(star, 3, rng).graph for method in (supergraph, simultaneous_swap_graph))
    assert added is not None and both is not None
    assert added.edges > star.edges > both.edges


@settings(max_examples=60, deadline=None)
@given(graphs(9), st.integers(1, 9), st.integers(0, 99))
def test_removing_edges_only_is_adding_them_to_the_complement(graph: Graph, k: int, seed: int) -> None:
    rng, k = np.random.default_rng(seed), min(k, graph.nodes)
    assert edge_set(complement_graph(complement_graph(graph))) == edge_set(graph)
    assert not edge_set(complement_graph(graph)) & edge_set(graph)
    assert graph.edges + complement_graph(graph).edges == graph.nodes * (graph.nodes - 1) // 2
    found = remove_edges_only(graph, lambda other: supergraph(other, k, rng))
    assert found.graph is not None
    assert edge_set(found.graph) <= edge_set(graph)
    assert is_k_anonymous(found.graph.degrees, k)
    if found.probes == 0:
        assert found.graph.degrees.tolist() == found.nearest.tolist()
