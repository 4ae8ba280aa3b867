"""The compiled inner loops of ``estimates``.

Pseudonyms stand in a row by rising count, and an item's candidates are a run of places ``first … last − 1`` in it.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.compilation import helper, kernel

__all__ = [
    "estimates_by_runs",
    "estimates_by_table",
    "propagate_estimates",
    "runs_by_search",
    "runs_by_table",
    "tally_counts",
]


_NEVER = 1 << 30


@kernel
def tally_counts(counts: Any, most: Any, below: Any) -> Any:
    """Fill how many counts lie below 0, 1, … most + 1, all 0 at first; False where a count is not a whole number from 0
    to most."""
    for i in range(len(counts)):
        count = counts[i]
        whole = int(count) if count >= 0 and count <= most else -1
        if whole != count:
            return False
        below[whole + 1] += 1
    for v in range(most + 1):
        below[v + 1] += below[v]
    return True


@helper
def _rounding_slack(count: Any) -> Any:
    """What rounding may have moved (as in ``Beliefs``)."""
    return 1e-9 * max(1.0, abs(count))


@helper
def _whole_bounds(low: Any, high: Any, count: Any, most: Any) -> Any:
    """The least and largest whole number from 0 to most in an interval; the first is larger if there is none."""
    slack = _rounding_slack(count)
    lowest, highest = low - slack, high + slack
    least = 0 if lowest <= 0 else most + 1 if lowest > most else ceil(lowest)
    largest = most if highest >= most else -1 if highest < 0 else floor(highest)
    return least, largest


@kernel
def estimates_by_table(low: Any, high: Any, counts: Any, below: Any, compliant_only: Any, found: Any) -> None:
    """Fill 1/degree of every item, read off the tally; 0 without candidates or, if so asked, without the true one."""
    most = len(below) - 2
    for i in range(len(low)):
        least, largest = _whole_bounds(low[i], high[i], counts[i], most)
        if least <= largest and (not compliant_only or least <= counts[i] <= largest):
            degree = below[largest + 1] - below[least]
            if degree > 0:
                found[i] = 1 / degree


@kernel
def runs_by_table(low: Any, high: Any, counts: Any, below: Any, filled: Any, first: Any, last: Any, order: Any) -> None:
    """Fill the run of candidates of every item, and the items by rising count. ``filled`` is as ``below`` at first."""
    most = len(below) - 2
    for i in range(len(low)):
        least, largest = _whole_bounds(low[i], high[i], counts[i], most)
        first[i] = below[least]
        last[i] = max(first[i], below[largest + 1])
        whole = int(counts[i])
        order[filled[whole]] = i
        filled[whole] += 1


@helper
def _find_place(row: Any, value: Any, at: Any, behind: Any) -> Any:
    """How many of a sorted row lie below the value (or at it, if ``behind``), sought from a place near by."""
    n, step = len(row), 1
    lower, upper = at, at
    while lower > 0 and not (row[lower - 1] <= value if behind else row[lower - 1] < value):
        lower, upper = max(0, lower - step), lower - 1
        step *= 2
    step = 1
    while upper < n and (row[upper] <= value if behind else row[upper] < value):
        lower, upper = upper + 1, min(n, upper + step)
        step *= 2
    while lower < upper:
        middle = (lower + upper) // 2
        if row[middle] <= value if behind else row[middle] < value:
            lower = middle + 1
        else:
            upper = middle
    return lower


@kernel
def runs_by_search(low: Any, high: Any, counts: Any, order: Any, row: Any, first: Any, last: Any) -> None:
    """Fill the run of candidates of every item, where ``order`` sorts the counts into a ``row``."""
    begin = end = 0
    for k in range(len(low)):
        i = order[k]
        slack = _rounding_slack(counts[i])
        begin = _find_place(row, low[i] - slack, begin, False)
        end = _find_place(row, high[i] + slack, end, True)
        first[i], last[i] = begin, max(begin, end)


@kernel
def estimates_by_runs(first: Any, last: Any, order: Any, compliant_only: Any, found: Any) -> None:
    """Fill 1/degree of every item from the runs of candidates; 0 as in ``estimates_by_table``."""
    for k in range(len(order)):
        i = order[k]
        if first[i] < last[i] and (not compliant_only or first[i] <= k < last[i]):
            found[i] = 1 / (last[i] - first[i])


def propagate_estimates(first: Ints, last: Ints, order: Ints, compliant_only: bool, found: Floats) -> None:
    """Fill 1/degree of every item after all forced pairs are taken out."""
    n = len(order)
    size = 1 << max(0, n - 1).bit_length()
    place, before, behind = np.empty((3, n), np.int64)
    _fill_propagated(
        first, last, order, compliant_only, size, place, before, behind, np.empty((2, n), np.bool_),
        np.zeros(n + 1, np.int64), np.empty(3 * n + 1, np.int64), np.full(2 * size, _NEVER, np.int64),
        np.zeros(size, np.int64), found,
    )  # fmt: skip


@kernel
def _fill_propagated(
    first: Any, last: Any, order: Any, compliant_only: Any, size: Any, place: Any, before: Any, behind: Any, flags: Any,
    cover: Any, stack: Any, least: Any, added: Any, found: Any,
) -> None:  # fmt: skip
    """Fill 1/degree of every item after all forced pairs are taken out.

    An item whose true pseudonym is a candidate keeps it until both are taken out together. So it has no other left if
    and only if the nearest places left on either side lie outside its run: a linked list of places finds that. How many
    items cover each place is held in a tree of minima, where a run is lowered at once.
    """
    n, filled, right, here = len(order), 0, flags[0], flags[1]
    for k in range(n):
        i = order[k]
        place[i], right[i] = k, first[i] <= k and k < last[i]
        before[k], behind[k], here[k] = k - 1, k + 1, True
    for i in range(n):
        cover[first[i]] += 1
        cover[last[i]] -= 1
    for k in range(n):
        cover[k + 1] += cover[k]
    one_sided = False
    for i in range(n):
        alone = last[i] - first[i] == 1
        if right[i]:
            one_sided |= alone != (cover[place[i]] == 1)
            if alone:
                stack[filled] = i
                filled += 1
    if not one_sided:
        estimates_by_runs(first, last, order, compliant_only, found)
        return
    for k in range(n):  # the minima over ever longer stretches; a place that its own item does not cover is not lowest
        if right[order[k]]:
            least[size + k] = cover[k]
    for v in range(size - 1, 0, -1):
        least[v] = min(least[2 * v], least[2 * v + 1])
    while filled or least[1] == 1:
        if filled:
            filled -= 1
            i = stack[filled]
        else:
            i = order[_first_lowest(least, size)]
        k = place[i]
        if not here[k]:
            continue
        here[k] = False
        p, q = before[k], behind[k]
        if p >= 0:
            behind[p] = q
        if q < n:
            before[q] = p
        for side in range(2):
            m = q if side else p
            if m >= 0 and m < n:
                j = order[m]
                if right[j] and before[m] < first[j] and behind[m] >= last[j]:
                    stack[filled] = j
                    filled += 1
        for side in range(2):
            start, stop, by = (first[i], last[i], -1) if side else (k, k + 1, _NEVER)
            _add_to_range(least, added, size, start, stop, by)
    _fill_remaining(first, last, place, right, here, compliant_only, cover, found)


@helper
def _fill_remaining(
    first: Any, last: Any, place: Any, right: Any, here: Any, compliant_only: Any, count: Any, found: Any
) -> None:
    """Fill 1/degree counted among the places that are left; 1 for what was taken out. ``count`` is room."""
    n = len(first)
    count[0] = 0
    for k in range(n):
        count[k + 1] = count[k] + here[k]
    for i in range(n):
        degree = count[last[i]] - count[first[i]]
        if not here[place[i]]:
            found[i] = 1.0
        elif degree > 0 and (right[i] or not compliant_only):
            found[i] = 1 / degree


@helper
def _add_to_range(least: Any, added: Any, size: Any, start: Any, stop: Any, by: Any) -> Any:
    """Add to all places from start to stop."""
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


@helper
def _first_lowest(least: Any, size: Any) -> Any:
    """The first place of those that are lowest."""
    v = 1
    while v < size:
        v = 2 * v if least[2 * v] <= least[2 * v + 1] else 2 * v + 1
    return v - size
