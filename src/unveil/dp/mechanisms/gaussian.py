"""Hide many counts by less noise: the discrete Gaussian, accounted for in zero-concentrated differential privacy.

A mechanism is ρ-zCDP (Bun and Steinke 2016) if for all neighbouring inputs and all α > 1 the Rényi divergence of order
α between its outputs is at most ρα. Noise with P(Z = z) ∝ e^(−z²/2σ²) on integers satisfies this with ρ = Δ₂²/2σ²,
where Δ₂² is the squared sensitivity: the largest Σ(fᵢ(D) − fᵢ(D′))² (Canonne, Kamath and Steinke 2020, Theorem 4 for
one answer; divergences of independent answers add up). m counts that one person changes by 1 each have Δ₂² = m where
Laplace noise has Δ = m, so that σ grows as √m instead of m.

What ρ means in ε and δ (:func:`epsilon_of_rho`). ρ-zCDP implies P(M(D) ∈ S) ≤ e^ε P(M(D′) ∈ S) + δ with
δ = e^((α−1)(αρ−ε))/(α − 1) · (1 − 1/α)^α for every α > 1 (same paper, Proposition 12 and Corollary 13). Solved for ε:
αρ + ln(1 − 1/α) − ln(αδ)/(α − 1). Every α gives a valid ε; the least is found numerically and rounded up.

Privacy of what is drawn. OpenDP draws Z around 0 exactly and clamps it to 64 bits. σ is at most 2⁵², so that P(|Z| ≥
2⁶³ − 1) is below 2·e^(−2²⁰), smaller than 10 to the power of −400,000. All proofs hold with that probability added to
δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from unveil.dp.mechanisms.opendp_library import load_opendp
from unveil.dp.mechanisms.parameters import (
    check_budget,
    check_count,
    check_delta,
    check_integers,
    check_sensitivity,
    exact_confidence,
    float_at_least,
    round_up,
)
from unveil.errors import UnveilError

__all__ = ["add_gaussian", "epsilon_of_rho", "gaussian_accuracy", "gaussian_scale", "rho_of_epsilon"]

_WIDEST = 2.0**52
_NARROWEST = 2.0**-10
_SLACK = 1 + 2.0**-48  # more than the rounding of square roots and of OpenDP's privacy map
_SUMMED = 2.0**12  # up to this σ, tails are summed term by term


def gaussian_scale(squared_sensitivity: int, rho: Fraction) -> float:
    """σ = √(Δ₂²/2ρ), rounded up by less than one part in 10¹⁴.

    >>> round(gaussian_scale(100, Fraction(1, 50)), 9)
    50.0
    """
    squared = check_sensitivity(squared_sensitivity) / (2 * check_budget(rho, "rho"))
    scale = math.sqrt(float_at_least(squared)) * _SLACK if squared <= int(_WIDEST) ** 2 else math.inf
    if scale > _WIDEST:
        raise UnveilError("rho is so small that the noise would not fit; no answer would be of use")
    if scale < _NARROWEST:
        raise UnveilError("rho is so large that there would be no noise")
    return scale


def add_gaussian(values: Iterable[int], squared_sensitivity: int, rho: Fraction) -> list[int]:
    """True answers with noise, ρ-zCDP if one person changes them by at most √``squared_sensitivity`` in Euclidean
    distance."""
    exact = check_integers(values)
    noise = _noise_source(gaussian_scale(squared_sensitivity, rho))([0] * len(exact))
    return [value + z for value, z in zip(exact, noise, strict=True)]


@lru_cache(maxsize=64)
def _noise_source(scale: float) -> Any:
    """OpenDP's measurement that adds noise to a list of 64-bit integers."""
    opendp = load_opendp()
    domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
    return opendp.m.make_gaussian(domain, opendp.l2_distance(T="f64"), scale=scale)


def gaussian_accuracy(squared_sensitivity: int, rho: Fraction, confidence: Fraction | float, answers: int = 1) -> int:
    """An a with P(all of so many noises lie within ± a) ≥ confidence: the smallest for σ up to 4,096, at most one more
    than the smallest beyond.

    Beyond, P(Z ≥ m) is at most P(N ≥ m − 1) for N normal with the same σ: each term e^(−k²/2σ²), k ≥ m ≥ 1, is at most
    the integral over [k − 1, k], and the sum over all integers is at least σ√(2π) (Poisson's summation formula).

    >>> gaussian_accuracy(100, Fraction(1, 50), 0.95)
    98
    """
    scale = gaussian_scale(squared_sensitivity, rho)
    whole = exact_confidence(confidence)
    log_all = math.log(whole) / check_count(answers, "answers")
    tail = -math.expm1(log_all) / 2  # the probability that one noise may exceed a, on one side
    if scale > _SUMMED:
        from scipy.special import ndtri

        return math.ceil(-float(ndtri(tail)) * scale * _SLACK) + 1
    reach = np.arange(math.ceil(40 * scale) + 2, dtype=np.float64)
    weights = np.exp(-(reach**2) / (2 * scale**2))
    beyond = np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0)  # Σ over k > a, for a = 0, 1, …
    beyond /= weights[0] + 2 * beyond[0]
    return int(np.argmax(beyond <= tail * (1 - 1e-12)))


def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """The smallest ε, to six digits rounded up, for which ρ-zCDP is known to imply (ε, δ)-differential privacy.

    >>> float(epsilon_of_rho(Fraction(1, 50), Fraction(1, 10**6)))
    0.899936
    """
    rho, log_delta = check_budget(rho, "rho"), _log(check_delta(delta))
    r = float_at_least(rho)

    def epsilon(log_excess: float) -> float:
        excess = math.exp(log_excess)  # α − 1
        alpha = 1 + excess
        return r * alpha + math.log(excess / alpha) - (math.log(alpha) + log_delta) / excess

    least = _least_value(epsilon, math.log(max(1e-9, math.sqrt(-log_delta / r))))
    return round_up(Fraction(max(least, 0.0) * (1 + 1e-12) + 1e-12), 6)


def rho_of_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest ρ, to six digits rounded down, for which ρ-zCDP is known to imply (ε, δ)-differential privacy.

    >>> rho = rho_of_epsilon(Fraction(1), Fraction(1, 10**6))
    >>> round(float(rho), 5), epsilon_of_rho(rho, Fraction(1, 10**6)) <= 1
    (0.02436, True)
    """
    exact, log_delta = check_budget(epsilon), _log(check_delta(delta))
    e = math.nextafter(float(exact), 0)

    def negative_rho(log_excess: float) -> float:
        excess = math.exp(log_excess)
        alpha = 1 + excess
        return -(e - math.log(excess / alpha) + (math.log(alpha) + log_delta) / excess) / alpha

    most = -_least_value(negative_rho, math.log(-2 * log_delta / e))
    if most <= 0:
        raise UnveilError("no Gaussian noise achieves so small an epsilon and delta")
    place = Fraction(10) ** (math.floor(math.log10(most)) - 5)
    return math.floor(Fraction(most * (1 - 1e-10)) / place) * place


def _log(exact: Fraction) -> float:
    """The natural logarithm of a fraction of any size."""
    return math.log(exact.numerator) - math.log(exact.denominator)


def _least_value(function: Any, near: float) -> float:
    """The least value of a function of one variable that falls and then rises, found around a first guess."""
    from scipy.optimize import minimize_scalar

    return float(
        minimize_scalar(function, bounds=(near - 12, near + 12), method="bounded", options={"xatol": 1e-9}).fun
    )
