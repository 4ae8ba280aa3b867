"""The compiled loop that puts degrees into groups."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel

__all__ = ["group_degrees"]


@helper
def _improve(costs, choices, end, parity, cost, size, target):
    if cost < costs[end, parity]:
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
def group_degrees(
    falling, sums, run_begins, run_ends, before, k, price, most, change, costs, choices, targets
):  # fmt: skip
    """The cheapest targets of falling degrees in groups of k to 2k − 1.

    ``sums`` are their prefix sums. ``run_begins`` and ``run_ends`` say where equal degrees begin and end. A group of L
    has ``before[L]`` members before the one whose degree is the best target. ``change`` is the parity that the sum of
    all changes must have, if ``costs`` has two columns; ``costs`` is infinite and ``choices`` is for size and target.
    """
    states = costs.shape[1]
    costs[0, 0] = 0.0
    for end in range(k, len(falling) + 1):
        for size in range(k, min(2 * k - 1, end) + 1):
            begin = end - size
            at = begin + before[size]
            target = falling[at]
            middle = sums[at]
            cost = price * (middle - sums[begin] - before[size] * target)
            cost += (size - before[size]) * target - (sums[end] - middle)
            flips = (size * target - sums[end] + sums[begin]) & (states - 1)
            for parity in range(states):
                total = costs[begin, parity] + cost
                if total < np.inf:
                    _improve(costs, choices, end, parity ^ flips, total, size, target)
            if states == 2 and size & 1:
                more, shift = _other_parity(begin, end, at, falling, run_begins, run_ends, price, most)
                for parity in range(states):
                    total = costs[begin, parity] + cost + more
                    if total < np.inf:
                        _improve(costs, choices, end, 1 ^ parity ^ flips, total, size, target + shift)
    end, parity = len(falling), change
    while end > 0:
        size, target = choices[end, parity, 0], choices[end, parity, 1]
        for i in range(end - size, end):
            targets[i] = target
        if states == 2:
            parity ^= (size * target - sums[end] + sums[end - size]) & 1
        end -= size
