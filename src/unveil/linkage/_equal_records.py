"""The compiled inner loops of ``copies``: record r has the entries ``indptr[r] … indptr[r + 1]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.compilation import kernel

__all__ = ["hash_records", "mark_new_records"]

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio: brings what is close together far apart


@kernel
def hash_records(indptr: Any, attribute: Any, value: Any, first: Any, last: Any, numbers: Any) -> None:
    """Fill a number for each record that is the same for equal ones, and hardly ever for others."""
    for r in range(first, last):
        x = _HASH_FACTOR  # not 0, which some first entries would not change
        for e in range(indptr[r], indptr[r + 1]):
            x = (x ^ (np.uint64(attribute[e]) << np.uint64(32) | np.uint64(value[e]))) * _HASH_FACTOR
            x ^= x >> np.uint64(29)
        numbers[r] = x


@kernel
def mark_new_records(indptr: Any, attribute: Any, value: Any, order: Any, first: Any, last: Any, fresh: Any) -> None:
    """Say which records, in this order, differ from the one before."""
    for k in range(max(1, first), last):
        a, b = indptr[order[k - 1]], indptr[order[k]]
        size = indptr[order[k] + 1] - b
        if size != indptr[order[k - 1] + 1] - a:
            continue
        same = True
        for e in range(size):
            if attribute[a + e] != attribute[b + e] or value[a + e] != value[b + e]:
                same = False
                break
        fresh[k] = not same
