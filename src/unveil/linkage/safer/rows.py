"""What a table with one row per person can give up: finer labels, columns, rare values, and the rows that are found.

A row that is the same as another in everything that is released is as good as it: whoever finds the one has found the
other. At least three columns stay, for the question is not asked of fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.linkage.attack.success import TARGETS, success
from unveil.linkage.copies import same
from unveil.linkage.records import records_of_codes
from unveil.linkage.safer.search import Found, Ints, Plan, Search, found, numbers_known
from unveil.linkage.telling import FEWEST
from unveil.release.codes import Codes

__all__ = ["RowsSearch"]

_WORK = 4_000_000  # rows that are attacked to try sets of columns


@dataclass(eq=False)
class RowsSearch(Search):
    """Columns, values and rows. ``other`` is for every row the number of the class it is in by all columns that are
    released and that nobody knows."""

    other: Ints
    others: ClassVar[tuple[str, str]] = ("values", "rows")

    def __post_init__(self) -> None:
        keys: list[npt.NDArray[np.integer]] = [self.other, *(ladder.codes for ladder in reversed(self.ladders))]
        self._ordered(np.lexsort(keys), len(self.other))
        self.other = self.other[self.row]

    def rows_kept(self, plan: Plan) -> Ints:
        return self.kept(plan)

    def rarities(self, column: int, level: int) -> tuple[int, ...]:
        return self.ladders[column].rarities(level)

    def may_go(self, plan: Plan, column: int) -> bool:
        return len(self.left(plan)) > FEWEST

    def attacked(self, plan: Plan, everyone: bool = False) -> Found:
        kept, left = self.kept(plan), self.left(plan)
        columns = {self.ladders[i].name: Codes(self.labels(plan, i, kept), self.step(plan, i).labels) for i in left}
        records = records_of_codes(columns, self.compared(plan, left))
        people = numbers_known(records, self.known)
        if not people:
            return Found(kept[:0], np.empty(0), 1.0, True)
        kind = same([self.other[kept], *(c.codes for c in columns.values())], len(kept))
        outcomes = success(
            records, list(people), rng=self.run.rng("linkage.protect"), equals=np.bincount(kind)[kind],
            targets=len(kept) if everyone else TARGETS, confidence=self.run.confidence, run=self.run,
        )  # fmt: skip
        return found(outcomes, people, kept, self.run.confidence, self.own_row)

    def last_resorts(self) -> Iterator[Plan]:
        """All sets of columns on their coarsest labels, the largest ones first, as long as that is little work: with
        the same columns nobody is found more often under coarser labels, copies aside."""
        size, tried = len(self.ladders), 0
        for left in range(size, FEWEST - 1, -1):
            for columns in combinations(range(size), left):
                if tried * self.rows > _WORK:
                    return
                levels = tuple(x.out - 1 if i in columns else x.out for i, x in enumerate(self.ladders))
                yield replace(self.start, levels=levels)
                tried += 1
