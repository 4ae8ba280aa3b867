"""MDAV as it is described: distances of everybody, again and again."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["mdav_groups"]

Point = Sequence[float]


def mdav_groups(points: Sequence[Point], k: int) -> list[list[int]]:
    """Groups of k to 2 k − 1 points."""
    left, groups = list(range(len(points))), list[list[int]]()

    def take(centre: int) -> None:
        others = sorted((i for i in left if i != centre), key=lambda i: (_distance(points[i], points[centre]), i))
        groups.append([centre, *others[: k - 1]])
        for i in groups[-1]:
            left.remove(i)

    while len(left) >= 3 * k:
        first = _farthest(points, left, _mean([points[i] for i in left]))
        take(first)
        take(_farthest(points, left, points[first]))
    if len(left) >= 2 * k:
        take(_farthest(points, left, _mean([points[i] for i in left])))
    return [*groups, left] if left else groups


def _mean(points: Sequence[Point]) -> list[float]:
    return [sum(own) / len(points) for own in zip(*points, strict=True)]


def _farthest(points: Sequence[Point], some: Sequence[int], centre: Point) -> int:
    return max(some, key=lambda i: (_distance(points[i], centre), -i))


def _distance(a: Point, b: Point) -> float:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))
