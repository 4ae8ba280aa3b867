"""Who may be the same, the slow, obvious way: every row compared with every other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.arrays import Int32s, Ints

__all__ = ["match_counts", "may_match", "possible_matches"]

Row = Sequence[int]


def may_match(one: Row, other: Row) -> bool:
    """Whether in every column two rows agree or one of the two is missing (−1)."""
    return all(a == b or a < 0 or b < 0 for a, b in zip(one, other, strict=True))


def possible_matches(rows: Sequence[Row]) -> list[list[int]]:
    """Of every row, all that may be the same, itself included."""
    return [[k for k, other in enumerate(rows) if may_match(row, other)] for row in rows]


def match_counts(columns: Sequence[Int32s], counts: Ints) -> Ints:
    """How many people may be the same as each row: all rows at once compared with one after the other, by numpy."""
    found = np.empty(len(counts), np.int64)
    for row in range(len(counts)):
        same = np.ones(len(counts), np.bool_)
        for codes in columns:
            if codes[row] >= 0:
                same &= (codes == codes[row]) | (codes < 0)
        found[row] = counts[same].sum()
    return found
