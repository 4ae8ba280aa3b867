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

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
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
    run, chosen, support = run or Run(), np.asarray(rows, np.int64), records.support
    ranges, (starts, holder, code) = records.code_ranges(1.0), build_postings(records)
    count = np.zeros(records.n, np.int64)
    found = np.zeros((3, int(support.max(initial=0)) + 1), np.int64)
    shape = len(chosen), len(ms)
    made = AgreementBounds(chosen, np.full(shape, np.nan), np.full(shape, np.nan))
    for place, row in enumerate(chosen.tolist()):
        run.check()
        run.progress("counting how far records agree", place / len(chosen))
        _record_agreement.count_agreements(
            records.indptr, records.attribute, records.value, ranges.starts, ranges.low, ranges.high, starts, holder,
            code, support, row, count, found,
        )  # fmt: skip
        own = int(support[row])
        for j, m in enumerate(ms if own else ()):
            made.union[place, j], made.jensen[place, j] = bounds_from_counts(found[:, : own + 1], own, min(m, own))
    return made
