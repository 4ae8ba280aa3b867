"""What frequencies give away, against the lemmas, brute force and the paper's example."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Transactions
from unveil.items.groups import group_sizes


def expected_cracks(counts: list[int]) -> float:
    """The mean number of items a consistent guess names correctly, over all consistent guesses."""
    n = len(counts)
    guesses = [p for p in permutations(range(n)) if all(counts[p[i]] == counts[i] for i in range(n))]
    return sum(sum(p[i] == i for i in range(n)) for p in guesses) / len(guesses)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_the_number_of_groups_is_the_mean_over_all_consistent_guesses(counts: list[int]) -> None:
    sizes = group_sizes(np.array(counts))
    assert float((1 / sizes).sum()) == pytest.approx(expected_cracks(counts))


def test_bigmart() -> None:
    """Lakshmanan, Ng and Ramesh 2008: frequencies .5 .4 .5 .5 .3 .5 in ten transactions; 3 groups, 6 items."""
    wanted = {"1": 5, "2": 4, "3": 5, "4": 5, "5": 3, "6": 5}
    baskets = [[item for item, n in wanted.items() if n > i] or ["1"] for i in range(5)]
    found = unveil.assess(Transactions.from_baskets(baskets))["items.point_knowledge"]
    assert found.value == pytest.approx(3 / 6)
    assert found.baseline == pytest.approx(1 / 6)
    assert found.method == "exact"


def test_exposed_items_are_numbers_unless_revealed() -> None:
    baskets = Transactions.from_baskets([["milk", "CANARY"], ["milk"], ["milk", "bread"]])
    hidden = unveil.assess(baskets)["items.point_knowledge"].exposed
    assert (hidden[0].subject, hidden[0].risk, hidden[0].values) == ("item 1", 1.0, None)
    assert [e.risk for e in hidden] == [1.0, 0.5, 0.5]
    revealed = unveil.assess(baskets, reveal=True)["items.point_knowledge"].exposed
    assert revealed[0].values == {"item": "milk"}


def test_equal_frequencies_are_released() -> None:
    baskets = Transactions.from_baskets([[str(i)] for i in range(20)])
    found = unveil.assess(baskets)
    assert found["items.point_knowledge"].value == pytest.approx(1 / 20)
    assert found.verdict.decision == "release"
