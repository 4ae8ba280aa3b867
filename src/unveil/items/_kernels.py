"""The compiled inner loops of ``item_pairs`` and ``never_together``.

Those of ``item_pairs`` visit baskets until a budget of steps is used up and return where they stopped, so that callers
can report progress and stop between calls.

Those of ``never_together`` walk over perfect matchings. ``graph`` holds the class of every entry; the candidates of
class c as runs ``starts[c] … starts[c + 1]`` with the running number of pseudonyms and the first pseudonym of each; the
group of every pseudonym; which class may have which group; the entries that have a choice, by block; and where each
block of them starts. ``matching`` holds the pseudonym of every entry and the entry of every pseudonym. ``never`` holds
pairs of entries, which entries are in one, the place of every pseudonym in ``together``, that table, which says what
pseudonyms occur together, and the blocks of each pair's two entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.compilation import allocating_kernel

__all__ = [
    "count_given_pairs",
    "count_rare_items",
    "count_top_items",
    "count_violations",
    "group_baskets_by_item",
    "mark_cooccurrences",
    "run_sweeps",
]


# ---- pairs -----------------------------------------------------------------------------------------------------------


@allocating_kernel
def count_top_items(indptr: Any, items: Any, rank: Any, basket: Any, budget: Any, inside: Any, table: Any) -> Any:
    """Count the pairs of the items of the lowest ranks, as many as the table has rows, each in one of its two cells."""
    steps = 0
    while basket < len(indptr) - 1 and steps < budget:
        filled = 0
        for e in range(indptr[basket], indptr[basket + 1]):
            inside[filled] = rank[items[e]]  # every item is written; the place moves on only if it is to be kept
            filled += inside[filled] < len(table)
        for x in range(filled):
            for y in range(x):
                table[inside[x], inside[y]] += 1
        steps += indptr[basket + 1] - indptr[basket] + filled * filled
        basket += 1
    return basket


@allocating_kernel
def group_baskets_by_item(
    indptr: Any, items: Any, rank: Any, first: Any, last: Any, start: Any, stop: Any, begins: Any, kept: Any, free: Any,
    of_rank: Any,
) -> None:  # fmt: skip
    """For some baskets, the ranks below ``last`` of their items; for ranks from ``first``, the baskets with them."""
    filled = begins[start]
    for basket in range(start, stop):
        for e in range(indptr[basket], indptr[basket + 1]):
            r = rank[items[e]]
            if r < last:
                kept[filled] = r
                filled += 1
                if r >= first:
                    of_rank[free[r - first]] = basket
                    free[r - first] += 1
        begins[basket + 1] = filled


@allocating_kernel
def count_rare_items(
    begins: Any, kept: Any, starts: Any, of_rank: Any, first: Any, last: Any, codes: Any, bound: Any, budget: Any,
    state: Any, counts: Any, touched: Any, found: Any,
) -> None:  # fmt: skip
    """For one rank after the other, count the pairs with all lower ranks, and put down those that are above the bound.

    ``state`` is the row, how many of its baskets are done, how many partners were met and how many pairs are put down;
    ``found`` holds their counts and keys. Stops before ``found`` could overflow.
    """
    row, done, met, filled = state
    steps = 0
    while row < last and steps < budget:
        begin, end = starts[row - first] + done, starts[row - first + 1]
        while begin < end and steps < budget:
            basket = of_rank[begin]
            for e in range(begins[basket], begins[basket + 1]):
                r = kept[e]
                if r < row:
                    if counts[r] == 0:
                        touched[met] = r
                        met += 1
                    counts[r] += 1
            steps += begins[basket + 1] - begins[basket] + 1
            begin += 1
        done = begin - starts[row - first]
        if begin < end or filled + met > found.shape[1]:
            break
        for x in range(met):
            low, high = min(codes[row], codes[touched[x]]), max(codes[row], codes[touched[x]])
            count, key = counts[touched[x]], low * len(codes) + high
            if count > bound[0] or (count == bound[0] and key < bound[1]):
                found[0, filled], found[1, filled] = count, key
                filled += 1
            counts[touched[x]] = 0
        steps += met + 1
        row, done, met = row + 1, 0, 0
    state[0], state[1], state[2], state[3] = row, done, met, filled


@allocating_kernel
def count_given_pairs(
    indptr: Any, items: Any, starts: Any, partners: Any, basket: Any, budget: Any, last: Any, counts: Any
) -> Any:
    """Count given pairs: ``partners[starts[i] : starts[i + 1]]`` are those of item i. ``last[i]`` is the basket that
    item i was last seen in."""
    steps = 0
    while basket < len(indptr) - 1 and steps < budget:
        for e in range(indptr[basket], indptr[basket + 1]):
            last[items[e]] = basket
        for e in range(indptr[basket], indptr[basket + 1]):
            begin, end = starts[items[e]], starts[items[e] + 1]
            for p in range(begin, end):
                counts[p] += last[partners[p]] == basket
            steps += end - begin + 2
        steps += 1
        basket += 1
    return basket


@allocating_kernel
def mark_cooccurrences(indptr: Any, items: Any, place: Any, basket: Any, budget: Any, inside: Any, table: Any) -> Any:
    """Mark which of the items that have a place occur together."""
    steps = 0
    while basket < len(indptr) - 1 and steps < budget:
        filled = 0
        for e in range(indptr[basket], indptr[basket + 1]):
            if place[items[e]] >= 0:
                inside[filled] = place[items[e]]
                filled += 1
        for x in range(filled):
            for y in range(x):
                table[inside[x], inside[y]] = True
                table[inside[y], inside[x]] = True
        steps += indptr[basket + 1] - indptr[basket] + filled * filled
        basket += 1
    return basket


# ---- matchings -------------------------------------------------------------------------------------------------------


@allocating_kernel
def _draw_pseudonym(graph: Any, entry: Any, random: Any) -> Any:
    """One of the candidates of an entry."""
    of_entry, starts, upto, first = graph[:4]
    begin, end = starts[of_entry[entry]], starts[of_entry[entry] + 1]
    u = int(random.random() * upto[end - 1])
    k = begin + np.searchsorted(upto[begin:end], u, "right")
    return first[k] + u - (upto[k - 1] if k > begin else 0)


@allocating_kernel
def count_violations(held: Any, never: Any) -> Any:
    """How many of the pairs have pseudonyms that occur together."""
    left, right, _, place, together = never[:5]
    found = 0
    for p in range(len(left)):
        found += together[place[held[left[p]]], place[held[right[p]]]]
    return found


@allocating_kernel
def _try_swaps(graph: Any, matching: Any, never: Any, among: Any, many: Any, most: Any, random: Any) -> None:
    """One of some entries draws a candidate and swaps with the holder, if that can take what it gives up and no more
    than ``most`` pairs are violated then. The way back is drawn as often."""
    of_entry, _, _, _, of_slot, allowed = graph[:6]
    held, holder = matching
    bound = never[2]
    for _ in range(many):
        i = among[int(random.random() * len(among))]
        old, j = held[i], _draw_pseudonym(graph, i, random)
        other = holder[j]
        if allowed[of_entry[other], of_slot[old]]:
            held[i], held[other], holder[old], holder[j] = j, old, other, i
            if (bound[i] or bound[other]) and count_violations(held, never) > most:
                held[i], held[other], holder[old], holder[j] = old, j, i, other


@allocating_kernel
def _tour_block(graph: Any, matching: Any, block: Any, random: Any) -> Any:
    """An entry of a block lets go of its pseudonym and draws a candidate; whoever held that draws in turn, until one
    draws what is free. Returns the number of steps; 0 if the tour grew too long and what it left is no matching."""
    held, holder = matching
    begin, many = graph[7][block], graph[7][block + 1] - graph[7][block]
    if many == 0:
        return 1
    head = graph[6][begin + int(random.random() * many)]
    free = held[head]
    for step in range(4 * many + 8):
        j = _draw_pseudonym(graph, head, random)
        displaced = holder[j]
        held[head], holder[j] = j, head
        if j == free:
            return step + 1
        head = displaced
    return 0


@allocating_kernel
def _try_leaps(graph: Any, matching: Any, never: Any, many: Any, most: Any, random: Any, before: Any) -> None:
    """A tour in each of the blocks of a pair and, each time with probability 1/2, of one more pair, which are judged
    together: undone if one of them grew too long or more than ``most`` pairs are violated in the end. What blocks are
    toured does not depend on the matching, and tours of different blocks commute, so that the way back is as likely."""
    held, holder = matching
    ends = never[5]
    for _ in range(many):
        before[0], before[1] = held, holder
        good, more = True, True
        while good and more:
            p = int(random.random() * ends.shape[1])
            good = _tour_block(graph, matching, ends[0, p], random) > 0
            if good and ends[0, p] != ends[1, p]:
                good = _tour_block(graph, matching, ends[1, p], random) > 0
            more = random.random() < 0.5
        if not good or count_violations(held, never) > most:
            held[:], holder[:] = before[0], before[1]


@allocating_kernel
def run_sweeps(
    graph: Any, matching: Any, never: Any, rounds: Any, most: Any, random: Any, before: Any, sink: Any, own: Any,
    kin: Any, sizes: Any, hits: Any, scores: Any,
) -> None:  # fmt: skip
    """So many sweeps as there are scores, each of so many swaps of all entries, swaps of those in a pair, and leaps as
    ``rounds`` says. No more than ``most`` pairs are violated on the way; with ``sink``, no more than before each sweep.
    After each, ``hits`` gathers which pseudonyms ``own`` are held by the entry's kin, and the score is their number,
    each divided by the size of the kin."""
    held, holder = matching
    bound, movable = never[2], graph[6]
    choosy = movable[bound[movable]]
    for sweep in range(len(scores)):
        most = min(most, count_violations(held, never)) if sink else most
        _try_swaps(graph, matching, never, graph[6], rounds[0], most, random)
        _try_swaps(graph, matching, never, choosy, rounds[1], most, random)
        _try_leaps(graph, matching, never, rounds[2], most, random, before)
        score = 0.0
        for i in range(len(own)):
            if own[i] >= 0 and kin[holder[own[i]]] == kin[i]:
                hits[i] += 1
                score += 1 / sizes[kin[i]]
        scores[sweep] = score
