"""Match known values with released labels: which of them can be true of the same person?

A label may be a value itself, hide some of its characters (``476**``), stand for an interval of numbers (``20-29``),
be a more general term of a hierarchy (``lungs``), or hide everything (``*``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.release.generalised_labels import ROOT_LABEL, mask_matches, parse_interval
from unveil.release.hierarchy import Hierarchy

__all__ = [
    "LabelMatcher",
    "has_generalised_labels",
    "has_partial_dates",
    "hierarchy_matcher",
    "label_matchers",
    "match_labels",
    "raw_value_matcher",
]


_MIDNIGHT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]00:00(:00(\.0+)?)?")
_DATE_PART = re.compile(r"(\d{3})(?:0s|(\d)(?: Q([1-4])|-(\d{2})(?:-(\d{2}))?)?)")
_HYPHEN_RANGE = re.compile(r"(\d+)-(\d+)")

LabelMatcher = Callable[[Sequence[str], Sequence[str]], tuple[npt.ArrayLike, npt.ArrayLike]]
"""Takes the attacker's values and the released labels of one column; returns the positions of all pairs that fit."""

IndexPairs = set[tuple[int, int]]


def match_labels(values: Sequence[str], labels: Sequence[str]) -> tuple[Ints, Ints]:
    """Which values and labels can be true of the same person, judging by their text alone.

    A value fits the same text or number; ``*``; a mask (``476**``, see
    :func:`unveil.release.generalised_labels.mask_matches`); an interval (``[20, 30)``, ``20-29``, ``≥ 60``, see
    :func:`unveil.release.generalised_labels.parse_interval`); and, in a column that contains only dates and parts of
    dates, its month, quarter, year or decade (``1987-06``, ``1987 Q2``, ``1980s``). The attacker may know only an
    interval or a mask; then the two must overlap. If one text such as 06-1987 or 25-12 cannot be an interval, no
    hyphenated text of the column is read as one.

    >>> match_labels(["25", "61"], ["20-29", "6*", "*", "> 61"])[1].tolist()
    [0, 2, 1, 2]
    """
    left, right = ([_normalise_label(text) for text in texts] for texts in (values, labels))
    swapped = {(v, x) for x, v in _masked_pairs(right, left)}
    return _pair_arrays(
        _equal_pairs(left, right)
        | _masked_pairs(left, right)
        | swapped
        | _overlapping_pairs(left, right)
        | _date_part_pairs(left, right)
    )


def raw_value_matcher(matcher: LabelMatcher) -> LabelMatcher:
    """A matcher for values that are not generalised. If every label is one of these values or hides everything, labels
    are not generalised either and stand for themselves: a birth in 06-1987 is not an interval.

    >>> raw_value_matcher(match_labels)(["06-1987", "07-1988"], ["07-1988", "*"])[1].tolist()
    [1, 0, 1]
    """

    def match_raw_values(values: Sequence[str], labels: Sequence[str]) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        left, right = ([_normalise_label(text) for text in texts] for texts in (values, labels))
        if not set(right) <= {*left, ROOT_LABEL}:
            return matcher(values, labels)
        hidden = [x for x, text in enumerate(right) if text == ROOT_LABEL]
        return _pair_arrays(_equal_pairs(left, right) | {(v, x) for v in range(len(left)) for x in hidden})

    return match_raw_values


def _normalise_label(text: str) -> str:
    """The text without differences between file formats: outer spaces, case of True, midnight after a date."""
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    return text[:10] if _MIDNIGHT.fullmatch(text) else text


def label_matchers(columns: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> list[LabelMatcher]:
    """A matcher for each column: by its hierarchy if it has one, otherwise by the text of the labels."""
    return [hierarchy_matcher(hierarchies[c]) if c in hierarchies else match_labels for c in columns]


def hierarchy_matcher(hierarchy: Hierarchy) -> LabelMatcher:
    """A matcher by a hierarchy, for labels on any level; labels that it does not know are matched by their text.

    Two labels fit if they have a value in common.

    >>> lungs = Hierarchy.from_rows([["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["ulcer", "stomach", "*"]])
    >>> hierarchy_matcher(lungs)(["flu", "ulcer"], ["lungs", "ulcer", "*"])[1].tolist()
    [0, 2, 1, 2]
    """

    def match_by_hierarchy(values: Sequence[str], labels: Sequence[str]) -> tuple[Ints, Ints]:
        owners = defaultdict[int, list[int]](list)
        for value, text in enumerate(values):
            for leaf in hierarchy.covered_values(_normalise_label(text)).tolist():
                owners[leaf].append(value)
        found, unknown = IndexPairs(), list[int]()
        for label, text in enumerate(labels):
            leaves = (
                []
                if _normalise_label(text) == ROOT_LABEL
                else hierarchy.covered_values(_normalise_label(text)).tolist()
            )
            found.update((value, label) for leaf in leaves for value in owners.get(leaf, ()))
            if not leaves:
                unknown.append(label)
        written = zip(*(a.tolist() for a in match_labels(values, [labels[i] for i in unknown])), strict=True)
        return _pair_arrays(found | {(value, unknown[i]) for value, i in written})

    return match_by_hierarchy


def _pair_arrays(pairs: IndexPairs) -> tuple[Ints, Ints]:
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _equal_pairs(values: Sequence[str], labels: Sequence[str]) -> IndexPairs:
    places = _positions_by_text(labels)
    return {(v, x) for v, text in enumerate(values) for x in places.get(text, ())}


def _masked_pairs(values: Sequence[str], masks: Sequence[str]) -> IndexPairs:
    """Values and the masks that fit them. Masks that hide the same positions are looked up by what they show."""
    shapes = defaultdict[tuple[int, ...], list[int]](list)
    for x, mask in enumerate(masks):
        if "*" in mask:
            shapes[tuple(i for i, c in enumerate(mask.rstrip("*")) if c != "*")].append(x)
    found: IndexPairs = set()
    for shape, these in shapes.items():
        places = _positions_by_text([_characters_at(masks[x], shape) for x in these])
        for v, value in enumerate(values):
            if not shape or shape[-1] < len(value):
                candidates = (these[i] for i in places.get(_characters_at(value, shape), ()))
                found.update((v, x) for x in candidates if mask_matches(masks[x], value))
    return found


def _characters_at(text: str, shape: tuple[int, ...]) -> str:
    return "".join(text[i] for i in shape)


def _positions_by_text(texts: Iterable[str]) -> dict[str, list[int]]:
    places = dict[str, list[int]]()
    for i, text in enumerate(texts):
        places.setdefault(text, []).append(i)
    return places


def _overlapping_pairs(values: Sequence[str], labels: Sequence[str]) -> IndexPairs:
    """Pairs of a number and its interval, of overlapping intervals, and of equal numbers written differently, unless
    one is written as a code: 02139 is not 2139."""
    codes = any(_is_impossible_range(text) for text in (*values, *labels))
    (v, low, high), (x, lowest, highest) = (_parse_intervals(texts, codes) for texts in (values, labels))
    found: IndexPairs = set()
    for i in np.flatnonzero(lowest < highest).tolist():
        found.update((place, int(x[i])) for place in v[(low <= highest[i]) & (high >= lowest[i])].tolist())
    for i in np.flatnonzero(low < high).tolist():
        found.update((int(v[i]), place) for place in x[(lowest <= high[i]) & (highest >= low[i])].tolist())
    numbers = defaultdict[float, list[int]](list)
    for place, number in zip(x[lowest == highest].tolist(), lowest[lowest == highest].tolist(), strict=True):
        if not _has_leading_zero(labels[place]):
            numbers[number].append(place)
    for place, number in zip(v[low == high].tolist(), low[low == high].tolist(), strict=True):
        if not _has_leading_zero(values[place]):
            found.update((place, other) for other in numbers.get(number, ()))
    return found


def _has_leading_zero(number: str) -> bool:
    return number[0] == "0" and number[1:2].isdigit()


def _is_impossible_range(text: str) -> bool:
    """Whether a text has the form of two numbers joined by a hyphen, but cannot be an interval."""
    found = _HYPHEN_RANGE.fullmatch(text)
    return bool(found and (_has_leading_zero(found[1]) or _has_leading_zero(found[2]) or int(found[1]) > int(found[2])))


def _parse_intervals(texts: Sequence[str], codes: bool) -> tuple[Ints, Floats, Floats]:
    """The positions of texts that are numbers or intervals, and their least and greatest numbers. An open end moves to
    the next number inside. With ``codes``, a hyphen does not make an interval."""
    left = [(i, text) for i, text in enumerate(texts) if not (codes and _HYPHEN_RANGE.fullmatch(text))]
    read = [(i, found) for i, text in left if (found := parse_interval(text))]
    low = np.array([f.low if f.low_closed else np.nextafter(f.low, np.inf) for _, f in read])
    high = np.array([f.high if f.high_closed else np.nextafter(f.high, -np.inf) for _, f in read])
    return np.array([i for i, _ in read], np.int64), low, high


def has_partial_dates(values: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether all texts are dates, months, quarters, years or decades, some more precise than others.

    >>> has_partial_dates(["1987-06-05"], ["1987-06", "1990"]), has_partial_dates(["1987"], ["1990"])
    (True, False)
    """
    paths = [_date_path(bare) for text in (*values, *labels) if (bare := _normalise_label(text)) != ROOT_LABEL]
    return None not in paths and len({len(path) for path in paths if path is not None}) > 1


def _date_path(text: str) -> tuple[str, ...] | None:
    """A date or a part of one, from coarse to fine: decade, year, quarter, month, day.

    >>> _date_path("1987-06"), _date_path("1987 Q2"), _date_path("1980s")
    (('198', '7', '2', '06'), ('198', '7', '2'), ('198',))
    """
    found = _DATE_PART.fullmatch(text)
    if found is None:
        return None
    decade, year, quarter, month, day = found.groups()
    if month is not None:
        quarter = str((int(month) + 2) // 3)
    return tuple(part for part in (decade, year, quarter, month, day) if part is not None)


def _date_part_pairs(values: Sequence[str], labels: Sequence[str]) -> IndexPairs:
    """Pairs of a date and a less precise one that contains it."""
    if not has_partial_dates(values, labels):
        return set()
    left, right = ([_date_path(text) or () for text in texts] for texts in (values, labels))
    return _paths_within(left, right) | {(v, x) for x, v in _paths_within(right, left)}


def _paths_within(fine: Sequence[tuple[str, ...]], coarse: Sequence[tuple[str, ...]]) -> IndexPairs:
    """Pairs of a path and a shorter one with which it begins."""
    places = defaultdict[tuple[str, ...], list[int]](list)
    for x, path in enumerate(coarse):
        places[path].append(x)
    return {
        (v, x) for v, path in enumerate(fine) for length in range(1, len(path)) for x in places.get(path[:length], ())
    }


def has_generalised_labels(labels: Sequence[str]) -> bool:
    """Whether some label hides characters or is an interval.

    >>> has_generalised_labels(["34", "35"]), has_generalised_labels(["3*"]), has_generalised_labels(["30-39"])
    (False, True, True)
    """
    bare = [_normalise_label(text) for text in labels]
    if any("*" in text for text in bare):
        return True
    codes = any(_is_impossible_range(text) for text in bare)
    _, low, high = _parse_intervals(bare, codes)
    return bool((low < high).any())
