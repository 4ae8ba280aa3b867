"""Draw protections that were weighed against each other: a small picture for each measure, and what is kept against who
is found.

A protection has the same colour, dash and point in all of them.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from unveil.finding import Curve
from unveil.report.charts import LINE_STYLES, POINT_RADIUS, chart_svg, legend_svg
from unveil.report.plot_data import text_width
from unveil.report.svg_filter import INK, PICTURE_WIDTH, filter_svg
from unveil.report.svg_shapes import add_shape, blank_drawing
from unveil.report.weighed_words import limit_text
from unveil.usefulness.repeated_measure import RepeatedMeasure
from unveil.weighed_protections import WeighedProtection, WeighedProtections
from unveil.wording import percent_text

__all__ = ["ShareAxis", "fit_axis", "frontier_svg", "panel_svg", "weighed_legend"]

_WIDE_SPAN = 8  # times the smallest goal, from which on goals stand on a logarithmic axis


def weighed_legend(weighed: WeighedProtections) -> str:
    """The legend of all pictures."""
    return legend_svg(list(weighed.methods))


# ---- small multiples -------------------------------------------------------------------------------------------------


def panel_svg(weighed: WeighedProtections, measure: RepeatedMeasure, of_attackers: bool) -> str:
    """One measure by goal, with a line for each protection and the number before."""
    points = [
        (p.method, p.limit, found.mean, *_band(found, of_attackers))
        for p in sorted(weighed.protections, key=lambda p: (list(weighed.methods).index(p.method), p.limit))
        if (found := p.find(measure.id)) is not None
    ]
    series, x, y, low, high = zip(*points, strict=True)
    is_banded = low != y or high != y
    limits = weighed.limits
    return chart_svg(
        Curve(
            title=measure.title,
            kind="line",
            x_label=f"goal for {weighed.goal}",
            y_label="share" if measure.is_share else "",
            x=x,
            y=y,
            low=low if is_banded else None,
            high=high if is_banded else None,
            series=series,
            x_scale="log" if limits[0] > 0 and limits[-1] >= _WIDE_SPAN * limits[0] else "linear",
            y_scale="fitted",
            levels=() if measure.before is None else ((float(measure.before), "as it is"),),
            reading="One line for each protection.",
        ),
        list(weighed.methods),
    )


def _band(found: RepeatedMeasure, of_attackers: bool) -> tuple[float, float]:
    """From where to where the band around a number reaches."""
    if of_attackers or found.variance is None:
        return found.interval or (found.mean, found.mean)
    spread = math.sqrt(found.variance)
    low, high = found.mean - spread, found.mean + spread
    return (max(0.0, low), min(1.0, high)) if found.is_share else (low, high)


# ---- what is kept against who is found -------------------------------------------------------------------------------

_HEIGHT = 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 388, 30, 250  # the frame of the plot
_LETTER_WIDTH = 7.0  # usual upper limit for the width of a character, in pixels
_LINE_HEIGHT = 13
_LEAST_RANGE = 0.1  # of shares on an axis
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


@dataclass(frozen=True)
class ShareAxis:
    """A stretch of shares, and where it is drawn."""

    ticks: tuple[float, ...]
    start: float
    end: float

    def place(self, share: float) -> float:
        """Where a share is drawn; at the edge if it is beyond."""
        low, high = self.ticks[0], self.ticks[-1]
        share = min(max(share, low), high)
        return self.start + (self.end - self.start) * (share - low) / (high - low)


class _Box(NamedTuple):
    left: float
    right: float
    top: float
    bottom: float

    def overlaps(self, other: _Box) -> bool:
        """Whether two boxes share a place."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def frontier_svg(weighed: WeighedProtections) -> str:
    """What is kept against who is found, as an SVG element with an accessible name; empty if nothing has both."""
    placed = [p for p in weighed.protections if p.usefulness is not None and p.harmed is not None]
    if not placed:
        return ""
    was = next((m.mean for m in weighed.before if m.id == weighed.risk), None)
    x = fit_axis([p.usefulness or 0.0 for p in placed], _LEFT, _RIGHT)
    y = fit_axis([*(_found(weighed, p) for p in placed), *([] if was is None else [was])], _BOTTOM, _TOP)
    drawing = blank_drawing(_HEIGHT)
    _draw_frame(drawing, x, y)
    taken = list[_Box]()
    if was is not None:
        _draw_level(drawing, y.place(was), taken)
    best = sorted((p for p in placed if p.is_unbeaten), key=lambda p: p.usefulness or 0.0)
    if len(best) > 1:
        path = "M" + "L".join(f"{x.place(p.usefulness or 0):.1f},{y.place(_found(weighed, p)):.1f}" for p in best)
        add_shape(drawing, "path", d=path, stroke=INK, stroke_dasharray="4 3", stroke_opacity=0.6, fill="none")
    points = [(p, x.place(p.usefulness or 0.0), y.place(_found(weighed, p))) for p in placed]
    for p, across, down in points:
        _draw_point(drawing, p, across, down, y, list(weighed.methods).index(p.method))
        taken.append(_Box(across - 5, across + 5, down - 5, down + 5))
    for p, across, down in sorted(points, key=lambda point: not point[0].is_unbeaten):
        label = limit_text(weighed, p.limit)
        _draw_label(drawing, label if p.reached else f"({label})", across, down, taken, bold=p.is_unbeaten)
    said = "; ".join(
        f"{p.method} at {limit_text(weighed, p.limit)}: {percent_text(p.usefulness or 0)} kept, "
        f"{percent_text(_found(weighed, p))} found"
        for p in placed
    )
    return filter_svg(ET.tostring(drawing, encoding="unicode"), "What is kept, and who is still found", said)


def _found(weighed: WeighedProtections, protection: WeighedProtection) -> float:
    found = protection.find(weighed.risk)
    assert found is not None
    return found.mean


def fit_axis(shares: Sequence[float], start: float, end: float) -> ShareAxis:
    """An axis with a few round shares, from one below all of these to one above. It is not short, lest differences that
    may be chance look large."""
    low, high = min(shares), max(shares)
    room = max(0.0, _LEAST_RANGE - (high - low)) / 2
    low, high = max(0.0, min(low - room, 1 - _LEAST_RANGE)), min(1.0, max(high + room, _LEAST_RANGE))
    for step in _STEPS:
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last == first:
            first, last = max(0, first - 1), first + (first == 0)
        if last - first <= 6:
            return ShareAxis(tuple(step * k for k in range(first, last + 1)), start, end)
    return ShareAxis((0.0, 0.5, 1.0), start, end)


def _draw_frame(drawing: ET.Element, x: ShareAxis, y: ShareAxis) -> None:
    for share in x.ticks:
        _draw_text(drawing, percent_text(share), x.place(share), _BOTTOM + 16, "middle")
    for share in y.ticks:
        _draw_text(drawing, percent_text(share), _LEFT - 6, y.place(share) + 4, "end")
        _draw_line(drawing, _LEFT, y.place(share), _RIGHT, y.place(share), opacity=0.15)
    _draw_line(drawing, _LEFT, _TOP, _LEFT, _BOTTOM, opacity=0.5)
    _draw_text(drawing, "Kept", _RIGHT, _BOTTOM + 36, "end")
    _draw_text(drawing, "Share found", 2, 14)


def _draw_level(drawing: ET.Element, y: float, taken: list[_Box]) -> None:
    """The share found in the release as it is."""
    _draw_line(drawing, _LEFT, y, _RIGHT, y, opacity=0.9, stroke_dasharray="5 3")
    _draw_text(drawing, "as it is", _LEFT + 4, y - 4)
    taken.append(_Box(_LEFT, _LEFT + 60, y - 4 - _LINE_HEIGHT, y + 2))


def _draw_point(
    drawing: ET.Element, protection: WeighedProtection, x: float, y: float, axis: ShareAxis, number: int
) -> None:
    style = LINE_STYLES[number]
    assert protection.harmed is not None
    low, high = map(axis.place, protection.harmed)
    if low - high > 1:
        _draw_line(drawing, x, low, x, high, opacity=0.5, stroke=style.colour)
    place = f"translate({x:.1f},{y:.1f}) scale({POINT_RADIUS + 1})"
    fill = {"fill": style.colour} if protection.is_unbeaten else {"fill": "none"}
    add_shape(drawing, "path", d=style.point, transform=place, stroke=style.colour, stroke_width=0.4, **fill)


def _draw_label(drawing: ET.Element, text: str, x: float, y: float, taken: list[_Box], bold: bool) -> None:
    """The goal beside its point, where there is room; nothing if there is none."""
    width = _LETTER_WIDTH * text_width(text)
    for left, bottom in _label_places(x, y, width):
        box = _Box(left, left + width, bottom - _LINE_HEIGHT + 3, bottom + 1)
        if box.left > _LEFT and box.right < PICTURE_WIDTH and not any(box.overlaps(other) for other in taken):
            taken.append(box)
            _draw_text(drawing, text, left, bottom, bold=bold)
            return


def _label_places(x: float, y: float, width: float) -> Iterator[tuple[float, float]]:
    """Where a label may begin, and its bottom: right, left, and in the corners."""
    for down in (4, -5, 14):
        yield x + 7, y + down
        yield x - 7 - width, y + down
    yield from ((x - width / 2, y - 8), (x - width / 2, y + 17))


def _draw_line(drawing: ET.Element, x1: float, y1: float, x2: float, y2: float, **look: object) -> None:
    look = {"stroke": INK, "stroke_opacity": look.pop("opacity"), **look}
    add_shape(drawing, "line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", **look)


def _draw_text(drawing: ET.Element, text: str, x: float, y: float, anchor: str = "start", bold: bool = False) -> None:
    look = {"font_weight": 600} if bold else {}
    add_shape(
        drawing, "text", x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, fill=INK, font_size="12px", **look
    ).text = text
