"""The most frequent triples, against counting all of them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from unveil import Transactions
from unveil.items.item_triples import top_triples, triple_counts


@pytest.mark.parametrize("seed", range(8))
def test_top_triples_against_counting_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [np.flatnonzero(rng.random(9) < rng.uniform(0.2, 0.7)).tolist() or [0] for _ in range(40)]
    data = Transactions.from_baskets([[str(i) for i in row] for row in rows])
    number = {int(label): code for code, label in enumerate(data.labels.to_pylist())}
    every = Counter(t for row in rows for t in combinations(sorted(number[i] for i in row), 3))
    for k in (1, 5, 500):
        found = top_triples(data, k)
        assert found.counts.tolist() == sorted(every.values(), reverse=True)[:k]
        assert [every[tuple(t)] for t in found.items.tolist()] == found.counts.tolist()
        assert len({tuple(t) for t in found.items.tolist()}) == len(found.items)
    assert triple_counts(data, found.items).tolist() == found.counts.tolist()


def test_no_triples() -> None:
    found = top_triples(Transactions.from_baskets([["a", "b"], ["c"]]), 3)
    assert found.items.shape == (0, 3) and not len(found.counts)
