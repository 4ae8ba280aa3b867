"""The passive attack on planted networks, where it is known who is who."""

from __future__ import annotations

import numpy as np
import pytest

from unveil import Graph, Run
from unveil.arrays import Ints
from unveil.errors import UnveilError
from unveil.network.passive_attack import grow_matches, passive_attack
from unveil.network.passive_calibration import calibrate_matches
from unveil.network.passive_evidence import ComparedGraph, Evidence
from unveil.network.passive_published import published_attack
from unveil.network.passive_published_seeds import clique_seeds, in_neighbour_cosines, similarity_seeds
from unveil.network.passive_seeds import profile_seeds
from unveil.network.two_views import TwoViews, match_quality, two_views, wrong_seeds


def planted_graph(nodes: int = 400, seed: int = 0, directed: bool = False) -> Graph:
    """Communities of 40, and degrees that follow a power law; about 25 neighbours each."""
    rng = np.random.default_rng(seed)
    weight = (np.arange(nodes) + 5.0) ** -0.7
    weight *= np.sqrt(nodes) * 4 / weight.sum()
    group = rng.integers(0, nodes // 40, nodes)
    probability = np.outer(weight, weight) * np.where(group[:, None] == group, 8, 1)
    edges = np.argwhere(np.triu(rng.random((nodes, nodes)) < np.minimum(probability, 0.9), 1))
    if directed:
        edges = np.where(rng.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1])
    return Graph.from_edges(edges[:, 0], edges[:, 1], nodes=nodes, directed=directed)


@pytest.fixture(scope="module")
def views() -> TwoViews:
    return two_views(planted_graph(), 0.8, 0.8, np.random.default_rng(1))


def test_people_are_found_without_any_seeds(views: TwoViews) -> None:
    found = passive_attack(views.left, views.right, Run())
    quality = match_quality(views, found.stated_mapping())
    assert quality.recall > 0.9
    assert quality.precision > 0.97
    seeds = np.flatnonzero(found.seeds >= 0)
    assert (found.seeds[seeds] == views.truth[seeds]).mean() > 0.9
    assert found.overlap == pytest.approx((0.89, 0.89), abs=0.03)


def test_different_densities_do_not_mislead() -> None:
    views = two_views(planted_graph(), 0.9, 0.5, np.random.default_rng(3), density_ratio=1.8)
    quality = match_quality(views, passive_attack(views.left, views.right, Run()).stated_mapping())
    assert (quality.recall > 0.8, quality.precision > 0.95) == (True, True)


def test_wrong_seeds_are_outvoted(views: TwoViews) -> None:
    seeds = wrong_seeds(views, 40, 0.25, np.random.default_rng(2))
    found = passive_attack(views.left, views.right, Run(), seeds)
    assert match_quality(views, found.stated_mapping()).recall > 0.9
    assert found.confirmed_seeds() == pytest.approx(0.75, abs=0.05)


def test_a_directed_network_is_matched_by_both_directions() -> None:
    graph = planted_graph(directed=True)
    views = two_views(graph, 0.8, 0.8, np.random.default_rng(4), crawled=0.8)
    seeds = wrong_seeds(views, 30, 0.0, np.random.default_rng(5))
    marks = views.left_crawled, views.right_crawled
    quality = match_quality(views, passive_attack(views.left, views.right, Run(), seeds, *marks).stated_mapping())
    assert quality.recall > 0.85
    assert quality.precision > 0.95


def test_unrelated_networks_are_not_matched() -> None:
    """No people are in both, so every match is wrong; the calibration says so."""
    left, right = planted_graph(seed=7), planted_graph(seed=8)
    found = passive_attack(left, right, Run())
    calibration = calibrate_matches(found, left, right, False, Run())
    assert (calibration.probability(found) >= 0.95).sum() <= 2


def test_probable_matches_are_right_as_often_as_stated() -> None:
    """At least .93 of those stated at .95 or more, less 3 standard errors."""
    graph = planted_graph(300, seed=9)
    views = two_views(graph, 0.8, 0.6, np.random.default_rng(10))
    found = passive_attack(views.left, views.right, Run())
    probability = calibrate_matches(found, views.left, views.right, False, Run()).probability(found)
    sure = np.flatnonzero(probability >= 0.95)
    assert len(sure) > 50
    assert (found.mapping[sure] == views.truth[sure]).mean() > 0.93 - 3 * np.sqrt(0.05 * 0.95 / len(sure))
    assert np.all(probability[found.mapping < 0] == 0)
    assert np.all(np.diff(probability[np.argsort(found.score)]) >= -1e-12)


def test_a_match_is_symmetric(views: TwoViews) -> None:
    """Scores are the same from either side: started from the truth, so are the clear matches, almost all of them."""
    sides = ComparedGraph(views.left), ComparedGraph(views.right)
    inverse = np.full(views.right.nodes, -1)
    common = views.common_nodes()
    inverse[views.truth[common]] = common
    there = grow_matches(*sides, views.truth, Run()).stated_mapping()
    back = grow_matches(*sides[::-1], inverse, Run()).stated_mapping()
    pairs = {(int(u), int(v)) for u, v in enumerate(there) if v >= 0}
    others = {(int(u), int(v)) for v, u in enumerate(back) if u >= 0}
    assert len(pairs & others) > 0.98 * len(pairs | others)


def naive_score(evidence: Evidence, u: int, v: int) -> float:
    """The definition in ``passive_evidence``, for undirected graphs with trust p and overlaps a and b, without what is
    known of unmapped neighbours."""
    left, right, p, a, b = evidence.left.graph, evidence.right.graph, 0.9, 0.7, 0.6
    mine = {int(evidence.mapping[w]) for w in neighbours(left, u) if evidence.mapping[w] >= 0}
    theirs = {x for x in neighbours(right, v) if evidence.inverse[x] >= 0}
    score = len(mine - theirs) * np.log(1 - p * a) + len(theirs - mine) * np.log(1 - p * b)
    for x in mine & theirs:
        chance = right.degrees[v] * right.degrees[x] / (2 * right.edges)
        score += np.log(1 - p * a) + np.log(1 - p * b)
        score += max(0, np.log(p * a / chance) - np.log(1 - p * a) - np.log(1 - p * b))
    return float(score)


def neighbours(graph: Graph, node: int) -> list[int]:
    row: list[int] = graph.neighbours[graph.indptr[node] : graph.indptr[node + 1]].tolist()
    return row


def test_scores_follow_the_definition() -> None:
    graph = planted_graph(60, seed=3)
    sides = ComparedGraph(graph), ComparedGraph(graph)
    mapping: Ints = np.full(60, -1)
    mapping[:15] = np.arange(15)[::-1]  # fewer than 20: unmapped neighbours do not count yet
    evidence = Evidence(*sides, mapping, np.full(60, 0.9), (0.7, 0.6))
    lefts, rights = (each.ravel() for each in np.meshgrid(np.arange(60), np.arange(60)))
    found = evidence.score_pairs(lefts, rights, np.full(len(lefts), -1))
    expected = [naive_score(evidence, int(u), int(v)) for u, v in zip(lefts, rights, strict=True)]
    assert found == pytest.approx(expected, abs=1e-4)
    partners = evidence.find_partners((np.zeros(60), np.zeros(60)), Run())
    scores = found.reshape(60, 60).T
    unmapped = np.flatnonzero((mapping < 0) & (scores.max(axis=1) > 0))
    assert partners.left_best[unmapped, 0] == pytest.approx(scores[unmapped].max(axis=1), abs=1e-3)


@pytest.mark.parametrize(
    "edges", [[], [(0, 1)], [(0, k) for k in range(1, 6)], [(a, b) for a in range(6) for b in range(a)]]
)
def test_networks_without_structure_are_attacked_in_vain(edges: list[tuple[int, int]]) -> None:
    graph = Graph.from_edges([a for a, _ in edges], [b for _, b in edges], nodes=6)
    found = passive_attack(graph, graph, Run())
    assert not (found.stated_mapping() >= 0).any()


def test_a_directed_and_an_undirected_network_are_refused() -> None:
    with pytest.raises(UnveilError, match="directed"):
        passive_attack(planted_graph(60), planted_graph(60, directed=True), Run())


def test_the_same_seed_gives_the_same_matches(views: TwoViews) -> None:
    first, second = (passive_attack(views.left, views.right, Run()) for _ in range(2))
    assert np.array_equal(first.mapping, second.mapping)
    assert np.array_equal(first.score, second.score)


# ---- seeds -----------------------------------------------------------------------------------------------------------


def test_two_of_three_in_neighbours_in_common_have_cosine_two_thirds() -> None:
    """Figure 10.1."""
    graph = Graph.from_edges([0, 1, 2, 1, 2, 3], [4, 4, 4, 5, 5, 5], nodes=6, directed=True)
    assert in_neighbour_cosines(graph, np.array([4, 5]))[0, 1] == pytest.approx(2 / 3)


def test_seeds_of_all_kinds_are_mostly_right() -> None:
    views = two_views(planted_graph(), 0.95, 0.95, np.random.default_rng(6))
    sides = ComparedGraph(views.left), ComparedGraph(views.right)
    by_clique = clique_seeds(views.left, views.right, Run(), size=4)
    by_similarity = similarity_seeds(views.left, views.right, Run(), top=60)
    by_profile = profile_seeds(*sides, Run(), seeds=60)
    for seeds, least in ((by_clique, 0.6), (by_similarity, 0.4), (by_profile, 0.95)):
        known = np.flatnonzero(seeds >= 0)
        assert len(known) >= 4
        assert (seeds[known] == views.truth[known]).mean() >= least
        assert match_quality(views, published_attack(views.left, views.right, seeds, Run())).recall > 0.8
