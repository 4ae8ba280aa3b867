"""The compiled inner loops of ``frontier``. Only sums of products of non-negative numbers: nothing cancels.

A state says how many entries of each open class are left. The open classes are dealt into two halves, and a state is a
pair of their combinations. Of a level it is known what can be left of each class and in all. States are numbered
without gaps: high combination by high combination, and under each the low ones, by rising sum, whose sum makes the
total right. So a state's place follows from two small tables, and a step is laid down in tables of half the digits.

``way`` holds, for a block in some order: the sizes of classes; how many pseudonyms each class can have; its half; the
open classes of each group (starts, classes); the edges of each group (starts, classes); for every step its group, its
edge (−1: one pseudonym picks among all classes of the group), how many pseudonyms it passes, and the least and the
largest total of the group's open classes that is left before and after it.
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import Any

import numpy as np

from unveil.compiled import kernel

__all__ = ["backward", "forward", "half_sizes", "level_sizes"]


@kernel
def _bounds(members: Any, way: Any, passed: Any) -> Any:
    """The fewest and the most that can be left of each class, given how many pseudonyms it has passed."""
    sizes, reach = way[0], way[1]
    least, most = np.empty(len(members), np.int64), np.empty(len(members), np.int64)
    for m in range(len(members)):
        a = members[m]
        least[m] = max(0, sizes[a] - passed[a])
        most[m] = min(sizes[a], reach[a] - passed[a])
    return least, most


@kernel
def _sums(least: Any, most: Any) -> Any:
    """The sum of every combination of digits between ``least`` and ``most``; the first digit runs fastest."""
    size = 1
    for m in range(len(least)):
        size *= most[m] - least[m] + 1
    sums = np.empty(size, np.int64)
    sums[0] = least.sum()
    filled = 1
    for m in range(len(least)):
        for d in range(1, most[m] - least[m] + 1):
            for k in range(filled):
                sums[d * filled + k] = sums[k] + d
        filled *= most[m] - least[m] + 1
    return sums


@kernel
def _by_sum(sums: Any) -> Any:
    """The combinations sorted by sum, the place of each, where each sum begins, and the least sum."""
    base = sums.min()
    starts = np.zeros(sums.max() - base + 2, np.int64)
    for k in range(len(sums)):
        starts[sums[k] - base + 1] += 1
    starts = np.cumsum(starts)
    filled = starts.copy()
    order, places = np.empty(len(sums), np.int64), np.empty(len(sums), np.int64)
    for k in range(len(sums)):
        places[k] = filled[sums[k] - base]
        order[places[k]] = k
        filled[sums[k] - base] += 1
    return order, places, starts, base


@kernel
def _runs(high_sums: Any, starts: Any, base: Any, least: Any, most: Any) -> Any:
    """Under every high combination the low ones that make the total lie between least and most: the first place, the
    one behind the last, and what to add to a place for the number of the state."""
    begin, end = np.empty(len(high_sums), np.int64), np.empty(len(high_sums), np.int64)
    origin = np.empty(len(high_sums), np.int64)
    filled, top = 0, len(starts) - 1
    for h in range(len(high_sums)):
        begin[h] = starts[min(max(least - high_sums[h] - base, 0), top)]
        end[h] = max(begin[h], starts[min(max(most - high_sums[h] - base + 1, 0), top)])
        origin[h] = filled - begin[h]
        filled += end[h] - begin[h]
    return begin, end, origin


@kernel
def _stays(bounds: Any, free: Any) -> Any:
    """Where every combination goes when nothing is taken from its half, −1 if that is a dead end; whatever is left of
    the digit ``free``, it is set to its least (free = −1: none is). Also what is left of that digit, and its stride."""
    least, most, next_least, next_most = bounds
    size = 1
    for m in range(len(least)):
        size *= most[m] - least[m] + 1
    targets, rest = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    strides = np.ones(len(least) + 1, np.int64)
    for m in range(len(least)):
        strides[m + 1] = strides[m] * (next_most[m] - next_least[m] + 1)
    left = least.copy()
    for k in range(size):
        target = 0
        for m in range(len(least)):
            if m == free:
                continue
            if next_least[m] <= left[m] <= next_most[m]:
                target += (left[m] - next_least[m]) * strides[m]
            else:
                target = -1
                break
        if target >= 0:
            targets[k] = target
        if free >= 0:
            rest[k] = left[free]
        m = 0
        while m < len(least):
            left[m] += 1
            if left[m] <= most[m]:
                break
            left[m] = least[m]
            m += 1
    return targets, rest, strides[max(free, 0)]


@kernel
def _moves(bounds: Any, members: Any) -> Any:
    """Where every combination goes if nothing is taken (row 0), or one entry of one of the ``members``; −1 if that is
    a dead end."""
    stays, _, _ = _stays(bounds, -1)
    moves = np.full((len(members) + 1, len(stays)), -1, np.int64)
    moves[0] = stays
    for p in range(len(members)):
        m = members[p]
        targets, left, stride = _stays(bounds, m)
        for k in range(len(targets)):
            if targets[k] >= 0 and bounds[2][m] <= left[k] - 1 <= bounds[3][m]:
                moves[p + 1, k] = targets[k] + (left[k] - 1 - bounds[2][m]) * stride
    return moves


@kernel
def _lists(moves: Any, order: Any, next_places: Any) -> Any:
    """The moves of low combinations as pairs of places, row by row and by rising place: ``starts[row, place]`` is the
    first pair at or behind a place."""
    rows, size = moves.shape
    starts = np.empty((rows, size + 1), np.int64)
    source, target = np.empty(rows * size, np.int32), np.empty(rows * size, np.int32)
    filled = 0
    for e in range(rows):
        for place in range(size):
            starts[e, place] = filled
            goal = moves[e, order[place]]
            if goal >= 0:
                source[filled], target[filled] = place, next_places[goal]
                filled += 1
        starts[e, size] = filled
    return starts, source, target


@kernel
def _pass(way: Any, step: Any, passed: Any, sign: Any) -> None:
    """The classes of a step pass its pseudonyms, or go back behind them."""
    g, edge, length = way[7][step], way[8][step], way[9][step]
    if edge >= 0:
        passed[way[6][edge]] += sign * length
        return
    for e in range(way[5][g], way[5][g + 1]):
        passed[way[6][e]] += sign * length


@kernel
def _half(way: Any, step: Any, which: Any, passed: Any) -> Any:
    """One half in one step: its open classes, and the bounds of what is left of them before and after."""
    g = way[7][step]
    classes = way[4][way[3][g] : way[3][g + 1]]
    members = classes[way[2][classes] == which]
    after = passed.copy()
    _pass(way, step, after, 1)
    least, most = _bounds(members, way, passed)
    next_least, next_most = _bounds(members, way, after)
    return members, (least, most, next_least, next_most)


@kernel
def _numbering(way: Any, step: Any, low: Any, high: Any) -> Any:
    """How the states are numbered before and after a step: the low combinations in order, the runs under the high
    ones; then the places of the low ones after it, and what to add to them."""
    order, _, starts, base = _by_sum(_sums(low[0], low[1]))
    runs = _runs(_sums(high[0], high[1]), starts, base, way[10][step], way[11][step])
    _, next_places, starts, base = _by_sum(_sums(low[2], low[3]))
    next_runs = _runs(_sums(high[2], high[3]), starts, base, way[12][step], way[13][step])
    return order, runs, next_places, next_runs[2]


@kernel
def _of_half(way: Any, step: Any, which: Any, members: Any) -> Any:
    """The edges of a group to one half, and where among its open classes each edge's class stands."""
    edges = np.arange(way[5][way[7][step]], way[5][way[7][step] + 1])
    edges = edges[way[2][way[6][edges]] == which]
    at = np.empty(len(edges), np.int64)
    for p in range(len(edges)):
        at[p] = np.argmax(members == way[6][edges[p]])
    return edges, at


@kernel
def _picking(way: Any, step: Any, passed: Any) -> Any:
    """What a pick does: edges with the rows of their low and high moves, the low moves as lists of pairs of places, the
    high moves, and the runs before and origins after it."""
    low_members, low = _half(way, step, 0, passed)
    high_members, high = _half(way, step, 1, passed)
    order, runs, next_places, next_origin = _numbering(way, step, low, high)
    low_edges, low_at = _of_half(way, step, 0, low_members)
    high_edges, high_at = _of_half(way, step, 1, high_members)
    edges = np.concatenate((low_edges, high_edges))
    low_row, high_row = np.zeros(len(edges), np.int64), np.zeros(len(edges), np.int64)
    low_row[: len(low_edges)] = np.arange(len(low_edges)) + 1
    high_row[len(low_edges) :] = np.arange(len(high_edges)) + 1
    lists = _lists(_moves(low, low_at), order, next_places)
    return (edges, low_row, high_row), lists, _moves(high, high_at), runs, next_origin


@kernel
def _pick_forward(way: Any, weights: Any, step: Any, passed: Any, old: Any, new: Any) -> None:
    """One pseudonym takes one entry of one of the classes of its group."""
    rows, (starts, source, target), moves, (begin, end, origin), next_origin = _picking(way, step, passed)
    edges, low_row, high_row = rows
    for h in range(len(begin)):
        for q in range(len(edges)):
            goal = moves[high_row[q], h]
            if goal >= 0:
                here, there, w = origin[h], next_origin[goal], weights[edges[q]]
                for k in range(starts[low_row[q], begin[h]], starts[low_row[q], end[h]]):
                    new[there + target[k]] += w * old[here + source[k]]


@kernel
def _pick_backward(way: Any, weights: Any, step: Any, passed: Any, old: Any, behind: Any, mine: Any, flow: Any) -> None:
    rows, (starts, source, target), moves, (begin, end, origin), next_origin = _picking(way, step, passed)
    edges, low_row, high_row = rows
    through = np.zeros(len(edges))
    for h in range(len(begin)):
        for q in range(len(edges)):
            goal = moves[high_row[q], h]
            if goal >= 0:
                here, there, w = origin[h], next_origin[goal], weights[edges[q]]
                total = 0.0
                for k in range(starts[low_row[q], begin[h]], starts[low_row[q], end[h]]):
                    value = w * behind[there + target[k]]
                    mine[here + source[k]] += value
                    total += value * old[here + source[k]]
                through[q] += total
    flow[edges] += through / through.sum()


@kernel
def _sharing(way: Any, weights: Any, step: Any, passed: Any) -> Any:
    """What the step of a whole class does: its weights wˣ/x! · e⁻ʷ, the bounds of what may be left of it, its half,
    and how the states are numbered and move."""
    edge = way[8][step]
    a, w = way[6][edge], weights[edge]
    powers = np.empty(min(way[0][a], way[9][step]) + 1)
    for x in range(len(powers)):
        powers[x] = exp(x * log(w) - lgamma(x + 1.0) - w)
    which = way[2][a]
    low_members, low = _half(way, step, 0, passed)
    high_members, high = _half(way, step, 1, passed)
    at = np.argmax((high_members if which else low_members) == a)
    bounds = high if which else low
    low_moves, high_moves = _stays(low, -1 if which else at), _stays(high, at if which else -1)
    order, runs, next_places, next_origin = _numbering(way, step, low, high)
    sums = _sums(low[0], low[1]), _sums(high[0], high[1])
    numbers = sums[0], order, runs, next_places, next_origin, sums[1]
    return powers, (bounds[2][at], bounds[3][at]), which, low_moves, high_moves, numbers


@kernel
def _share(
    way: Any, weights: Any, step: Any, passed: Any, old: Any, new: Any, behind: Any, mine: Any, flow: Any
) -> None:
    """The entries of a class that go to a large group, all at once: forward if there is nothing ``behind``."""
    powers, (fewest, most), which, low_moves, high_moves, numbers = _sharing(way, weights, step, passed)
    low_sums, order, (begin, end, origin), next_places, next_origin, high_sums = numbers
    stride = high_moves[2] if which else low_moves[2]
    back = len(behind) > 0
    through, total = 0.0, 0.0
    for h in range(len(begin)):
        if high_moves[0][h] < 0:
            continue
        for place in range(begin[h], end[h]):
            low = order[place]
            if low_moves[0][low] < 0:
                continue
            here, all_left = origin[h] + place, high_sums[h] + low_sums[low]
            left = high_moves[1][h] if which else low_moves[1][low]
            first = max(0, left - most, all_left - way[13][step])
            last = min(left - fewest, all_left - way[12][step], len(powers) - 1)
            for x in range(first, last + 1):
                move = (left - x - fewest) * stride
                if which:
                    there = next_origin[high_moves[0][h] + move] + next_places[low_moves[0][low]]
                else:
                    there = next_origin[high_moves[0][h]] + next_places[low_moves[0][low] + move]
                if back:
                    value = powers[x] * behind[there]
                    mine[here] += value
                    through += x * value * old[here]
                else:
                    new[there] += powers[x] * old[here]
            if back:
                total += mine[here] * old[here]
    if back:
        flow[way[8][step]] += through / total


@kernel
def forward(way: Any, weights: Any, first: Any, last: Any, passed: Any, levels: Any, places: Any, logs: Any) -> None:
    """Steps ``first`` … ``last``: from the states before the first, all levels behind it, each scaled to a largest
    value of 1. The level before step t stands at ``places[t - first]``; ``logs[t]`` is ln of the scale behind it.
    ``passed`` says how many pseudonyms each class has passed, and is kept up to date."""
    for t in range(first, last):
        old = levels[places[t - first] : places[t - first + 1]]
        new = levels[places[t - first + 1] : places[t - first + 2]]
        new[:] = 0.0
        if way[8][t] < 0:
            _pick_forward(way, weights, t, passed, old, new)
        else:
            _share(way, weights, t, passed, old, new, old[:0], old[:0], old[:0])
        scale = new.max()
        logs[t] = log(scale)
        new /= scale
        _pass(way, t, passed, 1)


@kernel
def backward(
    way: Any, weights: Any, first: Any, last: Any, passed: Any, levels: Any, places: Any, behind: Any, flow: Any
) -> Any:
    """The same steps from the last to the first: the weight behind every state before the first, given that behind
    every state after the last; the mean number along every edge is added to ``flow``."""
    for t in range(last - 1, first - 1, -1):
        _pass(way, t, passed, -1)
        old = levels[places[t - first] : places[t - first + 1]]
        mine = np.zeros(len(old))
        if way[8][t] < 0:
            _pick_backward(way, weights, t, passed, old, behind, mine, flow)
        else:
            _share(way, weights, t, passed, old, old[:0], behind, mine, flow)
        behind = mine / mine.max()
    return behind


@kernel
def level_sizes(way: Any, most_states: Any) -> Any:
    """How many states there are before each step and after the last; empty if there are ever more than is allowed."""
    found = np.ones(len(way[7]) + 1)
    passed = np.zeros(len(way[0]), np.int64)
    for t in range(len(found) - 1):
        g = way[7][t]
        classes = way[4][way[3][g] : way[3][g + 1]]
        found[t] = _states(*_bounds(classes, way, passed), way[10][t], way[11][t])
        if not found[t] <= most_states:
            return found[:0]
        _pass(way, t, passed, 1)
    return found


@kernel
def half_sizes(way: Any, most: Any) -> Any:
    """Whether neither half ever has more combinations than is allowed: the tables are as long."""
    passed = np.zeros(len(way[0]), np.int64)
    for t in range(len(way[7])):
        classes = way[4][way[3][way[7][t]] : way[3][way[7][t] + 1]]
        least, largest = _bounds(classes, way, passed)
        sizes = np.ones(2)
        for m in range(len(classes)):
            sizes[way[2][classes[m]]] *= largest[m] - least[m] + 1
        if sizes.max() > most:
            return False
        _pass(way, t, passed, 1)
    return True


@kernel
def _states(least: Any, most: Any, low: Any, high: Any) -> Any:
    """How many combinations have a sum from low to high.

    Digit by digit, with how many ways lead to each sum. Sums from which the rest cannot reach ``low`` are dropped at
    once, so that no number ever exceeds the result by more than the number of sums: nothing cancels.
    """
    low, high = low - least.sum(), high - least.sum()
    if high < 0:
        return 0.0
    ways = np.zeros(high + 1)
    ways[0] = 1.0
    reached, rest = 0, (most - least).sum()
    for m in range(len(least)):
        room = most[m] - least[m]
        if room == 0:
            continue
        ways[: min(max(0, low - rest), high + 1)] = 0.0
        rest -= room
        reached = min(reached + room, high)
        for s in range(1, reached + 1):
            ways[s] += ways[s - 1]
        for s in range(reached, room, -1):
            ways[s] -= ways[s - room - 1]
    return ways[max(low, 0) :].sum()
