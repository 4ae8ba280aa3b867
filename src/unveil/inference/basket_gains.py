"""How much do a few items of a basket raise belief in another one?

Someone knows at most so many items of a basket. Of the baskets with these items, a share c has another one, x; of all
baskets, a share s has it. If x is in the person's own basket, belief in it rises by c − s, the *gain*. As in
:mod:`unveil.inference.belief_gains`, at least so many baskets must have the known items, and x is *certain* if all of
them have it.

Sets of items are visited depth first; the baskets with a set are a list, which one more item divides, and sets that too
few baskets have are left. With n entries in the baskets of all sets together, that takes about n steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.inference import _basket_gains
from unveil.inference.belief_gains import (
    BeliefGains,
    TellingColumns,
    drop_larger_sets,
    lowest_that_reaches,
    most_telling_first,
)
from unveil.run import Run

__all__ = ["Baskets", "measure_basket_gains", "shuffle_baskets", "sort_lists"]

_SLICE = 1 << 26
_TOP_SETS = 100


@dataclass(frozen=True, eq=False)
class Baskets:
    """Basket b has the items ``items[indptr[b] : indptr[b + 1]]``. Somebody may know those in ``is_fact`` and wants to
    learn those in ``is_target``."""

    indptr: Ints
    items: Ints
    is_fact: Bools
    is_target: Bools

    @classmethod
    def in_order(cls, indptr: Int32s | Ints, items: Int32s, order: Ints, is_fact: Bools, is_target: Bools) -> Baskets:
        """Baskets in another order, the items of each sorted."""
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        of_entry = np.repeat(place, np.diff(indptr))
        entries = np.lexsort((items, of_entry))
        begins = np.append(0, np.cumsum(np.diff(indptr)[order], dtype=np.int64))
        return cls(begins, items[entries].astype(np.int64), is_fact, is_target)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def counts(self) -> Ints:
        """In how many baskets each item is."""
        return np.bincount(self.items, minlength=len(self.is_fact))


def sort_lists(baskets: Baskets) -> tuple[Ints, Int32s]:
    """The baskets of every item: where each list begins, and all lists one after the other."""
    of_entry = np.repeat(np.arange(len(baskets), dtype=np.int32), np.diff(baskets.indptr))
    begins: Ints = np.append(0, np.cumsum(baskets.counts))
    return begins, of_entry[np.argsort(baskets.items, kind="stable")]


def measure_basket_gains(
    baskets: Baskets, *, facts: int, fewest: int, gain: float, run: Run, most_work: int | None = None
) -> BeliefGains | None:
    """The gains from all sets of at most ``facts`` items that at least ``fewest`` baskets have; None if more than
    ``most_work`` entries of baskets would have to be looked at."""
    width = len(baskets.is_fact)
    begins, lists_of_items = sort_lists(baskets)
    sizes = np.diff(begins)
    first = np.flatnonzero(baskets.is_fact & (sizes >= fewest))
    first = first[np.argsort(sizes[first], kind="stable")]
    rank = np.full(width, -1, np.int64)
    rank[first] = np.arange(len(first))
    lists = np.zeros((facts, len(baskets.items)), np.int32)
    lists[0] = lists_of_items
    added = [np.zeros((facts, width), np.int64) for _ in range(3)]
    for rows, of_first in zip(added, (first, begins[first], sizes[first]), strict=True):
        rows[0, : len(first)] = of_first
    ends, following, known = (np.zeros(facts, np.int64) for _ in range(3))
    ends[0] = len(first)
    counts, is_known = np.zeros(width, np.int64), np.zeros(width, np.bool_)
    best, certain = np.full((facts + 1, len(baskets)), -1.0), np.zeros((facts + 1, len(baskets)), np.bool_)
    best[0] = _gain_of_nothing(baskets)
    people, sharing, sets = (
        np.zeros(_TOP_SETS, np.int64),
        np.zeros(_TOP_SETS, np.int64),
        np.full((_TOP_SETS, facts), -1),
    )
    state = np.zeros(3, np.int64)
    while not _basket_gains.visit_itemsets(
        baskets.indptr, baskets.items, rank, baskets.is_target, sizes / max(1, len(baskets)), fewest, facts,
        lowest_that_reaches(gain), lists, *added, ends, following, known, counts, is_known, best, certain, people,
        sharing, sets, state, state[1] + _SLICE,
    ):  # fmt: skip
        run.check()
        run.progress("looking for telling items", float(following[0]) / max(1, len(first)))
        if most_work is not None and state[1] > most_work:
            return None
    telling = _rank_sets(sets, people, sharing)
    return BeliefGains(np.maximum.accumulate(best), np.logical_or.accumulate(certain), telling)


def _rank_sets(sets: Ints, people: Ints, sharing: Ints) -> tuple[TellingColumns, ...]:
    """The most telling sets first, without those that tell about nobody more than a smaller one among them."""
    found = [
        TellingColumns(tuple(sorted(item for item in known if item >= 0)), int(some), int(of))
        for known, some, of in zip(sets.tolist(), people, sharing, strict=True)
        if some
    ]
    return drop_larger_sets(most_telling_first(found))


def _gain_of_nothing(baskets: Baskets) -> Floats:
    """Who knows nothing about a basket gains nothing; −1 where there is nothing to learn."""
    found = np.full(len(baskets), -1.0)
    found[np.repeat(np.arange(len(baskets)), np.diff(baskets.indptr))[baskets.is_target[baskets.items]]] = 0.0
    return found


def shuffle_baskets(baskets: Baskets, rng: np.random.Generator) -> Baskets:
    """Baskets whose items are unrelated. If all items are to be learned, each entry gets the item of a random other
    one: sizes and frequencies stay as they are, but for items that meet twice in a basket. Otherwise each basket gets
    the items to be learned of a random other one."""
    of_entry = np.repeat(np.arange(len(baskets)), np.diff(baskets.indptr))
    items = baskets.items
    if baskets.is_target.all():
        items = rng.permutation(items)
    else:
        moves = baskets.is_target[items]
        of_entry = np.where(moves, rng.permutation(len(baskets))[of_entry], of_entry)
    pairs = np.unique(of_entry * len(baskets.is_fact) + items)
    indptr = np.searchsorted(pairs, np.arange(len(baskets) + 1) * len(baskets.is_fact))
    return Baskets(indptr, pairs % len(baskets.is_fact), baskets.is_fact, baskets.is_target)
