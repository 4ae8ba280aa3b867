"""What does the agreement between records guarantee an attacker? Counted on the data at hand.

For each of some records, count on how many things every other record agrees with it;
:mod:`unveil.linkage.theorems.union_bound` derives bounds from these counts. There are two bounds for the success with m
random things, one pair per record:

- by the union bound, for the adversary who names a candidate with the fewest things;
- by Jensen's inequality, 1/E|D_x| for the adversary who names any candidate (Theorem 11). While what is known is right,
  the first adversary is optimal on average, so the *mean* of these bounds holds for it as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints, Small
from unveil.linkage.postings import build_postings
from unveil.linkage.records import Records
from unveil.linkage.theorems import _record_agreement
from unveil.linkage.theorems.union_bound import bounds_from_counts
from unveil.run import Run

__all__ = ["AgreementBounds", "agreement_bounds", "agreement_work"]


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
            made.union[place, j], made.jensen[place, j] = bounds_from_counts(found, own, min(m, own))
    return made


def _agreeing_ranges(records: Records, starts: Ints, code: Small) -> tuple[Ints, Ints]:
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
