"""The recipe for itemsets against all subsets, all orders and all mappings, listed."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_items
from unveil import Case, Policy, Transactions
from unveil.items.beliefs import Beliefs
from unveil.items.itemset_recipe import assess_risk_itemsets
from unveil.items.itemsets import (
    ItemsetRequirement,
    estimate_vulnerable_share,
    itemset_chances,
    measure_vulnerable_share,
)
from unveil.items.mixed_up_itemsets import MixedUpItemsets, assess_mixed_up_itemsets
from unveil.matching import Budget
from unveil.matching.blocks import InfeasibleError


@st.composite
def beliefs(draw: st.DrawFn, most: int = 6) -> Beliefs:
    """Small counts and intervals that hold them."""
    counts = np.array(draw(st.lists(st.integers(1, 5), min_size=2, max_size=most)))
    wide = st.lists(st.integers(0, 2), min_size=len(counts), max_size=len(counts))
    return Beliefs.from_intervals(counts - draw(wide), counts + draw(wide), counts)


def dangerous(some: Beliefs, k: int, sigma: float) -> list[tuple[int, ...]]:
    """The vulnerable k-itemsets, by listing all consistent mappings."""
    graph = naive_items.possible_pairs(some.low.tolist(), some.high.tolist(), some.counts.tolist())
    return [x for x, p in naive_items.itemset_chances(graph, k).items() if p >= sigma - 1e-9]


def share(some: Beliefs, k: int, sigma: float) -> float:
    return len(dangerous(some, k, sigma)) / math.comb(some.n, k)


def scan(shares: list[float], tau: float) -> float | None:
    """How far the shares of 0, 1, … n right items are tolerated, from the first on."""
    right = -1
    while right + 1 < len(shares) and shares[right + 1] <= tau + 1e-12:
        right += 1
    return None if right < 0 else right / (len(shares) - 1)


@settings(max_examples=60, deadline=None)
@given(beliefs(), st.integers(1, 3), st.sampled_from([0.25, 0.5, 1]), st.sampled_from([0, 0.1, 0.3]))
def test_excluded_items_are_the_mean_over_all_subsets(some: Beliefs, k: int, sigma: float, tau: float) -> None:
    k = min(k, some.n)
    sets = dangerous(some, k, sigma)
    shares = []
    for m in range(some.n + 1):
        left = [sum(set(x) <= set(right) for x in sets) for right in combinations(range(some.n), m)]
        shares.append(sum(left) / len(left) / math.comb(some.n, k))
    found = assess_risk_itemsets(some, ItemsetRequirement(k, sigma=sigma, tau=tau))
    assert found.excluded_shares == pytest.approx(shares)
    assert found.alpha_max == pytest.approx(scan(shares, tau))
    assert found.interval == (found.alpha_max, found.alpha_max)
    assert found.known_exactly.share == pytest.approx(share(Beliefs.from_exact_counts(some.counts), k, sigma))
    assert found.known_roughly.share == pytest.approx(shares[-1])
    assert (found.last_step == 3) == (shares[-1] > tau + 1e-12)


def test_listed_itemsets_of_several_sizes() -> None:
    """Known for sure: a single item is left with probability m/5, a pair with m(m − 1)/20."""
    found = assess_risk_itemsets(
        Beliefs.from_exact_counts([1, 2, 3, 4, 5]), ItemsetRequirement.from_itemsets([[0], [1, 2], [3, 4]])
    )
    assert found.excluded_shares == pytest.approx([(m / 5 + 2 * m * (m - 1) / 20) / 3 for m in range(6)])
    assert (found.last_step, found.alpha_max) == (3, 0.2)


def mixtures(n: int, right: int) -> list[np.ndarray]:
    """Every way to be right about some items and to mix up all others: whose interval each item has."""
    found = []
    for wrong in combinations(range(n), n - right):
        for order in permutations(wrong):
            if len(wrong) == 1 or all(i != j for i, j in zip(wrong, order, strict=True)):
                has = np.arange(n)
                has[list(wrong)] = order
                found.append(has)
    return found


@settings(max_examples=15, deadline=None)
@given(beliefs(most=5), st.integers(1, 3), st.sampled_from([0.25, 0.5, 1]), st.sampled_from([0, 0.1, 0.3]))
def test_mixed_up_sets_were_the_mean_of_five_draws(some: Beliefs, k: int, sigma: float, tau: float) -> None:
    """The mean over all choices of right items, all ways to mix up the others, and all mappings, listed."""
    k = min(k, some.n)
    shares = [
        np.mean([share(some.swap_items(has), k, sigma) for has in mixtures(some.n, m)]) for m in range(some.n + 1)
    ]
    found = mixed_up(some, ItemsetRequirement(k, sigma=sigma, tau=tau))
    assert found.is_exact
    assert found.share == pytest.approx(shares)
    assert found.alpha_max == (scan(found.share.tolist(), tau),) * 2


def mixed_up(some: Beliefs, theta: ItemsetRequirement, **options: int) -> MixedUpItemsets:
    return assess_mixed_up_itemsets(some, assess_risk_itemsets(some, theta), **options)


def test_a_sample_of_mixed_up_sets_has_an_interval() -> None:
    some = Beliefs.from_half_width(np.arange(1, 10) ** 2 // 5, 3)
    for theta in (ItemsetRequirement(), ItemsetRequirement(3), ItemsetRequirement.from_itemsets([[0], [1, 2], [3, 4]])):
        exact, drawn = mixed_up(some, theta), mixed_up(some, theta, most=0, sample=200)
        assert exact.is_exact and not drawn.is_exact
        assert (drawn.low <= exact.share + 1e-12).all() and (exact.share <= drawn.high + 1e-12).all()
        least, most = drawn.alpha_max
        assert (least or 0) <= (exact.alpha_max[0] or 0) <= (most or 0)
        assert drawn.share.tolist() == mixed_up(some, theta, most=0, sample=200).share.tolist()


def moves(n: int) -> int:
    """The permutations of n items that move each of them."""
    return sum((-1) ** k * math.comb(n, k) * math.factorial(n - k) for k in range(n + 1))


def test_where_the_tolerance_is_crossed() -> None:
    """Nine items known for sure. Of 36 pairs m(m − 1)/2 are left of m right ones; six (a sixth) with four."""
    nine = Beliefs.from_exact_counts(np.arange(9))
    for tau, right in ((0.0, 1), (1 / 36, 2), (1 / 6, 4), (0.1666, 3), (1.0, 9)):
        assert assess_risk_itemsets(nine, ItemsetRequirement(tau=tau)).alpha_max == pytest.approx(right / 9)
    mixed = mixed_up(nine, ItemsetRequirement(tau=0.2))
    exchanged = [math.comb(9 - m, 2) * moves(7 - m) / moves(9 - m) for m in range(8)]  # a pair taken for each other
    by_hand = [(m * (m - 1) / 2 + more) / 36 for m, more in enumerate(exchanged)] + [1, 1]
    assert mixed.share == pytest.approx(by_hand)
    assert mixed.alpha_max == (pytest.approx(4 / 9),) * 2


def test_an_itemset_of_all_items_is_always_cracked() -> None:
    found = mixed_up(Beliefs.from_exact_counts([1, 2, 3]), ItemsetRequirement(3))
    assert found.share.tolist() == [1, 1, 1, 1]
    assert found.alpha_max == (None, None)


def test_each_step_stops_where_it_should() -> None:
    same, near = Beliefs.from_half_width([7] * 20, 1), Beliefs.from_half_width(np.arange(1, 21), 12)
    assert assess_risk_itemsets(same).last_step == 1
    roughly = assess_risk_itemsets(near)
    assert (roughly.last_step, roughly.known_exactly.share, roughly.alpha_max) == (2, 1, 1)
    assert assess_risk_itemsets(Beliefs.from_exact_counts(np.arange(20))).last_step == 3
    nothing = assess_risk_itemsets(Beliefs.from_exact_counts([]), ItemsetRequirement())
    assert (nothing.last_step, nothing.alpha_max) == (1, 1)


def test_what_is_undecided_makes_an_interval() -> None:
    some = Beliefs.from_half_width(np.arange(12), 2)
    exact = assess_risk_itemsets(some, ItemsetRequirement(sigma=0.2))
    unsure = assess_risk_itemsets(
        some, ItemsetRequirement(sigma=0.2), budget=Budget(subsets=0, states=0, transitions=0)
    )
    assert unsure.known_roughly.method == "simulation"
    assert unsure.interval[0] == unsure.alpha_max <= exact.alpha_max <= unsure.interval[1]


def test_a_wrong_item_may_crack_within_its_set() -> None:
    """Two items taken for each other: neither is cracked, the pair is. OS says so too."""
    wrong = Beliefs.from_exact_counts([1, 2, 3]).swap_items(np.array([1, 0, 2]))
    low, high = itemset_chances(wrong, [[0, 1], [0, 2], [1, 2]])
    assert low.tolist() == high.tolist() == [1, 0, 0]
    assert measure_vulnerable_share(wrong, ItemsetRequirement(1)).share == pytest.approx(1 / 3)
    assert (measure_vulnerable_share(wrong).share, estimate_vulnerable_share(wrong)) == (
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
    )


def test_no_consistent_mapping() -> None:
    """There is no exact value and no recipe, however the intervals are dealt; OS is what the degrees say."""
    none = Beliefs.from_intervals([1, 1, 3], [1, 1, 3], [1, 2, 3])
    for instead in ([0, 1, 2], [0, 2, 1], [1, 2, 0]):
        dealt = none.swap_items(np.array(instead))
        with pytest.raises(InfeasibleError, match="no perfect matching"):
            measure_vulnerable_share(dealt)
        assert estimate_vulnerable_share(dealt, ItemsetRequirement(1)) <= 1
    assert estimate_vulnerable_share(none, ItemsetRequirement(1)) == pytest.approx(2 / 3)
    with pytest.raises(InfeasibleError):
        assess_risk_itemsets(none)


def baskets(counts: list[int]) -> Transactions:
    """Baskets in which item i occurs so many times."""
    return Transactions.from_baskets([[f"i{i}" for i, c in enumerate(counts) if c > b] for b in range(max(counts))])


def test_the_finding_tells_the_steps() -> None:
    data = baskets([k * k for k in range(1, 16)])
    pairs = {"items": {"itemsets": "pairs"}}
    told = unveil.assess(data, Policy(settings=pairs))["items.itemsets_vulnerable"]
    assert "Step 1, every frequency known: 100% are vulnerable, against a limit of 10%." in told.sentence
    assert "Step 3" in told.sentence
    assert "are mixed up with each other at random, the attacker may be right about no more than" in told.sentence
    excluded, elsewhere = told.curves
    assert isinstance(excluded, unveil.finding.Curve) and isinstance(elsewhere, unveil.finding.Curve)
    assert excluded.y[-1] == pytest.approx(told.value) and elsewhere.y[-1] == pytest.approx(told.value)
    assert excluded.mark is not None and 0 < excluded.mark < 1
    again = unveil.assess(data, Policy(settings=pairs))["items.itemsets_vulnerable"]
    assert (told.sentence, told.curves) == (again.sentence, again.curves)
    lax = unveil.assess(data, Policy(settings=pairs, tolerance={"items.itemsets_vulnerable": 1.0}))
    assert "That is within the limit, so the recipe ends here." in lax["items.itemsets_vulnerable"].sentence
    informing = unveil.assess(data)["items.itemsets_vulnerable"]
    assert "Step" not in informing.sentence and informing.curves == ()


def test_listed_itemsets_have_a_recipe_each() -> None:
    data = baskets([k * k for k in range(1, 16)])
    table = unveil.read(pa.table({"items": ["i13 i14", "i12 i13", "i0 i1"], "tau": ["0.2", "0.2", "1"]}))
    found = unveil.assess(Case(data, holds={"itemsets_file": table}))
    strict, lax = (("listed itemsets", f"tolerance {tau}") for tau in ("0.2", "1.0"))
    assert "against a limit of 20%" in found.find("items.itemsets_vulnerable", known=strict).sentence
    assert "the recipe ends here" in found.find("items.itemsets_vulnerable", known=lax).sentence
