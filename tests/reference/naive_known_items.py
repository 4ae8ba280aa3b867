"""Known items the slow, obvious way: count the baskets of every set of items that occurs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations

import numpy as np

from unveil.arrays import Ints

__all__ = ["count_support", "fewest_items", "least_supports", "rarest_items", "supports_by_tables"]

Baskets = Sequence[AbstractSet[str]]


def count_support(baskets: Baskets, items: AbstractSet[str]) -> int:
    """How many baskets hold all of these items."""
    return sum(items <= basket for basket in baskets)


def _item_subsets(items: Sequence[str], most: int) -> Iterator[frozenset[str]]:
    for size in range(most + 1):
        yield from map(frozenset, combinations(items, size))


def least_supports(baskets: Baskets, most: int) -> list[int]:
    """Of every basket the least support of a set of at most so many of its items."""
    seen: dict[frozenset[str], int] = {}
    for part in (part for basket in baskets for part in _item_subsets(sorted(basket), most)):
        seen[part] = seen.get(part, 0) + 1
    return [min(seen[part] for part in _item_subsets(sorted(basket), most)) for basket in baskets]


def fewest_items(baskets: Baskets, most: int) -> list[int]:
    """How many items of every basket that takes."""
    by_size = [least_supports(baskets, m) for m in range(most + 1)]
    return [next(m for m, values in enumerate(by_size) if values[b] == lowest) for b, lowest in enumerate(by_size[-1])]


def rarest_items(baskets: Baskets, basket: int, most: int) -> list[str]:
    """The first of the smallest sets with the least support, by rarity and then by the alphabet."""
    rarest_first = sorted(baskets[basket], key=lambda item: (count_support(baskets, {item}), item))
    supports = {part: count_support(baskets, part) for part in _item_subsets(rarest_first, most)}  # smaller ones first
    found = min(supports, key=lambda part: supports[part])
    return [item for item in rarest_first if item in found]


def supports_by_tables(held: Ints, size: int) -> list[int]:
    """The least support of a set of two or three items of every basket, from tables of how often items occur together.
    Baskets are rows of 0 and 1."""
    own = [np.flatnonzero(row) for row in held]
    found = [len(held)] * len(held)
    among = [np.arange(len(held))] if size == 2 else [np.flatnonzero(column) for column in held.T]
    for some in among:
        together = held[some].T @ held[some]
        for b in some.tolist():
            found[b] = min(found[b], int(together[np.ix_(own[b], own[b])].min()))
    return found
