"""What an attacker believes about the frequencies: an interval for every item.

Frequencies are counted in baskets. An item's interval is *compliant* if it contains the item's true count; a belief
function is compliant if all its intervals are, and α-compliant if a share α of them is (Lakshmanan, Ng and Ramesh 2008,
section 2.2). A released pseudonym may be any item whose interval contains the pseudonym's count: that is the
consistency graph, whose perfect matchings are the attacker's consistent mappings.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.items.frequency_groups import FrequencyGroups
from unveil.matching.candidates import Candidates

__all__ = ["Beliefs"]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """An interval ``low … high`` for every item of a release whose items occur in ``counts`` baskets."""

    low: Floats
    high: Floats
    counts: Floats

    @classmethod
    def from_intervals(cls, low: npt.ArrayLike, high: npt.ArrayLike, counts: npt.ArrayLike) -> Beliefs:
        """Beliefs from the ends of the intervals."""
        ends = [np.asarray(x, np.float64) for x in (low, high, counts)]
        if len({x.shape for x in ends}) > 1 or ends[0].ndim != 1:
            raise UnveilError("give one lower end, one upper end and one count per item")
        if any(np.isnan(x).any() for x in ends) or (ends[0] > ends[1]).any():
            raise UnveilError("an interval is empty or not a number; its lower end must not exceed its upper end")
        return cls(*ends)

    @classmethod
    def from_exact_counts(cls, counts: npt.ArrayLike) -> Beliefs:
        """An attacker who knows every count exactly."""
        return cls.from_half_width(counts, 0.0)

    @classmethod
    def from_half_width(cls, counts: npt.ArrayLike, width: npt.ArrayLike) -> Beliefs:
        """An attacker who knows every count to ± ``width``: one number, or one per item."""
        counts, width = np.asarray(counts, np.float64), np.asarray(width, np.float64)
        if (width < 0).any() or not np.isfinite(width).all():
            raise UnveilError("the width of an interval must be a finite number of 0 or more")
        return cls.from_intervals(counts - width, counts + width, counts)

    @classmethod
    def from_sample(cls, found: npt.ArrayLike, scale: float, counts: npt.ArrayLike) -> Beliefs:
        """An attacker with similar data, ``scale`` times smaller, in which the items occur ``found`` times. They
        believe these counts, scaled up, plus or minus the median gap between their frequency groups (section 6.2.3)."""
        found = np.asarray(found, np.float64)
        gap = FrequencyGroups.from_counts(found).median_gap
        return cls.from_intervals((found - gap) * scale, (found + gap) * scale, counts)

    def select(self, items: Ints) -> Beliefs:
        """The beliefs about some items, as if the others were not released."""
        return Beliefs(self.low[items], self.high[items], self.counts[items])

    def cover_true_counts(self) -> Beliefs:
        """The beliefs with every wrong interval stretched to the true count. Some mapping is then consistent, whichever
        items are left out."""
        return Beliefs(np.minimum(self.low, self.counts), np.maximum(self.high, self.counts), self.counts)

    def widen_intervals(self, by: npt.ArrayLike) -> Beliefs:
        """The beliefs with every interval longer at both ends, by one number or one per item."""
        by = np.asarray(by, np.float64)
        return Beliefs(self.low - by, self.high + by, self.counts)

    def forget_items(self, items: Bools) -> Beliefs:
        """The beliefs of an attacker who knows nothing about these items."""
        return Beliefs(np.where(items, -np.inf, self.low), np.where(items, np.inf, self.high), self.counts)

    @property
    def unmatched_count(self) -> int:
        """The least number of items left without a fitting pseudonym; 0 if some mapping is consistent."""
        return len(self._unmatched_items())

    def _unmatched_items(self) -> list[int]:
        """A smallest set of items left without a pseudonym. Pseudonyms in rising order each take the item whose
        interval ends first among those whose interval has begun (Glover 1967)."""
        low, high = self._widened_ends
        waiting = np.argsort(low, kind="stable").tolist()
        begun: list[tuple[float, int]] = []
        left, at = [], 0
        for count in np.sort(self.counts).tolist():
            while at < self.n and low[waiting[at]] <= count:
                heapq.heappush(begun, (high[waiting[at]], waiting[at]))
                at += 1
            while begun and begun[0][0] < count:
                left.append(heapq.heappop(begun)[1])
            if begun:
                heapq.heappop(begun)
        return sorted([*left, *(item for _, item in begun), *waiting[at:]])

    def forget_unmatched_items(self) -> Beliefs:
        """The beliefs with as few items as possible made unknown, so that some mapping is consistent."""
        left = self._unmatched_items()
        return self.forget_items(np.isin(np.arange(self.n), left)) if left else self

    @property
    def n(self) -> int:
        """The number of items."""
        return len(self.counts)

    @cached_property
    def compliant(self) -> Bools:
        """Which intervals contain the true count, up to rounding errors."""
        low, high = self._widened_ends
        inside: Bools = (low <= self.counts) & (self.counts <= high)
        return inside

    @property
    def _widened_ends(self) -> tuple[Floats, Floats]:
        """The ends of the intervals, wider by what rounding may have moved."""
        slack = 1e-9 * np.maximum(1.0, np.abs(self.counts))
        return self.low - slack, self.high + slack

    @property
    def alpha(self) -> float:
        """The share of items whose interval is right."""
        return float(self.compliant.mean()) if self.n else 1.0

    def covered_range(self, values: Floats) -> tuple[Ints, Ints]:
        """The positions of the first and last rising value within each interval; first > last if there is none."""
        low, high = self._widened_ends
        return np.searchsorted(values, low), np.searchsorted(values, high, side="right") - 1

    @cached_property
    def candidates(self) -> Candidates:
        """The consistency graph: an item may have any pseudonym with a count in its interval. Pseudonym i is item i."""
        return Candidates.from_intervals(*self._widened_ends, self.counts)
