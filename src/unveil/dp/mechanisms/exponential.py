"""Choose the best of several candidates when noise makes no sense: permute-and-flip and the exponential mechanism.

Every candidate r has a score q(D, r), and one person changes each score by at most Δ (Definition 6.2). With
λ = ε/2Δ, or ε/Δ if the scores are monotone (a person who joins raises scores or lowers them, but not some of each):

- the exponential mechanism (Definition 6.3; McSherry and Talwar 2007) chooses r with probability ∝ e^(λq(D, r));
- permute-and-flip (McKenna and Sheldon 2020) visits the candidates in random order and accepts each with probability
  e^(−λ(best − q(D, r))), until one is accepted. It chooses as if each score got noise with density λe^(−λx), x ≥ 0,
  and the largest won (Ding et al. 2021), and is never worse: for every t, it misses the best score by t or more with
  at most the exponential mechanism's probability (McKenna and Sheldon, Theorem 2).

ε of permute-and-flip, by that description. Fix the noise of all candidates but r. Then r wins if its noise exceeds a
threshold c = max(qⱼ + noiseⱼ) − q_r, or always if c ≤ 0, so with probability min(1, e^(−λc)). Between neighbours q_r
falls and qⱼ rises by at most Δ each, so c grows by at most 2Δ, and the probability falls at most by e^(−2Δλ) = e^(−ε).
With monotone scores, c grows by at most Δ, and λ = ε/Δ gives e^(−ε) again.

ε of Definition 6.3. The chosen r's weight e^(λq) changes by a factor of at most e^(λΔ), and so does the sum of
weights, in the opposite direction: together e^(2λΔ), which is e^ε for λ = ε/2Δ. No smaller ε holds for all scores: if
r's score falls by Δ, the others' rise by Δ, and r had almost no chance, the ratio tends to e^ε. (Written as ∝ e^(εq),
as McSherry and Talwar do, it is 2εΔ-differentially private.) If all scores rise together by at most Δ, r's weight and
the sum both grow by a factor between 1 and e^(λΔ), so that r's probability changes by at most e^(λΔ) in either
direction: monotone scores allow λ = ε/Δ.

The candidates are finitely many and public. On ℝ^d the weights of Definition 6.3 need not have a finite integral: the
classifier of Section 6.1.1 scores all positive multiples of a vector alike, so choose among directions.

Scores of any size. Candidates that lie more than 2⁶² below the best count as 2⁶² below it. s ↦ max(s, best − 2⁶²)
changes by at most Δ if all scores do and keeps monotone scores monotone, so the proofs apply to the raised scores.
Both mechanisms depend on differences only, so the best is then shifted to 0.

OpenDP's ``make_noisy_max`` is permute-and-flip for pure ε, by exponential noise, and the exponential mechanism for
zCDP, by Gumbel noise. Both compare exactly as many digits as the choice needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from unveil.dp.mechanisms.laplace import laplace_scale
from unveil.dp.mechanisms.opendp_library import load_opendp
from unveil.dp.mechanisms.parameters import (
    check_count,
    check_integers,
    check_sensitivity,
    exact_confidence,
)

__all__ = ["choose_best", "choose_exponentially", "selection_accuracy", "selection_scale"]

_FURTHEST = 2**62


def selection_scale(sensitivity: int, epsilon: Fraction, monotone: bool = False) -> float:
    """1/λ: 2Δ/ε, or Δ/ε for monotone scores, rounded up by less than one part in 10¹⁴."""
    return laplace_scale(check_sensitivity(sensitivity) * (1 if monotone else 2), epsilon)


def choose_best(scores: Iterable[int], sensitivity: int, epsilon: Fraction, monotone: bool = False) -> int:
    """The position of a candidate with a high score, chosen by permute-and-flip at the price of ε."""
    return _choose(scores, selection_scale(sensitivity, epsilon, monotone), monotone, "max_divergence")


def choose_exponentially(scores: Iterable[int], sensitivity: int, epsilon: Fraction, monotone: bool = False) -> int:
    """The position of a candidate with a high score, chosen by Definition 6.3 at the price of ε."""
    return _choose(scores, selection_scale(sensitivity, epsilon, monotone), monotone, "zero_concentrated_divergence")


def _choose(scores: Iterable[int], scale: float, monotone: bool, measure: str) -> int:
    exact = check_integers(scores, "candidates")
    best = max(exact)
    return int(_selector(scale, monotone, measure)([max(score - best, -_FURTHEST) for score in exact]))


@lru_cache(maxsize=64)
def _selector(scale: float, monotone: bool, measure: str) -> Any:
    """OpenDP's measurement that returns the position of the largest noisy score."""
    opendp = load_opendp()
    domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
    metric = opendp.linf_distance(T="i64", monotonic=monotone)
    return opendp.m.make_noisy_max(domain, metric, getattr(opendp, measure)(), scale=scale)


def selection_accuracy(
    candidates: int, sensitivity: int, epsilon: Fraction, confidence: Fraction | float, monotone: bool = False
) -> int:
    """A t so that the chosen candidate's score is at most t below the best, with this confidence, by either mechanism.

    A given candidate that lies t + 1 or more below the best is chosen by the exponential mechanism with probability x
    at most e^(−λ(t+1)) times that of the best. So n − 1 such candidates are chosen with probability at most
    (n − 1)x/(1 + (n − 1)x), and permute-and-flip is no worse.

    >>> selection_accuracy(100, 1, Fraction(1), 0.95), selection_accuracy(1, 1, Fraction(1), 0.95)
    (15, 0)
    """
    others = check_count(candidates, "candidates") - 1
    scale, whole = selection_scale(sensitivity, epsilon, monotone), exact_confidence(confidence)
    if not others:
        return 0
    allowed = (1 - whole) / whole / others  # (n − 1)x/(1 + (n − 1)x) ≤ 1 − confidence
    needed = -scale * (math.log(allowed.numerator) - math.log(allowed.denominator))
    return max(0, math.ceil(needed * (1 + 1e-12)) - 1)
