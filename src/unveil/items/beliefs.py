"""What an attacker believes about the frequencies: an interval for every item.

Frequencies are counted in baskets. An item's interval is *compliant* if it holds the item's true count; a belief
function is compliant if all its intervals are, and α-compliant if a share α of them is (Lakshmanan, Ng and Ramesh 2008,
section 2.2). A released pseudonym may be any item whose interval holds the pseudonym's count: that is the consistency
graph, whose perfect matchings are the attacker's consistent mappings.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unveil.errors import UnveilError
from unveil.items.groups import Groups

if TYPE_CHECKING:
    import numpy.typing as npt

    from unveil.matching.candidates import Candidates, Floats

__all__ = ["Beliefs"]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """An interval ``low … high`` for every item of a release whose items occur in ``counts`` baskets."""

    low: Floats
    high: Floats
    counts: Floats

    @classmethod
    def of(cls, low: npt.ArrayLike, high: npt.ArrayLike, counts: npt.ArrayLike) -> Beliefs:
        """Intervals given one by one."""
        ends = [np.asarray(x, np.float64) for x in (low, high, counts)]
        if len({x.shape for x in ends}) > 1 or ends[0].ndim != 1:
            raise UnveilError("as many lower as upper ends and counts are needed, one of each per item")
        if any(np.isnan(x).any() for x in ends) or (ends[0] > ends[1]).any():
            raise UnveilError("an interval is empty or not a number: its lower end must not exceed its upper end")
        return cls(*ends)

    @classmethod
    def ignorant(cls, counts: npt.ArrayLike) -> Beliefs:
        """Someone who knows nothing: anything is possible for every item."""
        counts = np.asarray(counts, np.float64)
        return cls(np.full(len(counts), -np.inf), np.full(len(counts), np.inf), counts)

    @classmethod
    def exact(cls, counts: npt.ArrayLike) -> Beliefs:
        """Someone who knows every count exactly."""
        return cls.around(counts, 0.0)

    @classmethod
    def around(cls, counts: npt.ArrayLike, width: npt.ArrayLike) -> Beliefs:
        """Someone who knows every count to ± ``width``, which is one number or one per item."""
        counts, width = np.asarray(counts, np.float64), np.asarray(width, np.float64)
        if (width < 0).any() or not np.isfinite(width).all():
            raise UnveilError("the width of an interval must be 0 or more")
        return cls.of(counts - width, counts + width, counts)

    @classmethod
    def from_sample(cls, found: npt.ArrayLike, scale: float, counts: npt.ArrayLike) -> Beliefs:
        """Someone who holds similar data, ``scale`` times smaller, in which the items occur ``found`` times: what they
        found, scaled up, give or take the median gap between their own frequency groups (section 6.2.3)."""
        found = np.asarray(found, np.float64)
        gap = Groups.of(found).median_gap
        return cls.of((found - gap) * scale, (found + gap) * scale, counts)

    def only(self, items: npt.NDArray[np.int64]) -> Beliefs:
        """What is believed of some items, when the others are not released."""
        return Beliefs(self.low[items], self.high[items], self.counts[items])

    def made_right(self) -> Beliefs:
        """The same with every wrong interval stretched to the true count. Some mapping is then consistent, whichever
        items are left out."""
        return Beliefs(np.minimum(self.low, self.counts), np.maximum(self.high, self.counts), self.counts)

    def widened(self, by: npt.ArrayLike) -> Beliefs:
        """Every interval longer at either end, by one number or one per item."""
        by = np.asarray(by, np.float64)
        return Beliefs(self.low - by, self.high + by, self.counts)

    def without(self, items: npt.NDArray[np.bool_]) -> Beliefs:
        """The same, but nothing is known of some items."""
        return Beliefs(np.where(items, -np.inf, self.low), np.where(items, np.inf, self.high), self.counts)

    @property
    def strays(self) -> int:
        """How many items at least are left without a pseudonym that fits; 0 if some mapping is consistent."""
        return len(self._left_over())

    def _left_over(self) -> list[int]:
        """As few items as can be that are left without a pseudonym. Pseudonyms in rising order each take, of the items
        whose interval has begun, the one whose interval ends first (Glover 1967)."""
        import heapq

        slack = 1e-9 * np.maximum(1.0, np.abs(self.counts))
        low, high = self.low - slack, self.high + slack
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

    def loosened(self) -> Beliefs:
        """The same with as few items as can be taken for unknown, so that some mapping is consistent."""
        left = self._left_over()
        return self.without(np.isin(np.arange(self.n), left)) if left else self

    @property
    def n(self) -> int:
        """The number of items."""
        return len(self.counts)

    @cached_property
    def compliant(self) -> npt.NDArray[np.bool_]:
        """Which intervals hold the true count. What rounding may have moved is forgiven."""
        slack = 1e-9 * np.maximum(1.0, np.abs(self.counts))
        inside: npt.NDArray[np.bool_] = (self.low - slack <= self.counts) & (self.counts <= self.high + slack)
        return inside

    @property
    def alpha(self) -> float:
        """The share of items whose interval is right."""
        return float(self.compliant.mean()) if self.n else 1.0

    def within(self, other: Beliefs) -> bool:
        """Whether every interval lies within the other's: β₁ ≼ β₂ (Definition 4.1)."""
        return bool(((self.low >= other.low) & (self.high <= other.high)).all())

    def at_least_as_right(self, other: Beliefs) -> bool:
        """Whether the other ≼_C these (Definition 4.3): all it is right about these are, and no less narrowly."""
        kept = other.compliant
        narrower = (self.low >= other.low) & (self.high <= other.high)
        return bool((self.compliant[kept]).all() and narrower[kept].all())

    def reach(self, values: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The first and the last of some rising values within each interval; first > last where there is none."""
        slack = 1e-9 * np.maximum(1.0, np.abs(self.counts))
        first = np.searchsorted(values, self.low - slack)
        return first, np.searchsorted(values, self.high + slack, side="right") - 1

    @cached_property
    def candidates(self) -> Candidates:
        """The consistency graph: item i may be the pseudonyms whose count its interval holds. Pseudonym i is item i."""
        from unveil.matching.candidates import Candidates

        slack = 1e-9 * np.maximum(1.0, np.abs(self.counts))
        return Candidates.from_intervals(self.low - slack, self.high + slack, self.counts)
