"""What ratings can give up: finer values and dates, or all of them, items that few people rated, and the people who are
found.

The item is the first column here. It has no coarser labels and always stays; its rare labels are not put together but
left out, with the ratings of these items. The value and the date follow, those that there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from unveil.linkage.attack.adversaries import smallest
from unveil.linkage.attack.exact import cost, countable
from unveil.linkage.attack.experiment import Outcome, attack
from unveil.linkage.attack.success import TARGETS, success
from unveil.linkage.records import Records, records_of_ratings
from unveil.linkage.safer.coarsen import Step
from unveil.linkage.safer.search import Found, Ints, Plan, Search, Small, found, numbers_known
from unveil.linkage.similarity import equal
from unveil.release.codes import Codes, arrow_numbers

__all__ = ["RatingsSearch"]

ITEM = 0  # the place of its column
_COUNTED = 30_000_000  # people times sets of items that are counted
_PLAYED = 10_000  # targets, at least: the fewer people, the more often each
_RARE = tuple(d * 10**p for p in range(8) for d in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80))
_SERIES = (2, 3, 4, 5, 6, 8, *_RARE)
_FEWEST = 2  # items that must be left
_GROWTH = 0.1


@dataclass(eq=False)
class RatingsSearch(Search):
    """Columns, items and people; ``person`` says whose each rating is."""

    person: Codes
    people_of: Ints = field(init=False)
    _user: Small = field(init=False)
    _series: tuple[int, ...] = field(init=False)
    others: ClassVar[tuple[str, str]] = ("items", "people")

    def __post_init__(self) -> None:
        item = self.ladders[ITEM].codes
        key = self.person.codes.astype(np.int64) * (int(item.max(initial=0)) + 1) + item
        order = np.argsort(key, kind="stable")
        self._ordered(order, len(self.person.values))
        self._user = self.person.codes[order]
        fresh = np.append(True, np.diff(key[order]) > 0)[: len(order)]
        self.people_of = np.bincount(self._codes[ITEM][fresh], minlength=len(self.ladders[ITEM].steps[0].labels))
        self._series = self._rising()

    def _rising(self) -> tuple[int, ...]:
        """The numbers of a rising series that each leave out more items, while some are left."""
        counts, series, so_far = np.sort(self.people_of), list[int](), 0
        for t in _SERIES:
            rare = int(np.searchsorted(counts, t))
            if rare > len(counts) - _FEWEST:
                break
            if rare > so_far:
                series, so_far = [*series, t], rare
        return tuple(series)

    def rows_kept(self, plan: Plan) -> Ints:
        stays = np.ones(self.size, np.bool_)
        stays[plan.gone] = False
        return np.flatnonzero(stays[self._user] & (self.people_of >= plan.rare[ITEM])[self._codes[ITEM]])

    def people_left(self, plan: Plan) -> Ints:
        """Those who still have a rating."""
        return np.flatnonzero(np.bincount(self._user[self.rows_kept(plan)], minlength=self.size))

    def rarities(self, column: int, level: int) -> tuple[int, ...]:
        return self._series if column == ITEM else ()

    def may_go(self, plan: Plan, column: int) -> bool:
        return column != ITEM

    def step(self, plan: Plan, column: int) -> Step:
        return self.ladders[column].step(plan.levels[column])

    def next_number(self, plan: Plan) -> int:
        """A percent at first, and more where many are gone already."""
        return max(super().next_number(plan), round(_GROWTH * len(plan.gone)))

    def starts(self, kinds: Sequence[str]) -> list[Plan]:
        """As it is, and without values and dates: as long as these tell everyone apart, no other move shows what it is
        worth."""
        bare = replace(self.start, levels=tuple(0 if i == ITEM else x.out for i, x in enumerate(self.ladders)))
        return [self.start, bare] if {"columns", *self.others} & set(kinds) > {"columns"} else [self.start]

    def attacked(self, plan: Plan, everyone: bool = False) -> Found:
        kept = self.rows_kept(plan)
        user = self._user[kept]
        there = np.bincount(user, minlength=self.size) > 0
        who, place = np.flatnonzero(there), (np.cumsum(there) - 1).astype(np.int32)
        left = [i for i in self.left(plan) if i != ITEM]
        compared = self.compared(plan, left)
        own = [Codes(self.labels(plan, i, kept), self.step(plan, i).labels) for i in left]
        value, date = (*own, None, None)[:2]
        said = [compared.get(self.ladders[i].name, equal()) for i in left] + [equal()] * 2
        person = Codes(place[user], pa.nulls(len(who)))
        records = records_of_ratings(person, self._items(kept), value, date, (said[0], said[1]))
        people = numbers_known(records, self.known)
        if not people:
            return Found(who[:0], np.empty(0), 1.0, True)
        return found(self._outcomes(records, list(people), everyone), people, who, self.run.confidence, self.own_row)

    def _outcomes(self, records: Records, ms: list[int], everyone: bool) -> tuple[Outcome, ...]:
        """What someone achieves who knows so many ratings: counted where that is quick, and else played."""
        rng = self.run.rng("linkage.protect")
        if records.together == 1 and countable(records) and cost(records, ms) <= _COUNTED:
            return success(records, ms, rng=rng, run=self.run)
        targets: Ints | int = TARGETS
        if everyone or records.n <= _PLAYED:
            targets = np.tile(np.arange(records.n), -(-_PLAYED // records.n))
        return attack(
            records, [smallest()], ms, rng=rng, targets=targets, confidence=self.run.confidence, run=self.run
        ).outcomes

    def _items(self, kept: Ints) -> Codes:
        """The items of some ratings, those that are left being numbered anew."""
        item = self._codes[ITEM][kept]
        there = np.bincount(item, minlength=len(self.people_of)) > 0
        place = (np.cumsum(there) - 1).astype(np.int32)
        return Codes(place[item], arrow_numbers(np.flatnonzero(there)))
