"""A curve made ready to draw: finite points, names that may be shown, bars that do not overlap, ticks that can be read.

Pure functions over numbers and names; how it is drawn stands in ``charts.py``.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import Any, Literal

from unveil.finding import Curve
from unveil.wording import number, shown

__all__ = [
    "PLOT",
    "Plot",
    "Scale",
    "bars",
    "by_line",
    "domain",
    "label",
    "mark_before",
    "name",
    "prepare",
    "ticks",
    "width",
]

Scale = Literal["linear", "log", "symlog", "category"]

PLOT = 340  # the width of the plot in pixels, roughly: what the value axis leaves of the picture

_NAME = 28  # characters of a name, where a character has the usual width
_LINE_NAME = 42  # characters of the name of a line: it has the width of the picture
_ROWS = 30  # bars of a chart that lies on its side
_UPRIGHT = 52  # characters that fit under upright bars, all names together
_BAR = 26  # the widest bar, in pixels
_TICKS = 12  # up to so many places get a tick each
_NONCHARACTERS = re.compile("[\ufffe\uffff]")  # forbidden in XML


@dataclass(frozen=True)
class Plot:
    """What is drawn of a curve. ``left_out`` counts the categories that a chart on its side has no room for.

    ``series`` holds the name of each point's line; all are empty where there is one line.
    """

    curve: Curve
    scale: Scale
    x: tuple[Any, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    series: tuple[str, ...]
    sideways: bool = False
    left_out: int = 0


def prepare(curve: Curve) -> Plot:
    """The drawable part of a curve: points beyond all measure are left out, names made showable and distinct."""
    columns = (curve.x, curve.y, curve.low or curve.y, curve.high or curve.y, _line_names(curve))
    points = [p for p in zip(*columns, strict=True) if all(isinstance(v, str) or _drawable(v) for v in p)]
    x, y, low, high, series = zip(*points, strict=True) if points else ((), (), (), (), ())
    scale = _scale(curve, x)
    plot = Plot(curve, scale, x, y, low, high, series)
    if scale != "category" or not points:
        return plot
    names = tuple(_distinct(name(v if isinstance(v, str) else number(v)) for v in x))
    plot = replace(plot, x=names)
    return plot if curve.kind == "line" or _fit(names) else _sideways(plot)


def _line_names(curve: Curve) -> tuple[str, ...]:
    """The name of each point's line, as it may be shown."""
    series = curve.series or ("",) * len(curve.y)
    own = list(dict.fromkeys(series))
    names = dict(zip(own, _distinct(name(n, _LINE_NAME) for n in own), strict=True))
    return tuple(names[n] for n in series)


def by_line(plot: Plot) -> dict[str, list[dict[str, Any]]]:
    """The points of each line, by its name."""
    keys = ("x", "y", "low", "high")
    rows = (dict(zip(keys, p, strict=True)) for p in zip(plot.x, plot.y, plot.low, plot.high, strict=True))
    named = zip(plot.series, rows, strict=True)
    return {line: [row for _, row in group] for line, group in groupby(named, key=lambda pair: pair[0])}


def _fit(names: tuple[str, ...]) -> bool:
    """Whether names can stand under their bars. Of numbers, which have an order, some may be left out."""
    if all(len(n) <= 4 for n in names):
        return True
    numbers = all(re.match(r"[≥>]?\s*\d", n) for n in names)
    return sum((len(n) if numbers else max(map(len, names))) + 1 for n in names) <= _UPRIGHT


def label(text: object, limit: int) -> str:
    """Text that may stand in a picture: no control characters, no direction overrides, not endless."""
    return _NONCHARACTERS.sub("\ufffd", shown(text, limit))


def name(text: str, limit: int = _NAME) -> str:
    """A name of at most this width."""
    ends = accumulate(width(c) for c in text)
    return label(text, max(2, min(limit, sum(w <= limit for w in ends) + 1)))


def width(text: str) -> int:
    """How many characters wide a text is; those that are twice as wide count twice."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def bars(plot: Plot) -> list[dict[str, float]]:
    """Where each bar of a numeric axis begins and ends: at most halfway to its neighbours, and never very wide.

    Where bars are closer than pixels, the tallest of each pixel column stands for all.
    """
    forth, back = _transform(plot.scale)
    places = [forth(x) for x in plot.x]
    start, span = min(places), (max(places) - min(places)) or 1.0
    tallest: dict[float, float] = {}
    for place, y in zip(places, plot.y, strict=True):
        column = start + round((place - start) / span * PLOT) * span / PLOT
        tallest[column] = max(y, tallest.get(column, y), key=abs)
    at = sorted(tallest)
    gaps = [b - a for a, b in pairwise(at)]
    left, right = [*gaps[:1], *gaps] or [span], [*gaps, *gaps[-1:]] or [span]
    widest = span * _BAR / PLOT / 2
    halves = [min(0.46 * a, 0.46 * b, widest) for a, b in zip(left, right, strict=True)]
    return [{"x": back(t - h), "x2": back(t + h), "y": tallest[t]} for t, h in zip(at, halves, strict=True)]


def ticks(plot: Plot, low: float, high: float) -> list[float] | None:
    """Where the x axis is labelled; None leaves it to the drawing library."""
    places = sorted(set(plot.x))
    if len(places) <= _TICKS:
        return places
    if plot.scale == "linear":
        return None
    top = max(abs(low), abs(high), 1.0)
    steps = (1,) if top / max(abs(low), 1e-300) > 1e4 else (1, 2, 5)
    bottom = math.floor(math.log10(low)) if low > 0 else 0
    series = [s * 10.0**e for e in range(bottom, math.ceil(math.log10(top)) + 1) for s in steps]
    return [t for t in ([0.0, *series] if plot.scale == "symlog" else series) if low <= t <= high]


def domain(plot: Plot, ends: Sequence[float], mark: float | str | None) -> tuple[float, float]:
    """From where to where a numeric axis runs: all of ``ends`` and the mark, with room around a single place."""
    reach = [*ends, *([] if mark is None or isinstance(mark, str) else [mark])]
    only = plot.x[0]
    if all(x == only for x in plot.x):
        room = max(1.0, abs(only) / 2)
        reach += [only / 2, only * 2] if plot.scale == "log" else [only - room, only + room]
    return min(reach), max(reach)


def mark_before(plot: Plot) -> float | str | None:
    """Where the mark stands: its number, or the first category that begins with a number as large."""
    mark = plot.curve.mark
    if mark is None or not _drawable(mark) or (plot.scale == "log" and mark <= 0):
        return None
    if plot.scale != "category":
        return mark
    for name in plot.x:
        found = re.match(r"[≥>]?\s*(\d[\d,]*(?:\.\d+)?)", name)
        if found and float(found[1].replace(",", "")) >= mark:
            return str(name)
    return None


def _drawable(x: float) -> bool:
    """Finite, and far from where the arithmetic of an axis would overflow."""
    return x == 0 or 1e-100 <= abs(x) <= 1e100


def _scale(curve: Curve, x: Sequence[Any]) -> Scale:
    if curve.x_scale == "category" or any(isinstance(v, str) for v in x):
        return "category"
    if curve.x_scale == "log":
        return "log" if all(v > 0 for v in x) else "symlog"
    return "linear"


def _distinct(names: Iterable[str]) -> Iterator[str]:
    """Two names that look the same after shortening would share a bar: number the later ones."""
    taken: set[str] = set()
    for name in names:
        unique, n = name, 1
        while unique in taken:
            n += 1
            unique = f"{name} ({n})"
        taken.add(unique)
        yield unique


def _sideways(plot: Plot) -> Plot:
    x, y, low, high = (column[:_ROWS] for column in (plot.x, plot.y, plot.low, plot.high))
    first = replace(plot, x=x, y=y, low=low, high=high, series=plot.series[:_ROWS])
    return replace(first, sideways=True, left_out=len(plot.x) - len(x))


def _transform(scale: Scale) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """The scale as a function and its inverse."""
    if scale == "log":
        return math.log, math.exp
    if scale == "symlog":
        return (lambda x: math.copysign(math.log1p(abs(x)), x)), (lambda t: math.copysign(math.expm1(abs(t)), t))
    return float, float
