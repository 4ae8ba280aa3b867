"""Which classes of a release may contain a person about whom something is known?

The attacker knows a value in each column. The release shows labels, which may stand for several values: ``476**``,
``20-29``, ``lungs``, ``*``. A class of rows fits a person if, in every column, its label may stand for the person's
value. In a generalised release several classes may fit; the person may be in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.arrays import Int32s, Ints
from unveil.classes import _intersection
from unveil.classes.intersection import ReleaseView, as_whole_numbers
from unveil.errors import UnveilError
from unveil.grouping import class_ids
from unveil.release.codes import Codes, cast_to_text
from unveil.release.label_matching import LabelMatcher, match_labels
from unveil.run import Run

__all__ = ["CandidateClasses", "find_candidate_classes"]


_PROFILES_PER_SLICE = 1 << 12
_MOST_MATCHES = 1 << 28  # classes that fit, over all people: 2 GB


@dataclass(frozen=True, eq=False)
class CandidateClasses:
    """The classes of a release that fit each person: the fields of :class:`ReleaseView` without the values.

    ``unmatched_labels`` is the number of labels in each column that fit no known value. It includes labels that cannot
    be interpreted without a hierarchy.
    """

    row_class: Ints
    person_profile: Ints
    indptr: Ints
    classes: Ints
    unmatched_labels: tuple[int, ...]

    def with_values(self, value: npt.ArrayLike) -> ReleaseView:
        """Add the sensitive value of every row."""
        return ReleaseView(self.row_class, as_whole_numbers(value), self.person_profile, self.indptr, self.classes)


def find_candidate_classes(
    known: Sequence[Codes],
    released: Sequence[Codes],
    interpret: LabelMatcher | Sequence[LabelMatcher] | None = None,
    run: Run | None = None,
) -> CandidateClasses:
    """Find the classes of a release that fit what the attacker knows about each person.

    ``known`` and ``released`` are the same quasi-identifiers in the same order, as the attacker knows them and as the
    release shows them. A missing value fits anything, whether the attacker does not know it or the release suppresses
    it. ``interpret`` says what labels mean, for all columns or for each; by default :func:`match_labels`.

    >>> import pyarrow as pa
    >>> from unveil.release.codes import encode_column
    >>> person = [encode_column(pa.chunked_array([[v]])) for v in ("13053", "28")]
    >>> rows = [encode_column(pa.chunked_array([v])) for v in (["1305*", "1485*", "130**"], ["≤ 40", "*", "3*"])]
    >>> # classes are numbered by their labels; 1485* and 3* do not fit
    >>> find_candidate_classes(person, rows).classes.tolist()
    [1]
    """
    if len(known) != len(released) or not known:
        raise UnveilError("give the same quasi-identifiers, at least one, for the people and for the release")
    if len({len(c.codes) for c in known}) > 1 or len({len(c.codes) for c in released}) > 1:
        raise UnveilError("every quasi-identifier needs one value per person and one label per row")
    readers = interpret if isinstance(interpret, Sequence) else [interpret or match_labels] * len(known)
    if len(readers) != len(known):
        raise UnveilError(f"give one interpretation, or one for each of the {len(known)} quasi-identifiers")
    columns = [_ColumnMatches.from_codes(k, r, read) for k, r, read in zip(known, released, readers, strict=True)]
    # the most selective column comes first
    order = sorted(range(len(columns)), key=lambda d: columns[d].mean_label_count)
    people, rows = len(known[0].codes), len(released[0].codes)
    spot, profiles = _distinct_rows([known[d].codes for d in order], people)
    row_class, labels = _distinct_rows([released[d].codes for d in order], rows)
    starts, fits = _labels_by_value([columns[d] for d in order])
    indptr = np.zeros(profiles.shape[1] + 1, np.int64)
    for first, last in _profile_slices(len(indptr) - 1, 0, run or Run()):
        _intersection.list_fitting_classes(profiles, labels, starts, fits, first, last, indptr, indptr[:0], False)
    indptr = np.cumsum(indptr)
    if indptr[-1] > _MOST_MATCHES:
        raise UnveilError("too many classes fit; use fewer people, or a release with fewer classes")
    classes = np.empty(indptr[-1], np.int64)
    for first, last in _profile_slices(len(indptr) - 1, 1, run or Run()):
        _intersection.list_fitting_classes(profiles, labels, starts, fits, first, last, indptr, classes, True)
    return CandidateClasses(row_class, spot, indptr, classes, tuple(c.unmatched_labels for c in columns))


def _profile_slices(count: int, half: int, run: Run) -> Iterator[tuple[int, int]]:
    for first in range(0, count, _PROFILES_PER_SLICE):
        run.check()
        run.progress("finding people", (half + first / count) / 2)
        yield first, min(count, first + _PROFILES_PER_SLICE)


def _distinct_rows(columns: Sequence[Int32s], rows: int) -> tuple[Ints, Ints]:
    """The number of each row among the distinct rows, and the distinct rows, sorted, by column. Codes are raised by
    one, so that missing is 0."""
    ids, count = class_ids(columns, rows)
    some = np.empty(count, np.int64)
    some[ids] = np.arange(rows)
    return ids, np.stack([c[some].astype(np.int64) + 1 for c in columns])


@dataclass(frozen=True, eq=False)
class _ColumnMatches:
    """The sorted pairs of a value and a label that fit, in one column; 0 is missing, which fits all."""

    value: Ints
    label: Ints
    values: int
    unmatched_labels: int

    @property
    def mean_label_count(self) -> float:
        """The average number of labels that fit a value."""
        return len(self.value) / self.values

    @classmethod
    def from_codes(cls, known: Codes, released: Codes, interpret: LabelMatcher) -> _ColumnMatches:
        values, labels = (cast_to_text(c.values).to_pylist() for c in (known, released))
        v, x = (np.asarray(a, np.int64) for a in interpret(values, labels))
        m, n = len(values) + 1, len(labels) + 1
        strange = n - 1 - len(np.unique(x))
        key = np.concatenate([(v + 1) * n + x + 1, np.arange(m) * n, np.arange(n)])
        key = np.unique(key)
        return cls(key // n, key % n, m, strange)


def _labels_by_value(columns: Sequence[_ColumnMatches]) -> tuple[Ints, Ints]:
    """The labels that fit each value of each column: where each list starts, and all lists joined."""
    starts = np.zeros((len(columns), max(c.values for c in columns) + 1), np.int64)
    done = 0
    for d, column in enumerate(columns):
        starts[d, : column.values + 1] = done + np.searchsorted(column.value, np.arange(column.values + 1))
        done += len(column.value)
    return starts, np.concatenate([c.label for c in columns])
