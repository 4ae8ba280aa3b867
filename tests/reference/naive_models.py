"""ℓ, t, β and δ of classes the slow, obvious way, from the definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import linprog

__all__ = ["class_measures", "earth_mover_distance", "recursive_c", "values_by_class"]


def values_by_class(keys: Sequence[object], values: Sequence[object]) -> dict[object, list[object]]:
    """The sensitive values of every class."""
    classes: dict[object, list[object]] = {}
    for key, value in zip(keys, values, strict=True):
        classes.setdefault(key, []).append(value)
    return classes


def class_measures(members: list[object], everyone: list[object]) -> dict[str, float]:
    """All numbers of one class."""
    inside, whole = Counter(members), Counter(everyone)
    p = {v: inside[v] / len(members) for v in whole}
    q = {v: whole[v] / len(everyone) for v in whole}
    gains = [(p[v] - q[v]) / q[v] for v in whole if p[v] > q[v]]
    too_much = any((p[v] - q[v]) / q[v] > -math.log(q[v]) * (1 + 1e-12) for v in whole if p[v] > q[v])
    return {
        "size": len(members),
        "distinct": len(inside),
        "alpha": max(p.values()),
        "entropy_l": math.exp(-sum(x * math.log(x) for x in p.values() if x)),
        "t_equal": sum(abs(p[v] - q[v]) for v in whole) / 2,
        "beta": max(gains, default=0.0),
        "beta_enhanced": math.inf if too_much else max(gains, default=0.0),
        "delta": max(abs(math.log(p[v] / q[v])) if p[v] else math.inf for v in whole),
    }


def recursive_c(members: list[object], few: int) -> float:
    """The largest count over what the few − 1 largest leave."""
    counts = sorted(Counter(members).values(), reverse=True)
    rest = sum(counts[few - 1 :])
    return counts[0] / rest if rest else math.inf


def earth_mover_distance(p: Sequence[float], q: Sequence[float], distance: np.ndarray) -> float:
    """The earth mover's distance by its definition, a transport problem."""
    n = len(p)
    rows = [[1.0 if k // n == i else 0.0 for k in range(n * n)] for i in range(n)]
    columns = [[1.0 if k % n == j else 0.0 for k in range(n * n)] for j in range(n)]
    found = linprog(distance.ravel(), A_eq=np.array(rows + columns), b_eq=[*p, *q])
    assert found.status == 0
    return float(found.fun)


def line_distances(n: int) -> np.ndarray:
    """Distances of places on a line."""
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / max(1, n - 1)


def tree_distances(levels: Sequence[Sequence[int]]) -> np.ndarray:
    """Distances by the first common level; the height where there is none."""
    n, height = len(levels[0]), len(levels)
    found = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            common = [k + 1 for k in range(height) if levels[k][i] == levels[k][j]]
            found[i, j] = 0 if i == j else min(common, default=height) / height
    return found


def is_nondecreasing(values: Sequence[float]) -> bool:
    """Whether values do not fall."""
    return all(a <= b for a, b in pairwise(values))
