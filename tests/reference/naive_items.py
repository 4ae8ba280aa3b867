"""Items and itemsets the slow, obvious way: draw the graph, list all consistent mappings."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt

from reference.naive_matching import all_matchings
from unveil.items.beliefs import Beliefs


def possible_pairs(low: list[float], high: list[float], counts: list[float]) -> np.ndarray:
    """Whether item i may be pseudonym j."""
    return np.array([[x <= c <= y for c in counts] for x, y in zip(low, high, strict=True)], bool).reshape(
        len(counts), len(counts)
    )


def propagated_degrees(possible: np.ndarray) -> np.ndarray:
    """Figure 5, edge by edge: the degrees of items, where x and x′ are taken out when either has only the other."""
    n = len(possible)
    left = possible.copy()
    gone = np.zeros(n, bool)
    while True:
        forced = [x for x in range(n) if not gone[x] and left[x, x] and (left[x].sum() == 1 or left[:, x].sum() == 1)]
        if not forced:
            return np.where(gone, 1, left.sum(axis=1))
        x = forced[0]
        left[x], left[:, x], gone[x] = False, False, True


def crack_estimates(possible: np.ndarray, propagated: bool) -> np.ndarray:
    """1/degree, one item after the other."""
    degrees = propagated_degrees(possible) if propagated else possible.sum(axis=1)
    counted = [possible[x, x] and d > 0 for x, d in enumerate(degrees)]
    return np.array([1 / d if c else 0.0 for c, d in zip(counted, degrees, strict=True)])


def os_estimate(possible: np.ndarray, itemset: tuple[int, ...]) -> float:
    """∏ |N(x) ∩ X′| / |N(x)|."""
    near = [set(np.flatnonzero(possible[x]).tolist()) for x in itemset]
    return math.prod(len(some & set(itemset)) / len(some) if some else 0.0 for some in near)


def os2_estimate(possible: np.ndarray, itemset: tuple[int, ...]) -> float:
    """1 / (|∪ N(x)| − k + 1) if the union holds X′."""
    union = {y for x in itemset for y in np.flatnonzero(possible[x]).tolist()}
    return 1 / (len(union) - len(itemset) + 1) if set(itemset) <= union else 0.0


def itemset_chances(possible: np.ndarray, k: int) -> dict[tuple[int, ...], float]:
    """The probability that a random consistent mapping maps each k-itemset to itself; empty if there is none."""
    mappings = [p for p, _ in all_matchings(possible.astype(float))]
    return {
        x: sum({p[i] for i in x} == set(x) for p in mappings) / len(mappings)
        for x in combinations(range(len(possible)), k)
        if mappings
    }


def from_ignorance(counts: npt.ArrayLike) -> Beliefs:
    """An attacker who knows nothing: every count is possible for every item."""
    return Beliefs.from_half_width(counts, 0).forget_items(np.ones(len(np.asarray(counts)), bool))


def is_within(some: Beliefs, other: Beliefs) -> bool:
    """Whether every interval lies within the other's interval: β₁ ≼ β₂ (Definition 4.1)."""
    return bool(((some.low >= other.low) & (some.high <= other.high)).all())


def is_at_least_as_right(some: Beliefs, other: Beliefs) -> bool:
    """Whether other ≼_C some (Definition 4.3): wherever the other is right, these are right and no wider."""
    kept = other.compliant
    narrower = (some.low >= other.low) & (some.high <= other.high)
    return bool(some.compliant[kept].all() and narrower[kept].all())
