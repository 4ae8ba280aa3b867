"""Frequency groups: items that occur equally often.

Replacing item names by numbers leaves every item's frequency as it was. Someone who knows all frequencies exactly can
tell items apart up to those with the same one; within a group of m items each is guessed with probability 1/m, so that
every group gives away one item on average, whatever its size (Lakshmanan, Ng and Ramesh 2008, Lemmas 3.2 and 3.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Groups"]


@dataclass(frozen=True, eq=False)
class Groups:
    """The distinct counts in rising order, how many items have each, and the group of every item."""

    values: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]

    @classmethod
    def of(cls, counts: npt.ArrayLike) -> Groups:
        """The groups of items with these counts.

        >>> groups = Groups.of([5, 4, 5, 5, 3, 5])
        >>> groups.values.tolist(), groups.sizes.tolist(), groups.singletons, groups.median_gap
        ([3.0, 4.0, 5.0], [1, 1, 4], 2, 1.0)
        """
        import numpy as np

        values, group, sizes = np.unique(np.asarray(counts, np.float64), return_inverse=True, return_counts=True)
        return cls(values, sizes.astype(np.int64), group.astype(np.int64))

    @property
    def size_of_each(self) -> npt.NDArray[np.int64]:
        """For every item, how many items occur exactly as often."""
        return self.sizes[self.group]

    @property
    def singletons(self) -> int:
        """How many groups have a single item."""
        return int((self.sizes == 1).sum())

    @cached_property
    def gaps(self) -> npt.NDArray[np.float64]:
        """The differences between successive counts."""
        import numpy as np

        return np.diff(self.values)

    @property
    def median_gap(self) -> float:
        """The median difference between successive counts; 0 if there is but one."""
        import numpy as np

        return float(np.median(self.gaps)) if len(self.gaps) else 0.0

    @property
    def mean_gap(self) -> float:
        """The mean difference between successive counts; 0 if there is but one."""
        return float(self.gaps.mean()) if len(self.gaps) else 0.0
