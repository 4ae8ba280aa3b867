"""What a table with one row per person can give up: finer labels, columns, rare values, and the rows that are found.

Rows that are equal in everything released are interchangeable: finding one means finding the other. At least three
columns stay, because the question needs that many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.arrays import Ints
from unveil.linkage.attack.success import SAMPLED_TARGETS, measure_success
from unveil.linkage.equal_records import row_classes
from unveil.linkage.finding_text import MIN_COLUMNS
from unveil.linkage.protections.plan_search import (
    AttackResult,
    PlanSearch,
    ProtectionPlan,
    attack_result,
    people_by_known_count,
)
from unveil.linkage.records import records_from_codes
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

    def attack_plan(self, plan: ProtectionPlan, everyone: bool = False) -> AttackResult:
        kept, left = self.kept_ids(plan), self.kept_columns(plan)
        columns = {self.ladders[i].name: Codes(self.labels(plan, i, kept), self.step(plan, i).labels) for i in left}
        records = records_from_codes(columns, self.kept_similarities(plan, left))
        people = people_by_known_count(records, self.known)
        if not people:
            return AttackResult(kept[:0], np.empty(0), 1.0, True)
        kind = row_classes([self.other[kept], *(c.codes for c in columns.values())], len(kept))
        outcomes = measure_success(
            records, list(people), rng=self.run.rng("linkage.protect"), equals=np.bincount(kind)[kind],
            targets=len(kept) if everyone else SAMPLED_TARGETS, confidence=self.run.confidence, run=self.run,
        )  # fmt: skip
        return attack_result(outcomes, people, kept, self.run.confidence, self.own_row)

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
