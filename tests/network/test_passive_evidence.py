"""Scores of pairs, their probabilities and the overlap, against slow transcriptions of the definitions."""

from __future__ import annotations

from math import exp, inf, lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import betabinom

from unveil import Graph, Run
from unveil.network.passive.compared_graph import ComparedGraph
from unveil.network.passive.evidence import CANDIDATES, Candidates, Evidence
from unveil.network.passive.overlap import EdgeOverlap, estimate_overlap
from unveil.network.passive.partner_probabilities import likeliest_pairs, mix_matrices, pair_probabilities

OVERLAP = EdgeOverlap((0.7, 0.6), (10.0, 20.0))


def random_graph(nodes: int, edges: int, seed: int, directed: bool) -> Graph:
    ends = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    return Graph.from_edges(*ends, nodes=nodes, directed=directed)


def arcs(graph: Graph) -> set[tuple[int, int]]:
    """Who points to whom; in an undirected graph, both to each other."""
    return {(u, int(v)) for u in range(graph.nodes) for v in graph.neighbours[graph.indptr[u] : graph.indptr[u + 1]]}


def naive_score(
    left: ComparedGraph, right: ComparedGraph, likely: np.ndarray, u: int, v: int
) -> tuple[float, float, float, float]:
    """The definition in ``passive_evidence`` while fewer than 20 nodes are matched: the score, and how many edges are
    shared and could be on either side."""
    mine, theirs = arcs(left.graph), arcs(right.graph)
    least, most = -log(OVERLAP.chance_of_wrong_candidate()), 4.0
    edges = right.graph.edges if right.graph.directed else 2 * right.graph.edges
    ins, outs = right.graph.in_degrees, right.graph.degrees
    directions = (0, 1) if left.graph.directed else (0,)  # 0: towards u and v, 1: away from them
    gain = shared = 0.0
    for w, x in zip(*np.nonzero(likely), strict=True):
        for away in directions:
            if ((u, w) if away else (w, u)) in mine and ((v, x) if away else (x, v)) in theirs:
                chance = (outs[v] * ins[x] if away else outs[x] * ins[v]) / edges
                gain += likely[w, x] * max(min(-log(chance), most), least)
                shared += likely[w, x]
    totals = []
    for graph, other, node, partner, matrix in ((left, right, u, v, likely), (right, left, v, u, likely.T)):
        links = arcs(graph.graph)
        known = sum(matrix[w] @ other.crawled for w in range(graph.nodes) if (w, node) in links)
        if len(directions) == 2 and other.crawled[partner]:
            known += sum(matrix[w].sum() for w in range(graph.nodes) if (node, w) in links)
        totals.append(float(known))
    score = gain
    for share, evenness, total in zip(OVERLAP.shares, OVERLAP.evenness, totals, strict=True):
        a, b, unshared = share * evenness, (1 - share) * evenness, max(total - shared, 0.0)
        score += lgamma(a + shared) + lgamma(b + unshared) - lgamma(a + b + shared + unshared)
        score += lgamma(a + b) - lgamma(a) - lgamma(b)
        score -= 0.5 * shared * log((a + shared) / (a + b + shared + unshared))
    return score, shared, totals[0], totals[1]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_scores_follow_the_definition(directed: bool, seed: int) -> None:
    left, right = (ComparedGraph(random_graph(14, 45, 2 * seed + k, directed)) for k in range(2))
    rng = np.random.default_rng(seed)
    likely = np.where(rng.random((14, 14)) < 0.1, rng.choice([0.25, 0.5, 1.0], (14, 14)), 0.0)
    assert 3 < likely.sum() < 20
    evidence = Evidence(left, right, csr_array(likely.astype(np.float32)), OVERLAP, np.full(14, -1))
    found = evidence.find_candidates(0.0, 0.0, Run())
    scores = np.full((14, 14), -inf)
    for u, v in zip(*np.nonzero(found.who >= 0), strict=True):
        partner = int(found.who[u, v])
        score, shared, mine, theirs = naive_score(left, right, likely, int(u), partner)
        assert found.score[u, v] == pytest.approx(score, abs=1e-4)
        assert found.shared[u, v] == pytest.approx(shared, abs=1e-5)
        possible = evidence.possible_shared(np.array([u]), np.array([partner]))
        assert (possible[0][0], possible[1][0]) == pytest.approx((mine, theirs), abs=1e-5)
        scores[u, partner] = score
    for u in range(14):
        for v in range(14):
            score, shared, _, _ = naive_score(left, right, likely, u, v)
            if shared and score > -4.9 and scores[u, v] == -inf:  # left out only if there are too many better ones
                assert (scores[u] >= score).sum() >= CANDIDATES


def test_a_partner_that_was_given_is_a_candidate_without_any_witness() -> None:
    left = right = ComparedGraph(random_graph(6, 8, 0, False))
    nobody = csr_array((6, 6), dtype=np.float32)
    given_partner = np.array([-1, -1, 4, -1, -1, -1])
    found = Evidence(left, right, nobody, OVERLAP, given_partner).find_candidates(1.0, 3.0, Run())
    assert found.who[2, 0] == 4
    assert found.score[2, 0] == pytest.approx(3.0 - 1.0)
    assert (np.delete(found.who, 2, axis=0) < 0).all()


def test_probabilities_follow_the_definition() -> None:
    """One pair: e^s = p / (1 − p)². Two left nodes that may be the same right one: e^s = p / ((1 − p) (1 − 2p))."""
    who, score = np.full((2, CANDIDATES), -1), np.full((2, CANDIDATES), -inf)
    who[0, 0], score[0, 0] = 1, 2.0
    p = pair_probabilities(Candidates(who, score, np.zeros_like(score)), 2).probability[0]
    assert p / (1 - p) ** 2 == pytest.approx(exp(2), rel=1e-2)
    who[1, 0], score[1, 0] = 1, 2.0
    p, q = pair_probabilities(Candidates(who, score, np.zeros_like(score)), 2).probability
    assert p == pytest.approx(q)
    assert p / ((1 - p) * (1 - 2 * p)) == pytest.approx(exp(2), rel=1e-2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 8))
def test_nobody_has_more_than_one_partner_in_all(seed: int, lefts: int, rights: int) -> None:
    rng = np.random.default_rng(seed)
    width = min(rights, CANDIDATES)
    who, score = np.full((lefts, CANDIDATES), -1), np.full((lefts, CANDIDATES), -inf)
    for u in range(lefts):
        some = rng.permutation(rights)[: rng.integers(0, width + 1)]
        who[u, : len(some)], score[u, : len(some)] = some, rng.normal(0, 8, len(some))
    pairs = pair_probabilities(Candidates(who, score, np.zeros_like(score)), rights)
    matrix = pairs.as_matrix(lefts, rights).toarray()
    assert (matrix >= 0).all()
    assert (matrix.sum(axis=0) <= 1 + 1e-5).all()
    assert matrix.sum(axis=1).max(initial=0) <= 1.3  # columns are scaled last
    chosen, partners, probability, runner_up = likeliest_pairs(csr_array(matrix))
    expected = {
        (u, int(matrix[u].argmax()))
        for u in range(lefts)
        if matrix[u].max() > 0 and matrix[:, matrix[u].argmax()].argmax() == u
    }
    assert set(zip(chosen.tolist(), partners.tolist(), strict=True)) == expected
    for u, v, p, second in zip(chosen, partners, probability, runner_up, strict=True):
        assert p == pytest.approx(matrix[u, v])
        others = np.append(np.delete(matrix[u], v), np.delete(matrix[:, v], u))
        assert second == pytest.approx(others.max(initial=0))


def test_the_mean_of_two_matrices_leaves_out_what_is_negligible() -> None:
    old, new = csr_array(np.array([[0.8, 0.0]])), csr_array(np.array([[0.4, 0.004]]))
    assert mix_matrices(old, new).toarray().tolist() == [[pytest.approx(0.6), 0.0]]


@pytest.mark.parametrize(("evenness", "estimates"), [(5.0, {5.0}), (200.0, {50.0, 200.0})])
def test_the_overlap_and_its_evenness_are_estimated(evenness: float, estimates: set[float]) -> None:
    """3,000 nodes of 40 edges each: the standard error of the share is below .004 for the uneven one."""
    rng = np.random.default_rng(1)
    total = np.full(3_000, 40.0)
    shared = betabinom(40, 0.7 * evenness, 0.3 * evenness).rvs(3_000, random_state=rng).astype(float)

    class Counted:
        def possible_shared(self, lefts: np.ndarray, rights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return total, np.maximum(shared / 0.5, shared)

    pairs = pair_probabilities(_certain(shared), 3_000)
    found = estimate_overlap(Counted(), pairs)
    assert found.shares == pytest.approx((0.7, 0.5), abs=0.016)
    assert found.evenness[0] in estimates


def _certain(shared: np.ndarray) -> Candidates:
    size = len(shared), CANDIDATES
    who, score, counted = np.full(size, -1), np.full(size, -inf), np.zeros(size)
    who[:, 0], score[:, 0], counted[:, 0] = np.arange(len(shared)), 30.0, shared
    return Candidates(who, score, counted)
