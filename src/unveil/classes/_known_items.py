"""Compiled: the search for the rarest sets of items, for ``known_items``.

Items are ranks, the rarest first. The items of basket b are in ascending order and end before ``held[ends[b]]``. It
stands for ``weights[b]`` equal baskets, all of which hold every set of its items; so it is *open* while ``least[b]`` >
``weights[b]``.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel

__all__ = ["search_sets"]

_ONE_HOLDER = 1 << 32  # one basket, above the bits of its weight
_WEIGHT_MASK = _ONE_HOLDER - 1


@kernel
def search_sets(
    ends, held, weights, least, size, holder, after, rooms, nexts, starts, many, at, tally, place, touched, path, state,
    steps,
):  # fmt: skip
    """Lower ``least`` to the least number of baskets that hold a set of ``size`` items, until about ``steps`` entries
    are visited.

    A set is a path. Its item at depth d is ``nexts[d, i]`` with i = ``at[d]`` − 1, one of ``many[d]``; the baskets that
    hold the path up to there are ``holder[starts[d, i] … starts[d, i + 1]]``, and only their items from ``held[after]``
    on can follow. The baskets of depth d are stored from position ``rooms[d]`` on. ``state`` is the depth, −1 at the
    end, and the work so far; ``path`` is the last set that lowered anything. By item, ``tally`` is the weight of the
    baskets that hold it as well, with their number in the high bits; it is 0 before and after, and so is ``place``.
    """
    depth, spent = state[0], 0
    while depth >= 0 and spent < steps:
        if at[depth] == many[depth]:
            depth -= 1
            continue
        first, last = starts[depth, at[depth]], starts[depth, at[depth] + 1]
        at[depth] += 1
        spent += last - first
        missing, useful = size - depth - 1, False
        for q in range(first, last):
            b = holder[q]
            if least[b] > weights[b] and after[q] + missing <= ends[b]:
                useful = True
                break
        if not useful:
            continue
        seen = total = np.int64(0)
        for q in range(first, last):
            b = holder[q]
            weight = weights[b] + _ONE_HOLDER
            total += weights[b]
            for p in range(after[q], ends[b]):
                item = held[p]
                if tally[item] == 0:
                    touched[seen] = item
                    seen += 1
                tally[item] += weight
            spent += ends[b] - after[q]
        if missing == 1:
            rarest = -1
            for q in range(first, last):
                b = holder[q]
                lowest = least[b]
                if lowest > weights[b]:
                    for p in range(after[q], ends[b]):
                        count = tally[held[p]] & _WEIGHT_MASK
                        if count < lowest:
                            rarest, lowest = held[p], count
                    least[b] = lowest
            if rarest >= 0:
                for d in range(depth + 1):
                    path[d] = nexts[d, at[d] - 1]
                path[depth + 1] = rarest
        else:
            found = _extend_path(
                ends, held, weights, least, holder, after, first, last, missing - 2, total, rooms[depth + 1],
                nexts[depth + 1], starts[depth + 1], tally, place, touched, seen,
            )  # fmt: skip
            if found > 0:
                depth += 1
                at[depth], many[depth] = 0, found
        for k in range(seen):
            tally[touched[k]] = place[touched[k]] = 0
    state[0] = depth
    state[1] += spent


@helper
def _extend_path(
    ends, held, weights, least, holder, after, first, last, missing, total, begin, nexts, starts, tally, place, touched,
    seen,
):  # fmt: skip
    """The next items of a path to which ``missing`` more and a last one will be added, and the baskets that hold the
    path and each of them, stored from position ``begin`` on. Returns the number of items.

    ``total`` baskets hold the path, and ``count`` of them an item. An item that all of them hold makes no set rarer. If
    at most ``gap`` baskets lack each of r further items, at least count − r · gap baskets remain. An open basket can do
    without the item if that is not below its least number so far.
    """
    for q in range(first, last):
        b = holder[q]
        lowest = least[b]
        if lowest > weights[b]:
            gap = 0
            for p in range(ends[b] - 1, after[q] - 1, -1):
                count = tally[held[p]] & _WEIGHT_MASK
                enough = p + missing + 1 < ends[b]
                if enough and count < total and count - (missing + 1) * gap < lowest:
                    place[held[p]] = 1
                if total - count > gap:
                    gap = total - count
    found = np.int64(0)
    for k in range(seen):
        if place[touched[k]]:
            nexts[found] = touched[k]
            found += 1
    _sort_ranks(nexts, found)  # neither the result nor the work may depend on the order of baskets
    starts[0] = begin
    for k in range(found):
        item = nexts[k]
        place[item] = starts[k]
        starts[k + 1] = starts[k] + (tally[item] >> 32)
    for q in range(first, last):
        b = holder[q]
        for p in range(after[q], ends[b]):
            to = place[held[p]]
            if to:
                holder[to], after[to] = b, p + 1
                place[held[p]] = to + 1
    return found


@helper
def _sort_ranks(numbers, count):
    """Sort the first ``count`` numbers (Shell 1959, with the gaps of Knuth 1973)."""
    gap = 29_524
    while gap > 0:
        for k in range(gap, count):
            x, at = numbers[k], k
            while at >= gap and numbers[at - gap] > x:
                numbers[at] = numbers[at - gap]
                at -= gap
            numbers[at] = x
        gap //= 3
