"""Two views of one graph: they overlap as asked, and matches are counted as defined."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from unveil import Graph
from unveil.errors import UnveilError
from unveil.network.passive.two_views import (
    TwoViews,
    draw_seeds,
    held_part,
    match_by_degree,
    match_quality,
    random_recall,
    recall_by_degree,
    repeat_attack,
    two_views,
)
from unveil.release.graph import edge_endpoints

GRAPH = Graph.from_networkx(nx.barabasi_albert_graph(1_000, 15, seed=1))


def edge_overlap(views: TwoViews) -> tuple[float, float]:
    """Of the edges between common nodes in either view, the share in both; and the left view's edges per right one."""
    mine = {
        frozenset(edge) for edge in zip(*(views.truth[e].tolist() for e in edge_endpoints(views.left)), strict=True)
    }
    common = set(views.truth[views.truth >= 0].tolist())
    mine = {edge for edge in mine if edge <= common}
    theirs = {frozenset(edge) for edge in zip(*(e.tolist() for e in edge_endpoints(views.right)), strict=True)}
    theirs = {edge for edge in theirs if edge <= common}
    return len(mine & theirs) / len(mine | theirs), len(mine) / len(theirs)


@pytest.mark.parametrize(("overlap", "ratio"), [(0.8, 1.0), (0.5, 1.0), (0.15, 1.0), (0.4, 2.0)])
def test_views_overlap_as_asked(overlap: float, ratio: float) -> None:
    """15,000 edges: 4 standard errors are below .02."""
    views = two_views(GRAPH, 0.8, overlap, np.random.default_rng(0), density_ratio=ratio)
    assert len(views.common_nodes()) == 800
    assert len(views.common_nodes()) / (views.left.nodes + views.right.nodes - 800) == pytest.approx(0.8)
    found, density = edge_overlap(views)
    assert found == pytest.approx(overlap, abs=0.03)
    assert density == pytest.approx(ratio, rel=0.1)


def test_correlated_noise_strikes_neighbourhoods_and_keeps_the_overlap() -> None:
    shares = []
    for correlation in (0.0, 1.0):
        views = [two_views(GRAPH, 1.0, 0.6, np.random.default_rng(k), correlation=correlation) for k in range(8)]
        assert np.mean([one.left.edges for one in views]) == pytest.approx(0.75 * GRAPH.edges, rel=0.08)
        shares.append(np.mean([np.std(np.sort(one.left.degrees) / np.sort(GRAPH.degrees)) for one in views]))
    assert shares[1] > shares[0]


def test_false_edges_and_nodes_that_are_not_crawled() -> None:
    views = two_views(GRAPH, 1.0, 1.0, np.random.default_rng(0), added_edges=0.1)
    assert views.left.edges == pytest.approx(1.1 * GRAPH.edges, rel=0.01)
    ends = edge_endpoints(GRAPH)
    directed = Graph.from_edges(*ends, nodes=GRAPH.nodes, directed=True)
    views = two_views(directed, 0.9, 0.9, np.random.default_rng(0), crawled=0.7)
    assert views.left_crawled.mean() == pytest.approx(0.7, abs=0.06)
    assert not views.left.degrees[~views.left_crawled].any()


@pytest.mark.parametrize(
    "wrong", [{"node_overlap": 0}, {"edge_overlap": 1.2}, {"density_ratio": 3}, {"crawled": 0}, {"correlation": 2}]
)
def test_impossible_views_are_refused(wrong: dict[str, float]) -> None:
    options = {"node_overlap": 0.8, "edge_overlap": 0.8, **wrong}
    with pytest.raises(UnveilError):
        two_views(GRAPH, rng=np.random.default_rng(0), **options)  # type: ignore[arg-type]


def test_matches_are_counted_as_defined() -> None:
    """A path 0–1–2–3–4; node 4 of the left view is not in the right one."""
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], nodes=5)
    everyone = np.ones(5, np.bool_)
    views = TwoViews(path, path, np.array([0, 1, 2, 3, -1]), everyone, everyone)
    quality = match_quality(views, np.array([0, 2, -1, 1, 4]))
    assert (quality.common, quality.matched, quality.right, quality.near) == (4, 4, 1, 1)
    assert (quality.recall, quality.precision) == (1 / 4, 1 / 4)
    assert recall_by_degree(views, np.array([0, 2, 2, 1, 4]), (0, 2)) == [(0, 1, 1), (2, 3, 1)]
    assert random_recall(views) == 1 / 5
    assert match_by_degree(views).tolist() == [0, 1, 2, 3, 4]


def test_seeds_are_as_wrong_as_asked() -> None:
    views = two_views(GRAPH, 0.8, 0.8, np.random.default_rng(0))
    seeds = draw_seeds(views, 50, 0.4, np.random.default_rng(1))
    chosen = np.flatnonzero(seeds >= 0)
    assert (len(chosen), int((seeds[chosen] != views.truth[chosen]).sum())) == (50, 20)
    top = draw_seeds(views, 10, 0.0, np.random.default_rng(1), by_degree=True)
    assert views.left.degrees[top >= 0].min() >= np.sort(views.left.degrees[views.common_nodes()])[-10]


def test_repeated_experiments_have_intervals() -> None:
    found = repeat_attack(
        lambda rng: two_views(GRAPH, 0.8, 0.8, rng), lambda views: views.truth, 5, np.random.default_rng(0)
    )
    assert (found.recall.value, found.precision.value, len(found.each)) == (1, 1, 5)
    assert found.recall.interval[0] < 1
    with pytest.raises(UnveilError):
        repeat_attack(lambda rng: two_views(GRAPH, 1, 1, rng), match_by_degree, 0, np.random.default_rng(0))


@pytest.mark.parametrize("directed", [False, True])
def test_somebody_holds_a_part_of_the_original(directed: bool) -> None:
    """Node 3 is left out, and the others change places; every edge of the release is seen, and some of the original."""
    original = Graph.from_networkx(nx.gnm_random_graph(40, 300, seed=4, directed=directed))
    place = np.insert(np.random.default_rng(5).permutation(39), 3, -1)
    added = np.array([[0, 1], [2, 3], [4, 5]])
    kept = np.array([e for e in zip(*map(np.ndarray.tolist, edge_endpoints(original)), strict=True) if 3 not in e])
    ends = np.concatenate([place[kept[5:]], added])
    released = Graph.from_edges(ends[:, 0], ends[:, 1], nodes=39, directed=directed)
    views = held_part(original, released, place, 0.6, np.random.default_rng(6))
    assert (views.truth == -1).sum() == 1
    assert sorted(views.truth[views.truth >= 0].tolist()) == list(range(39))
    assert 0.5 < views.left.edges / original.edges < 0.7
    assert sorted(views.right.degrees.tolist()) == sorted(released.degrees.tolist())

    def edges(graph: Graph, names: np.ndarray) -> set[tuple[int, int]]:
        pairs = zip(*(names[ends].tolist() for ends in edge_endpoints(graph)), strict=True)
        return {pair if directed else (min(pair), max(pair)) for pair in pairs}

    held = edges(views.left, views.truth)
    seen = edges(views.right, np.arange(39))
    held_and_there = {pair for pair in held if -1 not in pair}
    assert len(held_and_there - seen) <= 5, "all but the five that were removed"
    assert len(seen - held_and_there) >= 3, "those that were added are not held"


def test_somebody_who_holds_everything_holds_the_original() -> None:
    path = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=4)
    views = held_part(path, path, np.arange(4), 1.0, np.random.default_rng(0))
    assert np.array_equal(views.left.degrees, views.right.degrees[views.truth])
