"""What does the agreement of records with each other guarantee an attacker? Counted on the data at hand.

For each of some records it is counted on how many of their things all others agree with them;
:mod:`unveil.linkage.theorems.agreement` says what follows from that. Two bounds for success with m random things, each
for every record by itself:

- by the union bound, for the adversary who names a candidate with the fewest things;
- by Jensen's inequality, 1/E|D_x| for the one who names any candidate (Theorem 11). While what is known is right the
  first adversary is the best there is on average, so that the *mean* of these bounds holds for them as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.linkage.attack.auxiliary import postings
from unveil.linkage.records import Records
from unveil.linkage.theorems import _agreeing
from unveil.linkage.theorems.agreement import bounds_of_counts
from unveil.run import Run

__all__ = ["Agreeing", "agreeing", "work"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Agreeing:
    """For each of ``rows`` and each number of things known: the success that the union bound and Jensen's inequality
    guarantee. Of who has fewer things all are known; NaN where a record has none."""

    rows: Ints
    union: Floats
    jensen: Floats


def work(records: Records) -> float:
    """How many entries are looked at for a record, on average, at most."""
    popular = records.popularity.astype(np.float64)
    return records.n + float((popular * popular).sum()) / max(1, records.n)


def agreeing(records: Records, rows: npt.ArrayLike, ms: Sequence[int], run: Run | None = None) -> Agreeing:
    """The bounds for some records and numbers of things known."""
    run, chosen, support = run or Run(), np.asarray(rows, np.int64), records.support
    ranges, (starts, holder, code) = records.ranges(1.0), postings(records, run)
    count = np.zeros(records.n, np.int64)
    found = np.zeros((3, int(support.max(initial=0)) + 1), np.int64)
    shape = len(chosen), len(ms)
    made = Agreeing(chosen, np.full(shape, np.nan), np.full(shape, np.nan))
    for place, row in enumerate(chosen.tolist()):
        run.check()
        run.progress("counting how far records agree", place / len(chosen))
        _agreeing.agreeing(
            records.indptr, records.attribute, records.value, ranges.starts, ranges.low, ranges.high, starts, holder,
            code, support, row, count, found,
        )  # fmt: skip
        own = int(support[row])
        for j, m in enumerate(ms if own else ()):
            made.union[place, j], made.jensen[place, j] = bounds_of_counts(found[:, : own + 1], own, min(m, own))
    return made
