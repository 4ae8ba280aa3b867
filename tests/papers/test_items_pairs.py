"""Published and recomputed values of pairs that are bought together (Lakshmanan, Ng and Ramesh 2008, section 7.3)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unveil
from unveil import Transactions
from unveil.items.beliefs import Beliefs
from unveil.items.correlation import identify_and_filter
from unveil.items.frequency_groups import FrequencyGroups
from unveil.items.item_pairs import top_pairs
from unveil.matching.candidates import Candidates
from unveil.matching.solver import solve

EIGHT = [(85, 86), (34, 85), (34, 86), (85, 90), (34, 90), (86, 90), (36, 85), (36, 86)]


@pytest.fixture(scope="module")
def mushroom(data: Path) -> Transactions:
    transactions = unveil.read(data / "transactions" / "mushroom.dat")
    assert isinstance(transactions, Transactions)
    return transactions


def test_the_eight_most_frequent_pairs_of_mushroom(mushroom: Transactions) -> None:
    found = top_pairs(mushroom, 8)
    labels = [int(label) for label in mushroom.labels.to_pylist()]
    assert [tuple(sorted((labels[a], labels[b]))) for a, b in zip(found.a, found.b, strict=True)] == EIGHT
    assert found.counts.tolist() == [7924, 7914, 7906, 7488, 7296, 7288, 6812, 6620]


@pytest.mark.parametrize(("w", "o_estimate", "expected"), [(1, 48.21435, 49.85113), (2, 47.71435, 48.85113)])
def test_knowing_pairs_of_mushroom(mushroom: Transactions, w: int, o_estimate: float, expected: float) -> None:
    """The third pair adds no item to the second, so that it adds nothing (as section 7.3 says); recomputed values."""
    candidates = Beliefs.from_half_width(
        mushroom.counts, FrequencyGroups.from_counts(mushroom.counts).median_gap
    ).candidates
    pairs = top_pairs(mushroom, 100)
    after = [identify_and_filter(candidates, pairs.take_first(k), pairs.take_first(k)) for k in (w, 2, 3)]
    assert estimated_and_expected(candidates) == pytest.approx((47.71435, 48.85113), abs=1e-5)
    assert estimated_and_expected(after[0]) == pytest.approx((o_estimate, expected), abs=1e-5)
    assert estimated_and_expected(after[1]) == estimated_and_expected(after[2])


def estimated_and_expected(candidates: Candidates) -> tuple[float, float]:
    """The O-estimate, over the items that may have their own pseudonym, and the expected cracks."""
    own = candidates.find_edges(np.arange(candidates.n), np.arange(candidates.n)) >= 0
    solved = solve(candidates, may_exclude_truth=True)
    return float((1 / candidates.degrees[own]).sum()), solved.expected_cracks
