"""The score of matching items with pseudonyms by pairs, term by term, and the best of all assignments."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np

__all__ = ["best_assignments", "pair_score"]


def pair_score(own: np.ndarray, released: np.ndarray, baskets: float, assigned: tuple[int, ...]) -> float:
    """−2N(a − b)² over the items plus 2N·A·B over all ordered pairs, on the scale arcsin √share."""

    def scaled(share: float) -> float:
        return math.asin(math.sqrt(min(1.0, max(0.0, share))))

    def apart(table: np.ndarray, i: int, j: int) -> float:
        return scaled(table[i, j]) - scaled(table[i, i] * table[j, j])

    total = 0.0
    for i, k in enumerate(assigned):
        total -= 2 * baskets * (scaled(own[i, i]) - scaled(released[k, k])) ** 2
        for j, m in enumerate(assigned):
            if i != j:
                total += 2 * baskets * apart(own, i, j) * apart(released, k, m)
    return total


def best_assignments(own: np.ndarray, released: np.ndarray, baskets: float) -> tuple[float, set[tuple[int, ...]]]:
    """The highest score, and all assignments that reach it."""
    scores = {p: pair_score(own, released, baskets, p) for p in permutations(range(len(own)))}
    best = max(scores.values())
    return best, {p for p, score in scores.items() if score > best - 1e-6}
