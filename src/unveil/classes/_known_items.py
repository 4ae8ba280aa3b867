"""The compiled inner loops of ``known_items``.

Items are ranks, the rarest first. Basket b holds ``held[begins[b] … begins[b + 1]]`` in rising order, stands for
``weights[b]`` baskets that look the same, and is *open* while ``least[b]`` is more than that: a set of its items is in
all of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.compilation import helper, kernel

__all__ = [
    "gather_baskets",
    "index_holders",
    "mark_items",
    "mark_new_baskets",
    "narrow_baskets",
    "rank_items",
    "search_sets",
]


# ---- before the search -----------------------------------------------------------------------------------------------


@kernel
def rank_items(begins: Any, items: Any, rank: Any, start: Any, stop: Any, held: Any) -> None:
    """The items of each basket as ranks in rising order."""
    for b in range(start, stop):
        for p in range(begins[b], begins[b + 1]):
            held[p] = rank[items[p]]
        _sort_ranks(held, begins[b], begins[b + 1])


@helper
def _sort_ranks(numbers: Any, first: Any, last: Any) -> None:
    """Sort some of the numbers (Shell 1959, with the gaps of Knuth 1973)."""
    gap = 1
    while 3 * gap + 1 < last - first:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(first + gap, last):
            x, at = numbers[k], k
            while at >= first + gap and numbers[at - gap] > x:
                numbers[at] = numbers[at - gap]
                at -= gap
            numbers[at] = x
        gap //= 3


@kernel
def mark_items(begins: Any, held: Any, wanted: Any, start: Any, stop: Any, used: Any) -> None:
    """Mark the items of the wanted baskets."""
    for b in range(start, stop):
        if wanted[b]:
            for p in range(begins[b], begins[b + 1]):
                used[held[p]] = True


@kernel
def narrow_baskets(
    begins: Any, held: Any, rank: Any, fewest: Any, bits: Any, start: Any, stop: Any, made: Any, kept: Any,
    new_begins: Any, new_held: Any, mixed: Any,
) -> Any:  # fmt: skip
    """Baskets without the items that have no new rank, and none with fewer than ``fewest`` ≥ 1 items left. ``made``
    baskets are there already. ``mixed`` is a number that equal baskets have in common and hardly any others; it begins
    with the rarest item, which needs so many ``bits``."""
    for b in range(start, stop):
        filled, mix = new_begins[made], np.uint64(0)
        for p in range(begins[b], begins[b + 1]):
            item = rank[held[p]]
            if item >= 0:
                new_held[filled] = item
                filled += 1
                mix += _scatter_item(item)
        if filled - new_begins[made] >= fewest:
            rarest = np.uint64(new_held[new_begins[made]])
            kept[made], mixed[made] = b, (rarest << np.uint64(64 - bits)) | (mix >> np.uint64(bits))
            made += 1
            new_begins[made] = filled
    return made


@helper
def _scatter_item(item: Any) -> Any:
    """A number for an item, far from that of the next (the last steps of SplitMix64)."""
    mix = np.uint64(item + 1) * np.uint64(0x9E3779B97F4A7C15)
    mix = (mix ^ (mix >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mix = (mix ^ (mix >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mix ^ (mix >> np.uint64(31))


@kernel
def mark_new_baskets(begins: Any, held: Any, mixed: Any, order: Any, start: Any, stop: Any, fresh: Any) -> None:
    """Which baskets differ from the one before in this order."""
    for k in range(max(start, 1), stop):
        one, two = order[k - 1], order[k]
        size = begins[one + 1] - begins[one]
        same = mixed[one] == mixed[two] and size == begins[two + 1] - begins[two]
        i = 0
        while same and i < size:
            same = held[begins[one] + i] == held[begins[two] + i]
            i += 1
        fresh[k] = not same


@kernel
def gather_baskets(begins: Any, held: Any, chosen: Any, new_begins: Any, start: Any, stop: Any, new_held: Any) -> None:
    """The chosen baskets one behind the other."""
    for b in range(start, stop):
        first = begins[chosen[b]]
        for p in range(new_begins[b], new_begins[b + 1]):
            new_held[p] = held[first + p - new_begins[b]]


@kernel
def index_holders(
    begins: Any, held: Any, start: Any, stop: Any, free: Any, holder: Any, after: Any, follow: Any
) -> None:
    """For each item the baskets that hold it, where in a basket the items after it begin, and how many these are in all
    baskets. ``free[item]`` is the next place of an item."""
    for b in range(start, stop):
        for p in range(begins[b], begins[b + 1]):
            item = held[p]
            holder[free[item]], after[free[item]] = b, p + 1 - begins[b]
            free[item] += 1
            follow[item] += begins[b + 1] - p - 1


# ---- the search ------------------------------------------------------------------------------------------------------


@kernel
def search_sets(
    begins: Any, held: Any, weights: Any, least: Any, size: Any, holder: Any, after: Any, rooms: Any,
    nexts: Any, starts: Any, many: Any, at: Any, room: Any, state: Any, path: Any, steps: Any,
) -> None:  # fmt: skip
    """Lower ``least`` to the least number of baskets that hold a set of ``size`` items, until about ``steps`` entries
    were gone through.

    A set is a path: at depth d its item is ``nexts[d, i]`` for i = ``at[d]`` − 1, one of ``many[d]``, and the baskets
    that hold the path up to there are ``holder[starts[d, i] … starts[d, i + 1]]``; of these only the items from
    ``after`` on can follow. Depth d has the places from ``rooms[d]`` on. ``state`` is the depth, whether all is done
    and the work so far; ``path`` is the last set that lowered anything.
    """
    count, holders, worth, touched = room
    depth, spent = state[0], 0
    while spent < steps:
        if at[depth] == many[depth]:
            if depth == 0:
                state[1] = 1
                break
            depth -= 1
            continue
        first, last = starts[depth, at[depth]], starts[depth, at[depth] + 1]
        at[depth] += 1
        spent += last - first
        missing = size - depth - 1
        if not _has_open_basket(begins, weights, least, holder, after, first, last, missing):
            continue
        if missing == 1:
            item, work = _lower_supports(begins, held, weights, least, holder, after, first, last, count, touched)
            if item >= 0:
                for d in range(depth + 1):
                    path[d] = nexts[d, at[d] - 1]
                path[depth + 1] = item
        else:
            found, work = _extend_path(
                begins, held, weights, least, holder, after, first, last, missing - 1, rooms[depth + 1],
                nexts[depth + 1], starts[depth + 1], count, holders, worth, touched,
            )  # fmt: skip
            if found > 0:
                depth += 1
                at[depth], many[depth] = 0, found
        spent += work
    state[0] = depth
    state[2] += spent


@helper
def _has_open_basket(
    begins: Any, weights: Any, least: Any, holder: Any, after: Any, first: Any, last: Any, missing: Any
) -> Any:
    """Whether an open basket is among those that hold the path, with enough items to come."""
    found = False
    for q in range(first, last):
        b = holder[q]
        if least[b] > weights[b] and begins[b] + after[q] + missing <= begins[b + 1]:
            found = True
            break
    return found


@helper
def _lower_supports(
    begins: Any, held: Any, weights: Any, least: Any, holder: Any, after: Any, first: Any, last: Any,
    count: Any, touched: Any,
) -> Any:  # fmt: skip
    """Add every possible last item to a path. Returns one that lowered something, or −1, and the work."""
    seen = work = 0
    for q in range(first, last):
        b = holder[q]
        weight = weights[b]
        for p in range(begins[b] + after[q], begins[b + 1]):
            item = held[p]
            if count[item] == 0:
                touched[seen] = item
                seen += 1
            count[item] += weight
        work += begins[b + 1] - begins[b] - after[q]
    rarest = -1
    for q in range(first, last):
        b = holder[q]
        lowest = least[b]
        if lowest > weights[b]:
            for p in range(begins[b] + after[q], begins[b + 1]):
                if count[held[p]] < lowest:
                    rarest = held[p]
                    lowest = count[rarest]
            least[b] = lowest
    for k in range(seen):
        count[touched[k]] = 0
    return rarest, work


@helper
def _extend_path(
    begins: Any, held: Any, weights: Any, least: Any, holder: Any, after: Any, first: Any, last: Any,
    missing: Any, room: Any, nexts: Any, starts: Any, count: Any, holders: Any, worth: Any, touched: Any,
) -> Any:  # fmt: skip
    """The next items of a path to which still ``missing`` more will be added, and the baskets that hold it with each of
    them, from place ``room`` on. Returns how many there are, and the work.

    Of ``total`` baskets that hold the path, ``count[item]`` hold the item too. An item that all of them hold makes no
    set rarer. With r more items, each of which at most ``gap`` of the baskets lack, r · gap baskets less remain at
    worst: if that is not below what an open basket has already, the item is of no use to it.
    """
    seen = work = total = 0
    for q in range(first, last):
        b = holder[q]
        weight = weights[b]
        total += weight
        for p in range(begins[b] + after[q], begins[b + 1]):
            item = held[p]
            if count[item] == 0:
                touched[seen] = item
                seen += 1
            count[item] += weight
            holders[item] += 1
        work += begins[b + 1] - begins[b] - after[q]
    for q in range(first, last):
        b = holder[q]
        lowest = least[b]
        if lowest > weights[b]:
            gap = 0
            for p in range(begins[b + 1] - 1, begins[b] + after[q] - 1, -1):
                item = held[p]
                lacking = total - count[item]
                enough = begins[b + 1] - 1 - p >= missing
                if enough and lacking > 0 and count[item] - missing * gap < lowest:
                    worth[item] = True
                gap = max(gap, lacking)
    found = 0
    for k in range(seen):
        if worth[touched[k]]:
            nexts[found] = touched[k]
            found += 1
    _sort_ranks(nexts, np.int64(0), found)  # what is found, and how fast, must not depend on the order of baskets
    starts[0] = room
    for k in range(found):
        item = nexts[k]
        starts[k + 1] = starts[k] + holders[item]
        holders[item] = starts[k]  # from here on the next place
    for q in range(first, last):
        b = holder[q]
        for p in range(begins[b] + after[q], begins[b + 1]):
            item = held[p]
            if worth[item]:
                place = holders[item]
                holder[place], after[place] = b, p + 1 - begins[b]
                holders[item] = place + 1
    for k in range(seen):
        item = touched[k]
        count[item], holders[item], worth[item] = 0, 0, False
    return found, work
