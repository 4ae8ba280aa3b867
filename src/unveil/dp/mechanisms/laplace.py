"""Hide how many by adding noise: the Laplace mechanism on integers.

The noise is the discrete Laplace, or two-sided geometric, distribution: P(Z = z) = (1 − q)/(1 + q) · q^|z| with
q = e^(−1/b). Its scale b is Δ/ε, where Δ is the sensitivity: by how much one person can change all answers of one call
together, Σ|fᵢ(D) − fᵢ(D′)| ≤ Δ (Definition 5.7).

ε-differential privacy (Theorem 5.2; Ghosh, Roughgarden and Sundararajan 2009 for integers). For any output y,
P(M(D) = y)/P(M(D′) = y) = ∏ q^(|yᵢ − fᵢ(D)| − |yᵢ − fᵢ(D′)|) ≤ q^(−Σ|fᵢ(D) − fᵢ(D′)|) ≤ e^(Δ/b) ≤ e^ε, by the
triangle inequality. Sums over the outputs of any event keep the ratio (Definition 5.5).

Integers of any size. OpenDP draws noise around 0 as an unbounded integer and then clamps it to 64 bits, so a draw at
the upper end h says only Z ≥ h. Given that, Z − h is geometric, P(Z − h = e) ∝ q^e, and so is another draw given that
it is not negative. Adding such a draw to h restores exactly the unclamped distribution; the lower end is its mirror
image. Python then adds the noise to the true answer without overflow.

The scale is a floating-point number a little above Δ/ε (:func:`laplace_scale`), so that OpenDP's own privacy map,
whose result is rounded up, never says more than ε. Accuracies are computed for that scale.

Large outputs. OpenDP needs about 6 µs for each answer. The answers of one call may be split into several calls, say one
for each process, with the same Δ and ε each: the proof only needs that one person changes all answers together by at
most Δ, as with the cells of one histogram.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from unveil.dp.mechanisms.opendp_library import load_opendp
from unveil.dp.mechanisms.parameters import (
    WIDEST_NOISE,
    check_budget,
    check_count,
    check_integers,
    check_sensitivity,
    exact_confidence,
    float_at_least,
    round_up,
)
from unveil.errors import UnveilError

__all__ = [
    "add_laplace",
    "draw_laplace",
    "epsilon_within",
    "laplace_accuracy",
    "laplace_probability",
    "laplace_scale",
]

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_SLACK = 1 + Fraction(1, 2**49)  # OpenDP's map rounds up twice, each time by a factor below 1 + 2⁻⁵¹
_NARROWEST = Fraction(1, 2**40)
_DIGITS = Context(prec=120)


def laplace_scale(sensitivity: int, epsilon: Fraction) -> float:
    """The scale b of the noise: Δ/ε, rounded up by less than one part in 10¹⁴.

    >>> laplace_scale(1, Fraction(1, 10)) >= 10
    True
    """
    scale = check_sensitivity(sensitivity) / check_budget(epsilon) * _SLACK
    if scale > WIDEST_NOISE:
        raise UnveilError("epsilon is so small that the noise would not fit; no answer would be of use")
    if scale < _NARROWEST:
        raise UnveilError("epsilon is so large that there would be no noise")
    return float_at_least(scale)


def add_laplace(values: Iterable[int], sensitivity: int, epsilon: Fraction) -> list[int]:
    """True answers with noise, ε-differentially private if one person changes them by at most ``sensitivity`` in all.

    The noise has no upper limit: a count may become negative.
    """
    exact = check_integers(values)
    return [value + z for value, z in zip(exact, draw_laplace(len(exact), sensitivity, epsilon), strict=True)]


def draw_laplace(count: int, sensitivity: int, epsilon: Fraction) -> list[int]:
    """Independent draws of the noise alone."""
    draw = _noise_source(laplace_scale(sensitivity, epsilon))
    return [z if _LOWEST < z < _HIGHEST else _beyond(z, draw) for z in draw([0] * check_count(count, "count"))]


@lru_cache(maxsize=64)
def _noise_source(scale: float) -> Any:
    """OpenDP's measurement that adds noise to a list of 64-bit integers."""
    opendp = load_opendp()
    domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
    return opendp.m.make_laplace(domain, opendp.l1_distance(T="i64"), scale=scale)


def _beyond(end: int, draw: Any) -> int:
    """Noise of which only is known that it lies at an end of the 64-bit integers or beyond."""
    excess = -1
    while excess < 0:
        (excess,) = draw([0])
    if excess == _HIGHEST:
        excess = _beyond(excess, draw)
    return end + excess if end > 0 else end - excess


def laplace_probability(noise: int, sensitivity: int, epsilon: Fraction) -> float:
    """P(Z = noise).

    >>> round(laplace_probability(0, 1, Fraction("0.693147180559945309")), 12)  # ε = ln 2: Figure 5.2's geometric noise
    0.333333333333
    """
    scale = laplace_scale(sensitivity, epsilon)
    return math.tanh(1 / (2 * scale)) * math.exp(-abs(noise) / scale)


def laplace_accuracy(sensitivity: int, epsilon: Fraction, confidence: Fraction | float, answers: int = 1) -> int:
    """The smallest a with P(all of so many noises lie within ± a) ≥ confidence.

    P(|Z| ≤ a) = 1 − 2q^(a+1)/(1 + q), and independent noises lie within ± a together with the product of these
    probabilities. Computed with 120 digits. Equality never occurs, because q is transcendental (Hermite–Lindemann), so
    that rounding up is right.

    >>> laplace_accuracy(1, Fraction(1), 0.95), laplace_accuracy(1, Fraction(1), 0.95, answers=100)
    (3, 7)
    """
    return _accuracy(laplace_scale(sensitivity, epsilon), exact_confidence(confidence), check_count(answers, "answers"))


def _accuracy(scale: float, confidence: Fraction, answers: int) -> int:
    b = Decimal(scale)
    q = _DIGITS.exp(_DIGITS.divide(Decimal(-1), b))
    miss = _DIGITS.subtract(Decimal(1), _root(confidence, answers))  # the largest tail that one noise may have
    needed = _DIGITS.multiply(b, _DIGITS.ln(_DIGITS.divide(Decimal(2), _DIGITS.multiply(miss, _DIGITS.add(q, 1)))))
    return max(0, math.ceil(needed) - 1)


def _root(confidence: Fraction, answers: int) -> Decimal:
    """confidence^(1/answers)."""
    whole = _DIGITS.divide(Decimal(confidence.numerator), Decimal(confidence.denominator))
    return _DIGITS.exp(_DIGITS.divide(_DIGITS.ln(whole), Decimal(answers)))


def epsilon_within(sensitivity: int, within: int, confidence: Fraction | float, answers: int = 1) -> Fraction:
    """The smallest ε with at most four significant digits whose noise stays within ± ``within`` with this confidence.

    >>> str(float(epsilon_within(1, 10, 0.95))), laplace_accuracy(1, Fraction("0.2844"), 0.95)
    ('0.2844', 10)
    """
    sensitivity, exact = check_sensitivity(sensitivity), exact_confidence(confidence)
    within, answers = check_count(within, "within", least=0), check_count(answers, "answers")

    def suffices(epsilon: Fraction) -> bool:
        return _accuracy(laplace_scale(sensitivity, epsilon), exact, answers) <= within

    epsilon = Fraction(sensitivity, within + 1)  # noise with b = within + 1 is too wide, unless confidence is low
    while suffices(epsilon):
        epsilon /= 2
    while not suffices(2 * epsilon):
        epsilon *= 2
    low, high = epsilon, 2 * epsilon  # low does not suffice, high does
    while high - low > low / 10**6:
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    rounded = round_up(low)
    return rounded if suffices(rounded) else round_up(high)
