"""Ask people something that they would not admit: randomised response.

Each person says the truth with probability p and each of the m − 1 other answers with probability (1 − p)/(m − 1), by
coins that nobody else sees (Warner 1965 for m = 2). What a person says is ε-differentially private in what is true of
this person: two truths give any answer probabilities whose ratio is at most p(m − 1)/(1 − p), and p is the largest
number of 2⁻⁶⁴ths for which this is at most e^ε. Nobody needs to be trusted, and whatever is computed from the answers
costs nothing more. A person who answers twice, with new coins, pays twice.

If t of n people have answer j, E(count of j) = t·p + (n − t)(1 − p)/(m − 1), which gives t (:func:`estimate_counts`).
The count is a sum of n independent coins of two kinds. Outside the two integers around its mean its tails are at most
those of a binomial distribution with the same mean (Hoeffding 1956, Theorem 4), so an interval that holds for binomial
counts holds for it; the mean then gives one for t.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from unveil.arrays import Ints
from unveil.dp.mechanisms.parameters import check_budget, check_count, check_integers
from unveil.dp.mechanisms.secret_coins import COIN_PARTS, flip_coins, truth_parts
from unveil.errors import UnveilError
from unveil.intervals import binomial_interval, check_confidence

__all__ = ["EstimatedCount", "estimate_counts", "randomise_answer", "randomise_answers", "truth_probability"]


@dataclass(frozen=True)
class EstimatedCount:
    """How many people have an answer: an unbiased estimate, which may lie outside 0 … n, and an interval."""

    value: float
    interval: tuple[float, float]


def truth_probability(answers: int, epsilon: Fraction) -> Fraction:
    """The probability p of the truth among so many possible answers, exactly as it is used.

    >>> from fractions import Fraction
    >>> float(truth_probability(2, Fraction("1.0986122886681098")))
    0.75
    """
    others = check_count(answers, "the number of possible answers", least=2) - 1
    return Fraction(truth_parts(check_budget(epsilon), others), COIN_PARTS)


def randomise_answer(answer: int, answers: int, epsilon: Fraction) -> int:
    """What a person says whose true answer is 0 … ``answers`` − 1."""
    truth = check_count(answer, "an answer", least=0, most=check_count(answers, "answers", least=2) - 1)
    if secrets.randbelow(COIN_PARTS) < truth_probability(answers, epsilon) * COIN_PARTS:
        return truth
    other = secrets.randbelow(answers - 1)
    return other + (other >= truth)


def randomise_answers(truths: npt.ArrayLike, answers: int, epsilon: Fraction) -> Ints:
    """What many people say, each for themselves."""
    true = np.asarray(truths)
    if true.ndim != 1 or not np.issubdtype(true.dtype, np.integer) or not ((true >= 0) & (true < answers)).all():
        raise UnveilError(f"answers must be whole numbers from 0 to {answers - 1}")
    said = true.astype(np.int64)
    lies = np.flatnonzero(~flip_coins(int(truth_probability(answers, epsilon) * COIN_PARTS), len(said)))
    other = np.fromiter((secrets.randbelow(answers - 1) for _ in lies), np.int64, len(lies))
    said[lies] = other + (other >= said[lies])
    return said


def estimate_counts(said: Sequence[int], epsilon: Fraction, confidence: float = 0.95) -> list[EstimatedCount]:
    """How many people truly have each answer, given how many said it.

    Each interval holds with this confidence, at least 50%; all of them hold together with less.

    >>> from fractions import Fraction
    >>> [count.value for count in estimate_counts([500, 500], Fraction(1))]
    [500.0, 500.0]
    """
    counts = check_integers(said, "counts")
    people = sum(counts)
    if min(counts) < 0 or not people:
        raise UnveilError("counts of answers must not be negative, nor all 0")
    if check_confidence(confidence) < 0.5:
        raise UnveilError("the confidence must be at least 50%")
    truth = truth_probability(len(counts), epsilon)
    lie = (1 - truth) / (len(counts) - 1)

    def debias(share: float) -> float:
        return float((Fraction(share) - lie) / (truth - lie) * people)

    found = []
    for count in counts:
        low, high = (debias(end) for end in binomial_interval(count, count, people, confidence))
        value = float((count - people * lie) / (truth - lie))
        found.append(EstimatedCount(value, (min(max(low, 0.0), people), max(min(high, people), 0.0))))
    return found
