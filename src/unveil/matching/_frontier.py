"""The compiled inner loops of ``frontier``. Only sums of products of non-negative numbers: nothing cancels.

A state says how many entries of each open class are left. The open classes are dealt into two halves, and a state is a
pair of their combinations. Of a level it is known what can be left of each class and in all. States are numbered
without gaps: high combination by high combination, and under each the low ones, by rising sum, whose sum makes the
total right. So a state's place follows from two small tables, and a step is laid down in tables of half the digits.
"""

from __future__ import annotations

from math import exp, lgamma, log
from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Floats, Ints, Small
from unveil.compilation import helper, kernel

__all__ = ["FrontierLayout", "FrontierRoom", "allocate_room", "count_states", "half_sizes", "level_sizes", "walk_steps"]


_SIZE, _REACH, _HALF = range(3)  # what is known of a class
_GROUP, _EDGE, _LENGTH, _LEAST, _MOST, _LEAST_AFTER, _MOST_AFTER = range(7)  # and of a step


class FrontierLayout(NamedTuple):
    """A way through a block. ``classes`` are their sizes, how many pseudonyms each can have, and their halves. The open
    classes of group g are ``open_classes[open_starts[g] : open_starts[g + 1]]``, and the classes of its edges likewise.
    ``steps`` are, for every step, its group, its edge (−1: one pseudonym picks among all classes of the group), how
    many pseudonyms it passes, and the least and the largest total of the group's open classes that is left before and
    after it."""

    classes: Ints
    open_starts: Ints
    open_classes: Ints
    edge_starts: Ints
    edge_classes: Ints
    steps: Ints


class FrontierRoom(NamedTuple):
    """The tables of one step. For each half: how many open classes and combinations it has (``counts``), its open
    classes (``members``), what can be left of each before and after (``bounds``: least, most, least, most) and the sums
    of its combinations; where each goes (``moves``), row by row: whatever the step does to the half. For low ones:
    those in ``order`` of their sums, where each sum begins (``starts``), and their places after the step. For high
    ones: the first and last low place under each (``begin``, ``end``), and what to add to a place before and after the
    step (``origin``). The moves of low combinations as pairs of places, row by row and by rising place: the first pair
    at or behind each place (``first_pair``) and the pairs. For edges: which they are, and the row of their move in each
    half (``edge_rows``)."""

    counts: Ints
    members: Ints
    bounds: Ints
    left: Ints
    strides: Ints
    low_sums: Ints
    high_sums: Ints
    sums_after: Ints
    order: Ints
    places: Ints
    starts: Ints
    begin: Ints
    end: Ints
    origin: Ints
    origin_after: Ints
    low_moves: Ints
    high_moves: Ints
    rest: Ints
    first_pair: Ints
    source: Small
    target: Small
    edge_rows: Ints
    through: Floats
    powers: Floats


def allocate_room(way: FrontierLayout, sizes: Ints) -> FrontierRoom:
    """Room for every step of a way, given the ``sizes`` that :func:`half_sizes` found."""
    low, high, low_rows, high_rows = sizes.tolist()
    members, edges = int(np.diff(way.open_starts).max()), int(np.diff(way.edge_starts).max())
    ints = np.int64
    return FrontierRoom(*(
        np.empty((2, 2), ints), np.empty((2, members), ints), np.empty((2, 4, members), ints), np.empty(members, ints),
        np.empty(members + 1, ints), np.empty(low, ints), np.empty(high, ints), np.empty(max(low, high), ints),
        np.empty(low, ints), np.empty(low, ints), np.empty(int(way.classes[_SIZE].sum()) + 3, ints),
        *np.empty((4, high), ints), np.empty(low_rows, ints), np.empty(high_rows, ints),
        np.empty(max(low, high), ints), np.empty(low_rows + edges + 1, ints),
        *np.empty((2, low_rows), np.int32), np.empty((3, edges), ints), np.empty(edges),
        np.empty(int(way.classes[_SIZE].max()) + 1),
    ))  # fmt: skip


# ---- what can be left ------------------------------------------------------------------------------------------------


@helper
def _pass_step(way: Any, step: Any, passed: Any, sign: Any) -> None:
    """The classes of a step pass its pseudonyms, or go back behind them."""
    g, edge, length = way.steps[_GROUP, step], way.steps[_EDGE, step], way.steps[_LENGTH, step]
    first, last = way.edge_starts[g], way.edge_starts[g + 1]
    if edge >= 0:
        first, last = edge, edge + 1
    for e in range(first, last):
        passed[way.edge_classes[e]] += sign * length


@helper
def _left_bounds(classes: Any, members: Any, count: Any, passed: Any, least: Any, most: Any) -> None:
    """The fewest and the most that can be left of each class, given how many pseudonyms it has passed."""
    for m in range(count):
        a = members[m]
        least[m] = max(0, classes[_SIZE, a] - passed[a])
        most[m] = min(classes[_SIZE, a], classes[_REACH, a] - passed[a])


@kernel
def level_sizes(way: Any, most_states: Any, passed: Any, least: Any, most: Any, ways: Any, found: Any) -> Any:
    """Fill how many states there are before each step; False if there are ever more than is allowed. ``passed`` is 0
    for every class; ``least``, ``most`` and ``ways`` are room for every class and every total."""
    for t in range(way.steps.shape[1]):
        g = way.steps[_GROUP, t]
        count = way.open_starts[g + 1] - way.open_starts[g]
        _left_bounds(way.classes, way.open_classes[way.open_starts[g] :], count, passed, least, most)
        found[t] = count_states(least, most, count, way.steps[_LEAST, t], way.steps[_MOST, t], ways)
        if not found[t] <= most_states:
            return False
        _pass_step(way, t, passed, 1)
    return True


@kernel
def count_states(least: Any, most: Any, count: Any, low: Any, high: Any, ways: Any) -> Any:
    """How many combinations of so many digits have a sum from low to high.

    Digit by digit, with how many ways lead to each sum. Sums from which the rest cannot reach ``low`` are dropped at
    once, so that no number ever exceeds the result by more than the number of sums: nothing cancels.
    """
    rest, reached, total = 0, 0, 0.0
    for m in range(count):
        low -= least[m]
        high -= least[m]
        rest += most[m] - least[m]
    if high < 0:
        return 0.0
    for s in range(high + 1):
        ways[s] = 0.0
    ways[0] = 1.0
    for m in range(count):
        room = most[m] - least[m]
        if room == 0:
            continue
        for s in range(min(low - rest, high + 1)):
            ways[s] = 0.0
        rest -= room
        reached = min(reached + room, high)
        for s in range(1, reached + 1):
            ways[s] += ways[s - 1]
        for s in range(reached, room, -1):
            ways[s] -= ways[s - room - 1]
    for s in range(max(low, 0), high + 1):
        total += ways[s]
    return total


@kernel
def half_sizes(way: Any, allowed: Any, passed: Any, sizes: Any) -> Any:
    """Whether neither half ever has more combinations than is allowed: the tables are as long. Fills the most
    combinations of each half, and the most moves of each half in one step. ``passed`` is 0 for every class."""
    for t in range(way.steps.shape[1] + 1):
        step = min(t, way.steps.shape[1] - 1)  # before every step, and after the last
        g = way.steps[_GROUP, step]
        product, rows = 1.0, 1.0
        for which in range(2):
            product, rows = 1.0, 1.0
            for m in range(way.open_starts[g], way.open_starts[g + 1]):
                a = way.open_classes[m]
                if way.classes[_HALF, a] == which:
                    least = max(0, way.classes[_SIZE, a] - passed[a])
                    product *= min(way.classes[_SIZE, a], way.classes[_REACH, a] - passed[a]) - least + 1
            if product > allowed:
                return False
            for e in range(way.edge_starts[g], way.edge_starts[g + 1]):
                rows += way.steps[_EDGE, step] < 0 and way.classes[_HALF, way.edge_classes[e]] == which
            sizes[which] = max(sizes[which], np.int64(product))
            sizes[which + 2] = max(sizes[which + 2], np.int64(product * rows))
        if t < way.steps.shape[1]:
            _pass_step(way, t, passed, 1)
    return True


# ---- the tables of a step --------------------------------------------------------------------------------------------


@helper
def _combination_sums(least: Any, most: Any, count: Any, sums: Any) -> Any:
    """The sum of every combination of digits between ``least`` and ``most``; the first digit runs fastest. Returns how
    many combinations there are."""
    filled = 1
    sums[0] = 0
    for m in range(count):
        sums[0] += least[m]
    for m in range(count):
        for d in range(1, most[m] - least[m] + 1):
            for k in range(filled):
                sums[d * filled + k] = sums[k] + d
        filled *= most[m] - least[m] + 1
    return filled


@helper
def _sort_by_sum(sums: Any, size: Any, starts: Any, order: Any, places: Any) -> Any:
    """The combinations sorted by sum, the place of each and where each sum begins. Returns how many sums there are."""
    base, many = sums[0], sums[size - 1] - sums[0] + 1
    for s in range(many + 2):
        starts[s] = 0
    for k in range(size):
        starts[sums[k] - base + 2] += 1
    for s in range(2, many + 2):
        starts[s] += starts[s - 1]
    for k in range(size):
        places[k] = starts[sums[k] - base + 1]
        order[places[k]] = k
        starts[sums[k] - base + 1] += 1
    return many


@helper
def _fitting_runs(
    high_sums: Any, size: Any, starts: Any, many: Any, base: Any, least: Any, most: Any, begin: Any, end: Any,
    origin: Any,
) -> None:  # fmt: skip
    """Under every high combination the low ones that make the total lie between least and most: the first place, the
    one behind the last, and what to add to a place for the number of the state."""
    filled = 0
    for h in range(size):
        begin[h] = starts[min(max(least - high_sums[h] - base, 0), many)]
        end[h] = max(begin[h], starts[min(max(most - high_sums[h] - base + 1, 0), many)])
        origin[h] = filled - begin[h]
        filled += end[h] - begin[h]


@helper
def _number_states(way: Any, step: Any, members: Any, room: Any) -> Any:
    """How the states are numbered before and after a step, given how many open classes each half has. Returns how many
    low and high combinations there are."""
    bounds, after, starts = room.bounds, room.sums_after, room.starts
    size = _combination_sums(bounds[0, 2], bounds[0, 3], members[0], after)
    many, base = _sort_by_sum(after, size, starts, room.order, room.places), after[0]
    size = _combination_sums(bounds[1, 2], bounds[1, 3], members[1], after)
    _fitting_runs(
        after, size, starts, many, base, way.steps[_LEAST_AFTER, step], way.steps[_MOST_AFTER, step], room.begin,
        room.end, room.origin_after,
    )  # fmt: skip
    low = _combination_sums(bounds[0, 0], bounds[0, 1], members[0], room.low_sums)
    many, base = _sort_by_sum(room.low_sums, low, starts, room.order, after), room.low_sums[0]
    high = _combination_sums(bounds[1, 0], bounds[1, 1], members[1], room.high_sums)
    _fitting_runs(
        room.high_sums, high, starts, many, base, way.steps[_LEAST, step], way.steps[_MOST, step], room.begin, room.end,
        room.origin,
    )  # fmt: skip
    return low, high


@helper
def _open_members(way: Any, step: Any, which: Any, passed: Any, members: Any, bounds: Any) -> Any:
    """The open classes of one half in a step, and the fewest and the most that can be left of each. Returns how many
    these are."""
    g, count = way.steps[_GROUP, step], 0
    for m in range(way.open_starts[g], way.open_starts[g + 1]):
        a = way.open_classes[m]
        if way.classes[_HALF, a] == which:
            members[count] = a
            count += 1
    _left_bounds(way.classes, members, count, passed, bounds[0], bounds[1])
    _pass_step(way, step, passed, 1)
    _left_bounds(way.classes, members, count, passed, bounds[2], bounds[3])
    _pass_step(way, step, passed, -1)
    return count


@helper
def _moves_without_taking(
    bounds: Any, count: Any, free: Any, size: Any, left: Any, strides: Any, targets: Any, rest: Any
) -> Any:
    """Where every combination goes when nothing is taken from its half, −1 if that is a dead end; whatever is left of
    the digit ``free``, it is set to its least (free = −1: none is). Also what is left of that digit. Returns its
    stride."""
    strides[0] = 1
    for m in range(count):
        strides[m + 1] = strides[m] * (bounds[3, m] - bounds[2, m] + 1)
        left[m] = bounds[0, m]
    for k in range(size):
        target = 0
        for m in range(count):
            if m != free:
                if left[m] < bounds[2, m] or left[m] > bounds[3, m]:
                    target = -1
                    break
                target += (left[m] - bounds[2, m]) * strides[m]
        targets[k] = target
        if free >= 0:
            rest[k] = left[free]
        for m in range(count):
            left[m] += 1
            if left[m] <= bounds[1, m]:
                break
            left[m] = bounds[0, m]
    return strides[max(free, 0)]


@helper
def _half_moves(way: Any, step: Any, which: Any, count: Any, size: Any, room: Any, moves: Any, filled: Any) -> Any:
    """Where every combination of a half goes in a pick: row 0 if nothing is taken from it, and a row for each edge to
    the half. Puts these edges behind those that were ``filled``, with their rows; returns how many are filled then."""
    members, bounds, rest, row = room.members[which], room.bounds[which], room.rest, 0
    g = way.steps[_GROUP, step]
    _moves_without_taking(bounds, count, np.int64(-1), size, room.left, room.strides, moves, rest)
    for e in range(way.edge_starts[g], way.edge_starts[g + 1]):
        a = way.edge_classes[e]
        if way.classes[_HALF, a] != which:
            continue
        row += 1
        m = 0
        while members[m] != a:
            m += 1
        targets = moves[row * size : (row + 1) * size]
        stride = _moves_without_taking(bounds, count, m, size, room.left, room.strides, targets, rest)
        for k in range(size):
            taken = rest[k] - 1
            if targets[k] >= 0 and bounds[2, m] <= taken and taken <= bounds[3, m]:
                targets[k] += (taken - bounds[2, m]) * stride
            else:
                targets[k] = -1
        room.edge_rows[0, filled] = e
        room.edge_rows[1, filled], room.edge_rows[2, filled] = (0, row) if which else (row, 0)
        filled += 1
    return filled


@helper
def _pair_places(
    moves: Any, rows: Any, size: Any, order: Any, places: Any, first_pair: Any, source: Any, target: Any
) -> None:
    """The moves of low combinations as pairs of places."""
    filled = 0
    for row in range(rows):
        for place in range(size):
            first_pair[row * (size + 1) + place] = filled
            goal = moves[row * size + order[place]]
            if goal >= 0:
                source[filled], target[filled] = place, places[goal]
                filled += 1
        first_pair[row * (size + 1) + size] = filled


# ---- steps -----------------------------------------------------------------------------------------------------------


@helper
def _pick_entry(
    way: Any, weights: Any, step: Any, members: Any, sizes: Any, room: Any, old: Any, new: Any, mine: Any, back: Any,
    flow: Any,
) -> None:  # fmt: skip
    """One pseudonym takes one entry of one of the classes of its group. Forward: adds to ``new``. ``back``: ``new`` is
    the weight behind every state after the step; adds to ``mine``, that before it, and to the ``flow`` of edges."""
    low_size, high_size, edges, low_rows = sizes[0], sizes[1], np.int64(0), np.int64(0)
    for which in range(2):
        low_rows, moves = edges, room.high_moves if which else room.low_moves
        edges = _half_moves(way, step, which, members[which], sizes[which], room, moves, edges)
    source, target, first_pair = room.source, room.target, room.first_pair
    _pair_places(room.low_moves, low_rows + 1, low_size, room.order, room.places, first_pair, source, target)
    edge_rows, through, whole = room.edge_rows, room.through, 0.0
    for q in range(edges):
        through[q] = 0.0
    for h in range(high_size):
        for q in range(edges):
            goal = room.high_moves[edge_rows[2, q] * high_size + h]
            if goal < 0:
                continue
            here, there, w = room.origin[h], room.origin_after[goal], weights[edge_rows[0, q]]
            row = edge_rows[1, q] * (low_size + 1)
            first, last = first_pair[row + room.begin[h]], first_pair[row + room.end[h]]
            if back:
                total = 0.0
                for k in range(first, last):
                    value = w * new[there + target[k]]
                    mine[here + source[k]] += value
                    total += value * old[here + source[k]]
                through[q] += total
            else:
                for k in range(first, last):
                    new[there + target[k]] += w * old[here + source[k]]
    if back:
        for q in range(edges):
            whole += through[q]
        for q in range(edges):
            flow[edge_rows[0, q]] += through[q] / whole


@helper
def _share_entries(
    way: Any, weights: Any, step: Any, members: Any, sizes: Any, room: Any, old: Any, new: Any, mine: Any, back: Any,
    flow: Any,
) -> None:  # fmt: skip
    """The entries of a class that go to a large group, all at once, with weights wˣ/x! · e⁻ʷ. As in
    :func:`_pick_entry`."""
    edge = way.steps[_EDGE, step]
    a, w, powers = way.edge_classes[edge], weights[edge], room.powers
    many = min(way.classes[_SIZE, a], way.steps[_LENGTH, step]) + 1
    for x in range(many):
        powers[x] = exp(x * log(w) - lgamma(x + 1.0) - w)
    which, at = way.classes[_HALF, a], 0
    while room.members[which, at] != a:
        at += 1
    fewest, most = room.bounds[which, 2, at], room.bounds[which, 3, at]
    least_after, most_after = way.steps[_LEAST_AFTER, step], way.steps[_MOST_AFTER, step]
    low_moves, high_moves, rest, places = room.low_moves, room.high_moves, room.rest, room.places
    left, strides = room.left, room.strides
    stride = 0
    for turn in range(2):  # the half without the class first
        half, free = (which, at) if turn else (1 - which, np.int64(-1))
        moves = high_moves if half else low_moves
        stride = _moves_without_taking(room.bounds[half], members[half], free, sizes[half], left, strides, moves, rest)
    through, total = 0.0, 0.0
    for h in range(sizes[1]):
        if high_moves[h] < 0:
            continue
        for place in range(room.begin[h], room.end[h]):
            k = room.order[place]
            if low_moves[k] < 0:
                continue
            here, all_left = room.origin[h] + place, room.high_sums[h] + room.low_sums[k]
            own = rest[h if which else k]
            first = max(0, max(own - most, all_left - most_after))
            last = min(own - fewest, min(all_left - least_after, many - 1))
            for x in range(first, last + 1):
                move = (own - x - fewest) * stride
                if which:
                    there = room.origin_after[high_moves[h] + move] + places[low_moves[k]]
                else:
                    there = room.origin_after[high_moves[h]] + places[low_moves[k] + move]
                if back:
                    value = powers[x] * new[there]
                    mine[here] += value
                    through += x * value * old[here]
                else:
                    new[there] += powers[x] * old[here]
            if back:
                total += mine[here] * old[here]
    if back:
        flow[edge] += through / total


@kernel
def walk_steps(
    way: Any, weights: Any, first: Any, last: Any, passed: Any, levels: Any, places: Any, logs: Any, back: Any,
    behind: Any, turn: Any, flow: Any, room: Any,
) -> Any:  # fmt: skip
    """Steps ``first`` … ``last``: from the states before the first, all levels behind it, each scaled to a largest
    value of 1. The level before step t stands at ``places[t - first]``; ``logs[t]`` is ln of the scale behind it.
    ``passed`` says how many pseudonyms each class has passed, and is kept up to date.

    Or ``back``, from the last to the first: the weight behind every state before the first, given that behind every
    state after the last; the mean number along every edge is added to ``flow``. What is behind stands in row ``turn``
    of ``behind``, and each step turns to the other row. Returns the turn.
    """
    members, sizes = room.counts[0], room.counts[1]
    for k in range(first, last):
        t = first + last - 1 - k if back else k
        start, middle, end = places[t - first], places[t - first + 1], places[t - first + 2]
        old, new, mine, scale = levels[start:middle], levels[middle:end], behind[1 - turn], 0.0
        if back:
            _pass_step(way, t, passed, -1)
            new, turn = behind[turn], 1 - turn
        made = mine[: middle - start] if back else new
        for i in range(len(made)):
            made[i] = 0.0
        for which in range(2):
            members[which] = _open_members(way, t, which, passed, room.members[which], room.bounds[which])
        sizes[0], sizes[1] = _number_states(way, t, members, room)
        if way.steps[_EDGE, t] < 0:
            _pick_entry(way, weights, t, members, sizes, room, old, new, mine, back, flow)
        else:
            _share_entries(way, weights, t, members, sizes, room, old, new, mine, back, flow)
        for i in range(len(made)):
            scale = max(scale, made[i])
        for i in range(len(made)):
            made[i] /= scale
        if not back:
            logs[t] = log(scale)
            _pass_step(way, t, passed, 1)
    return turn
