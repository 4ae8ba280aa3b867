"""Rows that look the same: columns of codes packed into one whole number per row.

A column of codes (−1 is missing, a value of its own here) with m values is a digit of base m + 1; several columns are
a number in mixed radix. Where the product of the bases would not fit, the number so far is replaced by its rank. Rows
look the same if and only if their numbers are equal; sorting the numbers brings classes together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["Ints", "class_ids", "packed", "people"]

Ints = npt.NDArray[np.int64]

_MOST = 1 << 62


def packed(columns: Sequence[npt.NDArray[np.int32]], rows: int, room: int = 1) -> tuple[Ints, int]:
    """One number per row, equal where all columns are, and a bound that all numbers are below; times ``room``, it still
    fits in 64 bits. Without columns all rows look the same.

    >>> packed([np.array([0, 1, 0, -1]), np.array([5, 5, 5, 5])], 4)[0].tolist()
    [13, 20, 13, 6]
    """
    key, bound = np.zeros(rows, np.int64), 1
    for codes in columns:
        base = int(codes.max(initial=-1)) + 2
        if bound * base * room > _MOST:
            values, key = np.unique(key, return_inverse=True)
            bound = len(values)
        key *= base
        key += codes
        key += 1
        bound *= base
    if bound * room > _MOST:
        values, key = np.unique(key, return_inverse=True)
        bound = len(values)
    return key, bound


def class_ids(columns: Sequence[npt.NDArray[np.int32]], rows: int) -> tuple[Ints, int]:
    """Classes numbered from 0 in the order of their codes: that of every row, and how many there are."""
    values, ids = np.unique(packed(columns, rows)[0], return_inverse=True)
    return ids, len(values)


def people(ids: Ints, person: npt.NDArray[np.int32]) -> tuple[Ints, Ints]:
    """Where several rows are one person: the class of every person, and the person of every row. Two people are in the
    same class when their rows show the same set of classes. A missing person is one row's alone."""
    nobody = person < 0
    who = person.astype(np.int64)
    who[nobody] = int(person.max(initial=-1)) + 1 + np.arange(int(nobody.sum()))
    _, who = np.unique(who, return_inverse=True)
    count = int(who.max(initial=-1)) + 1
    size = int(ids.max(initial=-1)) + 1
    shown = np.unique(who * size + ids)
    owner, seen = shown // size, shown % size
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    found = np.zeros(count, np.int64)
    for k in range(int(place.max(initial=-1)) + 1):  # sets are sorted lists; they are told apart element by element
        at = place == k
        next_one = np.zeros(count, np.int64)
        next_one[owner[at]] = seen[at] + 1
        _, found = np.unique(found * (size + 1) + next_one, return_inverse=True)
    return found, who
