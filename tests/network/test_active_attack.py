"""Planting nodes, measuring the active attack, coalitions, and whether planted nodes stand out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.naive_active import anonymise_degrees, change_edges, edge_set, symmetries
from unveil import Graph, UnveilError
from unveil.network.active.attack import InsiderAttack, form_coalition, measure_active_attack, measure_coalition_attack
from unveil.network.active.planted_detection import measure_detection
from unveil.network.active.planted_nodes import (
    AttackedGraph,
    accidental_copy_bound,
    choose_degree_window,
    plant_nodes,
    planted_nodes_for_bound,
    planted_nodes_in_theory,
)
from unveil.network.active.search import WIDENING, Tolerance, recover_nodes
from unveil.network.measures.graph_measures import local_clustering

FRIENDS = Graph.from_networkx(nx.powerlaw_cluster_graph(400, 6, 0.5, seed=1))
GRID = Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(15, 20)))


def check_planting(graph: Graph, attacked: AttackedGraph, window: tuple[int, int]) -> None:
    """Everything that the construction promises, read from the edges alone."""
    n, k = graph.nodes, len(attacked.nodes)
    edges, known = edge_set(attacked.graph), attacked.known
    assert {(a, b) for a, b in edges if a < n and b < n} == edge_set(graph)
    assert attacked.nodes.tolist() == list(range(n, n + k)) and attacked.graph.nodes == n + k
    for i in range(k):
        inside = {j for j in range(k) if (n + i, n + j) in edges}
        assert inside == {j for j in range(k) if known.links[i] >> j & 1}
        assert i == 0 or i - 1 in inside
        outside = sum((n + i, v) in edges for v in range(n))
        assert window[0] <= outside <= window[1] and known.degrees[i] == outside + len(inside)
    linked_with = [sum(1 << i for i in range(k) if (n + i, v) in edges) for v in range(n)]
    sets = known.target_sets.tolist()
    assert len(set(sets)) == len(sets) and all(s.bit_count() >= 2 for s in sets)
    assert [linked_with[w] for w in attacked.targets] == sets
    assert all(linked_with.count(s) == 1 for s in sets)
    rows = [attacked.graph.neighbours[a:b].tolist() for a, b in pairwise(attacked.graph.indptr)]
    assert all(row == sorted(row) for row in rows)


@settings(max_examples=40, deadline=None)
@given(st.integers(6, 40), st.floats(0, 1), st.integers(0, 10**6), st.integers(3, 7))
def test_planted_nodes_are_as_described(n: int, p: float, seed: int, k: int) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(n, p, seed=seed))
    window = (1, min(n, 6))
    attacked = plant_nodes(graph, k, np.random.default_rng(seed), window, targets=2)
    check_planting(graph, attacked, window)
    assert symmetries(attacked.known.links.tolist(), attacked.known.degrees.tolist()) == 1


@pytest.mark.parametrize(
    "network",
    [
        nx.path_graph(2),
        nx.complete_graph(6),
        nx.star_graph(9),
        nx.empty_graph(8),
        nx.disjoint_union(nx.path_graph(5), nx.empty_graph(3)),
        nx.disjoint_union(nx.complete_graph(4), nx.cycle_graph(5)),
    ],
    ids=["two nodes", "complete", "star", "empty", "isolated nodes", "disconnected"],
)
def test_simple_graphs_can_be_attacked(network: nx.Graph) -> None:
    graph = Graph.from_networkx(network)
    window = choose_degree_window(graph, 3)
    check_planting(graph, plant_nodes(graph, 3, np.random.default_rng(0)), window)
    found = measure_active_attack(graph, 3, 20, np.random.default_rng(0))
    assert found.mistaken == found.targets_mistaken == found.cut_short == 0
    assert found.single_copy.value <= found.recovered.value
    assert 0 <= measure_detection(graph, 3, 3, np.random.default_rng(0)).by_clustering.value <= 1


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7, 10])
@pytest.mark.parametrize("nodes", [2, 3, 5, 8, 30, 200])
def test_there_is_room_for_accounts_where_everybody_knows_everybody(nodes: int, k: int) -> None:
    graph = Graph.from_networkx(nx.complete_graph(nodes))
    check_planting(graph, plant_nodes(graph, k, np.random.default_rng(0)), choose_degree_window(graph, k))


@pytest.mark.parametrize("graph", [FRIENDS, GRID], ids=["friends", "grid"])
@pytest.mark.parametrize("k", [4, 7, 12, 20])
def test_default_plantings_are_as_described(graph: Graph, k: int) -> None:
    check_planting(graph, plant_nodes(graph, k, np.random.default_rng(k)), choose_degree_window(graph, k))


def test_without_changes_a_conclusion_is_never_wrong() -> None:
    for seed, (k, graph) in enumerate([(k, g) for k in (3, 4, 6) for g in (FRIENDS, GRID)] * 5):
        attacked = plant_nodes(graph, k, np.random.default_rng(seed))
        found = recover_nodes(attacked.graph, attacked.known)
        assert attacked.nodes.tolist() in found.copies.nodes.tolist()
        assert found.nodes is None or found.nodes.tolist() == attacked.nodes.tolist()
        right = found.targets == attacked.targets
        assert (right | (found.targets == -1)).all()


def test_more_planted_nodes_are_recovered_more_often() -> None:
    few, many = (measure_active_attack(FRIENDS, k, 40, np.random.default_rng(0)) for k in (3, 10))
    assert few.single_copy.value < 0.8 < 0.95 <= many.single_copy.value
    assert many.recovered.value == many.targets_found.value == 1
    assert many.recovered.interval[0] > 0.9
    assert many.links_revealed == many.links_among_targets > 0
    assert many.pairs_learned == 40 * 45
    assert many.mean_starts <= many.mean_tree_size < 10 * many.mean_starts + 10
    assert few.copy_bound == many.copy_bound == 1


def test_links_among_given_targets_are_revealed() -> None:
    hub = int(FRIENDS.degrees.argmax())
    chosen = [hub, *FRIENDS.neighbours[FRIENDS.indptr[hub] :][:4].tolist()]
    edges = edge_set(FRIENDS)
    attacked = plant_nodes(FRIENDS, 8, np.random.default_rng(0), targets=chosen)
    assert attacked.targets.tolist() == chosen
    found = measure_active_attack(FRIENDS, 8, 5, np.random.default_rng(0), targets=chosen)
    assert found.targets_found.value == 1
    assert found.links_revealed == 5 * sum(pair in edges for pair in combinations(chosen, 2))


def test_the_same_seed_gives_the_same_result() -> None:
    first, second = (measure_active_attack(GRID, 5, 8, np.random.default_rng(3)) for _ in range(2))
    assert first == second


# ---- changed releases ------------------------------------------------------------------------------------------------


def compare_exact_and_tolerant(publish: Callable[[Graph, np.random.Generator], Graph], k: int) -> list[InsiderAttack]:
    ways = ((Tolerance(),), WIDENING)
    return [measure_active_attack(FRIENDS, k, 15, np.random.default_rng(2), None, None, way, publish) for way in ways]


def test_degree_anonymity_defeats_the_exact_search_but_not_the_tolerant_one() -> None:
    exact, tolerant = compare_exact_and_tolerant(lambda graph, rng: anonymise_degrees(graph, 5, rng), k=9)
    assert exact.recovered.value < 0.2 < 0.7 < tolerant.recovered.value
    assert exact.mistaken == 0 and tolerant.mistaken <= 1


def test_random_changes_defeat_the_exact_search_but_not_the_tolerant_one() -> None:
    exact, tolerant = compare_exact_and_tolerant(lambda graph, rng: change_edges(graph, 0.02, 0.02, rng), k=9)
    assert exact.recovered.value < 0.2 < 0.7 < tolerant.recovered.value
    assert tolerant.targets_found.value > 0.7
    assert tolerant.links_revealed <= tolerant.links_among_targets


def test_a_wrong_conclusion_is_no_success() -> None:
    """The owner exchanges the planted nodes with others: whatever is concluded is wrong."""

    def publish(graph: Graph, rng: np.random.Generator) -> Graph:
        turned = (np.array([*edge_set(graph)]) + 50) % graph.nodes
        return Graph.from_edges(turned[:, 0], turned[:, 1], nodes=graph.nodes)

    found = measure_active_attack(FRIENDS, 8, 5, np.random.default_rng(0), publish=publish)
    assert (found.recovered.value, found.single_copy.value, found.targets_found.value) == (0, 0, 0)
    assert (found.mistaken, found.targets_mistaken, found.links_revealed) == (5, 50, 0)


def test_a_link_is_revealed_only_if_both_ends_were_found() -> None:
    """The owner exchanges a target with another neighbour of the hub: a link is where it was, but it is another's."""
    hub = int(FRIENDS.degrees.argmax())
    target, other = FRIENDS.neighbours[FRIENDS.indptr[hub] :][:2].tolist()

    def publish(graph: Graph, rng: np.random.Generator) -> Graph:
        place = np.arange(graph.nodes)
        place[[target, other]] = other, target
        return Graph.from_edges(*place[np.array(sorted(edge_set(graph)))].T, nodes=graph.nodes)

    found = measure_active_attack(FRIENDS, 8, 5, np.random.default_rng(0), targets=[hub, target], publish=publish)
    assert found.recovered.value == 1 and found.targets_found.value == 0.5
    assert (found.targets_mistaken, found.links_among_targets, found.links_revealed) == (5, 5, 0)


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "options", "says"),
    [
        (1, {}, "the number of planted nodes must be 2 to 62"),
        (63, {}, "the number of planted nodes must be 2 to 62"),
        (3, {"targets": 5}, "3 planted nodes can mark at most 4 targets"),
        (7, {"window": (1, 4), "targets": 15}, "with at most 4 links each can mark at most 14 targets"),
        (7, {"targets": 1000}, "there can be 0 to 400 targets"),
        (7, {"targets": -1}, "there can be 0 to 400 targets"),
        (7, {"targets": [3, 3]}, "must be different positions from 0 to 399"),
        (7, {"targets": [400]}, "must be different positions from 0 to 399"),
        (7, {"window": (0, 4)}, "must lie within 1 to 400"),
        (7, {"window": (5, 4)}, "must lie within 1 to 400"),
        (7, {"window": (5, 401)}, "must lie within 1 to 400"),
        (2, {"window": (3, 3)}, "no way was found to plant 2 nodes with 3 to 3 links and 1 target"),
    ],
)
def test_impossible_plantings_are_refused(k: int, options: dict[str, object], says: str) -> None:
    with pytest.raises(UnveilError, match=says):
        plant_nodes(FRIENDS, k, np.random.default_rng(0), **options)  # type: ignore[arg-type]


def test_all_sets_can_be_used() -> None:
    attacked = plant_nodes(FRIENDS, 4, np.random.default_rng(0), (9, 12), targets=11)
    check_planting(FRIENDS, attacked, (9, 12))


def test_one_node_and_no_trials_are_refused() -> None:
    with pytest.raises(UnveilError, match="there is 1 node"):
        measure_active_attack(Graph.from_networkx(nx.empty_graph(1)), 3, 5, np.random.default_rng(0))
    with pytest.raises(UnveilError, match="trials must be at least 1"):
        measure_active_attack(GRID, 3, 0, np.random.default_rng(0))
    with pytest.raises(UnveilError, match="trials must be at least 1"):
        measure_detection(GRID, 3, 0, np.random.default_rng(0))


def test_directions_are_dropped_for_measuring_and_refused_for_planting() -> None:
    directed = Graph.from_networkx(nx.gnp_random_graph(60, 0.1, seed=1, directed=True))
    plain = Graph.from_networkx(nx.gnp_random_graph(60, 0.1, seed=1, directed=True).to_undirected())
    both = [measure_active_attack(g, 5, 5, np.random.default_rng(0)) for g in (directed, plain)]
    assert both[0] == both[1]
    with pytest.raises(UnveilError, match="the edges have directions; drop them"):
        plant_nodes(directed, 5, np.random.default_rng(0))


# ---- how many nodes theory asks for ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "k"), [(4_400_000, 48), (36_371, 34), (2_252, 26), (769, 23)])
def test_the_corrected_claim_asks_for_so_many_planted_nodes(nodes: int, k: int) -> None:
    """Claim 8.2 with the exponent C(k−1, 2): the bound is at most .01 first for this k."""
    assert planted_nodes_for_bound(nodes) == k
    assert accidental_copy_bound(nodes, k) <= 0.01 < accidental_copy_bound(nodes, k - 1)


def test_bounds_are_as_their_formulas_say() -> None:
    assert accidental_copy_bound(6, 12) == pytest.approx(6**12 / 2**55)
    assert accidental_copy_bound(769, 23) == pytest.approx(769**23 / 2**231)
    assert planted_nodes_in_theory(1024, delta=0.5) == 25
    assert planted_nodes_in_theory(1) == 2
    for wrong in (0, 1):
        with pytest.raises(UnveilError, match="between 0 and 1"):
            planted_nodes_for_bound(100, wrong)
    with pytest.raises(UnveilError, match="delta must be greater than 0"):
        planted_nodes_in_theory(100, 0)


# ---- coalitions and detection ----------------------------------------------------------------------------------------


def test_a_coalition_knows_what_its_members_know() -> None:
    attacked = form_coalition(FRIENDS, 5, np.random.default_rng(4))
    edges, members = edge_set(FRIENDS), attacked.nodes.tolist()
    assert all((members[0], other) in edges for other in members[1:])
    for i, j in combinations(range(5), 2):
        assert bool(attacked.known.links[i] >> j & 1) == ((members[i], members[j]) in edges)
    linked_with = {
        v: sum(1 << i for i, member in enumerate(members) if (v, member) in edges)
        for v in set(range(FRIENDS.nodes)) - set(members)
    }
    alone = {v: s for v, s in linked_with.items() if s and [*linked_with.values()].count(s) == 1}
    assert dict(zip(attacked.targets.tolist(), attacked.known.target_sets.tolist(), strict=True)) == alone


def test_larger_coalitions_find_themselves() -> None:
    few, more = (measure_coalition_attack(FRIENDS, k, 30, np.random.default_rng(0)) for k in (2, 6))
    assert few.recovered.value < more.recovered.value
    assert more.recovered.value > 0.5 and more.mistaken == 0 and more.copy_bound is None
    assert more.targets > few.targets


def test_in_a_complete_graph_no_coalition_finds_itself() -> None:
    found = measure_coalition_attack(Graph.from_networkx(nx.complete_graph(7)), 3, 5, np.random.default_rng(0))
    assert found.recovered.value == 0 and found.mean_copies == 7 * 6 * 5
    assert np.isnan(found.targets_found.value)


def test_impossible_coalitions_are_refused() -> None:
    with pytest.raises(UnveilError, match="no node has 5 neighbours"):
        form_coalition(GRID, 6, np.random.default_rng(0))
    with pytest.raises(UnveilError, match="must be 2 to 62"):
        form_coalition(GRID, 1, np.random.default_rng(0))


def test_planted_nodes_stand_out_by_clustering_among_friends() -> None:
    clustered = Graph.from_networkx(nx.connected_caveman_graph(40, 10))
    found = measure_detection(clustered, 6, 5, np.random.default_rng(0))
    assert found.by_clustering.value > 0.95
    high = measure_detection(clustered, 6, 5, np.random.default_rng(0), window=(30, 40))
    assert high.by_degree.value == 1


def test_local_clustering_agrees_with_networkx() -> None:
    network = nx.powerlaw_cluster_graph(60, 3, 0.6, seed=2)
    found = local_clustering(Graph.from_networkx(network))
    assert found == pytest.approx([nx.clustering(network, v) for v in range(60)])
