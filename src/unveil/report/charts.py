"""A curve becomes a static picture: one SVG element to be set into a page. ``links.py`` draws who may be whom.

Altair writes the specification, ``vl-convert`` draws it, ``_picture.py`` lets only shapes and text through. Text and
axes are drawn in ``currentColor`` and without a typeface: they look like the page they stand in, light or dark.

Conventions
- An axis whose label speaks of a share, probability, chance, fraction or risk, with all values in [0, 1], is written
  in percent.
- Bars never overlap (``_plot.bars``). Names too long to stand under their bars lay the chart on its side; it then
  shows the first of them, and says so.
- Several lines differ in colour, dash and the shape of their points, so that they can be told apart in grey; their
  names stand in a legend below.
- A mark on a category axis stands before the first category that begins with a number as large as the mark.
"""

from __future__ import annotations

import math
import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from unveil.finding import Curve, Links
from unveil.report import links
from unveil.report._picture import BLUE, COLOURS, INK, RED, WIDTH, blank, clean
from unveil.report._plot import Plot, bars, by_line, domain, label, mark_before, prepare, ticks, width
from unveil.report.words import is_share

if TYPE_CHECKING:
    import altair as alt

__all__ = ["svg"]

_HEIGHT = 215
_ROW = 20  # a bar of a chart on its side
_BAR = 52  # the widest upright bar
_FONT = 13.5  # measured a little larger than drawn: the page's typeface may be wider than the one measured here
_NEAR = 0.09  # of the height of a plot: labels would overlap
_LINE = 15
_LETTER = 7.5  # pixels of a character of the legend, at most, as a rule
_FEW = 16  # up to so many points of one line among several are shown each
_POINT = 3  # half the width of such a point
_SAMPLE = 34  # the piece of a line that stands before its name
_ENTRY = 20  # a row of the legend


class _Style(NamedTuple):
    """How one of several lines looks. ``point`` is a path, roughly in the square from -1 to 1."""

    colour: str
    dash: tuple[int, ...]
    point: str


_DASHES = ((), (7, 3), (2, 2), (9, 3, 2, 3), (4, 5), (12, 3, 2, 3, 2, 3))
_POINTS = (
    "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z",  # circle
    "M-.9,-.9H.9V.9H-.9Z",  # square
    "M-1.1,.9H1.1L0,-1.1Z",  # triangle
    "M0,-1.3L1.3,0L0,1.3L-1.3,0Z",  # diamond
    "M-1.2,-.4H-.4V-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2Z",  # cross
    "M-1.1,-.9H1.1L0,1.1Z",  # triangle upside down
)
# The first line is solid and drawn first: where another covers it, it shows between the dashes.
_STYLES = tuple(map(_Style, COLOURS, _DASHES, _POINTS))


def svg(curve: Curve | Links) -> str:
    """The curve, or who may be whom, as an SVG element with an accessible name, ready to be set into a page."""
    if isinstance(curve, Links):
        return links.svg(curve)
    title, description = label(curve.title, 200), label(curve.reading, 400)
    plot = prepare(curve)
    if not plot.x:
        return blank(title, description)
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    drawing = vl_convert.vegalite_to_svg(_specification(plot), vl_version=version, allowed_base_urls=[])
    return clean(drawing, title, description, None if curve.series is None else _legend(plot))


def _specification(plot: Plot) -> dict[str, Any]:
    """The Vega-Lite specification: the marks, and above them the label of the upright axis."""
    import altair as alt

    mark = mark_before(plot)
    lines = textwrap.wrap(label(plot.curve.mark_label, 80), 26)[:2] if mark is not None else []
    layers = _bar_layers(plot, mark) if plot.curve.kind == "bars" else _line_layers(plot, mark)
    if mark is not None:
        layers += _mark_layers(plot, mark, lines)
    upright = _where(plot) if plot.sideways else plot.curve.y_label
    title = alt.TitleParams(_wrapped(upright), anchor="start", frame="bounds", offset=6)
    height = 60 + _ROW * len(plot.x) if plot.sideways else _HEIGHT + _LINE * len(lines)
    fit = alt.AutoSizeParams(type="fit", contains="padding")
    chart = alt.LayerChart(layer=layers, title=title, width=WIDTH, height=height, autosize=fit, config=_config())
    return dict(chart.to_dict())


def _chart(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    import altair as alt

    return alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))


def _bar_layers(plot: Plot, mark: float | str | None) -> list[alt.Chart]:
    import altair as alt

    if plot.scale == "category":
        rows = [{"x": x, "y": y} for x, y in zip(plot.x, plot.y, strict=True)]
        place = {"y": _names(plot)} if plot.sideways else {"x": _names(plot)}
        value = {"x" if plot.sideways else "y": _values(plot, plot.y)}
        narrow: dict[str, Any] = {} if plot.sideways or len(rows) > 5 else {"size": _BAR}
        return [_chart(rows).mark_bar(color=BLUE, **narrow).encode(**place, **value)]
    cells = bars(plot)
    ends = [cell[end] for cell in cells for end in ("x", "x2")]
    encoding = {"x": _numbers(plot, ends, mark), "x2": "x2:Q", "y": _values(plot, plot.y), "y2": alt.datum(0)}
    return [_chart(cells).mark_rect(color=BLUE).encode(**encoding)]


def _line_layers(plot: Plot, mark: float | str | None) -> list[alt.Chart]:
    x = _names(plot) if plot.scale == "category" else _numbers(plot, plot.x, mark)
    levels = [(y, text) for y, text in plot.curve.levels if math.isfinite(y)]
    values = (*plot.low, *plot.y, *plot.high, *(y for y, _ in levels))
    bands, drawn = [], []
    for style, rows in zip(_STYLES, by_line(plot).values(), strict=False):
        base = _chart(rows).encode(x=x)
        look = _one_line(len(rows)) if plot.curve.series is None else _one_of_several(style, len(rows))
        drawn.append(base.mark_line(color=style.colour, **look).encode(y=_values(plot, values)))
        band = base.mark_area(color=style.colour, opacity=0.25 if plot.curve.series is None else 0.15)
        bands.append(band.encode(y=_values(plot, values, "low"), y2="high:Q"))
    banded = plot.curve.low is not None or plot.curve.high is not None
    return [*(bands if banded else []), *drawn, *_level_layers(levels, max((0.0, *values)) - min((0.0, *values)))]


def _level_layers(levels: Sequence[tuple[float, str]], height: float) -> list[alt.Chart]:
    """Dashed rules across the plot, with labels above them: to the right, where lines of what rises with what is known
    have left, unless another label is so near on an axis of that height."""
    import altair as alt

    layers = list[alt.Chart]()
    for k, (y, text) in enumerate(levels):
        near = any(abs(y - other) < _NEAR * height for other, _ in levels[:k])
        base = _chart([{"y": y, "label": label(text, 40)}]).encode(y=alt.Y("y:Q"))
        layers.append(base.mark_rule(color=(INK, RED)[k % 2], strokeDash=[5, 3], strokeWidth=1))
        side: Literal["left", "right"] = "left" if near else "right"
        said = base.mark_text(align=side, baseline="bottom", dy=-2, fontSize=_FONT, color=INK)
        layers.append(said.encode(x=alt.value(4) if near else alt.value("width"), text="label:N"))
    return layers


def _one_line(count: int) -> dict[str, Any]:
    """The points of the only line, unless there are too many to show each."""
    import altair as alt

    return {"point": alt.OverlayMarkDef(color=BLUE, size=30) if count <= 30 else False}


def _one_of_several(style: _Style, count: int) -> dict[str, Any]:
    """The dashes of a line and its points, unless there are too many to show each."""
    import altair as alt

    area = (2 * _POINT) ** 2  # Vega scales a path by half the square root of its size
    point = alt.OverlayMarkDef(color=style.colour, size=area, shape=style.point) if count <= _FEW else False
    return {"point": point, "strokeDash": list(style.dash) or alt.Undefined}


def _legend(plot: Plot) -> ET.Element:
    """A piece of each line with its name, row by row, in as many columns as have room."""
    entries = by_line(plot)
    room = _SAMPLE + 22 + _LETTER * max(map(width, entries))
    rows = math.ceil(len(entries) / max(1, int(WIDTH // room)))
    columns = math.ceil(len(entries) / rows)
    drawing = ET.Element("svg", {"height": str(6 + _ENTRY * rows)})
    for i, (style, (line, points)) in enumerate(zip(_STYLES, entries.items(), strict=False)):
        place = f"translate({4 + i % columns * room},{4 + _ENTRY * (i // columns) + _ENTRY / 2})"
        entry = ET.SubElement(drawing, "g", {"transform": place})
        _sample(entry, style, len(points))
        ET.SubElement(entry, "text", {"x": f"{_SAMPLE + 6}", "y": "4", "fill": INK, "font-size": "12px"}).text = line
    return drawing


def _sample(entry: ET.Element, style: _Style, count: int) -> None:
    """A piece of the line, with a point where the line shows its points."""
    dash = {"stroke-dasharray": ",".join(map(str, style.dash))} if style.dash else {}
    look = {"fill": "none", "stroke": style.colour, "stroke-width": "2", **dash}
    ET.SubElement(entry, "path", {"d": f"M0,0h{_SAMPLE}", **look})
    if count <= _FEW:
        middle = f"translate({_SAMPLE // 2},0) scale({_POINT})"
        ET.SubElement(entry, "path", {"d": style.point, "transform": middle, "fill": style.colour})


def _mark_layers(plot: Plot, mark: float | str, lines: Sequence[str]) -> list[alt.Chart]:
    """A dashed rule with its label above the plot, running to the side where there is more room."""
    import altair as alt

    base = _chart([{"x": mark, "label": "\n".join(lines)}])
    rule = base.mark_rule(color=RED, strokeDash=[5, 3], strokeWidth=1.5)
    where: Any = "x:Q"
    if plot.scale == "category":
        edge: dict[str, Any] = {"bandPosition": 0, "scale": alt.Scale(domain=list(plot.x))}
        where = (alt.Y if plot.sideways else alt.X)("x:N", **edge)
    if plot.sideways:
        text = base.mark_text(align="right", baseline="bottom", dy=-2, lineBreak="\n", fontSize=_FONT, color=INK)
        return [rule.encode(y=where), text.encode(y=where, x=alt.value("width"), text="label:N")]
    align: Literal["left", "right"] = "left" if _in_left_half(plot, mark) else "right"
    text = base.mark_text(align=align, baseline="top", lineBreak="\n", lineHeight=_LINE, fontSize=_FONT, color=INK)
    return [rule.encode(x=where), text.encode(x=where, y=alt.value(-4 - _LINE * len(lines)), text="label:N")]


def _in_left_half(plot: Plot, mark: float | str) -> bool:
    if isinstance(mark, str):
        return 2 * plot.x.index(mark) <= len(plot.x)
    low, high = min(*plot.x, mark), max(*plot.x, mark)
    middle = (low * high) ** 0.5 if low > 0 and plot.scale == "log" else (low + high) / 2
    return bool(mark <= middle)


def _names(plot: Plot) -> Any:
    """The axis of a category."""
    import altair as alt

    order: dict[str, Any] = {"sort": None, "scale": alt.Scale(domain=list(plot.x))}
    if plot.sideways:
        return alt.Y("x:N", **order, axis=alt.Axis(title=None, ticks=False, domain=False))
    axis = alt.Axis(title=_wrapped(plot.curve.x_label), labelAngle=0, labelOverlap=True, labelSeparation=5, grid=False)
    return alt.X("x:N", **order, axis=axis)


def _numbers(plot: Plot, ends: Sequence[float], mark: float | str | None) -> Any:
    """The axis of a number, wide enough for the mark."""
    import altair as alt

    low, high = domain(plot, ends, mark)
    places = ticks(plot, low, high)
    kind: Any = plot.scale
    axis = alt.Axis(
        title=_wrapped(plot.curve.x_label),
        values=places or alt.Undefined,
        tickCount=alt.Undefined if places else 6,
        labelExpr=_written(plot.curve.x_label, plot.x),
        labelOverlap="greedy" if places else "parity",
        labelSeparation=6,
        labelFlush=False,
        grid=False,
    )
    return alt.X("x:Q", axis=axis, scale=alt.Scale(type=kind, domain=[low, high], nice=False))


def _values(plot: Plot, values: Sequence[float], field: str = "y") -> Any:
    """The axis of what was measured; it starts at 0."""
    import altair as alt

    low, high = min(0.0, *values), max(0.0, *values)
    whole = all(v == int(v) for v in values)
    axis = alt.Axis(
        title=_wrapped(plot.curve.y_label) if plot.sideways else None,
        labelExpr=_written(plot.curve.y_label, values),
        tickCount=4,
        tickMinStep=1 if whole and high > 1 else alt.Undefined,
        domain=False,
        ticks=False,
        labelPadding=6,
        labelOverlap=True,
        labelFlush=False,
    )
    scale = alt.Scale(domain=[low, high if high > low else low + 1], nice=4, zero=True)
    return (alt.X if plot.sideways else alt.Y)(f"{field}:Q", axis=axis, scale=scale)


def _written(axis_label: str, values: Sequence[Any]) -> str:
    """How the numbers of an axis are written: percent, thousands as k, millions as M; a billion is B."""
    if is_share(axis_label, values):
        return "format(datum.value, '~%')"
    largest = max(abs(v) for v in values)
    if largest >= 1e15:
        return "format(datum.value, '~e')"
    return "replace(format(datum.value, '~s'), 'G', 'B')" if largest >= 1e4 else "format(datum.value, ',~r')"


def _where(plot: Plot) -> str:
    shown_rows = f" (the first {len(plot.x)} of {len(plot.x) + plot.left_out:,})" if plot.left_out else ""
    return f"{plot.curve.x_label}{shown_rows}"


def _wrapped(text: str) -> list[str]:
    """Text in lines, each with a space behind it: Vega takes the bare word "if" for the function of that name."""
    return [f"{line} " for line in textwrap.wrap(label(text, 110), 58)] or [""]


def _config() -> alt.Config:
    import altair as alt

    colours: dict[str, Any] = dict.fromkeys(("labelColor", "titleColor", "domainColor", "tickColor", "gridColor"), INK)
    opacity: dict[str, Any] = {"gridOpacity": 0.15, "domainOpacity": 0.5, "tickOpacity": 0.5}
    # No limit on labels: they are short already, and vl-convert fails where it cuts a character in two.
    text: dict[str, Any] = {"labelFontSize": _FONT, "labelLimit": 0, "titleFontSize": _FONT, "titlePadding": 8}
    return alt.Config(
        axis=alt.AxisConfig(titleFontWeight="normal", **colours, **opacity, **text),
        background="transparent",
        font="sans-serif",
        padding=4,
        title=alt.TitleConfig(color=INK, fontSize=_FONT, fontWeight="normal"),
        view=alt.ViewConfig(stroke=None),
    )
