"""Compiled inner loop of :mod:`unveil.classes.protections.microaggregation`."""

# mypy: allow-untyped-defs
from __future__ import annotations

from unveil.compilation import helper, kernel

__all__ = ["form_groups"]


@helper
def _distance(points, a, b):
    total = 0.0
    for d in range(points.shape[1]):
        total += (points[a, d] - points[b, d]) ** 2
    return total


@helper
def _farthest_from_centre(points, left, count):
    """The first of those farthest from the mean of all who are left."""
    last = points.shape[0] - 1  # the last point is work space for the mean
    for d in range(points.shape[1]):
        total = 0.0
        for i in range(count):
            total += points[left[i], d]
        points[last, d] = total / count
    return _farthest_from(points, left, count, last)


@helper
def _farthest_from(points, left, count, centre):
    best, found = -1.0, left[0]
    for i in range(count):
        far = _distance(points, centre, left[i])
        if far > best:
            best, found = far, left[i]
    return found


@helper
def _take_group(points, left, count, centre, size, group, number, near, distances):
    """Put a point and those nearest to it into a group; the others are left, in their order."""
    held = 0
    for i in range(count):
        if left[i] == centre:
            continue
        far = _distance(points, centre, left[i])
        if held == size - 1 and far >= distances[held - 1]:
            continue
        place = held if held < size - 1 else held - 1
        while place > 0 and distances[place - 1] > far:
            distances[place], near[place] = distances[place - 1], near[place - 1]
            place -= 1
        distances[place], near[place] = far, left[i]
        if held < size - 1:
            held += 1
    group[centre] = number
    for i in range(held):
        group[near[i]] = number
    kept = 0
    for i in range(count):
        if group[left[i]] < 0:
            left[kept] = left[i]
            kept += 1
    return kept


@kernel
def form_groups(points, left, count, group, number, size, near, distances, steps):
    """Form up to two groups per step while three times their size are left. The number of points left, and of groups.

    Points are rows but the last, which is work space; ``near`` and ``distances`` have room for a group."""
    for _ in range(steps):
        if count < 3 * size:
            break
        first = _farthest_from_centre(points, left, count)
        count = _take_group(points, left, count, first, size, group, number, near, distances)
        second = _farthest_from(points, left, count, first)
        count = _take_group(points, left, count, second, size, group, number + 1, near, distances)
        number += 2
    if 2 * size <= count < 3 * size:
        first = _farthest_from_centre(points, left, count)
        count = _take_group(points, left, count, first, size, group, number, near, distances)
        number += 1
    if count < 2 * size:
        for i in range(count):
            group[left[i]] = number
        number += 1
        count = 0
    return count, number
