"""k-anonymous degree sequences against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference.naive_degree_sequences import all_targets, least_cost, least_cost_of_sorted, target_cost
from unveil.errors import UnveilError
from unveil.network.protections.degree_sequences import anonymise_degrees, is_k_anonymous

PRICES = st.sampled_from([None, 1.0, 0.5, 2.0, 0.25, 7.0, 1.3])


@st.composite
def sequences(draw: st.DrawFn, most: int, least_k: int = 1) -> tuple[list[int], int]:
    n = draw(st.integers(least_k, most))
    return draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)), draw(st.integers(least_k, n))


def check_targets(degrees: list[int], k: int, price: float | None, even_sum: bool) -> float:
    """What the targets cost; they must be what they are said to be."""
    targets = anonymise_degrees(np.array(degrees, np.int64), k, price, even_sum)
    assert targets.dtype == np.int64
    assert is_k_anonymous(targets, k)
    assert all(0 <= t < len(degrees) for t in targets)
    assert not even_sum or targets.sum() % 2 == 0
    return target_cost(degrees, targets.tolist(), price)


@settings(max_examples=60, deadline=None)
@given(sequences(5), PRICES, st.booleans())
def test_no_vector_is_cheaper(given_: tuple[list[int], int], price: float | None, even_sum: bool) -> None:
    degrees, k = given_
    assert check_targets(degrees, k, price, even_sum) == pytest.approx(least_cost(degrees, k, price, even_sum))


@settings(max_examples=120, deadline=None)
@given(sequences(12, least_k=2), PRICES, st.booleans())
@example(([3, 3, 3, 2, 2, 1], 2), None, True)
@example(([7, 7, 7, 0, 0, 0, 0, 0], 3), None, True)  # 8 would be the nearest other parity of the first three
@example(([7, 7, 7, 7, 7, 0, 0, 0], 3), 0.5, True)  # and −1 that of the last three
def test_no_sorted_vector_is_cheaper(given_: tuple[list[int], int], price: float | None, even_sum: bool) -> None:
    degrees, k = given_
    expected = least_cost_of_sorted(degrees, k, price, even_sum)
    assert check_targets(degrees, k, price, even_sum) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=1, max_size=8), st.data())
def test_long_runs_cost_what_they_cost_in_full(parts: list[tuple[int, int]], data: st.DataObject) -> None:
    """The dynamic programme over all nodes with no limit on the size of a group, as in equation 9.5."""
    degrees = [degree for degree, size in parts for _ in range(size)] + [0] * 41
    k, price, even_sum = data.draw(st.integers(1, 4)), data.draw(PRICES), data.draw(st.booleans())
    assert check_targets(degrees, k, price, even_sum) == pytest.approx(plain_programme(degrees, k, price, even_sum))


def plain_programme(degrees: list[int], k: int, price: float | None, even_sum: bool) -> float:
    falling = sorted(degrees, reverse=True)
    best = [{0: 0.0}] + [dict[int, float]() for _ in degrees]
    for end in range(k, len(falling) + 1):
        for begin in [b for b in range(end - k + 1) if best[b] and end - b <= 3 * k]:
            group = falling[begin:end]
            for target in range(max(0, group[-1] - 1), group[0] + 2):
                cost = target_cost(group, [target] * len(group), price)
                for parity, before in best[begin].items():
                    after = (parity + target * len(group)) % 2
                    best[end][after] = min(best[end].get(after, float("inf")), before + cost)
    return best[-1][0] if even_sum else min(best[-1].values())


def test_the_example_of_figure_9_2() -> None:
    degrees = np.array([3, 3, 3, 2, 2, 1])
    assert anonymise_degrees(degrees, 2).tolist() == [3, 3, 3, 2, 2, 2]
    assert anonymise_degrees(degrees, 2, even_sum=True).tolist() == [3, 3, 3, 3, 2, 2]


def test_targets_come_in_the_order_given() -> None:
    assert anonymise_degrees(np.array([1, 3, 2, 3, 2, 3]), 2).tolist() == [2, 3, 2, 3, 2, 3]


def test_lowering_is_left_alone_when_it_is_dear_and_used_when_it_is_cheap() -> None:
    degrees = np.array([9, 5, 5, 1, 1, 1, 1, 1, 1, 1])
    for price in (1e30, float("inf")):
        assert anonymise_degrees(degrees, 3, price).tolist() == anonymise_degrees(degrees, 3).tolist()
    assert anonymise_degrees(degrees, 3, 0.01).tolist() == [5, 5, 5, *[1] * 7]


def test_few_nodes() -> None:
    assert anonymise_degrees(np.empty(0, np.int64), 3).tolist() == []
    assert anonymise_degrees(np.array([0]), 1, even_sum=True).tolist() == [0]
    assert anonymise_degrees(np.array([1, 0]), 2, even_sum=True).tolist() == [1, 1]
    assert anonymise_degrees(np.array([1, 0]), 2, 0.5).tolist() == [0, 0]
    assert is_k_anonymous(np.empty(0, np.int64), 5)


@pytest.mark.parametrize(
    ("degrees", "k", "price", "says"),
    [
        ([1, 1], 3, None, "k is 3 but there are only 2 nodes"),
        ([1, 1], 0, None, "k must be at least 1"),
        ([1, 2], 1, None, "not below the number of nodes"),
        ([-1, 0], 1, None, "below 0"),
        ([1, 1], 1, 0.0, "lowering_price must be positive"),
        ([1, 1], 1, float("nan"), "lowering_price must be positive"),
    ],
)
def test_impossible_wishes(degrees: list[int], k: int, price: float | None, says: str) -> None:
    with pytest.raises(UnveilError, match=says):
        anonymise_degrees(np.array(degrees), k, price)


def test_the_exhaustive_search_knows_all_vectors() -> None:
    assert sorted(all_targets(3, 3)) == [(0, 0, 0), (1, 1, 1), (2, 2, 2)]
    assert len(list(all_targets(4, 2))) == 4 + 6 * 6  # all alike, or two pairs of different numbers
