"""Compiled: an inverted index from values to the records that have them.

Records are numbered by ascending support; this number is their *place*. The first place in a set of candidates
therefore has the least support, and places of equal support are adjacent. A *known thing* is an attribute with a range
of codes, ``low … high``; attribute −1 says nothing. A :class:`PostingIndex` depends only on the records, not on what is
known.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import BitWords, Int32s, Ints
from unveil.compilation import helper, kernel

__all__ = ["PostingIndex", "fill_planes", "search_codes", "search_holders"]


class PostingIndex(NamedTuple):
    """Records by place, and the holders of every value.

    The record at place p has the attributes ``attribute[e]``, ascending, with the codes ``value[e]``, for e in
    ``indptr[p] … indptr[p + 1]``. ``last[p]`` is the end of the run of places with equal support. The holders of
    attribute i are ``holder[starts[i] : starts[i + 1]]``, sorted by their ``code``, then by place.

    Planes are sets of places, stored as bits. If attribute i has few values compared with its holders, row
    ``plane[i] + v`` of ``planes`` contains the holders whose code is below v, and ``before`` of that row is the
    position in ``holder`` of the first other holder. Otherwise ``plane[i]`` is −2 − p for an attribute with only two
    rows, p for the empty set and p + 1 for all holders, and −1 for one without rows.
    """

    indptr: Ints
    attribute: Int32s
    value: Int32s
    last: Ints
    starts: Ints
    holder: Int32s
    code: Int32s
    plane: Ints
    before: Ints
    planes: BitWords


@kernel
def fill_planes(
    starts, holder, code, plane, fine, rows, first, last, before,
    planes,
):  # fmt: skip
    """Fill the planes of the attributes from ``first`` to ``last``, and the number of places in each. Attribute i has
    ``rows[i]`` planes; its codes are told apart only if it is ``fine``."""
    for i in range(first, last):
        p = plane[i]
        if p < 0:
            continue
        for at in range(starts[i], starts[i + 1]):
            row, y = p + 1 + code[at] * fine[i], holder[at]
            planes[row, y >> 6] |= np.uint64(1) << np.uint64(y & 63)
            before[row] += 1
        for row in range(p + 1, p + rows[i]):
            before[row] += before[row - 1]
            for w in range(planes.shape[1]):
                planes[row, w] |= planes[row - 1, w]


def search_holders(index: PostingIndex, attribute: Int32s, code: Int32s) -> Ints:
    """For each attribute and code, the position in ``holder`` of the first holder with at least that code; one binary
    search for all of them."""
    plane = index.plane[attribute]
    found = index.starts[attribute]
    if len(index.before):
        found = np.where(plane < 0, found, index.before[np.where(plane < 0, 0, plane + code)])
    rest = np.nonzero(plane < 0)
    first, last, code = found[rest], index.starts[attribute[rest] + 1], code[rest]
    while (first < last).any():
        middle = (first + last) >> 1
        below = (first < last) & (index.code[np.minimum(middle, len(index.code) - 1)] < code)
        first, last = np.where(below, middle + 1, first), np.where(below, last, middle)
    found[rest] = first
    return found


@helper
def search_codes(codes, first, last, code):
    """The first position from ``first`` to ``last`` of the ascending ``codes`` that has at least ``code``."""
    while first < last:
        middle = (first + last) >> 1
        if codes[middle] < code:
            first = middle + 1
        else:
            last = middle
    return first
