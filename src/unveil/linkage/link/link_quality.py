"""How many links are right, if the true ones are known?

- **precision**: the share of links that are true; **recall**: the share of true pairs that were linked; **F1**: their
  harmonic mean.
- **expected precision**: the mean posterior of the links. If it exceeds the precision, the attacker is overconfident.

A link to one of t equally good rows is right with probability 1/t if a true one is among them: results are
expectations, not draws. Links chosen jointly can be chosen equally well in several ways; what is then known of their
quality is a range, from the way in which fewest links are right to the one in which most are. Neither depends on the
order of rows or on how values are spelled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.linkage.link.assignment import Assignment, assign_links
from unveil.linkage.link.best_match import Linkage
from unveil.linkage.link.file_pair import FilePair
from unveil.run import Run

__all__ = ["LinkQuality", "assignment_quality", "assignment_range", "match_quality"]


@dataclass(frozen=True)
class LinkQuality:
    """``right_links`` of the ``links`` are true (an expectation), out of ``true_pairs`` in total.
    ``expected_precision`` is what the posterior promises, NaN if it promises none."""

    links: int
    right_links: float
    true_pairs: int
    expected_precision: float = float("nan")

    @property
    def precision(self) -> float:
        """The share of links that are right; 1 if there are none."""
        return self.right_links / self.links if self.links else 1.0

    @property
    def recall(self) -> float:
        """The share of true pairs that were linked; 1 if there are none."""
        return self.right_links / self.true_pairs if self.true_pairs else 1.0

    @property
    def f1(self) -> float:
        """2 · precision · recall/(precision + recall); 0 if nothing is right."""
        return 2 * self.right_links / (self.links + self.true_pairs) if self.links + self.true_pairs else 1.0

    def __repr__(self) -> str:
        promised = "" if np.isnan(self.expected_precision) else f" ({self.expected_precision:.4f} expected)"
        return (
            f"Quality: precision {self.precision:.4f}{promised}, recall {self.recall:.4f}, F1 {self.f1:.4f}; "
            f"{self.right_links:.6g} of {self.links:,} links right, {self.true_pairs:,} true pairs"
        )


def match_quality(
    found: Linkage, people: npt.ArrayLike, rows: npt.ArrayLike, linked: npt.ArrayLike | None = None
) -> LinkQuality:
    """The quality of the best rows of the people in ``linked``: by default :meth:`Linkage.likely_matches`, with a
    posterior of at least one half. The true pairs are ``people`` with ``rows``."""
    who, where = _check_true_pairs(found.file_pair, people, rows)
    chosen = np.zeros(found.n, np.bool_)
    chosen[found.likely_matches() if linked is None else np.asarray(linked, np.int64)] = True
    right = _chance_right(found, who, where)
    total = float(right[chosen].sum())
    expected = float(found.posterior[chosen].mean()) if chosen.any() else float("nan")
    return LinkQuality(int(chosen.sum()), total, len(who), expected)


def assignment_quality(found: Assignment, people: npt.ArrayLike, rows: npt.ArrayLike) -> LinkQuality:
    """The quality of one set of links chosen jointly."""
    who, where = _check_true_pairs(found.file_pair, people, rows)
    return LinkQuality(found.total, float(found.link_chances(who, where).sum()), len(who))


def assignment_range(
    found: Linkage, people: npt.ArrayLike, rows: npt.ArrayLike, run: Run | None = None
) -> tuple[LinkQuality, LinkQuality]:
    """The quality of the worst and of the best of all sets of links that are equally good to someone who does not know
    the true ones. The number of right links is an expectation over twins."""
    who, where = _check_true_pairs(found.file_pair, people, rows)
    files, pairs = found.file_pair, found.pairs
    at = files.find_pairs(pairs.person, pairs.row, who, files.row_class[where])
    true = np.bincount(at[at >= 0], minlength=len(pairs.person))
    right = true / (files.person_sizes[pairs.person] * files.row_sizes[pairs.row])
    few, many = (assignment_quality(assign_links(found, run=run, favour=sign * right), who, where) for sign in (-1, 1))
    return few, many


def _chance_right(found: Linkage, who: Ints, where: Ints) -> Floats:
    """The probability that the best row of every person is a true one."""
    files, some = found.file_pair, found.best[who] >= 0
    best, true = (
        found.gains(files.person_class[who[some]], classes)
        for classes in (found.best_class[who[some]], files.row_class[where[some]])
    )
    as_good = (best == true).all(axis=1)
    return np.bincount(who[some], as_good / found.ties[who[some]], found.n).astype(np.float64)


def _check_true_pairs(file_pair: FilePair, people: npt.ArrayLike, rows: npt.ArrayLike) -> tuple[Ints, Ints]:
    who, where = (np.asarray(side) for side in (people, rows))
    if who.shape != where.shape or who.ndim != 1 or not all(x.dtype.kind in "iu" or not len(x) for x in (who, where)):
        raise UnveilError("true links must be pairs of a person number and a row number")
    who, where = who.astype(np.int64), where.astype(np.int64)
    for side, size, what in ((who, file_pair.n, "person"), (where, file_pair.row_count, "row")):
        if len(side) and not 0 <= side.min() <= side.max() < size:
            raise UnveilError(f"a true link names a {what} outside 0 … {size - 1}")
    if len(np.unique(who * max(1, file_pair.row_count) + where)) < len(who):
        raise UnveilError("a true link is listed twice")
    return who, where
