"""Compiled: the danger of what some rows have in common, given as a list of rows or as a line of bits."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil._bits import lowest_bit
from unveil.compilation import helper

__all__ = ["closure_danger", "line_danger"]


@helper
def _shared_danger(uses_bits, shared, joined, lanes, lane_firsts, danger):
    """The danger of the bits that all rows share, or of the lanes in which all rows with a code have the same."""
    total = np.int64(0)
    if uses_bits:
        for w in range(len(shared)):
            left = shared[w]
            while left:
                total += danger[64 * w + lowest_bit(left)]
                left &= left - np.uint64(1)
        return total
    for c in range(len(lanes)):
        w, shift, mask = lanes[c, 0], np.uint64(lanes[c, 1]), np.uint64(lanes[c, 2])
        code = (shared[w] >> shift) & mask
        if code and code == (joined[w] >> shift) & mask:
            total += danger[lane_firsts[c] + np.int64(code) - 1]
    return total


@helper
def closure_danger(
    rows, first, last, least, has_gaps, uses_bits, shared, joined, sharing, joining, lanes, lane_firsts, danger
):
    """The danger of the closure. Of many rows, the first ones suffice if they share no more than ``least``, which all
    rows certainly share; but where values are missing, others may confirm what these do not."""
    for w in range(len(shared)):
        shared[w], joined[w] = ~np.uint64(0), np.uint64(0)
    begin, end = first, last if has_gaps else min(first + 16, last)
    while True:
        for k in range(begin, end):
            for w in range(len(shared)):
                shared[w] &= sharing[rows[k], w]
                joined[w] |= joining[rows[k], w]
        total = _shared_danger(uses_bits, shared, joined, lanes, lane_firsts, danger)
        if end == last or total == least:
            return total
        begin, end = end, min(end + 4 * (end - first), last)


@helper
def line_danger(
    lines, one, other, words, members, first, least, has_gaps, uses_bits, shared, joined, sharing, joining, lanes,
    lane_firsts, danger,
):  # fmt: skip
    """The same for the members whose bits are set in two lines."""
    for w in range(len(shared)):
        shared[w], joined[w] = ~np.uint64(0), np.uint64(0)
    k, left, seen, check = 0, lines[one] & lines[other], 0, 4
    while True:
        while k < words and (has_gaps or seen < check):
            if left == 0:
                k += 1
                left = lines[one + k] & lines[other + k] if k < words else np.uint64(0)
                continue
            row = members[first + 64 * k + lowest_bit(left)]
            left &= left - np.uint64(1)
            seen += 1
            for w in range(len(shared)):
                shared[w] &= sharing[row, w]
                joined[w] |= joining[row, w]
        total = _shared_danger(uses_bits, shared, joined, lanes, lane_firsts, danger)
        if k == words or total == least:
            return total
        check *= 4
