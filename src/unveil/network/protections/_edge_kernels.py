"""The compiled loops that delete and add edges until nodes have the degrees that they shall have.

A changed graph is four arrays: the ``starts`` and ``neighbours`` of the graph as it was, and the tables of edges that
were ``removed`` from it and ``added`` to it. A table is a hash table of packed edges with linear probing; its size is a
power of two, 0 is a free place and −1 one whose edge was taken out again.

``residual`` is what a node's degree lacks: positive if edges have to be added, negative if some have to go. Loops that
take a ``sign`` work on either kind of node.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel

__all__ = [
    "add_between",
    "copy_edges",
    "delete_between",
    "move_ends",
    "spread_residual",
    "sum_over_neighbours",
    "swap_changes",
]

_TRIES = 64  # partners that are looked at for one node before the next is


# ---- the changed graph -----------------------------------------------------------------------------------------------


@helper
def _find_edge(table, u, v):
    """The place of an edge in a table, or the free place where it belongs; and the packed edge."""
    edge = (min(u, v) << 32 | max(u, v)) + 1
    last = len(table) - 1
    place = np.int64((np.uint64(edge) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & last
    while table[place] != 0 and table[place] != edge:
        place = (place + 1) & last
    return place, edge


@helper
def _holds(table, u, v):
    place, edge = _find_edge(table, u, v)
    return table[place] == edge


@helper
def _is_original(starts, neighbours, u, v):
    """Whether there was an edge: a search in the shorter of two rows."""
    if starts[u + 1] - starts[u] > starts[v + 1] - starts[v]:
        u, v = v, u
    low, high = starts[u], starts[u + 1]
    while low < high:
        middle = (low + high) >> 1
        if neighbours[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low < starts[u + 1] and neighbours[low] == v


@helper
def _has_edge(changed, u, v):
    starts, neighbours, removed, added = changed
    if _is_original(starts, neighbours, u, v):
        return not _holds(removed, u, v)
    return _holds(added, u, v)


@helper
def _change_edge(changed, u, v, sign):
    """Add an edge that is not there, or delete one that is."""
    starts, neighbours, removed, added = changed
    was_there = _is_original(starts, neighbours, u, v)
    table = removed if was_there else added
    place, edge = _find_edge(table, u, v)
    table[place] = edge if was_there == (sign < 0) else -1


@kernel
def copy_edges(table, larger):
    """Enter the edges of a table into a larger, empty one."""
    for edge in table:
        if edge > 0:
            place, same = _find_edge(larger, (edge - 1) >> 32, (edge - 1) & 0xFFFFFFFF)
            larger[place] = same


@kernel
def sum_over_neighbours(starts, neighbours, values, sums):
    """For each node, the sum of the values of its neighbours."""
    for u in range(len(values)):
        if values[u]:
            for i in range(starts[u], starts[u + 1]):
                sums[neighbours[i]] += values[u]


# ---- one edge for two residuals --------------------------------------------------------------------------------------


@kernel
def delete_between(over, residual, changed):
    """Delete edges between over-full nodes, for each in turn."""
    starts, neighbours, removed, _ = changed
    for u in over:
        for i in range(starts[u], starts[u + 1]):
            if residual[u] == 0:
                break
            w = neighbours[i]
            if residual[w] < 0 and not _holds(removed, u, w):
                _change_edge(changed, u, w, -1)
                residual[u] += 1
                residual[w] += 1


@helper
def _lessen(node, residual, queue, place, ends):
    """Let a node lack one less, and move it in the queue behind all that lack as much as it did."""
    last = ends[residual[node]] - 1
    other = queue[last]
    queue[place[node]], place[other] = other, place[node]
    queue[last], place[node] = node, last
    ends[residual[node]] = last
    residual[node] -= 1


@kernel
def add_between(budget, residual, changed, queue, place, ends, mark, unserved, work):
    """Add edges between under-full nodes: from the one that lacks most to those that lack most after it. Stops when a
    budget of steps is used up, and returns whether anything is left to do.

    ``queue`` holds the nodes by falling residual, ``place`` where each is, and ``ends[x]`` where those that lack at
    least x end. What a node cannot get is left in ``unserved``.
    """
    starts, neighbours, removed, added = changed
    while residual[queue[0]] > 0 and budget > 0:
        u = queue[0]
        wanted, count, i = residual[u], 0, 0
        for _ in range(wanted):
            _lessen(u, residual, queue, place, ends)
        for e in range(starts[u], starts[u + 1]):
            mark[neighbours[e]] = u
        while count < wanted and i < len(queue) and residual[queue[i]] > 0:
            w = queue[i]
            if _holds(removed, u, w) if mark[w] == u else not _holds(added, u, w):
                work[count] = w
                count += 1
            i += 1
        for j in range(count):
            _change_edge(changed, u, work[j], 1)
            _lessen(work[j], residual, queue, place, ends)
        unserved[u] = wanted - count
        budget -= starts[u + 1] - starts[u] + i + 2 * wanted + 1
    return residual[queue[0]] > 0


# ---- what is left over -----------------------------------------------------------------------------------------------


@helper
def _find_second(sign, u, a, b, stubs, residual, changed):
    """A node that can take the end b of a changed edge a–b when u takes the end a; −1 if none is found soon."""
    for v in stubs[:_TRIES]:
        if v not in (a, b) and sign * residual[v] > (u == v) and _has_edge(changed, v, b) == (sign < 0):
            return v
    return -1


@helper
def _swap_change(sign, u, a, b, stubs, residual, changed):
    """Replace a–b by u–a and by v–b for some v. Returns 0, or how many steps it took to find that this is not possible
    at once."""
    if u in (a, b) or _has_edge(changed, u, a) != (sign < 0):
        return 1
    v = _find_second(sign, u, a, b, stubs, residual, changed)
    if v < 0:
        return _TRIES
    _change_edge(changed, a, b, -sign)
    _change_edge(changed, u, a, sign)
    _change_edge(changed, v, b, sign)
    residual[u] -= sign
    residual[v] -= sign
    return 0


@kernel
def swap_changes(sign, budget, cursor, stubs, residual, changed):
    """Serve two residuals by one more change: where a–b was added, add u–a and v–b instead, or the same with removed.

    ``stubs`` come by falling need: u from the end, since those find a change most easily, and v from the beginning.
    Goes through the table of changes from a cursor on, at most once for each u; returns the cursor.
    """
    table = changed[3] if sign > 0 else changed[2]
    for i in range(len(stubs) - 1, -1, -1):
        u, slots = stubs[i], len(table)
        while sign * residual[u] > 0 and slots > 0 and budget > 0:
            slots -= 1
            budget -= 1
            cursor = (cursor + 1) & (len(table) - 1)
            if table[cursor] <= 0:
                continue
            a, b = (table[cursor] - 1) >> 32, (table[cursor] - 1) & 0xFFFFFFFF
            steps = _swap_change(sign, u, a, b, stubs, residual, changed)
            if steps > 0:
                steps += _swap_change(sign, u, b, a, stubs, residual, changed)
            budget -= steps
    return cursor


@kernel
def move_ends(over, under, residual, changed):
    """Move ends of edges from over-full nodes to under-full ones: delete o–w and add u–w."""
    starts, neighbours, removed, _ = changed
    first = 0
    for o in over:
        for i in range(starts[o], starts[o + 1]):
            while first < len(under) and residual[under[first]] == 0:
                first += 1
            if residual[o] == 0 or first == len(under):
                break
            w = neighbours[i]
            if _holds(removed, o, w):
                continue
            for j in range(first, min(first + _TRIES, len(under))):
                u = under[j]
                if residual[u] > 0 and u != w and not _has_edge(changed, u, w):
                    _change_edge(changed, o, w, -1)
                    _change_edge(changed, u, w, 1)
                    residual[o] += 1
                    residual[u] -= 1
                    break


@kernel
def spread_residual(u, sign, least, candidates, residual, degrees, sizes, changed):
    """Change edges at the wish of one node alone. Each partner moves to the next degree: from one that more than
    ``least`` nodes have to one that at least as many have.

    ``sizes`` says how many nodes have each degree. Returns how many candidates at the beginning could not move.
    """
    useless = 0
    for i in range(len(candidates)):
        if residual[u] == 0:
            break
        w = candidates[i]
        d = degrees[w]
        if sizes[d] <= least or sizes[d + sign] < least:
            useless += i == useless
        elif residual[w] == 0 and _has_edge(changed, u, w) == (sign < 0):
            _change_edge(changed, u, w, sign)
            sizes[d] -= 1
            sizes[d + sign] += 1
            degrees[w] += sign
            residual[u] -= sign
    return useless
