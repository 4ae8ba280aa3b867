"""Shapes and text for pictures that are not charts: links, lattices and graphs."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from unveil.report.plot_data import text_width
from unveil.report.svg_filter import INK, PICTURE_WIDTH

__all__ = ["DOT_RADIUS", "add_shape", "blank_drawing", "draw_dot", "draw_text", "widest_text"]

_LETTER_WIDTH = 7.5  # usual upper limit for the width of a character, in pixels
DOT_RADIUS = 3.5
"""The radius of a node."""


def blank_drawing(height: float) -> ET.Element:
    """A picture of this height without anything in it."""
    return ET.Element("svg", {"width": str(PICTURE_WIDTH), "height": str(math.ceil(height))})


def add_shape(parent: ET.Element, tag: str, **attributes: object) -> ET.Element:
    """Add an element; underscores in the names of attributes stand for hyphens."""
    return ET.SubElement(parent, tag, {key.replace("_", "-"): str(value) for key, value in attributes.items()})


def draw_dot(parent: ET.Element, x: float, y: float) -> None:
    """Draw a node."""
    arc = f"a{DOT_RADIUS} {DOT_RADIUS} 0 1 0"
    outline = f"M{x - DOT_RADIUS} {y}{arc} {2 * DOT_RADIUS} 0{arc} {-2 * DOT_RADIUS} 0z"
    add_shape(parent, "path", d=outline, fill=INK)


def draw_text(parent: ET.Element, x: float, y: float, text: str, anchor: str = "start") -> float:
    """Draw text; returns the x position for what follows."""
    look = {"text_anchor": anchor, "fill": INK, "font_size": "12px"}
    add_shape(parent, "text", x=x, y=y, **look).text = text
    return x + 0.85 * _LETTER_WIDTH * text_width(text) + 16


def widest_text(texts: Sequence[str]) -> float:
    """The width of the widest of some texts, in pixels."""
    return _LETTER_WIDTH * max((text_width(t) for t in texts), default=0)
