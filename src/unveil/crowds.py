"""Crowds: how many look the same.

Whatever an attacker knows (a person's age and zip, an item's frequency, a node's degree) splits the subjects into
crowds that this knowledge cannot tell apart. In a crowd of size s, the right one is found with probability 1/s. All
that the first questions ask follows from one small table: how many subjects stand in crowds of each size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.finding import Curve
from unveil.wording import percent

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Crowds"]

_RISKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 1 / 3, 0.5, 1.0)

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, eq=False)
class Crowds:
    """``subjects[i]`` subjects stand in crowds of ``size[i]``; sizes ascend."""

    size: npt.NDArray[np.int64]
    subjects: npt.NDArray[np.int64]

    @classmethod
    def from_members(cls, sizes: npt.NDArray[np.int64]) -> Crowds:
        """From the size of every subject's own crowd.

        >>> import numpy as np
        >>> Crowds.from_members(np.array([3, 1, 3, 1, 3])).subjects.tolist()
        [2, 3]
        """
        import numpy as np

        return cls(*np.unique(np.asarray(sizes, np.int64), return_counts=True))

    @classmethod
    def of_classes(cls, sizes: npt.NDArray[np.int64], members: npt.NDArray[np.int64] | None = None) -> Crowds:
        """From the size of every class and, where classes overlap, how many see each.

        >>> import numpy as np
        >>> Crowds.of_classes(np.array([3, 1, 1])).subjects.tolist()
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
        """All subjects."""
        return int(self.subjects.sum())

    @property
    def smallest(self) -> int:
        """k: the size of the smallest crowd."""
        return int(self.size[0])

    def below(self, k: float) -> int:
        """How many subjects stand in crowds smaller than k."""
        return int(self.subjects[self.size < k].sum())

    @property
    def found(self) -> float:
        """The expected number of subjects found when the attacker picks one of each crowd: Σ 1/size."""
        return float((self.subjects / self.size).sum())

    def sizes_curve(self, who: str, title: str, k: float | None) -> Curve:
        """How many subjects stand in crowds of each size, in bins."""
        import numpy as np

        where = np.searchsorted(np.array(_EDGES), self.size, side="right") - 1
        counts = np.bincount(where, self.subjects, len(_EDGES))
        used = range(int(where.min()), int(where.max()) + 1)
        return Curve(
            title=title,
            kind="bars",
            x_label="how many look the same",
            y_label=who,
            x=tuple(_bin(i) for i in used),
            y=tuple(int(counts[i]) for i in used),
            x_scale="category",
            mark=k,
            mark_label="" if k is None else f"tolerated from {k:g}",
            reading="The fewer look the same, the easier to find: at 1, nobody else does.",
        )

    def risk_curve(self, who: str, title: str, k: float) -> Curve:
        """How many subjects are found with which probability, and how many with more than the wanted crowd allows."""
        import numpy as np

        k = max(k, 1)
        limits = sorted({*_RISKS, 1 / k})
        where = np.searchsorted(np.array(limits), 1 / self.size, side="left")  # up to and including the limit
        counts = np.zeros(len(limits), np.int64)
        np.add.at(counts, where, self.subjects)
        above, wanted = self.below(k) / self.total, limits.index(1 / k)
        used = range(min(int(where.min()), wanted), max(int(where.max()), min(wanted + 1, len(limits) - 1)) + 1)
        at = limits[wanted + 1] if wanted + 1 < len(limits) else None
        return Curve(
            title=title,
            kind="bars",
            x_label="probability to be found, up to",
            y_label=who,
            x=tuple(percent(limits[i]) for i in used),
            y=tuple(int(counts[i]) for i in used),
            x_scale="category",
            mark=None if at is None else 99.9 * at,  # just before the first that is more than tolerated
            mark_label="" if at is None else f"tolerated up to {percent(1 / k)}",
            reading=f"{percent(above)} of the {who} are found with a probability above {percent(1 / k)}, 1 in {k:g}; "
            f"the highest is {percent(1 / self.smallest)}, the average {percent(self.found / self.total)}.",
        )

    def below_curve(self, who: str, title: str, k: float) -> Curve:
        """The share of subjects in crowds smaller than each size."""
        import numpy as np

        limits = np.array([x for x in _EDGES[1:] if x <= max(self.size[-1], k) * 10])
        below = np.append(0, np.cumsum(self.subjects))[np.searchsorted(self.size, limits)] / self.total
        return Curve(
            title=title,
            kind="line",
            x_label="smallest crowd that is wanted (k)",
            y_label=f"share of {who} in a smaller one",
            x=tuple(int(x) for x in limits),
            y=tuple(float(y) for y in below),
            x_scale="log",
            mark=k,
            mark_label="tolerated",
            reading=f"At the tolerated {k:g}, {percent(self.below(k) / self.total)} of the {who} are in a smaller one.",
        )


def _bin(i: int) -> str:
    low = _EDGES[i]
    if i + 1 == len(_EDGES):
        return f"{low:,}+"
    high = _EDGES[i + 1] - 1
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"
