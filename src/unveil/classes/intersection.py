"""The intersection attack: releases that are safe alone but not together.

The attacker knows a person's quasi-identifiers and that the person is in each of several releases. In release r, the
class with these quasi-identifiers shows a set of sensitive values, one of which is the person's. Only values that occur
in every such class remain possible (Ganta, Kasiviswanathan and Smith 2008):

    Sᵢ = sᵢ₁ ∩ sᵢ₂ ∩ … ∩ sᵢₙ

- |S| = 1 is a *perfect breach*: the value is known. A breach is *combined* if no single release reveals the value.
- A *partial breach* leaves more than one value, but fewer than any single release does.
- S = ∅ is a *contradiction*: the attacker's assumption is false. The person is not in every release, or their value
  changed or was not recorded. Contradictions are counted separately, never as breaches.

**Confidence.** The confidence 1/|S| treats all possible values as equally likely and ignores how often each occurs.
:func:`posterior_values` counts them. In one release the person is equally likely to be any row of their class: if c(v)
of n rows have value v, then P(v) = c(v)/n. How several releases combine depends on who else is in the classes. There
are two extreme cases:

- *others*: the other people are independent draws from the *prior* π, and different in every release. If the person
  has v, a class that shows v c(v) times has a probability proportional to c(v)/π(v), so

      P(v | releases 1 … n) ∝ π(v) · Π_r c_r(v)/π(v)

- *same*: every release has the same other people, so a further release adds nothing except the values it rules out. The
  geometric mean of the shares, P(v) ∝ (Π_r c_r(v))^(1/n), has this property: n equal classes count as one.

Both are zero outside S. Real releases lie in between. People who look alike tend to have similar values, which makes
*others* overconfident; ``docs/intersection.md`` measures by how much.

**Candidate classes.** Several classes may fit a person (:mod:`unveil.classes.candidate_classes`); their values are
united and their counts added. A release is skipped for a person if no class fits, or if the fitting classes show no
value. Rows without a value are ignored where other rows have one, which makes S smaller. To count missing as a value,
give it a code of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.classes import _intersection
from unveil.errors import UnveilError
from unveil.release.codes import Codes, encode_column
from unveil.run import Run

__all__ = [
    "Intersection",
    "IntersectionStep",
    "PosteriorValues",
    "ReleaseView",
    "common_codes",
    "intersect_releases",
    "possible_values",
    "posterior_values",
]


_STEPS_PER_SLICE = 1 << 22  # about a tenth of a second


@dataclass(frozen=True, eq=False)
class ReleaseView:
    """One release as the attacker sees it.

    Row i is in class ``row_class[i]``, numbered from 0, and has the sensitive value ``value[i]``: a code with the same
    meaning in every release, −1 if missing. Person p has profile q = ``person_profile[p]``, −1 if none, and may be in
    any of the classes ``classes[indptr[q]:indptr[q + 1]]``, which ascend.
    """

    row_class: Ints
    value: Ints
    person_profile: Ints
    indptr: Ints
    classes: Ints

    @classmethod
    def from_known_classes(
        cls, row_class: npt.ArrayLike, value: npt.ArrayLike, person_class: npt.ArrayLike
    ) -> ReleaseView:
        """From everyone's class; −1 for a person who is not in this release or in no class."""
        rows = as_whole_numbers(row_class)
        count = int(rows.max(initial=-1)) + 1
        return cls(
            rows, as_whole_numbers(value), as_whole_numbers(person_class), np.arange(count + 1), np.arange(count)
        )

    def __post_init__(self) -> None:
        fields = self.row_class, self.value, self.person_profile, self.indptr, self.classes
        if any(a.ndim != 1 for a in fields) or not len(self.indptr):
            raise UnveilError("a release needs one class and one value per row, and one profile per person")
        if len(self.row_class) != len(self.value):
            rows, values = len(self.row_class), len(self.value)
            raise UnveilError(f"{rows:,} rows have a class but {values:,} have a value; give both for every row")
        if self.row_class.min(initial=0) < 0 or self.value.min(initial=0) < -1:
            raise UnveilError("classes are numbered from 0; values are numbered from 0, with −1 for missing")
        if self.indptr[0] != 0 or self.indptr[-1] != len(self.classes) or (np.diff(self.indptr) < 0).any():
            raise UnveilError("indptr must ascend from 0 to the number of classes given")
        if self.person_profile.min(initial=0) < -1 or self.person_profile.max(initial=-1) >= len(self.indptr) - 1:
            raise UnveilError("a person has a profile outside indptr; use −1 for a person who is in no class")
        if self.classes.min(initial=0) < 0 or self.classes.max(initial=-1) >= self.count:
            raise UnveilError(f"a person is in a class without rows; the {self.count:,} classes are numbered from 0")
        rising = np.diff(self.classes) > 0
        rising[self.indptr[(self.indptr > 0) & (self.indptr < len(self.classes))] - 1] = True
        if not rising.all():
            raise UnveilError("a person's candidate classes must ascend without repeats")

    @cached_property
    def count(self) -> int:
        """The number of classes in the release."""
        return int(self.row_class.max(initial=-1)) + 1


def as_whole_numbers(numbers: npt.ArrayLike) -> Ints:
    """Convert class, value or person numbers to 64-bit integers."""
    given = np.asarray(numbers)
    if given.size and given.dtype.kind not in "iu":
        raise UnveilError("classes, values and people must be whole numbers")
    return given.astype(np.int64, copy=False)


def common_codes(columns: Sequence[Codes]) -> tuple[list[Ints], pa.Array]:
    """Encode the same column of several releases together: equal texts get equal codes. Also returns the texts.

    >>> codes, texts = common_codes([encode_column(pa.chunked_array([v])) for v in (["flu", "gout"], ["gout", None])])
    >>> [c.tolist() for c in codes], texts.to_pylist()
    ([[0, 1], [1, -1]], ['flu', 'gout'])
    """
    texts = [pc.utf8_trim_whitespace(c.values.cast(pa.string())) for c in columns]
    every = encode_column(pa.chunked_array(texts, pa.string()))
    places = np.split(every.codes, np.cumsum([len(t) for t in texts])[:-1])
    codes = [np.append(p, -1)[c.codes].astype(np.int64) for p, c in zip(places, columns, strict=True)]
    return codes, every.values


@dataclass(frozen=True)
class IntersectionStep:
    """What the first ``releases`` releases reveal together, in numbers of people.

    At least one of these releases shows a value for each of the ``found`` people. The found include perfect breaches
    (the combined ones appear in no single release), partial breaches and contradictions (empty S). ``confidence``
    is the average of 1/|S| over the found people without a contradiction.
    """

    releases: int
    found: int
    perfect_breaches: int
    combined_breaches: int
    partial_breaches: int
    contradictions: int
    confidence: float


@dataclass(frozen=True, eq=False)
class Intersection:
    """The number of possible values, with one row per release and one column per person.

    ``single_release_values`` uses this release only; 0 means that it says nothing about the person. ``together`` uses
    this release and all before it; 0 means that they contradict one another, −1 that none has said anything yet.
    """

    single_release_values: Int32s
    together: Int32s

    @cached_property
    def fewest_alone(self) -> Int32s:
        """The fewest values that any one release so far leaves possible; −1 if none has said anything yet."""
        most = np.iinfo(np.int32).max
        fewest = np.minimum.accumulate(
            np.where(self.single_release_values > 0, self.single_release_values, most), axis=0
        )
        return np.where(fewest < most, fewest, -1).astype(np.int32)

    @property
    def perfect_breaches(self) -> Bools:
        """The people whose value is known."""
        known: Bools = self.together == 1
        return known

    @property
    def combined_breaches(self) -> Bools:
        """The people whose value is known, but not from any single release so far."""
        known: Bools = (self.together == 1) & (self.fewest_alone > 1)
        return known

    @property
    def partial_breaches(self) -> Bools:
        """The people with several possible values, but fewer than any single release so far leaves."""
        fewer: Bools = (self.together > 1) & (self.together < self.fewest_alone)
        return fewer

    @property
    def contradictions(self) -> Bools:
        """The people about whom the releases contradict one another."""
        empty: Bools = self.together == 0
        return empty

    @property
    def steps(self) -> list[IntersectionStep]:
        """What one, two, three … releases reveal; the effect of a release is the difference from the previous step."""
        masks = self.perfect_breaches, self.combined_breaches, self.partial_breaches, self.contradictions
        found, *breaches = (mask.sum(axis=1).tolist() for mask in (self.together >= 0, *masks))
        perfect, combined, partial, empty = breaches
        return [
            IntersectionStep(
                r + 1, found[r], perfect[r], combined[r], partial[r], empty[r], _mean_confidence(self.together[r])
            )
            for r in range(len(self.together))
        ]


def _mean_confidence(size: Int32s) -> float:
    """The average of 1/|S| over the people with a possible value."""
    many = np.bincount(size[size > 0])  # people by |S|: integers are summed, division comes last
    left = int(many.sum())
    return float((many[1:] / np.arange(1, len(many))).sum() / left) if left else 0.0


def intersect_releases(releases: Sequence[ReleaseView], run: Run | None = None) -> Intersection:
    """Count each person's possible values, by each release alone and by all releases up to it.

    Alice has heart disease or cancer in one release, and cancer or flu in another. Bob is in the first release only:

    >>> first = ReleaseView.from_known_classes([0, 0, 1, 1], [0, 1, 1, 2], [0, 1])
    >>> second = ReleaseView.from_known_classes([0, 0], [1, 2], [0, -1])
    >>> intersect_releases([first, second]).together.tolist()
    [[2, 2], [1, 2]]
    """
    heap = _StackedReleases.from_views(releases)
    place = heap.value >> 6
    new = np.append(True, (np.diff(place) != 0) | heap.class_ends)[: len(place)]
    word = np.uint64(1) << (heap.value & 63).astype(np.uint64)
    words = np.bitwise_or.reduceat(word, np.flatnonzero(new)) if len(word) else word
    begins, places = np.append(0, np.cumsum(new))[heap.begins], place[new]
    alone, together = (np.zeros(heap.person_profiles.shape, np.int32) for _ in range(2))
    sheet, united, bits = np.zeros((3, heap.words), np.uint64)
    joint, held = np.zeros((2, heap.words), np.int64)
    for first, last in heap.slice_people(begins, run or Run()):
        _intersection.count_possible_values(
            heap.person_profiles, heap.starts, heap.classes, begins, places, words, first, last,
            sheet, joint, united, held, bits, alone, together,
        )  # fmt: skip
    return Intersection(alone, together)


def possible_values(releases: Sequence[ReleaseView], run: Run | None = None) -> list[tuple[int, ...]]:
    """Each person's Sᵢ, the values that every release allows which says anything about them; empty if they contradict
    one another, or if none says anything. People with the same profiles share the computation.

    >>> first = ReleaseView.from_known_classes([0, 0, 1, 1], [0, 1, 1, 2], [0, 1])
    >>> second = ReleaseView.from_known_classes([0, 0], [1, 2], [0, -1])
    >>> possible_values([first, second])
    [(1,), (1, 2)]
    """
    run = run or Run()
    seen = [_values_by_profile(release) for release in releases]
    found = dict[tuple[int, ...], tuple[int, ...]]()
    told = list[tuple[int, ...]]()
    for profiles in zip(*(release.person_profile.tolist() for release in releases), strict=True):
        if profiles not in found:
            run.check()
            sets = [values[q] for values, q in zip(seen, profiles, strict=True) if q >= 0 and values[q]]
            found[profiles] = tuple(sorted(set.intersection(*sets))) if sets else ()
        told.append(found[profiles])
    return told


def _values_by_profile(release: ReleaseView) -> list[set[int]]:
    """The values that the classes of each profile show."""
    shown = [set[int]() for _ in range(release.count)]
    for row_class, value in zip(release.row_class.tolist(), release.value.tolist(), strict=True):
        if value >= 0:
            shown[row_class].add(value)
    ends = release.indptr.tolist()
    classes = release.classes.tolist()
    return [set[int]().union(*(shown[c] for c in classes[a:b])) for a, b in pairwise(ends)]


@dataclass(frozen=True, eq=False)
class PosteriorValues:
    """Each person's likeliest value and its probability, with one row per release: that release and all before it.

    ``chance`` is 0 and ``value`` is −1 where no value is possible or nothing is known.
    """

    chance: Floats
    value: Int32s


def posterior_values(
    releases: Sequence[ReleaseView],
    companions: Literal["same", "others"] = "same",
    prior: npt.ArrayLike | None = None,
    run: Run | None = None,
) -> PosteriorValues:
    """Find each person's likeliest value from how often values occur in their classes.

    ``companions`` states the assumption about the other people in these classes: see the module. ``prior`` is π, the
    share of each value in the population; by default, its share in all releases together. *same* ignores it.

    >>> view = ReleaseView.from_known_classes([0, 0, 0], [0, 1, 1], [0])
    >>> posterior_values([view, view]).chance.round(3).tolist()  # a repeated release adds nothing
    [[0.667], [0.667]]
    >>> posterior_values([view, view], "others", [0.5, 0.5]).chance.round(3).tolist()  # odds of 2 · 2 to 1 · 1
    [[0.667], [0.8]]
    """
    heap = _StackedReleases.from_views(releases)
    pi = _prior_shares(prior, heap) if companions == "others" else np.ones(heap.values)
    chance, best = np.zeros(heap.person_profiles.shape), np.zeros(heap.person_profiles.shape, np.int32)
    sheet, weights = np.zeros(heap.values, np.int64), np.empty(heap.values)
    touched, held = np.zeros((2, heap.values), np.int64)
    for first, last in heap.slice_people(heap.begins, run or Run()):
        _intersection.weigh_values(
            heap.person_profiles, heap.starts, heap.classes, heap.begins, heap.value, heap.count, pi,
            companions == "same",
            first, last, sheet, touched, held, weights, chance, best,
        )  # fmt: skip
    return PosteriorValues(chance, best)


def _prior_shares(prior: npt.ArrayLike | None, heap: _StackedReleases) -> Floats:
    """π up to a factor, which cancels."""
    if prior is None:
        return np.bincount(heap.value, heap.count, heap.values).astype(np.float64)
    given, values = np.asarray(prior, np.float64), int(heap.value.max(initial=-1)) + 1
    if given.ndim != 1 or len(given) < values:
        raise UnveilError(f"the prior needs a share for each of the {values:,} values")
    if not (np.isfinite(given).all() and (given >= 0).all() and (given[heap.value] > 0).all()):
        raise UnveilError("the prior's shares must be 0 or more, and positive for every value that occurs")
    return np.append(given, np.zeros(max(0, heap.values - len(given))))


@dataclass(frozen=True, eq=False)
class _StackedReleases:
    """All releases stacked in the same arrays: see ``_intersection``. Class c shows ``value[begins[c]:begins[c + 1]]``,
    ascending, each ``count`` times."""

    values: int
    person_profiles: Ints
    starts: Ints
    classes: Ints
    begins: Ints
    value: Ints
    count: Ints

    @property
    def words(self) -> int:
        """The number of 64-bit words that a set of values may take."""
        return (self.values + 63) // 64

    @property
    def class_ends(self) -> Bools:
        """Whether a class ends between each value and the next."""
        ends = np.zeros(len(self.value) + 1, np.bool_)
        ends[self.begins] = True
        return ends[1:-1]

    @classmethod
    def from_views(cls, releases: Sequence[ReleaseView]) -> _StackedReleases:
        if not releases:
            raise UnveilError("give at least one release")
        if len({len(seen.person_profile) for seen in releases}) > 1:
            raise UnveilError("every release must cover the same people; use −1 for a person who is not in it")
        values = max(1, *(int(seen.value.max(initial=-1)) + 1 for seen in releases))
        spots, starts, classes, begins, shown, counts = (list[Ints]() for _ in range(6))
        spot = start = number = begin = 0
        for seen in releases:
            cell, count = np.unique((seen.row_class * values + seen.value)[seen.value >= 0], return_counts=True)
            of_class, value = np.divmod(cell, values)
            spots.append(np.where(seen.person_profile < 0, -1, seen.person_profile + spot))
            starts.append(seen.indptr + start)
            classes.append(seen.classes + number)
            begins.append(np.searchsorted(of_class, np.arange(seen.count)) + begin)
            shown.append(value)
            counts.append(count)
            spot += len(seen.indptr)  # one unused profile separates releases
            start += len(seen.classes)
            number += seen.count
            begin += len(cell)
        begins.append(np.array([begin]))
        stacked = (np.concatenate(parts) for parts in (starts, classes, begins, shown, counts))
        return cls(values, np.stack(spots), *stacked)

    def slice_people(self, begins: Ints, run: Run) -> Iterator[tuple[int, int]]:
        """Slices of people with about equal work; the run can be cancelled between them."""
        upto = np.append(0, np.cumsum(np.diff(begins)[self.classes]))
        work = np.append(upto[self.starts[1:]] - upto[self.starts[:-1]], 0)  # the last entry is for profile −1
        total = np.cumsum(work[self.person_profiles].sum(axis=0) + len(self.person_profiles))
        people, first = len(total), 0
        while first < people:
            done = int(total[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(total, done + _STEPS_PER_SLICE, side="right")))
            run.check()
            run.progress("intersecting releases", first / people)
            yield first, last
            first = last
