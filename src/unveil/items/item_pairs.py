"""Find the pairs of items that are bought together most often, and count given pairs.

A pair occurs in at most as many baskets as either of its items, so the k most frequent pairs can be found without
counting all pairs. First the pairs of the most frequent items are counted in a table; the k-th best of these rules out
every item that is itself in fewer baskets. The remaining items, from the most frequent down, are counted one by one
against all that are more frequent, and the bound rises on the way. Nothing is estimated, and memory holds only the
table, a copy of the baskets and one row of counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Ints, Small
from unveil.errors import UnveilError
from unveil.items import _kernels
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["ItemPairs", "check_pairs", "cooccurrence_table", "pair_counts", "top_pairs"]

_Codes = Small

_TABLE = 1024  # items whose pairs are counted in a table: 4 MB
_STEPS = 1 << 25  # about a tenth of a second
_BUFFER = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class ItemPairs:
    """Pairs of item codes ``a`` < ``b`` and the number of baskets that contain both."""

    a: Ints
    b: Ints
    counts: Ints

    def __len__(self) -> int:
        return len(self.a)

    def take_first(self, k: int) -> ItemPairs:
        """The first k pairs, or all if there are fewer."""
        return ItemPairs(self.a[:k], self.b[:k], self.counts[:k])

    @property
    def items(self) -> Ints:
        """The items that occur in a pair."""
        return np.unique(np.concatenate([self.a, self.b]))

    def __repr__(self) -> str:
        return f"Pairs: {len(self):,} of {len(self.items):,} items"


def top_pairs(transactions: Transactions, k: int, run: Run | None = None) -> ItemPairs:
    """The k pairs of items that are in the most baskets together, or all pairs that occur if there are fewer.

    The most frequent come first. Equally frequent pairs are ordered by their lower, then by their higher code.

    >>> tx = Transactions.from_baskets([["bread", "milk"], ["tea", "milk", "bread"], ["milk", "tea"], ["jam", "tea"]])
    >>> found = top_pairs(tx, 2)
    >>> found.a.tolist(), found.b.tolist(), found.counts.tolist()
    ([0, 1], [1, 2], [2, 2])
    """
    if k < 1:
        raise UnveilError("the number of pairs must be 1 or more")
    run = run or Run()
    codes = np.argsort(-transactions.counts, kind="stable")
    counts, keys = _count_top_items(transactions, codes, k, run)
    least = int(counts[-1]) if len(counts) == k else 1
    last = int((transactions.counts >= least).sum())
    if last > _TABLE:
        counts, keys = _count_rare_items(transactions, codes, last, k, counts, keys, run)
    run.progress("counting pairs", 1.0)
    return ItemPairs(keys // len(codes), keys % len(codes), counts)


def _best_pairs(counts: Ints, keys: Ints, k: int) -> tuple[Ints, Ints]:
    """The k highest counts with the lowest keys, in order."""
    if len(counts) > k:
        enough = np.flatnonzero(counts >= np.partition(counts, -k)[-k])
        counts, keys = counts[enough], keys[enough]
    order = np.lexsort((keys, -counts))[:k]
    return counts[order], keys[order]


def _count_top_items(transactions: Transactions, codes: Ints, k: int, run: Run) -> tuple[Ints, Ints]:
    """The best pairs of the most frequent items: counts and keys."""
    size = min(_TABLE, len(codes))
    table, inside = np.zeros((size, size), np.int32), np.empty(size + 1, np.int32)
    rank, basket = _rank_of_code(codes), 0
    while basket < transactions.baskets:
        run.progress("counting pairs", basket / transactions.baskets)
        run.check()
        basket = _kernels.count_top_items(transactions.indptr, transactions.items, rank, basket, _STEPS, inside, table)
    x, y = np.triu_indices(size, 1)
    counts = (table[x, y] + table[y, x]).astype(np.int64)
    seen = np.flatnonzero(counts)
    return _best_pairs(counts[seen], _pair_keys(codes[x[seen]], codes[y[seen]], len(codes)), k)


def _rank_of_code(codes: Ints) -> _Codes:
    rank = np.empty(len(codes), np.int32)
    rank[codes] = np.arange(len(codes), dtype=np.int32)
    return rank


def _pair_keys(x: Ints, y: Ints, n: int) -> Ints:
    """Pairs of items as single numbers, by which equally frequent pairs are ordered."""
    return np.minimum(x, y) * n + np.maximum(x, y)


def _count_rare_items(
    transactions: Transactions, codes: Ints, last: int, k: int, counts: Ints, keys: Ints, run: Run
) -> tuple[Ints, Ints]:
    """The best of these pairs and of all pairs with an item beyond the table, up to the ``last`` most frequent item."""
    begins, kept, starts, of_rank = _deal_baskets(transactions, codes, last, run)
    own = transactions.counts[codes]
    state = np.array([_TABLE, 0, 0, 0])
    row, touched = np.zeros(last, np.int64), np.empty(last, np.int32)
    found = np.empty((2, last + _BUFFER), np.int64)
    while state[0] < last:
        run.progress("counting pairs", float(state[0] / last))
        run.check()
        bound = np.array([counts[-1], keys[-1]] if len(counts) == k else [0, 0])
        last = int(np.searchsorted(-own[:last], -bound[0], "right"))
        how = begins, kept, starts, of_rank, _TABLE, last, codes, bound, _STEPS
        _kernels.count_rare_items(*how, state, row, touched, found)
        more = found[:, : state[3]]
        counts, keys = _best_pairs(np.append(counts, more[0]), np.append(keys, more[1]), k)
        state[3] = 0
    return counts, keys


def _deal_baskets(transactions: Transactions, codes: Ints, last: int, run: Run) -> tuple[Ints, _Codes, Ints, _Codes]:
    """Baskets as ranks below ``last``, and for each rank beyond the table the baskets that contain it."""
    sizes = transactions.counts[codes[:last]]
    starts = np.append(0, np.cumsum(sizes[_TABLE:]))
    begins = np.zeros(transactions.baskets + 1, np.int64)
    kept, of_rank = np.empty(int(sizes.sum()), np.int32), np.empty(int(starts[-1]), np.int32)
    rank, free = _rank_of_code(codes), starts[:-1].copy()
    ends = np.arange(_STEPS // 4, len(transactions.items) + _STEPS // 4, _STEPS // 4)
    cuts = np.unique(np.append(0, np.searchsorted(transactions.indptr, ends, "right") - 1))
    for start, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        run.check()
        indices = transactions.indptr, transactions.items, rank, _TABLE, last
        _kernels.group_baskets_by_item(*indices, start, stop, begins, kept, free, of_rank)
    return begins, kept, starts, of_rank


def pair_counts(transactions: Transactions, a: npt.ArrayLike, b: npt.ArrayLike, run: Run | None = None) -> Ints:
    """The number of baskets that contain both items of each given pair of different items.

    >>> tx = Transactions.from_baskets([["bread", "milk"], ["tea", "milk", "bread"], ["milk", "tea"]])
    >>> pair_counts(tx, [0, 2, 0], [1, 1, 2]).tolist()
    [2, 2, 1]
    """
    run, n = run or Run(), len(transactions.labels)
    x, y = check_pairs(a, b, n)
    rare = transactions.counts[x] < transactions.counts[y]  # look up partners in the baskets of the rarer item
    x, y = np.where(rare, x, y), np.where(rare, y, x)
    order = np.argsort(x, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(x, minlength=n)))
    counts, last, basket = np.zeros(len(x), np.int64), np.full(n, -1), 0
    while basket < transactions.baskets:
        run.progress("counting pairs", basket / transactions.baskets)
        run.check()
        how = transactions.indptr, transactions.items, starts, y[order]
        basket = _kernels.count_given_pairs(*how, basket, _STEPS, last, counts)
    found = np.empty_like(counts)
    found[order] = counts
    return found


def check_pairs(a: npt.ArrayLike, b: npt.ArrayLike, n: int) -> tuple[Ints, Ints]:
    """Pairs of two different numbers 0 … n − 1, or an error that says what is wrong with them."""
    x, y = np.asarray(a, np.int64), np.asarray(b, np.int64)
    if x.shape != y.shape or x.ndim != 1:
        raise UnveilError("a pair has two items; give as many first as second items")
    if len(x) and (min(x.min(), y.min()) < 0 or max(x.max(), y.max()) >= n):
        raise UnveilError(f"a pair names an item outside 0 … {n - 1}; correct it")
    if (x == y).any():
        raise UnveilError("a pair names the same item twice; give two different items")
    return x, y


def cooccurrence_table(transactions: Transactions, among: Ints, run: Run | None = None) -> Bools:
    """Which of these items ever occur in the same basket, as a table with a row and a column for each."""
    run, basket = run or Run(), 0
    place = np.full(len(transactions.labels), -1, np.int32)
    place[among] = np.arange(len(among), dtype=np.int32)
    table, inside = np.zeros((len(among), len(among)), np.bool_), np.empty(len(among), np.int32)
    while basket < transactions.baskets:
        run.progress("finding items that occur together", basket / transactions.baskets)
        run.check()
        basket = _kernels.mark_cooccurrences(
            transactions.indptr, transactions.items, place, basket, _STEPS, inside, table
        )
    return table
