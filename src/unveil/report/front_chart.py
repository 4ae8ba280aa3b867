"""Draw protections as points: how useful each leaves the data, and how many people it still harms.

A line joins those that no other beats. The one that was chosen is filled; the release as it is, too, is a point.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import NamedTuple

from unveil.assessment import ProtectionResult
from unveil.protection_front import placed_protections, unbeaten_protections
from unveil.report.plot_data import text_width
from unveil.report.svg_filter import BLUE, INK, PICTURE_WIDTH, filter_svg
from unveil.wording import percent_text

__all__ = ["front_svg"]

_HEIGHT = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 392, 30, 196  # the frame of the plot
_RADIUS = 4.5
_LINE_HEIGHT = 14
_LETTER_WIDTH = 6.8  # usual upper limit for the width of a character, in pixels
_TITLE = "Usefulness and harm of each protection"


class _Point(NamedTuple):
    protection: ProtectionResult
    x: float
    y: float
    low: float


def front_svg(protections: Sequence[ProtectionResult]) -> str:
    """The protections as an SVG element with an accessible name; empty if there are fewer than two points."""
    placed = placed_protections(protections)
    if len(placed) < 2:
        return ""
    top = _axis_end(max(p.harmed[1] for p in placed if p.harmed))
    drawing = ET.Element("svg", {"width": str(PICTURE_WIDTH), "height": str(_HEIGHT)})
    _draw_axes(drawing, top)
    points = [_place(p, top) for p in placed]
    best = {id(p) for p in unbeaten_protections(placed)}
    line = [p for p in sorted(points, key=lambda p: p.x) if id(p.protection) in best]
    if len(line) > 1:
        path = "M" + "L".join(f"{p.x:.1f},{p.y:.1f}" for p in line)
        ET.SubElement(drawing, "path", {"d": path, "stroke": BLUE, "stroke-dasharray": "4 3", "fill": "none"})
    for point in points:
        _draw_point(drawing, point)
    _draw_names(drawing, points)
    said = "; ".join(
        f"{p.title}: {percent_text(p.usefulness or 0)} useful, {percent_text((p.harmed or (0, 0))[1])} harmed"
        for p in placed
    )
    return filter_svg(ET.tostring(drawing, encoding="unicode"), _TITLE, said)


def _axis_end(most: float) -> float:
    """The first round share that is no less."""
    return next(end for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if most <= end)


def _place(protection: ProtectionResult, top: float) -> _Point:
    assert protection.usefulness is not None and protection.harmed is not None
    low, high = (_BOTTOM - (_BOTTOM - _TOP) * share / top for share in protection.harmed)
    return _Point(protection, _LEFT + (_RIGHT - _LEFT) * protection.usefulness, high, low)


def _draw_axes(drawing: ET.Element, top: float) -> None:
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = _LEFT + (_RIGHT - _LEFT) * share, _BOTTOM - (_BOTTOM - _TOP) * share
        _draw_text(drawing, percent_text(share), x, _BOTTOM + 16, "end" if share == 1 else "middle")
        _draw_text(drawing, percent_text(share * top), _LEFT - 6, y + 4, "end")
        _draw_line(drawing, _LEFT, y, _RIGHT, y, "0.15")
    _draw_line(drawing, _LEFT, _TOP, _LEFT, _BOTTOM, "0.5")
    _draw_text(drawing, "Usefulness", _RIGHT, _BOTTOM + 34, "end")
    _draw_text(drawing, "Share harmed", 2, 14, "start")


def _draw_point(drawing: ET.Element, point: _Point) -> None:
    if point.low - point.y > 1:
        _draw_line(drawing, point.x, point.y, point.x, point.low, "0.6")
    r, x, y = _RADIUS, point.x, point.y
    circle = f"M{x - r:.1f},{y:.1f}A{r},{r},0,1,1,{x + r:.1f},{y:.1f}A{r},{r},0,1,1,{x - r:.1f},{y:.1f}Z"
    fill = {"fill": BLUE} if point.protection.chosen else {"fill": "none"}
    ET.SubElement(drawing, "path", {"d": circle, "stroke": BLUE, "stroke-width": "1.5", **fill})


def _draw_names(drawing: ET.Element, points: Sequence[_Point]) -> None:
    """The names above the points, or below those at the top, moved on where they would overlap."""
    taken = list[tuple[float, float, float]]()
    for point in sorted(points, key=lambda p: (p.y, p.x)):
        name = "as it is" if point.protection.id == "none" else point.protection.id
        name = f"{name} (chosen)" if point.protection.chosen else name
        width = _LETTER_WIDTH * text_width(name)
        left = min(max(point.x - width / 2, _LEFT + 4), _RIGHT - width)
        y = point.y
        for step in range(6):
            y = point.y - 9 - step * _LINE_HEIGHT if point.y > _TOP + 40 else point.y + 18 + step * _LINE_HEIGHT
            if not any(abs(y - b) < _LINE_HEIGHT - 1 and left < r and left + width > a for a, r, b in taken):
                break
        taken.append((left, left + width, y))
        _draw_text(drawing, name, left, y, "start", bold=point.protection.chosen)


def _draw_line(drawing: ET.Element, x1: float, y1: float, x2: float, y2: float, opacity: str) -> None:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    ET.SubElement(drawing, "line", {**ends, "stroke": INK, "stroke-opacity": opacity})


def _draw_text(drawing: ET.Element, text: str, x: float, y: float, anchor: str, bold: bool = False) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, "fill": INK, "font-size": "12px"}
    ET.SubElement(drawing, "text", {**place, **({"font-weight": "600"} if bold else {})}).text = text
