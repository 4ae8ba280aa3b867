"""Random matchings the slow, obvious way: list all of them."""

from __future__ import annotations

from itertools import permutations

import numpy as np


def all_matchings(weights: np.ndarray) -> list[tuple[tuple[int, ...], float]]:
    """Every perfect matching of positive weight, with its weight."""
    n = len(weights)
    made = ((p, float(np.prod([weights[i, p[i]] for i in range(n)]))) for p in permutations(range(n)))
    return [(p, w) for p, w in made if w > 0]


def permanent(weights: np.ndarray) -> float:
    """The total weight of all perfect matchings."""
    return sum(w for _, w in all_matchings(weights))


def marginals(weights: np.ndarray) -> np.ndarray:
    """The probability of every edge in a matching drawn with probability proportional to its weight."""
    n = len(weights)
    found = np.zeros((n, n))
    for p, w in all_matchings(weights):
        found[np.arange(n), p] += w
    return found / permanent(weights)


def crack_distribution(weights: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The probability of exactly 0, 1, … n cracks."""
    n = len(weights)
    found = np.zeros(n + 1)
    for p, w in all_matchings(weights):
        found[int((np.array(p) == truth).sum())] += w
    return found / found.sum()


def set_cracked(weights: np.ndarray, truth: np.ndarray, members: list[int]) -> float:
    """The probability that the entries of a set have, in any order, just the pseudonyms of the set."""
    own = {int(truth[i]) for i in members}
    hits = sum(w for p, w in all_matchings(weights) if {p[i] for i in members} == own)
    return hits / permanent(weights)
