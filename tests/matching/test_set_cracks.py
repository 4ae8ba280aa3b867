"""Sets cracked as sets: exact against full enumeration, simulated within their interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_matching as naive
from unveil import Run, UnveilError
from unveil.matching import Budget, Candidates
from unveil.matching.set_cracks import set_crack_probabilities, set_crack_probability


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """A matrix with twins, a truth that is possible, and a set."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(1, 6))
    weights = np.where(rng.random((n, n)) < 0.6, 1.0 if draw(st.booleans()) else rng.random((n, n)), 0)
    if n > 2 and draw(st.booleans()):
        weights[1] = weights[0]
        weights[:, 2] = weights[:, 1]
    truth = rng.permutation(n)
    weights[np.arange(n), truth] = np.maximum(weights[np.arange(n), truth], 0.5)
    return weights, truth, draw(st.lists(st.integers(0, n - 1), unique=True))


@settings(max_examples=200, deadline=None)
@given(cases())
def test_sets_exactly(case: tuple[np.ndarray, np.ndarray, list[int]]) -> None:
    weights, truth, members = case
    found = set_crack_probability(weights, members, truth)
    assert found.exact
    assert found.value == pytest.approx(naive.set_cracked(weights, truth, members), abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_sets_by_simulation(seed: int) -> None:
    """At 99.99 % all twelve intervals hold the truth but once in 800 sets of seeds."""
    rng = np.random.default_rng(seed)
    weights = (rng.random((9, 9)) < 0.6) + np.eye(9) if seed % 2 else rng.random((9, 9)) + 0.05
    weights[1], weights[:, 4] = weights[0], weights[:, 3]
    members = [0, 1] if seed % 3 else [0, 4, 7]
    truth = np.arange(9)
    weights[truth, truth] = np.maximum(weights[truth, truth], 1.0)
    candidates = Candidates.from_matrix(weights)
    exact = set_crack_probability(candidates, members, truth)
    assert exact.exact
    nothing = Budget(states=0, subsets=0)
    found = set_crack_probability(candidates, members, truth, Run(seed=seed, confidence=0.9999), budget=nothing)
    assert not found.exact
    low, high = found.interval
    assert low <= exact.value <= high
    assert high - low < 0.2


def test_large_sets_of_intervals() -> None:
    """A group of twins is certain to be cracked as a set if no other entry can have its pseudonyms."""
    counts = np.repeat([10.0, 20.0, 21.0], [40, 30, 30])
    candidates = Candidates.from_intervals(counts - 1, counts + 1, counts)
    assert set_crack_probability(candidates, range(40)).value == pytest.approx(1)
    assert set_crack_probability(candidates, range(40, 70)).value < 1e-10
    assert set_crack_probability(candidates, [0, 50]).value == pytest.approx(1 / 40 / 60)


def test_sets_that_are_none() -> None:
    for members in ([0, 0], [3], [-1]):
        with pytest.raises(UnveilError, match="each at most once"):
            set_crack_probability(np.ones((3, 3)), members)


def test_many_sets_are_those_one_by_one() -> None:
    """Exactly, and simulated at 99.99 % each: the 40 intervals hold the truth but once in 250 seeds."""
    rng = np.random.default_rng(4)
    weights = (rng.random((8, 8)) < 0.6) + np.eye(8)
    weights[:3, 3:] = weights[3:, :3] = 0
    sets = [rng.choice(8, int(rng.integers(1, 5)), replace=False).tolist() for _ in range(40)]
    wanted = [naive.set_cracked(weights, np.arange(8), members) for members in sets]
    assert [p.value for p in set_crack_probabilities(weights, sets)] == pytest.approx(wanted)
    nothing = Budget(states=0, subsets=0)
    found = set_crack_probabilities(weights, sets, run=Run(seed=1, confidence=0.9999), budget=nothing)
    assert all(p.interval[0] - 1e-9 <= w <= p.interval[1] + 1e-9 for p, w in zip(found, wanted, strict=True))
    assert max(p.interval[1] - p.interval[0] for p in found) < 0.2
    assert set_crack_probabilities(weights, []) == []
