"""What does the agreement between records guarantee an attacker? Counted on the data at hand.

An attacker who knows m random things of record r, out of the u that it has, cannot exclude record y if all m are among
the g things on which r and y agree. The probability is exactly

    C(g, m) / C(u, m) = ∏_{j<m} (g − j)/(u − j).

The theorems of Merener (2012) bound it by γ^m for any data (:mod:`unveil.linkage.theorems.statements`), using only g ≤
γu. Adding the exact values over the other records gives the same union bound without that loss. It is weak only where
there are many candidates at once. There are two bounds for the success with m random things, one pair per record:

- by the union bound, for the adversary who names a candidate with the fewest things: only records y with no more things
  than r do harm. Let A be the number of candidates with fewer things and T the number with equally many. Success is
  E[1/(1+T); A = 0]. Because T/(1+T) ≤ T/2, it is at least 1 − E A − E T/2, and by Jensen's inequality also at least
  1/(1 + E T) − E A;
- by Jensen's inequality, 1/E|D_x| for the adversary who names any candidate (Theorem 11). While what is known is right,
  the first adversary is optimal on average, so the *mean* of these bounds holds for it as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.linkage.postings import build_postings
from unveil.linkage.records import Records
from unveil.linkage.theorems import _record_agreement
from unveil.run import Run

__all__ = ["AgreementBounds", "agreement_bounds", "agreement_work", "random_tie_bound", "subset_chances"]


@dataclass(frozen=True, eq=False)
class AgreementBounds:
    """For each of ``rows`` and each number of things known: the success guaranteed by the union bound and by Jensen's
    inequality. Everything is known about records with fewer things; NaN if a record has none."""

    rows: Ints
    union: Floats
    jensen: Floats


def agreement_work(records: Records) -> float:
    """The mean number of entries examined per record, at most."""
    popular = records.popularity.astype(np.float64)
    return records.n + float((popular * popular).sum()) / max(1, records.n)


def agreement_bounds(
    records: Records, rows: npt.ArrayLike, ms: Sequence[int], run: Run | None = None
) -> AgreementBounds:
    """The bounds for these records and numbers of things known."""
    run, chosen = run or Run(), np.asarray(rows, np.int64)
    some, (starts, holder, code) = records.select(chosen), build_postings(records)
    begin, end = _agreeing_ranges(some, starts, code)
    count, support = np.zeros(records.n, np.int64), records.support
    shape = len(chosen), len(ms)
    made = AgreementBounds(chosen, np.full(shape, np.nan), np.full(shape, np.nan))
    for place, (first, last) in enumerate(pairwise(some.indptr.tolist())):
        run.check()
        run.progress("counting how far records agree", place / len(chosen))
        own = last - first
        found = np.zeros((3, own + 1), np.int64)
        found[1, own] = -1  # the record itself
        _record_agreement.count_agreements(begin[first:last], end[first:last], holder, support, count, found)
        for j, m in enumerate(ms if own else ()):
            fewer, same, more = (float(x) for x in found @ subset_chances(own, min(m, own)))
            made.union[place, j], made.jensen[place, j] = random_tie_bound(fewer, same), 1 / (1 + fewer + same + more)
    return made


def _agreeing_ranges(records: Records, starts: Ints, code: Int32s) -> tuple[Ints, Ints]:
    """For every entry of some records, where the holders of a value that agrees with it begin and end among all
    holders."""
    ranges, begin, end = (
        records.code_ranges(1.0),
        np.empty(len(records.value), np.int64),
        np.empty(len(records.value), np.int64),
    )
    at = ranges.starts[records.attribute] + records.value
    order = np.argsort(records.attribute, kind="stable")
    attributes, firsts = np.unique(records.attribute[order], return_index=True)
    for i, mine in zip(attributes.tolist(), np.split(order, firsts[1:]), strict=False):
        codes = code[starts[i] : starts[i + 1]]
        begin[mine] = starts[i] + codes.searchsorted(ranges.low[at[mine]])
        end[mine] = starts[i] + codes.searchsorted(ranges.high[at[mine]], "right")
    return begin, end


def random_tie_bound(fewer: float, same: float) -> float:
    """The success guaranteed if candidates with the fewest things are equally likely to be named, from E A and E T."""
    return max(0.0, 1 - fewer - same / 2, 1 / (1 + same) - fewer)


def subset_chances(own: int, m: int) -> Floats:
    """C(g, m)/C(own, m) for g = 0 … own: each is (g−m)/g times the next, and the last is 1, without factorials.

    >>> subset_chances(3, 2).round(9).tolist()
    [0.0, 0.0, 0.333333333, 1.0]
    """
    if not 1 <= m <= own:
        raise UnveilError("the attacker must know at least one attribute, and no more than the record has")
    h = np.arange(1, own + 1)
    ratio = np.append(np.maximum(h - m, 0) / h, 1.0)
    return np.cumprod(ratio[::-1])[::-1]
