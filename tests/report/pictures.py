"""What is true of every picture, whatever it shows."""

from __future__ import annotations

import xml.etree.ElementTree as ET

ALLOWED_TAGS = {"svg", "title", "desc", "g", "path", "line", "rect", "text", "tspan"}
CARD_WIDTH = 326  # the width of a card's inside on a page of 390 px


def svg_elements(picture: str) -> list[ET.Element]:
    return list(ET.fromstring(picture).iter())


def svg_texts(picture: str) -> list[str]:
    return [e.text or "" for e in svg_elements(picture) if e.tag in ("text", "tspan")]


def check_plain(picture: str) -> None:
    """Shapes and text, no style, no reference to anything."""
    for e in svg_elements(picture):
        assert e.tag in ALLOWED_TAGS
        for name, value in e.attrib.items():
            assert name not in ("style", "class", "id", "href")
            assert not name.startswith(("on", "xlink", "{"))
            assert "url(" not in value
            assert ":" not in value


def svg_colours(picture: str) -> set[str]:
    return {v for e in svg_elements(picture) for k, v in e.attrib.items() if k in ("fill", "stroke")}


def smallest_text_size(picture: str) -> float:
    """The size of the smallest text, in pixels on a phone."""
    root = ET.fromstring(picture)
    width = float((root.get("viewBox") or "").split()[2])
    return min(1, CARD_WIDTH / width) * min(
        float((e.get("font-size") or "").removesuffix("px")) for e in root.iter("text")
    )
