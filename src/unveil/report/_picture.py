"""What of a drawing may enter a page.

A drawing is copied element by element: shapes and text stay, with a short list of attributes; everything else (styles,
classes, scripts, links, clip paths, typefaces) is left behind. Text is escaped anew. Numbers are rounded to a tenth of
a pixel, which makes the picture smaller and the same on every machine.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

__all__ = ["BLUE", "COLOURS", "INK", "RED", "WIDTH", "blank", "clean"]

WIDTH = 400  # on a phone a card is some 326 px wide: 12 px text then still measures 9.8 px
INK = "currentColor"
BLUE, RED = "#3a80bf", "#c4533a"  # at least 3:1 against the light and the dark page
COLOURS = (BLUE, "#b87400", "#2a8c62", "#c8509c", INK, "#8c6ce0")  # of several lines; none like RED, the mark

_SHAPES = {"g", "path", "line", "rect", "text", "tspan"}
_GEOMETRY = {"d", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "width", "height", "transform"}
_LOOK = {"fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity"}
_LOOK |= {"text-anchor", "font-size", "font-weight"}
_TEXT = "12px"
_VALUE = re.compile(r"(?!.*url)[-\w\s.,#()+%]*")
_DECIMALS = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def clean(drawing: str, title: str, description: str, below: ET.Element | None = None) -> str:
    """The drawing as an SVG element that is nothing but shapes and text, with its accessible name.

    ``below`` is a second drawing, set under the first.
    """
    source = ET.fromstring(drawing)
    width, height = (round(float(source.get(side, "0"))) for side in ("width", "height"))
    more = 0 if below is None else round(float(below.get("height", "0")))
    picture = _frame(title, description, width, height + more)
    for child in source:
        _copy(child, picture)
    if below is not None:
        moved = ET.Element("g", {"transform": f"translate(0,{height})"})
        moved.extend(below)
        _copy(moved, picture)
    return ET.tostring(picture, encoding="unicode")


def blank(title: str, description: str) -> str:
    """The picture of a curve without points: it says that there is nothing to draw."""
    picture = _frame(title, description, WIDTH, 60)
    text = ET.SubElement(picture, "text", {"x": str(WIDTH // 2), "y": "34", "text-anchor": "middle", "fill": INK})
    text.set("font-size", _TEXT)
    text.text = "nothing to draw"
    return ET.tostring(picture, encoding="unicode")


def _frame(title: str, description: str, width: int, height: int) -> ET.Element:
    size = {"viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height)}
    picture = ET.Element("svg", {**size, "role": "img"})
    ET.SubElement(picture, "title").text = title
    ET.SubElement(picture, "desc").text = description
    return picture


def _copy(source: ET.Element, parent: ET.Element) -> None:
    tag = source.tag.rpartition("}")[2]
    if tag not in _SHAPES or source.get("display") == "none" or source.get("opacity") == "0":
        return
    kept = {
        name: _rounded(value) if name in _GEOMETRY else value
        for name, value in source.attrib.items()
        if name in _GEOMETRY | _LOOK and _VALUE.fullmatch(value)
    }
    if "font-size" in kept:
        kept["font-size"] = _TEXT
    if kept.get("opacity") == "1":
        del kept["opacity"]
    if tag in ("path", "rect") and not {"fill", "stroke"} & kept.keys():
        return
    # A group that says nothing is left out; its children move up.
    target = parent if tag == "g" and not kept else ET.SubElement(parent, tag, kept)
    if tag in ("text", "tspan"):
        target.text = source.text
    for child in source:
        _copy(child, target)


def _rounded(value: str) -> str:
    return _DECIMALS.sub(lambda m: f"{float(m[0]):.1f}".removesuffix(".0"), value)
