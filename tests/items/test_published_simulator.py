"""The published simulator: right in the long run on intervals, and wrong where it is known to be."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from reference import naive_items, naive_matching
from reference.published_simulator import simulate_as_published
from unveil import Run
from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.itemsets import itemset_chances
from unveil.matching import Candidates, solve

FEW = {"burn_in": 200, "between": 20}
RING = Candidates.from_matrix([[1, 1, 0], [0, 1, 1], [1, 0, 1]])


@pytest.mark.parametrize(
    ("counts", "width"), [([1, 2, 3, 4, 5, 6], 1), ([1, 1, 2, 4, 4, 5, 7], 2), ([3, 3, 3, 3], 0), ([1, 5, 6, 9], 3)]
)
def test_on_intervals_it_is_right_in_the_long_run(counts: list[int], width: int) -> None:
    """Restarts are independent, so that their mean is off by a normal error: within five standard errors of it in all
    but one of a million cases, of which there are a dozen here; what is left of the start is far below that."""
    some = Beliefs.from_half_width(counts, width)
    sets = [[0, 1], [1, 2], [0, 1, 2]]
    found = simulate_as_published(some, np.random.default_rng(1), sets, restarts=200, samples=50, **FEW)
    exact = solve(some.candidates).expected_cracks
    assert abs(found.cracks - exact) < 5 * found.restart_deviation / math.sqrt(200)
    for x, chance in zip(sets, found.itemset_shares, strict=True):
        p = float(itemset_chances(some, [x])[0][0])
        assert abs(chance - p) < 5 * math.sqrt(max(p * (1 - p), 1e-12) / 2000)  # as if one sample in five were new


def test_what_it_says_is_what_it_counted() -> None:
    """By hand, with the same random numbers: P by Fisher and Yates, each entry in turn, cracks after every stretch."""
    some = Beliefs.from_intervals([0, 1, 1, 2], [2, 3, 4, 4], [1, 2, 3, 4])
    allowed = naive_items.possible_pairs(some.low.tolist(), some.high.tolist(), some.counts.tolist())
    rng, order, means, hits = np.random.default_rng(7), [0, 0, 0, 0], [], 0
    for _ in range(3):
        held, cracks = [0, 1, 2, 3], []
        for stretch in (5, 2, 2, 2, 2):
            order = [0, 1, 2, 3]
            for _ in range(stretch):
                for k in (3, 2, 1):
                    j = int(rng.random() * (k + 1))
                    order[k], order[j] = order[j], order[k]
                for i in range(4):
                    k = order[i]
                    if allowed[i, held[k]] and allowed[k, held[i]]:
                        held[i], held[k] = held[k], held[i]
            cracks.append(sum(held[i] == i for i in range(4)))
            hits += {held[1], held[2]} == {1, 2} and stretch == 2
        means.append(np.mean(cracks[1:]))
    found = simulate_as_published(some, np.random.default_rng(7), [[1, 2]], restarts=3, samples=4, burn_in=5, between=2)
    assert found.restart_means.tolist() == means
    assert found.cracks == pytest.approx(np.mean(means)) and found.restart_deviation == pytest.approx(
        np.std(means, ddof=1)
    )
    assert found.itemset_shares.tolist() == [hits / 12]


def test_on_a_ring_it_never_moves() -> None:
    """Two mappings, all cracked or none: 3/2 on average. It says 3, and with no deviation."""
    assert float(np.trace(naive_matching.marginals(RING.to_matrix()))) == pytest.approx(1.5)
    found = simulate_as_published(RING, np.random.default_rng(0), [[0, 1]], restarts=5, samples=20, **FEW)
    assert (found.cracks, found.restart_deviation, found.itemset_shares.tolist()) == (3, 0, [1])


@pytest.mark.parametrize(
    ("matrix", "says", "truth"),
    [([[1, 1], [1, 1]], 2, 1), ([[1, 1, 1], [1, 1, 0], [1, 1, 1]], 1.5, 1.25)],
)
def test_swaps_of_one_iteration_may_undo_each_other(matrix: list[list[int]], says: float, truth: float) -> None:
    """Two items, and three with intervals, of whose mappings it reaches one of two and two of four."""
    possible = Candidates.from_matrix(matrix)
    assert solve(possible).expected_cracks == pytest.approx(truth)
    found = simulate_as_published(possible, np.random.default_rng(0), restarts=20, samples=100, **FEW)
    assert found.cracks == pytest.approx(says, abs=0.1)  # three standard errors of 2,000 samples


def test_it_is_reproducible_and_can_be_stopped() -> None:
    some = Beliefs.from_half_width(np.arange(9), 2)
    one, again, other = (
        simulate_as_published(some, np.random.default_rng(s), restarts=2, samples=9, **FEW) for s in (1, 1, 2)
    )
    assert one.restart_means.tolist() == again.restart_means.tolist() != other.restart_means.tolist()
    assert math.isnan(
        simulate_as_published(some, np.random.default_rng(1), restarts=1, samples=2, **FEW).restart_deviation
    )
    told: list[float] = []
    run = Run(progress=lambda _, share: told.append(share or 0.0))
    simulate_as_published(some, np.random.default_rng(1), restarts=2, samples=3, run=run, **FEW)
    assert len(told) == 6 and all(a < b for a, b in pairwise(told))
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        simulate_as_published(some, np.random.default_rng(1), run=run)


def test_its_start_must_be_possible() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UnveilError, match="not among its candidates"):
        simulate_as_published(Beliefs.from_intervals([2, 1], [2, 1], [1, 2]), rng)
    with pytest.raises(UnveilError, match="weights are all 1"):
        simulate_as_published(Candidates.from_matrix([[0.5, 1], [1, 1]]), rng)
    with pytest.raises(UnveilError, match="at least 1 restart"):
        simulate_as_published(RING, rng, restarts=0)
    for wrong in ([0, 0], [3]):
        with pytest.raises(UnveilError, match="an itemset repeats an item or names one outside"):
            simulate_as_published(RING, rng, [wrong])
