"""What ratings can give up: finer values and dates, or all of them, items that few people rated, and the people who are
found.

The item is the first column. It has no coarser labels and always stays. Its rare labels are not merged: these items are
left out with their ratings. The value and the date follow, if there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from unveil.arrays import Int32s, Ints
from unveil.linkage.attack.adversaries import least_support_adversary
from unveil.linkage.attack.exact_success import counting_cost, is_countable
from unveil.linkage.attack.experiment import Outcome, attack_records
from unveil.linkage.attack.success import SAMPLED_TARGETS, measure_success
from unveil.linkage.protections.plan_search import PlanSearch, ProtectionPlan
from unveil.linkage.records import Records, records_from_ratings
from unveil.linkage.similarity import equal_values
from unveil.release.coarsening import LadderStep, effective_limits
from unveil.release.codes import Codes, arrow_integers

__all__ = ["RatingsSearch"]

ITEM_COLUMN = 0  # position of the item column
_MAX_COUNTING_WORK = 30_000_000  # people times sets of items to count, at most
_MIN_PLAYED_TARGETS = 10_000  # targets at least: the fewer people, the more often each is attacked
_LARGE_LIMITS = tuple(d * 10**p for p in range(8) for d in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80))
_RARITY_LIMITS = (2, 3, 4, 5, 6, 8, *_LARGE_LIMITS)
_MIN_ITEMS = 2  # items that must stay
_BATCH_GROWTH = 0.1


@dataclass(eq=False)
class RatingsSearch(PlanSearch):
    """Columns, items and people; ``person`` says who gave each rating."""

    person: Codes
    raters_per_item: Ints = field(init=False)
    _rating_user: Int32s = field(init=False)
    _rarity_series: tuple[int, ...] = field(init=False)
    others: ClassVar[tuple[str, str]] = ("items", "people")

    def __post_init__(self) -> None:
        item = self.ladders[ITEM_COLUMN].codes
        key = self.person.codes.astype(np.int64) * (int(item.max(initial=0)) + 1) + item
        order = np.argsort(key, kind="stable")
        self._set_row_order(order, len(self.person.values))
        self._rating_user = self.person.codes[order]
        fresh = np.append(True, np.diff(key[order]) > 0)[: len(order)]
        self.raters_per_item = np.bincount(
            self._codes[ITEM_COLUMN][fresh], minlength=len(self.ladders[ITEM_COLUMN].steps[0].labels)
        )
        self._rarity_series = effective_limits(self.raters_per_item, _RARITY_LIMITS, so_far=0, left=_MIN_ITEMS)

    def kept_rows(self, plan: ProtectionPlan) -> Ints:
        frequent = self.raters_per_item >= plan.rare[ITEM_COLUMN]
        return np.flatnonzero(self.kept_mask(plan)[self._rating_user] & frequent[self._codes[ITEM_COLUMN]])

    def people_with_ratings(self, plan: ProtectionPlan) -> Ints:
        """The people who still have a rating."""
        return np.flatnonzero(np.bincount(self._rating_user[self.kept_rows(plan)], minlength=self.size))

    def rarity_limits(self, column: int, level: int) -> tuple[int, ...]:
        return self._rarity_series if column == ITEM_COLUMN else ()

    def can_leave_out(self, plan: ProtectionPlan, column: int) -> bool:
        return column != ITEM_COLUMN

    def step(self, plan: ProtectionPlan, column: int) -> LadderStep:
        return self.ladders[column].step(plan.levels[column])

    def next_batch_size(self, plan: ProtectionPlan) -> int:
        """One percent at first, and more if many are already left out."""
        return max(super().next_batch_size(plan), round(_BATCH_GROWTH * len(plan.left_out_ids)))

    def start_plans(self, kinds: Sequence[str]) -> list[ProtectionPlan]:
        """The unchanged plan, and one without values and dates: while these tell everyone apart, no other move shows
        its worth."""
        bare = replace(
            self.unchanged_plan,
            levels=tuple(0 if i == ITEM_COLUMN else x.left_out_level for i, x in enumerate(self.ladders)),
        )
        return (
            [self.unchanged_plan, bare]
            if {"columns", *self.others} & set(kinds) > {"columns"}
            else [self.unchanged_plan]
        )

    def released_records(self, plan: ProtectionPlan) -> tuple[Records, Ints, Ints | None]:
        kept = self.kept_rows(plan)
        user, who = _renumber_codes(self._rating_user[kept])
        item, items = _renumber_codes(self._codes[ITEM_COLUMN][kept])
        left = [i for i in self.kept_columns(plan) if i != ITEM_COLUMN]
        compared = self.kept_similarities(plan, left)
        own = [Codes(self.labels(plan, i, kept), self.step(plan, i).labels) for i in left]
        value, date = (*own, None, None)[:2]
        similarities = [compared.get(self.ladders[i].name, equal_values()) for i in left] + [equal_values()] * 2
        coded = Codes(user, pa.nulls(len(who))), Codes(item, arrow_integers(items))
        return records_from_ratings(*coded, value, date, (similarities[0], similarities[1])), who, None

    def play_attack(self, records: Records, ms: list[int], equals: Ints | None, everyone: bool) -> tuple[Outcome, ...]:
        """The outcomes for these numbers of known ratings: counted if that is quick, else sampled."""
        rng = self.run.rng("linkage.protect")
        if (
            records.attributes_per_fact == 1
            and is_countable(records)
            and counting_cost(records, ms) <= _MAX_COUNTING_WORK
        ):
            return measure_success(records, ms, rng=rng, run=self.run)
        targets: Ints | int = SAMPLED_TARGETS
        if everyone or records.n <= _MIN_PLAYED_TARGETS:
            targets = np.tile(np.arange(records.n), -(-_MIN_PLAYED_TARGETS // records.n))
        return attack_records(
            records,
            [least_support_adversary()],
            ms,
            rng=rng,
            targets=targets,
            confidence=self.run.confidence,
            run=self.run,
        )


def _renumber_codes(codes: Int32s) -> tuple[Int32s, Ints]:
    """Codes without gaps, and the code that each of them was."""
    there = np.bincount(codes) > 0
    return (np.cumsum(there) - 1).astype(np.int32)[codes], np.flatnonzero(there)
