"""Filter a drawing before it enters a page.

A drawing is copied element by element. Shapes and text stay, with a short list of attributes; everything else (styles,
classes, scripts, links, clip paths, typefaces) is dropped. Text is escaped again. Numbers are rounded to a tenth of a
pixel, so that the picture is small and the same on every machine.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

__all__ = ["BLUE", "INK", "LINE_COLOURS", "PICTURE_WIDTH", "RED", "blank_svg", "filter_svg"]

PICTURE_WIDTH = 400  # on a phone a card is some 326 px wide: 12 px text then still measures 9.8 px
INK = "currentColor"
BLUE, RED = "#3a80bf", "#c4533a"  # at least 3:1 against the light and the dark page
LINE_COLOURS = (
    BLUE,
    "#b87400",
    "#2a8c62",
    "#c8509c",
    INK,
    "#8c6ce0",
)  # for several lines; none resembles RED, the mark

_ALLOWED_TAGS = {"g", "path", "line", "rect", "text", "tspan"}
_GEOMETRY_ATTRIBUTES = {"d", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "width", "height", "transform"}
_STYLE_ATTRIBUTES = {"fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity"}
_STYLE_ATTRIBUTES |= {"text-anchor", "font-size", "font-weight"}
_TEXT_SIZE = "12px"
_SAFE_VALUE = re.compile(r"(?!.*url)[-\w\s.,#()+%]*")
_DECIMALS = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def filter_svg(drawing: str, title: str, description: str, below: ET.Element | None = None) -> str:
    """The drawing as an SVG element of shapes and text only, with an accessible name.

    ``below`` is a second drawing to place under the first.
    """
    source = ET.fromstring(drawing)
    width, height = (round(float(source.get(side, "0"))) for side in ("width", "height"))
    more = 0 if below is None else round(float(below.get("height", "0")))
    picture = _svg_frame(title, description, width, height + more)
    for child in source:
        _copy_allowed(child, picture)
    if below is not None:
        moved = ET.Element("g", {"transform": f"translate(0,{height})"})
        moved.extend(below)
        _copy_allowed(moved, picture)
    return ET.tostring(picture, encoding="unicode")


def blank_svg(title: str, description: str) -> str:
    """The picture for a curve without points: it says that there is nothing to draw."""
    picture = _svg_frame(title, description, PICTURE_WIDTH, 60)
    text = ET.SubElement(
        picture, "text", {"x": str(PICTURE_WIDTH // 2), "y": "34", "text-anchor": "middle", "fill": INK}
    )
    text.set("font-size", _TEXT_SIZE)
    text.text = "nothing to draw"
    return ET.tostring(picture, encoding="unicode")


def _svg_frame(title: str, description: str, width: int, height: int) -> ET.Element:
    size = {"viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height)}
    picture = ET.Element("svg", {**size, "role": "img"})
    ET.SubElement(picture, "title").text = title
    ET.SubElement(picture, "desc").text = description
    return picture


def _copy_allowed(source: ET.Element, parent: ET.Element) -> None:
    tag = source.tag.rpartition("}")[2]
    if tag not in _ALLOWED_TAGS or source.get("display") == "none" or source.get("opacity") == "0":
        return
    kept = {
        name: _round_numbers(value) if name in _GEOMETRY_ATTRIBUTES else value
        for name, value in source.attrib.items()
        if name in _GEOMETRY_ATTRIBUTES | _STYLE_ATTRIBUTES and _SAFE_VALUE.fullmatch(value)
    }
    if "font-size" in kept:
        kept["font-size"] = _TEXT_SIZE
    if kept.get("opacity") == "1":
        del kept["opacity"]
    if tag in ("path", "rect") and not {"fill", "stroke"} & kept.keys():
        return
    # A group without attributes is left out; its children move up.
    target = parent if tag == "g" and not kept else ET.SubElement(parent, tag, kept)
    if tag in ("text", "tspan"):
        target.text = source.text
    for child in source:
        _copy_allowed(child, target)


def _round_numbers(value: str) -> str:
    return _DECIMALS.sub(lambda m: f"{float(m[0]):.1f}".removesuffix(".0"), value)
