"""How close protected numbers stay to the original ones.

A number that was moved, rounded or averaged still tells the original if that lies in a narrow interval around it. The
share of rows for which it does is the interval disclosure of the column; J. M. Mateo-Sanz, F. Sebé and J.
Domingo-Ferrer, Outlier protection in continuous microdata masking, PSD 2004, take intervals of a share of the standard
deviation (as sdcMicro does) or of the ranks. What the same interval would catch by chance is the share of
all pairs of a protected number and the original number of any row that lie so close.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unveil.arrays import Floats

__all__ = ["IntervalDisclosure", "measure_intervals"]


class IntervalDisclosure(NamedTuple):
    """For each width, a share of the standard deviation: the share of rows whose original is so close, and the share
    of all pairs of rows that are. ``by_rank`` is the share of rows whose number moved by no more ranks than the first
    width is of all rows."""

    rows: int
    deviation: float
    widths: tuple[float, ...]
    own: tuple[float, ...]
    any_row: tuple[float, ...]
    by_rank: float


def measure_intervals(original: Floats, protected: Floats, widths: Sequence[float]) -> IntervalDisclosure | None:
    """The interval disclosure of rows that have both numbers; None if all originals are equal.

    >>> measure_intervals(np.array([0.0, 1, 2, 3]), np.array([0.0, 1, 9, 9]), [0.5]).own
    (0.5,)
    """
    deviation = float(original.std()) if len(original) else 0.0
    if not deviation > 0:
        return None
    reach = [width * deviation * (1 + 1e-12) for width in widths]
    ordered, n = np.sort(original), len(original)
    own = tuple(float((np.abs(protected - original) <= far).mean()) for far in reach)
    any_row = tuple(_count_pairs(ordered, protected, far) / (n * n) for far in reach)
    moved = np.abs(_middle_ranks(ordered, protected) - _middle_ranks(ordered, original))
    return IntervalDisclosure(n, deviation, tuple(widths), own, any_row, float((moved <= widths[0] * n).mean()))


def _count_pairs(ordered: Floats, protected: Floats, far: float) -> int:
    high = np.searchsorted(ordered, protected + far, side="right")
    return int((high - np.searchsorted(ordered, protected - far, side="left")).sum())


def _middle_ranks(ordered: Floats, numbers: Floats) -> Floats:
    """Where numbers stand among the ordered ones, in the middle of those they equal."""
    low, high = (np.searchsorted(ordered, numbers, side=side) for side in ("left", "right"))
    ranks: Floats = (low + high) / 2
    return ranks
