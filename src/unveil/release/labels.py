"""Labels that stand for several values: intervals of numbers, and text with characters hidden. How they are written,
and what one that somebody else wrote may mean.
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
from unveil.wording import shown

__all__ = ["ROOT", "Interval", "Number", "fraction", "interval_labels", "interval_of", "mask_matches"]

ROOT = "*"
_DIGITS = 50
_PLAIN = r"[+\-−]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+\-]?[0-9]+)?"
_END = rf"({_PLAIN}|[+\-−]?(?:inf(?:inity)?|∞))"
_BETWEEN = r"\s*(?:-|–|—|…|\.\.\.?|to)\s*"
_NUMBER = re.compile(_PLAIN, re.IGNORECASE)
_FENCED = re.compile(rf"([\[\](])\s*{_END}(?:\s*[,;]\s*|{_BETWEEN}){_END}\s*([\[\])])", re.IGNORECASE)
_RANGE = re.compile(rf"({_PLAIN}){_BETWEEN}({_PLAIN})", re.IGNORECASE)
_SIDE = re.compile(rf"(≥|>=|>|≤|<=|<)\s*({_PLAIN})|({_PLAIN})\s*\+", re.IGNORECASE)

Number: TypeAlias = int | float | str | Decimal


# ---- reading ---------------------------------------------------------------------------------------------------------


class Interval(NamedTuple):
    """All numbers between two ends, with or without the ends themselves."""

    low: float
    high: float
    low_closed: bool
    high_closed: bool

    def holds(self, number: float) -> bool:
        """Whether a number lies in the interval."""
        above = number > self.low or (self.low_closed and number == self.low)
        return above and (number < self.high or (self.high_closed and number == self.high))


def interval_of(text: str) -> Interval | None:
    """The numbers that a generalised number stands for, or None if the text is neither a number nor an interval.

    Brackets say whether an end belongs to it (also the wrong way round, as in ``]1, 2[``); without brackets both do.

    >>> interval_of("[20, 30)") == interval_of("[20; 30[") == (20, 30, True, False)
    True
    >>> interval_of("20–29") == interval_of("20 to 29") == interval_of("[20-29]") == (20, 29, True, True)
    True
    >>> interval_of(">= 60") == interval_of("60+") == (60, math.inf, True, False)
    True
    >>> interval_of("34"), interval_of("2020-05"), interval_of("*")
    (Interval(low=34.0, high=34.0, low_closed=True, high_closed=True), None, None)
    """
    text = text.strip()
    if len(text) > 2 * _DIGITS:
        return None
    if _NUMBER.fullmatch(text):
        return _interval(text, text, True, True)
    if found := _FENCED.fullmatch(text):
        before, low, high, after = found.groups()
        return _interval(low, high, before == "[", after == "]")
    if found := _RANGE.fullmatch(text):
        return _interval(found[1], found[2], True, True)
    if found := _SIDE.fullmatch(text):
        sign, end = found[1] or "≥", found[2] or found[3]
        closed = sign not in "<>"
        return _interval("-inf", end, False, closed) if sign[0] in "<≤" else _interval(end, "inf", closed, False)
    return None


def mask_matches(pattern: str, value: str) -> bool:
    """Whether a value may be meant by a text with some characters replaced by ``*``.

    A ``*`` stands for one character, at the end of the text for one or none (shorter values are filled up), and alone
    for any value at all.

    >>> mask_matches("41**", "4123"), mask_matches("41**", "412"), mask_matches("41**", "41234")
    (True, True, False)
    >>> mask_matches("**23", "4123"), mask_matches("**23", "423"), mask_matches("*", "4123")
    (True, False, True)
    """
    if pattern == ROOT:
        return True
    head = pattern.rstrip("*")
    if not len(head) <= len(value) <= len(pattern):
        return False
    return all(p in ("*", v) for p, v in zip(head, value, strict=False))


def _interval(low: str, high: str, low_closed: bool, high_closed: bool) -> Interval | None:
    a, b = (float(end.replace("−", "-").replace("∞", "inf")) for end in (low, high))
    if a > b or (a == b and not (low_closed and high_closed)) or (a == b and math.isinf(a)):
        return None
    return Interval(a, b, low_closed and math.isfinite(a), high_closed and math.isfinite(b))


# ---- writing ---------------------------------------------------------------------------------------------------------


def fraction(text: str) -> Fraction | None:
    """A number as it is written, exactly; None if it is not a plain number of a sensible size."""
    if not _NUMBER.fullmatch(text) or len(text) > _DIGITS:
        return None
    number = Decimal(text.replace("−", "-"))
    return Fraction(number) if abs(number.adjusted()) <= _DIGITS else None


def _exact(number: Number, name: str, what: str) -> Fraction:
    found = fraction(str(number))
    if found is None:
        raise UnveilError(f"{shown(name)}: the {what} {shown(number)!r} is not a number; give one such as 10 or 2.5")
    return found


def interval_labels(
    numbers: Mapping[str, Fraction], steps: Sequence[Number | Sequence[Number]], origin: Number, name: str
) -> Iterator[tuple[str, ...]]:
    """Each text with the labels of the wider and wider intervals that its number is in, in the order of numbers."""
    start = _exact(origin, name, "origin")
    grids = [_grid(step, name) for step in steps]
    if not grids:
        raise UnveilError(f"{shown(name)}: there are no intervals; give at least one width or list of cut points")
    for fine, coarse in pairwise(grids):
        _check_nested(fine, coarse, start, name)
    whole = [grid.whole(start) and all(n.denominator == 1 for n in numbers.values()) for grid in grids]
    for text, number in sorted(numbers.items(), key=lambda item: item[1]):
        yield text, *(_label(*grid.around(number, start), w) for grid, w in zip(grids, whole, strict=True))


class _Grid(NamedTuple):
    """Where intervals meet: at all multiples of a width from the origin, or at cut points."""

    width: Fraction | None
    cuts: tuple[Fraction, ...]

    def around(self, number: Fraction, origin: Fraction) -> tuple[Fraction | None, Fraction | None]:
        """The ends of the interval that holds a number; None where it has no end."""
        if self.width:
            low = origin + math.floor((number - origin) / self.width) * self.width
            return low, low + self.width
        i = bisect_right(self.cuts, number)
        return (self.cuts[i - 1] if i else None), (self.cuts[i] if i < len(self.cuts) else None)

    def whole(self, origin: Fraction) -> bool:
        """Whether all ends are integers."""
        ends = (self.width, origin) if self.width else self.cuts
        return all(end.denominator == 1 for end in ends)


def _grid(step: Number | Sequence[Number], name: str) -> _Grid:
    if isinstance(step, (int, float, str, Decimal, np.number)):
        width = _exact(step, name, "width")
        if width <= 0:
            raise UnveilError(f"{shown(name)}: the width {shown(step)} is not above 0; give one that is")
        return _Grid(width, ())
    cuts = tuple(_exact(cut, name, "cut point") for cut in step)
    if not cuts or any(a >= b for a, b in pairwise(cuts)):
        raise UnveilError(f"{shown(name)}: cut points must rise, and there must be at least one")
    return _Grid(None, cuts)


def _check_nested(fine: _Grid, coarse: _Grid, origin: Fraction, name: str) -> None:
    """Every end of a coarse interval must be one of a fine interval too."""
    if coarse.width and not fine.width:
        raise UnveilError(f"{shown(name)}: a width cannot come after cut points; give cut points from there on")
    if coarse.width and fine.width and (coarse.width / fine.width).denominator > 1:
        raise UnveilError(
            f"{shown(name)}: the width {_written(coarse.width)} is not a multiple of {_written(fine.width)}, "
            "the one before it; choose widths that are"
        )
    for cut in coarse.cuts:
        if (((cut - origin) / fine.width).denominator > 1) if fine.width else cut not in fine.cuts:
            raise UnveilError(
                f"{shown(name)}: the cut point {_written(cut)} lies inside an interval of the level below; "
                "cut that level there too"
            )


def _label(low: Fraction | None, high: Fraction | None, whole: bool) -> str:
    if high is None:
        return f"≥{_written(low)}" if low is not None else ROOT
    if low is None:
        return f"<{_written(high)}"
    if not whole:
        return f"[{_written(low)}, {_written(high)})"
    last = high - 1
    if low == last:
        return _written(low)
    return f"{_written(low)}–{_written(last)}" if low >= 0 else f"[{_written(low)}, {_written(last)}]"


def _written(number: Fraction) -> str:
    """A number with all its decimals, of which there are finitely many for all that was read from text."""
    with localcontext(prec=4 * _DIGITS):
        return format(Decimal(number.numerator) / number.denominator, "f")
