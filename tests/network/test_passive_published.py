"""The passive attack as published: the figures, and the fast version against a slow transcription, node by node."""

from __future__ import annotations

import numpy as np
import pytest

from reference.naive_passive import adjacency_sets, cosine_similarity, eccentricity, node_similarity, passive_attack
from unveil import Graph
from unveil.errors import UnveilError
from unveil.network.passive.published_attack import published_attack
from unveil.run import Run


def test_two_of_three_in_neighbours_in_common_are_two_thirds() -> None:
    """Figure 10.1: in-neighbours {1, 2, 3} and {2, 3, 4}."""
    assert cosine_similarity({1, 2, 3}, {2, 3, 4}) == pytest.approx(2 / 3)


def test_only_edges_to_mapped_nodes_influence_the_similarity() -> None:
    """Figure 10.2: of 3 mapped neighbours each, 2 are mapped to each other."""
    mapping = {1: 1, 2: 2, 3: 3, 4: 4}
    left = adjacency_sets(6, [(0, 1), (0, 2), (0, 3), (0, 5)], directed=False)
    right = adjacency_sets(7, [(0, 2), (0, 3), (0, 4), (0, 5), (0, 6)], directed=False)
    everyone = set(range(7))
    assert node_similarity(0, 0, left, right, mapping, everyone, everyone) == pytest.approx(2 / 3)


def test_a_node_that_was_not_crawled_is_compared_by_those_who_point_to_it() -> None:
    """0 points to 2 in both graphs, but the left view does not know what 0 points to for sure."""
    graph = adjacency_sets(3, [(1, 0), (0, 2)], directed=True)
    mapping, crawled = {1: 1, 2: 2}, {0, 1, 2}
    assert node_similarity(0, 0, graph, graph, mapping, crawled, crawled) == 1
    other = adjacency_sets(3, [(1, 0), (2, 0)], directed=True)
    assert node_similarity(0, 0, graph, other, mapping, {1, 2}, crawled) == pytest.approx(1 / np.sqrt(2))
    assert node_similarity(0, 0, graph, graph, mapping, {0, 1}, {0, 1}) == 1
    assert node_similarity(0, 0, other, graph, mapping, {0, 1}, {0, 1}, out_crawled_only=False) == pytest.approx(
        1 / np.sqrt(2)
    )


def test_equal_scores_have_eccentricity_0() -> None:
    assert eccentricity([0.5, 0.5, 0.5]) == 0
    assert eccentricity([1.0, 1.0, 0.0]) == 0
    assert eccentricity([1.0]) == 0
    assert eccentricity([1.0, 0.0, 0.0]) == pytest.approx(1 / np.std([1, 0, 0]))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("out_crawled_only", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_fast_attack_maps_every_node_as_the_listing_does(directed: bool, out_crawled_only: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes, probability = 22, 0.2
    base = np.argwhere(rng.random((nodes, nodes)) < probability)
    if not directed:
        base = base[base[:, 0] < base[:, 1]]
    marks = [rng.random(nodes) < 0.8 if directed else np.ones(nodes, bool) for _ in range(2)]
    sides, sets = [], []
    for crawled in marks:
        kept = base[(rng.random(len(base)) < 0.85) & crawled[base[:, 0]]]
        sides.append(Graph.from_edges(kept[:, 0], kept[:, 1], nodes=nodes, directed=directed))
        sets.append(adjacency_sets(nodes, [(int(a), int(b)) for a, b in kept], directed))
    seeds = np.full(nodes, -1)
    seeds[:6] = rng.permutation(6) if seed % 3 == 0 else np.arange(6)
    theta = (0.13, 0.71, 1.31)[seed % 3]
    expected = passive_attack(
        *sets, {k: int(v) for k, v in enumerate(seeds) if v >= 0}, theta,
        *(set(np.flatnonzero(crawled).tolist()) for crawled in marks), out_crawled_only=out_crawled_only,
    )  # fmt: skip
    found = published_attack(
        *sides, seeds, Run(), theta, *(marks if directed else (None, None)), out_crawled_only=out_crawled_only
    )
    assert {k: int(v) for k, v in enumerate(found) if v >= 0} == expected
    assert len(set(expected.values())) == len(expected)


def test_the_listing_finds_nodes_beyond_the_seeds() -> None:
    rng = np.random.default_rng(1)
    edges = np.argwhere(np.triu(rng.random((60, 60)) < 0.3, 1))
    graph = Graph.from_edges(edges[:, 0], edges[:, 1], nodes=60)
    seeds = np.full(60, -1)
    seeds[:8] = np.arange(8)
    assert (published_attack(graph, graph, seeds, Run()) == np.arange(60)).mean() > 0.8


@pytest.mark.parametrize(
    ("seeds", "message"), [([0], "one entry"), ([0, 0, -1], "same partner"), ([7, -1, -1], "does not have")]
)
def test_impossible_seeds_are_refused(seeds: list[int], message: str) -> None:
    graph = Graph.from_edges([0, 1], [1, 2], nodes=3)
    with pytest.raises(UnveilError, match=message):
        published_attack(graph, graph, np.array(seeds), Run())
