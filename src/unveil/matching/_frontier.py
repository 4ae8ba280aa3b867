"""The tables and the compiled inner loops of ``frontier``. All terms are non-negative, so nothing cancels.

A state is the number of entries left in each open class. The open classes are split into a low and a high half, so a
state is a pair of combinations. States are numbered without gaps: by high combination and, under each, by those low
combinations, in order of their sum, that make the total possible. The number of a state thus follows from two small
tables, and a step is described by where the combinations of each half go. numpy builds the tables of many steps at
once; only counting states and walking through them is compiled.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from unveil.arrays import Bools, Floats, Ints
from unveil.compilation import kernel

__all__ = [
    "FrontierLayout",
    "FrontierMoves",
    "FrontierSlots",
    "FrontierTables",
    "build_tables",
    "count_states",
    "list_starts",
    "walk_steps",
]

_UNLIMITED = 1 << 48  # more than any number of entries
_DEAD = -_UNLIMITED  # the goal of a combination that would leave too few or too many of a class
_FIRST_HIGH, _FIRST_MOVE, _STRIDE, _IS_HIGH, _ROOM_AFTER, _LEAST_AFTER, _MOST_AFTER, _MOST_TAKEN, _POWERS = range(9)


class FrontierSlots(NamedTuple):
    """How many entries can be left in each open class around each step, by step and class: before the step, 0 to
    ``room`` more than a minimum; after it, 0 to ``room_after`` more than that minimum lowered by ``drop``."""

    step: Ints
    owner: Ints
    room: Ints
    drop: Ints
    room_after: Ints


class FrontierMoves(NamedTuple):
    """The edges along which entries can move in each step, by step, and the slots of their classes."""

    step: Ints
    edge: Ints
    slot: Ints


class FrontierLayout(NamedTuple):
    """A way through a block. ``half`` is the half of each class. A step with ``is_shared`` has one move, along which at
    most ``most_taken`` entries go; in any other step one entry goes along one of the moves. ``totals`` bounds the
    number of entries left in all open classes, above the sum of the minima before the step: rows 0 and 1 before each
    step and at the end, rows 2 and 3 after each step."""

    half: Ints
    is_shared: Bools
    most_taken: Ints
    totals: Ints
    slots: FrontierSlots
    moves: FrontierMoves


class FrontierTables(NamedTuple):
    """The tables of consecutive steps, as the kernel takes them. Low combinations have places: by level, and by
    ascending sum within a level.

    Each high combination is joined by the low places ``begin`` … ``end − 1``. The number of a state within its level is
    the sum of the ``number`` of both combinations: the place of the low one, and the offset of the high one.

    If one entry is taken, a move has a row of low and a row of high combinations: the low pairs (``source``,
    ``target``) of places, from ``first_pair[low_row + place]`` on, and the offset after the step,
    ``jump[high_row + high]``.

    If several entries are taken, a combination goes to ``goal`` minus the stride for each entry taken. ``spare`` is its
    number of entries of the class above the minimum after the step, and ``sums`` that of all classes above the minima
    before it. Taking x entries has the weight ``powers[x]``.
    """

    steps: Ints
    begin: Ints
    end: Ints
    number: Ints
    first_pair: Ints
    source: npt.NDArray[np.uint32]
    target: npt.NDArray[np.uint32]
    jump: Ints
    low_row: Ints
    high_row: Ints
    weights: Floats
    goal: Ints
    spare: Ints
    sums: Ints
    powers: Floats


def list_starts(lengths: Ints) -> Ints:
    """Where each of several consecutive lists begins, and where the last one ends."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


# ---- tables ----------------------------------------------------------------------------------------------------------


class _HalfTables(NamedTuple):
    """All combinations of one half, row by row: a row for each level, then a row for each move of a single entry.
    ``starts`` is where each row begins, ``shifts`` its distance from the row of its level. ``goals`` is where each
    combination goes, negative if nowhere; ``sums`` and ``spare`` cover only the rows of levels."""

    starts: Ints
    shifts: Ints
    goals: Ints
    sums: Ints
    spare: Ints


def build_tables(layout: FrontierLayout, weights: Floats, first: int, last: int) -> FrontierTables:
    """The tables of the steps from first to last − 1, with one weight per edge."""
    levels, begun = last - first + 1, np.searchsorted(layout.moves.step, [first, last])
    moves = FrontierMoves(*(part[slice(*begun)] for part in layout.moves))
    steps, rows = np.zeros((9, levels), np.int64), np.zeros((2, len(moves.step)), np.int64)
    low, high = (_combine_half(layout, moves, half, first, last, steps, rows) for half in range(2))

    lows = len(low.sums)
    sum_starts = list_starts(np.maximum.reduceat(low.sums, low.starts[:levels]) + 1)
    keys = np.repeat(sum_starts[:-1], np.diff(low.starts[: levels + 1])) + low.sums
    order = np.argsort(keys, kind="stable")
    place = np.empty(lows, np.int64)
    place[order] = np.arange(lows)

    below, level = list_starts(np.bincount(keys)), np.repeat(np.arange(levels), np.diff(high.starts[: levels + 1]))
    lowest, highest = sum_starts[level], sum_starts[level + 1]
    least, most = layout.totals[:2, first : last + 1]
    begin = below[np.minimum(np.maximum(lowest + least[level] - high.sums, lowest), highest)]
    end = below[np.minimum(np.maximum(lowest + most[level] - high.sums + 1, lowest), highest)]
    filled = list_starts(np.maximum(end - begin, 0))
    offset = filled[:-1] - filled[high.starts[level]] - begin

    shift = np.repeat(low.shifts, np.diff(low.starts))
    source = np.arange(len(shift)) - shift
    target = low.goals[order[source] + shift]
    possible = target >= 0

    shared = layout.is_shared[first:last]
    many = np.where(shared, layout.most_taken[first:last] + 1, 0)
    steps[_FIRST_HIGH] = high.starts[:levels]
    steps[_FIRST_MOVE] = np.searchsorted(moves.step, np.arange(first, last + 1))
    steps[_LEAST_AFTER : _MOST_AFTER + 1, :-1] = layout.totals[2:, first:last]
    steps[_MOST_TAKEN, :-1], steps[_POWERS] = many - 1, list_starts(many)
    high_goals = high.goals[: len(offset)]
    return FrontierTables(
        steps,
        begin,
        np.maximum(begin, end),
        np.concatenate([place, offset]),
        list_starts(possible),
        source[possible].astype(np.uint32),
        place.take(target[possible], mode="clip").astype(np.uint32),
        np.where(high.goals < 0, _DEAD, offset.take(high.goals, mode="clip")),
        rows[0],
        rows[1],
        weights[moves.edge],
        np.concatenate([low.goals[order], high_goals + lows * (high_goals >= 0)]),
        np.concatenate([low.spare[order], high.spare]),
        np.concatenate([low.sums[order], high.sums]),
        _share_weights(weights[moves.edge[layout.is_shared[moves.step]]], many[shared]),
    )


def _share_weights(weights: Floats, many: Ints) -> Floats:
    """wˣ/x! · e⁻ʷ for each weight w and x = 0 … ``many`` − 1."""
    if not len(many):
        return np.zeros(0)
    x = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    logs = x * np.repeat(np.log(weights), many) - gammaln(np.arange(1, many.max() + 1))[x]
    found: Floats = np.exp(logs - np.repeat(weights, many))
    return found


def _combine_half(
    layout: FrontierLayout, moves: FrontierMoves, half: int, first: int, last: int, steps: Ints, rows: Ints
) -> _HalfTables:
    """All combinations of one half. Also fills the part of ``steps`` that concerns this half's classes, and the
    ``rows`` of its moves."""
    levels = last - first + 1
    begun, ended = np.searchsorted(layout.slots.step, [first, last + 1]).tolist()
    mine = begun + np.flatnonzero(layout.half[layout.slots.owner[begun:ended]] == half)
    level, slot_room = layout.slots.step[mine] - first, layout.slots.room[mine]
    count = np.bincount(level, minlength=levels)
    depth = int(count.max())
    digit = np.arange(len(mine)) + (depth - np.cumsum(count))[level]  # the last digits are in use
    inner = level < last - first  # nothing follows the last level
    room, drop, limit, is_free, none = np.zeros((5, depth, levels), np.int64)
    room[digit, level], drop[digit, level] = slot_room, layout.slots.drop[mine] * inner
    limit[digit, level] = np.where(inner, layout.slots.room_after[mine], slot_room)
    stride, sizes = np.ones((depth + 1, levels), np.int64), np.prod(room + 1, axis=0)
    np.cumprod(limit[::-1] + 1, axis=0, out=stride[-2::-1])
    stride = stride[1:]

    ours = np.flatnonzero(layout.half[layout.slots.owner[moves.slot]] == half)
    slot, shared = np.searchsorted(mine, moves.slot[ours]), layout.is_shared[moves.step[ours]]
    single = slot[~shared]
    level_of = np.concatenate([np.arange(levels), level[single]])
    starts = list_starts(sizes[level_of])
    shifts = starts[:-1] - starts[level_of]
    rows[half, ours[~shared]] = shifts[levels:]
    sums, spare = np.zeros((2, starts[levels]), np.int64)
    combine_digits(room, none, room, none + 1, starts, sums)
    if len(single) < len(ours):
        free = digit[slot[shared]], level[slot[shared]]
        steps[_STRIDE, free[1]], steps[_IS_HIGH, free[1]], steps[_ROOM_AFTER, free[1]] = stride[free], half, limit[free]
        limit[free], is_free[free] = _UNLIMITED, 1
        combine_digits(room, drop, none + _UNLIMITED, is_free, starts, spare)
    room, drop, limit, stride = (each.take(level_of, axis=1) for each in (room, drop, limit, stride))
    drop[digit[single], np.arange(levels, len(level_of))] -= 1
    goals = np.zeros(starts[-1], np.int64)
    combine_digits(room, drop, limit, stride, starts, goals)
    after = starts[np.minimum(level_of + 1, levels - 1)]
    goals += np.repeat(after, np.diff(starts)) * (goals >= 0)
    return _HalfTables(starts, shifts, goals, sums, spare)


# ---- kernels ---------------------------------------------------------------------------------------------------------


@kernel
def combine_digits(room, drop, limit, worth, starts, found):
    """Fill the value of every combination of digits 0 … ``room[d, row]``, row by row; the last digit runs fastest. A
    digit is raised by ``drop`` and multiplied by ``worth``; the combination is dead if a raised digit is negative or
    above its limit. ``found`` is 0 at first."""
    for row in range(room.shape[1]):
        start, size = starts[row], 1
        for d in range(room.shape[0] - 1, -1, -1):
            for value in range(room[d, row], -1, -1):
                left = value + drop[d, row]
                added = left * worth[d, row]
                if left < 0 or left > limit[d, row]:
                    added = _DEAD
                to = start + value * size
                for k in range(size):
                    found[to + k] = found[start + k] + added
            size *= room[d, row] + 1


@kernel
def count_states(starts, rooms, least, most, allowed, ways, found):
    """Fill, for every level, the number of combinations of digits 0 … room with a sum from least to most; False as soon
    as one exceeds ``allowed``. Level t has the digits ``starts[t]`` … ``starts[t + 1] − 1``; ``ways`` is 0 at first.

    Digit by digit, ``ways`` counts the combinations with each sum. Sums from which the remaining digits cannot reach
    ``least`` are dropped at once, so that no number ever exceeds the result by more than the number of sums: nothing
    cancels.
    """
    for t in range(len(least)):
        rest, reached, total = 0, min(0, most[t]), 0.0
        for m in range(starts[t], starts[t + 1]):
            rest += rooms[m]
        ways[0] = 1.0
        for m in range(starts[t], starts[t + 1]):
            room, bottom = rooms[m], max(0, least[t] - rest)
            rest -= room
            reached = min(reached + room, most[t])
            for s in range(bottom + 1, reached + 1):
                ways[s] += ways[s - 1]
            for s in range(reached, bottom + room, -1):
                ways[s] -= ways[s - room - 1]
        for s in range(reached + 1):
            if s >= least[t]:
                total += ways[s]
            ways[s] = 0.0
        found[t] = total
        if not total <= allowed:
            return False
    return True


@kernel
def walk_steps(
    steps, begin, end, number, first_pair, source, target, jump, low_row,
    high_row, weights, goal, spare, sums, powers, places, levels, behind,
    turn, back, scales, through,
):  # fmt: skip
    """Walk forwards through the steps of some tables: from the states before the first step, compute all levels after
    it, each scaled to a maximum of 1. The level before step t is stored at ``places[t]``; ``scales[t]`` is the scale of
    the level after it.

    With ``back``, walk from the last step to the first: compute the weight behind every state before the first step,
    given that behind every state after the last. These weights are in one half of ``behind``; each step writes the
    other half and moves ``turn`` there. Adds to ``through`` the mean number of entries along each move, for single
    entries up to a factor. Returns the turn.
    """
    # The inner loops use unsigned indices: checking signed ones for negative numbers takes a third of the time.
    lows, count, new, made, unsigned = len(number) - len(begin), steps.shape[1] - 1, levels, levels, np.uint64
    if back:
        new = made = behind
    for k in range(count):
        t = count - 1 - k if back else k
        start, new_at, made_at, made_end = places[t], places[t + 1], places[t + 1], places[t + 2]
        if back:
            new_at, turn = turn, len(behind) // 2 - turn
            made_at, made_end = turn, turn + places[t + 1] - start
        for i in range(made_at, made_end):
            made[i] = 0.0
        stride, first_move, scale, whole, mean = unsigned(steps[_STRIDE, t]), steps[_FIRST_MOVE, t], 0.0, 0.0, 0.0
        for h in range(steps[_FIRST_HIGH, t], steps[_FIRST_HIGH, t + 1]):
            offset = number[lows + h]
            here, mine = unsigned(start + offset), unsigned(made_at + offset)
            if stride == 0:
                for q in range(first_move, steps[_FIRST_MOVE, t + 1]):
                    jumped, w, total = jump[high_row[q] + h], weights[q], 0.0
                    if jumped == _DEAD:
                        continue
                    there, row = unsigned(new_at + jumped), low_row[q]
                    first, last = first_pair[row + begin[h]], first_pair[row + end[h]]
                    if back:
                        for p in range(first, last):
                            value = w * new[there + target[p]]
                            made[mine + source[p]] += value
                            total += value * levels[here + source[p]]
                        through[q] += total
                    else:
                        for p in range(first, last):
                            new[there + target[p]] += w * levels[here + source[p]]
            elif goal[lows + h] >= 0:
                for place in range(begin[h], end[h]):
                    if goal[place] < 0:
                        continue
                    moving, still = place, lows + h
                    if steps[_IS_HIGH, t]:
                        moving, still = still, moving
                    room, rest, total, moved = spare[moving], sums[place] + sums[lows + h], 0.0, 0.0
                    first = max(0, max(room - steps[_ROOM_AFTER, t], rest - steps[_MOST_AFTER, t]))
                    last = min(room, min(rest - steps[_LEAST_AFTER, t], steps[_MOST_TAKEN, t]))
                    there, to, old = (
                        new_at + number[goal[still]],
                        unsigned(goal[moving]),
                        levels[here + unsigned(place)],
                    )
                    for x in range(first, last + 1):
                        value, at = powers[steps[_POWERS, t] + x], unsigned(there + number[to - unsigned(x) * stride])
                        if back:
                            value *= new[at]
                            total += value
                            moved += x * value
                        else:
                            new[at] += value * old
                    if back:
                        made[mine + unsigned(place)] = total
                        whole += total * old
                        mean += moved * old
        if back and stride:
            through[first_move] = mean / whole
        for i in range(made_at, made_end):
            scale = max(scale, made[i])
        for i in range(made_at, made_end):
            made[i] /= scale
        if not back:
            scales[t] = scale
    return turn
