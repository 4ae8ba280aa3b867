"""The compiled loop that moves added edges to where they are plausible."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel
from unveil.network.protections._edge_kernels import _change_edge, _holds, _is_original

__all__ = ["move_added_edges"]

_ENOUGH = 0.5  # of the edges of the graph are less plausible


@helper
def _rank(values, value):
    """The share of values, in rising order, that are below one; equal ones count half."""
    return (np.searchsorted(values, value, "left") + np.searchsorted(values, value, "right")) / (2 * len(values))


@helper
def _rate(u, v, rows, scale, importance):
    """How plausible an edge between two nodes is, and how many steps it took to find out."""
    starts, neighbours = rows
    weights, factor, excess, adamic_adar = scale
    if starts[u + 1] - starts[u] > starts[v + 1] - starts[v]:
        u, v = v, u
    shared, total, steps, are_connected = 0, 0.0, 1, 0
    i, last = starts[v], starts[v + 1]
    for e in range(starts[u], starts[u + 1]):
        wanted, high = neighbours[e], last
        are_connected |= wanted == v
        while i < high:
            middle = (i + high) >> 1
            steps += 1
            if neighbours[middle] < wanted:
                i = middle + 1
            else:
                high = middle
        if i < last and neighbours[i] == wanted:
            shared += 1
            total += weights[wanted]
    expected = factor * (starts[u + 1] - starts[u] - are_connected) * (last - starts[v] - are_connected)
    one = _rank(excess, np.log((shared + 1) / (expected + 1)))
    other = _rank(adamic_adar, round(total * 1e9) / 1e9)
    return importance[0] * min(_ENOUGH, one) + importance[1] * min(_ENOUGH, other), steps


@helper
def _draw(state, count):
    """A number below a count, which is not secret: what is drawn decides only where the loop looks."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64((state[0] >> np.uint64(33)) % np.uint64(count))


@helper
def _is_free(changed, u, v):
    """Whether an edge can be added that the graph did not have."""
    return u != v and not _is_original(changed[0], changed[1], u, v) and not _holds(changed[3], u, v)


@helper
def _draw_substitute(kind, w, wanted, rows, order, begins, state):
    """A node with a wanted degree that might be connected with w: two steps away from it, or any; −1 if there is
    none."""
    starts, neighbours = rows
    if kind == 0:
        if starts[w + 1] == starts[w]:
            return -1
        x = neighbours[starts[w] + _draw(state, starts[w + 1] - starts[w])]
        return neighbours[starts[x] + _draw(state, starts[x + 1] - starts[x])]
    if begins[wanted + 1] == begins[wanted]:
        return -1
    return order[begins[wanted] + _draw(state, begins[wanted + 1] - begins[wanted])]


@kernel
def move_added_edges(
    cursor, budget, room, tries, ends, rates, changed, degrees, order, place, begins, rows, scale, importance, state
):  # fmt: skip
    """Try to make added edges more plausible from a cursor on, each a number of times, until a budget of steps or the
    room in the table of added edges is used up. Returns the cursor.

    An edge u–w becomes v–w, where v has one neighbour fewer than u, so that both change their degrees for each other's;
    or two edges a–b and c–d become a–c and b–d. ``order`` holds all nodes by degree, ``place`` where each is, and
    ``begins`` where each degree begins. ``rows`` are those of the graph with its changes as they were at first, by
    which edges are rated.
    """
    while cursor < len(ends) and budget > 0 and room >= 2 * tries:
        i = cursor
        cursor += 1
        for t in range(tries):
            if rates[i] >= _ENOUGH:
                break
            kind, side, budget = t % 3, _draw(state, 2), budget - 1
            u, w = ends[i, side], ends[i, 1 - side]
            if kind < 2:
                v = _draw_substitute(kind, w, degrees[u] - 1, rows, order, begins, state)
                if v < 0 or degrees[v] != degrees[u] - 1 or not _is_free(changed, v, w):
                    continue
                rate, steps = _rate(v, w, rows, scale, importance)
                budget -= steps
                if rate <= rates[i]:
                    continue
                _change_edge(changed, u, w, -1)
                _change_edge(changed, v, w, 1)
                ends[i, side], rates[i] = v, rate
                degrees[u], degrees[v] = degrees[v], degrees[u]
                place[u], place[v] = place[v], place[u]
                order[place[u]], order[place[v]] = u, v
                room -= 1
            else:
                j = _draw(state, len(ends))
                c, d = ends[j, 0], ends[j, 1]
                if i == j or not _is_free(changed, u, c) or not _is_free(changed, w, d):
                    continue
                one, steps = _rate(u, c, rows, scale, importance)
                other, more = _rate(w, d, rows, scale, importance)
                budget -= steps + more
                if one + other <= rates[i] + rates[j]:
                    continue
                _change_edge(changed, u, w, -1)
                _change_edge(changed, c, d, -1)
                _change_edge(changed, u, c, 1)
                _change_edge(changed, w, d, 1)
                ends[i, 0], ends[i, 1], ends[j, 0], ends[j, 1] = u, c, w, d
                rates[i], rates[j] = one, other
                room -= 2
    return cursor
