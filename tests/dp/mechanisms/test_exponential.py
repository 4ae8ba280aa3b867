"""Choosing a candidate: exact probabilities, what they lose, how far below the best they fall."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.exact_noise import (
    chi_squared,
    exponential_probabilities,
    permute_and_flip_by_orders,
    permute_and_flip_probabilities,
)
from unveil.dp.mechanisms.exponential import (
    choose_best,
    choose_exponentially,
    selection_accuracy,
    selection_scale,
)
from unveil.dp.mechanisms.opendp_library import load_opendp
from unveil.errors import UnveilError

_ERROR_RATE = 1e-6
_RUNS = 8_000

scores = st.lists(st.integers(-6, 6), min_size=1, max_size=5)
rates = st.sampled_from([0.1, 0.5, 1.0, 2.5])


@settings(max_examples=60, deadline=None)
@given(scores, rates)
def test_the_references_agree_and_permute_and_flip_is_never_worse(given_scores: list[int], rate: float) -> None:
    flip = permute_and_flip_probabilities(given_scores, rate)
    assert flip == pytest.approx(permute_and_flip_by_orders(given_scores, rate), abs=1e-12)
    exponential = exponential_probabilities(given_scores, rate)
    for t in range(1, 13):
        missed = [
            sum(p[i] for i, s in enumerate(given_scores) if s <= max(given_scores) - t) for p in (flip, exponential)
        ]
        assert missed[0] <= missed[1] + 1e-12


@pytest.mark.parametrize(
    ("choose", "exact"),
    [
        (choose_best, permute_and_flip_probabilities),
        (choose_exponentially, exponential_probabilities),
    ],
)
@pytest.mark.parametrize(("given_scores", "sensitivity", "epsilon", "monotone"), [
    ([3, 2, 0, 2], 1, Fraction(1), False),
    ([10**30, 10**30 - 3, 10**30 - 2], 2, Fraction(2), True),
])  # fmt: skip
def test_choices_have_their_exact_probabilities(
    choose: Callable[..., int],
    exact: Callable[[Sequence[int], float], list[float]],
    given_scores: list[int],
    sensitivity: int,
    epsilon: Fraction,
    monotone: bool,
) -> None:
    rate = float(epsilon) / (sensitivity * (1 if monotone else 2))
    probabilities = exact([score - max(given_scores) for score in given_scores], rate)
    draws = [choose(given_scores, sensitivity, epsilon, monotone) for _ in range(_RUNS)]
    assert chi_squared(draws, lambda i: probabilities[i], range(len(given_scores))) > _ERROR_RATE


@pytest.mark.parametrize("exact", [permute_and_flip_probabilities, exponential_probabilities])
def test_scores_of_neighbours_change_choices_by_at_most_epsilon(
    exact: Callable[[Sequence[int], float], list[float]],
) -> None:
    """All scores 0 … 3 of three candidates, all neighbours, ε = 1 and Δ = 1."""
    worst = {False: 0.0, True: 0.0}
    for before in product(range(4), repeat=3):
        for monotone in (False, True):
            p = exact(before, 1.0 if monotone else 0.5)
            for change in product((0, 1) if monotone else (-1, 0, 1), repeat=3):
                q = exact([a + b for a, b in zip(before, change, strict=True)], 1.0 if monotone else 0.5)
                worst[monotone] = max(worst[monotone], *(abs(math.log(a / b)) for a, b in zip(p, q, strict=True)))
    assert max(worst.values()) <= 1 + 1e-12
    assert min(worst.values()) > 0.9


def test_definition_6_3_loses_all_of_epsilon_in_the_end() -> None:
    p, q = exponential_probabilities([0, 60], 0.5)[0], exponential_probabilities([-1, 61], 0.5)[0]
    assert math.log(p / q) == pytest.approx(1)


@pytest.mark.parametrize("monotone", [False, True])
def test_opendp_says_at_most_epsilon(monotone: bool) -> None:
    opendp = load_opendp()
    for sensitivity, epsilon in product((1, 3, 10**6), (Fraction("0.1"), Fraction(1, 3), Fraction(7))):
        selector = opendp.m.make_noisy_max(
            opendp.vector_domain(opendp.atom_domain(T="i64")),
            opendp.linf_distance(T="i64", monotonic=monotone),
            opendp.max_divergence(),
            scale=selection_scale(sensitivity, epsilon, monotone),
        )
        assert epsilon * (1 - Fraction(1, 10**13)) < Fraction(selector.map(sensitivity)) <= epsilon


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), rates, st.sampled_from([0.5, 0.9, 0.99]))
def test_accuracy_holds(given_scores: list[int], rate: float, confidence: float) -> None:
    within = selection_accuracy(len(given_scores), 1, Fraction(2 * rate), confidence)
    for exact in (permute_and_flip_probabilities, exponential_probabilities):
        p = exact(given_scores, rate)
        hit = sum(p[i] for i, score in enumerate(given_scores) if score >= max(given_scores) - within)
        assert hit >= confidence - 1e-9


@pytest.mark.parametrize(("candidates", "rate", "confidence"), [(2, 0.5, 0.9), (6, 1.0, 0.5), (6, 0.1, 0.99)])
def test_accuracy_is_attained_by_the_exponential_mechanism(candidates: int, rate: float, confidence: float) -> None:
    """All others lie just as far below the best as the statement allows: they are chosen too often for one step
    less."""
    within = selection_accuracy(candidates, 1, Fraction(2 * rate), confidence)
    best = exponential_probabilities([within, *[0] * (candidates - 1)], rate)[0]
    assert within > 0 and best < confidence


def test_one_candidate_is_chosen_and_a_hopeless_one_is_not() -> None:
    assert choose_best([5], 1, Fraction(1)) == choose_exponentially([5], 1, Fraction(1)) == 0
    assert (
        choose_best([-(10**40), 10**40], 1, Fraction(1))
        == choose_exponentially([-(10**40), 10**40], 1, Fraction(1))
        == 1
    )


@pytest.mark.parametrize("choose", [choose_best, choose_exponentially])
def test_impossible_parameters_are_refused(choose: Callable[..., int]) -> None:
    for arguments, complaint in (
        (([], 1, Fraction(1)), "there are no candidates"),
        (([0.5], 1, Fraction(1)), "whole numbers"),
        (([1], 0, Fraction(1)), "sensitivity"),
        (([1], 1, Fraction(0)), "epsilon"),
        (([1], 1, float("inf")), "epsilon"),
    ):
        with pytest.raises(UnveilError, match=complaint):
            choose(*arguments)
    with pytest.raises(UnveilError, match="candidates must be at least 1"):
        selection_accuracy(0, 1, Fraction(1), 0.9)
