"""Randomised response: exact probabilities, unbiased estimates, intervals that hold."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from reference.exact_noise import chi_squared
from unveil.dp.mechanisms.randomised_response import (
    estimate_counts,
    randomise_answer,
    randomise_answers,
    truth_probability,
)
from unveil.errors import UnveilError

_ERROR_RATE = 1e-6


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 50), st.decimals("0.001", "12", places=3).map(Fraction))
def test_the_loss_is_epsilon_and_not_more(answers: int, epsilon: Fraction) -> None:
    """ln(p(m − 1)/(1 − p)) with 50 digits: at most ε, and above it for the next larger p."""
    truth = truth_probability(answers, epsilon)

    def loss(p: Fraction) -> Decimal:
        ratio = p * (answers - 1) / (1 - p)
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()

    with localcontext() as context:
        context.prec = 50
        exact = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        assert loss(truth) <= exact < loss(truth + Fraction(1, 2**64))


@pytest.mark.parametrize(("answers", "truth"), [(2, 0), (2, 1), (5, 3)])
def test_what_is_said_has_its_exact_probabilities(answers: int, truth: int) -> None:
    epsilon = Fraction("1.5")
    growth = math.exp(1.5)

    def probability(said: int) -> float:
        return (growth if said == truth else 1.0) / (growth + answers - 1)

    many = randomise_answers(np.full(20_000, truth), answers, epsilon)
    assert chi_squared(many.tolist(), probability, range(answers)) > _ERROR_RATE
    one_by_one = [randomise_answer(truth, answers, epsilon) for _ in range(5_000)]
    assert chi_squared(one_by_one, probability, range(answers)) > _ERROR_RATE


def test_estimates_are_unbiased_and_intervals_hold() -> None:
    truths = np.repeat([0, 1, 2], [400, 90, 10])
    epsilon, runs = Fraction(1), 400
    values, hits = np.zeros(3), np.zeros(3, np.int64)
    for _ in range(runs):
        said = np.bincount(randomise_answers(truths, 3, epsilon), minlength=3)
        found = estimate_counts(said.tolist(), epsilon, 0.9)
        values += [count.value for count in found]
        hits += [
            count.interval[0] <= true <= count.interval[1] for count, true in zip(found, (400, 90, 10), strict=True)
        ]
    p, q = float(truth_probability(3, epsilon)), float((1 - truth_probability(3, epsilon)) / 2)
    error = math.sqrt(500 * 0.25 / runs) / (p - q)  # at most, of a mean
    assert np.abs(values / runs - [400, 90, 10]).max() < 5.3 * error
    for hit in hits:
        assert binomtest(int(hit), runs, 0.9, alternative="less").pvalue > _ERROR_RATE


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(0, 12))
def test_intervals_hold_exactly_in_small_groups(yes: int, no: int) -> None:
    """All outcomes of up to 24 people, summed with their probabilities."""
    if not yes + no:
        return
    epsilon, confidence = Fraction(2), 0.8
    p = float(truth_probability(2, epsilon))
    held = Counter[bool]()
    for true_yes in range(yes + 1):
        for false_yes in range(no + 1):
            chance = (
                math.comb(yes, true_yes) * p**true_yes * (1 - p) ** (yes - true_yes)
                * math.comb(no, false_yes) * (1 - p) ** false_yes * p ** (no - false_yes)
            )  # fmt: skip
            said = true_yes + false_yes
            low, high = estimate_counts([said, yes + no - said], epsilon, confidence)[0].interval
            held[low <= yes <= high] += chance  # type: ignore[assignment]
    assert held[True] >= confidence


def test_estimates_add_up_to_the_people() -> None:
    found = estimate_counts([70, 20, 10], Fraction(1))
    assert sum(count.value for count in found) == pytest.approx(100)
    assert found[0].value > 70 > 20 > found[2].value
    assert all(0 <= count.interval[0] <= count.interval[1] <= 100 for count in found)


def test_impossible_parameters_are_refused() -> None:
    for answer, answers, epsilon, complaint in (
        (0, 1, Fraction(1), "must be at least 2"),
        (2, 2, Fraction(1), "answer must be at most 1"),
        (-1, 2, Fraction(1), "answer must be at least 0"),
        (0, 2, Fraction(0), "epsilon must be above 0"),
        (0, 2, float("nan"), "epsilon must be finite"),
        (0, 2, Fraction(1000), "every answer would be true"),
    ):
        with pytest.raises(UnveilError, match=complaint):
            randomise_answer(answer, answers, epsilon)  # type: ignore[arg-type]
    for truths in ([0, 2], [-1], [0.5], [[0, 1]]):
        with pytest.raises(UnveilError, match="whole numbers from 0 to 1"):
            randomise_answers(truths, 2, Fraction(1))
    for counts, confidence, complaint in (
        ([], 0.9, "there are no counts"),
        ([0, 0], 0.9, "nor all 0"),
        ([-1, 2], 0.9, "must not be negative"),
        ([1, 2], 0.3, "at least 50%"),
        ([1], 0.9, "must be at least 2"),
    ):
        with pytest.raises(UnveilError, match=complaint):
            estimate_counts(counts, Fraction(1), confidence)
