"""Nearest k-anonymous degree sequences, by looking at all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

__all__ = ["all_targets", "least_cost", "least_cost_of_sorted", "target_cost"]


def target_cost(degrees: Sequence[int], targets: Sequence[int], lowering_price: float | None) -> float:
    """What it costs to turn degrees into targets; infinite if one would have to be lowered and must not be."""
    down = sum(max(0, d - t) for d, t in zip(degrees, targets, strict=True))
    up = sum(max(0, t - d) for d, t in zip(degrees, targets, strict=True))
    if lowering_price is None:
        return float("inf") if down else up
    return up + lowering_price * down


def all_targets(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """All k-anonymous vectors of n numbers from 0 to n − 1."""
    for targets in product(range(n), repeat=n):
        if all(count >= k for count in Counter(targets).values()):
            yield targets


def least_cost(degrees: Sequence[int], k: int, lowering_price: float | None, even_sum: bool) -> float:
    """The least cost over all vectors."""
    some = (targets for targets in all_targets(len(degrees), k) if not even_sum or sum(targets) % 2 == 0)
    return min(target_cost(degrees, targets, lowering_price) for targets in some)


def least_cost_of_sorted(degrees: Sequence[int], k: int, lowering_price: float | None, even_sum: bool) -> float:
    """The same over sorted vectors only, which suffice because costs are convex."""
    rising, n = sorted(degrees), len(degrees)
    some = (targets for targets in _rising_targets(n, k, 0, n) if not even_sum or sum(targets) % 2 == 0)
    return min(target_cost(rising, targets, lowering_price) for targets in some)


def _rising_targets(length: int, k: int, least: int, end: int) -> Iterator[tuple[int, ...]]:
    if length == 0:
        yield ()
    for value in range(least, end):
        for size in range(k, length + 1):
            for rest in _rising_targets(length - size, k, value + 1, end):
                yield (value,) * size + rest
