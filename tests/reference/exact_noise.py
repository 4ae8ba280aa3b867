"""Exact distributions of noise and of choices, by summing what the definitions say, and a test of draws against
them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations

from scipy.stats import chisquare

__all__ = [
    "chi_squared",
    "exponential_probabilities",
    "gaussian_probability",
    "permute_and_flip_by_orders",
    "permute_and_flip_probabilities",
    "smallest_laplace_accuracy",
]


def chi_squared(draws: Sequence[int], probability: Callable[[int], float], outcomes: Iterable[int]) -> float:
    """The p-value of draws if each outcome has its stated probability and the rest are one more outcome."""
    listed = list(outcomes)
    seen = Counter(draws)
    expected = [len(draws) * probability(outcome) for outcome in listed]
    observed = [seen[outcome] for outcome in listed]
    assert min(expected) >= 5, "too few draws expected for an outcome"
    rest = len(draws) - sum(expected)
    if rest >= 5:
        expected, observed = [*expected, rest], [*observed, len(draws) - sum(observed)]
    else:
        assert sum(observed) >= len(draws) - 40
        expected = [each * sum(observed) / sum(expected) for each in expected]
    return float(chisquare(observed, expected).pvalue)


def smallest_laplace_accuracy(sensitivity: int, epsilon: Fraction, confidence: Fraction, answers: int = 1) -> int:
    """The smallest a with P(|Z| ≤ a)^answers ≥ confidence, trying a = 0, 1, … and summing probabilities."""
    with localcontext() as context:
        context.prec = 60
        rate = Decimal(epsilon.numerator) / Decimal(epsilon.denominator) / sensitivity
        q = (-rate).exp()
        inside = peak = (1 - q) / (1 + q)
        a, power = 0, q
        wanted = Decimal(confidence.numerator) / Decimal(confidence.denominator)
        while inside**answers < wanted:
            inside += 2 * peak * power
            power *= q
            a += 1
        return a


def gaussian_probability(z: int, sigma: float) -> float:
    """P(Z = z) of the discrete Gaussian distribution."""
    return math.exp(-(z**2) / (2 * sigma**2)) / _gaussian_total(sigma)


@cache
def _gaussian_total(sigma: float) -> float:
    reach = math.ceil(40 * sigma) + 1
    return math.fsum(math.exp(-(k**2) / (2 * sigma**2)) for k in range(-reach, reach + 1))


def exponential_probabilities(scores: Sequence[int], rate: float) -> list[float]:
    """Definition 6.3: probability ∝ e^(rate · score)."""
    weights = [math.exp(rate * (score - max(scores))) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]


def permute_and_flip_probabilities(scores: Sequence[int], rate: float) -> list[float]:
    """By inclusion and exclusion over the sets of candidates that come earlier and would be accepted."""
    heads = [math.exp(rate * (score - max(scores))) for score in scores]
    return [
        heads[i]
        * math.fsum(
            (-1) ** size / (size + 1) * math.prod(heads[j] for j in earlier)
            for size in range(len(scores))
            for earlier in combinations([j for j in range(len(scores)) if j != i], size)
        )
        for i in range(len(scores))
    ]


def permute_and_flip_by_orders(scores: Sequence[int], rate: float) -> list[float]:
    """The same by the mechanism's own words: every order, every flip."""
    heads = [math.exp(rate * (score - max(scores))) for score in scores]
    found = [0.0] * len(scores)
    for order in permutations(range(len(scores))):
        left = 1 / math.factorial(len(scores))
        for i in order:
            found[i] += left * heads[i]
            left *= 1 - heads[i]
    return found
