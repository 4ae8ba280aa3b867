"""How many links are right, where the true ones are known.

- **precision**: the share of the links that are true; **recall**: the share of the true pairs that were linked;
  **F1**: their harmonic mean.
- **expected precision**: the mean posterior of the links. Where it is above the precision the attacker is too sure.
- **calibration**: the same by how sure the attacker is, in ten steps of the posterior.

A link to one of t rows that are equally good is right with probability 1/t if a true one is among them: expectations,
instead of a draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.link.assigned import Assigned
from unveil.linkage.link.matches import Linkage
from unveil.linkage.link.paired import Floats, Ints, Paired

__all__ = ["Quality", "calibration", "quality", "quality_of_assigned"]


@dataclass(frozen=True)
class Quality:
    """``right`` of ``links`` are true (an expectation), of ``true`` pairs in all; ``expected`` is the precision that
    the posterior promises, NaN where nothing was promised."""

    links: int
    right: float
    true: int
    expected: float = float("nan")

    @property
    def precision(self) -> float:
        """The share of links that are right; 1 if there are none."""
        return self.right / self.links if self.links else 1.0

    @property
    def recall(self) -> float:
        """The share of true pairs that were linked; 1 if there are none."""
        return self.right / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """2 · precision · recall/(precision + recall); 0 if nothing is right."""
        return 2 * self.right / (self.links + self.true) if self.links + self.true else 1.0

    def __repr__(self) -> str:
        promised = "" if np.isnan(self.expected) else f" ({self.expected:.4f} expected)"
        return (
            f"Quality: precision {self.precision:.4f}{promised}, recall {self.recall:.4f}, F1 {self.f1:.4f}; "
            f"{self.right:.6g} of {self.links:,} links right, {self.true:,} true pairs"
        )


def quality(found: Linkage, people: npt.ArrayLike, rows: npt.ArrayLike, linked: npt.ArrayLike | None = None) -> Quality:
    """Of the best rows of the people in ``linked``: by default :meth:`Linkage.linked`, at a posterior of one half; give
    :meth:`Linkage.standing_out` for Scoreboard-RH. The true pairs are ``people`` with ``rows``."""
    who, where = _true_pairs(found.paired, people, rows)
    chosen = np.zeros(found.n, np.bool_)
    chosen[found.linked() if linked is None else np.asarray(linked, np.int64)] = True
    right = _right(found, who, where)
    total = float(right[chosen].sum())
    expected = float(found.posterior[chosen].mean()) if chosen.any() else float("nan")
    return Quality(int(chosen.sum()), total, len(who), expected)


def quality_of_assigned(found: Assigned, people: npt.ArrayLike, rows: npt.ArrayLike) -> Quality:
    """Of links chosen together."""
    who, where = _true_pairs(found.paired, people, rows)
    return Quality(found.total, float(found.of(who, where).sum()), len(who))


def calibration(
    found: Linkage, people: npt.ArrayLike, rows: npt.ArrayLike, steps: int = 10
) -> tuple[Ints, Floats, Floats]:
    """By how sure the attacker is of the best row, in equal steps from 0 to 1: how many people, their mean posterior,
    and the share of them whose best row is right. Steps without people have NaN."""
    who, where = _true_pairs(found.paired, people, rows)
    there = found.best >= 0
    step = np.minimum((found.posterior[there] * steps).astype(np.int64), steps - 1)
    count = np.bincount(step, minlength=steps)
    with np.errstate(invalid="ignore"):
        sure = np.bincount(step, found.posterior[there], steps) / count
        right = np.bincount(step, _right(found, who, where)[there], steps) / count
    return count, sure, right


def _right(found: Linkage, who: Ints, where: Ints) -> Floats:
    """How likely the best row of every person is a true one. Rows as good as the best, but of another class, are looked
    up among the pairs that were kept: below a posterior of one in a thousand they count as wrong."""
    paired, pairs = found.paired, found.pairs
    wide = paired.rows.n
    keys = pairs.person * wide + pairs.row
    if not len(keys):
        return np.zeros(found.n)

    def place(row_class: Ints) -> Ints:
        key = paired.person_class[who] * wide + row_class
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        return np.where(keys[at] == key, at, -1)

    best, true = place(found.best_class[who]), place(paired.row_class[where])
    as_good = (found.best[who] >= 0) & (best >= 0) & (true >= 0)
    as_good &= (pairs.score[best] == pairs.score[true]) & (pairs.likelihood[best] == pairs.likelihood[true])
    return np.bincount(who, as_good / np.maximum(found.ties[who], 1), found.n).astype(np.float64)


def _true_pairs(paired: Paired, people: npt.ArrayLike, rows: npt.ArrayLike) -> tuple[Ints, Ints]:
    who, where = (np.asarray(side) for side in (people, rows))
    if who.shape != where.shape or who.ndim != 1 or not all(x.dtype.kind in "iu" or not len(x) for x in (who, where)):
        raise UnveilError("true links are pairs of the number of a person and the number of a row")
    who, where = who.astype(np.int64), where.astype(np.int64)
    for side, size, what in ((who, paired.n, "person"), (where, paired.released, "row")):
        if len(side) and not 0 <= side.min() <= side.max() < size:
            raise UnveilError(f"a true link names a {what} outside 0 … {size - 1}")
    if len(np.unique(who * max(1, paired.released) + where)) < len(who):
        raise UnveilError("a true link is given twice")
    return who, where
