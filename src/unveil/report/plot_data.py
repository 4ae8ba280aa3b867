"""Prepare a curve for drawing: finite points, safe names, bars that do not overlap, readable ticks.

Pure functions over numbers and names; :mod:`unveil.report.charts` does the drawing.
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
from unveil.wording import number_text, safe_text

__all__ = [
    "PLOT_WIDTH",
    "Plot",
    "Scale",
    "axis_domain",
    "axis_ticks",
    "bar_spans",
    "label_text",
    "mark_position",
    "points_by_line",
    "prepare_plot",
    "short_name",
    "text_width",
]

Scale = Literal["linear", "log", "symlog", "category"]

PLOT_WIDTH = 340  # approximate width of the plot without the value axis, in pixels

_MAX_NAME = 28  # the most characters of a name, wide characters counting twice
_MAX_LINE_NAME = 42  # the most characters of the name of a series, which has the width of the picture
_MAX_ROWS = 30  # the most bars of a chart on its side
_UPRIGHT_CHARACTERS = 52  # the most characters under upright bars, all names together
_MAX_BAR_WIDTH = 26  # width of the widest bar, in pixels
_MAX_TICKS = 12  # the most places that get a tick each
_NONCHARACTERS = re.compile("[\ufffe\uffff]")  # forbidden in XML


@dataclass(frozen=True)
class Plot:
    """The drawable part of a curve. ``left_out`` counts the categories for which a chart on its side has no room.

    ``series`` holds the name of each point's line; the names are empty if there is only one line.
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


def prepare_plot(curve: Curve) -> Plot:
    """The drawable part of a curve, without extreme points, and with safe and distinct names."""
    columns = (curve.x, curve.y, curve.low or curve.y, curve.high or curve.y, _line_names(curve))
    points = [p for p in zip(*columns, strict=True) if all(isinstance(v, str) or _is_drawable(v) for v in p)]
    x, y, low, high, series = zip(*points, strict=True) if points else ((), (), (), (), ())
    scale = _axis_scale(curve, x)
    plot = Plot(curve, scale, x, y, low, high, series)
    if scale != "category" or not points:
        return plot
    names = tuple(_distinct_names(short_name(v if isinstance(v, str) else number_text(v)) for v in x))
    plot = replace(plot, x=names)
    return plot if curve.kind == "line" or _names_fit(names) else _turn_sideways(plot)


def _line_names(curve: Curve) -> tuple[str, ...]:
    """The name of each point's line, safe to show."""
    series = curve.series or ("",) * len(curve.y)
    own = list(dict.fromkeys(series))
    names = dict(zip(own, _distinct_names(short_name(n, _MAX_LINE_NAME) for n in own), strict=True))
    return tuple(names[n] for n in series)


def points_by_line(plot: Plot) -> dict[str, list[dict[str, Any]]]:
    """The points of each line, by its name."""
    keys = ("x", "y", "low", "high")
    rows = (dict(zip(keys, p, strict=True)) for p in zip(plot.x, plot.y, plot.low, plot.high, strict=True))
    named = zip(plot.series, rows, strict=True)
    return {line: [row for _, row in group] for line, group in groupby(named, key=lambda pair: pair[0])}


def _names_fit(names: tuple[str, ...]) -> bool:
    """Whether names fit under their bars. Some numbers may be omitted, since their order is obvious."""
    if all(len(n) <= 4 for n in names):
        return True
    numbers = all(re.match(r"[≥>]?\s*\d", n) for n in names)
    return sum((len(n) if numbers else max(map(len, names))) + 1 for n in names) <= _UPRIGHT_CHARACTERS


def label_text(text: object, limit: int) -> str:
    """Text that is safe in a picture: no control characters or direction overrides, limited length."""
    return _NONCHARACTERS.sub("\ufffd", safe_text(text, limit))


def short_name(text: str, limit: int = _MAX_NAME) -> str:
    """A name of at most this width."""
    ends = accumulate(text_width(c) for c in text)
    return label_text(text, max(2, min(limit, sum(w <= limit for w in ends) + 1)))


def text_width(text: str) -> int:
    """The width of a text in characters; wide characters count twice."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def bar_spans(plot: Plot) -> list[dict[str, float]]:
    """Where each bar on a numeric axis begins and ends: at most halfway to its neighbours, and never very wide.

    Of several bars in one pixel column, only the tallest is drawn.
    """
    forth, back = _scale_functions(plot.scale)
    places = [forth(x) for x in plot.x]
    start, span = min(places), (max(places) - min(places)) or 1.0
    tallest: dict[float, float] = {}
    for place, y in zip(places, plot.y, strict=True):
        column = start + round((place - start) / span * PLOT_WIDTH) * span / PLOT_WIDTH
        tallest[column] = max(y, tallest.get(column, y), key=abs)
    at = sorted(tallest)
    gaps = [b - a for a, b in pairwise(at)]
    left, right = [*gaps[:1], *gaps] or [span], [*gaps, *gaps[-1:]] or [span]
    widest = span * _MAX_BAR_WIDTH / PLOT_WIDTH / 2
    halves = [min(0.46 * a, 0.46 * b, widest) for a, b in zip(left, right, strict=True)]
    return [{"x": back(t - h), "x2": back(t + h), "y": tallest[t]} for t, h in zip(at, halves, strict=True)]


def axis_ticks(plot: Plot, low: float, high: float) -> list[float] | None:
    """The labelled positions of the x axis; None leaves them to the drawing library."""
    places = sorted(set(plot.x))
    if len(places) <= _MAX_TICKS:
        return places
    if plot.scale == "linear":
        return None
    top = max(abs(low), abs(high), 1.0)
    steps = (1,) if top / max(abs(low), 1e-300) > 1e4 else (1, 2, 5)
    bottom = math.floor(math.log10(low)) if low > 0 else 0
    series = [s * 10.0**e for e in range(bottom, math.ceil(math.log10(top)) + 1) for s in steps]
    return [t for t in ([0.0, *series] if plot.scale == "symlog" else series) if low <= t <= high]


def axis_domain(plot: Plot, ends: Sequence[float], mark: float | str | None) -> tuple[float, float]:
    """The range of a numeric axis: all of ``ends`` and the mark, with room around a single position."""
    reach = [*ends, *([] if mark is None or isinstance(mark, str) else [mark])]
    only = plot.x[0]
    if all(x == only for x in plot.x):
        room = max(1.0, abs(only) / 2)
        reach += [only / 2, only * 2] if plot.scale == "log" else [only - room, only + room]
    return min(reach), max(reach)


def mark_position(plot: Plot) -> float | str | None:
    """The position of the mark: its number, or the first category that begins with a number at least as large."""
    mark = plot.curve.mark
    if mark is None or not _is_drawable(mark) or (plot.scale == "log" and mark <= 0):
        return None
    if plot.scale != "category":
        return mark
    for name in plot.x:
        found = re.match(r"[≥>]?\s*(\d[\d,]*(?:\.\d+)?)", name)
        if found and float(found[1].replace(",", "")) >= mark:
            return str(name)
    return None


def _is_drawable(x: float) -> bool:
    """Whether a number is finite and does not overflow the arithmetic of an axis."""
    return x == 0 or 1e-100 <= abs(x) <= 1e100


def _axis_scale(curve: Curve, x: Sequence[Any]) -> Scale:
    if curve.x_scale == "category" or any(isinstance(v, str) for v in x):
        return "category"
    if curve.x_scale == "log":
        return "log" if all(v > 0 for v in x) else "symlog"
    return "linear"


def _distinct_names(names: Iterable[str]) -> Iterator[str]:
    """Number names that are equal after shortening, since equal names would share a bar."""
    taken: set[str] = set()
    for name in names:
        unique, n = name, 1
        while unique in taken:
            n += 1
            unique = f"{name} ({n})"
        taken.add(unique)
        yield unique


def _turn_sideways(plot: Plot) -> Plot:
    x, y, low, high = (column[:_MAX_ROWS] for column in (plot.x, plot.y, plot.low, plot.high))
    first = replace(plot, x=x, y=y, low=low, high=high, series=plot.series[:_MAX_ROWS])
    return replace(first, sideways=True, left_out=len(plot.x) - len(x))


def _scale_functions(scale: Scale) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """The scale as a function and its inverse."""
    if scale == "log":
        return math.log, math.exp
    if scale == "symlog":
        return (lambda x: math.copysign(math.log1p(abs(x)), x)), (lambda t: math.copysign(math.expm1(abs(t)), t))
    return float, float
