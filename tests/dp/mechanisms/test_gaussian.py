"""Gaussian noise on integers: its distribution, its privacy, its accuracy, and when it is better than Laplace noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from reference.exact_noise import chi_squared, gaussian_probability
from unveil.dp.mechanisms.gaussian import (
    add_gaussian,
    epsilon_of_rho,
    gaussian_accuracy,
    gaussian_scale,
    rho_of_epsilon,
)
from unveil.dp.mechanisms.laplace import laplace_scale
from unveil.dp.mechanisms.opendp_library import load_opendp
from unveil.errors import UnveilError

_ERROR_RATE = 1e-6
_MILLIONTH = Fraction(1, 10**6)

rhos = st.decimals("0.0001", "10", places=4).map(Fraction)
deltas = st.integers(2, 15).map(lambda places: Fraction(1, 10**places))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 2**40), rhos)
def test_opendp_says_at_most_rho(squared: int, rho: Fraction) -> None:
    opendp = load_opendp()
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="f64")
    distance = math.nextafter(math.sqrt(squared), math.inf)
    loss = Fraction(opendp.m.make_gaussian(*space, scale=gaussian_scale(squared, rho)).map(distance))
    assert rho * (1 - Fraction(1, 10**13)) < loss <= rho


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 2**40), rhos)
def test_the_scale_is_never_below_what_privacy_needs(squared: int, rho: Fraction) -> None:
    scale = Fraction(gaussian_scale(squared, rho))
    assert squared / (2 * rho) <= scale**2 <= squared / (2 * rho) * (1 + Fraction(3, 10**14))


def test_noise_has_its_exact_probabilities() -> None:
    rho = Fraction(1, 18)  # σ = 3
    draws = add_gaussian([0] * 30_000, 1, rho)
    assert chi_squared(draws, lambda z: gaussian_probability(z, 3.0), range(-9, 10)) > _ERROR_RATE


def test_noise_is_added_to_integers_of_any_size() -> None:
    draws = [value - 10**30 for value in add_gaussian([10**30] * 10_000, 1, Fraction(1, 8))]
    assert chi_squared(draws, lambda z: gaussian_probability(z, 2.0), range(-5, 6)) > _ERROR_RATE


@settings(max_examples=60, deadline=None)
@given(st.decimals("0.3", "60", places=2).map(float), st.sampled_from([0.5, 0.9, 0.95, 0.999]), st.integers(1, 20))
def test_accuracy_is_the_smallest_for_narrow_noise(sigma: float, confidence: float, answers: int) -> None:
    rho = 1 / (2 * Fraction(sigma) ** 2)
    inside, wanted, a = gaussian_probability(0, sigma), confidence ** (1 / answers), 0
    while inside < wanted:
        a += 1
        inside += 2 * gaussian_probability(a, sigma)
    assert gaussian_accuracy(1, rho, confidence, answers) == a


def test_accuracy_of_wide_noise_is_at_most_one_more_than_the_smallest() -> None:
    """Just above the σ up to which tails are summed, against just below, in units of σ."""
    sigmas = [Fraction(4_095), Fraction(4_097)]
    narrow, wide = (gaussian_accuracy(1, 1 / (2 * s**2), 0.95) / float(s) for s in sigmas)
    assert narrow - 1e-9 <= wide <= narrow + 2 / 4_095
    assert wide == pytest.approx(1.959964, abs=6e-4)


def test_accuracy_holds_at_its_rate() -> None:
    rho = Fraction(1, 1000)
    single, together = gaussian_accuracy(1, rho, 0.9), gaussian_accuracy(1, rho, 0.9, answers=10)
    noise = np.abs(np.array(add_gaussian([0] * 30_000, 1, rho)))
    assert binomtest(int((noise <= single).sum()), 30_000, 0.9, alternative="less").pvalue > _ERROR_RATE
    hits = int((noise.reshape(-1, 10).max(axis=1) <= together).sum())
    assert binomtest(hits, 3_000, 0.9, alternative="less").pvalue > _ERROR_RATE


@settings(max_examples=60, deadline=None)
@given(rhos, deltas)
def test_no_order_gives_a_better_epsilon(rho: Fraction, delta: Fraction) -> None:
    """The conversion for orders on a grid: none beats the one that is found by more than its rounding, and it claims no
    more than the best of them."""
    orders = 1 + np.exp(np.linspace(-8, 12, 20_001))
    epsilons = float(rho) * orders + np.log1p(-1 / orders) - np.log(float(delta) * orders) / (orders - 1)
    found = float(epsilon_of_rho(rho, delta))
    assert found == pytest.approx(max(0.0, epsilons.min()), rel=2e-5, abs=1e-9)
    assert found >= epsilons.min() * (1 - 1e-6)  # the grid's own error


@settings(max_examples=60, deadline=None)
@given(st.decimals("0.01", "10", places=2).map(Fraction), deltas)
def test_rho_of_epsilon_is_the_largest(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_of_epsilon(epsilon, delta)
    assert epsilon_of_rho(rho, delta) <= epsilon + Fraction(1, 10**5) * epsilon
    assert epsilon_of_rho(rho * Fraction("1.00001"), delta) > epsilon * (1 - Fraction(1, 10**5))


def exact_delta(sigma: float, epsilon: float) -> float:
    """Σ max(0, P(Z = z) − e^ε P(Z + 1 = z)): the least δ at which one count is (ε, δ)-differentially private."""
    return math.fsum(
        max(0.0, gaussian_probability(z, sigma) - math.exp(epsilon) * gaussian_probability(z - 1, sigma))
        for z in range(-80, 81)
    )


@pytest.mark.parametrize(("rho", "delta"), [("0.125", "1e-6"), ("0.5", "1e-5"), ("0.02", "0.01")])
def test_the_promised_epsilon_holds(rho: str, delta: str) -> None:
    epsilon = float(epsilon_of_rho(Fraction(rho), Fraction(delta)))
    sigma = math.sqrt(1 / (2 * float(rho)))
    assert exact_delta(sigma, epsilon) <= float(Fraction(delta))
    assert exact_delta(sigma, epsilon * 0.75) > float(Fraction(delta))  # and not much less would do


def test_opendp_converts_alike() -> None:
    opendp = load_opendp()
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="f64")
    profile = opendp.c.make_zCDP_to_approxDP(opendp.m.make_gaussian(*space, scale=45.0)).map(10.0)
    assert float(epsilon_of_rho(Fraction(100, 2 * 45**2), _MILLIONTH)) == pytest.approx(profile.epsilon(1e-6), rel=1e-5)


def test_a_hundred_counts_need_a_third_of_laplace_noise() -> None:
    sigma = gaussian_scale(100, rho_of_epsilon(Fraction(1), _MILLIONTH))
    assert round(sigma) == 45
    assert round(math.sqrt(2) * laplace_scale(100, Fraction(1))) == 141


def test_impossible_parameters_are_refused() -> None:
    for rho, complaint in (
        (Fraction(0), "rho must be above 0"),
        (float("nan"), "rho must be finite"),
        (0.1, "rho must be an exact number"),
        (Fraction(1, 10**40), "rho is so small"),
        (Fraction(10**40), "rho is so large"),
    ):
        with pytest.raises(UnveilError, match=complaint):
            add_gaussian([1], 1, rho)  # type: ignore[arg-type]
    with pytest.raises(UnveilError, match="sensitivity must be at least 1"):
        add_gaussian([1], 0, Fraction(1))
    with pytest.raises(UnveilError, match="there are no answers"):
        add_gaussian([], 1, Fraction(1))
    for delta, complaint in ((Fraction(0), "delta must be above 0"), (Fraction(1), "delta must be below 1")):
        with pytest.raises(UnveilError, match=complaint):
            epsilon_of_rho(Fraction(1), delta)
        with pytest.raises(UnveilError, match=complaint):
            rho_of_epsilon(Fraction(1), delta)
