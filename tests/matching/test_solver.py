"""Every method of solving a block against full enumeration and against the other methods."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_matching as naive
from unveil import Run, UnveilError
from unveil.matching import Budget, Candidates, frontier, solve
from unveil.matching.blocks import Block, InfeasibleError, feasible_flow, independent_blocks
from unveil.matching.chains import ChainWalk
from unveil.matching.column_subsets import matrix_marginals
from unveil.matching.diagnostics import standard_error
from unveil.matching.frontier import count_states, frontier_marginals, plan_frontier
from unveil.matching.screening import bethe_estimate, one_step_estimate, sinkhorn_estimate
from unveil.matching.solver import solve_by_simulation


@st.composite
def matrices(draw: st.DrawFn, most: int = 8) -> np.ndarray:
    """Matrices with a perfect matching: 0/1 or weighted, with twins, zeros and weights of all sizes."""
    n = draw(st.integers(1, most))
    pattern = draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n))
    weights = np.array(pattern, float)
    if draw(st.booleans()):
        exponents = st.lists(st.sampled_from([0, 0, 0, 1, -1, 3, -4]), min_size=n * n, max_size=n * n)
        weights *= 10.0 ** np.array(draw(exponents), float).reshape(n, n)
    if n > 2 and draw(st.booleans()):
        weights[1] = weights[0]
    if n > 3 and draw(st.booleans()):
        weights[:, 2] = weights[:, 3]
    truth = draw(st.permutations(range(n)))
    for i, j in enumerate(truth):
        weights[i, j] = weights[i, j] or 1.0
    return weights


def block_matrix(candidates: Candidates, block: Block, marginals: np.ndarray) -> np.ndarray:
    """The block's marginals at their positions in the n × n matrix."""
    edges = np.zeros(len(candidates.groups))
    edges[block.edges] = marginals[block.part]
    small = np.zeros((len(candidates.class_sizes), len(candidates.group_sizes)))
    small[candidates.edge_class, candidates.groups] = edges
    return small[np.ix_(candidates.entry_class, candidates.pseudonym_group)]


def is_close(found: np.ndarray, expected: np.ndarray) -> bool:
    return bool(np.allclose(found, expected, rtol=1e-10, atol=1e-13))


@settings(max_examples=150, deadline=None)
@given(matrices())
def test_candidates_keep_the_matrix(weights: np.ndarray) -> None:
    n = len(weights)
    i, j = np.nonzero(weights)
    for candidates in (Candidates.from_matrix(weights), Candidates.from_edges(i, j, weights[i, j], n=n)):
        assert (candidates.to_matrix() == weights).all()
        assert candidates.degrees.tolist() == (weights > 0).sum(axis=1).tolist()
        pairs = np.indices((n, n)).reshape(2, -1)
        assert ((candidates.find_edges(*pairs) >= 0) == (weights[tuple(pairs)] > 0)).all()


@settings(max_examples=150, deadline=None)
@given(matrices())
def test_the_subset_rung(weights: np.ndarray) -> None:
    log, found = matrix_marginals(weights)
    assert log == pytest.approx(math.log(naive.permanent(weights)), abs=1e-10)
    assert is_close(found, naive.marginals(weights))


@settings(max_examples=150, deadline=None)
@given(matrices())
def test_the_frontier_rung(weights: np.ndarray) -> None:
    candidates = Candidates.from_matrix(weights)
    total, found = 0.0, np.zeros_like(weights)
    for block in independent_blocks(candidates, feasible_flow(candidates, None)):
        plan = plan_frontier(block, 10**6)
        assert plan is not None
        log, marginals = frontier_marginals(block, plan)
        total += log
        found += block_matrix(candidates, block, marginals)
    assert total == pytest.approx(math.log(naive.permanent(weights)), abs=1e-9)
    assert is_close(found, naive.marginals(weights))


@settings(max_examples=150, deadline=None)
@given(matrices(), st.randoms(use_true_random=False))
def test_the_ladder(weights: np.ndarray, random: object) -> None:
    n = len(weights)
    possible = [p for p, _ in naive.all_matchings(weights)]
    truth = np.array(random.choice(possible))  # type: ignore[attr-defined]
    solution = solve(Candidates.from_matrix(weights), truth)
    expected = naive.marginals(weights)
    assert solution.exact
    assert is_close(solution.matrix(), expected)
    assert is_close(solution.crack, expected[np.arange(n), truth])
    assert solution.expected_cracks == pytest.approx(expected[np.arange(n), truth].sum())
    assert solution.interval == (pytest.approx(solution.expected_cracks),) * 2
    assert solution.log_permanent[0] == pytest.approx(math.log(naive.permanent(weights)), abs=1e-9)
    assert np.allclose(solution.matrix().sum(axis=0), 1)
    assert np.allclose(solution.matrix().sum(axis=1), 1)


@settings(max_examples=60, deadline=None)
@given(matrices())
def test_only_edges_of_perfect_matchings_survive(weights: np.ndarray) -> None:
    candidates = Candidates.from_matrix(weights)
    kept = sum(
        block_matrix(candidates, b, np.ones(len(b.a)))
        for b in independent_blocks(candidates, feasible_flow(candidates, None))
    )
    assert ((kept > 0) == (naive.marginals(weights) > 0)).all()


@settings(max_examples=60, deadline=None)
@given(matrices())
def test_bethe_bounds_the_permanent_from_both_sides(weights: np.ndarray) -> None:
    candidates = Candidates.from_matrix(weights)
    for block in independent_blocks(candidates, feasible_flow(candidates, None)):
        if block.n < 2:
            continue
        exact, _ = matrix_marginals(block.to_matrix())
        found = bethe_estimate(block)
        assert found.low <= exact + 1e-6
        assert exact <= found.high + 1e-6
        for estimate in (found.beliefs, sinkhorn_estimate(block)) if not candidates.is_weighted else ():
            rows = np.bincount(block.a, estimate * block.c[block.b], len(block.r))
            assert np.allclose(rows, 1, atol=1e-4)
        columns = np.bincount(block.b, one_step_estimate(block) * block.r[block.a], len(block.c))
        assert np.allclose(columns, 1)


def test_the_two_exact_rungs_agree_on_wide_blocks() -> None:
    rng = np.random.default_rng(3)
    for n in (12, 16):
        weights = np.where(rng.random((n, n)) < 0.5, rng.random((n, n)) ** 4, 0) + np.eye(n)
        candidates = Candidates.from_matrix(weights)
        log, marginals = matrix_marginals(weights)
        (block,) = independent_blocks(candidates, feasible_flow(candidates, None))
        plan = plan_frontier(block, 10**6)
        assert plan is not None
        other, edges = frontier_marginals(block, plan)
        assert other == pytest.approx(log, rel=1e-12)
        assert is_close(block_matrix(candidates, block, edges), marginals)


def test_intervals_are_the_pairs_inside_them() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        n = int(rng.integers(1, 9))
        values = rng.integers(0, 6, n).astype(float)
        low, high = values - rng.integers(0, 3, n), values + rng.integers(0, 3, n)
        inside = (low[:, None] <= values) & (values <= high[:, None])
        assert (Candidates.from_intervals(low, high, values).to_matrix() == inside).all()


def _ring(rng: np.random.Generator) -> np.ndarray:
    """Entries in a ring, each with its own pseudonym and the next: two matchings that no swap connects; a few more."""
    ring = np.eye(8) + np.roll(np.eye(8), 1, axis=1)
    return ring + np.roll(np.eye(8), 3, axis=1) * (rng.random(8) < 0.5)[:, None]


SAMPLED = {
    "even": lambda rng: (rng.random((8, 8)) < 0.6) + np.eye(8),
    "ring": _ring,
    "weighted": lambda rng: rng.random((8, 8)) ** 3,
    "extreme": lambda rng: np.exp(3 * rng.normal(size=(8, 8))) * (rng.random((8, 8)) < 0.6) + 0.1 * np.eye(8),
    "intervals": lambda rng: (np.abs(np.arange(8)[:, None] - np.arange(8)) <= rng.integers(1, 4, 8)[:, None]) * 1.0,
}


@pytest.mark.parametrize("kind", SAMPLED)
def test_samplers_are_right_within_their_error_over_many_seeds(kind: str) -> None:
    """z-scores of 30 seeded runs on 8 × 8 matrices; each exceeds 4 with probability 6e-5 if the chain is right."""
    rng = np.random.default_rng(5)
    scores = []
    for seed in range(30):
        candidates = Candidates.from_matrix(SAMPLED[kind](rng))
        truth = np.arange(8)
        flow = feasible_flow(candidates, truth)
        true_counts = np.bincount(candidates.find_edges(truth, truth), minlength=len(candidates.groups))
        exact = solve(candidates)
        for block in independent_blocks(candidates, flow):
            if block.n < 3 or len(block.a) == 1:
                continue
            found = solve_by_simulation(
                block, flow, true_counts, Run(seed=seed), Budget(sweeps=1500, half_width=0.0), 8
            )
            mean = float((found.marginals[block.part] * true_counts[block.edges]).sum())
            expected = float((exact.marginals[block.edges] * true_counts[block.edges]).sum())
            scores.append((mean - expected) / found.part.error)
            assert np.abs(found.marginals[block.part] - exact.marginals[block.edges]).max() < 0.1
    z = np.array(scores)
    assert len(z) >= 20
    assert np.abs(z).max() < 4
    assert 0.5 < z.std() < 1.6


@pytest.mark.parametrize("rounds", [(50, 0, 0), (0, 5, 0), (0, 0, 10)])
def test_every_kind_of_move_keeps_the_distribution(rounds: tuple[int, int, int]) -> None:
    """Each alone on a graph on which each alone reaches everything; six z-scores, each beyond 4 with p = 6e-5."""
    rng = np.random.default_rng(8)
    for trial in range(6):
        even = rounds[0] > 0 or (trial % 2 == 0 and rounds[2] == 0)  # five rows at a time are for weights
        weights = np.ones((7, 7)) if even else rng.random((7, 7)) + 0.1
        weights[0, 1:4] = weights[3, 4:] = 0
        candidates = Candidates.from_matrix(weights)
        (block,) = independent_blocks(candidates, feasible_flow(candidates, None))
        flow = feasible_flow(candidates, np.arange(7))
        start = np.bincount(block.part, flow[block.edges], len(block.a)).astype(np.int64)
        walk = ChainWalk(block, start, start.astype(float), rng)
        walk.rounds = np.array(rounds)
        walk.advance(100)
        scores = walk.advance(2000)
        assert scores.mean() == pytest.approx(solve(candidates).expected_cracks, abs=4 * standard_error(scores))


def test_tours_mend_what_swaps_get_wrong() -> None:
    """On a sparse graph swaps alone settle far from the truth; with tours the interval holds it."""
    rng = np.random.default_rng(3)
    weights = (rng.random((24, 24)) < 0.1) + np.eye(24)
    candidates = Candidates.from_matrix(weights)
    flow = feasible_flow(candidates, np.arange(24))
    block = max(independent_blocks(candidates, flow), key=lambda b: b.n)
    start = np.bincount(block.part, flow[block.edges], len(block.a)).astype(np.int64)
    exact = solve(candidates)
    truth = float((exact.marginals[block.edges] * flow[block.edges]).sum())
    walk = ChainWalk(block, start, start.astype(float), rng)
    scores = walk.advance(4000)
    assert scores.mean() == pytest.approx(truth, abs=4 * standard_error(scores))
    walk.rounds = np.array([block.n, 0, 0])
    alone = walk.advance(4000)
    assert np.abs(alone.mean(axis=1) - truth).max() > 10 * standard_error(scores)


def test_what_does_not_fit_is_simulated_and_says_so() -> None:
    rng = np.random.default_rng(6)
    weights = (rng.random((40, 40)) < 0.5) + np.eye(40)
    solution = solve(Candidates.from_matrix(weights), budget=Budget(states=1000, half_width=0.01))
    assert not solution.exact
    (part,) = solution.parts
    assert part.method == "simulation"
    assert part.rhat < 1.05
    low, high = solution.interval
    assert low < solution.expected_cracks < high
    low, high = solution.log_permanent
    assert 0 < high - low <= 20 * math.log(2) + 1e-5
    assert solution.crack.sum() == pytest.approx(solution.expected_cracks)


def test_a_budget_of_states_is_kept() -> None:
    values = np.arange(40.0)
    candidates = Candidates.from_intervals(values - 6, values + 6, values)
    (block,) = independent_blocks(candidates, feasible_flow(candidates, None))
    assert plan_frontier(block, 50) is None
    plan = plan_frontier(block, 1000)
    assert plan is not None
    assert 50 < plan.states <= 1000
    assert not solve(candidates, budget=Budget(states=50, sweeps=250)).exact
    assert not solve(candidates, budget=Budget(transitions=50, sweeps=250)).exact
    assert solve(candidates).exact


@pytest.mark.parametrize("kept", [20, 1 << 24])
def test_many_twins_and_states_that_are_made_again(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    """Groups large enough to be taken class by class, with too few states kept for the backward pass."""
    for limit in ("MOST_KEPT_STATES", "TRANSITIONS_PER_CALL", "CELLS_PER_CALL", "MOST_KEPT_CELLS", "SLOTS_PER_COUNT"):
        monkeypatch.setattr(frontier, f"_{limit}", kept)
    rng = np.random.default_rng(1)
    by_class = segments = 0
    for trial in range(80):
        n, k, m = (int(rng.integers(*span)) for span in ((6, 13), (2, 5), (2, 5)))
        small = np.where(rng.random((k, m)) < 0.7, rng.random((k, m)) if trial % 2 else 1.0, 0)
        weights = small[np.ix_(rng.integers(0, k, n), rng.integers(0, m, n))]
        candidates = Candidates.from_matrix(weights)
        try:
            flow = feasible_flow(candidates, None)
        except InfeasibleError:
            continue
        log, expected = matrix_marginals(weights)
        found = np.zeros_like(weights)
        for block in independent_blocks(candidates, flow):
            plan = plan_frontier(block, 10**6)
            assert plan is not None
            by_class += int(plan.layout.is_shared.sum())
            segments += len(frontier.kept_segments(plan.levels)) > 1
            part, marginals = frontier_marginals(block, plan)
            log -= part
            found += block_matrix(candidates, block, marginals)
        assert abs(log) < 1e-9
        assert is_close(found, expected)
    assert by_class > 50
    assert (segments > 2) == (kept == 20)


def test_simulation_is_reproducible() -> None:
    weights = (np.random.default_rng(7).random((30, 30)) < 0.5) + np.eye(30)
    budget = Budget(states=10, sweeps=500)
    first, second = (solve(Candidates.from_matrix(weights), run=Run(seed=9), budget=budget) for _ in range(2))
    assert first.crack.tolist() == second.crack.tolist()
    assert (
        solve(Candidates.from_matrix(weights), run=Run(seed=10), budget=budget).crack.tolist() != first.crack.tolist()
    )


@pytest.mark.parametrize(
    ("weights", "log", "cracks"),
    [
        (np.zeros((0, 0)), 0.0, 0.0),
        (np.ones((1, 1)), 0.0, 1.0),
        (np.full((1, 1), 7.0), math.log(7), 1.0),
        (np.ones((2, 2)), math.log(2), 1.0),
        (np.eye(5), 0.0, 5.0),
        (np.ones((30, 30)), math.lgamma(31), 1.0),
        (np.full((3, 3), 1e300), 3 * math.log(1e300) + math.log(6), 1.0),
        (np.full((3, 3), 1e-300), 3 * math.log(1e-300) + math.log(6), 1.0),
        (np.eye(4) * 1e300 + 1e-300, 4 * math.log(1e300), 4.0),
        (np.kron(np.eye(3), np.ones((2, 2))), 3 * math.log(2), 3.0),
    ],
)
def test_extremes(weights: np.ndarray, log: float, cracks: float) -> None:
    solution = solve(Candidates.from_matrix(weights))
    assert solution.log_permanent[0] == pytest.approx(log, abs=1e-9, rel=1e-12)
    assert solution.expected_cracks == pytest.approx(cracks)


@pytest.mark.parametrize("size", [1, 30, 300])
def test_extreme_weights_on_every_exact_rung(size: float) -> None:
    """Weights from 1e-300 to 1e300 against sums over sets in exact fractions."""
    rng = np.random.default_rng(1)
    for trial in range(8):
        n = 5 + trial % 3
        weights = np.where(rng.random((n, n)) < 0.7, 10.0 ** rng.uniform(-size, size, (n, n)), 0)
        weights[np.arange(n), np.arange(n)] += 10.0**-size
        expected, log = naive.exact_marginals(weights)
        for budget in (Budget(), Budget(subsets=0)):
            solution = solve(Candidates.from_matrix(weights), budget=budget)
            assert solution.exact
            assert is_close(solution.matrix(), expected)
            assert solution.log_permanent[0] == pytest.approx(log, rel=1e-12, abs=1e-10)


def test_weights_that_balancing_cannot_tame() -> None:
    """Bands with weights of 500 orders of magnitude, on which scaled states once underflowed."""
    rows = [
        *("250 250 -250 _ _ _ _", "250 0 0 250 _ _ _", "-250 -250 0 0 250 _ _", "_ 250 250 -250 -250 -250 _"),
        *("_ _ -250 0 -250 250 250", "_ _ _ 250 250 0 0", "_ _ _ _ 250 -250 -250"),
    ]
    cells = [[0.0 if x == "_" else 10.0 ** float(x) for x in row.split()] for row in rows]
    expected, log = naive.exact_marginals(np.array(cells))
    assert log == pytest.approx(2880.0231257)
    for budget in (Budget(), Budget(subsets=0)):
        solution = solve(Candidates.from_matrix(cells), budget=budget)
        assert is_close(solution.matrix(), expected)
        assert solution.log_permanent[0] == pytest.approx(log)
    rng = np.random.default_rng(2)
    for _ in range(30):
        band = np.where(
            np.abs(np.arange(8)[:, None] - np.arange(8)) <= 2, 10.0 ** rng.choice([-300, 0, 300], (8, 8)), 0
        )
        expected, log = naive.exact_marginals(band)
        solution = solve(Candidates.from_matrix(band), budget=Budget(subsets=0))
        assert is_close(solution.matrix(), expected)
        assert solution.log_permanent[0] == pytest.approx(log)
        simulated = solve(Candidates.from_matrix(band), budget=Budget(subsets=0, states=0, sweeps=250))
        low, high = simulated.log_permanent
        assert low - 1e-6 <= log <= high + 1e-6


def test_tables_that_would_not_fit_are_not_made() -> None:
    """Many classes open at once with few left: few states, but tables of half the classes."""
    n = 80
    values = np.arange(float(n))
    candidates = Candidates.from_intervals(np.maximum(values - 1, 0), np.full(n, n - 1.0), values)
    (block,) = independent_blocks(candidates, feasible_flow(candidates, None))
    assert plan_frontier(block, 4_000_000) is None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=5), st.integers(0, 20), st.integers(0, 20))
def test_states_are_counted_by_their_sums(rooms: list[int], least: int, more: int) -> None:
    sums = [sum(digits) for digits in product(*(range(room + 1) for room in rooms))]
    assert states_of(rooms, least, least + more) == sum(least <= s <= least + more for s in sums)


def test_counts_of_states_do_not_cancel() -> None:
    assert states_of([1] * 100, 99, 99) == 100
    assert states_of([1] * 20, 10, 10) == 184_756
    assert states_of([2] * 3, 2, 4) == 19


def states_of(rooms: list[int], least: int, most: int) -> float:
    """How many combinations of digits have a sum from least to most, counted twice, the second time as it was left."""
    starts, found = np.array([0, len(rooms), 2 * len(rooms)]), np.empty(2)
    ends, ways = (np.array([least, least]), np.array([most, most])), np.zeros(most + 1)
    assert count_states(starts, np.array(rooms * 2, np.int64), *ends, 1e9, ways, found)
    assert found[0] == found[1]
    return float(found[0])


def test_a_chain_that_never_changes_is_not_certain() -> None:
    weights = np.eye(3) + 1e-9
    solution = solve(Candidates.from_matrix(weights), budget=Budget(subsets=0, states=0, sweeps=250))
    low, high = solution.interval
    assert low < high


def test_no_candidates_at_all() -> None:
    for n in (1, 2):
        with pytest.raises(InfeasibleError):
            solve(Candidates.from_matrix(np.zeros((n, n))))


def test_degree_of_anonymity() -> None:
    assert solve(Candidates.from_matrix(np.ones((6, 6)))).degree_of_anonymity == (pytest.approx(1), pytest.approx(1))
    assert solve(Candidates.from_matrix(np.eye(6))).degree_of_anonymity == (0, 0)
    assert solve(Candidates.from_matrix(np.ones((1, 1)))).degree_of_anonymity == (0, 0)


def test_an_infeasible_matching_names_the_entries_that_violate_hall() -> None:
    weights = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]])
    with pytest.raises(UnveilError, match="the 1st, 2nd and 3rd entries have only 2 candidate pseudonyms"):
        solve(Candidates.from_matrix(weights))


def test_a_truth_that_the_attacker_excludes() -> None:
    candidates = Candidates.from_matrix([[1, 1], [0, 1]])
    with pytest.raises(UnveilError, match="1st entry is not among"):
        solve(Candidates.from_matrix([[0, 1], [1, 1]]), np.array([0, 1]))
    solution = solve(candidates, np.array([1, 0]), may_exclude_truth=True)
    assert solution.crack.tolist() == [0, 0]


@pytest.mark.parametrize("matrix", [[[1, 2]], [[-1.0]], [[float("nan")]], [[float("inf")]], [["a"]], 3, [[1, 0], [1]]])
def test_matrices_that_are_none(matrix: object) -> None:
    with pytest.raises(UnveilError):
        Candidates.from_matrix(matrix)  # type: ignore[arg-type]


@pytest.mark.parametrize("truth", [[0, 0], [0], [0, 2], [-1, 0]])
def test_truths_that_are_no_bijection(truth: list[int]) -> None:
    with pytest.raises(UnveilError, match="once"):
        solve(Candidates.from_matrix(np.ones((2, 2))), np.array(truth))
