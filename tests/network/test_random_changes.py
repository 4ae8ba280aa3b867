"""Edges changed at random: counts and degrees are as promised, and every outcome is as likely as it should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from network.test_degree_completion import AWKWARD, edge_set, from_networkx, make_graph, small_graphs
from reference.naive_degree_anonymity import Edges, all_graphs
from reference.naive_switches import all_switches
from unveil import Graph
from unveil.errors import UnveilError
from unveil.network.protections import random_changes
from unveil.network.protections.distinct_draws import draw_subsets, pairs_by_rank
from unveil.network.protections.random_changes import change_edges_at_random, is_threshold_graph, switch_edges

SHARES = st.sampled_from((0.0, 0.1, 0.3, 0.5, 1.0))
_ERROR_RATE = 1e-6  # of each test of chance; seeds are fixed


def check_frequencies(seen: Counter[Any], expected: dict[Any, float]) -> None:
    """A chi-square test; nothing else may have been seen."""
    assert set(seen) <= set(expected)
    total = sum(seen.values()) / sum(expected.values())
    assert chisquare([seen[key] for key in expected], [total * each for each in expected.values()]).pvalue > _ERROR_RATE


# ---- delete and add --------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(small_graphs(9), SHARES, st.integers(0, 9))
def test_as_many_edges_come_as_go(made: tuple[Graph, int], share: float, seed: int) -> None:
    graph = made[0]
    changed = change_edges_at_random(graph, share, np.random.default_rng(seed))
    before, after = edge_set(graph), edge_set(changed)
    unconnected = graph.nodes * (graph.nodes - 1) // 2 - len(before)
    assert len(before - after) == len(after - before) == min(round(share * len(before)), unconnected)
    assert changed.labels.equals(graph.labels)


def test_all_changes_are_equally_likely() -> None:
    """A path of 4 nodes has 3 edges and misses 3: one goes and one comes in 9 ways."""
    path = from_networkx(nx.path_graph(4))
    edges = edge_set(path)
    rng = np.random.default_rng(11)
    seen = Counter(edge_set(change_edges_at_random(path, 1 / 3, rng)) for _ in range(1_800))
    missing = frozenset(combinations(range(4), 2)) - edges
    check_frequencies(seen, {edges - {gone} | {come}: 1.0 for gone in edges for come in missing})


# ---- switches --------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(small_graphs(9), SHARES, st.integers(0, 9))
def test_switches_keep_degrees(made: tuple[Graph, int], share: float, seed: int) -> None:
    graph = made[0]
    changed = switch_edges(graph, share, np.random.default_rng(seed))
    edge_set(changed)
    assert np.array_equal(changed.degrees, graph.degrees)
    assert changed.labels.equals(graph.labels)


@settings(max_examples=200, deadline=None)
@given(small_graphs(9), st.integers(0, 9))
def test_one_switch_is_a_valid_one(made: tuple[Graph, int], seed: int) -> None:
    graph = made[0]
    changed = switch_edges(graph, 1 / max(graph.edges, 1), np.random.default_rng(seed))
    possible = all_switches(edge_set(graph))
    assert edge_set(changed) in (possible or {edge_set(graph)})


def test_nothing_can_be_switched_in_threshold_graphs_only() -> None:
    for edges in all_graphs(5):
        degrees = make_graph(edges, 5).degrees
        assert is_threshold_graph(degrees) == (not all_switches(edges))


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("other", [nx.barabasi_albert_graph(300, 3, seed=1), nx.path_graph(5), nx.cycle_graph(40)])
def test_so_many_switches_are_made(other: nx.Graph, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, made = from_networkx(other), list[int]()
    original: Callable[..., int] = random_changes._switch_some

    def count_switches(*args: Any) -> int:
        made.append(original(*args))
        return made[-1]

    monkeypatch.setattr(random_changes, "_switch_some", count_switches)
    switch_edges(graph, share, np.random.default_rng(3))
    assert sum(made) == round(share * graph.edges)


def test_all_valid_switches_are_equally_likely() -> None:
    graph = from_networkx(nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (1, 3), (5, 6)]))
    rng = np.random.default_rng(7)
    seen = Counter(edge_set(switch_edges(graph, 1 / 6, rng)) for _ in range(2_000))
    expected = all_switches(edge_set(graph))
    assert len(expected) > 5
    check_frequencies(seen, dict(expected))


def test_many_switches_forget_where_they_began() -> None:
    """The graphs with the degrees of three separate edges: 15, and each can be switched in 6 ways, so that all are
    equally likely after many switches."""
    graph = make_graph(frozenset({(0, 1), (2, 3), (4, 5)}), 6)
    rng = np.random.default_rng(5)
    seen = Counter[Edges]()
    for _ in range(600):
        made = graph
        for _ in range(3):
            made = switch_edges(made, 1.0, rng)
        seen[edge_set(made)] += 1
    check_frequencies(seen, {edges: 1.0 for edges in all_graphs(6) if _has_degrees_of(edges, graph)})


def _has_degrees_of(edges: Edges, graph: Graph) -> bool:
    return len(edges) == 3 and np.array_equal(make_graph(edges, 6).degrees, graph.degrees)


def test_the_search_for_rare_switches_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A star and an edge: a switch takes the edge; one in 250 pairs of edges will do."""
    monkeypatch.setattr(random_changes, "_MORE_TRIES", 0)
    monkeypatch.setattr(random_changes, "_TRIES", 1)
    graph = from_networkx(nx.disjoint_union(nx.star_graph(500), nx.path_graph(2)))
    assert np.array_equal(switch_edges(graph, 1.0, np.random.default_rng(0)).degrees, graph.degrees)


# ---- both ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs_end(name: str) -> None:
    graph = from_networkx(nx.convert_node_labels_to_integers(AWKWARD[name], ordering="sorted"))
    for share in (0.0, 0.5, 1.0):
        rng = np.random.default_rng(0)
        assert change_edges_at_random(graph, share, rng).edges == graph.edges
        assert np.array_equal(switch_edges(graph, share, rng).degrees, graph.degrees)


@pytest.mark.parametrize("change", [change_edges_at_random, switch_edges])
def test_impossible_wishes(change: Callable[..., Graph]) -> None:
    graph, rng = from_networkx(nx.path_graph(4)), np.random.default_rng(0)
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(UnveilError, match="between 0 and 1"):
            change(graph, share, rng)
    with pytest.raises(UnveilError, match="directions"):
        change(Graph.from_edges([0], [1], nodes=2, directed=True), 0.5, rng)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=6), st.integers(0, 9))
def test_subsets_of_several_ranges(drawn: list[tuple[int, int]], seed: int) -> None:
    sizes = np.array([max(pair) for pair in drawn], np.int64)
    counts = np.array([min(pair) for pair in drawn], np.int64)
    ranges, numbers = draw_subsets(sizes, counts, np.random.default_rng(seed))
    pairs = list(zip(ranges.tolist(), numbers.tolist(), strict=True))
    assert sorted(set(pairs)) == pairs
    assert all(0 <= number < sizes[which] for which, number in pairs)
    assert np.array_equal(np.bincount(ranges, minlength=len(sizes)), counts)


@pytest.mark.parametrize("wanted", [2, 3, 4])
def test_all_subsets_are_equally_likely(wanted: int) -> None:
    sizes, counts = np.array([2, 5]), np.array([1, wanted])
    rng = np.random.default_rng(wanted)
    seen = Counter(tuple(draw_subsets(sizes, counts, rng)[1].tolist()) for _ in range(2_000))
    expected = {(one, *some): 1.0 for one in range(2) for some in combinations(range(5), wanted)}
    check_frequencies(seen, expected)


def test_pairs_by_rank_of_many_nodes() -> None:
    """Square roots of such numbers are rounded."""
    for high in (3, 94_906_267, 3_000_000_000):
        first = high * (high - 1) // 2
        lows, highs = pairs_by_rank(np.array([first - 1, first, first + high - 1, first + high]))
        assert lows.tolist() == [high - 2, 0, high - 1, 0]
        assert highs.tolist() == [high - 1, high, high, high + 1]
