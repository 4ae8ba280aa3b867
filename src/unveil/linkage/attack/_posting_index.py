"""Compiled: who has which value.

Records are numbered by rising support, their *place*: the first of some candidates has the least support, and all of
the same support come together. A *thing known* is an attribute and a run of codes, ``low … high``; attribute −1 is a
thing that says nothing. What kernels take as :class:`PostingIndex` is the same for all things.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import BitWords, Int32s, Ints
from unveil.compilation import helper, kernel

__all__ = ["PostingIndex", "fill_planes", "search_codes", "search_holders"]


class PostingIndex(NamedTuple):
    """Records by place, and who has which value.

    Those of place p have ``attribute`` (rising) and ``value`` at ``indptr[p] … indptr[p + 1]``. ``last[p]`` is where
    those end that have as many. Attribute i is had by ``holder[starts[i] : starts[i + 1]]``, in the order of their
    ``code``, then place.

    Row ``plane[i] + v`` of ``planes`` has a bit for every place whose code of attribute i is below v, and ``before``
    says where the others begin among the holders. That is so for attributes with few values for so many holders. Others
    have two rows, for nobody and for all holders, and −2 − p for ``plane[i]`` where p is the first of them; or none,
    and −1.
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
    """Fill the planes of the attributes from ``first`` to ``last`` that have some, and how many places they contain.
    An attribute has so many ``rows``, and codes count if it is ``fine``."""
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
    """Where among the holders of each attribute those begin whose code is not below another: all at once."""
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
    """The first place from ``first`` to ``last`` of rising codes that has at least ``code``."""
    while first < last:
        middle = (first + last) >> 1
        if codes[middle] < code:
            first = middle + 1
        else:
            last = middle
    return first
