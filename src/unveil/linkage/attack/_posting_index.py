"""Compiled: who has which value.

Records are numbered by rising support, their *place*: the first of some candidates has the least support, and all of
the same support come together. A *thing known* is an attribute and a run of codes, ``low … high``; attribute −1 is a
thing that says nothing. What kernels take as :class:`PostingIndex` is the same for all things.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Bools, Ints, Small, Words
from unveil.compilation import helper, kernel

__all__ = ["PostingIndex", "fill_planes", "locate_things", "search_codes"]


class PostingIndex(NamedTuple):
    """Records by place, and who has which value.

    Those of place p have ``attribute`` (rising) and ``value`` at ``indptr[p] … indptr[p + 1]``. ``last[p]`` is where
    those end that have as many. Attribute i is had by ``holder[starts[i] : starts[i + 1]]``, in the order of their
    ``code``, then place.

    Row ``plane[i] + v`` of ``planes`` has a bit for every place whose code of attribute i is below v, and ``before``
    says how many they are. That is so for attributes with few values for so many holders. Others have two rows, for
    nobody and for all holders, which serve runs of all ``codes[i]`` codes; or none, and −1 for ``plane[i]``. The
    attribute is ``fine`` if it has them all.
    """

    indptr: Ints
    attribute: Small
    value: Small
    last: Ints
    starts: Ints
    holder: Small
    code: Small
    codes: Ints
    fine: Bools
    plane: Ints
    before: Ints
    planes: Words


@kernel
def fill_planes(index: Any, first: Any, last: Any) -> None:
    """Fill the planes of the attributes from ``first`` to ``last`` that have some."""
    for i in range(first, last):
        p = index.plane[i]
        if p < 0:
            continue
        for at in range(index.starts[i], index.starts[i + 1]):
            row, y = p + 1 + (index.code[at] if index.fine[i] else 0), index.holder[at]
            index.planes[row, y >> 6] |= np.uint64(1) << np.uint64(y & 63)
            index.before[row] += 1
        for row in range(p, p + (index.codes[i] if index.fine[i] else 1)):
            index.before[row + 1] += index.before[row]
            for w in range(index.planes.shape[1]):
                index.planes[row + 1, w] |= index.planes[row, w]


@helper
def search_codes(codes: Any, first: Any, last: Any, code: Any) -> Any:
    """The first place from ``first`` to ``last`` of rising codes that has at least ``code``."""
    while first < last:
        middle = (first + last) >> 1
        if codes[middle] < code:
            first = middle + 1
        else:
            last = middle
    return first


@helper
def locate_things(
    starts: Any, code: Any, codes: Any, fine: Any, plane: Any, before: Any, attribute: Any, low: Any, high: Any,
    t: Any, first: Any, last: Any, begin: Any, end: Any, under: Any, upto: Any,
) -> None:  # fmt: skip
    """Fill, for some things known, where the list of their holders begins and ends, and the rows of planes between
    which they are; −1 if there are none."""
    for k in range(first, last):
        i = attribute[t, k]
        begin[k], end[k], under[k], upto[k] = 0, 0, -1, -1
        if i < 0:
            continue
        if fine[i]:
            under[k], upto[k] = plane[i] + low[t, k], plane[i] + high[t, k] + 1
        elif plane[i] >= 0 and low[t, k] <= 0 and high[t, k] >= codes[i] - 1:
            under[k], upto[k] = plane[i], plane[i] + 1
        if under[k] >= 0:
            begin[k], end[k] = starts[i] + before[under[k]], starts[i] + before[upto[k]]
        else:
            begin[k] = search_codes(code, starts[i], starts[i + 1], low[t, k])
            end[k] = search_codes(code, begin[k], starts[i + 1], high[t, k] + 1)
