"""Laplace noise on integers: its distribution, its privacy, its accuracy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from reference.exact_noise import chi_squared, smallest_laplace_accuracy
from unveil.dp.mechanisms.laplace import (
    add_laplace,
    draw_laplace,
    epsilon_within,
    laplace_accuracy,
    laplace_probability,
    laplace_scale,
)
from unveil.dp.mechanisms.opendp_library import load_opendp
from unveil.errors import UnveilError

_ERROR_RATE = 1e-6  # how often each statistical test may fail by chance
_LN_2 = Fraction("0.693147180559945309417232")

epsilons = st.one_of(
    st.decimals("0.0001", "50", places=4).map(Fraction), st.fractions(Fraction(1, 997), 20, max_denominator=997)
)
sensitivities = st.one_of(st.integers(1, 100), st.integers(1, 2**45))


@settings(max_examples=60, deadline=None)
@given(sensitivities, epsilons)
def test_opendp_says_at_most_epsilon(sensitivity: int, epsilon: Fraction) -> None:
    opendp = load_opendp()
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    loss = Fraction(opendp.m.make_laplace(*space, scale=laplace_scale(sensitivity, epsilon)).map(sensitivity))
    assert epsilon * (1 - Fraction(1, 10**13)) < loss <= epsilon


@settings(max_examples=60, deadline=None)
@given(sensitivities, epsilons)
def test_the_scale_is_never_below_what_privacy_needs(sensitivity: int, epsilon: Fraction) -> None:
    scale = Fraction(laplace_scale(sensitivity, epsilon))
    assert sensitivity / epsilon <= scale <= sensitivity / epsilon * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize(("sensitivity", "epsilon", "reach"), [(1, Fraction(1), 7), (3, Fraction("0.7"), 25)])
def test_noise_has_its_exact_probabilities(sensitivity: int, epsilon: Fraction, reach: int) -> None:
    draws = draw_laplace(40_000, sensitivity, epsilon)
    q = math.exp(-float(epsilon) / sensitivity)

    def probability(z: int) -> float:
        return (1 - q) / (1 + q) * q ** abs(z)

    assert laplace_probability(4, sensitivity, epsilon) == pytest.approx(probability(4), rel=1e-12)
    assert chi_squared(draws, probability, range(-reach, reach + 1)) > _ERROR_RATE


def test_noise_does_not_depend_on_the_answer() -> None:
    answers = [7, -(10**30), 2**63 - 1, 10**30]
    noisy = np.array([add_laplace(answers, 1, Fraction(1)) for _ in range(10_000)], dtype=object) - answers
    for column in noisy.T:
        assert chi_squared([int(z) for z in column], lambda z: laplace_probability(z, 1, Fraction(1)), range(-5, 6)) > (
            _ERROR_RATE
        )


def test_noise_beyond_64_bits_is_distributed_as_within() -> None:
    """With b = 2⁶² the two ends are reached often; floor(Z/2⁶²) and the excess beyond them have known probabilities."""
    epsilon = Fraction("1.0001")
    draws = draw_laplace(20_000, 2**62, epsilon)
    places = [math.floor(abs(z) / 2**62) for z in draws]

    def probability(place: int) -> float:
        return math.exp(-place * 1.0001) * -math.expm1(-1.0001)

    assert max(places) >= 4
    assert chi_squared(places, probability, range(7)) > _ERROR_RATE
    assert binomtest(sum(z > 0 for z in draws), len(draws)).pvalue > _ERROR_RATE
    beyond = [abs(z) for z in draws if abs(z) >= 2**63]
    halves = sum((z - 2**63) / 2**62 > math.log(2) / 1.0001 for z in beyond)  # the median of the excess
    assert binomtest(halves, len(beyond)).pvalue > _ERROR_RATE


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 30),
    st.decimals("0.2", "5", places=2).map(Fraction),
    st.sampled_from([Fraction(1, 2), Fraction(9, 10), Fraction(19, 20), Fraction(999, 1000)]),
    st.integers(1, 40),
)
def test_accuracy_is_the_smallest(sensitivity: int, epsilon: Fraction, confidence: Fraction, answers: int) -> None:
    assert laplace_accuracy(sensitivity, epsilon, confidence, answers) == (
        smallest_laplace_accuracy(sensitivity, epsilon, confidence, answers)
    )


def test_accuracy_holds_at_its_rate() -> None:
    within = laplace_accuracy(2, Fraction("0.3"), 0.9)
    hits = sum(abs(z) <= within for z in draw_laplace(20_000, 2, Fraction("0.3")))
    assert binomtest(hits, 20_000, 0.9, alternative="less").pvalue > _ERROR_RATE
    together = laplace_accuracy(2, Fraction("0.3"), 0.9, answers=10)
    rows = np.abs(np.array(draw_laplace(50_000, 2, Fraction("0.3"))).reshape(-1, 10)).max(axis=1)
    assert binomtest(int((rows <= together).sum()), 5_000, 0.9, alternative="less").pvalue > _ERROR_RATE


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 10**6),
    st.integers(0, 10**6),
    st.sampled_from([0.01, 0.5, 0.95, 0.999]),
    st.integers(1, 100),
)
def test_epsilon_within_is_the_smallest_short_decimal(
    sensitivity: int, within: int, confidence: float, answers: int
) -> None:
    epsilon = epsilon_within(sensitivity, within, confidence, answers)
    assert laplace_accuracy(sensitivity, epsilon, confidence, answers) <= within
    exponent = math.floor(math.log10(epsilon)) - 3
    place = Fraction(10) ** exponent
    assert (epsilon / place).denominator == 1
    assert laplace_accuracy(sensitivity, epsilon - place, confidence, answers) > within


def test_figures_5_1_and_5_2() -> None:
    assert laplace_scale(1, _LN_2) == pytest.approx(1.442695, abs=1e-6)
    assert [laplace_probability(z, 1, _LN_2) for z in (0, 1, -2)] == pytest.approx([1 / 3, 1 / 6, 1 / 12])
    million = 10**6  # fixed point with six decimals comes close to the continuous distribution
    assert laplace_probability(0, million, _LN_2) * million == pytest.approx(0.346574, abs=1e-6)
    assert laplace_accuracy(million, _LN_2, 0.5) / million == pytest.approx(1, abs=2e-6)
    assert laplace_accuracy(million, _LN_2, 0.95) / million == pytest.approx(4.321928, abs=2e-6)

    def ratio(output: int) -> float:
        """Between true answers of 100 and 101, in fixed point with two decimals."""
        return laplace_probability(output - 10_000, 100, _LN_2) / laplace_probability(output - 10_100, 100, _LN_2)

    assert [ratio(r) for r in (9_000, 10_000, 10_050, 10_100, 11_000)] == pytest.approx([2, 2, 1, 0.5, 0.5])


@pytest.mark.parametrize(
    ("values", "sensitivity", "epsilon", "complaint"),
    [
        ([1], 1, Fraction(0), "epsilon must be above 0"),
        ([1], 1, Fraction(-1), "epsilon must be above 0"),
        ([1], 1, float("inf"), "epsilon must be finite"),
        ([1], 1, float("nan"), "epsilon must be finite"),
        ([1], 1, 0.1, "epsilon must be an exact number"),
        ([1], 1, "0.1", "epsilon must be an exact number"),
        ([1], 1, Fraction(1, 10**30), "epsilon is so small"),
        ([1], 1, Fraction(10**30), "epsilon is so large"),
        ([1], 0, Fraction(1), "sensitivity must be at least 1"),
        ([1], -3, Fraction(1), "sensitivity must be at least 1"),
        ([1], 1.5, Fraction(1), "sensitivity must be a whole number"),
        ([1], 2**63, Fraction(10), "sensitivity must be at most"),
        ([], 1, Fraction(1), "there are no answers"),
        ([0.5], 1, Fraction(1), "must be whole numbers"),
    ],
)
def test_impossible_parameters_are_refused(
    values: list[int], sensitivity: int, epsilon: Fraction, complaint: str
) -> None:
    with pytest.raises(UnveilError, match=complaint):
        add_laplace(values, sensitivity, epsilon)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, float("nan")])
def test_impossible_confidences_are_refused(confidence: float) -> None:
    with pytest.raises(UnveilError, match="confidence must lie between 0 and 1"):
        laplace_accuracy(1, Fraction(1), confidence)
    with pytest.raises(UnveilError, match="confidence must lie between 0 and 1"):
        epsilon_within(1, 10, confidence)
    with pytest.raises(UnveilError, match="within must be at least 0"):
        epsilon_within(1, -1, 0.95)
