"""Itemsets of interest against all consistent mappings, listed."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reference import naive_items
from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.extreme_knowledge import (
    exact_chance,
    exact_crack_share,
    exact_cracks,
    ignorant_chance,
    ignorant_cracks,
    ignorant_listed_cracks,
)
from unveil.items.frequency_groups import FrequencyGroups
from unveil.items.itemsets import (
    ItemsetRequirement,
    estimate_vulnerable_share,
    itemset_chances,
    measure_vulnerable_share,
)
from unveil.matching import Budget, Candidates
from unveil.matching.blocks import InfeasibleError
from unveil.run import Run


def vulnerable_share(chances: dict[tuple[int, ...], float], sigma: float) -> float:
    return sum(p >= sigma - 1e-9 for p in chances.values()) / max(len(chances), 1)


@st.composite
def beliefs(draw: st.DrawFn, most: int = 7) -> Beliefs:
    """Small counts and intervals, mostly around them, of which some mapping is consistent."""
    counts = draw(st.lists(st.integers(1, 5), min_size=2, max_size=most))
    wide = st.lists(st.integers(0, 2), min_size=len(counts), max_size=len(counts))
    low, high = np.array(counts) - draw(wide), np.array(counts) + draw(wide)
    swap = draw(st.permutations(range(len(counts)))) if draw(st.booleans()) else range(len(counts))
    return Beliefs.from_intervals(low[list(swap)], high[list(swap)], counts)


def graph(some: Beliefs) -> np.ndarray:
    return naive_items.possible_pairs(some.low.tolist(), some.high.tolist(), some.counts.tolist())


# closed forms


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.integers(1, 4), st.data())
def test_lemmas_3_1_to_3_6(counts: list[int], k: int, data: st.DataObject) -> None:
    n, k = len(counts), min(k, len(counts))
    chosen = [x for x in range(n) if data.draw(st.booleans())]
    groups = FrequencyGroups.from_counts(counts)
    interest = np.bincount(groups.group[np.array(chosen, int)], minlength=len(groups.sizes))
    nothing, everything = (
        naive_items.itemset_chances(graph(f(counts)), k)
        for f in (naive_items.from_ignorance, Beliefs.from_exact_counts)
    )
    inside = [x for x in combinations(range(n), k) if set(x) <= set(chosen)]
    for x, p in nothing.items():
        assert ignorant_chance(n, k) == pytest.approx(p)
        assert exact_chance(groups, x) == pytest.approx(everything[x])
    assert ignorant_cracks(n, k) == pytest.approx(sum(nothing.values())) == pytest.approx(1)
    assert ignorant_cracks(n, k, len(chosen)) == pytest.approx(sum(nothing[x] for x in inside))
    assert ignorant_listed_cracks(n, map(len, inside)) == pytest.approx(sum(nothing[x] for x in inside))
    assert exact_cracks(groups.sizes, k) == pytest.approx(sum(everything.values()))
    assert exact_crack_share(groups.sizes, k) == pytest.approx(sum(everything.values()) / math.comb(n, k))
    assert exact_cracks(groups.sizes, k, interest) == pytest.approx(sum(everything[x] for x in inside))


def test_closed_forms_of_many_items() -> None:
    """Groups of two: as many ways to write k as there are subsets of the groups to take two, one or none of."""
    sizes = np.full(8235, 2)
    assert exact_cracks(sizes, 1) == pytest.approx(8235)
    assert exact_cracks(sizes, 2) == pytest.approx(math.comb(8235, 2) + 8235)
    assert exact_cracks(sizes, 16_470) == pytest.approx(1)
    assert exact_cracks(sizes, 16_469) == pytest.approx(8235)
    assert exact_crack_share(np.ones(16_470, int), 8000) == pytest.approx(1)
    assert exact_cracks([16_470], 8000) == pytest.approx(1)
    assert ignorant_cracks(16_470, 8000) == pytest.approx(1)
    assert ignorant_chance(16_470, 1) == pytest.approx(1 / 16_470, rel=1e-14)
    assert exact_cracks(sizes, 8000) == math.inf and 0 <= exact_crack_share(sizes, 8000) < 1e-300
    assert exact_cracks([4, 4], 3, [1, 1]) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ignorant_chance(3, 4),
        lambda: ignorant_cracks(3, 2, 4),
        lambda: exact_cracks([2, 2], 5),
        lambda: exact_cracks([2, 2], 1, [3, 0]),
        lambda: exact_chance(FrequencyGroups.from_counts([1, 2]), [0, 0]),
        lambda: measure_vulnerable_share(Beliefs.from_exact_counts([1, 2]), ItemsetRequirement.from_itemsets([[0, 2]])),
        lambda: itemset_chances(Beliefs.from_exact_counts([1, 2]), [[0, 0]]),
        lambda: ItemsetRequirement(size=0),
        lambda: ItemsetRequirement(sigma=0),
        lambda: ItemsetRequirement.from_itemsets([[]]),
        lambda: ItemsetRequirement(without_top=1),
        lambda: ItemsetRequirement(without_top=0.5).items(Candidates.from_matrix(np.eye(2))),
    ],
)
def test_impossible_questions_are_refused(wrong: object) -> None:
    with pytest.raises(UnveilError):
        wrong()


# itemsets of interest

NOTHING = Budget(subsets=0, states=0, transitions=0)


@settings(max_examples=200, deadline=None)
@given(beliefs(), st.sampled_from([0.05, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1]))
def test_vulnerable_pairs_are_those_of_all_mappings(some: Beliefs, sigma: float) -> None:
    chances = naive_items.itemset_chances(graph(some), 2)
    assume(chances)
    found = measure_vulnerable_share(some, ItemsetRequirement(sigma=sigma))
    assert found.method == "exact" and found.itemsets == len(chances)
    assert found.share == pytest.approx(vulnerable_share(chances, sigma))
    assert found.interval == (found.share, found.share)
    by_os = {x: naive_items.os_estimate(graph(some), x) for x in chances}
    assert found.estimate == pytest.approx(vulnerable_share(by_os, sigma))
    assert found.estimate == estimate_vulnerable_share(some, ItemsetRequirement(sigma=sigma))


@settings(max_examples=100, deadline=None)
@given(beliefs(), st.sampled_from([0.1, 0.25, 0.5]), st.integers(0, 1), st.integers(2, 3))
def test_without_permanents_the_share_lies_in_the_interval(some: Beliefs, sigma: float, solves: int, k: int) -> None:
    chances = naive_items.itemset_chances(graph(some), k)
    assume(chances)
    found = measure_vulnerable_share(some, ItemsetRequirement(k, sigma=sigma), solves=solves, simulate=False)
    assert found.interval[0] - 1e-9 <= vulnerable_share(chances, sigma) <= found.interval[1] + 1e-9
    assert found.method == ("bound" if found.undecided_count else "exact")
    out_of_reach = measure_vulnerable_share(some, ItemsetRequirement(k, sigma=sigma), budget=NOTHING, simulate=False)
    assert out_of_reach.interval[0] - 1e-9 <= vulnerable_share(chances, sigma) <= out_of_reach.interval[1] + 1e-9


@pytest.mark.parametrize("seed", range(15))
def test_an_upper_bound_was_told_as_the_share(seed: int) -> None:
    """Nothing can be solved, so everything is simulated; the share by listing all mappings lies in the interval, which
    is much shorter than without simulation. At 99.9 % all 30 intervals hold the truth but once in 33 sets of seeds."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 7, 7)
    some = Beliefs.from_half_width(counts, rng.integers(1, 4, 7))
    for k in (2, 3):
        theta = ItemsetRequirement(k, sigma=0.23)
        truth = vulnerable_share(naive_items.itemset_chances(graph(some), k), 0.23)
        run = Run(seed=seed, confidence=0.999)
        bounded = measure_vulnerable_share(some, theta, run, budget=NOTHING, simulate=False)
        found = measure_vulnerable_share(some, theta, run, budget=NOTHING)
        assert found.interval[0] - 1e-9 <= truth <= found.interval[1] + 1e-9
        assert bounded.interval[0] - 1e-9 <= truth <= bounded.interval[1] + 1e-9
        assert found.interval[1] - found.interval[0] < max(0.2, (bounded.interval[1] - bounded.interval[0]) / 2)
        assert found.share == found.interval[1]
        assert found.method == ("simulation" if found.is_simulated else bounded.method)


def test_permanents_that_ran_out_are_simulated() -> None:
    """The block is solved, but no pair may be: the simulation decides all but those near the threshold."""
    some = Beliefs.from_half_width(np.arange(12), 2)
    truth = measure_vulnerable_share(some, ItemsetRequirement(sigma=0.2))
    found = measure_vulnerable_share(some, ItemsetRequirement(sigma=0.2), Run(seed=3), solves=0)
    unsure = measure_vulnerable_share(some, ItemsetRequirement(sigma=0.2), Run(seed=3), solves=0, simulate=False)
    assert (truth.method, found.method, unsure.method) == ("exact", "simulation", "bound")
    assert unsure.undecided_count > 5 * found.undecided_count
    assert found.interval[0] <= truth.share <= found.interval[1]


def test_weighted_candidates_are_simulated_with_their_weights() -> None:
    matrix = np.random.default_rng(5).random((6, 6)) ** 3 + 1e-3
    some = Candidates.from_matrix(matrix)
    exact, found = (
        measure_vulnerable_share(some, ItemsetRequirement(sigma=0.1), Run(seed=1), budget=budget)
        for budget in (None, NOTHING)
    )
    assert (exact.method, found.method) == ("exact", "simulation")
    assert found.interval[0] <= exact.share <= found.interval[1] < found.interval[0] + 0.3


@settings(max_examples=100, deadline=None)
@given(beliefs(), st.integers(1, 5), st.sampled_from([0.05, 0.25, 0.5, 1]))
def test_larger_itemsets(some: Beliefs, k: int, sigma: float) -> None:
    k = min(k, some.n)
    chances = naive_items.itemset_chances(graph(some), k)
    assume(chances)
    low, high = itemset_chances(some, list(chances))
    assert low == pytest.approx(list(chances.values())) and np.array_equal(low, high)
    for theta in (ItemsetRequirement(k, sigma=sigma), ItemsetRequirement.from_itemsets(chances, sigma=sigma)):
        found = measure_vulnerable_share(some, theta)
        assert found.share == pytest.approx(vulnerable_share(chances, sigma))
        assert (found.method, found.inspected_count) == ("exact", len(chances))


def test_the_most_frequent_items_are_left_out() -> None:
    some = Beliefs.from_exact_counts([9, 8, 7, 7, 1, 1, 2, 3, 4, 5])
    assert ItemsetRequirement(without_top=0.2).items(some).tolist() == list(range(2, 10))
    assert ItemsetRequirement(without_top=0.3).items(some).tolist() == list(range(3, 10))
    found = measure_vulnerable_share(some, ItemsetRequirement(without_top=0.2, sigma=1))
    known_for_sure = [6, 7, 8, 9]
    pairs = math.comb(len(known_for_sure), 2) + 2  # and {2, 3}, {4, 5} as sets
    assert (found.itemsets, found.share) == (28, pytest.approx(pairs / 28))
    assert found.is_tolerable is False


def test_classes_of_itemsets_have_their_own_thresholds() -> None:
    some = Beliefs.from_exact_counts([5, 5, 5, 2, 1])
    strict, lax = (
        ItemsetRequirement.from_itemsets([[0, 1], [3, 4]], sigma=0.3),
        ItemsetRequirement.from_itemsets([[0, 1], [0, 1, 2, 3]], sigma=0.5, tau=0.5),
    )
    assert [measure_vulnerable_share(some, x).share for x in (strict, lax)] == [1, 0.5]
    assert [measure_vulnerable_share(some, x).is_tolerable for x in (strict, lax)] == [False, True]


def test_a_sample_has_an_interval() -> None:
    """200 items, of which 100 are certain: of the triples about an eighth. 95 % of such intervals hold the truth."""
    some = Beliefs.from_exact_counts(np.append(np.arange(100), np.full(100, 500)))
    found = measure_vulnerable_share(some, ItemsetRequirement(3), Run(seed=1), sample=2000)
    truth = math.comb(100, 3) / math.comb(200, 3)
    assert (found.method, found.inspected_count, found.itemsets) == ("simulation", 2000, math.comb(200, 3))
    assert found.interval[0] < truth < found.interval[1] and found.interval[1] - found.interval[0] < 0.04
    assert found == measure_vulnerable_share(some, ItemsetRequirement(3), Run(seed=1), sample=2000)


@pytest.mark.parametrize(
    "theta", [ItemsetRequirement(), ItemsetRequirement(1), ItemsetRequirement(3), ItemsetRequirement.from_itemsets([])]
)
@pytest.mark.parametrize("counts", [[], [3], [1, 2]])
def test_few_items(counts: list[int], theta: ItemsetRequirement) -> None:
    """All there are, however few, are certain."""
    found = measure_vulnerable_share(Beliefs.from_exact_counts(counts), theta)
    assert (found.method, found.share) == ("exact", 1 if found.itemsets else 0)


def test_no_consistent_mapping() -> None:
    """Exact shares need one; OS does not, and is what the degrees say."""
    some = Beliefs.from_intervals([1, 1], [1, 1], [1, 2])
    with pytest.raises(InfeasibleError):
        measure_vulnerable_share(some)
    assert estimate_vulnerable_share(some) == 1


def test_many_types_are_gone_through_in_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 60, 40)
    some = Beliefs.from_half_width(counts, rng.integers(0, 3, 40))
    whole = measure_vulnerable_share(some, ItemsetRequirement(sigma=0.2))
    monkeypatch.setattr("unveil.items.pair_types._CELLS", 7)
    assert measure_vulnerable_share(some, ItemsetRequirement(sigma=0.2)) == whole
    monkeypatch.setattr("unveil.items.pair_types._OPEN", 0)
    capped = measure_vulnerable_share(some, ItemsetRequirement(sigma=0.2))
    assert capped.interval[0] <= whole.share <= capped.interval[1]
