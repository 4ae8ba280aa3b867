"""The compiled inner loops of ``degree_estimates``.

Pseudonyms are sorted by ascending count, and so are the items they belong to. The candidates of the item at position k
are the positions ``first[k]`` … ``last[k] − 1``.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from math import ceil, floor

import numpy as np

from unveil.arrays import Bools, Floats, Ints
from unveil.compilation import helper, kernel

__all__ = ["estimates_of_degrees", "look_up_runs", "propagate_estimates"]


_NEVER = 1 << 30


@kernel
def look_up_runs(low, high, counts, below, filled, runs, order, found):
    """Fill ``found`` with 1/degree of every item, in the order of the items; 0 without candidates or if the true one is
    not among them. If ``order`` is not empty, fill the items by ascending count and their ``runs`` of candidates.
    ``below[v]`` becomes the number of counts below v; it is 0 at first, and so is ``filled``, which is as long. False
    if a count is not an integer in the range of ``below``."""
    most = len(below) - 2
    for i in range(len(counts)):
        count = counts[i]
        whole = int(count) if count >= 0 and count <= most else -1
        if whole != count:
            return False
        below[whole + 1] += 1
    for v in range(most + 1):
        below[v + 1] += below[v]
        filled[v] = below[v]
    for i in range(len(counts)):
        whole = int(counts[i])
        slack = 1e-9 * max(1.0, counts[i])  # rounding error (as in ``Beliefs``)
        least = ceil(min(max(low[i] - slack, 0.0), most + 1.0))
        behind = floor(min(max(high[i] + slack, -1.0), most + 0.0)) + 1
        first, last = below[least], below[behind]
        if first < last and least <= whole and whole < behind:
            found[i] = 1 / (last - first)
        if len(order):
            k = filled[whole]
            filled[whole] += 1
            order[k], runs[0, k], runs[1, k] = i, first, max(first, last)
    return True


def estimates_of_degrees(degrees: Ints, is_right: Bools) -> Floats:
    """1/degree; 0 without candidates or if the true one is not among them."""
    return np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=(degrees > 0) & is_right)


def propagate_estimates(first: Ints, last: Ints) -> Floats | None:
    """1/degree of the item at every position after all forced pairs are removed; None if no forced pair affects another
    item."""
    n, places = len(first), np.arange(len(first) + 1)
    is_right = np.append((first <= places[:-1]) & (places[:-1] < last), False)
    cover = np.cumsum(np.bincount(first, minlength=n + 1) - np.bincount(last, minlength=n + 1))
    alone = is_right[:-1] & (last - first == 1)
    if np.array_equal(alone, is_right[:-1] & (cover[:-1] == 1)):
        return None
    size = 1 << n.bit_length()
    least = np.full(2 * size, _NEVER)  # excludes positions that their own item does not cover
    least[size : size + n + 1] = np.where(is_right, cover, _NEVER)
    for start in (1 << level for level in range(n.bit_length() - 1, -1, -1)):
        np.minimum(least[2 * start : 4 * start : 2], least[2 * start + 1 : 4 * start : 2], out=least[start : 2 * start])
    forced, stack = np.flatnonzero(alone), np.empty(3 * n + 1, np.int64)
    stack[: len(forced)] = forced
    is_left = np.ones(n, np.bool_)
    _remove_forced_pairs(
        first, last, is_right, places - 1, places + 1, is_left, stack, len(forced), least, np.zeros(size, np.int64)
    )
    count = np.append(0, np.cumsum(is_left))
    found = estimates_of_degrees(count[last] - count[first], is_right[:-1])
    found[~is_left] = 1.0
    return found


@kernel
def _remove_forced_pairs(first, last, is_right, before, behind, is_left, stack, filled, least, added):
    """Remove the forced pairs on the stack, and those that this forces in turn.

    An item whose true pseudonym is a candidate keeps it until both are removed together. It has no other candidate left
    if and only if the nearest remaining positions on either side lie outside its run. These are found with a linked
    list of positions, whose two ends share a sentinel that is never right. A segment tree of minima holds the number of
    items that cover each position; it lowers a whole run at once.
    """
    size = len(added)
    while filled or least[1] == 1:
        if filled:
            filled -= 1
            k = stack[filled]
        else:
            k = 1
            while k < size:
                k = 2 * k + (least[2 * k] > least[2 * k + 1])
            k -= size
        if not is_left[k]:
            continue
        is_left[k] = False
        p, q = before[k], behind[k]
        behind[p], before[q] = q, p
        for side in range(2):
            m, start, stop, by = (q, first[k], last[k], -1) if side else (p, k, k + 1, _NEVER)
            if is_right[m] and before[m] < first[m] and behind[m] >= last[m]:
                stack[filled] = m
                filled += 1
            _add_to_range(least, added, size, start, stop, by)


@helper
def _add_to_range(least, added, size, start, stop, by):
    """Add ``by`` to all positions from start to stop."""
    left, right = start + size, stop + size
    while left < right:
        if left & 1:
            least[left] += by
            if left < size:
                added[left] += by
            left += 1
        if right & 1:
            right -= 1
            least[right] += by
            if right < size:
                added[right] += by
        left, right = left >> 1, right >> 1
    for v in (start + size, stop + size - 1):
        v >>= 1
        while v:
            least[v] = min(least[2 * v], least[2 * v + 1]) + added[v]
            v >>= 1
