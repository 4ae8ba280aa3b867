"""The compiled inner loops of ``estimates``.

Pseudonyms stand in a row by rising count, and an item's candidates are a run of places ``first … last − 1`` in it.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy as np

from unveil.compiled import inlined, kernel

__all__ = ["by_runs", "by_table", "propagated", "runs_by_search", "runs_by_table", "tally"]

_NEVER = 1 << 30


@kernel
def tally(counts: Any, most: Any) -> Any:
    """How many counts lie below 0, 1, … most + 1; empty where a count is not a whole number from 0 to most."""
    below = np.zeros(most + 2, np.int32)
    for i in range(len(counts)):
        count = counts[i]
        if not 0 <= count <= most:
            return below[:0]
        whole = int(count)
        if whole != count:
            return below[:0]
        below[whole + 1] += 1
    for v in range(most + 1):
        below[v + 1] += below[v]
    return below


@inlined
def _slack(count: Any) -> Any:
    """What rounding may have moved (as in ``Beliefs``)."""
    return 1e-9 * max(1.0, abs(count))


@inlined
def _ends(low: Any, high: Any, count: Any, most: Any) -> Any:
    """The least and largest whole number from 0 to most in an interval; the first is larger if there is none."""
    slack = _slack(count)
    lowest, highest = low - slack, high + slack
    least = 0 if lowest <= 0 else most + 1 if lowest > most else ceil(lowest)
    largest = most if highest >= most else -1 if highest < 0 else floor(highest)
    return least, largest


@kernel
def by_table(low: Any, high: Any, counts: Any, below: Any, compliant_only: Any) -> Any:
    """1/degree of every item, read off the tally; 0 without candidates or, if so asked, without the true one."""
    found = np.zeros(len(low))
    most = len(below) - 2
    for i in range(len(low)):
        least, largest = _ends(low[i], high[i], counts[i], most)
        if least <= largest and (not compliant_only or least <= counts[i] <= largest):
            degree = below[largest + 1] - below[least]
            if degree > 0:
                found[i] = 1 / degree
    return found


@kernel
def runs_by_table(low: Any, high: Any, counts: Any, below: Any) -> Any:
    """The run of candidates of every item, and the items by rising count."""
    n, most = len(low), len(below) - 2
    first, last, order = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    filled = below.copy()
    for i in range(n):
        least, largest = _ends(low[i], high[i], counts[i], most)
        first[i] = below[least]
        last[i] = max(first[i], below[largest + 1])
        whole = int(counts[i])
        order[filled[whole]] = i
        filled[whole] += 1
    return first, last, order


@inlined
def _place(row: Any, value: Any, at: Any, behind: Any) -> Any:
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
def runs_by_search(low: Any, high: Any, counts: Any, order: Any) -> Any:
    """The run of candidates of every item, where ``order`` sorts the counts."""
    n = len(low)
    row = counts[order]
    first, last = np.empty(n, np.int64), np.empty(n, np.int64)
    begin = end = 0
    for k in range(n):
        i = order[k]
        slack = _slack(counts[i])
        begin = _place(row, low[i] - slack, begin, False)
        end = _place(row, high[i] + slack, end, True)
        first[i], last[i] = begin, max(begin, end)
    return first, last


@kernel
def by_runs(first: Any, last: Any, order: Any, compliant_only: Any) -> Any:
    """1/degree of every item from the runs of candidates; 0 as in ``by_table``."""
    found = np.zeros(len(first))
    for k in range(len(order)):
        i = order[k]
        if first[i] < last[i] and (not compliant_only or first[i] <= k < last[i]):
            found[i] = 1 / (last[i] - first[i])
    return found


@kernel
def propagated(first: Any, last: Any, order: Any, compliant_only: Any) -> Any:
    """1/degree of every item after all forced pairs are taken out.

    An item whose true pseudonym is a candidate keeps it until both are taken out together. So it has no other left if
    and only if the nearest places left on either side lie outside its run: a linked list of places finds that. How many
    items cover each place is held in a tree of minima, where a run is lowered at once.
    """
    n = len(order)
    place, right = np.empty(n, np.int64), np.empty(n, np.bool_)
    for k in range(n):
        i = order[k]
        place[i], right[i] = k, first[i] <= k < last[i]
    cover = _cover(first, last)
    stack, filled = np.empty(3 * n + 1, np.int64), 0
    one_sided = False
    for i in range(n):
        alone = last[i] - first[i] == 1
        if right[i]:
            one_sided |= alone != (cover[place[i]] == 1)
            if alone:
                stack[filled] = i
                filled += 1
    if not one_sided:
        return by_runs(first, last, order, compliant_only)
    before, behind, here = np.arange(-1, n - 1), np.arange(1, n + 1), np.ones(n, np.bool_)
    size, least, added = _tree(cover, order, right)
    while filled or least[1] == 1:
        if filled:
            filled -= 1
            i = stack[filled]
        else:
            i = order[_lowest(least, size)]
        k = place[i]
        if not here[k]:
            continue
        here[k] = False
        p, q = before[k], behind[k]
        if p >= 0:
            behind[p] = q
        if q < n:
            before[q] = p
        for m in (p, q):
            if 0 <= m < n:
                j = order[m]
                if right[j] and before[m] < first[j] and behind[m] >= last[j]:
                    stack[filled] = j
                    filled += 1
        _add(least, added, size, k, k + 1, _NEVER)
        _add(least, added, size, first[i], last[i], -1)
    return _left(first, last, place, right, here, compliant_only)


@kernel
def _left(first: Any, last: Any, place: Any, right: Any, here: Any, compliant_only: Any) -> Any:
    """1/degree counted among the places that are left; 1 for what was taken out."""
    n = len(first)
    count = np.zeros(n + 1, np.int64)
    for k in range(n):
        count[k + 1] = count[k] + here[k]
    found = np.zeros(n)
    for i in range(n):
        degree = count[last[i]] - count[first[i]]
        if not here[place[i]]:
            found[i] = 1.0
        elif degree > 0 and (right[i] or not compliant_only):
            found[i] = 1 / degree
    return found


@kernel
def _cover(first: Any, last: Any) -> Any:
    """How many items have each place in their run."""
    cover = np.zeros(len(first) + 1, np.int64)
    for i in range(len(first)):
        cover[first[i]] += 1
        cover[last[i]] -= 1
    for k in range(len(first)):
        cover[k + 1] += cover[k]
    return cover


@kernel
def _tree(cover: Any, order: Any, right: Any) -> Any:
    """The minima over ever longer stretches of places; a place that its own item does not cover is never lowest."""
    size = 1
    while size < len(order):
        size *= 2
    least, added = np.full(2 * size, _NEVER, np.int64), np.zeros(size, np.int64)
    for k in range(len(order)):
        if right[order[k]]:
            least[size + k] = cover[k]
    for v in range(size - 1, 0, -1):
        least[v] = min(least[2 * v], least[2 * v + 1])
    return size, least, added


@kernel
def _add(least: Any, added: Any, size: Any, start: Any, stop: Any, by: Any) -> Any:
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


@kernel
def _lowest(least: Any, size: Any) -> Any:
    """The first place of those that are lowest."""
    v = 1
    while v < size:
        v = 2 * v if least[2 * v] <= least[2 * v + 1] else 2 * v + 1
    return v - size
