"""What a table with one row per person can give up: finer labels, columns, rare values, and the rows that are found.

Rows that are equal in everything released are interchangeable: finding one means finding the other. At least three
columns stay, because the question needs that many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unveil.arrays import Ints
from unveil.grouping import class_ids
from unveil.linkage.attack.experiment import Outcome
from unveil.linkage.attack.success import SAMPLED_TARGETS, measure_success
from unveil.linkage.finding_text import MIN_COLUMNS
from unveil.linkage.protections.plan_search import PlanSearch, ProtectionPlan
from unveil.linkage.records import Records, records_from_codes
from unveil.release.codes import Codes

__all__ = ["TableSearch"]

_MAX_TRIED_ROWS = 4_000_000  # rows attacked while trying sets of columns


@dataclass(eq=False)
class TableSearch(PlanSearch):
    """Columns, values and rows. ``other`` is the class of every row by the columns that are released but that nobody
    knows."""

    other: Ints
    others: ClassVar[tuple[str, str]] = ("values", "rows")

    def __post_init__(self) -> None:
        keys: list[npt.NDArray[np.integer]] = [self.other, *(ladder.codes for ladder in reversed(self.ladders))]
        self._set_row_order(np.lexsort(keys), len(self.other))
        self.other = self.other[self.row]

    def kept_rows(self, plan: ProtectionPlan) -> Ints:
        return self.kept_ids(plan)

    def rarity_limits(self, column: int, level: int) -> tuple[int, ...]:
        return self.ladders[column].rarity_limits(level)

    def can_leave_out(self, plan: ProtectionPlan, column: int) -> bool:
        return len(self.kept_columns(plan)) > MIN_COLUMNS

    def released_records(self, plan: ProtectionPlan) -> tuple[Records, Ints, Ints | None]:
        kept, left = self.kept_ids(plan), self.kept_columns(plan)
        columns = {self.ladders[i].name: Codes(self.labels(plan, i, kept), self.step(plan, i).labels) for i in left}
        shown: list[Any] = [self.other[kept], *(c.codes for c in columns.values())]
        kind, _ = class_ids(shown, len(kept))
        return records_from_codes(columns, self.kept_similarities(plan, left)), kept, np.bincount(kind)[kind]

    def play_attack(self, records: Records, ms: list[int], equals: Ints | None, everyone: bool) -> tuple[Outcome, ...]:
        return measure_success(
            records, ms, rng=self.run.rng("linkage.protect"), equals=equals,
            targets=records.n if everyone else SAMPLED_TARGETS, confidence=self.run.confidence, run=self.run,
        )  # fmt: skip

    def last_resorts(self) -> Iterator[ProtectionPlan]:
        """All sets of columns at their coarsest labels, the largest first, as long as that is little work: with the
        same columns, coarser labels never lead to more people found, except for copies."""
        size, tried = len(self.ladders), 0
        for left in range(size, MIN_COLUMNS - 1, -1):
            for columns in combinations(range(size), left):
                if tried * self.rows > _MAX_TRIED_ROWS:
                    return
                levels = tuple(
                    x.left_out_level - 1 if i in columns else x.left_out_level for i, x in enumerate(self.ladders)
                )
                yield replace(self.unchanged_plan, levels=levels)
                tried += 1
