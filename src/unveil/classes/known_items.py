"""How rare are a few items that somebody knows? kᵐ-anonymity of baskets.

Somebody saw a person buy a few things and looks for them in the release. How many baskets hold all of these? If it is
only one, they know what else the person bought.

**The definition** (Terrovitis, Mamoulis and Kalnis, *Privacy-preserving anonymization of set-valued data*, VLDB 2008).
The *support* of a set of items is the number of baskets that hold all of them. Baskets are kᵐ-anonymous if no set of at
most m items has a support from 1 to k − 1. For every basket let

    leastₘ(basket) = the least support of a set of at most m of its items.

It falls with m, but never below the number of baskets that hold all that the basket does. For every m

- ``smallest`` is the least of all baskets: the largest k for which they are kᵐ-anonymous;
- ``below`` is how many baskets have less than k, and are at risk;
- ``unique`` is how many have 1: no other basket holds the same m items, or fewer.

The empty set is one of the sets, and all baskets hold it. So m = 0 is someone who knows nothing and sees all baskets,
and that is the support of an empty basket for every m. Where there are no baskets at all, everything is 0.

**How it is computed.** One size of sets after the other; for each, paths of items are followed depth first, from the
rarest item to the most frequent. A path comes with the baskets that hold it, and one pass over these counts all items
that could be its last. Nothing is estimated, and this is left out:

- Baskets that are *finished*, as their least support is the number of baskets that look the same. Items of finished
  baskets only are dropped; baskets that look the same without them are one from then on.
- Paths that no unfinished basket holds.
- Items that all baskets of a path hold. Without such an item a set is smaller and the same baskets hold it, so that it
  was looked at before.
- Paths that cannot lower anything. If c baskets hold a path and gᵢ of them lack item i, at least c − Σ gᵢ hold the path
  with all items i. For each unfinished basket the largest gᵢ among its items is taken, as often as items are missing.

The work is counted in baskets and entries of baskets gone through. It is the same in whatever order baskets and items
come, because of equally frequent items the one comes first whose label does in the alphabet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.classes import _known_items
from unveil.errors import UnveilError
from unveil.grouping import Ints
from unveil.release.transactions import Transactions
from unveil.run import Run
from unveil.slices import pieces

__all__ = ["KnownItems", "known_items"]

_Small = npt.NDArray[np.int32]

_MOST = 3
_K = 5
_WORK = 1_000_000_000
_STEPS = 1 << 20  # entries in a slice: a hundredth of a second, or a tenth where memory is slow


@dataclass(frozen=True, eq=False)
class KnownItems:
    """What someone achieves who knows at most m items of a basket.

    ``smallest[m]``, ``below[m]`` and ``unique[m]`` are for m = 0 … ``known``; ``truncated`` if more was asked for than
    the work allowed. For every basket, ``least`` is the least support of a set of at most ``known`` of its items, and
    ``fewest`` how many items that takes. ``work`` is how much was gone through, also for a size that it
    was not enough for.
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

    def worst(self, count: int) -> Ints:
        """The baskets that are the easiest to find: those of least support, then by fewer items, then the first."""
        return np.lexsort((self.fewest, self.least))[:count]

    def why(self, basket: int, run: Run | None = None) -> tuple[int, ...]:
        """What makes a basket so rare: a smallest set of its items that has the least support. The rarest item comes
        first. Of several such sets it is the one with the rarest item, then with the next rarest; of equally rare items
        the first in the alphabet."""
        if not 0 <= basket < len(self.least):
            raise UnveilError(f"there is no basket {basket:,}; they are numbered from 0 to {len(self.least) - 1:,}")
        run, size, whole = run or Run(), int(self.fewest[basket]), self._whole
        if size < 2:  # the rarest item, if any
            first = int(whole.begins[basket])
            return tuple(whole.items[whole.held[first : first + size]].tolist())
        least = np.zeros_like(self.least)
        least[basket] = self.least[basket] + 1  # to be lowered by a set that has the least support, and by no other
        baskets, _ = _narrowed(whole._replace(least=least), size, run)
        lowered = next(part.lowered for part in _parts(baskets, size, run) if len(part.lowered))
        return tuple(baskets.items[lowered].tolist())

    @cached_property
    def _whole(self) -> _Baskets:
        return _ranked(self.transactions, self.least, Run())


def known_items(
    transactions: Transactions, k: int = _K, most: int = _MOST, *, work: int = _WORK, run: Run | None = None
) -> KnownItems:
    """How many baskets someone sees who knows at most m items of one, for m = 0 … ``most``.

    All of it is exact. Where ``work`` (baskets and their entries gone through) does not allow ``most``, it ends with a
    smaller m; single items are always counted.

    Of five baskets three hold bread, three hold milk and four hold tea, every pair of these is in two and all three are
    in one:

    >>> baskets = ["bread milk tea", "bread milk", "milk tea", "bread tea", "tea"]
    >>> found = known_items(Transactions.from_baskets(basket.split() for basket in baskets), k=3)
    >>> found.smallest.tolist(), found.below.tolist(), found.unique.tolist()
    ([5, 3, 2, 1], [0, 0, 4, 4], [0, 0, 0, 1])
    >>> found.least.tolist(), found.fewest.tolist()
    ([1, 2, 2, 2, 4], [3, 2, 2, 2, 1])
    >>> found.worst(2).tolist(), found.why(0), found.why(1)
    ([0, 1], (0, 1, 2), (0, 1))
    """
    if most < 1:
        raise UnveilError("the number of known items must be 1 or more")
    if k < 1:
        raise UnveilError("k must be 1 or more")
    run, count = run or Run(), transactions.baskets
    least = _rarest(transactions)
    fewest = (least < count).astype(np.int64)
    told, spent = [_told(np.full(count, count), k), _told(least, k)], 0
    baskets, of = _ranked(transactions, least, run), np.arange(count)
    for m in range(2, most + 1):
        baskets, became = _narrowed(baskets, m, run)
        if not (baskets.least > baskets.weights).any():  # all are finished
            told += [told[-1]] * (most - m + 1)
            break
        of = np.where(of < 0, of, became[of])  # −1 for baskets that are finished
        for part in _parts(baskets, m, run, work - spent):
            run.progress("counting baskets with the same items", (m - 2 + part.share) / (most - 1))
        spent += part.work
        if spent > work:
            break
        lower = least.copy()
        lower[of >= 0] = baskets.least[of[of >= 0]]
        fewest[lower < least] = m
        least = lower
        told.append(_told(least, k))
    smallest, below, unique = np.array(told, np.int64).T.copy()
    known = len(told) - 1
    return KnownItems(transactions, k, known, known < most, spent, smallest, below, unique, least, fewest)


def _rarest(transactions: Transactions) -> Ints:
    """How many baskets hold the rarest item of each; all do where there is none."""
    least = np.full(transactions.baskets, transactions.baskets, np.int64)
    some = np.flatnonzero(np.diff(transactions.indptr))
    if len(some):
        least[some] = np.minimum.reduceat(transactions.counts[transactions.items], transactions.indptr[some])
    return least


def _told(least: Ints, k: int) -> tuple[int, int, int]:
    """The least of all, how many are less than k, and how many are 1."""
    return int(least.min()) if len(least) else 0, int((least < k).sum()), int((least == 1).sum())


# ---- what is left to look at -----------------------------------------------------------------------------------------


class _Baskets(NamedTuple):
    """Baskets of ranks: rank r is item ``items[r]``. Basket b holds ``held[begins[b] : begins[b + 1]]`` in rising order
    and stands for ``weights[b]`` baskets. The least support found so far is ``least[b]``, 0 where it is not asked for.
    """

    items: Ints
    begins: Ints
    held: _Small
    weights: Ints
    least: Ints


def _ranked(transactions: Transactions, least: Ints, run: Run) -> _Baskets:
    """All baskets; the rarest item is the first, and of equally rare ones the one whose label is first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    named = pa.table({"count": transactions.counts, "label": transactions.labels})
    order = pc.sort_indices(named, sort_keys=[("count", "ascending"), ("label", "ascending")])
    items, begins = np.asarray(order).astype(np.int64), transactions.indptr
    rank, held = np.empty(len(items), np.int32), np.empty(len(transactions.items), np.int32)
    rank[items] = np.arange(len(items), dtype=np.int32)
    for start, stop in pieces(begins, run, _STEPS):
        _known_items.ranked(begins, transactions.items, rank, start, stop, held)
    return _Baskets(items, begins, held, np.ones(transactions.baskets, np.int64), least)


def _narrowed(baskets: _Baskets, size: int, run: Run) -> tuple[_Baskets, Ints]:
    """What is needed to look at sets of ``size`` items, and which basket of it each basket became: −1 where nothing is
    asked, as no set can be rarer or there are too few items.

    Needed are the items of the other baskets. A basket with fewer than ``size`` of them holds no set; with one fewer it
    may still hold a set but for an item, and is needed to tell whether the item is in all baskets of a path.
    """
    items, begins, held, weights, least = baskets
    wanted, used = (least > weights) & (np.diff(begins) >= size), np.zeros(len(items), np.bool_)
    for start, stop in pieces(begins, run, _STEPS):
        _known_items.marked(begins, held, wanted, start, stop, used)
    rank, bits = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32), len(items).bit_length()
    kept, mixed, made = np.empty(len(weights), np.int64), np.empty(len(weights), np.uint64), 0
    ends, left = np.zeros_like(begins), np.empty_like(held)
    for start, stop in pieces(begins, run, _STEPS):
        made = _known_items.narrowed(begins, held, rank, size - 1, bits, start, stop, made, kept, ends, left, mixed)
    kept, ends = kept[:made], ends[: made + 1]
    one, alike = _alike(ends, left, mixed[:made], run)
    together, lowest, became = np.zeros(len(one), np.int64), np.zeros(len(one), np.int64), np.full(len(weights), -1)
    np.add.at(together, alike, weights[kept])
    np.maximum.at(lowest, alike, np.where(wanted, least, 0)[kept])
    became[kept] = np.where(wanted[kept], alike, -1)
    new_begins = np.append(0, np.cumsum(np.diff(ends)[one]))
    new_held = np.empty(int(new_begins[-1]), np.int32)
    for start, stop in pieces(new_begins, run, _STEPS):
        _known_items.gathered(ends, left, one, new_begins, start, stop, new_held)
    return _Baskets(items[used], new_begins, new_held, together, lowest), became


def _alike(begins: Ints, held: _Small, mixed: npt.NDArray[np.uint64], run: Run) -> tuple[Ints, Ints]:
    """One basket of each kind, and of which kind every basket is. Kinds with the same rarest item come together, as it
    is faster to go through what lies together."""
    order, fresh = np.argsort(mixed, kind="stable"), np.ones(len(mixed), np.bool_)
    for start, stop in pieces(begins, run, _STEPS):
        _known_items.compared(begins, held, mixed, order, start, stop, fresh)
    alike = np.empty(len(mixed), np.int64)
    alike[order] = np.cumsum(fresh) - 1
    return order[fresh], alike


# ---- the search ------------------------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """What was done so far: the entries gone through, the share of the first items, and the last set that lowered a
    least support, if there was one."""

    work: int
    share: float
    lowered: _Small


def _parts(baskets: _Baskets, size: int, run: Run, work: int | None = None) -> Iterator[_Part]:
    """Lower ``baskets.least`` to the least support of sets of ``size`` items, part by part; not much further than
    ``work`` allows."""
    items, begins, held, weights, least = baskets
    n, depths = len(items), size - 1
    starts, nexts = np.zeros((depths, n + 1), np.int64), np.zeros((depths, n), np.int32)
    np.cumsum(np.bincount(held, minlength=n), out=starts[0, 1:])
    nexts[0] = np.arange(n)
    holder, after, rooms = _holders(baskets, starts[0], depths, run)
    many, at = np.array([n] + [0] * (depths - 1)), np.zeros(depths, np.int64)
    room = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_), np.empty(n, np.int32)
    state, path = np.zeros(3, np.int64), np.full(size, -1, np.int32)
    stack = holder, after, rooms, nexts, starts, many, at
    while True:
        lowered = path if path[0] >= 0 else path[:0]
        yield _Part(int(state[2]), float(at[0] / max(1, n)), lowered)
        if state[1] or (work is not None and state[2] > work):
            return
        run.check()
        steps = _STEPS if work is None else min(_STEPS, work + 1 - int(state[2]))
        _known_items.searched(begins, held, weights, least, size, *stack, room, state, path, steps)


def _holders(baskets: _Baskets, starts: Ints, depths: int, run: Run) -> tuple[_Small, _Small, Ints]:
    """For every item the baskets that hold it and where in them the items after it begin, with room for the paths that
    begin with it, and where that room is at each depth. What is after one item, in all its baskets, is enough."""
    begins, held = baskets.begins, baskets.held
    holder, after = np.empty(len(held), np.int32), np.empty(len(held), np.int32)
    free, follow = starts[:-1].copy(), np.zeros(len(starts) - 1, np.int64)
    for start, stop in pieces(begins, run, _STEPS):
        _known_items.dealt(begins, held, start, stop, free, holder, after, follow)
    most = int(follow.max(initial=0))
    rooms = np.append(0, len(held) + most * np.arange(depths - 1))
    more = np.empty(most * (depths - 1), np.int32)
    return np.append(holder, more), np.append(after, more), rooms
