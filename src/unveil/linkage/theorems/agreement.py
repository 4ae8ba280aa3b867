"""How likely is it that another record takes someone's place? Counted from how far records agree.

An attacker who knows m random attributes of record r, out of the u that it has, cannot exclude record y if the m all
lie among the g attributes on which r and y agree. That has probability

    C(g, m) / C(u, m) = ∏_{j<m} (g − j)/(u − j),

exactly. Adding up over the other records bounds, from the data, what the theorems of document 002 bound by γ^m for any
data (:mod:`unveil.linkage.theorems.statements`; there g ≤ γu is all that is known): the same union bound, with nothing
given away before it. It says little only where the candidates are many at once.

- Â and B̂ name a candidate with the fewest attributes, so that only records y with no more attributes than r harm:
  :func:`union_bound`.
- Scoreboard names any candidate, and succeeds with probability E[1/|D_x|] ≥ 1/E|D_x| (Theorem 11, which is Jensen's
  inequality); :func:`expected_candidates` is E|D_x|, exactly.

The numbers C(g, m)/C(u, m), g = u, u − 1, … follow from each other by a factor (g − m)/g: no factorial is computed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.theorems.whole import Number, exact, least_power, precisely, rounded_down

__all__ = ["bounds_of_counts", "expected_candidates", "uniform_values", "union_bound"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def union_bound(
    agreements: npt.ArrayLike,
    supports: npt.ArrayLike,
    own: int,
    m: int,
    ties: Literal["worst", "random"] = "worst",
) -> float:
    """The probability with which Â (or B̂) finds a record that has ``own`` attributes, at least, from the data.

    The other records agree with it on ``agreements`` of them and have ``supports`` attributes. Let A of them be
    candidates with fewer attributes, T candidates with as many: E A and E T are sums of C(g, m)/C(u, m).

    - ``worst``: whoever is named among equals, success ≥ 1 − E A − E T.
    - ``random``: success is E[1/(1+T); A = 0]. Because T/(1+T) ≤ T/2, that is 1 − E A − E T/2 or more, and by Jensen's
      inequality also 1/(1 + E T) − E A or more.

    Agreement is with what the attacker knows, where that is at hand, else being 1 − ε alike; for B̂ it is having the
    attribute. Leave out records equal to this one to count them as found, and those more than σ similar to bound
    P[Sim > σ]. For one rare attribute and m − 1 others, keep the records that agree on it, and take one off every
    number.

    >>> round(union_bound([3, 1, 4], [4, 9, 6], own=6, m=2), 9)
    0.4
    """
    g, sizes = np.asarray(agreements, np.int64), np.asarray(supports, np.int64)
    if g.shape != sizes.shape or (g < 0).any() or (g > np.minimum(sizes, own)).any():
        raise UnveilError("records agree on attributes that both have, a whole number for each other record")
    all_in = _all_in(own, m)
    fewer, same = (
        float((np.bincount(g[chosen], minlength=own + 1) * all_in).sum()) for chosen in (sizes < own, sizes == own)
    )
    return max(0.0, 1 - fewer - same) if ties == "worst" else _with_random_ties(fewer, same)


def _with_random_ties(fewer: float, same: float) -> float:
    return max(0.0, 1 - fewer - same / 2, 1 / (1 + same) - fewer)


def bounds_of_counts(counts: Ints, own: int, m: int) -> tuple[float, float]:
    """The union bound with random ties, and 1/E|D_x|, of a record that has ``own`` attributes, where ``counts[k, g]``
    others agree with it on g attributes and have fewer attributes (k = 0), as many (1) or more (2).

    >>> [round(p, 9) for p in bounds_of_counts(np.array([[0, 0, 0, 1, 0, 0, 0], [0] * 7, [0, 1, 0, 0, 1, 0, 0]]), 6, 2)]
    [0.8, 0.625]
    """
    fewer, same, more = (float(x) for x in counts @ _all_in(own, m))
    return _with_random_ties(fewer, same), 1 / (1 + fewer + same + more)


def expected_candidates(agreements: npt.ArrayLike, own: int, m: int) -> float:
    """E|D_x| of one record, itself included, from its agreement with the others.

    Scoreboard names any candidate: its success is E[1/|D_x|] ≥ 1/E|D_x| (Theorem 11, Jensen's inequality).
    """
    return 1 + float(_all_in(own, m)[np.asarray(agreements, np.int64)].sum())


def uniform_values(n: int, b: int, k: Number) -> tuple[float, int, float]:
    """Theorem 11 for the toy of §4.6: n full records of independent values, each one of b with the same probability.

    E|D_x| ≤ 1 + n/b^m, so that with m ≥ k + log n/log b success is b^k/(b^k + 1) or more. Returns that real number, the
    smallest whole m, and the success.

    >>> limit, m, p = uniform_values(480_000, 2, 4)
    >>> round(limit, 3), m, round(17 * p, 9)
    (22.873, 23, 16.0)
    """
    if n < 1 or b < 2:
        raise UnveilError("there must be one record, and two values to tell apart")
    with precisely():
        power = Decimal(b) ** exact(k)
        limit = exact(k) + Decimal(n).ln() / Decimal(b).ln()
        whole = least_power(n * power, Decimal(1), 1 / Decimal(b))
        return float(limit), max(1, whole), rounded_down(power / (power + 1))


def _all_in(own: int, m: int) -> Floats:
    """C(g, m)/C(own, m) for g = 0 … own: each is (g−m)/g times the next, and the last is 1."""
    if not 1 <= m <= own:
        raise UnveilError("an attacker knows one attribute at least, and no more than the record has")
    h = np.arange(1, own + 1)
    ratio = np.append(np.maximum(h - m, 0) / h, 1.0)
    return np.cumprod(ratio[::-1])[::-1]
