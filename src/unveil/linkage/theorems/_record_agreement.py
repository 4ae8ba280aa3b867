"""Compiled: on how many things a record agrees with all others."""

from __future__ import annotations

from typing import Any

from unveil.compilation import kernel
from unveil.linkage.attack._posting_index import search_codes

__all__ = ["count_agreements"]


@kernel
def count_agreements(
    indptr: Any, attribute: Any, value: Any, begin: Any, low: Any, high: Any, starts: Any, holder: Any, code: Any,
    support: Any, row: Any, count: Any, found: Any,
) -> None:  # fmt: skip
    """Fill ``found[k, g]``, for one record: how many others agree with it on g things and have fewer things (k = 0),
    as many (1) or more (2). ``count`` is 0 for every record, before and after."""
    n, own = len(indptr) - 1, indptr[row + 1] - indptr[row]
    for g in range(own + 1):
        found[0, g] = found[1, g] = found[2, g] = 0
    for e in range(indptr[row], indptr[row + 1]):
        i = attribute[e]
        first, last = low[begin[i] + value[e]], high[begin[i] + value[e]]
        for place in range(search_codes(code, starts[i], starts[i + 1], first), starts[i + 1]):
            if code[place] > last:
                break
            count[holder[place]] += 1
    for y in range(n):
        if y != row:
            found[0 if support[y] < own else 1 if support[y] == own else 2, count[y]] += 1
        count[y] = 0
