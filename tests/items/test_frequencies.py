"""What frequencies give away, against the lemmas, brute force and the paper's example."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_items
from reference import naive_matching as naive
from unveil import Transactions
from unveil.items.beliefs import Beliefs
from unveil.items.frequency_groups import FrequencyGroups
from unveil.matching import solve

BIGMART = [list(basket) for basket in ["123", "1234", "46", "3456", "56", "6", "12", "134", "135", "246"]]


def expected_cracks(counts: list[int]) -> float:
    """The mean number of items a consistent guess names correctly, over all consistent guesses."""
    n = len(counts)
    guesses = [p for p in permutations(range(n)) if all(counts[p[i]] == counts[i] for i in range(n))]
    return sum(sum(p[i] == i for i in range(n)) for p in guesses) / len(guesses)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_the_number_of_groups_is_the_mean_over_all_consistent_guesses(counts: list[int]) -> None:
    sizes = FrequencyGroups.from_counts(counts).own_group_sizes
    assert float((1 / sizes).sum()) == pytest.approx(expected_cracks(counts))


def test_bigmart() -> None:
    """Lakshmanan, Ng and Ramesh 2008: frequencies .5 .4 .5 .5 .3 .5 in ten transactions; 3 groups, 6 items."""
    wanted = {"1": 5, "2": 4, "3": 5, "4": 5, "5": 3, "6": 5}
    baskets = [[item for item, n in wanted.items() if n > i] or ["1"] for i in range(5)]
    found = unveil.assess(Transactions.from_baskets(baskets))["items.point_knowledge"]
    assert found.value == pytest.approx(3 / 6)
    assert found.baseline == pytest.approx(1 / 6)
    assert found.method == "exact"
    cracks = unveil.assess(Transactions.from_baskets(BIGMART))["items.expected_cracks"]
    h = Beliefs.from_intervals([0, 4, 5, 4, 1, 5], [10, 5, 5, 6, 4, 5], [5, 4, 5, 5, 3, 5])
    assert h.alpha == 1
    assert cracks.subjects == 6


def test_the_belief_functions_of_bigmart() -> None:
    """Figures 2 and 3: f exact, g ignorant, h compliant, k right about half; the edges of h."""
    counts = np.array([5.0, 4, 5, 5, 3, 5])
    f, g = Beliefs.from_exact_counts(counts), naive_items.from_ignorance(counts)
    h = Beliefs.from_intervals([0, 4, 5, 4, 1, 5], [10, 5, 5, 6, 4, 5], counts)
    k = Beliefs.from_intervals([1, 5, 1, 4, 1, 5], [4, 5, 3, 6, 4, 5], counts)
    assert [b.alpha for b in (f, g, h, k)] == [1, 1, 1, 0.5]
    assert k.compliant.tolist() == [False, False, False, True, True, True]
    assert (g.candidates.to_matrix() == 1).all()
    edges = h.candidates.to_matrix()
    half, fourth, third = [1, 2, 3, 4, 6], [1, 2, 4, 5], [1, 5]
    mapped_to = [half, fourth, half, half, third, half]
    assert [(np.flatnonzero(edges[:, j]) + 1).tolist() for j in range(6)] == mapped_to
    alike = [1, 3, 4, 6]
    by_f = [(np.flatnonzero(f.candidates.to_matrix()[:, j]) + 1).tolist() for j in range(6)]
    assert by_f == [alike, [2], alike, alike, [5], alike]
    classes = h.candidates.entry_class
    assert classes[1] == classes[3], "Figure 3(b): 2 and 4 have different intervals and the same candidates"
    assert classes[2] == classes[5]
    assert len(set(classes.tolist())) == 4
    found = [solve(b.candidates, may_exclude_truth=True).expected_cracks for b in (f, g, h)]
    assert found == pytest.approx([3, 1, float(np.trace(naive.marginals(edges)))])
    assert naive_items.is_within(f, h)
    assert naive_items.is_within(h, g)
    assert not naive_items.is_within(g, h)
    assert naive_items.is_at_least_as_right(f, h)
    assert naive_items.is_at_least_as_right(f, Beliefs.from_intervals(k.low, k.high, counts))
    assert not naive_items.is_at_least_as_right(k, f)


def test_exposed_items_are_numbers_unless_revealed() -> None:
    baskets = Transactions.from_baskets([["milk", "CANARY"], ["milk"], ["milk", "bread"]])
    hidden = unveil.assess(baskets)["items.point_knowledge"].exposed
    assert (hidden[0].subject, hidden[0].risk, hidden[0].values) == ("1st item", 1.0, None)
    assert [e.risk for e in hidden] == [1.0, 0.5, 0.5]
    revealed = unveil.assess(baskets, reveal=True)["items.point_knowledge"].exposed
    assert revealed[0].values == {"item": "milk"}


def test_equal_frequencies_are_released() -> None:
    baskets = Transactions.from_baskets([[str(i)] for i in range(20)])
    found = unveil.assess(baskets)
    assert found["items.point_knowledge"].value == pytest.approx(1 / 20)
    assert found.verdict.decision == "release"
