"""Labels that stand for several values: intervals of numbers, and text with hidden characters.

The first part reads labels that somebody else wrote; the second writes our own.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from unveil.errors import UnveilError
from unveil.wording import safe_text

__all__ = [
    "ROOT_LABEL",
    "Interval",
    "Number",
    "interval_label",
    "interval_labels",
    "mask_matches",
    "parse_fraction",
    "parse_interval",
    "range_label",
]

ROOT_LABEL = "*"
_MAX_DIGITS = 50
_NUMBER_PATTERN = r"[+\-−]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+\-]?[0-9]+)?"
_END_PATTERN = rf"({_NUMBER_PATTERN}|[+\-−]?(?:inf(?:inity)?|∞))"
_SEPARATOR_PATTERN = r"\s*(?:-|–|—|…|\.\.\.?|to)\s*"
_NUMBER = re.compile(_NUMBER_PATTERN, re.IGNORECASE)
_BRACKETED_INTERVAL = re.compile(
    rf"([\[\](])\s*{_END_PATTERN}(?:\s*[,;]\s*|{_SEPARATOR_PATTERN}){_END_PATTERN}\s*([\[\])])", re.IGNORECASE
)
_NUMBER_RANGE = re.compile(rf"({_NUMBER_PATTERN}){_SEPARATOR_PATTERN}({_NUMBER_PATTERN})", re.IGNORECASE)
_ONE_SIDED = re.compile(rf"(≥|>=|>|≤|<=|<)\s*({_NUMBER_PATTERN})|({_NUMBER_PATTERN})\s*\+", re.IGNORECASE)

Number: TypeAlias = int | float | str | Decimal


# ---- reading ---------------------------------------------------------------------------------------------------------


class Interval(NamedTuple):
    """All numbers between two ends, each of which may belong to the interval or not."""

    low: float
    high: float
    low_closed: bool
    high_closed: bool


def parse_interval(text: str) -> Interval | None:
    """The numbers that a generalised number stands for, or None if the text is neither a number nor an interval.

    Brackets say whether an end belongs to it (also reversed, as in ``]1, 2[``); without brackets both ends do.

    >>> parse_interval("[20, 30)") == parse_interval("[20; 30[") == (20, 30, True, False)
    True
    >>> parse_interval("20–29") == parse_interval("20 to 29") == parse_interval("[20-29]") == (20, 29, True, True)
    True
    >>> parse_interval(">= 60") == parse_interval("60+") == (60, math.inf, True, False)
    True
    >>> parse_interval("34"), parse_interval("2020-05"), parse_interval("*")
    (Interval(low=34.0, high=34.0, low_closed=True, high_closed=True), None, None)
    """
    text = text.strip()
    if len(text) > 2 * _MAX_DIGITS:
        return None
    if _NUMBER.fullmatch(text):
        return _make_interval(text, text, True, True)
    if found := _BRACKETED_INTERVAL.fullmatch(text):
        before, low, high, after = found.groups()
        return _make_interval(low, high, before == "[", after == "]")
    if found := _NUMBER_RANGE.fullmatch(text):
        return _make_interval(found[1], found[2], True, True)
    if found := _ONE_SIDED.fullmatch(text):
        sign, end = found[1] or "≥", found[2] or found[3]
        closed = sign not in "<>"
        return (
            _make_interval("-inf", end, False, closed) if sign[0] in "<≤" else _make_interval(end, "inf", closed, False)
        )
    return None


def mask_matches(pattern: str, value: str) -> bool:
    """Whether a text with some characters replaced by ``*`` may stand for a value.

    A ``*`` stands for one character; at the end of the text for one or none, because shorter values are padded; alone
    for any value.

    >>> mask_matches("41**", "4123"), mask_matches("41**", "412"), mask_matches("41**", "41234")
    (True, True, False)
    >>> mask_matches("**23", "4123"), mask_matches("**23", "423"), mask_matches("*", "4123")
    (True, False, True)
    """
    if pattern == ROOT_LABEL:
        return True
    head = pattern.rstrip("*")
    if not len(head) <= len(value) <= len(pattern):
        return False
    return all(p in ("*", v) for p, v in zip(head, value, strict=False))


def _make_interval(low: str, high: str, low_closed: bool, high_closed: bool) -> Interval | None:
    a, b = (float(end.replace("−", "-").replace("∞", "inf")) for end in (low, high))
    if a > b or (a == b and not (low_closed and high_closed)) or (a == b and math.isinf(a)):
        return None
    return Interval(a, b, low_closed and math.isfinite(a), high_closed and math.isfinite(b))


# ---- writing ---------------------------------------------------------------------------------------------------------


def parse_fraction(text: str) -> Fraction | None:
    """The exact value of a written number; None if the text is not a plain number of reasonable size."""
    if not _NUMBER.fullmatch(text) or len(text) > _MAX_DIGITS:
        return None
    number = Decimal(text.replace("−", "-"))
    return Fraction(number) if abs(number.adjusted()) <= _MAX_DIGITS else None


def _require_fraction(number: Number, name: str, what: str) -> Fraction:
    found = parse_fraction(str(number))
    if found is None:
        raise UnveilError(
            f"{safe_text(name)}: the {what} {safe_text(number)!r} is not a number; give one such as 10 or 2.5"
        )
    return found


def interval_labels(
    numbers: Mapping[str, Fraction], steps: Sequence[Number | Sequence[Number]], origin: Number, name: str
) -> Iterator[tuple[str, ...]]:
    """Each text with the labels of the ever wider intervals that contain its number, in numerical order."""
    start = _require_fraction(origin, name, "origin")
    grids = [_make_grid(step, name) for step in steps]
    if not grids:
        raise UnveilError(f"{safe_text(name)}: there are no intervals; give at least one width or list of cut points")
    for fine, coarse in pairwise(grids):
        _check_nesting(fine, coarse, start, name)
    whole = [grid.has_integer_ends(start) and all(n.denominator == 1 for n in numbers.values()) for grid in grids]
    for text, number in sorted(numbers.items(), key=lambda item: item[1]):
        yield (
            text,
            *(_interval_label(*grid.interval_around(number, start), w) for grid, w in zip(grids, whole, strict=True)),
        )


def interval_label(number: Fraction, step: Number | Sequence[Number], whole: bool, name: str) -> str:
    """The label of the interval around a number, counted from 0; among ``whole`` numbers it shows the last one.

    >>> interval_label(Fraction(34), 10, True, "age"), interval_label(Fraction(34), ["18", "65"], False, "age")
    ('30–39', '[18, 65)')
    """
    return _interval_label(*_make_grid(step, name).interval_around(number, Fraction(0)), whole)


class _IntervalGrid(NamedTuple):
    """Where intervals meet: at the origin plus all multiples of a width, or at cut points."""

    width: Fraction | None
    cuts: tuple[Fraction, ...]

    def interval_around(self, number: Fraction, origin: Fraction) -> tuple[Fraction | None, Fraction | None]:
        """The ends of the interval around a number; None where it is unbounded."""
        if self.width:
            low = origin + math.floor((number - origin) / self.width) * self.width
            return low, low + self.width
        i = bisect_right(self.cuts, number)
        return (self.cuts[i - 1] if i else None), (self.cuts[i] if i < len(self.cuts) else None)

    def has_integer_ends(self, origin: Fraction) -> bool:
        """Whether all ends are integers."""
        ends = (self.width, origin) if self.width else self.cuts
        return all(end.denominator == 1 for end in ends)


def _make_grid(step: Number | Sequence[Number], name: str) -> _IntervalGrid:
    if isinstance(step, (int, float, str, Decimal, np.number)):
        width = _require_fraction(step, name, "width")
        if width <= 0:
            raise UnveilError(f"{safe_text(name)}: the width {safe_text(step)} is not above 0; give a positive width")
        return _IntervalGrid(width, ())
    cuts = tuple(_require_fraction(cut, name, "cut point") for cut in step)
    if not cuts or any(a >= b for a, b in pairwise(cuts)):
        raise UnveilError(f"{safe_text(name)}: cut points must be in rising order; give at least one")
    return _IntervalGrid(None, cuts)


def _check_nesting(fine: _IntervalGrid, coarse: _IntervalGrid, origin: Fraction, name: str) -> None:
    """Refuse a coarse interval whose end is not also the end of a fine interval."""
    if coarse.width and not fine.width:
        raise UnveilError(f"{safe_text(name)}: a width cannot come after cut points; give cut points from there on")
    if coarse.width and fine.width and (coarse.width / fine.width).denominator > 1:
        raise UnveilError(
            f"{safe_text(name)}: the width {_format_fraction(coarse.width)} is not a multiple of "
            f"{_format_fraction(fine.width)}, the width before it; choose a multiple"
        )
    for cut in coarse.cuts:
        if (((cut - origin) / fine.width).denominator > 1) if fine.width else cut not in fine.cuts:
            raise UnveilError(
                f"{safe_text(name)}: the cut point {_format_fraction(cut)} lies inside an interval of the level below; "
                "cut that level there too"
            )


def _interval_label(low: Fraction | None, high: Fraction | None, whole: bool) -> str:
    if high is None:
        return f"≥{_format_fraction(low)}" if low is not None else ROOT_LABEL
    if low is None:
        return f"<{_format_fraction(high)}"
    if not whole:
        return f"[{_format_fraction(low)}, {_format_fraction(high)})"
    return range_label(low, high - 1)


def range_label(low: Fraction, high: Fraction) -> str:
    """All numbers from one to another, both included.

    >>> range_label(Fraction(20), Fraction(34)), range_label(Fraction(-1, 2), Fraction(3))
    ('20–34', '[-0.5, 3]')
    """
    first, last = _format_fraction(low), _format_fraction(high)
    if low == high:
        return first
    is_plain = low >= 0 and low.denominator == high.denominator == 1
    return f"{first}–{last}" if is_plain else f"[{first}, {last}]"


def _format_fraction(number: Fraction) -> str:
    """A number with all its decimals; numbers read from text have finitely many."""
    with localcontext(prec=4 * _MAX_DIGITS):
        return format(Decimal(number.numerator) / number.denominator, "f")
