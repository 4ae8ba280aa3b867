"""Mechanisms that lose more than they claim, each run many times at once. An audit must catch them.

Each takes which of two neighbouring inputs it runs on, how often, and a seeded generator, and claims ε = 1 unless it
says otherwise.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = [
    "draw_integer_laplace",
    "floating_laplace",
    "half_scale_count",
    "histogram_with_sequence_noise",
    "kmeans_with_ties",
    "printed_density",
]

Rows = npt.NDArray[np.float64]


def draw_integer_laplace(scale: float, shape: tuple[int, ...], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Two-sided geometric noise as the difference of two geometric draws."""
    p = -np.expm1(-1 / scale)
    return rng.geometric(p, shape) - rng.geometric(p, shape)


def half_scale_count(neighbour: int, runs: int, rng: np.random.Generator) -> Rows:
    """A count of 100 or 101 with noise of scale 1/2ε."""
    return 100.0 + neighbour + draw_integer_laplace(0.5, (runs, 1), rng)


def floating_laplace(neighbour: int, runs: int, rng: np.random.Generator) -> Rows:
    """A count of 0 or 1 plus a floating-point Laplace draw of the right scale."""
    return neighbour + rng.laplace(0.0, 1.0, (runs, 1))


def histogram_with_sequence_noise(neighbour: int, runs: int, rng: np.random.Generator) -> Rows:
    """How many nodes have degree 0, 1, 2 and 3, with the degree sequence's noise of scale 2/ε. The edge between a node
    of degree 0 and one of degree 2 moves both."""
    counts = np.array([[5, 5, 5, 5], [4, 6, 4, 6]])[neighbour]
    return (counts + draw_integer_laplace(2.0, (runs, 4), rng)).astype(np.float64)


def kmeans_with_ties(neighbour: int, runs: int, rng: np.random.Generator) -> Rows:
    """One round of Algorithm 5.2, line 4 as printed, with three centroids that coincide in the plane: the additional
    point (1, 1) belongs to all three clusters. Counts and sums get noise of scale (d + 1)/ε = 3."""
    points = np.array([[0.5, 0.5], [1.0, 1.0]])[: 1 + neighbour]
    centroids = np.full((3, 2), 0.5)
    distances = np.linalg.norm(points[:, None] - centroids[None], axis=2)
    members = distances <= distances.min(axis=1, keepdims=True)
    true = np.concatenate([[member.sum(), *points[member].sum(axis=0)] for member in members.T])
    return np.floor(true) + draw_integer_laplace(3.0, (runs, 9), rng)


def printed_density(neighbour: int, runs: int, rng: np.random.Generator) -> Rows:
    """Algorithm 6.1 for ε = .5, claimed total 2ε = 1, over two items of which the first occurs after the look
    (neighbour 1) or never: its bit at the look, and the released density."""
    epsilon, items = 0.5, 2
    bits = rng.random((runs, items)) < 0.5
    seen = bits[:, 0].copy()
    if neighbour:
        bits[:, 0] = rng.random(runs) < 0.5 + epsilon / 4
    density = 4 * (bits.mean(axis=1) - 0.5) / epsilon + rng.laplace(0, 1 / (epsilon * items), runs)
    return np.column_stack([seen, density])
