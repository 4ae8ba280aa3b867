"""The most frequent pairs, against counting all of them."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import Run, Transactions
from unveil.errors import UnveilError
from unveil.items import item_pairs
from unveil.items.item_pairs import cooccurrence_table, pair_counts, top_pairs

baskets = st.lists(st.sets(st.integers(0, 12), min_size=1), min_size=1, max_size=25)


def all_pairs(transactions: Transactions) -> list[tuple[int, int, int]]:
    """Every pair that occurs, the most frequent first, then by codes."""
    found: Counter[tuple[int, int]] = Counter()
    for begin, end in zip(transactions.indptr[:-1], transactions.indptr[1:], strict=True):
        found.update(combinations(sorted(transactions.items[begin:end].tolist()), 2))
    return sorted(((a, b, n) for (a, b), n in found.items()), key=lambda x: (-x[2], x[0], x[1]))


def with_ties(pairs: list[tuple[int, int, int]], k: int) -> list[tuple[int, int, int]]:
    """The first k pairs, and all that are as frequent as the last of them."""
    return [pair for pair in pairs if len(pairs) < k or pair[2] >= pairs[k - 1][2]]


def triples(found: item_pairs.ItemPairs) -> list[tuple[int, int, int]]:
    return list(zip(found.a.tolist(), found.b.tolist(), found.counts.tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(baskets, st.integers(1, 90), st.sampled_from([1, 2, 5, 1024]), st.sampled_from([1, 7, 1 << 25]))
def test_the_top_pairs_are_those_of_all_pairs(drawn: list[set[int]], k: int, table: int, steps: int) -> None:
    """Whatever of it is counted in the table, and however often the counting stops."""
    transactions = Transactions.from_baskets(drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_pairs, "_TABLE", table)
        patch.setattr(item_pairs, "_STEPS", 4 * steps)
        patch.setattr(item_pairs, "_BUFFER", steps)
        assert triples(top_pairs(transactions, k)) == with_ties(all_pairs(transactions), k)
        often = [pair for pair in all_pairs(transactions) if pair[2] >= 2]
        assert triples(top_pairs(transactions, k, least=2)) == with_ties(often, k)


@settings(max_examples=60, deadline=None)
@given(baskets)
def test_counts_of_given_pairs(drawn: list[set[int]]) -> None:
    transactions = Transactions.from_baskets(drawn)
    n = len(transactions.labels)
    counts = {(a, b): count for a, b, count in all_pairs(transactions)}
    x, y = np.nonzero(~np.eye(n, dtype=bool))
    found = pair_counts(transactions, x, y)
    assert found.tolist() == [counts.get((min(a, b), max(a, b)), 0) for a, b in zip(x, y, strict=True)]
    among = np.arange(n)[::-2]
    table = cooccurrence_table(transactions, among)
    wanted = [[(min(a, b), max(a, b)) in counts for b in among.tolist()] for a in among.tolist()]
    assert table.tolist() == wanted


def test_many_ties_are_all_kept() -> None:
    """Among 4,000 items, most of them beyond the table; the first pairs are those with the lowest codes."""
    rng = np.random.default_rng(1)
    transactions = Transactions.from_baskets(rng.permutation(4000).reshape(-1, 4).tolist())
    found = top_pairs(transactions, 50)
    assert triples(found) == all_pairs(transactions)
    assert triples(found.take_first(50)) == all_pairs(transactions)[:50]


def test_a_cancelled_count_stops() -> None:
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        top_pairs(Transactions.from_baskets([[1, 2]]), 1, Run(cancelled=cancelled))


@pytest.mark.parametrize(
    ("a", "b", "said"), [([0], [0], "the same item"), ([0], [9], "outside 0 … 2"), ([0, 1], [1], "as many first")]
)
def test_impossible_pairs(a: list[int], b: list[int], said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        pair_counts(Transactions.from_baskets([[1, 2, 3]]), a, b)


def test_no_pairs_are_no_question() -> None:
    with pytest.raises(UnveilError, match="1 or more"):
        top_pairs(Transactions.from_baskets([[1, 2]]), 0)
    assert len(top_pairs(Transactions.from_baskets([[1, 2]]), 1, least=2)) == 0
    assert len(top_pairs(Transactions.from_baskets([[1], [2]]), 3)) == 0
