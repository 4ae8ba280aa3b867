"""Work in slices.

A compiled loop cannot be interrupted. So it is given no more at a time than takes about a tenth of a second, and the
run is asked in between whether it was cancelled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from unveil.run import Run

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["STEPS", "pieces"]

STEPS = 1 << 22  # entries in a slice


def pieces(begins: npt.NDArray[np.int64] | int, run: Run, steps: int | None = None) -> Iterator[tuple[int, int]]:
    """All of some lists in stretches of about so many ``steps``, where list k has the entries ``begins[k] … begins[k +
    1]``; or, given a number, as many entries.

    >>> list(pieces(np.array([0, 2, 3, 9, 9, 10]), Run(), 3))
    [(0, 2), (2, 3), (3, 5)]
    >>> list(pieces(7, Run(), 3))
    [(0, 3), (3, 6), (6, 7)]
    """
    steps, first = steps or STEPS, 0
    count = begins if isinstance(begins, int) else len(begins) - 1
    while first < count:
        run.check()
        last = min(first + steps, count)
        if not isinstance(begins, int):
            last = max(first + 1, min(last, int(np.searchsorted(begins, begins[first] + steps, "right")) - 1))
        yield first, last
        first = last
