"""Which released row is closest to an original one? Distance-based record linkage.

Someone holds the original values of a row and takes the released row at the smallest distance, any of them if several
are equally close. The distance is a sum over the columns they know:

- numbers on both sides: |x − y|/σ, where σ is the standard deviation of the released numbers;
- anything else: 0 if the released label may stand for the original value (``30-39`` for 34), 1 if not;
- a value that is missing on either side: the mean distance of all pairs of values, so that a released row with a
  missing value is neither attractive nor ruled out.

It is meant for tables whose values were changed (noise, averages of groups, swaps), which comparing for equality would
call safe. Where values were only made coarser, the closest rows are those that look alike, and the share that is found
is the mean of one over their number.

**How it is computed.** Distances are whole multiples of 2⁻²⁰, so that equally close rows tie exactly. Rows that look
alike are one class. Every original row is compared with every class; a random sample of original rows is, if that
takes too long.

J. Domingo-Ferrer, V. Torra, A quantitative comparison of disclosure control methods for microdata, in: Confidentiality,
Disclosure and Data Access, 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from unveil.arrays import Floats, Int32s, Ints
from unveil.grouping import class_ids
from unveil.run import Run

__all__ = ["ComparedColumn", "ComparedLabels", "ComparedNumbers", "chances_of_own_row", "compare_labels"]

_UNIT = 1 << 20  # distances are multiples of one over this
_CHUNK = 1 << 21  # distances that are held at a time


class ComparedColumn(Protocol):
    """One column of two tables: the code of every original and of every released row, −1 if it has no value."""

    @property
    def known(self) -> Int32s: ...
    @property
    def released(self) -> Int32s: ...
    def distances(self, known: Int32s, released: Int32s) -> Ints:
        """The distance of each of these original values to each of these released ones, in units of 2⁻²⁰."""


@dataclass(frozen=True, eq=False)
class ComparedNumbers:
    """A column of numbers on both sides; ``x`` and ``y`` are the numbers of the codes."""

    known: Int32s
    released: Int32s
    x: Floats
    y: Floats

    def distances(self, known: Int32s, released: Int32s) -> Ints:
        """The difference of the numbers, in standard deviations of the released ones."""
        scale, neutral = self._scale
        x, y = (np.append(side, np.nan)[codes] for side, codes in ((self.x, known), (self.y, released)))
        apart = np.abs(np.subtract.outer(x, y))
        apart[np.isnan(apart)] = neutral
        found: Ints = np.rint(apart * scale).astype(np.int64)
        return found

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """Units per difference of 1, and the mean difference."""
        there = np.sort(self.y[self.released[self.released >= 0]])
        spread = float(there.std()) if len(there) else 0.0
        return _UNIT / spread if spread > 0 else 0.0, _mean_difference(self.x[self.known[self.known >= 0]], there)


def _mean_difference(x: Floats, ordered: Floats) -> float:
    """The mean of |x − y| over all pairs with a y from the ``ordered`` ones."""
    if not len(x) or not len(ordered):
        return 0.0
    sums, below = np.append(0.0, np.cumsum(ordered)), np.searchsorted(ordered, np.sort(x))
    totals = np.sort(x) * (2 * below - len(ordered)) + sums[-1] - 2 * sums[below]
    return float(totals.sum()) / len(x) / len(ordered)


@dataclass(frozen=True, eq=False)
class ComparedLabels:
    """A column of labels; ``fits`` has a 1 where a released label may stand for an original value, and ``neutral`` is
    the distance of a missing one."""

    known: Int32s
    released: Int32s
    fits: csr_array
    neutral: int

    def distances(self, known: Int32s, released: Int32s) -> Ints:
        """0 where the label may stand for the value, 1 where not."""
        apart = np.where(self.fits[np.maximum(known, 0)].toarray()[:, np.maximum(released, 0)], 0, _UNIT)
        apart[known < 0] = self.neutral
        apart[:, released < 0] = self.neutral
        return apart


def compare_labels(
    known: Int32s, released: Int32s, pairs: tuple[npt.ArrayLike, npt.ArrayLike], shape: tuple[int, int]
) -> ComparedLabels:
    """A column of labels: the codes of all rows, the ``pairs`` of an original value and a label that may stand for it,
    and the numbers of values and of labels."""
    left, right = (np.asarray(side, np.int64) for side in pairs)
    fits = csr_array((np.ones(len(left), np.int8), (left, right)), (max(1, shape[0]), max(1, shape[1])))
    counts = [np.bincount(c[c >= 0], minlength=n) for c, n in ((known, fits.shape[0]), (released, fits.shape[1]))]
    of = int(counts[0].sum()) * int(counts[1].sum())
    agreeing = int((counts[0][left] * counts[1][right]).sum())
    return ComparedLabels(known, released, fits, round(_UNIT * (1 - agreeing / of)) if of else 0)


def chances_of_own_row(columns: Sequence[ComparedColumn], truth: Ints, chosen: Ints, run: Run) -> Floats:
    """For each chosen original row, the probability that the closest released row is its own: 1 over the number of rows
    that are equally close if its own is among them, else 0. ``truth[i]`` is the released row that row i became, or −1.
    """
    released = len(columns[0].released)
    ids, count = class_ids([c.released for c in columns], released)
    sizes, first = np.bincount(ids, minlength=count), np.empty(count, np.int64)
    first[ids[::-1]] = np.arange(released)[::-1]
    chances = np.zeros(len(chosen))
    step = max(1, _CHUNK // max(1, count))
    for begin in range(0, len(chosen), step):
        run.check()
        run.progress("looking for the closest rows", begin / len(chosen))
        rows = chosen[begin : begin + step]
        distance = np.zeros((len(rows), count), np.int64)
        for column in columns:
            distance += column.distances(column.known[rows], column.released[first])
        closest = distance == distance.min(axis=1, keepdims=True)
        kept = np.flatnonzero(truth[rows] >= 0)
        own = closest[kept, ids[truth[rows[kept]]]]
        chances[begin + kept] = own / (closest[kept] @ sizes)
    return chances
