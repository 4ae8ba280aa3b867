"""How rare are the few items that an attacker knows? kᵐ-anonymity of baskets.

Somebody saw a person buy a few things and looks for their basket in the release. How many baskets hold all of these
items? If only one does, they learn what else the person bought.

**Definition** (Terrovitis, Mamoulis and Kalnis, *Privacy-preserving anonymization of set-valued data*, VLDB 2008). The
*support* of a set of items is the number of baskets that hold all of them. Baskets are kᵐ-anonymous if no set of at
most m items has a support from 1 to k − 1. For every basket let

    leastₘ(basket) = the least support of a set of at most m of its items.

It falls with m, but never below the number of baskets that hold everything this basket holds. For every m

- ``smallest`` is the least over all baskets: the largest k for which they are kᵐ-anonymous;
- ``below`` is the number of baskets with less than k, which are at risk;
- ``unique`` is the number of baskets with 1: at most m of their items occur together in no other basket.

Every basket holds the empty set. So m = 0 describes an attacker who knows nothing and sees all baskets, and an empty
basket has this support for every m. Without any baskets, everything is 0.

**Computation.** Sets are counted one size at a time. For each size, a depth-first search follows paths of items from
the rarest to the most frequent. A path carries the baskets that hold it, and one pass over these counts every possible
last item. Nothing is estimated. The search skips:

- *Finished* baskets, whose least support already equals the number of identical baskets. Items that only finished
  baskets hold are dropped; baskets that become identical are merged.
- Paths that no unfinished basket holds.
- Items that every basket of a path holds. The set without such an item is smaller and has the same support, so it was
  counted before.
- Paths that cannot lower anything. If c baskets hold a path and gᵢ of them lack item i, at least c − Σ gᵢ hold the path
  with all items i. For each unfinished basket, the bound takes its largest gᵢ once for every item still to come.

Work is counted in baskets and basket entries visited. It does not depend on the order of baskets and items, because
equally frequent items are taken in alphabetical order of their labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from unveil.arrays import Ints, Small, Words
from unveil.classes import _known_items
from unveil.errors import UnveilError
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.slices import chunks

__all__ = ["KnownItems", "measure_known_items"]

_Small = Small

_MOST_KNOWN = 3
_DEFAULT_K = 5
_WORK_LIMIT = 1_000_000_000
_STEPS_PER_SLICE = 1 << 20  # entries in a slice: a hundredth of a second, or a tenth where memory is slow


@dataclass(frozen=True, eq=False)
class KnownItems:
    """What an attacker achieves who knows at most m items of a basket.

    ``smallest[m]``, ``below[m]`` and ``unique[m]`` cover m = 0 … ``known``; ``truncated`` if the work did not allow the
    requested m. For every basket, ``least`` is the least support of a set of at most ``known`` of its items, and
    ``fewest`` is how many items that takes. ``work`` includes the work spent on a size that was not finished.
    """

    transactions: Transactions
    k: int
    known: int
    truncated: bool
    work: int
    smallest: Ints
    below: Ints
    unique: Ints
    least: Ints
    fewest: Ints

    def rarest_baskets(self, count: int) -> Ints:
        """The baskets that are easiest to find, by least support, then fewest items, then position."""
        return np.lexsort((self.fewest, self.least))[:count]

    def rarest_itemset(self, basket: int, run: Run | None = None) -> tuple[int, ...]:
        """The smallest set of a basket's items that has the least support, with the rarest item first. Ties go to the
        set with the rarest item, then the next rarest; equally rare items are ordered by label."""
        if not 0 <= basket < len(self.least):
            raise UnveilError(f"there is no basket {basket:,}; they are numbered from 0 to {len(self.least) - 1:,}")
        run, size, whole = run or Run(), int(self.fewest[basket]), self._ranked_baskets
        if size < 2:  # the rarest item, if any
            first = int(whole.begins[basket])
            return tuple(whole.items[whole.held[first : first + size]].tolist())
        least = np.zeros_like(self.least)
        least[basket] = self.least[basket] + 1  # only a set with the least support can lower it
        baskets, _ = _narrow_baskets(whole._replace(least=least), size, run)
        lowered = next(part.rarest_set for part in _search_sets(baskets, size, run) if len(part.rarest_set))
        return tuple(baskets.items[lowered].tolist())

    @cached_property
    def _ranked_baskets(self) -> _Baskets:
        return _rank_baskets(self.transactions, self.least, Run())


def measure_known_items(
    transactions: Transactions,
    k: int = _DEFAULT_K,
    most: int = _MOST_KNOWN,
    *,
    work: int = _WORK_LIMIT,
    run: Run | None = None,
) -> KnownItems:
    """Count the baskets that match at most m known items, for m = 0 … ``most``.

    All results are exact. If ``work`` (baskets and basket entries visited) does not allow ``most``, they end with a
    smaller m; single items are always counted.

    Of five baskets, three hold bread, three hold milk and four hold tea; every pair is in two baskets and all three are
    in one:

    >>> baskets = ["bread milk tea", "bread milk", "milk tea", "bread tea", "tea"]
    >>> found = measure_known_items(Transactions.from_baskets(basket.split() for basket in baskets), k=3)
    >>> found.smallest.tolist(), found.below.tolist(), found.unique.tolist()
    ([5, 3, 2, 1], [0, 0, 4, 4], [0, 0, 0, 1])
    >>> found.least.tolist(), found.fewest.tolist()
    ([1, 2, 2, 2, 4], [3, 2, 2, 2, 1])
    >>> found.rarest_baskets(2).tolist(), found.rarest_itemset(0), found.rarest_itemset(1)
    ([0, 1], (0, 1, 2), (0, 1))
    """
    if most < 1:
        raise UnveilError("the number of known items must be 1 or more")
    if k < 1:
        raise UnveilError("k must be 1 or more")
    run, count = run or Run(), transactions.baskets
    least = _rarest_item_supports(transactions)
    fewest = (least < count).astype(np.int64)
    told, spent = [_summarise_supports(np.full(count, count), k), _summarise_supports(least, k)], 0
    baskets, of = _rank_baskets(transactions, least, run), np.arange(count)
    for m in range(2, most + 1):
        baskets, became = _narrow_baskets(baskets, m, run)
        if not (baskets.least > baskets.weights).any():  # all baskets are finished
            told += [told[-1]] * (most - m + 1)
            break
        of = np.where(of < 0, of, became[of])  # −1 for finished baskets
        for part in _search_sets(baskets, m, run, work - spent):
            run.progress("counting baskets with the same items", (m - 2 + part.share) / (most - 1))
        spent += part.work
        if spent > work:
            break
        lower = least.copy()
        lower[of >= 0] = baskets.least[of[of >= 0]]
        fewest[lower < least] = m
        least = lower
        told.append(_summarise_supports(least, k))
    smallest, below, unique = np.array(told, np.int64).T.copy()
    known = len(told) - 1
    return KnownItems(transactions, k, known, known < most, spent, smallest, below, unique, least, fewest)


def _rarest_item_supports(transactions: Transactions) -> Ints:
    """The support of each basket's rarest item; for an empty basket, the number of baskets."""
    least = np.full(transactions.baskets, transactions.baskets, np.int64)
    some = np.flatnonzero(np.diff(transactions.indptr))
    if len(some):
        least[some] = np.minimum.reduceat(transactions.counts[transactions.items], transactions.indptr[some])
    return least


def _summarise_supports(least: Ints, k: int) -> tuple[int, int, int]:
    """The smallest support, the number of supports below k, and the number of supports equal to 1."""
    return int(least.min()) if len(least) else 0, int((least < k).sum()), int((least == 1).sum())


# ---- baskets that still matter ---------------------------------------------------------------------------------------


class _Baskets(NamedTuple):
    """Baskets of item ranks: rank r is item ``items[r]``. Basket b holds ``held[begins[b] : begins[b + 1]]``, in order,
    and stands for ``weights[b]`` baskets. ``least[b]`` is its least support so far, or 0 if it is not needed.
    """

    items: Ints
    begins: Ints
    held: _Small
    weights: Ints
    least: Ints


def _rank_baskets(transactions: Transactions, least: Ints, run: Run) -> _Baskets:
    """All baskets, with items ranked from the rarest on; equally rare items are ranked by label."""
    import pyarrow as pa
    import pyarrow.compute as pc

    named = pa.table({"count": transactions.counts, "label": transactions.labels})
    order = pc.sort_indices(named, sort_keys=[("count", "ascending"), ("label", "ascending")])
    items, begins = np.asarray(order).astype(np.int64), transactions.indptr
    rank, held = np.empty(len(items), np.int32), np.empty(len(transactions.items), np.int32)
    rank[items] = np.arange(len(items), dtype=np.int32)
    for start, stop in chunks(begins, run, _STEPS_PER_SLICE):
        _known_items.rank_items(begins, transactions.items, rank, start, stop, held)
    return _Baskets(items, begins, held, np.ones(transactions.baskets, np.int64), least)


def _narrow_baskets(baskets: _Baskets, size: int, run: Run) -> tuple[_Baskets, Ints]:
    """The baskets needed to search sets of ``size`` items, and the number that each given basket has among them: −1 if
    it is finished or has too few items.

    Only items of unfinished baskets are kept. A basket with fewer than ``size`` kept items holds no such set. One with
    ``size`` − 1 is still needed: it may hold a set except for one item, and so show that not every basket of a path
    holds that item.
    """
    items, begins, held, weights, least = baskets
    wanted, used = (least > weights) & (np.diff(begins) >= size), np.zeros(len(items), np.bool_)
    for start, stop in chunks(begins, run, _STEPS_PER_SLICE):
        _known_items.mark_items(begins, held, wanted, start, stop, used)
    rank, bits = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32), len(items).bit_length()
    kept, mixed, made = np.empty(len(weights), np.int64), np.empty(len(weights), np.uint64), 0
    ends, left = np.zeros_like(begins), np.empty_like(held)
    for start, stop in chunks(begins, run, _STEPS_PER_SLICE):
        made = _known_items.narrow_baskets(
            begins, held, rank, size - 1, bits, start, stop, made, kept, ends, left, mixed
        )
    kept, ends = kept[:made], ends[: made + 1]
    one, alike = _group_equal_baskets(ends, left, mixed[:made], run)
    together, lowest, became = np.zeros(len(one), np.int64), np.zeros(len(one), np.int64), np.full(len(weights), -1)
    np.add.at(together, alike, weights[kept])
    np.maximum.at(lowest, alike, np.where(wanted, least, 0)[kept])
    became[kept] = np.where(wanted[kept], alike, -1)
    new_begins = np.append(0, np.cumsum(np.diff(ends)[one]))
    new_held = np.empty(int(new_begins[-1]), np.int32)
    for start, stop in chunks(new_begins, run, _STEPS_PER_SLICE):
        _known_items.gather_baskets(ends, left, one, new_begins, start, stop, new_held)
    return _Baskets(items[used], new_begins, new_held, together, lowest), became


def _group_equal_baskets(begins: Ints, held: _Small, mixed: Words, run: Run) -> tuple[Ints, Ints]:
    """One basket of each kind, and the kind of every basket. Kinds with the same rarest item are adjacent, which makes
    the search faster."""
    order, fresh = np.argsort(mixed, kind="stable"), np.ones(len(mixed), np.bool_)
    for start, stop in chunks(begins, run, _STEPS_PER_SLICE):
        _known_items.mark_new_baskets(begins, held, mixed, order, start, stop, fresh)
    alike = np.empty(len(mixed), np.int64)
    alike[order] = np.cumsum(fresh) - 1
    return order[fresh], alike


# ---- the search ------------------------------------------------------------------------------------------------------


class _SearchProgress(NamedTuple):
    """Progress so far: the entries visited, the share of first items done, and the last set that lowered a least
    support, if any."""

    work: int
    share: float
    rarest_set: _Small


def _search_sets(baskets: _Baskets, size: int, run: Run, work: int | None = None) -> Iterator[_SearchProgress]:
    """Lower ``baskets.least`` to the least support of sets of ``size`` items, slice by slice, stopping soon after
    ``work`` is used up."""
    items, begins, held, weights, least = baskets
    n, depths = len(items), size - 1
    starts, nexts = np.zeros((depths, n + 1), np.int64), np.zeros((depths, n), np.int32)
    np.cumsum(np.bincount(held, minlength=n), out=starts[0, 1:])
    nexts[0] = np.arange(n)
    holder, after, rooms = _index_holders(baskets, starts[0], depths, run)
    many, at = np.array([n] + [0] * (depths - 1)), np.zeros(depths, np.int64)
    room = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_), np.empty(n, np.int32)
    state, path = np.zeros(3, np.int64), np.full(size, -1, np.int32)
    stack = holder, after, rooms, nexts, starts, many, at
    while True:
        lowered = path if path[0] >= 0 else path[:0]
        yield _SearchProgress(int(state[2]), float(at[0] / max(1, n)), lowered)
        if state[1] or (work is not None and state[2] > work):
            return
        run.check()
        steps = _STEPS_PER_SLICE if work is None else min(_STEPS_PER_SLICE, work + 1 - int(state[2]))
        _known_items.search_sets(begins, held, weights, least, size, *stack, room, state, path, steps)


def _index_holders(baskets: _Baskets, starts: Ints, depths: int, run: Run) -> tuple[_Small, _Small, Ints]:
    """For every item, the baskets that hold it and where the later items begin in each, followed by room for longer
    paths; and where the room of each depth begins. No path needs more room than all entries after its first item."""
    begins, held = baskets.begins, baskets.held
    holder, after = np.empty(len(held), np.int32), np.empty(len(held), np.int32)
    free, follow = starts[:-1].copy(), np.zeros(len(starts) - 1, np.int64)
    for start, stop in chunks(begins, run, _STEPS_PER_SLICE):
        _known_items.index_holders(begins, held, start, stop, free, holder, after, follow)
    most = int(follow.max(initial=0))
    rooms = np.append(0, len(held) + most * np.arange(depths - 1))
    more = np.empty(most * (depths - 1), np.int32)
    return np.append(holder, more), np.append(after, more), rooms
