"""Added edges told from real ones: scores by definition, AUC by comparing all with all, graphs to check on paper."""

from __future__ import annotations

from math import log

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_graph_use as naive
from unveil import Graph
from unveil.network.compared_graphs import compare_graphs
from unveil.network.protections.relabel import relabel_graph
from unveil.network.use import edge_plausibility
from unveil.network.use.edge_plausibility import (
    EdgeTelling,
    edge_scores,
    fake_edge_auc,
    fake_edge_sentence,
    pair_evidence,
    pair_scores,
    plausibility_use,
    ranking_auc,
    removed_edge_auc,
)
from unveil.release.graph import edge_endpoints
from unveil.run import Run

SOME = settings(max_examples=100, deadline=None)
RNG = np.random.default_rng
NODES = 9
PAIRS = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda pair: pair[0] != pair[1]),
    min_size=1,
    max_size=30,
)
SCORES = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12)


def networkx_graph(edges: list[tuple[int, int]], directed: bool = False) -> nx.Graph:
    made = nx.DiGraph() if directed else nx.Graph()
    made.add_nodes_from(range(NODES))
    made.add_edges_from(edges)
    return made


def graph_of(other: nx.Graph) -> Graph:
    ends = np.array(list(other.edges), np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], nodes=len(other), directed=other.is_directed())


@SOME
@given(PAIRS, PAIRS, st.booleans())
def test_scores_of_pairs(edges: list[tuple[int, int]], pairs: list[tuple[int, int]], directed: bool) -> None:
    other = networkx_graph(edges, directed)
    found = pair_evidence(graph_of(other), *np.array(pairs).T)
    whole = other.to_undirected()
    assert found.excess.tolist() == pytest.approx([naive.excess(whole, u, v) for u, v in pairs])
    assert found.adamic_adar.tolist() == pytest.approx([naive.adamic_adar(whole, u, v) for u, v in pairs], abs=1e-8)
    assert pair_scores(graph_of(other), *np.array(pairs).T).tolist() == found.excess.tolist()


@SOME
@given(PAIRS)
def test_an_edge_is_scored_without_itself(edges: list[tuple[int, int]]) -> None:
    """As a pair in the graph that lacks it, but for what is expected by degrees."""
    other = networkx_graph(edges)
    scores = edge_scores(graph_of(other))
    sources, targets = (ends.tolist() for ends in edge_endpoints(graph_of(other)))
    for u, v, score in zip(sources, targets, scores.tolist(), strict=True):
        assert score == pytest.approx(naive.excess(other, u, v))
        left = other.copy()
        left.remove_edge(u, v)
        assert naive.adamic_adar(other, u, v) == pytest.approx(naive.adamic_adar(left, u, v))


@SOME
@given(SCORES, SCORES)
def test_auc(higher: list[float], lower: list[float]) -> None:
    found = ranking_auc(np.array(higher), np.array(lower))
    assert found == naive.auc(higher, lower)
    assert found == pytest.approx(1 - ranking_auc(np.array(lower), np.array(higher)))


@SOME
@given(PAIRS, PAIRS, st.booleans())
def test_added_and_removed_edges(was: list[tuple[int, int]], now: list[tuple[int, int]], directed: bool) -> None:
    before, after = networkx_graph(was, directed), networkx_graph(now, directed)
    release, place = relabel_graph(graph_of(after))
    whole = after.to_undirected()
    added = [edge for edge in after.edges if not before.has_edge(*edge)]
    kept = [edge for edge in after.edges if before.has_edge(*edge)]
    removed = [edge for edge in before.edges if not after.has_edge(*edge)]
    never = [pair for pair in nx.complement(before).edges if not after.has_edge(*pair)]
    for few, others, found in (
        (added, kept, fake_edge_auc(graph_of(before), release, place)),
        (removed, never, removed_edge_auc(graph_of(before), release, place, RNG(0))),
    ):
        if not few or not others:
            assert found is None
            continue
        assert found is not None and (found.few, found.others, found.intervals) == (len(few), len(others), None)
        both = (
            [[round(score(whole, u, v), 9) for u, v in pairs] for pairs in (few, others)]
            for score in (naive.excess, naive.adamic_adar)
        )
        wanted = [naive.auc(*((b, a) if few is added else (a, b))) for a, b in both]
        assert [found.by_excess, found.by_adamic_adar] == pytest.approx(wanted)
        assert found.auc == max(max(auc, 1 - auc) for auc in wanted)


def test_an_edge_between_two_cliques_gives_itself_away() -> None:
    before = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5))
    after = before.copy()
    after.add_edge(0, 5)
    found = fake_edge_auc(graph_of(before), *relabel_graph(graph_of(after)))
    assert found is not None and (found.few, found.others) == (1, 20)
    assert found.by_excess == found.by_adamic_adar == found.auc == 1
    assert fake_edge_sentence(found) == (
        "Someone who ranks the connections by the neighbours that their ends share, and knows which way tells best, "
        "tells an added one from an original one 100% of the time (ties count half; guessing: about 50%)."
    )


def test_an_edge_that_closes_a_square_is_told_by_being_too_plausible() -> None:
    """The chord of a square closes two triangles, and lies in both of them; the sides lie in one each, a tail in
    none."""
    before = nx.cycle_graph(4)
    before.add_edge(3, 4)
    after = before.copy()
    after.add_edge(0, 2)
    found = fake_edge_auc(graph_of(before), *relabel_graph(graph_of(after)))
    assert found is not None and found.by_adamic_adar == 0
    assert found.auc == 1, "whoever knows that added edges rank high turns the ranking round"


def test_a_removed_edge_of_a_clique_is_found() -> None:
    before = nx.disjoint_union(nx.complete_graph(5), nx.path_graph(4))
    after = before.copy()
    after.remove_edge(0, 1)
    found = removed_edge_auc(graph_of(before), *relabel_graph(graph_of(after)), RNG(0))
    assert found is not None and found.auc == 1
    expected = (3 + 1) / (3 * 3 * (2 * 6 + 3 * 12 + 2 * 2) / 24**2 + 1)
    assert pair_scores(graph_of(after), np.array([0]), np.array([1])) == pytest.approx([log(expected)])


def test_without_changes_there_is_nothing_to_tell() -> None:
    graph = graph_of(nx.complete_graph(5))
    assert fake_edge_auc(graph, *relabel_graph(graph)) is None
    assert removed_edge_auc(graph, *relabel_graph(graph), RNG(0)) is None
    empty = Graph.from_edges([], [], nodes=5)
    assert fake_edge_auc(empty, graph, np.arange(5)) is None  # all are added
    assert removed_edge_auc(graph, empty, np.arange(5), RNG(0)) is None  # each pair had an edge
    assert fake_edge_auc(Graph.from_edges([], [], nodes=1), empty, np.array([0])) is None


def test_an_edge_that_lost_an_end_cannot_be_found() -> None:
    before, after = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=5), Graph.from_edges([0], [1], nodes=4)
    found = removed_edge_auc(before, after, np.array([0, 1, 2, -1, 3]), RNG(0))
    assert found is not None and (found.few, found.others) == (1, 4)  # 1–2; all pairs of 0, 1, 2, 4 but 0–1 and 1–2


def test_random_edges_look_less_plausible_than_those_of_friends() -> None:
    other = nx.connected_caveman_graph(20, 6)
    nodes = len(other)
    pairs = [(k, (7 * k + 40) % nodes) for k in range(30)]
    after = other.copy()
    after.add_edges_from(pair for pair in pairs if pair[0] != pair[1])
    found = fake_edge_auc(graph_of(other), *relabel_graph(graph_of(after)))
    assert found is not None and found.auc > 0.9


def test_sampled_pairs_have_intervals_that_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 samples with 95% confidence, fewer than 86 hold with a probability below .001 (seed fixed)."""
    before = nx.powerlaw_cluster_graph(60, 3, 0.6, seed=2)
    after = before.copy()
    after.remove_edges_from(list(before.edges)[::9])
    graphs = graph_of(before), graph_of(after), np.arange(60)
    exact = removed_edge_auc(*graphs, RNG(0))
    assert exact is not None and exact.intervals is None
    for name, size in (("_ALL_PAIRS", 0), ("_SAMPLE", 400), ("_DRAWS", 4_000)):
        monkeypatch.setattr(edge_plausibility, name, size)
    holds = []
    for seed in range(100):
        found = removed_edge_auc(*graphs, RNG(seed))
        assert found is not None and found.intervals is not None and found.others == 400
        ends = zip(found.intervals, (exact.by_excess, exact.by_adamic_adar), strict=True)
        holds.append([low <= value <= high for (low, high), value in ends])
    assert min(np.sum(holds, axis=0)) >= 86


def test_the_better_score_counts_from_its_better_end() -> None:
    assert EdgeTelling(1, 2, 0.25, 0.75).auc == EdgeTelling(1, 2, 0.75, 0.3).auc == 0.75
    assert EdgeTelling(1, 2, 0.142, 0.6).auc == EdgeTelling(1, 2, 0.6, 0.142).auc == 1 - 0.142
    assert EdgeTelling(1, 2, 0.5, 0.5).auc == 0.5


def test_added_edges_that_are_recognised_are_told_beside_what_the_graph_is_good_for() -> None:
    """Two cliques of five; the edge that joins them is added. Its ends share nobody, all others share three."""
    cliques = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5))
    original = Graph.from_networkx(cliques)
    joined = Graph.from_networkx(nx.compose(cliques, nx.Graph([(0, 5)])))
    (found,) = plausibility_use(compare_graphs(original, joined, np.arange(10)), Run())
    assert (found.before, found.after) == (None, 1.0)
    assert "tells an added one from an original one 100% of the time" in found.sentence
    assert not list(plausibility_use(compare_graphs(original, original, np.arange(10)), Run()))
