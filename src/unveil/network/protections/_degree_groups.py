"""The compiled loops that put degrees into groups."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel

__all__ = ["group_degrees", "trace_groups"]


@helper
def _improve(costs, choices, end, parity, cost, size, target):
    """Choose a last group if it is cheaper than what was chosen so far."""
    if cost <= costs[end, parity]:
        costs[end, parity] = cost
        choices[end, parity, 0], choices[end, parity, 1] = size, target


@helper
def _other_parity(begin, end, at, falling, run_begins, run_ends, price, most):
    """What the target next to the best one costs more, and whether it is the higher or the lower one."""
    size, target = end - begin, falling[at]
    above = max(run_begins[at] - begin, 0)
    below = max(end - run_ends[at], 0)
    up = size - above - price * above if target < most else np.inf
    down = price * (size - below) - below if target > 0 else np.inf
    return min(up, down), 1 if up <= down else -1


@kernel
def group_degrees(first, last, sequence, before, k, price, most, costs, choices):
    """For each end from ``first`` to ``last`` − 1, the cheapest last group, of k to 2k − 1 members, of those before it.

    ``sequence`` are falling degrees, their prefix sums, and where the run of equal ones begins and ends in which each
    of them lies. A group of L has ``before[L]`` members before the one whose degree is the best target. ``costs`` are
    infinite but for the first; with two columns, one for each parity of the sum of all changes so far. ``choices`` is
    for sizes and targets.
    """
    falling, sums, run_begins, run_ends = sequence
    states = costs.shape[1]
    for end in range(first, last):
        for size in range(k, min(2 * k - 1, end) + 1):
            begin = end - size
            at = begin + before[size]
            target = falling[at]
            cost = price * (sums[at] - sums[begin] - before[size] * target)
            cost += (size - before[size]) * target - (sums[end] - sums[at])
            flips = (size * target - sums[end] + sums[begin]) & (states - 1)
            for parity in range(states):
                _improve(costs, choices, end, parity ^ flips, costs[begin, parity] + cost, size, target)
            if states == 2 and size & 1:
                more, shift = _other_parity(begin, end, at, falling, run_begins, run_ends, price, most)
                for parity in range(states):
                    total = costs[begin, parity] + cost + more
                    _improve(costs, choices, end, 1 ^ parity ^ flips, total, size, target + shift)


@kernel
def trace_groups(parity, sums, choices, targets):
    """Follow the choices back from the end, where the sum of all changes has a parity, and fill the targets."""
    end = len(targets)
    while end > 0:
        size, target = choices[end, parity, 0], choices[end, parity, 1]
        for i in range(end - size, end):
            targets[i] = target
        if choices.shape[1] == 2:
            parity ^= (size * target - sums[end] + sums[end - size]) & 1
        end -= size
