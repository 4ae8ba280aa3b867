"""How many matches can an attacker state before too many of them are wrong?

Matches have scores, and the attacker states the clearest first. Where to stop is the attacker's judgement: the more are
stated, the more are right and the more are wrong. A *stopping point* is a number of matches after which the next has a
lower score; matches with the same score are stated together. One who judges well stops at the last point at which at
least 95% are right, and finds those that are: the recall at a precision of 95%, which is 0 if there is no such point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unveil.arrays import Bools, Floats, Ints

__all__ = ["PRECISION", "StoppingPoints", "stopping_points"]

PRECISION = 0.95
"""The share of stated matches that must be right."""


@dataclass(frozen=True, eq=False)
class StoppingPoints:
    """At each stopping point, how many matches are stated and how many of these are right."""

    stated: Ints
    right: Ints

    def last_precise(self, precision: float = PRECISION) -> tuple[int, int]:
        """How many are stated and right at the last point where at least this share is right; none without one."""
        import numpy as np

        enough = np.flatnonzero(self.right >= precision * self.stated - 1e-9)
        return (int(self.stated[enough[-1]]), int(self.right[enough[-1]])) if len(enough) else (0, 0)


def stopping_points(score: Floats, is_right: Bools) -> StoppingPoints:
    """The stopping points of matches with these scores, all finite.

    >>> import numpy as np
    >>> points = stopping_points(np.array([9.0, 3.0, 5.0, 3.0]), np.array([True, True, True, False]))
    >>> points.stated.tolist(), points.right.tolist(), points.last_precise(0.75)
    ([1, 2, 4], [1, 2, 3], (4, 3))
    """
    import numpy as np

    order = np.argsort(-score, kind="stable")
    ranked = score[order]
    ends = np.flatnonzero(np.diff(ranked, append=-np.inf))
    right: Ints = np.cumsum(is_right[order].astype(np.int64))
    return StoppingPoints(ends + 1, right[ends])
