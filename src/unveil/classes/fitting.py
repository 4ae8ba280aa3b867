"""Which rows of a release may be a person of whom something is known?

What is known is a value in each column; what is released are labels, which may stand for several values: ``476**``,
``20-29``, ``lungs``, ``*``. A class of rows fits a person when in every column the label may stand for the value. Where
releases are generalised, several classes may fit, and the person may be in any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.classes import _intersection
from unveil.classes.intersection import Seen, whole_numbers
from unveil.errors import UnveilError
from unveil.grouping import Ints, class_ids
from unveil.release.codes import Codes, as_text
from unveil.release.meaning import Interpret, meaning
from unveil.run import Run

__all__ = ["Fitting", "fitting"]

Small = npt.NDArray[np.int32]

_PROFILES = 1 << 12
_MOST = 1 << 28  # classes that fit, over all people: 2 GB


@dataclass(frozen=True, eq=False)
class Fitting:
    """Which classes of a release fit each person: the fields of :class:`Seen` without the values.

    ``strange`` says of every column how many of its labels fit none of the values that the attacker knows: labels that
    nobody can read without a hierarchy are among them.
    """

    row_class: Ints
    spot: Ints
    indptr: Ints
    classes: Ints
    strange: tuple[int, ...]

    def seen(self, value: npt.ArrayLike) -> Seen:
        """The release with the sensitive value of every row."""
        return Seen(self.row_class, whole_numbers(value), self.spot, self.indptr, self.classes)


def fitting(
    known: Sequence[Codes],
    released: Sequence[Codes],
    interpret: Interpret | Sequence[Interpret] | None = None,
    run: Run | None = None,
) -> Fitting:
    """Which classes of a release fit what is known of people, column by column.

    ``known`` and ``released`` are the same quasi-identifiers, in the same order: of the people, as the attacker knows
    them, and in the release, as it shows them. A missing value fits anything: one that the attacker does not know as
    well as one that was taken out. ``interpret`` says what labels mean, for all columns or for each; by default
    :func:`meaning`.

    >>> import pyarrow as pa
    >>> from unveil.release.codes import encode
    >>> person = [encode(pa.chunked_array([[v]])) for v in ("13053", "28")]
    >>> rows = [encode(pa.chunked_array([v])) for v in (["1305*", "1485*", "130**"], ["≤ 40", "*", "3*"])]
    >>> fitting(person, rows).classes.tolist()  # numbered by their labels; 1485* and 3* do not fit
    [1]
    """
    if len(known) != len(released) or not known:
        raise UnveilError("give the same quasi-identifiers, at least one, of the people and of the release")
    if len({len(c.codes) for c in known}) > 1 or len({len(c.codes) for c in released}) > 1:
        raise UnveilError("every quasi-identifier needs a value for each person and a label for each row")
    readers = interpret if isinstance(interpret, Sequence) else [interpret or meaning] * len(known)
    if len(readers) != len(known):
        raise UnveilError(f"{len(known)} quasi-identifiers need as many interpretations, or one for all")
    columns = [_Column.of(k, r, read) for k, r, read in zip(known, released, readers, strict=True)]
    order = sorted(range(len(columns)), key=lambda d: columns[d].width)  # what leaves the fewest labels comes first
    people, rows = len(known[0].codes), len(released[0].codes)
    spot, profiles = _distinct([known[d].codes for d in order], people)
    row_class, labels = _distinct([released[d].codes for d in order], rows)
    starts, fits = _fits([columns[d] for d in order])
    indptr = np.zeros(profiles.shape[1] + 1, np.int64)
    for first, last in _portions(len(indptr) - 1, "finding people", 0, run):
        _intersection.fitted(profiles, labels, starts, fits, first, last, indptr, indptr[:0], False)
    indptr = np.cumsum(indptr)
    if indptr[-1] > _MOST:
        raise UnveilError("the labels leave too many classes open; use fewer people, or a release with fewer classes")
    classes = np.empty(indptr[-1], np.int64)
    for first, last in _portions(len(indptr) - 1, "finding people", 1, run):
        _intersection.fitted(profiles, labels, starts, fits, first, last, indptr, classes, True)
    return Fitting(row_class, spot, indptr, classes, tuple(c.strange for c in columns))


def _portions(count: int, doing: str, half: int, run: Run | None) -> Iterator[tuple[int, int]]:
    for first in range(0, count, _PROFILES):
        if run:
            run.check()
            run.progress(doing, (half + first / count) / 2)
        yield first, min(count, first + _PROFILES)


def _distinct(columns: Sequence[Small], rows: int) -> tuple[Ints, Ints]:
    """Which of the different rows each one is, and the different ones, sorted, by column; missing is 0, a code one
    more than it was."""
    ids, count = class_ids(columns, rows)
    some = np.empty(count, np.int64)
    some[ids] = np.arange(rows)
    return ids, np.stack([c[some].astype(np.int64) + 1 for c in columns])


@dataclass(frozen=True, eq=False)
class _Column:
    """The pairs of a value and a label of one column that fit, sorted; 0 is missing, which fits all."""

    value: Ints
    label: Ints
    values: int
    strange: int

    @property
    def width(self) -> float:
        """How many labels fit a value on average."""
        return len(self.value) / self.values

    @classmethod
    def of(cls, known: Codes, released: Codes, interpret: Interpret) -> _Column:
        values, labels = (as_text(c.values).to_pylist() for c in (known, released))
        v, x = (np.asarray(a, np.int64) for a in interpret(values, labels))
        m, n = len(values) + 1, len(labels) + 1
        strange = n - 1 - len(np.unique(x))
        key = np.concatenate([(v + 1) * n + x + 1, np.arange(m) * n, np.arange(n)])
        key = np.unique(key)
        return cls(key // n, key % n, m, strange)


def _fits(columns: Sequence[_Column]) -> tuple[Ints, Ints]:
    """The labels that fit each value of each column: where they start, and all of them."""
    starts = np.zeros((len(columns), max(c.values for c in columns) + 1), np.int64)
    done = 0
    for d, column in enumerate(columns):
        starts[d, : column.values + 1] = done + np.searchsorted(column.value, np.arange(column.values + 1))
        done += len(column.value)
    return starts, np.concatenate([c.label for c in columns])
