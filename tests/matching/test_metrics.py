"""The metrics against full enumeration."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from reference import naive_matching as naive
from reference.ensembles import peaky_matrix, sparse_matrix
from unveil import UnveilError
from unveil.matching import Candidates, solve
from unveil.matching.data_flow import network_matrix
from unveil.matching.metrics import (
    crack_distribution,
    distribution_psi,
    edge_probabilities,
    expected_cracks,
    flat_matrix,
    generalised_heuristic,
    heuristic_accuracy,
    heuristic_cracks,
    is_flat,
    log_permanent,
    o_estimate,
    permanent,
    project_to_matrix,
    simulate_psi,
    truth_curve,
)


def weights(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, n)) < 0.6, rng.random((n, n)), 0) + np.eye(n)


@pytest.mark.parametrize("seed", range(12))
def test_permanent_and_distribution(seed: int) -> None:
    n = 2 + seed % 5
    w, truth = weights(seed, n), np.arange(n)
    assert permanent(w) == pytest.approx(naive.permanent(w))
    assert np.allclose(crack_distribution(w), naive.crack_distribution(w, truth))


def test_a_truth_in_another_order() -> None:
    w = weights(3, 5)[:, [2, 0, 1, 4, 3]]
    truth = np.array([1, 2, 0, 4, 3])
    assert np.allclose(crack_distribution(w, truth), naive.crack_distribution(w, truth))


def test_no_perfect_matching_is_a_permanent_of_nothing() -> None:
    assert permanent([[1, 0], [1, 0]]) == 0
    assert log_permanent([[1, 0], [1, 0]]) == -np.inf


def test_the_o_estimate() -> None:
    """Degrees 1, 2, 3, 4 (Figure 6a of Lakshmanan, Ng and Ramesh 2008): O = 25/12, while the truth is 4."""
    chain = Candidates.from_matrix(np.tri(4))
    assert o_estimate(chain) == pytest.approx(25 / 12)


def test_psi_under_any_distribution() -> None:
    distribution = {(0, 1, 2): 2.0, (1, 0, 2): 1.0, (2, 0, 1): 1.0}
    assert distribution_psi(distribution, (0, 1, 2)) == pytest.approx((2 * 3 + 1 * 1 + 1 * 0) / 4)
    with pytest.raises(UnveilError):
        distribution_psi({(0, 1): -1.0}, (0, 1))


@pytest.mark.parametrize("seed", range(6))
def test_h_of_a_distribution_that_a_matrix_induces_is_h_of_the_matrix(seed: int) -> None:
    p = peaky_matrix(4, np.random.default_rng(seed)) if seed % 2 else sparse_matrix(5, np.random.default_rng(seed))
    truth = naive.all_matchings(p)[-1][0]
    induced = edge_probabilities(dict(naive.all_matchings(p)))
    assert np.allclose(project_to_matrix(induced), p, atol=1e-5)
    assert generalised_heuristic(induced, truth) == pytest.approx(heuristic_cracks(p, np.array(truth)), abs=1e-5)


def test_h_of_a_distribution_that_no_matrix_induces() -> None:
    """Even permutations of three only: all pairs are equally likely, and so they are in the nearest matrix."""
    even = dict.fromkeys([(0, 1, 2), (1, 2, 0), (2, 0, 1)], 1.0)
    assert np.allclose(project_to_matrix(edge_probabilities(even)), 1 / 3, atol=1e-6)
    assert generalised_heuristic(edge_probabilities(even), (0, 1, 2)) == pytest.approx(1)
    assert distribution_psi(even, (0, 1, 2)) == pytest.approx(1)
    skewed = {(0, 1, 2): 0.5, (1, 2, 0): 0.3, (2, 0, 1): 0.2}
    nearest = project_to_matrix(edge_probabilities(skewed))
    assert naive.marginals(nearest) == pytest.approx(edge_probabilities(skewed), abs=1e-6)


def test_h_of_a_sampler() -> None:
    """Draws form a distribution too; its H is within 4 standard errors of that of the sampled distribution."""
    p = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])
    induced = naive.all_matchings(p)
    chances = np.array([w for _, w in induced]) / naive.permanent(p)
    drawn = np.random.default_rng(1).choice(len(induced), 20_000, p=chances)
    counted = Counter(induced[k][0] for k in drawn)
    assert generalised_heuristic(edge_probabilities(counted), (0, 1, 2)) == pytest.approx(2.0, abs=0.03)


def test_the_distribution_over_blocks() -> None:
    """Blocks of twins and others together; 60 twins have as many fixed points as a random permutation."""
    w = np.zeros((9, 9))
    w[:3, :3], w[3:, 3:] = 1, weights(4, 6)
    assert np.allclose(crack_distribution(w), naive.crack_distribution(w, np.arange(9)))
    twins = crack_distribution(np.ones((60, 60)))
    assert twins[:3] == pytest.approx([np.exp(-1), np.exp(-1), np.exp(-1) / 2])
    assert twins.sum() == pytest.approx(1)
    with pytest.raises(UnveilError, match="18 entries"):
        crack_distribution((np.random.default_rng(1).random((30, 30)) < 0.5) + np.eye(30))


def test_psi_of_a_sampler_holds_the_truth_in_its_interval() -> None:
    """A uniform permutation has one fixed point on average; at 99.99 % the interval misses it once in 10,000 seeds."""
    mean, (low, high) = simulate_psi(
        lambda rng: rng.permutation(6), range(6), np.random.default_rng(1), draws=4000, confidence=0.9999
    )
    assert low < 1 < high
    assert low < mean < high


def test_what_is_not_doubly_stochastic() -> None:
    for call in (heuristic_cracks, is_flat, truth_curve):
        with pytest.raises(UnveilError, match="doubly stochastic"):
            call([[1.0, 0.5], [0.0, 0.5]])


def test_networks_that_are_none() -> None:
    with pytest.raises(UnveilError, match="equally many"):
        network_matrix(["a"], ["x"], {"n": (["a"], [])})
    with pytest.raises(UnveilError, match="loses or duplicates"):
        network_matrix(["a", "b"], ["x", "y"], {"n": (["a", "b"], ["x", "x"])})
    with pytest.raises(UnveilError, match="must not have cycles"):
        network_matrix(["a"], ["x"], {"n": (["m"], ["x"]), "m": (["n"], ["n"])})


def test_what_thin_functions_refuse() -> None:
    nan = float("nan")
    for call, arguments in (
        (heuristic_cracks, ([[0.5, nan], [nan, 0.5]],)),
        (heuristic_cracks, ([[0.5, 0.5], [0.5, 0.5]], np.array([0, 0]))),
        (distribution_psi, ({(0, 1): 1.0}, (0, 0))),
        (distribution_psi, ({(0, 1): float("inf")}, (0, 1))),
        (heuristic_accuracy, (np.full((30, 30), 1 / 30),)),
        (flat_matrix, ([[1.0, -1.0], [1.0, 1.0]],)),
    ):
        with pytest.raises(UnveilError):
            call(*arguments)  # type: ignore[operator]
    assert permanent(np.ones((200, 200))) == math.factorial(200)
    assert permanent(np.full((200, 200), 0.99)) == np.inf


def test_simulated_cracks_were_a_bare_number() -> None:
    """What can only be simulated is refused; the solution has the interval."""
    rng = np.random.default_rng(3)
    matrix = rng.random((60, 60)) ** 4
    assert not solve(Candidates.from_matrix(matrix)).exact
    with pytest.raises(UnveilError, match="can only be simulated; use solve"):
        expected_cracks(matrix)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_the_permanent_of_whole_numbers_is_whole(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        matrix = rng.integers(0, 4, (n, n)) * (rng.random((n, n)) < 0.8)
        exact = sum(math.prod(int(matrix[i, p[i]]) for i in range(n)) for p in permutations(range(n)))
        found = permanent(matrix)
        assert found == exact
        assert isinstance(found, int)
    assert permanent([[0.5]]) == 0.5


def count_matchings(matrix: np.ndarray) -> int:
    """The permanent in Python's whole numbers, over all sets of columns."""
    ways = {0: 1}
    for row in matrix.tolist():
        after: dict[int, int] = {}
        for taken, many in ways.items():
            for j, weight in enumerate(row):
                if weight and not taken >> j & 1:
                    after[taken | 1 << j] = after.get(taken | 1 << j, 0) + many * int(weight)
        ways = after
    return ways.get((1 << len(matrix)) - 1, 0)


def test_large_whole_permanents_were_rounded() -> None:
    """355687428096000.7 was said to be the number of permutations of 17 elements."""
    rng = np.random.default_rng(3)
    dense, heavy = (rng.random((14, 14)) < 0.7).astype(int), rng.integers(0, 10**6, (9, 9))
    near = np.abs(np.subtract.outer(np.arange(40), np.arange(40))) <= 2
    for matrix, exact in (
        (np.ones((17, 17)), math.factorial(17)),
        (np.ones((24, 24), bool), math.factorial(24)),
        (np.kron(np.eye(50), np.ones((2, 2))), 2**50),
        (dense, count_matchings(dense)),
        (heavy, count_matchings(heavy)),
        (near[rng.permutation(40)], count_matchings(near)),
    ):
        found = permanent(matrix)
        assert found == exact
        assert isinstance(found, int)
    scattered = (rng.random((60, 60)) < 0.2) | np.eye(60, dtype=bool)
    with pytest.raises(UnveilError, match="too costly to count exactly"):
        permanent(scattered)
