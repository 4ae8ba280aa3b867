"""Frequency groups: items that occur equally often.

Replacing item names by numbers does not change the frequencies. An attacker who knows all frequencies exactly can
confuse only items of the same frequency. Within a group of m items each is guessed with probability 1/m, so every group
gives away one item on average, whatever its size (Lakshmanan, Ng and Ramesh 2008, Lemmas 3.2 and 3.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints

__all__ = ["FrequencyGroups"]


@dataclass(frozen=True, eq=False)
class FrequencyGroups:
    """The distinct counts in rising order, how many items have each, and the group of every item."""

    values: Floats
    sizes: Ints
    group: Ints

    @classmethod
    def from_counts(cls, counts: npt.ArrayLike) -> FrequencyGroups:
        """The groups of items with these counts.

        >>> groups = FrequencyGroups.from_counts([5, 4, 5, 5, 3, 5])
        >>> groups.values.tolist(), groups.sizes.tolist(), groups.singletons, groups.median_gap
        ([3.0, 4.0, 5.0], [1, 1, 4], 2, 1.0)
        """
        values, group, sizes = np.unique(np.asarray(counts, np.float64), return_inverse=True, return_counts=True)
        return cls(values, sizes.astype(np.int64), group.astype(np.int64))

    @property
    def own_group_sizes(self) -> Ints:
        """For every item, the number of items that occur exactly as often."""
        return self.sizes[self.group]

    @property
    def singletons(self) -> int:
        """The number of groups with a single item."""
        return int((self.sizes == 1).sum())

    @cached_property
    def gaps(self) -> Floats:
        """The differences between successive counts."""
        return np.diff(self.values)

    @property
    def median_gap(self) -> float:
        """The median difference between successive counts; 0 if there is only one count."""
        return float(np.median(self.gaps)) if len(self.gaps) else 0.0

    @property
    def mean_gap(self) -> float:
        """The mean difference between successive counts; 0 if there is only one count."""
        return float(self.gaps.mean()) if len(self.gaps) else 0.0
