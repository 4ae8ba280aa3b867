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
(:mod:`unveil.classes.fitting`); the person may be in any of them, so their values are united and their counts added. A
release in which no class fits a person tells nothing of them and is passed over. So is one whose fitting classes show
no value at all. Rows without a value are left out where others have one, which makes S smaller; give missing values a
code of their own to have them count as a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unveil.classes import _intersection
from unveil.errors import UnveilError
from unveil.grouping import Ints
from unveil.release.codes import Codes, encode
from unveil.run import Run

__all__ = [
    "Intersection",
    "Posterior",
    "Seen",
    "Step",
    "common_codes",
    "intersect",
    "possible",
    "posterior",
    "whole_numbers",
]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Small = npt.NDArray[np.int32]

_STEPS = 1 << 22  # about a tenth of a second


# ---- what the attacker sees ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Seen:
    """One release, as someone sees it who looks for people.

    Row i is in class ``row_class[i]``, from 0, and has the sensitive value ``value[i]``: a code that means the same in
    every release, −1 if missing. Person p may be in the classes ``classes[indptr[q]:indptr[q + 1]]``, rising, where q
    is ``spot[p]``, −1 if there is none. Made by :meth:`at`, :meth:`among` or by
    :mod:`unveil.classes.fitting`.
    """

    row_class: Ints
    value: Ints
    spot: Ints
    indptr: Ints
    classes: Ints

    @classmethod
    def at(cls, row_class: npt.ArrayLike, value: npt.ArrayLike, person_class: npt.ArrayLike) -> Seen:
        """Everyone's class is known; −1: not in this release, or in no class."""
        rows = whole_numbers(row_class)
        count = int(rows.max(initial=-1)) + 1
        return cls(rows, whole_numbers(value), whole_numbers(person_class), np.arange(count + 1), np.arange(count))

    @classmethod
    def among(cls, row_class: npt.ArrayLike, value: npt.ArrayLike, indptr: npt.ArrayLike, classes: Any) -> Seen:
        """Person p may be in any of ``classes[indptr[p]:indptr[p + 1]]``."""
        spots = whole_numbers(indptr)
        return cls(
            whole_numbers(row_class),
            whole_numbers(value),
            np.arange(max(len(spots) - 1, 0)),
            spots,
            whole_numbers(classes),
        )

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


def whole_numbers(numbers: npt.ArrayLike) -> Ints:
    """Classes, values or people as they are counted here."""
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
    given, values = np.asarray(prior, np.float64), int(heap.value.max(initial=-1)) + 1
    if given.ndim != 1 or len(given) < values:
        raise UnveilError(f"the prior needs a share for each of the {values:,} values")
    if not (np.isfinite(given).all() and (given >= 0).all() and (given[heap.value] > 0).all()):
        raise UnveilError("the prior's shares must be 0 or more, and positive for every value that occurs")
    return np.append(given, np.zeros(max(0, heap.values - len(given))))


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
