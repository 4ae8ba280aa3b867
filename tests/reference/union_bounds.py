"""Bounds on the success of linkage attacks from the agreement of given records, and the smallest m that suffices.

:mod:`unveil.linkage.theorems.record_agreement` derives the same bounds from counts over a whole database.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.theorems.best_bound import best_bound
from unveil.linkage.theorems.exact_numbers import Number, exact_decimal, high_precision, round_down, smallest_exponent
from unveil.linkage.theorems.guarantees import Guarantee
from unveil.linkage.theorems.record_agreement import random_tie_bound, subset_chances

__all__ = ["expected_candidates", "smallest_m", "uniform_values_bound", "union_bound"]

_MAX_ATTRIBUTES = 1 << 30  # more attributes than anyone can know


def union_bound(
    agreements: npt.ArrayLike,
    supports: npt.ArrayLike,
    own: int,
    m: int,
    ties: Literal["worst", "random"] = "worst",
) -> float:
    """A lower bound, from the data, for the probability that Â (or B̂) finds a record with ``own`` attributes.

    The other records agree with it on ``agreements`` of these and have ``supports`` attributes. Let A be the number of
    candidates with fewer attributes and T the number with equally many; E A and E T are sums of C(g, m)/C(u, m).

    - ``worst``: however ties are broken, success ≥ 1 − E A − E T.
    - ``random``: success is E[1/(1+T); A = 0]. Because T/(1+T) ≤ T/2, it is at least 1 − E A − E T/2, and by Jensen's
      inequality also at least 1/(1 + E T) − E A.

    Agreement is agreement with what the attacker knows if that is at hand, else being 1 − ε alike; for B̂ it is having
    the attribute. Leave out records equal to this one to count them as found, and records more than σ similar to bound
    P[Sim > σ]. For one rare attribute and m − 1 others, keep only the records that agree on it and subtract one from
    every number.

    >>> round(union_bound([3, 1, 4], [4, 9, 6], own=6, m=2), 9)
    0.4
    """
    g, sizes = np.asarray(agreements, np.int64), np.asarray(supports, np.int64)
    if g.shape != sizes.shape or (g < 0).any() or (g > np.minimum(sizes, own)).any():
        raise UnveilError("each other record must agree on a whole number of attributes that both records have")
    all_in = subset_chances(own, m)
    fewer, same = (
        float((np.bincount(g[chosen], minlength=own + 1) * all_in).sum()) for chosen in (sizes < own, sizes == own)
    )
    return max(0.0, 1 - fewer - same) if ties == "worst" else random_tie_bound(fewer, same)


def expected_candidates(agreements: npt.ArrayLike, own: int, m: int) -> float:
    """E|D_x| for one record, itself included, from its agreement with the others.

    Scoreboard names any candidate: its success is E[1/|D_x|] ≥ 1/E|D_x| (Theorem 11, Jensen's inequality).
    """
    return 1 + float(subset_chances(own, m)[np.asarray(agreements, np.int64)].sum())


def uniform_values_bound(n: int, b: int, k: Number) -> tuple[float, int, float]:
    """Theorem 11 for the example of §4.6: n full records of independent values, each uniform on b values.

    E|D_x| ≤ 1 + n/b^m, so with m ≥ k + log n/log b the success is at least b^k/(b^k + 1). Returns that real number, the
    smallest integer m, and the success.

    >>> limit, m, p = uniform_values_bound(480_000, 2, 4)
    >>> round(limit, 3), m, round(17 * p, 9)
    (22.873, 23, 16.0)
    """
    if n < 1 or b < 2:
        raise UnveilError("there must be at least one record and two values")
    with high_precision():
        power = Decimal(b) ** exact_decimal(k)
        limit = exact_decimal(k) + Decimal(n).ln() / Decimal(b).ln()
        whole = smallest_exponent(n * power, Decimal(1), 1 / Decimal(b))
        return float(limit), max(1, whole), round_down(power / (power + 1))


def smallest_m(n: int, p: Number, sparsity: tuple[npt.ArrayLike, npt.ArrayLike], **options: Any) -> Guarantee | None:
    """The smallest m with which ``best_bound`` reaches p; None if there is none because f stays above 1 − p.

    >>> found = smallest_m(8619, 0.842, ([0.70, 0.73, 0.75], [0.145, 0.079, 0.063]))
    >>> found and (found.m, found.applied.sigma)
    (69, 0.73)
    """
    low, high, found = 0, 1, best_bound(n, 1, sparsity, **options)
    while found.p < p:
        if high >= _MAX_ATTRIBUTES:
            return None
        low, high = high, 2 * high
        found = best_bound(n, high, sparsity, **options)
    while high - low > 1:
        middle = (low + high) // 2
        other = best_bound(n, middle, sparsity, **options)
        low, high, found = (low, middle, other) if other.p >= p else (middle, high, found)
    return found
