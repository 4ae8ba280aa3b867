"""Rows that look the same: columns of codes packed into one integer key per row.

A column of codes with m values is a digit of base m + 1 (−1, missing, counts as a value of its own), and several
columns are a number in mixed radix. Where the product of the bases would overflow, the key so far is replaced by its
rank. Rows look the same if and only if their keys are equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.arrays import Int32s, Ints

__all__ = ["Ints", "class_ids", "group_people", "pack_columns"]


_KEY_LIMIT = 1 << 62


def pack_columns(columns: Sequence[Int32s], rows: int, room: int = 1) -> tuple[Ints, int]:
    """One key per row, equal where all columns are equal, and an upper bound that every key is below.

    The bound times ``room`` fits in 64 bits. Without columns all rows look the same.

    >>> pack_columns([np.array([0, 1, 0, -1]), np.array([5, 5, 5, 5])], 4)[0].tolist()
    [13, 20, 13, 6]
    """
    key, bound = np.zeros(rows, np.int64), 1
    for codes in columns:
        base = int(codes.max(initial=-1)) + 2
        if bound * base * room > _KEY_LIMIT:
            values, key = np.unique(key, return_inverse=True)
            bound = len(values)
        key *= base
        key += codes
        key += 1
        bound *= base
    if bound * room > _KEY_LIMIT:
        values, key = np.unique(key, return_inverse=True)
        bound = len(values)
    return key, bound


def class_ids(columns: Sequence[Int32s], rows: int) -> tuple[Ints, int]:
    """The class of every row, numbered from 0 in the order of the codes, and the number of classes."""
    values, ids = np.unique(pack_columns(columns, rows)[0], return_inverse=True)
    return ids, len(values)


def group_people(ids: Ints, person: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """The class of every person and the person of every row, where several rows may belong to one person.

    Two people are in the same class if their rows show the same set of classes. A row without a person is a person of
    its own.
    """
    nobody = person < 0
    who = person.astype(np.int64)
    who[nobody] = int(person.max(initial=-1)) + 1 + np.arange(int(nobody.sum()))
    _, who = np.unique(who, return_inverse=True)
    count = int(who.max(initial=-1)) + 1
    size = int(ids.max(initial=-1)) + 1
    shown = np.unique(who * size + ids)
    owner, seen = shown // size, shown % size
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    found, fresh = np.zeros(count, np.int64), 1
    ends = np.cumsum(np.bincount(place, minlength=1))
    for part in np.split(np.argsort(place, kind="stable"), ends[:-1]):  # compare sorted lists, element by element
        kinds, rank = np.unique(found[owner[part]] * size + seen[part], return_inverse=True)
        found[owner[part]] = fresh + rank  # numbers that were not used: shorter lists differ from longer ones
        fresh += len(kinds)
    return np.unique(found, return_inverse=True)[1], who
