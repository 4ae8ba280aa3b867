"""The compiled inner loops of ``hitting_sets``.

Attributes are numbered from the least to the most dangerous, so that the lowest bit of a set costs least. ``having``
has one line per attribute, with a bit for every row that has it.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil._bits import bit_count, lowest_bit
from unveil.compilation import helper, kernel

__all__ = ["find_least_hitting_sets", "intersect_closures"]


@helper
def _rows_with(chosen, having, everybody, found):
    """The rows that have all chosen attributes."""
    for k in range(len(found)):
        found[k] = everybody[k]
    for w in range(len(chosen)):
        left = chosen[w]
        while left:
            line = having[64 * w + lowest_bit(left)]
            left &= left - np.uint64(1)
            for k in range(len(found)):
                found[k] &= line[k]


@helper
def _cost(chosen, danger):
    total = np.int64(0)
    for w in range(len(chosen)):
        left = chosen[w]
        while left:
            total += danger[64 * w + lowest_bit(left)]
            left &= left - np.uint64(1)
    return total


@helper
def _pick_set(pool, count, chosen, banned, danger, used):
    """Of the sets that are not met, the one with the fewest attributes that are allowed: its number, −1 if all are met,
    −2 if one cannot be. And the least that meeting disjoint ones of them costs."""
    picked, fewest, bound = -1, 1 << 30, np.int64(0)
    for w in range(len(used)):
        used[w] = np.uint64(0)
    for p in range(count):
        met, apart, size, cheapest = False, True, 0, -1
        for w in range(len(chosen)):
            met |= (pool[p, w] & chosen[w]) != 0
            allowed = pool[p, w] & ~banned[w]
            apart &= (allowed & used[w]) == 0
            size += int(bit_count(allowed))
            if cheapest < 0 and allowed:
                cheapest = 64 * w + lowest_bit(allowed)
        if met:
            continue
        if size == 0:
            return -2, bound
        if size < fewest:
            picked, fewest = p, size
        if apart:
            bound += danger[cheapest]
            for w in range(len(used)):
                used[w] |= pool[p, w] & ~banned[w]
    return picked, bound


@helper
def _solve_pool(pool, count, danger, enough, chosen, banned, waiting, costs, used, best, node_limit):
    """The cheapest set that meets all sets of the pool, by branch and bound; ``best`` is that set. Ends as soon as one
    costs ``enough``. Returns its cost and the number of nodes, with a cost of −1 if these reached the limit."""
    words = pool.shape[1]
    least, nodes, depth = np.int64(1 << 62), 0, 0
    for w in range(words):
        chosen[0, w] = banned[0, w] = np.uint64(0)
    costs[0] = 0
    entering = True
    while depth >= 0:
        if entering:
            nodes += 1
            if nodes > node_limit:
                return np.int64(-1), nodes
            picked, bound = _pick_set(pool, count, chosen[depth], banned[depth], danger, used)
            if picked == -1 and costs[depth] < least:
                least = costs[depth]
                for w in range(words):
                    best[w] = chosen[depth, w]
                if least <= enough:
                    return least, nodes
            if picked < 0 or costs[depth] + bound >= least:
                depth -= 1
                entering = False
                continue
            for w in range(words):
                waiting[depth, w] = pool[picked, w] & ~banned[depth, w]
        w = 0
        while w < words and waiting[depth, w] == 0:
            w += 1
        if w == words:
            depth -= 1
            entering = False
            continue
        bit = waiting[depth, w] & (~waiting[depth, w] + np.uint64(1))
        for v in range(words):
            chosen[depth + 1, v], banned[depth + 1, v] = chosen[depth, v], banned[depth, v]
        chosen[depth + 1, w] |= bit
        costs[depth + 1] = costs[depth] + danger[64 * w + lowest_bit(bit)]
        waiting[depth, w] ^= bit
        banned[depth, w] |= bit  # sets with it are done
        depth += 1
        entering = True
    return least, nodes


@helper
def _add_violated(own, rows, free, others, pool, count):
    """Add, of the sets that nobody met yet, the smallest of the first ones, and some that are disjoint from it."""
    words, seen, base = len(own), 0, count
    for line in range(len(others)):
        left = others[line]
        while left and seen < 256 and count < len(pool):
            other = 64 * line + lowest_bit(left)
            left &= left - np.uint64(1)
            seen += 1
            size = held = 0
            apart = True
            for w in range(words):
                lacks = own[w] & ~rows[other, w] & ~free[w]
                size += int(bit_count(lacks))
                held += int(bit_count(pool[base, w]))
                pool[count, w] = lacks
            if count > base and size < held:  # better than the first one: begin anew
                for w in range(words):
                    pool[base, w] = pool[count, w]
                count = base + 1
                continue
            for p in range(base, count):
                for w in range(words):
                    apart &= (pool[p, w] & pool[count, w]) == 0
            count += apart
    return count


@kernel
def find_least_hitting_sets(
    rows, having, everybody, free, danger, low, high, state, last, pool, chosen, banned, waiting, costs, used, best,
    known, supersets, others, row_limit, node_limit, work_limit,
):  # fmt: skip
    """For rows from ``state[0]`` to ``last``: between which bounds the least danger of a set K lies that only the row
    and those that have all of it have, beside the ``free`` attributes, which cost nothing. ``state``: the next row,
    nodes, work. Ends before a row once a limit is reached. The bounds differ if a row would take more than
    ``row_limit`` nodes, or more sets than the pool can hold."""
    words = rows.shape[1]
    while state[0] < last and state[2] < work_limit and state[1] < node_limit:
        row, count, least, spent = state[0], 0, np.int64(0), 0
        own = rows[row]
        _rows_with(own, having, everybody, supersets)
        for w in range(words):
            best[w] = np.uint64(0)
        while True:
            for w in range(words):
                known[w] = best[w] | (own[w] & free[w])
            _rows_with(known, having, everybody, others)
            violated = False
            for k in range(len(others)):
                others[k] &= ~supersets[k]
                violated |= others[k] != 0
            state[2] += len(others) + 16
            if not violated:
                low[row] = high[row] = least
                break
            before = count
            count = _add_violated(own, rows, free, others, pool, count)
            found, nodes = np.int64(-1), 0
            if count > before:
                limit = min(node_limit - state[1], row_limit - spent)
                found, nodes = _solve_pool(
                    pool, count, danger, least, chosen, banned, waiting, costs, used, best, limit
                )
            spent += nodes
            state[1] += nodes
            state[2] += nodes * count * words
            if found < 0:  # not enough room or nodes: all of the row is one such set
                low[row], high[row] = least, _cost(own, danger)
                break
            least = found
        state[0] += 1


@kernel
def intersect_closures(rows, full, having, everybody, supersets, closed):
    """What all rows share that have everything that can be known about a row."""
    for row in range(len(rows)):
        _rows_with(rows[row], having, everybody, supersets)
        for line in range(len(supersets)):
            left = supersets[line]
            while left:
                other = 64 * line + lowest_bit(left)
                left &= left - np.uint64(1)
                for w in range(full.shape[1]):
                    closed[row, w] &= full[other, w]
