"""Lakshmanan, Ng and Ramesh 2008, sections 2 to 4 and 6.3, corrected where a lemma or print is wrong."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import unveil
from reference import naive_items
from unveil.items.beliefs import Beliefs
from unveil.items.degree_estimates import o_estimate, os_estimates
from unveil.items.extreme_knowledge import exact_chance, exact_cracks, ignorant_chance
from unveil.items.frequency_groups import FrequencyGroups
from unveil.items.itemsets import ItemsetRequirement, itemset_chances, measure_vulnerable_share
from unveil.matching import Candidates
from unveil.matching.set_cracks import set_crack_probability

BIGMART = FrequencyGroups.from_counts([0.5, 0.4, 0.5, 0.5, 0.3, 0.5])
FIGURE_6B = Candidates.from_matrix([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 1, 1]])


@cache
def median_gap(data: Path, name: str) -> Beliefs:
    counts = unveil.read(data / "transactions" / f"{name}.dat").counts
    return Beliefs.from_half_width(counts, FrequencyGroups.from_counts(counts).median_gap)


def test_bigmart() -> None:
    """Section 3: {1, 2} by someone ignorant; {2, 3, 4} by someone exact, whose group of .5 is {1, 3, 4, 6}."""
    assert ignorant_chance(6, 2) == pytest.approx(1 / 15)
    assert exact_chance(BIGMART, [1, 2, 3]) == pytest.approx(1 / 6)
    assert itemset_chances(Beliefs.from_exact_counts([5, 4, 5, 5, 3, 5]), [[1, 2, 3]])[0] == pytest.approx(1 / 6)


def test_example_of_lemma_3_5() -> None:
    assert exact_cracks([25] * 4, 3) == pytest.approx(20)


def test_figure_6a() -> None:
    """Degrees 1, 2, 3, 4: O is 25/12, and 4 once what is forced is taken out."""
    stairs = Beliefs.from_intervals([1, 1, 1, 1], [1, 2, 3, 4], [1, 2, 3, 4])
    assert o_estimate(stairs, propagate=False) == pytest.approx(25 / 12)
    assert o_estimate(stairs) == 4


@pytest.mark.parametrize(("pair", "by_os", "exact"), [([0, 1], 1, 1), ([0, 2], 1 / 6, 1 / 4), ([1, 2], 1 / 3, 1 / 4)])
def test_figure_6b(pair: list[int], by_os: float, exact: float) -> None:
    """OS errs on either side."""
    assert os_estimates(FIGURE_6B, [pair]) == pytest.approx(by_os)
    assert set_crack_probability(FIGURE_6B, pair).value == pytest.approx(exact)
    assert itemset_chances(FIGURE_6B, [pair])[0] == pytest.approx(exact)


def test_lemmas_4_5_and_4_6_are_false() -> None:
    """Frequencies .3 .4 .5, all intervals right: N(3) grows from {2′, 3′} to {1′, 2′, 3′}, and OS({1, 3}) rises."""
    narrow = Beliefs.from_intervals([0.3, 0.3, 0.4], [0.3, 0.5, 0.5], [0.3, 0.4, 0.5])
    wide = Beliefs.from_intervals([0.3, 0.3, 0.3], [0.3, 0.5, 0.5], [0.3, 0.4, 0.5])
    assert naive_items.is_within(narrow, wide) and naive_items.is_at_least_as_right(narrow, wide)
    assert os_estimates(narrow, [[0, 2]]) == pytest.approx(1 / 2)
    assert os_estimates(wide, [[0, 2]]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(("name", "found"), [("chess", 40.16667), ("mushroom", 47.71435), ("retail", 301.96075)])
def test_o_estimates(data: Path, name: str, found: float) -> None:
    """Around the true frequency by one width for all, who may be whom is mutual: nothing is forced one-sidedly."""
    assert o_estimate(median_gap(data, name), propagate=False) == pytest.approx(found, abs=5e-6)
    assert o_estimate(median_gap(data, name)) == pytest.approx(found, abs=5e-6)


@pytest.mark.parametrize(
    ("name", "without_top", "exact", "by_os"),
    [
        ("chess", 0, 603 / 2775, 559 / 2775),
        ("chess", 0.2, 480 / 1770, 459 / 1770),
        ("mushroom", 0, 962 / 7021, 961 / 7021),
        ("mushroom", 0.1, 468 / 5671, 467 / 5671),
        ("mushroom", 0.2, 158 / 4465, 157 / 4465),
        ("retail", 0, 15285 / 135_622_215, 15032 / 135_622_215),
    ],
)
def test_vulnerable_pairs(data: Path, name: str, without_top: float, exact: float, by_os: float) -> None:
    """Θ₀, Θ₁ and Θ₂ of section 2.3 at σ = .5, exactly and by OS; all 135 million pairs of retail are decided."""
    found = measure_vulnerable_share(median_gap(data, name), ItemsetRequirement(without_top=without_top))
    assert (found.method, found.undecided_count) == ("exact", 0)
    assert found.share == pytest.approx(exact, rel=1e-6)
    assert found.estimate == pytest.approx(by_os, rel=1e-6)


def test_figure_18(data: Path) -> None:
    """Mushroom, random itemsets of 4: OS is .0304 in print. The exact mean is near it, fifteen times what the paper
    simulated (.00196): OS is not the overestimate it is said to be."""
    some = median_gap(data, "mushroom")
    rng = np.random.default_rng(18)
    sets = np.array([rng.choice(some.n, 4, replace=False) for _ in range(2000)])
    low, high = itemset_chances(some, sets)
    assert np.array_equal(low, high)
    assert low.mean() == pytest.approx(0.031, abs=0.006)  # three standard errors
    assert os_estimates(some, sets).mean() == pytest.approx(0.0304, abs=0.006)
    few = sets[:20]
    assert low[:20] == pytest.approx([set_crack_probability(some.candidates, x.tolist()).value for x in few])
