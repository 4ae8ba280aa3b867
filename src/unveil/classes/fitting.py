"""Which rows of a release may be a person of whom something is known?

What is known is a value in each column; what is released are labels, which may stand for several values: ``476**``,
``20-29``, ``lungs``, ``*``. A class of rows fits a person when in every column the label may stand for the value. Where
releases are generalised, several classes may fit, and the person may be in any of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.classes import _intersection
from unveil.classes.grouping import Ints, class_ids
from unveil.classes.intersection import Seen, whole_numbers
from unveil.errors import UnveilError
from unveil.release.codes import Codes, as_text
from unveil.release.hierarchy import Hierarchy
from unveil.release.labels import ROOT, interval_of, mask_matches
from unveil.run import Run

__all__ = ["Fitting", "Interpret", "fitting", "meaning", "meaning_in", "raw", "reading"]

Floats = npt.NDArray[np.float64]
Small = npt.NDArray[np.int32]

_MIDNIGHT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]00:00(:00(\.0+)?)?")
_RANGE = re.compile(r"(\d+)-(\d+)")
_PROFILES = 1 << 12
_MOST = 1 << 28  # classes that fit, over all people: 2 GB

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


# ---- what a label means ----------------------------------------------------------------------------------------------

Pairs = set[tuple[int, int]]


def meaning(values: Sequence[str], labels: Sequence[str]) -> tuple[Ints, Ints]:
    """Which values and labels can be true of the same person, by what is written alone.

    The same text or number; ``*`` for anything; a mask (``476**``, see :func:`unveil.release.labels.mask_matches`);
    an interval (``[20, 30)``, ``20-29``, ``≥ 60``, see :func:`unveil.release.labels.interval_of`). A value may be an
    interval itself, or a mask that covers or is covered by the label, if that is all the attacker knows. Where some
    text like ``20-29`` cannot be an interval, as 06-1987 or 25-12, none of the column is.

    >>> meaning(["25", "61"], ["20-29", "6*", "*", "> 61"])[1].tolist()
    [0, 2, 1, 2]
    """
    left, right = ([_bare(text) for text in texts] for texts in (values, labels))
    swapped = {(v, x) for x, v in _masked(right, left)}
    return _arrays(_same(left, right) | _masked(left, right) | swapped | _overlapping(left, right))


def raw(interpret: Interpret) -> Interpret:
    """The same for values that are not generalised. If all labels are such values, or hide everything, they are not
    generalised either and mean themselves: a birth in 06-1987 is no interval.

    >>> raw(meaning)(["06-1987", "07-1988"], ["07-1988", "*"])[1].tolist()
    [1, 0, 1]
    """

    def same(values: Sequence[str], labels: Sequence[str]) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        left, right = ([_bare(text) for text in texts] for texts in (values, labels))
        if not set(right) <= {*left, ROOT}:
            return interpret(values, labels)
        hidden = [x for x, text in enumerate(right) if text == ROOT]
        return _arrays(_same(left, right) | {(v, x) for v in range(len(left)) for x in hidden})

    return same


def _bare(text: str) -> str:
    """Without what different kinds of files write differently: spaces around, True and true, midnight after a date."""
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    return text[:10] if _MIDNIGHT.fullmatch(text) else text


def reading(columns: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> list[Interpret]:
    """How to read the labels of each column: in its hierarchy where there is one, by what is written otherwise."""
    return [meaning_in(hierarchies[c]) if c in hierarchies else meaning for c in columns]


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
            for leaf in hierarchy.covers(_bare(text)).tolist():
                owners[leaf].append(value)
        found, unknown = Pairs(), list[int]()
        for label, text in enumerate(labels):
            leaves = [] if _bare(text) == ROOT else hierarchy.covers(_bare(text)).tolist()
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
    codes = any(_cannot_be(text) for text in (*values, *labels))
    (v, low, high), (x, lowest, highest) = (_intervals(texts, codes) for texts in (values, labels))
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


def _cannot_be(text: str) -> bool:
    """Whether a text looks like two numbers with a hyphen between, but not like an interval."""
    found = _RANGE.fullmatch(text)
    return bool(found and (_is_code(found[1]) or _is_code(found[2]) or int(found[1]) > int(found[2])))


def _intervals(texts: Sequence[str], codes: bool) -> tuple[Ints, Floats, Floats]:
    """The places of texts that are numbers or intervals, and their least and greatest number; an end that does not
    belong to an interval is moved to the next number inside. Where they are ``codes``, a hyphen makes no interval."""
    left = [(i, text) for i, text in enumerate(texts) if not (codes and _RANGE.fullmatch(text))]
    read = [(i, found) for i, text in left if (found := interval_of(text))]
    low = np.array([f.low if f.low_closed else np.nextafter(f.low, np.inf) for _, f in read])
    high = np.array([f.high if f.high_closed else np.nextafter(f.high, -np.inf) for _, f in read])
    return np.array([i for i, _ in read], np.int64), low, high
