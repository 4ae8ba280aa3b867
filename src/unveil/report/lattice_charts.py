"""Draw sets ordered by inclusion as a static picture (a Hasse diagram).

A set stands above all that it contains, with lines to those directly below. Sets of one layer are ordered by the
barycentres of their neighbours (Sugiyama, Tagawa and Toda 1981), so that few lines cross; a layer that is too wide
takes several rows. Sets are named where the names fit; otherwise they are numbered.
"""

from __future__ import annotations

import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from unveil.finding import LatticeChart
from unveil.report.phrases import set_text
from unveil.report.plot_data import label_text
from unveil.report.svg_filter import BLUE, PICTURE_WIDTH, blank_svg, filter_svg
from unveil.report.svg_shapes import add_shape, blank_drawing, draw_dot, draw_text, widest_text
from unveil.wording import verb

__all__ = ["lattice_svg"]

_SWEEPS = 8
_ROW_HEIGHT = 58
_MOST_IN_ROW = 16
_GAP = 14  # pixels between names
_KEY_LINE = 16  # height of a line of the key
_KEY_LETTERS = 58  # of a line of the key


def lattice_svg(lattice: LatticeChart, with_key: bool = False) -> str:
    """A lattice as an SVG element with an accessible name, ready for a page. The key below it, of a picture that stands
    alone, says what each set contains and follows from."""
    title, description = label_text(lattice.title, 200), label_text(lattice.reading, 400)
    if not lattice.sets:
        return blank_svg(title, description)
    rows = _arrange_sets(lattice)
    names = [label_text(set_text(one), 60) for one in lattice.sets]
    is_named = all(len(row) * (widest_text([names[one] for one in row]) + _GAP) <= PICTURE_WIDTH for row in rows)
    labels = names if is_named else [str(number) for number in range(1, len(names) + 1)]
    key = list(_key_lines(lattice, is_named)) if with_key else []
    drawing = blank_drawing(_ROW_HEIGHT * len(rows) + _KEY_LINE * len(key))
    places = {
        one: (PICTURE_WIDTH * (at + 0.5) / len(row) - widest_text([labels[one]]) / 2, _ROW_HEIGHT * (y + 0.5))
        for y, row in enumerate(rows)
        for at, one in enumerate(row)
    }
    lines = add_shape(drawing, "g", stroke=BLUE, stroke_opacity=0.7)
    for upper, lower in lattice.edges:
        (x1, y1), (x2, y2) = places[upper], places[lower]
        add_shape(lines, "line", x1=x1, y1=y1, x2=x2, y2=y2)
    for one, (x, y) in places.items():
        draw_dot(drawing, x, y)
        draw_text(drawing, x + 7, y + 4, labels[one])
    for number, line in enumerate(key):
        draw_text(drawing, 4, _ROW_HEIGHT * len(rows) + _KEY_LINE * (number + 0.8), line)
    return filter_svg(ET.tostring(drawing, encoding="unicode"), title, description)


def _arrange_sets(lattice: LatticeChart) -> list[list[int]]:
    """The sets in rows, the largest on top, each row from left to right."""
    below: list[list[int]] = [[] for _ in lattice.sets]
    above: list[list[int]] = [[] for _ in lattice.sets]
    for upper, lower in lattice.edges:
        below[upper].append(lower)
        above[lower].append(upper)
    height = [0] * len(below)
    for one in sorted(range(len(below)), key=lambda one: len(lattice.sets[one])):
        height[one] = 1 + max((height[lower] for lower in below[one]), default=-1)
    layers = [[one for one, h in enumerate(height) if h == level] for level in range(max(height), -1, -1)]
    place = {one: (at + 0.5) / len(layer) for layer in layers for at, one in enumerate(layer)}
    for sweep in range(_SWEEPS):
        near, ordered = (below, layers[::-1]) if sweep % 2 else (above, layers)
        for layer in ordered:
            pull = {
                one: sum(place[o] for o in near[one]) / len(near[one]) if near[one] else place[one] for one in layer
            }
            layer.sort(key=lambda one: (round(pull[one], 9), one))
            place |= {one: (at + 0.5) / len(layer) for at, one in enumerate(layer)}
    return [list(row) for layer in layers for row in _split_layer(layer)]


def _split_layer(layer: Sequence[int]) -> Iterator[Sequence[int]]:
    """A layer as rows that are not too wide; neighbours stay in the same column."""
    rows = -(-len(layer) // _MOST_IN_ROW)
    for row in range(rows):
        yield layer[row::rows]


def _key_lines(lattice: LatticeChart, is_named: bool) -> Iterator[str]:
    """What each set contains, how many have it, and what it follows from."""
    for number, (one, people, follows) in enumerate(
        zip(lattice.sets, lattice.people, lattice.follows_from, strict=True), 1
    ):
        said = "" if is_named else f"{number}: "
        said += f"{people:,} {verb(people, 'has', 'have')} {set_text(one)}{'' if one else ' in common'}"
        if smaller := [some for some in follows if some and len(some) < len(one)]:
            said += f", from {'; or '.join(map(set_text, smaller))}"
        yield from textwrap.wrap(label_text(said, 600), _KEY_LETTERS)
