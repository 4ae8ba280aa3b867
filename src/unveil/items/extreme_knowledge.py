"""Cracked itemsets at the two extremes of knowledge, in closed form.

An attacker who knows nothing cracks a given itemset of k among n items with probability 1/C(n, k), so one of all
k-itemsets is cracked on average. An attacker who knows every frequency exactly can only confuse items of the same
frequency group: an itemset with x_i of the m_i items of group i is cracked with probability ∏ 1/C(m_i, x_i). With c_i
items of interest in group i, the expected number of cracked k-itemsets is the coefficient of z^k in
∏_i Σ_x C(c_i, x)/C(m_i, x) z^x; if all items are of interest, that is the number of ways to write k = Σ x_i with
x_i ≤ m_i (Lakshmanan, Ng and Ramesh 2008, Lemmas 3.1 to 3.6, where 3.5 is meant for m_i ≥ k and 3.6 is misprinted).

Binomials are kept as logarithms, and the polynomial is evaluated at a scale z = ρ at which the k-th coefficient is
among the largest, so that neither 16,470 items nor large k overflow.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import gammaln

from unveil.arrays import Floats
from unveil.errors import UnveilError
from unveil.items.frequency_groups import FrequencyGroups

__all__ = [
    "exact_chance",
    "exact_crack_share",
    "exact_cracks",
    "ignorant_chance",
    "ignorant_cracks",
    "ignorant_listed_cracks",
]

_MAX_TILT = 60.0  # ln ρ so far out that a single coefficient is left


def ignorant_chance(n: int, k: int) -> float:
    """The probability that an attacker who knows nothing cracks a given k-itemset of n items (Lemma 3.1).

    >>> round(1 / ignorant_chance(6, 2))
    15
    """
    _check_itemset_size(n, k)
    return math.exp(-_log_choose(n, k))


def ignorant_cracks(n: int, k: int, interest: int | None = None) -> float:
    """The expected number of k-itemsets that an attacker who knows nothing cracks: of all n items, or of those of
    interest (Lemmas 3.2 and 3.3.1)."""
    _check_itemset_size(n, k)
    chosen = n if interest is None else interest
    if not 0 <= chosen <= n:
        raise UnveilError(f"the number of items of interest must be between 0 and {n}")
    return math.exp(_log_choose(chosen, k) - _log_choose(n, k)) if k <= chosen else 0.0


def ignorant_listed_cracks(n: int, sizes: Iterable[int]) -> float:
    """The expected number of listed itemsets of these sizes that an attacker who knows nothing cracks (Lemma 3.3.2)."""
    return math.fsum(count * ignorant_chance(n, k) for k, count in Counter(sizes).items())


def exact_chance(groups: FrequencyGroups, itemset: Sequence[int]) -> float:
    """The probability that an attacker who knows every frequency cracks an itemset (Lemma 3.4).

    >>> bigmart = FrequencyGroups.from_counts([5, 4, 5, 5, 3, 5])
    >>> round(1 / exact_chance(bigmart, [1, 2, 3]))
    6
    """
    n = len(groups.group)
    if len(set(itemset)) < len(itemset) or not all(0 <= x < n for x in itemset):
        raise UnveilError(f"an itemset repeats an item or names one outside 0 … {n - 1}; correct it")
    taken = Counter(groups.group[np.asarray(itemset, np.int64)].tolist())
    return math.exp(-math.fsum(_log_choose(int(groups.sizes[g]), x) for g, x in taken.items()))


def exact_cracks(sizes: npt.ArrayLike, k: int, interest: npt.ArrayLike | None = None) -> float:
    """The expected number of k-itemsets that an attacker who knows every frequency cracks: of all items, in groups of
    these sizes (Lemma 3.5), or of the given number of items of interest in each group (Lemma 3.6).

    >>> round(exact_cracks([25, 25, 25, 25], 3), 9)
    20.0
    """
    log = _log_cracks(sizes, k, interest)
    return math.exp(log) if log < 709 else math.inf


def exact_crack_share(sizes: npt.ArrayLike, k: int, interest: npt.ArrayLike | None = None) -> float:
    """The share of the k-itemsets of :func:`exact_cracks` that are expected to be cracked."""
    log = _log_cracks(sizes, k, interest)
    chosen = int(np.sum(np.asarray(sizes if interest is None else interest, np.int64)))
    return math.exp(log - _log_choose(chosen, k)) if log > -math.inf else 0.0


def _log_cracks(sizes: npt.ArrayLike, k: int, interest: npt.ArrayLike | None) -> float:
    """ln of the coefficient of z^k."""
    m = np.asarray(sizes, np.int64)
    c = m if interest is None else np.asarray(interest, np.int64)
    if m.shape != c.shape or m.ndim != 1 or (c < 0).any() or (c > m).any():
        raise UnveilError("give for every group a number of items of interest between 0 and its size")
    _check_itemset_size(int(m.sum()), k)
    if k > c.sum():
        return -math.inf
    kinds = Counter((a, b) for a, b in zip(m.tolist(), c.tolist(), strict=True) if b)
    factors = [(_log_ratios(a, min(b, k), b), times) for (a, b), times in kinds.items()]
    tilt = _find_tilt(factors, k)
    product, log = np.ones(1), -k * tilt
    for logs, times in factors:
        tilted = logs + tilt * np.arange(len(logs))
        log += times * _log_sum(tilted)
        product = _truncated_product(product, _truncated_power(np.exp(tilted - _log_sum(tilted)), times, k), k)
    return log + math.log(product[k])


def _log_ratios(m: int, most: int, c: int) -> Floats:
    """ln C(c, x)/C(m, x) for x from 0 to ``most``."""
    x = np.arange(most + 1)
    ratios: Floats = gammaln(c + 1) - gammaln(c - x + 1) - gammaln(m + 1) + gammaln(m - x + 1)
    return ratios


def _find_tilt(factors: list[tuple[Floats, int]], k: int) -> float:
    """ln ρ at which the mean exponent is k."""

    def exponent_error(tilt: float) -> float:
        return math.fsum(times * _mean_exponent(logs + tilt * np.arange(len(logs))) for logs, times in factors) - k

    if exponent_error(-_MAX_TILT) >= 0:
        return -_MAX_TILT
    return (
        _MAX_TILT if exponent_error(_MAX_TILT) <= 0 else float(brentq(exponent_error, -_MAX_TILT, _MAX_TILT, xtol=1e-6))
    )


def _mean_exponent(logs: Floats) -> float:
    weights = np.exp(logs - logs.max())
    return float(weights @ np.arange(len(weights)) / weights.sum())


def _log_sum(logs: Floats) -> float:
    return float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))


def _truncated_product(a: Floats, b: Floats, k: int) -> Floats:
    return np.convolve(a, b)[: k + 1]


def _truncated_power(factor: Floats, times: int, k: int) -> Floats:
    found = np.ones(1)
    while times:
        if times & 1:
            found = _truncated_product(found, factor, k)
        factor, times = _truncated_product(factor, factor, k), times >> 1
    return found


def _log_choose(n: int, k: int) -> float:
    return math.log(math.comb(n, k))


def _check_itemset_size(n: int, k: int) -> None:
    if not 0 <= k <= n:
        raise UnveilError(f"an itemset cannot have {k} of {n} items; give a size between 0 and {n}")
