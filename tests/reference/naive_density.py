"""What memory and output of a pan-private counter show about one item, from the definition: every bit, every noise."""

from __future__ import annotations

import math
from itertools import permutations

__all__ = ["stream_distributions", "worst_loss"]


def stream_distributions(
    unseen: float, seen: float, scale: float, reach: int
) -> dict[str, dict[tuple[int, int], float]]:
    """For each kind of stream: the probability of the item's bit at the look with each noisy number of ones, in a list
    of one item."""
    q = math.exp(-1 / scale)
    when = {"never": (), "before": (0,), "after": (1,), "both": (0, 1)}
    found: dict[str, dict[tuple[int, int], float]] = {}
    for name, occurs in when.items():
        shown: dict[tuple[int, int], float] = {}
        for first in (0, 1):
            chance = seen if 0 in occurs else unseen
            p_first = chance if first else 1 - chance
            lasts = {1: seen, 0: 1 - seen} if 1 in occurs else {first: 1.0}
            for last, p_last in lasts.items():
                for output in range(-reach, reach + 1):
                    noise = (1 - q) / (1 + q) * q ** abs(output - last)
                    shown[first, output] = shown.get((first, output), 0.0) + p_first * p_last * noise
        found[name] = shown
    return found


def worst_loss(distributions: dict[str, dict[tuple[int, int], float]], must_contain: str | None = None) -> float:
    """The largest |ln ratio| of one outcome's probabilities between two kinds of streams, all or those with one given
    kind."""
    return max(
        abs(math.log(a[outcome] / b[outcome]))
        for (one, a), (other, b) in permutations(distributions.items(), 2)
        if must_contain is None or must_contain in (one, other)
        for outcome in a
    )
