"""The thesis on unified metrics, corrected where a recomputation found its numbers wrong."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import unveil
from reference.naive_matching import all_matchings
from unveil.matching import Candidates, solve
from unveil.matching.data_flow import network_matrix
from unveil.matching.metrics import (
    crack_distribution,
    degree_of_anonymity,
    expected_cracks,
    flat_matrix,
    heuristic_accuracy,
    heuristic_cracks,
    is_flat,
    o_estimate,
    permanent,
    truth_curve,
)

TRUTH = np.array([2, 3, 4, 0, 1])  # Flu–x, Viral–y, Cold–z, Asthma–u, TB–v
ENTRIES = ["Flu", "Viral", "Cold", "Asthma", "TB"]
LABELS = ["u", "v", "x", "y", "z"]


def pattern(rows: str) -> np.ndarray:
    return np.array([[int(x) for x in row] for row in rows.split()], float)


R = pattern("00111 00111 01111 11110 11100")
A = pattern("00111 00111 11111 11111 11111")


def test_figure_2_3() -> None:
    """18 matchings; ε = 29/18 (printed 28/18 miscounts)."""
    assert permanent(R) == pytest.approx(18)
    assert degree_of_anonymity(R) == pytest.approx(math.log(18) / math.log(120))
    assert degree_of_anonymity(R) == pytest.approx(0.6037340455)
    assert expected_cracks(R, TRUTH) == pytest.approx(29 / 18)
    distribution = crack_distribution(R, TRUTH)
    assert (distribution * np.arange(6)).sum() == pytest.approx(29 / 18)
    assert distribution[5] == pytest.approx(1 / 18)


def test_figure_3_3_and_theorem_4_1_1() -> None:
    """λ2 mixes Cold, Asthma, TB into u, v and λ1; λ1 mixes Flu, Viral and λ2 into x, y, z: the flat matrix of A."""
    nodes = {
        "λ2": (["Cold", "Asthma", "TB"], ["u", "v", "λ1"]),
        "λ1": (["Flu", "Viral", "λ2"], ["x", "y", "z"]),
    }
    p = network_matrix(ENTRIES, LABELS, nodes)
    assert np.allclose(p, flat_matrix(A))
    assert is_flat(p)
    assert permanent(A) == pytest.approx(36)
    assert expected_cracks(A, TRUTH) == pytest.approx(13 / 9)
    assert expected_cracks(p, TRUTH) == pytest.approx(13 / 9)


def test_figure_3_1() -> None:
    nodes = {
        "λ2": (["Cold", "Asthma", "TB"], ["u", "λ1", "λ3"]),
        "λ1": (["Flu", "Viral", "λ2"], ["y", "z", "λ3"]),
        "λ3": (["λ1", "λ2"], ["v", "x"]),
    }
    p = network_matrix(ENTRIES, LABELS, nodes)
    flu, cold = [0, 1 / 6, 1 / 6, 1 / 3, 1 / 3], [1 / 3, 2 / 9, 2 / 9, 1 / 9, 1 / 9]
    assert np.allclose(p, [flu, flu, cold, cold, cold])


def test_figure_3_5() -> None:
    """A flat matrix with golden entries; the edge (Flu, y) lies in no perfect matching."""
    f = flat_matrix(pattern("10110 01010 00101 01010 10101"))
    g = math.sqrt(5)
    long, short, least = (g - 1) / 2, (3 - g) / 2, g - 2
    expected = [
        [long, 0, short, 0, 0],
        [0, 0.5, 0, 0.5, 0],
        [0, 0, short, 0, long],
        [0, 0.5, 0, 0.5, 0],
        [short, 0, least, 0, short],
    ]
    assert np.allclose(f, expected)


def test_flat_matrices_of_random_graphs_weigh_every_matching_the_same() -> None:
    """Theorem 4.1.1: ε = Ψ(A) = Ψ(F)."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = int(rng.integers(2, 7))
        graph = ((rng.random((n, n)) < 0.5) + np.eye(n) > 0).astype(float)
        flat = flat_matrix(graph)
        assert is_flat(flat, 1e-6)
        assert expected_cracks(flat) == pytest.approx(expected_cracks(graph), abs=1e-6)


Q = np.array(
    [
        [0, 0, 0.57, 0.4, 0.03],
        [0, 0, 0.3, 0.23, 0.47],
        [0.34, 0.29, 0.03, 0.3, 0.04],
        [0.29, 0.52, 0.08, 0.05, 0.06],
        [0.37, 0.19, 0.02, 0.02, 0.4],
    ]
)


def test_figure_3_4() -> None:
    """Q is doubly stochastic with (TB, y) = 1/50, not the printed 1/20; the printed Ψ belongs to another truth."""
    assert permanent(Q) == pytest.approx(0.0608095616)
    matchings = [w for _, w in all_matchings(Q)]
    assert max(matchings) / permanent(Q) == pytest.approx(0.2542888, abs=1e-7)
    assert min(matchings) / permanent(Q) == pytest.approx(0.0001876, abs=1e-7)
    assert expected_cracks(Q, TRUTH) == pytest.approx(1.347557217)
    assert heuristic_cracks(Q, TRUTH) == pytest.approx(1.32)
    other = np.array([4, 0, 1, 2, 3])
    assert solve(Candidates.from_matrix(Q), other, may_exclude_truth=True).expected_cracks == pytest.approx(
        1369 / 4355, abs=1e-6
    )
    assert heuristic_cracks(Q, other) == pytest.approx(0.42)


def test_figure_2_4_over_all_graphs_that_contain_the_truth() -> None:
    """2^20 graphs: ⟨4, 1.75⟩ and ⟨7, 3⟩ occur; at permanent 5, ε spans 1.8 to 3.4 (printed 3.5)."""
    places = [(i, j) for i in range(5) for j in range(5) if i != j]
    graphs = np.arange(1 << 20)
    entry = {(i, i): np.ones(1 << 20, np.int16) for i in range(5)}
    entry |= {place: (graphs >> k & 1).astype(np.int16) for k, place in enumerate(places)}
    weight, cracks = np.zeros(1 << 20, np.int16), np.zeros(1 << 20, np.int16)
    for p in product(range(5), repeat=5):
        if len(set(p)) < 5:
            continue
        here = entry[0, p[0]].copy()
        for i in range(1, 5):
            here &= entry[i, p[i]]
        weight += here
        cracks += here * sum(p[i] == i for i in range(5))
    pairs = set(zip(weight.tolist(), cracks.tolist(), strict=True))
    assert (4, 7) in pairs  # permanent 4, ε = 7/4
    assert (7, 21) in pairs
    spread = [c / 5 for w, c in pairs if w == 5]
    assert (min(spread), max(spread)) == (1.8, 3.4)
    for k in np.random.default_rng(2).integers(0, 1 << 20, 20):
        matrix = np.array([[float(entry[i, j][k if i != j else 0]) for j in range(5)] for i in range(5)])
        assert solve(Candidates.from_matrix(matrix)).expected_cracks == pytest.approx(cracks[k] / weight[k])


def stochastic(rng: np.random.Generator, n: int) -> np.ndarray:
    matrix = rng.random((n, n)) ** 2
    for _ in range(2000):
        matrix /= matrix.sum(axis=1, keepdims=True)
        matrix /= matrix.sum(axis=0, keepdims=True)
    return matrix


def test_theorem_4_3_1_h_is_the_mean_over_all_functions() -> None:
    p = stochastic(np.random.default_rng(3), 4)
    truth = np.array([1, 0, 3, 2])
    mean = sum(
        math.prod(p[i, f[i]] for i in range(4)) * sum(f[i] == truth[i] for i in range(4))
        for f in product(range(4), repeat=4)
    )
    assert heuristic_cracks(p, truth) == pytest.approx(mean)


def test_theorem_4_4_2_h_and_psi_have_the_same_sum_over_all_truths() -> None:
    rng = np.random.default_rng(4)
    for n in (2, 3, 4, 5):
        psi_values, h_values, _ = truth_curve(stochastic(rng, n))
        assert psi_values.sum() == pytest.approx(h_values.sum())
        assert psi_values.sum() == pytest.approx(math.factorial(n))


def test_nmape_hides_the_worst_truth() -> None:
    accuracy = heuristic_accuracy(stochastic(np.random.default_rng(5), 5))
    assert 0 < accuracy.nmape < abs(accuracy.worst)
    assert sorted(accuracy.worst_truth) == [0, 1, 2, 3, 4]
    assert heuristic_accuracy(np.eye(3)).worst == pytest.approx(0)
    assert heuristic_accuracy(np.full((4, 4), 0.25)).nmape == pytest.approx(0)


@pytest.mark.parametrize(
    ("name", "o", "cracks", "d"),
    [
        ("chess", 40.16667, 43.18624, 0.11434),
        ("mushroom", 47.71435, 48.85113, 0.22433),
        ("retail", 301.96075, 312.4928, 0.62579),
    ],
)
def test_exact_cracks_of_real_data(data: Path, name: str, o: float, cracks: float, d: float) -> None:
    """Intervals of one median gap around every frequency (data of Lakshmanan, Ng and Ramesh 2008, recomputed)."""
    counts = unveil.read(data / "transactions" / f"{name}.dat").counts.astype(float)
    gap = np.median(np.diff(np.unique(counts)))
    candidates = Candidates.from_intervals(counts - gap, counts + gap, counts)
    solution = solve(candidates)
    assert solution.exact
    assert o_estimate(candidates) == pytest.approx(o, abs=1e-5)
    assert solution.expected_cracks == pytest.approx(cracks, abs=1e-4)
    assert solution.degree_of_anonymity[0] == pytest.approx(d, abs=1e-5)
