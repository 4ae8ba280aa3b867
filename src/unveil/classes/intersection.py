"""The intersection attack: several releases of overlapping people, each safe by itself, that are not safe together.

Someone knows the quasi-identifiers of a person and that the person is in each of several releases. In release r they
find the class with these quasi-identifiers, and the sensitive values that occur in it: one of them is the person's.
With several releases only those values are left that occur in all of these classes (document 004, Algorithm 3.1, after
Ganta, Kasiviswanathan and Smith 2008):

    Sᵢ = sᵢ₁ ∩ sᵢ₂ ∩ … ∩ sᵢₙ

- |S| = 1 is a *perfect breach*: the value is known. It may be that one release alone gives it away; a breach *by
  combining* is one that no single release shows.
- A *partial breach*: more than one value is left, but fewer than in every single release.
- S = ∅: what the attacker took for granted is false. The person is not in all these releases, or their value changed
  between them, or was not recorded. This is counted by itself and never as a breach.

**Confidence.** The document gives the attacker the confidence 1/|S|: every value that is possible is equally likely.
That is exact about what is possible, but forgets how often each value occurs. :func:`posterior` does not. In one
release, the person is equally likely to be any row of their class: c(v) of n rows have value v, so P(v) = c(v)/n. What
several releases tell together depends on who else is in the classes, of which there are two extreme cases:

- *others*: the other people in the classes are independent draws from π, the *prior*, and different ones in every
  release. If the person has v, a class that shows v c(v) times has a probability proportional to c(v)/π(v), so

      P(v | releases 1 … n) ∝ π(v) · Π_r c_r(v)/π(v)

- *same*: the same other people are in all of them, and a further release repeats what is known but for the values that
  it rules out. The geometric mean of the shares, P(v) ∝ (Π_r c_r(v))^(1/n), says so: of n equal classes it makes one.

Both are zero outside S. Real releases are in between; people who look alike also have like values, which makes *others*
too sure of itself. ``docs/intersection.md`` has measured by how much.

**Where a person may be.** Releases that are generalised differently may leave several classes that fit
(:func:`fitting`); the person may be in any of them, so their values are united and their counts added. A release in
which no class fits a person tells nothing of them and is passed over. So is one whose fitting classes show no value at
all. Rows without a value are left out where others have one, which makes S smaller; give missing values a code of their
own to have them count as a value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unveil.classes import _intersection
from unveil.classes.grouping import Ints, class_ids
from unveil.errors import UnveilError
from unveil.release.codes import Codes, encode
from unveil.release.hierarchy import ROOT, Hierarchy, interval_of, mask_matches
from unveil.run import Run

__all__ = [
    "Fitting",
    "Interpret",
    "Intersection",
    "Posterior",
    "Seen",
    "Step",
    "common_codes",
    "fitting",
    "intersect",
    "meaning",
    "meaning_in",
    "possible",
    "posterior",
]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Small = npt.NDArray[np.int32]

_STEPS = 1 << 22  # about a tenth of a second
_PROFILES = 1 << 12
_MOST = 1 << 28  # classes that fit, over all people: 2 GB


# ---- what the attacker sees ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Seen:
    """One release, as someone sees it who looks for people.

    Row i is in class ``row_class[i]``, from 0, and has the sensitive value ``value[i]``: a code that means the same in
    every release, −1 if missing. Person p may be in the classes ``classes[indptr[q]:indptr[q + 1]]``, rising, where q
    is ``spot[p]``, −1 if there is none. Made by :meth:`at`, :meth:`among` or :meth:`Fitting.seen`.
    """

    row_class: Ints
    value: Ints
    spot: Ints
    indptr: Ints
    classes: Ints

    @classmethod
    def at(cls, row_class: npt.ArrayLike, value: npt.ArrayLike, person_class: npt.ArrayLike) -> Seen:
        """Everyone's class is known; −1: not in this release, or in no class."""
        rows = _ints(row_class)
        count = int(rows.max(initial=-1)) + 1
        return cls(rows, _ints(value), _ints(person_class), np.arange(count + 1), np.arange(count))

    @classmethod
    def among(cls, row_class: npt.ArrayLike, value: npt.ArrayLike, indptr: npt.ArrayLike, classes: Any) -> Seen:
        """Person p may be in any of ``classes[indptr[p]:indptr[p + 1]]``."""
        spots = _ints(indptr)
        return cls(_ints(row_class), _ints(value), np.arange(max(len(spots) - 1, 0)), spots, _ints(classes))

    def __post_init__(self) -> None:
        fields = self.row_class, self.value, self.spot, self.indptr, self.classes
        if any(a.ndim != 1 for a in fields) or not len(self.indptr):
            raise UnveilError("a release needs one class and one value per row, and one place per person")
        if len(self.row_class) != len(self.value):
            raise UnveilError(f"{len(self.row_class):,} rows have a class and {len(self.value):,} a value; give both")
        if self.row_class.min(initial=0) < 0 or self.value.min(initial=0) < -1:
            raise UnveilError("classes are numbered from 0, and values from 0 or −1 where missing")
        if self.indptr[0] != 0 or self.indptr[-1] != len(self.classes) or (np.diff(self.indptr) < 0).any():
            raise UnveilError("indptr must rise from 0 to the number of classes given")
        if self.spot.min(initial=0) < -1 or self.spot.max(initial=-1) >= len(self.indptr) - 1:
            raise UnveilError("a person has a place that is not given; −1 is for a person who is nowhere")
        if self.classes.min(initial=0) < 0 or self.classes.max(initial=-1) >= self.count:
            raise UnveilError(f"a person is in a class that no row has; there are {self.count:,}, numbered from 0")
        rising = np.diff(self.classes) > 0
        rising[self.indptr[(self.indptr > 0) & (self.indptr < len(self.classes))] - 1] = True
        if not rising.all():
            raise UnveilError("the classes that fit a person must rise, each named once")

    @cached_property
    def count(self) -> int:
        """How many classes the release has."""
        return int(self.row_class.max(initial=-1)) + 1


def _ints(numbers: npt.ArrayLike) -> Ints:
    given = np.asarray(numbers)
    if given.size and given.dtype.kind not in "iu":
        raise UnveilError("classes, values and people are given as whole numbers")
    return given.astype(np.int64, copy=False)


def common_codes(columns: Sequence[Codes]) -> tuple[list[Ints], pa.Array]:
    """The same column of several releases, numbered alike: equal text has the same code in all; and the texts.

    >>> codes, texts = common_codes([encode(pa.chunked_array([v])) for v in (["flu", "gout"], ["gout", None])])
    >>> [c.tolist() for c in codes], texts.to_pylist()
    ([[0, 1], [1, -1]], ['flu', 'gout'])
    """
    texts = [pc.utf8_trim_whitespace(c.values.cast(pa.string())) for c in columns]
    every = encode(pa.chunked_array(texts, pa.string()))
    places = np.split(every.codes, np.cumsum([len(t) for t in texts])[:-1])
    codes = [np.append(p, -1)[c.codes].astype(np.int64) for p, c in zip(places, columns, strict=True)]
    return codes, every.values


# ---- Algorithm 3.1 ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """What the first ``releases`` releases tell together, in numbers of people.

    ``found`` are those of whom any of them says something. Among them are ``perfect`` breaches, of which ``combined``
    show in no single release, ``partial`` breaches, and the ``failed``, whose intersection is empty. ``confidence`` is
    the average of 1/|S| over the found who did not fail.
    """

    releases: int
    found: int
    perfect: int
    combined: int
    partial: int
    failed: int
    confidence: float


@dataclass(frozen=True, eq=False)
class Intersection:
    """How many values are possible, a row for every release, a column for every person.

    ``alone``: by this release alone, 0 if it says nothing of the person. ``together``: by it and all before it, 0 if
    they contradict one another, −1 if none says anything yet.
    """

    alone: Small
    together: Small

    @cached_property
    def least(self) -> Small:
        """The fewest values that one of the releases so far leaves by itself; −1 if none says anything yet."""
        most = np.iinfo(np.int32).max
        fewest = np.minimum.accumulate(np.where(self.alone > 0, self.alone, most), axis=0)
        return np.where(fewest < most, fewest, -1).astype(np.int32)

    @property
    def perfect(self) -> Bools:
        """Whose value is known."""
        known: Bools = self.together == 1
        return known

    @property
    def combined(self) -> Bools:
        """Whose value is known, but not from any one of the releases so far."""
        known: Bools = (self.together == 1) & (self.least > 1)
        return known

    @property
    def partial(self) -> Bools:
        """Who has several possible values, but fewer than any one of the releases so far leaves."""
        fewer: Bools = (self.together > 1) & (self.together < self.least)
        return fewer

    @property
    def failed(self) -> Bools:
        """Of whom the releases contradict one another."""
        empty: Bools = self.together == 0
        return empty

    @property
    def confidence(self) -> Floats:
        """1/|S|; 0 where S is empty or nothing is known."""
        return np.where(self.together > 0, 1 / np.maximum(self.together, 1), 0.0)

    @property
    def steps(self) -> list[Step]:
        """What one release tells, two, three …: the effect of each further one is the difference to the one before."""
        return [self._step(r) for r in range(len(self.together))]

    def _step(self, r: int) -> Step:
        size, least = self.together[r], self.least[r]
        many = np.bincount(size[size > 0])  # people by size: whole numbers are added, division comes last
        left = int(many.sum())
        return Step(
            releases=r + 1,
            found=int((size >= 0).sum()),
            perfect=int((size == 1).sum()),
            combined=int(((size == 1) & (least > 1)).sum()),
            partial=int(((size > 1) & (size < least)).sum()),
            failed=int((size == 0).sum()),
            confidence=float((many[1:] / np.arange(1, len(many))).sum() / left) if left else 0.0,
        )


def intersect(releases: Sequence[Seen], run: Run | None = None) -> Intersection:
    """What every release tells of every person, and all up to each of them.

    Alice has heart disease or cancer in one release, cancer or flu in another; Bob is in the first one only:

    >>> first = Seen.at([0, 0, 1, 1], [0, 1, 1, 2], [0, 1])
    >>> second = Seen.at([0, 0], [1, 2], [0, -1])
    >>> intersect([first, second]).together.tolist()
    [[2, 2], [1, 2]]
    """
    heap = _Heap.of(releases)
    place = heap.value >> 6
    new = np.append(True, (np.diff(place) != 0) | heap.turns)[: len(place)]
    word = np.uint64(1) << (heap.value & 63).astype(np.uint64)
    words = np.bitwise_or.reduceat(word, np.flatnonzero(new)) if len(word) else word
    begins, places = np.append(0, np.cumsum(new))[heap.begins], place[new]
    alone, together = (np.zeros(heap.spots.shape, np.int32) for _ in range(2))
    sheet, united, bits = np.zeros((3, heap.words), np.uint64)
    joint, held = np.zeros((2, heap.words), np.int64)
    for first, last in heap.slices(begins, run):
        _intersection.narrowed(
            heap.spots, heap.starts, heap.classes, begins, places, words, first, last,
            sheet, joint, united, held, bits, alone, together,
        )  # fmt: skip
    return Intersection(alone, together)


@dataclass(frozen=True, eq=False)
class Posterior:
    """The likeliest value of every person and its probability, a row for every release: by it and all before it.

    ``chance`` is 0 and ``value`` −1 where no value is possible or nothing is known.
    """

    chance: Floats
    value: Small


def posterior(
    releases: Sequence[Seen],
    companions: Literal["same", "others"] = "same",
    prior: npt.ArrayLike | None = None,
    run: Run | None = None,
) -> Posterior:
    """What a person's likeliest value is, by how often values occur in their classes.

    ``companions`` says what is assumed of the other people in these classes: see the module. ``prior`` is π, the share
    of every value in the population: by default that in all releases taken together. Without *others* it cancels.

    >>> view = Seen.at([0, 0, 0], [0, 1, 1], [0])
    >>> posterior([view, view]).chance.round(3).tolist()  # the share in the class, and once more
    [[0.667], [0.667]]
    >>> posterior([view, view], "others", [0.5, 0.5]).chance.round(3).tolist()  # 2 · 2 against 1 · 1
    [[0.667], [0.8]]
    """
    heap = _Heap.of(releases)
    pi = _prior(prior, heap) if companions == "others" else np.ones(heap.values)
    chance, best = np.zeros(heap.spots.shape), np.zeros(heap.spots.shape, np.int32)
    sheet, weights = np.zeros(heap.values, np.int64), np.empty(heap.values)
    touched, held = np.zeros((2, heap.values), np.int64)
    for first, last in heap.slices(heap.begins, run):
        _intersection.weighed(
            heap.spots, heap.starts, heap.classes, heap.begins, heap.value, heap.count, pi, companions == "same",
            first, last, sheet, touched, held, weights, chance, best,
        )  # fmt: skip
    return Posterior(chance, best)


def possible(releases: Sequence[Seen], person: int) -> Ints | None:
    """The values that all releases leave possible for one person, rising; None if none says anything."""
    left: Ints | None = None
    for seen in releases:
        spot = seen.spot[person]
        fits = seen.classes[seen.indptr[spot] : seen.indptr[spot + 1]] if spot >= 0 else seen.classes[:0]
        values = np.unique(seen.value[np.isin(seen.row_class, fits) & (seen.value >= 0)])
        if len(values):
            left = values if left is None else np.intersect1d(left, values)
    return left


def _prior(prior: npt.ArrayLike | None, heap: _Heap) -> Floats:
    """π but for a factor, which cancels."""
    if prior is None:
        return np.bincount(heap.value, heap.count, heap.values).astype(np.float64)
    given = np.asarray(prior, np.float64)
    if given.ndim != 1 or len(given) < heap.values:
        raise UnveilError(f"the prior needs a share for each of the {heap.values:,} values")
    if not (np.isfinite(given).all() and (given >= 0).all() and (given[heap.value] > 0).all()):
        raise UnveilError("the prior's shares must be 0 or more, and positive for every value that occurs")
    return given


@dataclass(frozen=True, eq=False)
class _Heap:
    """All releases in the same arrays: see ``_intersection``. Class c shows ``value[begins[c]:begins[c + 1]]``, rising,
    each ``count`` times."""

    spots: Ints
    starts: Ints
    classes: Ints
    begins: Ints
    value: Ints
    count: Ints
    values: int

    @property
    def words(self) -> int:
        """How many 64-bit words a set of values may take."""
        return (self.values + 63) // 64

    @property
    def turns(self) -> Bools:
        """Whether a class ends between a value and the next."""
        ends = np.zeros(len(self.value) + 1, np.bool_)
        ends[self.begins] = True
        return ends[1:-1]

    @classmethod
    def of(cls, releases: Sequence[Seen]) -> _Heap:
        if not releases:
            raise UnveilError("give at least one release")
        if len({len(seen.spot) for seen in releases}) > 1:
            raise UnveilError("every release must say where the same people are; −1 is for who is not in it")
        values = max(1, *(int(seen.value.max(initial=-1)) + 1 for seen in releases))
        spots, starts, classes, begins = (list[Ints]() for _ in range(4))
        shown = list[tuple[Ints, Ints]]()
        spot = start = number = begin = 0
        for seen in releases:
            cell, count = np.unique((seen.row_class * values + seen.value)[seen.value >= 0], return_counts=True)
            of_class, value = np.divmod(cell, values)
            spots.append(np.where(seen.spot < 0, -1, seen.spot + spot))
            starts.append(seen.indptr + start)
            classes.append(seen.classes + number)
            begins.append(np.searchsorted(of_class, np.arange(seen.count)) + begin)
            shown.append((value, count))
            spot += len(seen.indptr)  # the one between the last of a release and the first of the next is nobody's
            start += len(seen.classes)
            number += seen.count
            begin += len(cell)
        value, count = (np.concatenate(parts) for parts in zip(*shown, strict=True))
        begins.append(np.array([begin]))
        return cls(
            np.stack(spots),
            np.concatenate(starts),
            np.concatenate(classes),
            np.concatenate(begins),
            value,
            count,
            values,
        )

    def slices(self, begins: Ints, run: Run | None) -> Iterator[tuple[int, int]]:
        """People in portions of about equal work, between which the run may be stopped."""
        upto = np.append(0, np.cumsum(np.diff(begins)[self.classes]))
        work = np.append(upto[self.starts[1:]] - upto[self.starts[:-1]], 0)  # the last is for those who are nowhere
        total = np.cumsum(work[self.spots].sum(axis=0) + len(self.spots))
        people, first = len(total), 0
        while first < people:
            done = int(total[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(total, done + _STEPS, side="right")))
            if run:
                run.check()
                run.progress("intersecting releases", first / people)
            yield first, last
            first = last


# ---- where a person may be -------------------------------------------------------------------------------------------

Interpret = Callable[[Sequence[str], Sequence[str]], tuple[npt.ArrayLike, npt.ArrayLike]]
"""Called with the values that the attacker knows and the released labels of one column; returns the pairs that fit, as
places in the one and in the other."""


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
        return Seen(self.row_class, _ints(value), self.spot, self.indptr, self.classes)


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
        values, labels = (c.values.cast(pa.string()).to_pylist() for c in (known, released))
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


# ---- what a label means ----------------------------------------------------------------------------------------------

Pairs = set[tuple[int, int]]


def meaning(values: Sequence[str], labels: Sequence[str]) -> tuple[Ints, Ints]:
    """Which values and labels can be true of the same person, by what is written alone.

    The same text or number; ``*`` for anything; a mask (``476**``, see :func:`unveil.release.hierarchy.mask_matches`);
    an interval (``[20, 30)``, ``20-29``, ``≥ 60``, see :func:`unveil.release.hierarchy.interval_of`). A value may be an
    interval itself, or a mask that covers or is covered by the label, if that is all the attacker knows.

    >>> meaning(["25", "61"], ["20-29", "6*", "*", "> 61"])[1].tolist()
    [0, 2, 1, 2]
    """
    left, right = ([text.strip() for text in texts] for texts in (values, labels))
    swapped = {(v, x) for x, v in _masked(right, left)}
    return _arrays(_same(left, right) | _masked(left, right) | swapped | _overlapping(left, right))


def meaning_in(hierarchy: Hierarchy) -> Interpret:
    """What labels mean in a hierarchy, on whatever level they are; those that it does not know, by what is written.

    Two labels fit when they have a value in common.

    >>> lungs = Hierarchy.of_rows([["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["ulcer", "stomach", "*"]])
    >>> meaning_in(lungs)(["flu", "ulcer"], ["lungs", "ulcer", "*"])[1].tolist()
    [0, 2, 1, 2]
    """

    def interpret(values: Sequence[str], labels: Sequence[str]) -> tuple[Ints, Ints]:
        owners = defaultdict[int, list[int]](list)
        for value, text in enumerate(values):
            for leaf in hierarchy.covers(text.strip()).tolist():
                owners[leaf].append(value)
        found, unknown = Pairs(), list[int]()
        for label, text in enumerate(labels):
            leaves = [] if text.strip() == ROOT else hierarchy.covers(text.strip()).tolist()
            found.update((value, label) for leaf in leaves for value in owners.get(leaf, ()))
            if not leaves:
                unknown.append(label)
        written = zip(*(a.tolist() for a in meaning(values, [labels[i] for i in unknown])), strict=True)
        return _arrays(found | {(value, unknown[i]) for value, i in written})

    return interpret


def _arrays(pairs: Pairs) -> tuple[Ints, Ints]:
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _same(values: Sequence[str], labels: Sequence[str]) -> Pairs:
    places = _places(labels)
    return {(v, x) for v, text in enumerate(values) for x in places.get(text, ())}


def _masked(values: Sequence[str], masks: Sequence[str]) -> Pairs:
    """Which values a mask may mean. Masks that hide the same places are looked up by the characters that they show."""
    shapes = defaultdict[tuple[int, ...], list[int]](list)
    for x, mask in enumerate(masks):
        if "*" in mask:
            shapes[tuple(i for i, c in enumerate(mask.rstrip("*")) if c != "*")].append(x)
    found: Pairs = set()
    for shape, these in shapes.items():
        places = _places([_letters(masks[x], shape) for x in these])
        for v, value in enumerate(values):
            if not shape or shape[-1] < len(value):
                candidates = (these[i] for i in places.get(_letters(value, shape), ()))
                found.update((v, x) for x in candidates if mask_matches(masks[x], value))
    return found


def _letters(text: str, shape: tuple[int, ...]) -> str:
    return "".join(text[i] for i in shape)


def _places(texts: Iterable[str]) -> dict[str, list[int]]:
    places = dict[str, list[int]]()
    for i, text in enumerate(texts):
        places.setdefault(text, []).append(i)
    return places


def _overlapping(values: Sequence[str], labels: Sequence[str]) -> Pairs:
    """Numbers in an interval, intervals that overlap, and numbers that are equal though written differently, unless
    one is written as a code: 02139 is not 2139."""
    (v, low, high), (x, lowest, highest) = _intervals(values), _intervals(labels)
    found: Pairs = set()
    for i in np.flatnonzero(lowest < highest).tolist():
        found.update((place, int(x[i])) for place in v[(low <= highest[i]) & (high >= lowest[i])].tolist())
    for i in np.flatnonzero(low < high).tolist():
        found.update((int(v[i]), place) for place in x[(lowest <= high[i]) & (highest >= low[i])].tolist())
    numbers = defaultdict[float, list[int]](list)
    for place, number in zip(x[lowest == highest].tolist(), lowest[lowest == highest].tolist(), strict=True):
        if not _is_code(labels[place]):
            numbers[number].append(place)
    for place, number in zip(v[low == high].tolist(), low[low == high].tolist(), strict=True):
        if not _is_code(values[place]):
            found.update((place, other) for other in numbers.get(number, ()))
    return found


def _is_code(number: str) -> bool:
    return number[0] == "0" and number[1:2].isdigit()


def _intervals(texts: Sequence[str]) -> tuple[Ints, Floats, Floats]:
    """The places of texts that are numbers or intervals, and their least and greatest number; an end that does not
    belong to an interval is moved to the next number inside."""
    read = [(i, found) for i, text in enumerate(texts) if (found := interval_of(text))]
    low = np.array([f.low if f.low_closed else np.nextafter(f.low, np.inf) for _, f in read])
    high = np.array([f.high if f.high_closed else np.nextafter(f.high, -np.inf) for _, f in read])
    return np.array([i for i, _ in read], np.int64), low, high
