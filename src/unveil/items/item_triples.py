"""Find the three items that are bought together most often, and count given triples.

A triple is in at most as many baskets as any of its pairs. Pairs are taken from the most frequent down, and the items
of the baskets that contain both are counted. As soon as the next pair is in no more baskets than the k-th best triple,
no further triple can be better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.arrays import Ints
from unveil.items.item_pairs import top_pairs
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["ItemTriples", "top_triples", "triple_counts"]

_MAX_PAIRS = 2000  # most frequent pairs that are extended by a third item


@dataclass(frozen=True, eq=False)
class ItemTriples:
    """Triples of rising item codes, one per row, and the number of baskets that contain all three."""

    items: Ints
    counts: Ints


def top_triples(transactions: Transactions, k: int, run: Run | None = None) -> ItemTriples:
    """The k triples in the most baskets, or all that occur if there are fewer, the most frequent first; only triples
    that contain one of the 2,000 most frequent pairs. Of several that are as frequent as the last, any may be
    missing.

    >>> tx = Transactions.from_baskets([["a", "b", "c"], ["a", "b", "c"], ["a", "b", "d"], ["d"]])
    >>> top_triples(tx, 1).items.tolist(), top_triples(tx, 9).counts.tolist()
    ([[0, 1, 2]], [2, 1])
    """
    run, n, index = run or Run(), len(transactions.labels), _BasketIndex(transactions)
    pairs = top_pairs(transactions, _MAX_PAIRS, run)
    found: dict[tuple[int, ...], int] = {}
    least = 0  # what the k-th best triple reaches so far
    for at, (a, b, together) in enumerate(zip(pairs.a.tolist(), pairs.b.tolist(), pairs.counts.tolist(), strict=True)):
        if together <= least:
            break
        run.progress("counting triples", at / len(pairs))
        run.check()
        with_both = np.bincount(index.items_of(index.shared(a, b)), minlength=n)
        with_both[[a, b]] = 0
        for c in np.flatnonzero(with_both > least).tolist():
            found[tuple(sorted((a, b, c)))] = int(with_both[c])
        if len(found) >= k:
            best = _most_frequent_first(found)[:k]
            found, least = {triple: found[triple] for triple in best}, found[best[-1]]
    best = _most_frequent_first(found)
    return ItemTriples(np.array(best, np.int64).reshape(-1, 3), np.array([found[t] for t in best], np.int64))


def _most_frequent_first(counts: dict[tuple[int, ...], int]) -> list[tuple[int, ...]]:
    return sorted(counts, key=lambda triple: (-counts[triple], triple))


def triple_counts(transactions: Transactions, triples: Ints) -> Ints:
    """The number of baskets that contain all three items of each row."""
    index = _BasketIndex(transactions)
    shared = (np.intersect1d(index.shared(a, b), index.baskets_of(c), True) for a, b, c in triples.tolist())
    return np.array([len(baskets) for baskets in shared], np.int64)


class _BasketIndex:
    """The baskets of each item, and the items of each basket."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions
        self.baskets = transactions.entry_baskets[np.argsort(transactions.items, kind="stable")]
        self.begins = np.append(0, np.cumsum(transactions.counts))

    def baskets_of(self, item: int) -> Ints:
        return self.baskets[self.begins[item] : self.begins[item + 1]]

    def shared(self, a: int, b: int) -> Ints:
        found: Ints = np.intersect1d(self.baskets_of(a), self.baskets_of(b), assume_unique=True)
        return found

    def items_of(self, baskets: Ints) -> Ints:
        begins, sizes = self.transactions.indptr[baskets], np.diff(self.transactions.indptr)[baskets]
        inside = np.repeat(begins - np.append(0, np.cumsum(sizes))[:-1], sizes) + np.arange(int(sizes.sum()))
        return self.transactions.items[inside].astype(np.int64)
