"""What may a released label mean? Which known values and released labels can be true of the same person.

A label may be a value, hide some of its characters (``476**``), stand for an interval of numbers (``20-29``), be a kind
of values in a hierarchy (``lungs``), or hide everything (``*``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unveil.release.hierarchy import Hierarchy
from unveil.release.labels import ROOT, interval_of, mask_matches

__all__ = ["Interpret", "generalised", "meaning", "meaning_in", "partly_dated", "raw", "reading"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_MIDNIGHT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]00:00(:00(\.0+)?)?")
_DATE_PART = re.compile(r"\d{4}(-\d{2}){0,2}")
_RANGE = re.compile(r"(\d+)-(\d+)")

Interpret = Callable[[Sequence[str], Sequence[str]], tuple[npt.ArrayLike, npt.ArrayLike]]
"""Called with the values that the attacker knows and the released labels of one column; returns the pairs that fit, as
places in the one and in the other."""

Pairs = set[tuple[int, int]]


def meaning(values: Sequence[str], labels: Sequence[str]) -> tuple[Ints, Ints]:
    """Which values and labels can be true of the same person, by what is written alone.

    The same text or number; ``*`` for anything; a mask (``476**``, see :func:`unveil.release.labels.mask_matches`); an
    interval (``[20, 30)``, ``20-29``, ``≥ 60``, see :func:`unveil.release.labels.interval_of`); the month or year of a
    date (``1987-06``), where all that is written are dates or parts of such. A value may be an interval itself, or a
    mask that covers or is covered by the label, if that is all the attacker knows. Where some text like ``20-29``
    cannot be an interval, as 06-1987 or 25-12, none of the column is.

    >>> meaning(["25", "61"], ["20-29", "6*", "*", "> 61"])[1].tolist()
    [0, 2, 1, 2]
    """
    left, right = ([_bare(text) for text in texts] for texts in (values, labels))
    swapped = {(v, x) for x, v in _masked(right, left)}
    return _arrays(
        _same(left, right) | _masked(left, right) | swapped | _overlapping(left, right) | _dated(left, right)
    )


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


def partly_dated(values: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether all of these are dates, months or years, some more exact than others.

    >>> partly_dated(["1987-06-05"], ["1987-06", "1990"]), partly_dated(["1987"], ["1990"])
    (True, False)
    """
    lengths = set[int]()
    for text in (*values, *labels):
        bare = _bare(text)
        if bare != ROOT and not _DATE_PART.fullmatch(bare):
            return False
        lengths |= {len(bare)} if bare != ROOT else set()
    return len(lengths) > 1


def _dated(values: Sequence[str], labels: Sequence[str]) -> Pairs:
    """Dates with their months and years."""
    if not partly_dated(values, labels):
        return set()
    found: Pairs = set()
    for length in {len(text) for text in (*values, *labels) if text != ROOT}:
        ends = _places([text if len(text) == length else "" for text in labels])
        found |= {(v, x) for v, text in enumerate(values) if len(text) > length for x in ends.get(text[:length], ())}
        begins = _places([text if len(text) == length else "" for text in values])
        found |= {(v, x) for x, text in enumerate(labels) if len(text) > length for v in begins.get(text[:length], ())}
    return found


def generalised(labels: Sequence[str]) -> bool:
    """Whether some label hides something or is an interval.

    >>> generalised(["34", "35"]), generalised(["3*"]), generalised(["30-39"])
    (False, True, True)
    """
    bare = [_bare(text) for text in labels]
    if any("*" in text for text in bare):
        return True
    codes = any(_cannot_be(text) for text in bare)
    _, low, high = _intervals(bare, codes)
    return bool((low < high).any())
