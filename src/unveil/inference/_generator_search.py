"""The compiled inner loops of ``generator_search``.

A *column* is a group of attributes of which a row has at most one: a single attribute, or the values of a column of a
table. Code 0 in a column means none, code v the attribute ``firsts[c] + v − 1``. A *node* is a set K and the rows that
have it, those first that may still improve (``active``). Its children by one column are stored one after the other in
``lists``: code, number of rows, number of active ones, rows. Everything is kept in arrays, so that a search can be
interrupted after any node and resumed. Below a node whose lines
of bits find room, ``_row_frames`` goes on.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil._bits import lowest_bit
from unveil.compilation import helper, kernel
from unveil.inference._closures import closure_danger
from unveil.inference._row_frames import can_exceed, draw_frame, has_room, plan_frame, row_can_rise, search_frames

__all__ = ["follow_likeliest", "search_sets"]

_MANY = 256  # among so many active rows, one may always improve


@helper
def _keep_active(rows, first, active, reach, total, ceiling, best, cut, floor, goal, unit, offset):
    """Move the rows to the front that a set of likelihood ``reach`` could still raise. Returns how many, the largest
    danger that could follow about any of them, and the least of their best."""
    kept, most, least = first, np.int64(0), goal
    for k in range(first, first + active):
        row = rows[k]
        if row_can_rise(row, ceiling[row] - total, reach, best, cut, floor, goal, unit, offset):
            rows[k] = rows[kept]
            rows[kept] = row
            kept += 1
            most, least = max(most, ceiling[row]), min(least, best[row])
    return kept - first, most, max(least, floor)


@helper
def _divide_by_bit(
    rows, begin, active, size, known, word, shift, attribute, below,
    likelihood, total, like, danger, ceiling, best, cut, floor, goal, unit, offset,
):  # fmt: skip
    """Write the rows that have an attribute to ``below`` as one child, unless nobody gains. Returns its length."""
    filled, worth = 3, active > _MANY
    for k in range(begin, begin + active):
        row = rows[k]
        if (known[row, word] >> shift) & np.uint64(1):
            below[filled] = row
            filled += 1
            worth = worth or row_can_rise(
                row, ceiling[row] - total - danger[attribute], likelihood * like[attribute], best, cut, floor, goal,
                unit, offset,
            )  # fmt: skip
    if not worth:
        return 0
    below[0], below[2] = 1, filled - 3
    for k in range(begin + active, begin + size):
        below[filled] = rows[k]
        filled += int((known[rows[k], word] >> shift) & np.uint64(1))
    below[1] = filled - 3
    return filled


@helper
def _filter_by_code(rows, begin, active, size, codes, code, below, at):
    """Write the rows of one code to ``below`` as a child, from a position on. Returns where it ends."""
    filled = at + 3
    for k in range(begin, begin + active):
        below[filled] = rows[k]
        filled += codes[rows[k]] == code
    below[at], below[at + 2] = code, filled - at - 3
    for k in range(begin + active, begin + size):
        below[filled] = rows[k]
        filled += codes[rows[k]] == code
    below[at + 1] = filled - at - 3
    return filled


@helper
def _sort_by_code(rows, begin, active, size, codes, below, tally, needed, place, touched, different):
    """Write the rows of each code that somebody needs to ``below`` as a child, by counting. Returns where they end."""
    filled = 0
    for k in range(different):
        place[touched[k]] = tally[touched[k]]  # the number of active rows, until it is a position
    for k in range(begin + active, begin + size):
        code = codes[rows[k]]
        tally[code] += tally[code] > 0
    for k in range(different):
        code = touched[k]
        if needed[code]:
            below[filled], below[filled + 1], below[filled + 2] = code, tally[code], place[code]
            place[code] = filled + 3
            filled += 3 + tally[code]
    for k in range(begin, begin + size):
        code = codes[rows[k]]
        if tally[code] and needed[code]:
            below[place[code]] = rows[k]
            place[code] += 1
    return filled


@helper
def _divide_by_code(
    rows, begin, active, size, codes, first, values, below, tally, needed, place, touched,
    likelihood, total, like, danger, ceiling, best, cut, floor, goal, unit, offset,
):  # fmt: skip
    """Write the rows of each code to ``below`` as a child, unless nobody gains. Returns the length of all children."""
    different = filled = np.int64(0)
    if active > _MANY and values <= active:  # count first: somebody will gain
        for k in range(begin, begin + active):
            tally[codes[rows[k]]] += 1
        tally[0] = 0
        for code in range(1, values + 1):
            if tally[code] and like[first + code] == 0.0:
                tally[code] = 0
            if tally[code]:
                touched[different] = code
                different += 1
                needed[code] = 1
    else:
        for k in range(begin, begin + active):
            row = rows[k]
            code = int(codes[row])
            if code == 0 or like[first + code] == 0.0:
                continue
            if tally[code] == 0:
                touched[different] = code
                different += 1
                needed[code] = 0
            tally[code] += 1
            needed[code] |= row_can_rise(
                row, ceiling[row] - total - danger[first + code], likelihood * like[first + code], best, cut, floor,
                goal, unit, offset,
            )  # fmt: skip
    if different <= 4:
        for k in range(different):
            if needed[touched[k]]:
                filled = _filter_by_code(rows, begin, active, size, codes, touched[k], below, filled)
    else:
        filled = _sort_by_code(rows, begin, active, size, codes, below, tally, needed, place, touched, different)
    for k in range(different):
        tally[touched[k]] = 0
    return filled


@helper
def _find_open(rows, begin, active, size, known, found):
    """Mark the attributes that an active row has and not all rows."""
    for w in range(known.shape[1]):
        some, every = np.uint64(0), ~np.uint64(0)
        for k in range(begin, begin + active):
            some |= known[rows[k], w]
            every &= known[rows[k], w]
        for k in range(begin + active, begin + size):
            every &= known[rows[k], w]
        found[w] = some & ~every


@helper
def _next_open(marks, column, columns):
    """The first marked attribute from one on; ``columns`` if there is none."""
    if column >= columns:
        return columns
    w = column >> 6
    left = (marks[w] >> np.uint64(column & 63)) << np.uint64(column & 63)
    while left == 0 and w + 1 < len(marks):
        w += 1
        left = marks[w]
    return 64 * w + lowest_bit(left) if left else columns


@kernel
def search_sets(
    state, stack, likelihoods, lists, has_gaps, uses_bits, known, codes, places, firsts, like, danger,
    like_after, least_after, sharing, joining, lanes, lane_firsts, lane_danger, own, ceiling, best, cut,
    tally, needed, place, touched, open_columns, shared, joined, square, frames, lines, members, choices, likes, after,
    danger_after, frame_nodes, frame_weights, unit, offset, largest, goal, floor, work_limit, node_limit,
):  # fmt: skip
    """Go on with a search until it ends (returns 0), or the work or the number of nodes reaches its limit (returns 1).

    ``state``: level, nodes, work; the number of frames, the node of the last one, and if it is to be drawn. ``stack``,
    per level: first row of the node in the level above, its rows, its active rows, its danger, the present column, the
    next child, the end of the children, and the largest ceiling; ``likelihoods``: that of the node, and what a set must
    exceed. Level 0 is above the root, and holds the roots as its children. ``own`` is the danger of all that a row has,
    ``ceiling`` the most that could follow about it. Sets of at most ``largest`` attributes are weighed, as long as they
    could weigh more than the ``floor``; ``cut`` is the most that the others could weigh for each row.
    """
    level, nodes, work = state[0], state[1], state[2]
    columns = len(places)
    while level >= 0:
        if state[5]:
            draw_frame(
                state, uses_bits, known, codes, firsts, like, danger, tally, square, frames, lines, members, choices,
                likes, after, danger_after, frame_nodes,
            )  # fmt: skip
        if state[3]:
            nodes, work = search_frames(
                state, nodes, work, work_limit, node_limit, has_gaps, uses_bits, firsts, sharing, joining, lanes,
                lane_firsts, lane_danger, ceiling, best, cut, shared, joined, frames, lines, members, choices, likes,
                after, danger_after, frame_nodes, frame_weights, unit, offset, largest, goal, floor,
            )  # fmt: skip
        if work >= work_limit or nodes >= node_limit:
            state[0], state[1], state[2] = level, nodes, work
            return 1
        if state[5]:
            continue
        below = lists[level]
        column = stack[level, 4]
        likelihood, total = likelihoods[level, 0], stack[level, 3]
        if stack[level, 5] == stack[level, 6]:  # all children by the present column are done
            column = _next_open(open_columns[level], column + 1, columns) if uses_bits else column + 1
            if level == 0 or column >= columns:
                level -= 1
                continue
            rows, begin, size, active = lists[level - 1], stack[level, 0], stack[level, 1], stack[level, 2]
            reach, least = likelihood * like_after[column], total + least_after[column]
            if not can_exceed(stack[level, 7] - least, reach, likelihoods[level, 1], unit, offset):
                _keep_active(rows, begin, active, reach, least, ceiling, best, cut, floor, goal, unit, offset)
                level -= 1
                continue
            if uses_bits:
                word, shift = places[column, 0], np.uint64(places[column, 1])
                filled_to = _divide_by_bit(
                    rows, begin, active, size, known, word, shift, firsts[column], below,
                    likelihood, total, like, danger, ceiling, best, cut, floor, goal, unit, offset,
                )  # fmt: skip
            else:
                filled_to = _divide_by_code(
                    rows, begin, active, size, codes[column], firsts[column] - 1,
                    firsts[column + 1] - firsts[column], below,
                    tally, needed, place, touched,
                    likelihood, total, like, danger, ceiling, best, cut, floor, goal, unit, offset,
                )  # fmt: skip
            stack[level, 4], stack[level, 5], stack[level, 6] = column, 0, filled_to
            work += size
            continue
        at = stack[level, 5]  # enter the next child
        code, size, active, begin = below[at], np.int64(below[at + 1]), np.int64(below[at + 2]), at + 3
        stack[level, 5] = begin + size
        if level > 0 and size == stack[level, 1]:  # all rows of the node have this attribute: it tells nothing new
            continue
        if column >= 0:
            attribute = firsts[column] + code - 1
            likelihood *= like[attribute]
            total += danger[attribute]
        nodes += 1
        work += 2 * size
        follows = own[below[begin]]  # all of it, if it is the only row
        if size > 1:
            follows = closure_danger(
                below, begin, begin + size, total, has_gaps, uses_bits, shared, joined, sharing, joining,
                lanes, lane_firsts, lane_danger,
            )  # fmt: skip
        learned = (follows - total) * unit
        weight = likelihood * (learned / (offset + learned))
        if weight > 0:
            for k in range(begin, begin + active):
                if best[below[k]] < weight:
                    best[below[k]] = weight
        if level >= largest or size == 1 or column + 1 == columns:
            continue
        reach, least = likelihood * like_after[column + 1], total + least_after[column + 1]
        active, most, exceeded = _keep_active(
            below, begin, active, reach, least, ceiling, best, cut, floor, goal, unit, offset
        )
        if active == 0:
            continue
        if has_room(np.int64(0), size, column, firsts, uses_bits, frames, lines, members, likes, frame_nodes):
            for k in range(size):
                members[k] = below[begin + k]
            plan_frame(
                state, size, active, level, column, total, likelihood, follows, most, exceeded, frames, frame_nodes,
                frame_weights,
            )  # fmt: skip
            work += size * (columns - column)
        else:
            level += 1
            likelihoods[level, 0], likelihoods[level, 1], stack[level, 7] = likelihood, exceeded, most
            stack[level, 0], stack[level, 1], stack[level, 2], stack[level, 3] = begin, size, active, total
            stack[level, 4], stack[level, 5], stack[level, 6] = column, 0, 0
            if uses_bits:
                _find_open(below, begin, active, size, known, open_columns[level])
    state[0], state[1], state[2] = level, nodes, work
    return 0


@kernel
def follow_likeliest(
    row, most, rows, uses_bits, known, places, firsts, like, danger, sharing, joining, lanes, lane_firsts, lane_danger,
    best, shared, joined, unit, offset,
):  # fmt: skip
    """Weigh the sets that begin with the likeliest attributes of a row and add one after the other, up to ``most``, as
    long as that leaves fewer of the ``rows``, which are workspace."""
    left, total, likelihood, size = len(rows), np.int64(0), 1.0, 0
    for k in range(left):
        rows[k] = k
    for c in range(len(places)):
        if left == 1 or size == most or likelihood <= best[row]:
            return
        w, shift, mask = places[c, 0], np.uint64(places[c, 1]), np.uint64(places[c, 2])
        code = (known[row, w] >> shift) & mask
        attribute = firsts[c] + np.int64(code) - 1
        if code == 0 or like[attribute] == 0.0:
            continue
        kept = 0
        for k in range(left):
            one = rows[k]
            rows[kept] = one
            kept += (known[one, w] >> shift) & mask == code
        if kept == left:
            continue
        left, size = kept, size + 1
        likelihood *= like[attribute]
        total += danger[attribute]
        follows = closure_danger(
            rows, 0, left, total, True, uses_bits, shared, joined, sharing, joining, lanes, lane_firsts, lane_danger
        )
        learned = (follows - total) * unit
        weight = likelihood * (learned / (offset + learned))
        if best[row] < weight:
            best[row] = weight
