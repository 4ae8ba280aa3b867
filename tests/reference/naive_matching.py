"""Random matchings the slow, obvious way: list all of them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import permutations

import numpy as np


@lru_cache
def _permutations(n: int) -> np.ndarray:
    return np.array(list(permutations(range(n))), int).reshape(-1, n)


def _weights(weights: np.ndarray) -> np.ndarray:
    """The weight of every permutation."""
    n = len(weights)
    return weights[np.arange(n), _permutations(n)].prod(axis=1)


def all_matchings(weights: np.ndarray) -> list[tuple[tuple[int, ...], float]]:
    """Every perfect matching of positive weight, with its weight."""
    found = zip(_permutations(len(weights)).tolist(), _weights(weights).tolist(), strict=True)
    return [(tuple(p), w) for p, w in found if w > 0]


def permanent(weights: np.ndarray) -> float:
    """The total weight of all perfect matchings."""
    return float(_weights(weights).sum())


def marginals(weights: np.ndarray) -> np.ndarray:
    """The probability of every edge in a matching drawn with probability proportional to its weight."""
    n = len(weights)
    found, each = np.zeros((n, n)), _weights(weights)
    for i in range(n):
        np.add.at(found[i], _permutations(n)[:, i], each)
    return found / each.sum()


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


def exact_marginals(weights: np.ndarray) -> tuple[np.ndarray, float]:
    """The probability of every edge and ln permanent, in fractions: no weight is too large or small."""
    n = len(weights)
    w = [[Fraction(x) for x in row] for row in weights.tolist()]
    through = [[Fraction(0)] * n for _ in range(n)]
    total = Fraction(0)
    for p in permutations(range(n)):
        edges = [w[i][p[i]] for i in range(n)]
        if not all(edges):
            continue
        here = math.prod(edges, start=Fraction(1))
        total += here
        for i in range(n):
            through[i][p[i]] += here
    log = math.log(total.numerator) - math.log(total.denominator)
    return np.array([[float(x / total) for x in row] for row in through]), log
