"""How rare are the few items that an attacker knows? kᵐ-anonymity of baskets.

Somebody saw a person buy a few things and looks for their basket in the release. How many baskets hold all of these
items? If only one does, they learn what else the person bought.

**Definition** (Terrovitis, Mamoulis and Kalnis, *Privacy-preserving anonymization of set-valued data*, VLDB 2008). The
*support* of a set of items is the number of baskets that hold all of them. Baskets are kᵐ-anonymous if no set of at
most m items has a support from 1 to k − 1. For every basket let

    leastₘ(basket) = the least support of a set of at most m of its items.

It falls with m, but never below the number of baskets that hold everything this basket holds. Every basket holds the
empty set. So m = 0 describes an attacker who knows nothing and sees all baskets, and an empty basket has this support
for every m. Without any baskets, everything is 0.

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
from scipy.sparse import csr_array

from unveil.arrays import BitWords, Int32s, Ints
from unveil.classes import _known_items
from unveil.errors import UnveilError
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["KnownItems", "measure_known_items"]

_MOST_KNOWN = 3
_DEFAULT_K = 5
_WORK_LIMIT = 1_000_000_000
_STEPS_PER_SLICE = 1 << 20  # entries in a slice: a hundredth of a second, or a tenth where memory is slow


@dataclass(frozen=True, eq=False)
class KnownItems:
    """What an attacker achieves who knows at most m items of a basket.

    For m = 0 … ``known``, ``smallest_supports[m]`` is the least support of all baskets, the largest k for which they
    are kᵐ-anonymous; ``baskets_below_k[m]`` baskets have less than k and are at risk, ``unique_baskets[m]`` have 1.
    ``truncated`` if the work did not allow the requested m. For every basket, ``rarest_supports`` is the least support
    of a set of at most ``known`` of its items, and ``rarest_set_sizes`` is how many items that takes. ``work`` includes
    the work spent on a size that was not finished.
    """

    transactions: Transactions
    k: int
    known: int
    truncated: bool
    work: int
    smallest_supports: Ints
    baskets_below_k: Ints
    unique_baskets: Ints
    rarest_supports: Ints
    rarest_set_sizes: Ints

    def rarest_baskets(self, count: int) -> Ints:
        """The baskets that are easiest to find, by least support, then fewest items, then position."""
        return np.lexsort((self.rarest_set_sizes, self.rarest_supports))[:count]

    def rarest_itemset(self, basket: int, run: Run | None = None) -> tuple[int, ...]:
        """The smallest set of a basket's items that has the least support, with the rarest item first. Ties go to the
        set with the rarest item, then the next rarest; equally rare items are ordered by label."""
        if not 0 <= basket < len(self.rarest_supports):
            raise UnveilError(
                f"there is no basket {basket:,}; they are numbered from 0 to {len(self.rarest_supports) - 1:,}"
            )
        run, size, whole = run or Run(), int(self.rarest_set_sizes[basket]), self._ranked_baskets
        if size < 2:  # the rarest item, if any
            first = int(whole.begins[basket])
            return tuple(whole.items[whole.held[first : first + size]].tolist())
        least = np.zeros_like(self.rarest_supports)
        least[basket] = self.rarest_supports[basket] + 1  # only a set with the least support can lower it
        baskets, _ = _narrow_baskets(whole._replace(least=least), size, run)
        lowered = next(part.rarest_set for part in _search_sets(baskets, size, run) if len(part.rarest_set))
        return tuple(baskets.items[lowered].tolist())

    @cached_property
    def _ranked_baskets(self) -> _Baskets:
        return _rank_baskets(self.transactions, self.rarest_supports, Run())


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
    >>> found.smallest_supports.tolist(), found.baskets_below_k.tolist(), found.unique_baskets.tolist()
    ([5, 3, 2, 1], [0, 0, 4, 4], [0, 0, 0, 1])
    >>> found.rarest_supports.tolist(), found.rarest_set_sizes.tolist()
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
    summaries, spent = [_summarise_supports(np.full(count, count), k), _summarise_supports(least, k)], 0
    baskets, of = _rank_baskets(transactions, least, run), np.arange(count)
    for m in range(2, most + 1):
        baskets, became = _narrow_baskets(baskets, m, run)
        if not (baskets.least > baskets.weights).any():  # all baskets are finished
            summaries += [summaries[-1]] * (most - m + 1)
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
        summaries.append(_summarise_supports(least, k))
    smallest, below, unique = np.array(summaries, np.int64).T.copy()
    known = len(summaries) - 1
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


class _Baskets(NamedTuple):
    """Baskets of item ranks: rank r is item ``items[r]``. Basket b holds ``held[begins[b] : begins[b + 1]]``, in order,
    and stands for ``weights[b]`` baskets. ``least[b]`` is its least support so far, or 0 if it is not needed.
    """

    items: Ints
    begins: Ints
    held: Int32s
    weights: Ints
    least: Ints


def _rank_baskets(transactions: Transactions, least: Ints, run: Run) -> _Baskets:
    """All baskets, with items ranked from the rarest on; equally rare items are ranked by label."""
    import pyarrow as pa
    import pyarrow.compute as pc

    named = pa.table({"count": transactions.counts, "label": transactions.labels})
    order = pc.sort_indices(named, sort_keys=[("count", "ascending"), ("label", "ascending")])
    items, begins = np.asarray(order).astype(np.int64), transactions.indptr.astype(np.int64)
    rank = np.empty(len(items), np.int32)
    rank[items] = np.arange(len(items), dtype=np.int32)
    run.check()
    matrix = _basket_matrix(begins, rank[transactions.items], len(items))
    held = matrix.tocsc().tocsr().indices.astype(np.int32, copy=False)  # sorted, as a matrix is that was turned twice
    return _Baskets(items, begins, held, np.ones(transactions.baskets, np.int64), least)


def _basket_matrix(begins: Ints, held: Int32s, items: int) -> csr_array:
    """Baskets by items, with the number of every entry, from 1. scipy sorts and selects in one pass what numpy could
    not."""
    number = np.int32 if len(held) < 1 << 31 else np.int64
    entries = np.arange(1, len(held) + 1, dtype=number), held, begins.astype(number)
    return csr_array(entries, shape=(len(begins) - 1, items))


def _narrow_baskets(baskets: _Baskets, size: int, run: Run) -> tuple[_Baskets, Ints]:
    """The baskets needed to search sets of ``size`` items, and the number that each given basket has among them: −1 if
    it is finished or has too few items.

    Only items of unfinished baskets are kept. A basket with fewer than ``size`` kept items holds no such set. One with
    ``size`` − 1 is still needed: it may hold a set except for one item, and so show that not every basket of a path
    holds that item.
    """
    items, begins, held, weights, least = baskets
    sizes, used = np.diff(begins), np.zeros(len(items), np.bool_)
    searched = (least > weights) & (sizes >= size)
    used[held[np.repeat(searched, sizes)]] = True
    run.check()
    left = used[held]
    sizes = np.diff(np.append(0, np.cumsum(left))[begins])
    kept = np.flatnonzero(sizes >= size - 1)
    left &= np.repeat(sizes >= size - 1, np.diff(begins))
    run.check()
    rank = (np.cumsum(used) - 1).astype(np.int32)
    alike, new_begins, new_held = group_equal_baskets(sizes[kept], rank[held[left]], len(items), run)
    kinds, became = len(new_begins) - 1, np.full(len(weights), -1)
    together, lowest = np.zeros(kinds, np.int64), np.zeros(kinds, np.int64)
    np.add.at(together, alike, weights[kept])
    np.maximum.at(lowest, alike, np.where(searched, least, 0)[kept])
    became[kept] = np.where(searched[kept], alike, -1)
    return _Baskets(items[used], new_begins, new_held, together, lowest), became


def group_equal_baskets(sizes: Ints, held: Int32s, items: int, run: Run) -> tuple[Ints, Ints, Int32s]:
    """The kind of every basket, and where what each kind holds begins, and what it holds. Kinds with the same rarest
    item are adjacent, which makes the search faster. No basket is empty."""
    if not len(sizes):
        return sizes, np.zeros(1, np.int64), held
    begins = np.append(0, np.cumsum(sizes))
    numbers = _hash_baskets(begins, held, items)
    order = np.argsort(numbers, kind="stable")
    run.check()
    held, sizes = _basket_matrix(begins, held, items)[order].indices.astype(np.int32, copy=False), sizes[order]
    run.check()
    fresh = np.append(True, (np.diff(numbers[order]) != 0) | (np.diff(sizes) != 0))
    if not fresh.all():
        again, entries = sizes[~fresh], np.flatnonzero(np.repeat(~fresh, sizes))
        differs = held[entries] != held[entries - np.repeat(again, again)]  # from the basket before
        fresh[~fresh] = np.logical_or.reduceat(differs, np.cumsum(again) - again)
    alike = np.empty(len(sizes), np.int64)
    alike[order] = np.cumsum(fresh) - 1
    return alike, np.append(0, np.cumsum(sizes[fresh])), held[np.repeat(fresh, sizes)]


def _hash_baskets(begins: Ints, held: Int32s, items: int) -> BitWords:
    """A number that equal baskets have in common and hardly any others. It begins with the rarest item."""
    mix = np.arange(1, items + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # the last steps of SplitMix64
    mix = (mix ^ (mix >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mix = (mix ^ (mix >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mix ^= mix >> np.uint64(31)
    bits = np.uint64(items.bit_length())
    rarest = held[begins[:-1]].astype(np.uint64) << (np.uint64(64) - bits)
    return rarest | (np.add.reduceat(mix[held], begins[:-1]) >> bits)


class _SearchProgress(NamedTuple):
    """Progress so far: the entries visited, the share of first items done, and the last set that lowered a least
    support, if any."""

    work: int
    share: float
    rarest_set: Int32s


def _search_sets(baskets: _Baskets, size: int, run: Run, work: int | None = None) -> Iterator[_SearchProgress]:
    """Lower ``baskets.least`` to the least support of sets of ``size`` items, slice by slice, stopping soon after
    ``work`` is used up."""
    items, begins, held, weights, least = baskets
    n, depths = len(items), size - 1
    starts, nexts = np.zeros((depths, n + 1), np.int64), np.zeros((depths, n), np.int32)
    nexts[0] = np.arange(n)
    holder, after, rooms = _index_holders(baskets, starts[0], depths, run)
    many, at = np.array([n] + [0] * (depths - 1)), np.zeros(depths, np.int64)
    tally, place, touched = np.zeros(n, np.int64), np.zeros(n, np.int64), np.empty(n, np.int32)
    path, state = np.full(size, -1, np.int32), np.zeros(2, np.int64)
    while True:
        lowered = path if path[0] >= 0 else path[:0]
        yield _SearchProgress(int(state[1]), float(at[0] / max(1, n)), lowered)
        if state[0] < 0 or (work is not None and state[1] > work):
            return
        run.check()
        steps = _STEPS_PER_SLICE if work is None else min(_STEPS_PER_SLICE, work + 1 - int(state[1]))
        _known_items.search_sets(
            begins[1:], held, weights, least, size, holder, after, rooms, nexts, starts, many, at, tally, place,
            touched, path, state, steps,
        )  # fmt: skip


def _index_holders(baskets: _Baskets, starts: Ints, depths: int, run: Run) -> tuple[Int32s, Int32s, Ints]:
    """For every item, the baskets that hold it and where in ``held`` the later items of each begin, followed by room
    for longer paths; and where the room of each depth begins. No path needs more room than all entries after its first
    item. Fills where the baskets of each item begin."""
    begins, held = baskets.begins, baskets.held
    index = _basket_matrix(begins, held, len(starts) - 1).tocsc()
    run.check()
    holder, after, starts[:] = index.indices.astype(np.int32, copy=False), index.data, index.indptr
    follow = np.append(0, np.cumsum(begins[holder + 1] - after))
    most = int(np.diff(follow[starts]).max(initial=0))
    rooms = np.append(0, len(held) + most * np.arange(depths - 1))
    more = np.empty(most * (depths - 1), np.int32)
    return np.append(holder, more), np.append(after, more), rooms
