"""The compiled inner loops of ``item_pairs``. They visit baskets until a budget of steps is used up and return where
they stopped, so that callers can report progress and stop between calls.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from unveil.compilation import allocating_kernel

__all__ = ["count_given_pairs", "count_rare_items", "count_top_items"]


@allocating_kernel
def count_top_items(indptr, items, rank, basket, budget, inside, table):
    """Count the pairs of the items with the lowest ranks, as many as the table has rows. Each pair is counted in one of
    its two cells."""
    steps = 0
    while basket < len(indptr) - 1 and steps < budget:
        filled = 0
        for e in range(indptr[basket], indptr[basket + 1]):
            inside[filled] = rank[
                items[e]
            ]  # no branch: every item is written, but the next one overwrites it unless it is kept
            filled += inside[filled] < len(table)
        for x in range(filled):
            for y in range(x):
                table[inside[x], inside[y]] += 1
        steps += indptr[basket + 1] - indptr[basket] + filled * filled
        basket += 1
    return basket


@allocating_kernel
def count_rare_items(begins, kept, starts, of_rank, first, last, codes, bound, budget, state, counts, touched, found):
    """For one rank after another, count the pairs with all lower ranks, and store those that reach the bound.

    ``state`` is the rank, the number of its baskets that are done, of partners met and of pairs stored; ``found`` holds
    their counts and keys. Stops before ``found`` could overflow.
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
            if counts[touched[x]] >= bound:
                low, high = min(codes[row], codes[touched[x]]), max(codes[row], codes[touched[x]])
                found[0, filled], found[1, filled] = counts[touched[x]], low * len(codes) + high
                filled += 1
            counts[touched[x]] = 0
        steps += met + 1
        row, done, met = row + 1, 0, 0
    state[0], state[1], state[2], state[3] = row, done, met, filled


@allocating_kernel
def count_given_pairs(indptr, items, starts, partners, basket, budget, last, counts):
    """Count given pairs: item i is paired with ``partners[starts[i] : starts[i + 1]]``. ``last[i]`` is the basket that
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
