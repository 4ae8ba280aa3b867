"""Communities: what is found cannot be improved by joining two, and agreement is what counting pairs gives."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_graph_use as naive
from unveil import Case, Graph, Run
from unveil.network.use.communities import adjusted_rand_index, find_communities, modularity
from unveil.network.use.measure import measure_graph_use
from unveil.release.graph import edge_endpoints
from unveil.usefulness.use_measure import UseMeasure

SOME = settings(max_examples=60, deadline=None)
RNG = np.random.default_rng
LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=15)


@st.composite
def graphs(draw: st.DrawFn) -> nx.Graph:
    nodes = draw(st.integers(1, 14))
    made = nx.Graph()
    made.add_nodes_from(range(nodes))
    pairs = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=40))
    made.add_edges_from(pair for pair in pairs if pair[0] != pair[1])
    return made


def graph_of(other: nx.Graph) -> Graph:
    ends = np.array(list(other.edges), np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], nodes=len(other), directed=other.is_directed())


def groups(labels: np.ndarray) -> list[set[int]]:
    return [set(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)]


def planted(parts: int, size: int, seed: int) -> tuple[nx.Graph, np.ndarray]:
    """Groups that are far denser within than between."""
    made = nx.planted_partition_graph(parts, size, 0.4, 0.02, seed=seed)
    return made, np.repeat(np.arange(parts), size)


@SOME
@given(graphs(), st.integers(0, 3))
def test_no_two_communities_should_be_one(other: nx.Graph, seed: int) -> None:
    labels = find_communities(graph_of(other), RNG(seed))
    found = groups(labels)
    assert list(dict.fromkeys(labels.tolist())) == list(range(len(found))), "numbered by appearance"
    if not other.number_of_edges():
        assert len(found) == len(other)
        return
    reached = nx.community.modularity(other, found)
    assert modularity(graph_of(other), labels) == pytest.approx(reached)
    assert reached >= nx.community.modularity(other, [{v} for v in other]) - 1e-12
    for first, second in combinations(found, 2):
        joined = [g for g in found if g not in (first, second)] + [first | second]
        assert nx.community.modularity(other, joined) <= reached + 1e-12


@SOME
@given(graphs(), st.lists(st.integers(0, 3), min_size=14, max_size=14))
def test_modularity(other: nx.Graph, labels: list[int]) -> None:
    given_labels = np.array(labels[: len(other)])
    found = modularity(graph_of(other), given_labels)
    if other.number_of_edges():
        assert found == pytest.approx(nx.community.modularity(other, groups(given_labels)))
    else:
        assert np.isnan(found)


def test_planted_communities_are_found() -> None:
    for seed in range(3):
        other, truth = planted(5, 40, seed)
        found = find_communities(graph_of(other), RNG(seed))
        assert adjusted_rand_index(truth, found) > 0.98


@pytest.mark.parametrize("seed", range(4))
def test_as_much_modularity_as_networkx_finds(seed: int) -> None:
    other = nx.powerlaw_cluster_graph(400, 3, 0.5, seed=seed)
    reference = nx.community.modularity(other, nx.community.louvain_communities(other, seed=seed))
    assert modularity(graph_of(other), find_communities(graph_of(other), RNG(seed))) > reference - 0.03


def test_directions_and_the_order_of_edges_do_not_count() -> None:
    other, _ = planted(3, 20, 1)
    graph = graph_of(other)
    sources, targets = edge_endpoints(graph)
    turned = Graph.from_edges(targets[::-1], sources[::-1], nodes=graph.nodes, directed=True)
    assert find_communities(graph, RNG(4)).tolist() == find_communities(turned, RNG(4)).tolist()


@SOME
@given(LABELS)
def test_agreement(labels: list[tuple[int, int]]) -> None:
    first, second = np.array(labels).T
    found = adjusted_rand_index(first, second)
    assert found == pytest.approx(naive.rand_index(first.tolist(), second.tolist()))
    assert found == pytest.approx(adjusted_rand_index(second, first))
    assert adjusted_rand_index(first, 3 * first + 1) == 1


def test_agreement_by_chance_is_none() -> None:
    """The mean of 300 is within .02 of 0; its standard error is about .002 (seed fixed)."""
    rng = RNG(1)
    drawn = [adjusted_rand_index(*rng.integers(0, 4, (2, 100))) for _ in range(300)]
    assert abs(float(np.mean(drawn))) < 0.02


# ---- before and after ------------------------------------------------------------------------------------------------


def community_measure(before: Graph, after: Graph, truth: np.ndarray) -> UseMeasure:
    measures = measure_graph_use(Case(before), Case(after, before, truth), Run())
    return next(m for m in measures if m.id == "communities")


def test_clear_communities_that_stay_agree() -> None:
    other, _ = planted(4, 30, 2)
    fewer = other.copy()
    fewer.remove_edges_from(list(other.edges)[::20])
    found = community_measure(graph_of(other), graph_of(fewer), np.arange(120))
    assert found.before == 1 and found.after is not None and found.after > 0.9
    assert "agree to 1 (1: the same" in found.sentence and "those found twice before to 1;" in found.sentence
    assert found.sentence.endswith("and five were made of each.")


def test_communities_that_are_gone_do_not_agree() -> None:
    other, _ = planted(4, 30, 3)
    shuffled = nx.gnm_random_graph(120, other.number_of_edges(), seed=3)
    found = community_measure(graph_of(other), graph_of(shuffled), np.arange(120))
    assert found.before is not None and found.after is not None
    assert abs(found.after) < 0.1 < 0.9 < found.before


def test_nodes_that_were_left_out_or_added_do_not_count() -> None:
    other, _ = planted(4, 30, 4)
    kept = [v for v in range(120) if v % 6]
    truth = np.full(120, -1)
    truth[kept] = np.arange(100)
    smaller = nx.convert_node_labels_to_integers(other.subgraph(kept))
    smaller.add_edges_from([(k, 100 + k) for k in range(5)])
    found = community_measure(graph_of(other), graph_of(smaller), truth)
    assert found.after is not None and found.after > 0.9
