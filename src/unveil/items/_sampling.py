"""The compiled inner loop of ``sample_similarity``."""

from __future__ import annotations

from typing import Any

from unveil.compilation import kernel

__all__ = ["count_prefixes"]


@kernel
def count_prefixes(indptr: Any, items: Any, order: Any, sizes: Any, counts: Any) -> None:
    """How often each item occurs in the first baskets of an order, for several rising numbers of them. All ``counts``
    are 0 at first."""
    begin = 0
    for m in range(len(sizes)):
        if m > 0:
            for item in range(counts.shape[1]):
                counts[m, item] = counts[m - 1, item]
        for k in range(begin, sizes[m]):
            basket = order[k]
            for at in range(indptr[basket], indptr[basket + 1]):
                counts[m, items[at]] += 1
        begin = sizes[m]
