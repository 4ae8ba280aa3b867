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
from scipy.sparse import csr_array

from unveil.arrays import Bools, Int32s, Ints
from unveil.errors import UnveilError
from unveil.items import _item_pairs
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["ItemPairs", "cooccurrence_table", "pair_counts", "top_pairs"]

_TABLE = 1024  # items whose pairs are counted in a table: 4 MB
_STEPS = 1 << 25  # about a tenth of a second
_BUFFER = 1 << 16


@dataclass(frozen=True, eq=False)
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

    def take_top(self, k: int) -> ItemPairs:
        """The first k of the most frequent pairs, and all others that are as frequent as the last of these."""
        return self.take_frequent(int(self.counts[k - 1])) if 0 < k <= len(self) else self.take_first(k)

    def take_frequent(self, least: int) -> ItemPairs:
        """The pairs in at least so many baskets."""
        kept = self.counts >= least
        return ItemPairs(self.a[kept], self.b[kept], self.counts[kept])

    @property
    def items(self) -> Ints:
        """The items that occur in a pair."""
        return np.unique(np.concatenate([self.a, self.b]))


def top_pairs(transactions: Transactions, k: int, run: Run | None = None, *, least: int = 1) -> ItemPairs:
    """The k pairs of items that are in the most baskets together, and all others that are as frequent as the last of
    these; of the pairs in at least ``least`` baskets, all if there are fewer than k.

    The most frequent come first. Equally frequent pairs are ordered by their lower, then by their higher code.

    >>> tx = Transactions.from_baskets([["bread", "milk"], ["tea", "milk", "bread"], ["milk", "tea"], ["jam", "tea"]])
    >>> found = top_pairs(tx, 1)
    >>> found.a.tolist(), found.b.tolist(), found.counts.tolist()
    ([0, 2], [2, 3], [2, 2])
    """
    if k < 1 or least < 1:
        raise UnveilError("the number of pairs, and of baskets with a pair, must be 1 or more")
    run = run or Run()
    codes = np.argsort(-transactions.counts, kind="stable")
    counts, keys = _count_top_items(transactions, codes, k, least, run)
    last = int((transactions.counts >= _needed_count(counts, k, least)).sum())
    if last > _TABLE:
        counts, keys = _count_rare_items(transactions, codes, last, k, least, counts, keys, run)
    run.progress("counting pairs", 1.0)
    order = np.lexsort((keys, -counts))
    return ItemPairs(keys[order] // len(codes), keys[order] % len(codes), counts[order])


def _needed_count(counts: Ints, k: int, least: int) -> int:
    """The count that a pair needs to be among the best k of these counts, or as frequent as the last of them."""
    return max(least, int(np.partition(counts, -k)[-k])) if len(counts) >= k else least


def _best_pairs(counts: Ints, keys: Ints, k: int, least: int) -> tuple[Ints, Ints]:
    """The pairs with the k highest counts, and those that are as frequent as the last of them."""
    enough = np.flatnonzero(counts >= _needed_count(counts, k, least))
    return counts[enough], keys[enough]


def _count_top_items(transactions: Transactions, codes: Ints, k: int, least: int, run: Run) -> tuple[Ints, Ints]:
    """The best pairs of the most frequent items: counts and keys."""
    size = min(_TABLE, len(codes))
    table = _count_in_table(transactions, _rank_of_code(codes), size, "counting pairs", run)
    x, y = np.triu_indices(size, 1)
    counts = (table[x, y] + table[y, x]).astype(np.int64)
    seen = np.flatnonzero(counts)
    ends = np.sort(np.stack([codes[x[seen]], codes[y[seen]]]), axis=0)  # equally frequent pairs are ordered by code
    return _best_pairs(counts[seen], ends[0] * len(codes) + ends[1], k, least)


def _count_in_table(transactions: Transactions, rank: Int32s, size: int, doing: str, run: Run) -> Int32s:
    """The number of baskets with each pair of items of ranks below ``size``, each pair in one of its two cells."""
    table, inside, basket = np.zeros((size, size), np.int32), np.empty(size + 1, np.int32), 0
    while basket < transactions.baskets:
        run.progress(doing, basket / transactions.baskets)
        run.check()
        basket = _item_pairs.count_top_items(
            transactions.indptr, transactions.items, rank, basket, _STEPS, inside, table
        )
    return table


def _rank_of_code(codes: Ints) -> Int32s:
    rank = np.empty(len(codes), np.int32)
    rank[codes] = np.arange(len(codes), dtype=np.int32)
    return rank


def _count_rare_items(
    transactions: Transactions, codes: Ints, last: int, k: int, least: int, counts: Ints, keys: Ints, run: Run
) -> tuple[Ints, Ints]:
    """The best of these pairs and of all pairs with an item beyond the table, up to the ``last`` most frequent item."""
    rank = _rank_of_code(codes)[transactions.items]
    whole = csr_array((np.ones(len(rank), np.int8), rank, transactions.indptr), (transactions.baskets, len(codes)))
    baskets = whole[:, :last]  # as ranks
    run.check()
    with_item = baskets[:, _TABLE:].tocsc()  # for each rank beyond the table, the baskets that contain it
    begins, starts = baskets.indptr.astype(np.int64), with_item.indptr.astype(np.int64)
    kept, of_rank = baskets.indices.astype(np.int32), with_item.indices.astype(np.int32)
    own = transactions.counts[codes]
    state = np.array([_TABLE, 0, 0, 0])
    row, touched = np.zeros(last, np.int64), np.empty(last, np.int32)
    found = np.empty((2, last + _BUFFER), np.int64)
    while state[0] < last:
        run.progress("counting pairs", float(state[0] / last))
        run.check()
        bound = _needed_count(counts, k, least)
        last = int(np.searchsorted(-own[:last], -bound, "right"))
        how = begins, kept, starts, of_rank, _TABLE, last, codes, bound, _STEPS
        _item_pairs.count_rare_items(*how, state, row, touched, found)
        more = found[:, : state[3]]
        counts, keys = _best_pairs(np.append(counts, more[0]), np.append(keys, more[1]), k, least)
        state[3] = 0
    return counts, keys


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
        basket = _item_pairs.count_given_pairs(*how, basket, _STEPS, last, counts)
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
    rank = np.full(len(transactions.labels), len(among), np.int32)
    rank[among] = np.arange(len(among), dtype=np.int32)
    doing = "finding items that occur together"
    together: Bools = _count_in_table(transactions, rank, len(among), doing, run or Run()) > 0
    return together | together.T
