"""How many different people visited, if even the counter's memory may be read? Pan-private density.

The density of a stream is the share of a public list of items (people, addresses) that have occurred at least once.
The counter keeps one bit for each item. Before anything occurs, each bit is 1 with probability 1 − p; whenever an item
occurs, its bit is drawn anew and is 1 with probability p. At the end the number of ones is released with Laplace noise
of scale 1/ε₂ (Section 6.2; Dwork, Naor, Pitassi, Rothblum and Yekhanin 2010, here with symmetric bits).

What is protected: all occurrences of one item together (user level), hence also a single one (event level), against
somebody who reads the whole memory once, at any moment between two items, and sees the released number. Definition
6.9, corrected: the streams are U∘V and U′∘V′, where U, U′ and V, V′ each differ in occurrences of the same x, and the
loss is that of (memory after U, output). A number released at the moment of the intrusion too would add nothing: it is
computed from the memory that was read. **Two** looks at the memory are not covered: a bit that changed between them
proves that its item occurred in between. A backup is a look.

The loss (:func:`exact_loss`). Let s(b), u(b) be the probabilities of bit b for an item x that occurred and one that
did not, and w(b) the probability of the output given x's last bit b and everything else. w(1)/w(0) lies between
e^(−ε₂) and e^(ε₂), since the number of ones differs by 1. The memory shows b and the output appears with probability

- u(b)w(b) if x never occurs, s(b)w(b) if it occurs only before the look,
- u(b)Σs(c)w(c) if it occurs only after the look, s(b)Σs(c)w(c) if before and after.

Any two of these four streams are neighbours (Definition 6.6). The loss is the largest logarithm of a ratio between
them. Such a ratio is a quotient of two linear functions of w(1)/w(0), hence monotone in it, so that only its two ends
matter. The loss is at most ε₁ + ε₂, where e^(ε₁) is the largest ratio between s and u: the first factors differ by at
most e^(ε₁), the second by at most e^(ε₂).

As printed, Algorithm 6.1 has u(1) = ½, s(1) = ½ + ε/4 and adds Lap(1/(ε|X|)) to the *scaled* number, which is ε₂ = 4
whatever ε is. For ε from .1 to 1 its loss is 3.4 to 4.4 where 2ε is claimed (3.4 to 3.7 if one of the two streams must
not contain x at all).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools
from unveil.dp.mechanisms.laplace import add_laplace, laplace_accuracy, laplace_scale
from unveil.dp.mechanisms.parameters import check_budget, check_count
from unveil.dp.mechanisms.secret_coins import COIN_PARTS, flip_coins, truth_parts
from unveil.errors import UnveilError
from unveil.intervals import check_confidence

__all__ = [
    "DensityCounter",
    "DensityEstimate",
    "exact_loss",
    "first_memory",
    "plan_counter",
    "record_items",
    "release_density",
]


@dataclass(frozen=True)
class DensityCounter:
    """A counter's public parameters: how many items there are, p in 2⁻⁶⁴ths, ε₂, and the total ε that it promises."""

    items: int
    parts: int
    output_epsilon: Fraction
    epsilon: Fraction

    @property
    def bit_probability(self) -> float:
        """p: the probability of a 1 for an item that occurred."""
        return self.parts / COIN_PARTS

    @property
    def standard_deviation(self) -> float:
        """Of the estimated density, whatever the true density is."""
        p, scale = self.bit_probability, laplace_scale(1, self.output_epsilon)
        noise = 1 / (2 * math.sinh(1 / (2 * scale)) ** 2)  # the variance of the discrete Laplace distribution
        return math.sqrt(p * (1 - p) * self.items + noise) / ((2 * p - 1) * self.items)


@dataclass(frozen=True)
class DensityEstimate:
    """The share of items that have occurred: an unbiased estimate, which may lie outside 0 … 1, and an interval."""

    value: float
    interval: tuple[float, float]


def exact_loss(unseen: float, seen: float, output_epsilon: float) -> float:
    """The loss of memory and output together, if a bit is 1 with these probabilities and the output adds noise of scale
    1/ε₂ to the number of ones.

    >>> round(exact_loss(0.5, 0.625, 4), 3), round(exact_loss(0.5, 0.625, 0.5), 3)  # Algorithm 6.1: printed, mended
    (3.829, 0.628)
    """
    u, s = (1 - unseen, unseen), (1 - seen, seen)
    worst = 0.0
    for bit, ratio in itertools.product((0, 1), (output_epsilon, -output_epsilon)):
        w = (1.0, math.exp(ratio))
        again = s[0] * w[0] + s[1] * w[1]
        cases = (u[bit] * w[bit], s[bit] * w[bit], u[bit] * again, s[bit] * again)
        worst = max(worst, math.log(max(cases) / min(cases)))
    return worst


def plan_counter(items: int, epsilon: Fraction) -> DensityCounter:
    """The counter with the most accurate density whose memory and output lose at most ε together.

    >>> plan = plan_counter(10_000, Fraction(1))
    >>> round(plan.standard_deviation, 4), plan.epsilon
    (0.0109, Fraction(1, 1))
    """
    count, exact = check_count(items, "the number of items"), check_budget(epsilon)
    if exact > 20:
        raise UnveilError("epsilon must be at most 20")
    plans = []
    for share in range(1, 200):
        output_epsilon = exact * share / 200
        low, high = Fraction(0), exact  # ε₁: the largest for which the exact loss stays within ε
        for _ in range(40):
            middle = (low + high) / 2
            p = truth_parts(middle, 1) / COIN_PARTS
            within = exact_loss(1 - p, p, float(output_epsilon)) * (1 + 1e-12) <= exact
            low, high = (middle, high) if within else (low, middle)
        if low:
            plans.append(DensityCounter(count, truth_parts(low, 1), output_epsilon, exact))
    return min(plans, key=lambda plan: plan.standard_deviation)


def first_memory(counter: DensityCounter) -> Bools:
    """The memory before anything occurs."""
    return flip_coins(COIN_PARTS - counter.parts, counter.items)


def record_items(memory: Bools, items: npt.ArrayLike, counter: DensityCounter) -> None:
    """Draw the bits of items that occurred anew, in place. Items wait outside the memory until then: record each at
    once, or whoever looks sees those that wait."""
    occurred = np.unique(np.asarray(items))
    if not len(occurred):
        return
    if not np.issubdtype(occurred.dtype, np.integer) or occurred[0] < 0 or occurred[-1] >= counter.items:
        raise UnveilError(f"items are numbered from 0 to {counter.items - 1:,}")
    memory[occurred] = flip_coins(counter.parts, len(occurred))


def release_density(memory: Bools, counter: DensityCounter, confidence: float = 0.95) -> DensityEstimate:
    """The density, once: every further release costs ε₂ more."""
    (ones,) = add_laplace([int(memory.sum())], 1, counter.output_epsilon)
    p = counter.bit_probability
    value = (ones / counter.items - (1 - p)) / (2 * p - 1)
    half = _half_width(counter, check_confidence(confidence))
    low, high = (min(max(end, 0.0), 1.0) for end in (value - half, value + half))
    return DensityEstimate(value, (low, high))


def _half_width(counter: DensityCounter, confidence: float) -> float:
    """How far the estimate may be off: half of the error probability for the bits, by Hoeffding's inequality, and half
    for the noise."""
    half_error = (1 - confidence) / 2
    bits = math.sqrt(counter.items * math.log(2 / half_error) / 2)
    noise = laplace_accuracy(1, counter.output_epsilon, 1 - half_error)
    return (bits + noise) / ((2 * counter.bit_probability - 1) * counter.items)
