"""How likely does another record take a person's place? Bounds from the number of attributes on which records agree.

An attacker who knows m random attributes of record r, out of the u that it has, cannot exclude record y if all m are
among the g attributes on which r and y agree. The probability is exactly

    C(g, m) / C(u, m) = ∏_{j<m} (g − j)/(u − j).

The theorems of Merener (2012) bound it by γ^m for any data (:mod:`unveil.linkage.theorems.statements`), using only g ≤
γu. Adding the exact values over the other records gives the same union bound without that loss. It is weak only where
there are many candidates at once.

- Â and B̂ name a candidate with the fewest attributes, so only records y with no more attributes than r do harm:
  :func:`union_bound`.
- Scoreboard names any candidate and succeeds with probability E[1/|D_x|] ≥ 1/E|D_x| (Theorem 11, which is Jensen's
  inequality); :func:`expected_candidates` is E|D_x|, exactly.

The numbers C(g, m)/C(u, m) for g = u, u − 1, … follow from each other by a factor (g − m)/g, without factorials.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.linkage.theorems.exact_numbers import Number, exact_decimal, high_precision, round_down, smallest_exponent

__all__ = ["bounds_from_counts", "expected_candidates", "uniform_values_bound", "union_bound"]


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
    all_in = _subset_chances(own, m)
    fewer, same = (
        float((np.bincount(g[chosen], minlength=own + 1) * all_in).sum()) for chosen in (sizes < own, sizes == own)
    )
    return max(0.0, 1 - fewer - same) if ties == "worst" else _random_tie_bound(fewer, same)


def _random_tie_bound(fewer: float, same: float) -> float:
    return max(0.0, 1 - fewer - same / 2, 1 / (1 + same) - fewer)


def bounds_from_counts(counts: Ints, own: int, m: int) -> tuple[float, float]:
    """The union bound with random ties, and 1/E|D_x|, for a record with ``own`` attributes. ``counts[k, g]`` other
    records agree with it on g attributes and have fewer attributes (k = 0), equally many (1) or more (2).

    >>> [round(p, 9) for p in bounds_from_counts(np.array([[0, 0, 0, 1, 0, 0, 0], [0] * 7, [0, 1, 0, 0, 1, 0, 0]]), 6,
    ...     2)]
    [0.8, 0.625]
    """
    fewer, same, more = (float(x) for x in counts @ _subset_chances(own, m))
    return _random_tie_bound(fewer, same), 1 / (1 + fewer + same + more)


def expected_candidates(agreements: npt.ArrayLike, own: int, m: int) -> float:
    """E|D_x| for one record, itself included, from its agreement with the others.

    Scoreboard names any candidate: its success is E[1/|D_x|] ≥ 1/E|D_x| (Theorem 11, Jensen's inequality).
    """
    return 1 + float(_subset_chances(own, m)[np.asarray(agreements, np.int64)].sum())


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


def _subset_chances(own: int, m: int) -> Floats:
    """C(g, m)/C(own, m) for g = 0 … own: each is (g−m)/g times the next, and the last is 1."""
    if not 1 <= m <= own:
        raise UnveilError("the attacker must know at least one attribute, and no more than the record has")
    h = np.arange(1, own + 1)
    ratio = np.append(np.maximum(h - m, 0) / h, 1.0)
    return np.cumprod(ratio[::-1])[::-1]
