"""The passive attack on planted networks, where it is known who is who."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from unveil import Graph, Run
from unveil.errors import UnveilError
from unveil.network.passive import calibration
from unveil.network.passive.attack import EVIDENCE, Matches, attack_from_truth, passive_attack
from unveil.network.passive.calibration import calibrate_matches
from unveil.network.passive.compared_graph import ComparedGraph
from unveil.network.passive.published_attack import published_attack
from unveil.network.passive.published_seeds import clique_seeds, in_neighbour_cosines, similarity_seeds
from unveil.network.passive.seeds import profile_seeds
from unveil.network.passive.two_views import TwoViews, draw_seeds, match_quality, two_views


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
    seeds = draw_seeds(views, 40, 0.5, np.random.default_rng(2))
    found = passive_attack(views.left, views.right, Run(), seeds)
    assert match_quality(views, found.stated_mapping()).recall > 0.9
    assert found.confirmed_seeds() == pytest.approx(0.5, abs=0.05)


def test_the_published_method_counts_where_the_sweeps_name_nobody() -> None:
    """Whole neighbourhoods are missing, where the published method finds a few that the sweeps do not."""
    graph = Graph.from_networkx(nx.powerlaw_cluster_graph(300, 6, 0.6, seed=2))
    views = two_views(graph, 0.8, 0.6, np.random.default_rng(3), correlation=0.5)
    found = passive_attack(views.left, views.right, Run())
    published = published_attack(views.left, views.right, found.seeds, Run())
    says_more = (published >= 0) & (published != found.seeds)
    mark = found.evidence[:, EVIDENCE.index("published")]
    alone, confirmed = mark == -1, mark == 1
    assert np.array_equal(alone | confirmed, says_more & (published == found.mapping))
    assert np.array_equal(found.score[alone], np.full(alone.sum(), 0.5))
    assert (found.score[confirmed] >= 0.5).all()
    right = found.mapping == views.truth
    assert right[alone].sum() > alone.sum() / 2 > 2, "more of them are right than wrong"
    named = found.mapping[found.mapping >= 0]
    assert len(np.unique(named)) == len(named)
    contradicted = np.flatnonzero(says_more & ~alone & ~confirmed)
    assert len(contradicted)
    assert all(found.score[u] > 0 or published[u] in found.stated_mapping() for u in contradicted)


def test_a_directed_network_is_matched_by_both_directions() -> None:
    graph = planted_graph(directed=True)
    views = two_views(graph, 0.8, 0.8, np.random.default_rng(4), crawled=0.8)
    seeds = draw_seeds(views, 30, 0.0, np.random.default_rng(5))
    marks = views.left_crawled, views.right_crawled
    quality = match_quality(views, passive_attack(views.left, views.right, Run(), seeds, *marks).stated_mapping())
    assert quality.recall > 0.85
    assert quality.precision > 0.95


def test_unrelated_networks_are_not_matched() -> None:
    """No people are in both, so every match is wrong; the calibration says so."""
    left, right = planted_graph(seed=7), planted_graph(seed=8)
    found = passive_attack(left, right, Run())
    calibration = calibrate_matches(found, left, right, Run())
    assert (calibration.probability(found) >= 0.95).sum() <= 2


def test_probable_matches_are_right_as_often_as_stated() -> None:
    """At least .93 of those stated at .95 or more, less 3 standard errors."""
    graph = planted_graph(300, seed=9)
    views = two_views(graph, 0.8, 0.6, np.random.default_rng(10))
    found = passive_attack(views.left, views.right, Run())
    probability = calibrate_matches(found, views.left, views.right, Run()).probability(found)
    sure = np.flatnonzero(probability >= 0.95)
    assert len(sure) > 50
    assert (found.mapping[sure] == views.truth[sure]).mean() > 0.93 - 3 * np.sqrt(0.05 * 0.95 / len(sure))
    assert np.all(probability[found.mapping < 0] == 0)


def test_rehearsals_unlike_the_attack_are_not_counted(views: TwoViews, monkeypatch: pytest.MonkeyPatch) -> None:
    """If rehearsals state a third of the matches that the attack does, they say nothing about it."""
    found = passive_attack(views.left, views.right, Run())
    assert calibrate_matches(found, views.left, views.right, Run()).base is not None

    def state_a_third(*given: Any) -> Matches:
        again = passive_attack(*given)
        return replace(again, score=np.where(np.arange(len(again.score)) % 3 == 0, again.score, -5.0))

    monkeypatch.setattr(calibration, "passive_attack", state_a_third)
    calibrated = calibrate_matches(found, views.left, views.right, Run())
    assert calibrated.base is None
    assert not calibrated.probability(found).any()


def test_nobody_is_stated_surer_than_rehearsals_show() -> None:
    """Each rehearsal is judged by a model of the others; few names show little, and one rehearsal shows nothing."""

    def rehearsal(clear: int, right: int) -> tuple[np.ndarray, np.ndarray]:
        """Clear matches, of which so many are right, and as many guesses, which are wrong."""
        known = np.zeros((2 * clear, 1 + len(EVIDENCE)))
        known[:clear, 0] = 5.0
        return known, np.arange(2 * clear) < right

    highest = calibration._highest_level
    assert highest([rehearsal(300, 300)] * 3) == 1
    assert highest([rehearsal(300, 282)] * 3) < 0.95
    assert highest([rehearsal(4, 4)] * 3) < 0.95
    assert highest([rehearsal(300, 300)] * 2 + [rehearsal(300, 200)]) < 0.95
    assert highest([rehearsal(300, 300)]) == 0.5


def test_a_match_is_symmetric(views: TwoViews) -> None:
    """Exchanging the networks exchanges the answer: almost all clear matches are the same."""
    there = passive_attack(views.left, views.right, Run()).stated_mapping()
    back = passive_attack(views.right, views.left, Run()).stated_mapping()
    pairs = {(int(u), int(v)) for u, v in enumerate(there) if v >= 0}
    others = {(int(u), int(v)) for v, u in enumerate(back) if u >= 0}
    assert len(pairs & others) > 0.95 * len(pairs | others)


def test_started_from_the_truth_it_decides_on_the_truth_again(views: TwoViews) -> None:
    """A wrong truth is given up, so a ceiling shows what structure can tell."""
    found = attack_from_truth(views.left, views.right, views.truth, Run())
    assert match_quality(views, found.stated_mapping()).recall > 0.9
    shuffled = np.random.default_rng(0).permutation(views.right.nodes)[: views.left.nodes]
    misled = attack_from_truth(views.left, views.right, shuffled, Run())
    assert (misled.stated_mapping() == shuffled).mean() < 0.02


@pytest.mark.parametrize(
    ("edges", "named"),
    [
        ([], []),
        ([(0, 1)], []),
        ([(0, k) for k in range(1, 6)], [0]),
        ([(a, b) for a in range(6) for b in range(a)], []),
    ],
)
def test_only_nodes_that_differ_are_named(edges: list[tuple[int, int]], named: list[int]) -> None:
    """Of an empty network, one edge, a star and a complete network: the centre of the star."""
    graph = Graph.from_edges([a for a, _ in edges], [b for _, b in edges], nodes=6)
    found = passive_attack(graph, graph, Run())
    assert np.flatnonzero(found.stated_mapping() >= 0).tolist() == named
    assert found.evidence.shape == (6, len(EVIDENCE))


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
