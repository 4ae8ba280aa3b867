"""Class sizes: how many subjects look the same.

What an attacker knows (a person's age and zip code, an item's frequency, a node's degree) splits the subjects into
classes whose members this knowledge cannot tell apart. In a class of size s, an attacker picks the right subject with
probability 1/s. So one small table answers the first questions: how many subjects are in classes of each size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.finding import Curve
from unveil.wording import capitalise_text, number_text, percent_text

if TYPE_CHECKING:
    from unveil.arrays import Ints

__all__ = ["ClassSizes"]

_RISK_LIMITS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 1 / 3, 0.5, 1.0)

_SIZE_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """``subjects[i]`` subjects are in classes of size ``size[i]``; sizes ascend."""

    size: Ints
    subjects: Ints

    @classmethod
    def from_subjects(cls, sizes: Ints) -> ClassSizes:
        """From the class size of every subject.

        >>> import numpy as np
        >>> ClassSizes.from_subjects(np.array([3, 1, 3, 1, 3])).subjects.tolist()
        [2, 3]
        """
        import numpy as np

        return cls(*np.unique(np.asarray(sizes, np.int64), return_counts=True))

    @classmethod
    def from_classes(cls, sizes: Ints, members: Ints | None = None) -> ClassSizes:
        """From the size of every class. Where classes overlap, ``members`` says how many subjects each one counts for.

        >>> import numpy as np
        >>> ClassSizes.from_classes(np.array([3, 1, 1])).subjects.tolist()
        [2, 3]
        """
        import numpy as np

        if members is None:
            size, classes = np.unique(sizes, return_counts=True)
            return cls(size, size * classes)
        size, where = np.unique(sizes, return_inverse=True)
        subjects = np.zeros(len(size), np.int64)
        np.add.at(subjects, where, members)
        return cls(size, subjects)

    @property
    def total(self) -> int:
        """The number of subjects."""
        return int(self.subjects.sum())

    @property
    def smallest_size(self) -> int:
        """k: the size of the smallest class."""
        return int(self.size[0])

    def count_below(self, k: float) -> int:
        """How many subjects are in classes smaller than k."""
        return int(self.subjects[self.size < k].sum())

    @property
    def expected_reidentifications(self) -> float:
        """The expected number of subjects found by picking a member of each subject's class at random: Σ 1/size."""
        return float((self.subjects / self.size).sum())

    def sizes_curve(self, who: str, title: str, k: float | None) -> Curve:
        """How many subjects are in classes of each size, in bins."""
        import numpy as np

        where = np.searchsorted(np.array(_SIZE_EDGES), self.size, side="right") - 1
        counts = np.bincount(where, self.subjects, len(_SIZE_EDGES))
        used = range(int(where.min()), int(where.max()) + 1)
        return Curve(
            title=title,
            kind="bars",
            x_label="size of the class",
            y_label=who,
            x=tuple(_bin_label(i) for i in used),
            y=tuple(int(counts[i]) for i in used),
            x_scale="category",
            mark=k,
            mark_label="" if k is None else f"tolerated from {number_text(k)}",
            reading="The smaller the class, the easier its members are to find. A class of 1 is unique.",
        )

    def risk_curve(self, who: str, title: str, k: float) -> Curve:
        """How many subjects are found with which probability, and how many with more than a class of k allows."""
        import numpy as np

        k = max(k, 1)
        limits = sorted({*_RISK_LIMITS, 1 / k})
        where = np.searchsorted(np.array(limits), 1 / self.size, side="left")  # up to and including the limit
        counts = np.zeros(len(limits), np.int64)
        np.add.at(counts, where, self.subjects)
        above, k_bin = self.count_below(k) / self.total, limits.index(1 / k)
        used = range(min(int(where.min()), k_bin), max(int(where.max()), min(k_bin + 1, len(limits) - 1)) + 1)
        at = limits[k_bin + 1] if k_bin + 1 < len(limits) else None
        return Curve(
            title=title,
            kind="bars",
            x_label="probability of being found, up to",
            y_label=who,
            x=tuple(percent_text(limits[i]) for i in used),
            y=tuple(int(counts[i]) for i in used),
            x_scale="category",
            mark=None if at is None else 99.9 * at,  # just before the first limit above the tolerance
            mark_label="" if at is None else f"tolerated up to {percent_text(1 / k)}",
            reading=f"{capitalise_text(percent_text(above))} of the {who} are found with a probability above "
            f"{percent_text(1 / k)} (1 in {number_text(k)}). The highest probability is "
            f"{percent_text(1 / self.smallest_size)}, the average "
            f"{percent_text(self.expected_reidentifications / self.total)}.",
        )

    def share_below_curve(self, who: str, title: str, k: float) -> Curve:
        """The share of subjects in classes smaller than each size."""
        import numpy as np

        limits = np.array([x for x in _SIZE_EDGES[1:] if x <= max(self.size[-1], k) * 10])
        below = np.append(0, np.cumsum(self.subjects))[np.searchsorted(self.size, limits)] / self.total
        return Curve(
            title=title,
            kind="line",
            x_label="required class size (k)",
            y_label=f"share of {who} in smaller classes",
            x=tuple(int(x) for x in limits),
            y=tuple(float(y) for y in below),
            x_scale="log",
            mark=k,
            mark_label="tolerated",
            reading=f"{percent_text(self.count_below(k) / self.total)} of the {who} are in classes smaller than the "
            f"tolerated {number_text(k)}.",
        )


def _bin_label(i: int) -> str:
    low = _SIZE_EDGES[i]
    if i + 1 == len(_SIZE_EDGES):
        return f"{low:,}+"
    high = _SIZE_EDGES[i + 1] - 1
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"
