"""Cell suppression by trying everything: every row with every set of its cells hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

__all__ = ["fewest_hidden_cells"]


def fewest_hidden_cells(rows: Sequence[tuple[str | None, ...]], k: int) -> int | None:
    """The fewest cells that must become missing so that every row equals k rows, itself included; None if hiding all is
    not enough. A cell that is missing already costs nothing."""
    choices = [list(product(*({None, value} for value in row))) for row in rows]
    best = None
    for shown in product(*choices):
        if min(Counter(shown).values()) >= k:
            cells = sum(
                a is not None and b is None
                for row, new in zip(rows, shown, strict=True)
                for a, b in zip(row, new, strict=True)
            )
            best = cells if best is None else min(best, cells)
    return best
