"""The compiled inner loop of ``sampling``."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.compiled import kernel

__all__ = ["beginnings"]


@kernel
def beginnings(indptr: Any, items: Any, order: Any, sizes: Any, labels: Any) -> Any:
    """How often each item occurs in the first baskets of an order, for several rising numbers of them."""
    counts = np.zeros((len(sizes), labels), np.int64)
    begin = 0
    for m in range(len(sizes)):
        if m > 0:
            counts[m] = counts[m - 1]
        for k in range(begin, sizes[m]):
            basket = order[k]
            for at in range(indptr[basket], indptr[basket + 1]):
                counts[m, items[at]] += 1
        begin = sizes[m]
    return counts
