"""The compiled search below a node in which sets of rows are lines of bits.

A *frame* is a node with the rows that have it, its members, numbered anew, those first that may still improve. Every
choice, an attribute that some of them have, is a line with a bit for each member, so those who have one attribute more
are the AND of two lines. Where few members are left, these become the members of a new frame with shorter lines. The
lines of all frames are kept in ``lines``; a frame that finds no room there is not opened.

``frames``, per frame: members, words of a line, first member, first choice, end of choices, first word of the choices,
end of the words, the place in ``nodes`` that it begins with, and the node that it was opened from. ``nodes``, per node:
danger, next choice, largest ceiling of an active row, rows, attributes, danger of what follows, and the first word of
its rows, which those of its active rows follow. ``weights``, per node: likelihood, what a set must exceed, the least
best of an active row, and the most that sets could weigh which the floor ruled out. ``choices``: column, danger, and
the first choice of the next column.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil._bits import bit_count, lowest_bit
from unveil.compilation import helper
from unveil.inference._closures import line_danger

__all__ = ["can_exceed", "draw_frame", "has_room", "plan_frame", "row_can_rise", "search_frames"]

_ONE, _NONE = np.uint64(1), np.uint64(0)
_SHRINK, _SHORT = 8, 8  # a new frame is so much smaller than one with more than so many words


@helper
def can_exceed(danger, likelihood, least, unit, offset):
    """Whether likelihood · danger / (offset + danger) > least, without a division."""
    return danger > 0 and danger * unit * (likelihood - least) > least * offset


@helper
def row_can_rise(row, danger, likelihood, best, cut, floor, goal, unit, offset):
    """Whether likelihood · danger / (offset + danger) is more than the row's best and the floor. ``cut`` notes the most
    that only the floor rules out."""
    if best[row] >= goal:
        return False
    if can_exceed(danger, likelihood, max(best[row], floor), unit, offset):
        return True
    if best[row] < floor and can_exceed(danger, likelihood, cut[row], unit, offset):
        cut[row] = likelihood * (danger * unit / (offset + danger * unit))
    return False


# ---- opening ---------------------------------------------------------------------------------------------------------


@helper
def has_room(frame, size, column, firsts, uses_bits, frames, lines, members, likes, nodes):
    """Whether the lines of one more frame find room."""
    columns = len(firsts) - 1
    choices = columns - column - 1
    if not uses_bits:
        choices = 0
        for c in range(column + 1, columns):
            choices += min(firsts[c + 1] - firsts[c], size)
    levels = columns - column + 1
    return (
        frame < len(frames)
        and frames[frame, 6] + (choices + 2 * levels) * ((size + 63) >> 6) <= len(lines)
        and frames[frame, 2] + size <= len(members)
        and frames[frame, 3] + choices < len(likes)
        and frames[frame, 7] + levels <= len(nodes)
    )


@helper
def _transpose(square):
    """Turn 64 words of 64 bits, in place, so that bit i of word k becomes bit k of word i."""
    step, mask = 32, np.uint64(0xFFFFFFFF)
    while step:
        shift, k = np.uint64(step), 0
        while k < 64:
            swapped = ((square[k] >> shift) ^ square[k + step]) & mask
            square[k] ^= swapped << shift
            square[k + step] ^= swapped
            k = (k + step + 1) & ~step
        step >>= 1
        mask ^= mask << np.uint64(step)


@helper
def _draw_bits(known, begin, columns, members, first, size, line, words, lines, square):
    """The lines of all attributes from one on."""
    for b in range(words):
        block = min(64, size - 64 * b)
        for w in range(begin >> 6, (columns + 63) >> 6):
            for k in range(64):
                square[k] = known[members[first + 64 * b + k], w] if k < block else _NONE
            _transpose(square)
            for c in range(max(begin, 64 * w), min(columns, 64 * w + 64)):
                lines[line + (c - begin) * words + b] = square[c & 63]


@helper
def _draw_codes(codes, members, first, size, line, words, lines, place, choices, count):
    """The lines of all codes in a column, after those that are there. Returns how many there are then. ``place`` has
    zeros, for all codes."""
    begin = count
    for k in range(size):
        code = int(codes[members[first + k]])
        if code:
            if place[code] == 0:
                for w in range(line + count * words, line + (count + 1) * words):
                    lines[w] = _NONE
                choices[count, 0] = code
                count += 1
                place[code] = count
            lines[line + (place[code] - 1) * words + (k >> 6)] |= _ONE << np.uint64(k & 63)
    for k in range(begin, count):
        place[choices[k, 0]] = 0
    return count


@helper
def _keep_choice(at, count, line, words, size, active, column, attribute, like, danger, lines, choices, likes):
    """Move a line to those of the choices, if an active row has it and not every row, and it can be known. Returns how
    many there are."""
    source, target, some, having = line + at * words, line + count * words, _NONE, 0
    for w in range(words):
        having += int(bit_count(lines[source + w]))
        if 64 * w < active:
            some |= lines[source + w] << np.uint64(64 - min(64, active - 64 * w))
    if some == 0 or having == size or like[attribute] == 0.0:
        return count
    for w in range(words):
        lines[target + w] = lines[source + w]
    choices[count, 0], choices[count, 1], likes[count] = column, danger[attribute], like[attribute]
    return count + 1


@helper
def _link_choices(first, end, choices, likes, after, least_after):
    """Where the choices of the next column begin; from each choice on, the largest likelihood and least danger."""
    after[end], least_after[end] = 0.0, 1 << 62
    following = end
    for k in range(end - 1, first - 1, -1):
        if k + 1 < end and choices[k + 1, 0] != choices[k, 0]:
            following = k + 1
        after[k] = max(after[k + 1], likes[k])
        least_after[k] = min(least_after[k + 1], choices[k, 1])
        choices[k, 2] = following


@helper
def plan_frame(
    state, size, active, attributes, column, total, likelihood, follows, most, exceeded, frames, nodes, weights
):
    """Prepare a frame for the node whose rows, those first that are active, have been written to where its members
    begin. ``state[5]`` says that it is to be drawn."""
    frame = state[3]
    node = frames[frame, 7]
    nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3] = total, active, most, size
    nodes[node, 4], nodes[node, 5], nodes[node, 6] = attributes, follows, column
    weights[node, 0], weights[node, 1] = likelihood, exceeded
    weights[node, 2] = weights[node, 3] = 0.0
    frames[frame, 8] = state[4]
    state[3], state[4], state[5] = frame + 1, node, 1


@helper
def draw_frame(
    state, uses_bits, known, codes, firsts, like, danger, place, square, frames, lines, members, choices, likes, after,
    least_after, nodes,
):  # fmt: skip
    """Draw the lines of the last frame."""
    frame, node = state[3] - 1, state[4]
    active, size, column = nodes[node, 1], nodes[node, 3], nodes[node, 6]
    words, first, choice, line = (size + 63) >> 6, frames[frame, 2], frames[frame, 3], frames[frame, 6]
    columns, count = len(firsts) - 1, np.int64(0)  # typed, or what is called would be compiled twice
    if uses_bits:
        _draw_bits(known, column + 1, columns, members, first, size, line, words, lines, square)
    for c in range(column + 1, columns):
        at, end, attribute = c - column - 1, c - column, firsts[c]
        if not uses_bits:
            at, end = (
                count,
                _draw_codes(codes[c], members, first, size, line, words, lines, place, choices[choice:], count),
            )
        for k in range(at, end):
            if not uses_bits:
                attribute = firsts[c] + choices[choice + k, 0] - 1
            count = _keep_choice(
                k, count, line, words, size, active, c, attribute, like, danger, lines, choices[choice:], likes[choice:]
            )
    _link_choices(choice, choice + count, choices, likes, after, least_after)
    at, levels = line + count * words, columns - column + 1
    for w in range(words):
        some = min(64, active - 64 * w)
        lines[at + w] = ~_NONE >> np.uint64(64 - min(64, size - 64 * w))
        lines[at + words + w] = ~_NONE >> np.uint64(64 - some) if some > 0 else _NONE
    frames[frame, 0], frames[frame, 1], frames[frame, 4], frames[frame, 5] = size, words, choice + count, line
    nodes[node, 1], nodes[node, 6] = choice, at
    if frame + 1 < len(frames):
        frames[frame + 1, 2], frames[frame + 1, 3] = first + size, choice + count + 1
        frames[frame + 1, 6], frames[frame + 1, 7] = at + 2 * words * levels, node + levels
    state[5] = 0


# ---- searching -------------------------------------------------------------------------------------------------------


@helper
def _is_worth(known_danger, likelihood, node, floor, unit, offset, nodes, weights):
    """Whether any active row of a node could rise by a set of this danger and likelihood."""
    danger = nodes[node, 2] - known_danger
    if can_exceed(danger, likelihood, weights[node, 1], unit, offset):
        return True
    if weights[node, 1] <= floor and can_exceed(danger, likelihood, weights[node, 3], unit, offset):
        weights[node, 3] = likelihood * (danger * unit / (offset + danger * unit))
    return False


@helper
def _note_cut(lines, at, words, members, first, noted, best, cut, floor):
    """Remember what the floor ruled out for the active rows of a node."""
    for w in range(words):
        left = lines[at + w]
        while left:
            row = members[first + 64 * w + lowest_bit(left)]
            left &= left - _ONE
            if best[row] < floor:
                cut[row] = max(cut[row], noted)


@helper
def _some_can_rise(
    lines, one, other, words, members, first, likelihood, total, ceiling, best, cut, floor, goal, unit, offset
):
    """Whether a set of this likelihood and danger could raise anybody whose bits are set in two lines."""
    for w in range(words):
        left = lines[one + w] & lines[other + w]
        while left:
            row = members[first + 64 * w + lowest_bit(left)]
            left &= left - _ONE
            if row_can_rise(row, ceiling[row] - total, likelihood, best, cut, floor, goal, unit, offset):
                return True
    return False


@helper
def _raise_line(lines, one, other, words, members, first, weight, best):
    """Raise the best of those whose bits are set in two lines."""
    for w in range(words):
        left = lines[one + w] & lines[other + w]
        while left:
            row = members[first + 64 * w + lowest_bit(left)]
            left &= left - _ONE
            best[row] = max(best[row], weight)


@helper
def _keep_line(
    lines, at, words, members, first, node, reach, total, ceiling, best, cut, floor, goal, unit, offset, nodes, weights
):
    """Keep the bits of those that a set of likelihood ``reach`` could still raise, and count them. The node remembers
    the largest ceiling of any of them, and the least of their best."""
    kept, most, least = 0, np.int64(0), goal
    for w in range(words):
        left = lines[at + w]
        while left:
            bit = lowest_bit(left)
            row = members[first + 64 * w + bit]
            left &= left - _ONE
            if row_can_rise(row, ceiling[row] - total, reach, best, cut, floor, goal, unit, offset):
                kept += 1
                most, least = max(most, ceiling[row]), min(least, best[row])
            else:
                lines[at + w] ^= _ONE << np.uint64(bit)
    nodes[node, 2], weights[node, 3] = most, 0.0
    weights[node, 1], weights[node, 2] = max(least, floor), least
    return kept


@helper
def _list_members(lines, at, words, members, first, begin):
    """Write the members in a line of rows from a place on: first those who are active, then the others."""
    for part in range(2):
        for w in range(words):
            left = lines[at + words + w] if part == 0 else lines[at + w] & ~lines[at + words + w]
            while left:
                members[begin] = members[first + 64 * w + lowest_bit(left)]
                begin += 1
                left &= left - _ONE


@helper
def _leave_node(state, frame, node, frames):
    """Go back to the node above, or that from which the frame was opened."""
    state[4] = node - 1
    if node == frames[frame, 7]:
        state[3] = frame
        state[4] = frames[frame, 8]


@helper
def search_frames(
    state, visited, work, work_limit, node_limit, has_gaps, uses_bits, firsts, sharing, joining, lanes, lane_firsts,
    lane_danger, ceiling, best, cut, shared, joined, frames, lines, members, choices, likes, after, least_after, nodes,
    weights, unit, offset, largest, goal, floor,
):  # fmt: skip
    """Search below the frames until a limit is reached or one more is to be drawn. Returns the number of nodes and the
    work."""
    while state[3] > 0 and work < work_limit and visited < node_limit:
        frame, node = state[3] - 1, state[4]
        words, first, at = frames[frame, 1], frames[frame, 2], nodes[node, 6]
        k, likelihood, total = nodes[node, 1], weights[node, 0], nodes[node, 0]
        work += 4
        if not _is_worth(total + least_after[k], likelihood * after[k], node, floor, unit, offset, nodes, weights):
            if weights[node, 3] > 0.0:
                _note_cut(lines, at + words, words, members, first, weights[node, 3], best, cut, floor)
                work += words
            _leave_node(state, frame, node, frames)
            continue
        nodes[node, 1] = k + 1
        likelihood, total = likelihood * likes[k], total + choices[k, 1]
        choice = frames[frame, 5] + (k - frames[frame, 3]) * words
        if not _is_worth(total, likelihood, node, floor, unit, offset, nodes, weights):
            continue
        work += words >> 4
        if not _some_can_rise(
            lines, at + words, choice, words, members, first, likelihood, total, ceiling, best, cut, floor, goal, unit,
            offset,
        ):  # fmt: skip
            continue
        visited += 1
        work += 16
        follows = line_danger(
            lines, at, choice, words, members, first, nodes[node, 5] + choices[k, 1], has_gaps, uses_bits, shared,
            joined, sharing, joining, lanes, lane_firsts, lane_danger,
        )  # fmt: skip
        learned = (follows - total) * unit
        weight = likelihood * (learned / (offset + learned))
        if weight > weights[node, 2]:
            _raise_line(lines, at + words, choice, words, members, first, weight, best)
            work += nodes[node, 3] >> 4
        following, attributes = choices[k, 2], nodes[node, 4] + 1
        if following == frames[frame, 4] or attributes >= largest:
            continue
        reach, least = likelihood * after[following], total + least_after[following]
        if not _is_worth(least, reach, node, floor, unit, offset, nodes, weights):
            continue
        below, size = at + 2 * words, np.int64(0)
        for w in range(words):
            lines[below + w] = lines[at + w] & lines[choice + w]
            lines[below + words + w] = lines[at + words + w] & lines[choice + w]
            size += np.int64(bit_count(lines[below + w]))
        work += words >> 1
        if size == 1 or size == nodes[node, 3]:  # nothing more follows; or all rows have it, and it tells nothing new
            continue
        kept = _keep_line(
            lines, below + words, words, members, first, node + 1, reach, least, ceiling, best, cut, floor, goal,
            unit, offset, nodes, weights,
        )  # fmt: skip
        work += size >> 1
        if kept == 0:
            continue
        is_small = words > _SHORT and size * _SHRINK <= frames[frame, 0] and attributes + 1 < largest
        if is_small and has_room(
            frame + 1, size, choices[k, 0], firsts, uses_bits, frames, lines, members, likes, nodes
        ):
            _list_members(lines, below, words, members, first, frames[frame + 1, 2])
            plan_frame(
                state, size, kept, attributes, choices[k, 0], total, likelihood, follows, nodes[node + 1, 2],
                weights[node + 1, 1], frames, nodes, weights,
            )  # fmt: skip
            return visited, work + size * (len(firsts) - 1 - choices[k, 0])
        nodes[node + 1, 0], nodes[node + 1, 1], nodes[node + 1, 3] = total, following, size
        nodes[node + 1, 4], nodes[node + 1, 5], nodes[node + 1, 6] = attributes, follows, below
        weights[node + 1, 0] = likelihood
        state[4] = node + 1
    return visited, work
