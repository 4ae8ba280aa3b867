"""What an attacker believes about the frequencies: an interval for every item.

Frequencies are counted in baskets. An item's interval is *compliant* if it contains the item's true count; a belief
function is compliant if all its intervals are, and α-compliant if a share α of them is (Lakshmanan, Ng and Ramesh 2008,
section 2.2). A released pseudonym may be any item whose interval contains the pseudonym's count: that is the
consistency graph, whose perfect matchings are the attacker's consistent mappings.

Beliefs may also be several ranges per item, of unequal weight. A pseudonym then weighs, for an item, as much as the
heaviest of the item's ranges that contains the pseudonym's count, and a mapping is as likely as the product of its
weights says. The interval is the span of the ranges.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import UnveilError
from unveil.items.frequency_groups import FrequencyGroups
from unveil.matching.candidates import Candidates

__all__ = ["Beliefs", "WeightedRanges"]

_MOST_PAIRS = 100_000_000  # pairs of an item and a count: a few gigabytes


@dataclass(frozen=True, eq=False)
class WeightedRanges:
    """Ranges ``low … high`` of every item with their weights: a row per item, filled up with ranges of weight 0."""

    low: Floats
    high: Floats
    weight: Floats

    def select(self, items: Ints) -> WeightedRanges:
        """The ranges of some items, or of other items in their place."""
        return WeightedRanges(self.low[items], self.high[items], self.weight[items])

    def move_ends(self, low: Floats, high: Floats) -> WeightedRanges:
        """The ranges with their ends moved, each item's by its own amount."""
        return WeightedRanges(self.low + low[:, None], self.high + high[:, None], self.weight)

    def clip_ends(self, low: Floats, high: Floats) -> WeightedRanges:
        """What of the ranges lies between each item's limits."""
        least, most = np.maximum(self.low, low[:, None]), np.minimum(self.high, high[:, None])
        return WeightedRanges(least, most, np.where(least <= most, self.weight, 0.0))

    def weights_at(self, values: Floats) -> Floats:
        """The weight of every value for every item: that of the heaviest range that contains it."""
        if len(self.low) * len(values) > _MOST_PAIRS:
            raise UnveilError("the ranges leave too many pairs of items and counts; give intervals without weights")
        found = np.zeros((len(self.low), len(values)))
        for k in range(self.low.shape[1]):
            low, high, weight = self.low[:, k, None], self.high[:, k, None], self.weight[:, k, None]
            inside = (low - _slack(low) <= values) & (values <= high + _slack(high))
            np.maximum(found, np.where(inside, weight, 0.0), out=found)
        return found


def _slack(ends: Floats) -> Floats:
    """By how much rounding may have moved the end of an interval."""
    return 1e-9 * np.maximum(1.0, np.where(np.isfinite(ends), np.abs(ends), 0.0))


@dataclass(frozen=True, eq=False)
class Beliefs:
    """An interval ``low … high`` for every item of a release whose items occur in ``counts`` baskets."""

    low: Floats
    high: Floats
    counts: Floats
    ranges: WeightedRanges | None = None

    @classmethod
    def from_ranges(
        cls, items: Ints, low: npt.ArrayLike, high: npt.ArrayLike, weights: npt.ArrayLike, counts: npt.ArrayLike
    ) -> Beliefs:
        """Beliefs from ranges of unequal weight, any number for each item; nothing is known about an item without one.

        >>> likely_low = Beliefs.from_ranges(np.array([0, 0, 1]), [1, 3, 1], [2, 4, 4], [3, 1, 1], [2, 3])
        >>> likely_low.candidates.to_matrix()[0].round(3).tolist()
        [1.0, 0.333]
        """
        starts, ends, heavy, at = (np.asarray(x, np.float64) for x in (low, high, weights, counts))
        of_item = np.bincount(items, minlength=len(at))
        rows = np.argsort(items, kind="stable")
        place = np.arange(len(rows)) - np.repeat(np.cumsum(of_item) - of_item, of_item)
        shape = len(at), max(1, int(of_item.max(initial=0)))
        ranges = WeightedRanges(np.full(shape, np.inf), np.full(shape, -np.inf), np.zeros(shape))
        for table, given in ((ranges.low, starts), (ranges.high, ends), (ranges.weight, heavy)):
            table[items[rows], place] = given[rows]
        unknown = of_item == 0
        ranges.low[unknown, 0], ranges.high[unknown, 0], ranges.weight[unknown, 0] = -np.inf, np.inf, 1.0
        most = ranges.weight.max(axis=1, keepdims=True)
        ranges.weight[:] = ranges.weight / np.where(most > 0, most, 1.0)
        plain = cls.from_intervals(ranges.low.min(axis=1), ranges.high.max(axis=1), at)
        return replace(plain, ranges=ranges)

    @classmethod
    def from_intervals(cls, low: npt.ArrayLike, high: npt.ArrayLike, counts: npt.ArrayLike) -> Beliefs:
        """Beliefs from the ends of the intervals."""
        ends = [np.asarray(x, np.float64) for x in (low, high, counts)]
        if len({x.shape for x in ends}) > 1 or ends[0].ndim != 1:
            raise UnveilError("give one lower end, one upper end and one count per item")
        if any(np.isnan(x).any() for x in ends) or (ends[0] > ends[1]).any():
            raise UnveilError("an interval is empty or not a number; its lower end must not exceed its upper end")
        return cls(ends[0], ends[1], ends[2])

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
        return replace(self.swap_items(items), counts=self.counts[items])

    def swap_items(self, instead: Ints) -> Beliefs:
        """The beliefs of an attacker who believes of each item what is believed of another one here."""
        ranges = None if self.ranges is None else self.ranges.select(instead)
        return Beliefs(self.low[instead], self.high[instead], self.counts, ranges)

    def move_intervals(self, low: Floats, high: Floats) -> Beliefs:
        """The beliefs with both ends of every interval moved, each item's by its own amount."""
        ranges = None if self.ranges is None else self.ranges.move_ends(low, high)
        return Beliefs(self.low + low, self.high + high, self.counts, ranges)

    def clip_intervals(self, low: Floats, high: Floats) -> Beliefs:
        """The beliefs with every interval within the given limits."""
        ranges = None if self.ranges is None else self.ranges.clip_ends(low, high)
        return Beliefs(np.maximum(self.low, low), np.minimum(self.high, high), self.counts, ranges)

    def cover_true_counts(self) -> Beliefs:
        """The beliefs with every wrong interval stretched to the true count. Some mapping is then consistent, whichever
        items are left out."""
        covered = Beliefs(np.minimum(self.low, self.counts), np.maximum(self.high, self.counts), self.counts)
        if self.ranges is None:
            return covered
        wrong = np.flatnonzero(~self.compliant)
        heaviest = self.ranges.weight[wrong].argmax(axis=1)
        low, high = self.ranges.low.copy(), self.ranges.high.copy()
        low[wrong, heaviest] = np.minimum(low[wrong, heaviest], self.counts[wrong])
        high[wrong, heaviest] = np.maximum(high[wrong, heaviest], self.counts[wrong])
        return replace(covered, ranges=WeightedRanges(low, high, self.ranges.weight))

    def widen_intervals(self, by: npt.ArrayLike) -> Beliefs:
        """The beliefs with every interval longer at both ends, by one number or one per item."""
        each = np.broadcast_to(np.asarray(by, np.float64), self.counts.shape)
        return self.move_intervals(-each, each)

    def forget_items(self, items: Bools) -> Beliefs:
        """The beliefs of an attacker who knows nothing about these items."""
        low, high = np.where(items, -np.inf, self.low), np.where(items, np.inf, self.high)
        ranges = self.ranges
        if ranges is not None:
            ends = ((ranges.low, -np.inf), (ranges.high, np.inf), (ranges.weight, 1.0))
            ranges = WeightedRanges(*(np.where(items[:, None], end, x) for x, end in ends))
        return Beliefs(low, high, self.counts, ranges)

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
        if self.ranges is not None:
            values, own = np.unique(self.counts, return_inverse=True)
            inside &= self.ranges.weights_at(values)[np.arange(self.n), own] > 0
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
        if self.ranges is None:
            return Candidates.from_intervals(*self._widened_ends, self.counts)
        values, group = np.unique(self.counts, return_inverse=True)
        weights, entry_class = np.unique(self.ranges.weights_at(values), axis=0, return_inverse=True)
        a, b = np.nonzero(weights)
        return Candidates.from_classes(entry_class.reshape(-1), group, a, b, weights[a, b])
