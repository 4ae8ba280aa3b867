"""Draw a small graph with two kinds of nodes as a static picture.

The nodes of the first kind stand in a ring in their order, those of the second kind around it, near the ones that they
are linked with, so that few lines cross. The kinds differ in shape, so that they are distinct in greyscale.
"""

from __future__ import annotations

import cmath
import math
import xml.etree.ElementTree as ET

from unveil.finding import GraphChart
from unveil.report.plot_data import label_text, short_name
from unveil.report.svg_filter import BLUE, INK, PICTURE_WIDTH, blank_svg, filter_svg
from unveil.report.svg_shapes import add_shape, blank_drawing, draw_dot, draw_text

__all__ = ["graph_svg"]

_OUTER_RADIUS = 132
_INNER_RADIUS = 74
_TURN = 0.2  # by which the outer ring is turned, lest lines run behind nodes
_HALF_SIDE = 4.5  # of the square that is a node on the inside
_MARGIN = 10
_LEGEND_HEIGHT = 26


def graph_svg(graph: GraphChart) -> str:
    """A graph as an SVG element with an accessible name, ready for a page."""
    title, description = label_text(graph.title, 200), label_text(graph.reading, 400)
    if not graph.inner + graph.outer:
        return blank_svg(title, description)
    side = 2 * (_OUTER_RADIUS + _MARGIN)
    drawing = blank_drawing(side + _LEGEND_HEIGHT)
    middle = complex(PICTURE_WIDTH / 2, side / 2)
    places = [middle + place for place in _node_places(graph)]
    for is_inside, look in (
        (False, {"stroke": INK, "stroke_opacity": 0.45}),
        (True, {"stroke": BLUE, "stroke_width": 2}),
    ):
        lines = add_shape(drawing, "g", **look)
        for ends in graph.edges:
            if (max(ends) < graph.inner) == is_inside:
                one, other = (places[end] for end in ends)
                add_shape(lines, "line", x1=one.real, y1=one.imag, x2=other.real, y2=other.imag)
    for node, place in enumerate(places):
        _draw_node(drawing, node < graph.inner, place)
    _draw_legend(drawing, graph, side + _LEGEND_HEIGHT - 10)
    return filter_svg(ET.tostring(drawing, encoding="unicode"), title, description)


def _node_places(graph: GraphChart) -> list[complex]:
    """Where each node stands around the middle, as a complex number."""
    inner = [cmath.rect(_INNER_RADIUS, _angle(node, graph.inner)) for node in range(graph.inner)]
    pull = [0j] * graph.outer
    for one, other in (sorted(edge) for edge in graph.edges):
        if one < graph.inner <= other:
            pull[other - graph.inner] += inner[one]
    order = sorted(range(graph.outer), key=lambda node: (round(cmath.phase(pull[node]), 6), node))
    unit = [cmath.rect(1, _angle(place, graph.outer)) for place in range(graph.outer)]
    turn = sum((pull[node] * unit[place].conjugate() for place, node in enumerate(order)), 0j)
    turn = (turn / abs(turn) if abs(turn) > 1e-6 else 1) * cmath.rect(_OUTER_RADIUS, _TURN)
    outer = [0j] * graph.outer
    for place, node in enumerate(order):
        outer[node] = unit[place] * turn
    return inner + outer


def _angle(place: int, places: int) -> float:
    """The angle of a place in a ring that begins at the top."""
    return 2 * math.pi * place / places - math.pi / 2


def _draw_node(drawing: ET.Element, is_inside: bool, place: complex) -> None:
    """A square on the inside, a dot outside."""
    if is_inside:
        side, corner = 2 * _HALF_SIDE, place - complex(_HALF_SIDE, _HALF_SIDE)
        add_shape(drawing, "rect", x=corner.real, y=corner.imag, width=side, height=side, fill=BLUE)
    else:
        draw_dot(drawing, place.real, place.imag)


def _draw_legend(drawing: ET.Element, graph: GraphChart, y: float) -> None:
    x = 8.0
    for is_inside, label, count in ((True, graph.inner_label, graph.inner), (False, graph.outer_label, graph.outer)):
        if count:
            _draw_node(drawing, is_inside, complex(x, y - 4))
            x = draw_text(drawing, x + 10, y, short_name(label)) + 8
