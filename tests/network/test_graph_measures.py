"""Measures of graphs against networkx, and small ones that can be checked by hand."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import Graph
from unveil.network.measures import path_lengths
from unveil.network.measures.graph_measures import (
    assortativity,
    component_sizes,
    density,
    local_clustering,
    measure_clustering,
    shared_neighbours,
    triangles_of_nodes,
)
from unveil.network.measures.path_lengths import measure_path_lengths
from unveil.network.measures.power_law import fit_power_law


@st.composite
def graphs(draw: st.DrawFn, directed: bool | None = None) -> tuple[Graph, nx.Graph]:
    nodes = draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    edges = draw(st.lists(pairs.filter(lambda pair: pair[0] != pair[1]), max_size=40))
    is_directed = draw(st.booleans()) if directed is None else directed
    other = nx.DiGraph(edges) if is_directed else nx.Graph(edges)
    other.add_nodes_from(range(nodes))
    ends = np.array(edges, np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], nodes=nodes, directed=is_directed), other


SOME = settings(max_examples=200, deadline=None)


@SOME
@given(graphs())
def test_triangles_and_clustering(made: tuple[Graph, nx.Graph]) -> None:
    graph, other = made[0], made[1].to_undirected()
    assert triangles_of_nodes(graph).tolist() == [nx.triangles(other)[v] for v in range(graph.nodes)]
    local = {v: c for v, c in nx.clustering(other).items() if other.degree[v] > 1}
    assert {v: c for v, c in enumerate(local_clustering(graph)) if not np.isnan(c)} == pytest.approx(local)
    found = measure_clustering(graph)
    assert found.over_all == pytest.approx(nx.average_clustering(other))
    if local:
        assert found.of_pairs == pytest.approx(nx.transitivity(other))
        assert found.over_pairs == pytest.approx(sum(local.values()) / len(local))
    else:
        assert np.isnan(found.of_pairs) and np.isnan(found.over_pairs)
    shared = shared_neighbours(graph)
    for u, v, count in zip(shared.sources.tolist(), shared.targets.tolist(), shared.shared.tolist(), strict=True):
        assert count == len(set(nx.common_neighbors(other, u, v)))
    assert len(shared.shared) == other.number_of_edges()


@SOME
@given(graphs())
def test_distances(made: tuple[Graph, nx.Graph]) -> None:
    graph, other = made
    lengths = [d for own in dict(nx.all_pairs_shortest_path_length(other)).values() for d in own.values() if d]
    found = measure_path_lengths(graph)
    assert found.is_exact
    assert found.diameter == max(lengths, default=0)
    assert found.pairs[1:].sum() == len(lengths)
    if lengths:
        assert found.over_reachable == pytest.approx(sum(lengths) / len(lengths))
        assert found.over_all == pytest.approx(sum(lengths) / (graph.nodes * (graph.nodes - 1)))
        assert found.reachable_share == pytest.approx(len(lengths) / (graph.nodes * (graph.nodes - 1)))
    else:
        assert np.isnan(found.over_reachable)


@SOME
@given(graphs())
def test_the_whole(made: tuple[Graph, nx.Graph]) -> None:
    graph, other = made
    whole = other.to_undirected()
    assert component_sizes(graph).tolist() == sorted(map(len, nx.connected_components(whole)), reverse=True)
    if graph.nodes > 1:
        assert density(graph) == pytest.approx(nx.density(other))
    degrees = {d for v, d in whole.degree if d}
    if len(degrees) > 1:
        assert assortativity(graph) == pytest.approx(nx.degree_assortativity_coefficient(whole))
    else:
        assert np.isnan(assortativity(graph))


def test_more_nodes_than_fit_into_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    other = nx.barabasi_albert_graph(1_300, 2, seed=3)
    ends = np.array(other.edges, np.int64)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], nodes=1_300)
    exact = measure_path_lengths(graph)
    assert exact.over_reachable == pytest.approx(nx.average_shortest_path_length(other))
    assert exact.diameter == nx.diameter(other)
    monkeypatch.setattr(path_lengths, "_MOST_WORK", 0)
    some = measure_path_lengths(graph, rng=np.random.default_rng(1))
    assert (some.sources, some.is_exact) == (1_024, False)
    assert some.diameter <= exact.diameter


def test_intervals_of_sampled_distances_hold() -> None:
    """Of 200 samples with 95% confidence, fewer than 181 hold with a probability below .002 (seed fixed)."""
    other = nx.disjoint_union(nx.barabasi_albert_graph(300, 2, seed=1), nx.path_graph(40))
    ends = np.array(other.edges, np.int64)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], nodes=340)
    true = measure_path_lengths(graph).over_reachable
    rng = np.random.default_rng(5)
    holds = 0
    for _ in range(200):
        low, high = measure_path_lengths(graph, rng=rng, sample=60).over_reachable_interval()
        holds += low <= true <= high
    assert holds >= 181


def test_a_graph_that_falls_apart_looks_closer_by_equation_7_4() -> None:
    whole, broken = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=4), Graph.from_edges([0, 2], [1, 3], nodes=4)
    assert measure_path_lengths(broken).over_all == 1 / 3 < measure_path_lengths(whole).over_all == 5 / 3
    assert measure_path_lengths(broken).over_reachable == 1


@pytest.mark.parametrize("x_min", [1, 3])
def test_the_exponent_of_a_power_law_is_found(x_min: int) -> None:
    """20,000 values drawn from the law with exponent 2.5: the standard error is about .01, and three are allowed
    (probability of failure below .003 each; seed fixed)."""
    from scipy.special import zeta

    values = np.arange(x_min, 100_000)
    shares = values**-2.5 / zeta(2.5, x_min)
    drawn = np.random.default_rng(2).choice(values, 20_000, p=shares / shares.sum())
    found = fit_power_law(drawn, x_min)
    assert found is not None
    assert abs(found.exponent - 2.5) < 3 * found.error < 0.06
    assert found.distance < 0.02


def test_where_a_power_law_begins_is_found() -> None:
    from scipy.special import zeta

    values = np.arange(10, 100_000)
    shares = values**-2.8 / zeta(2.8, 10)
    rng = np.random.default_rng(3)
    tail = rng.choice(values, 5_000, p=shares / shares.sum())
    found = fit_power_law(np.append(tail, rng.integers(1, 10, 5_000)))
    assert found is not None and found.x_min >= 9  # from 10 on, every beginning is right
    assert abs(found.exponent - 2.8) < 4 * found.error < 0.2


@pytest.mark.parametrize("values", [[], [0], [3], [2, 2, 2]])
def test_too_few_values_follow_no_law(values: list[int]) -> None:
    assert fit_power_law(np.array(values, np.int64)) is None
