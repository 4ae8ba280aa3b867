"""Draw a curve as a static picture: one SVG element for a page. :mod:`unveil.report.link_charts` draws candidate pairs,
:mod:`unveil.report.lattice_charts` sets ordered by inclusion, :mod:`unveil.report.graph_charts` small graphs.

Altair writes the specification, ``vl-convert`` draws it, and :mod:`unveil.report.svg_filter` lets only shapes and text
through. Text and axes use ``currentColor`` and no typeface, so they match the page, light or dark.

Conventions
- An axis whose label mentions a share, probability, chance, fraction or risk, with all values in [0, 1], is in percent.
- A logarithmic axis for values reaches from one power of ten to another.
- Bars never overlap. If names are too long to fit under their bars, the chart lies on its side. It then shows the first
  bars only, and says so.
- Several lines differ in colour, dash and point shape, so that they are distinct in greyscale. A legend below names
them, unless several pictures share one.
- A fitted axis need not begin at 0, but small differences stay small: it spans a quarter of the largest value or more.
- A mark on a category axis stands before the first category that begins with a number at least as large as the mark.
"""

from __future__ import annotations

import math
import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from unveil.finding import Drawing, GraphChart, LatticeChart, LinkChart
from unveil.report import graph_charts, lattice_charts, link_charts
from unveil.report.phrases import is_share_axis
from unveil.report.plot_data import (
    Plot,
    axis_domain,
    axis_ticks,
    bar_spans,
    label_text,
    mark_position,
    points_by_line,
    prepare_plot,
    text_width,
)
from unveil.report.svg_filter import BLUE, INK, LINE_COLOURS, PICTURE_WIDTH, RED, blank_svg, filter_svg

if TYPE_CHECKING:
    import altair as alt

__all__ = ["LINE_STYLES", "POINT_RADIUS", "LineStyle", "chart_svg", "legend_svg"]

_CHART_HEIGHT = 215
_ROW_HEIGHT = 20  # height of a bar in a chart on its side
_MAX_BAR_WIDTH = 52  # width of the widest upright bar
_MEASURED_FONT = 13.5  # a little larger than drawn: the page's typeface may be wider than the one measured here
_LABEL_DISTANCE = 0.09  # share of the plot height within which labels would overlap
_LINE_HEIGHT = 15
_LETTER_WIDTH = 7.5  # usual upper limit for the width of a legend character, in pixels
_MOST_POWERS = 8  # of ten that are labelled on an axis
_MAX_POINTS = 16  # the most points of one series that are drawn individually
POINT_RADIUS = 3  # half the width of such a point
_SAMPLE_WIDTH = 34  # length of the line sample before a name in the legend
_LEGEND_ROW = 20  # height of a legend row
_LEAST_SPAN = 0.25  # of the largest value, which a fitted axis spans at least


class LineStyle(NamedTuple):
    """The style of one series. ``point`` is an SVG path, roughly in the square from -1 to 1."""

    colour: str
    dash: tuple[int, ...]
    point: str


_DASHES = ((), (7, 3), (2, 2), (9, 3, 2, 3), (4, 5), (12, 3, 2, 3, 2, 3))
_POINT_SHAPES = (
    "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z",  # circle
    "M-.9,-.9H.9V.9H-.9Z",  # square
    "M-1.1,.9H1.1L0,-1.1Z",  # triangle
    "M0,-1.3L1.3,0L0,1.3L-1.3,0Z",  # diamond
    "M-1.2,-.4H-.4V-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2Z",  # cross
    "M-1.1,-.9H1.1L0,1.1Z",  # triangle upside down
)
# The first line is solid and drawn first, so that it shows between the dashes of a line on top of it.
LINE_STYLES = tuple(map(LineStyle, LINE_COLOURS, _DASHES, _POINT_SHAPES))


def chart_svg(curve: Drawing, lines: Sequence[str] = ()) -> str:
    """A curve, candidate pairs, a lattice or a graph as an SVG element with an accessible name, ready for a page.

    ``lines`` are the names of all lines of several curves that share a legend: a line looks the same in all of them,
    and there is no legend below.
    """
    if isinstance(curve, LinkChart):
        return link_charts.links_svg(curve)
    if isinstance(curve, LatticeChart):
        return lattice_charts.lattice_svg(curve)
    if isinstance(curve, GraphChart):
        return graph_charts.graph_svg(curve)
    title, description = label_text(curve.title, 200), label_text(curve.reading, 400)
    plot = prepare_plot(curve)
    if not plot.x:
        return blank_svg(title, description)
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    spec = _vega_lite_spec(plot, lines)
    drawing = vl_convert.vegalite_to_svg(spec, vl_version=version, allowed_base_urls=[])
    counts = {line: len(points) for line, points in points_by_line(plot).items()}
    return filter_svg(drawing, title, description, None if curve.series is None or lines else _draw_legend(counts))


def legend_svg(lines: Sequence[str]) -> str:
    """The legend of several pictures."""
    blank = ET.Element("svg", {"width": str(PICTURE_WIDTH), "height": "0"})
    legend = _draw_legend(dict.fromkeys(lines, 1))
    return filter_svg(ET.tostring(blank, encoding="unicode"), "Legend", ", ".join(lines), legend)


def _vega_lite_spec(plot: Plot, lines: Sequence[str]) -> dict[str, Any]:
    """The Vega-Lite specification: the layers, and above them the label of the vertical axis."""
    import altair as alt

    mark = mark_position(plot)
    said = textwrap.wrap(label_text(plot.curve.mark_label, 80), 26)[:2] if mark is not None else []
    layers = _bar_layers(plot, mark) if plot.curve.kind == "bars" else _line_layers(plot, mark, lines)
    if mark is not None:
        layers += _mark_layers(plot, mark, said)
    upright = _category_label(plot) if plot.sideways else plot.curve.y_label
    title = alt.TitleParams(_wrap_label(upright), anchor="start", frame="bounds", offset=6)
    height = 60 + _ROW_HEIGHT * len(plot.x) if plot.sideways else _CHART_HEIGHT + _LINE_HEIGHT * len(said)
    fit = alt.AutoSizeParams(type="fit", contains="padding")
    chart = alt.LayerChart(
        layer=layers, title=title, width=PICTURE_WIDTH, height=height, autosize=fit, config=_chart_config()
    )
    return dict(chart.to_dict(validate=False))  # the tests validate every kind of chart


def _inline_chart(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    import altair as alt

    return alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))


def _bar_layers(plot: Plot, mark: float | str | None) -> list[alt.Chart]:
    import altair as alt

    if plot.scale == "category":
        rows = [{"x": x, "y": y} for x, y in zip(plot.x, plot.y, strict=True)]
        place = {"y": _category_axis(plot)} if plot.sideways else {"x": _category_axis(plot)}
        value = {"x" if plot.sideways else "y": _value_axis(plot, plot.y)}
        narrow: dict[str, Any] = {} if plot.sideways or len(rows) > 5 else {"size": _MAX_BAR_WIDTH}
        return [_inline_chart(rows).mark_bar(color=BLUE, **narrow).encode(**place, **value)]
    cells = bar_spans(plot)
    ends = [cell[end] for cell in cells for end in ("x", "x2")]
    encoding = {"x": _number_axis(plot, ends, mark), "x2": "x2:Q", "y": _value_axis(plot, plot.y), "y2": alt.datum(0)}
    return [_inline_chart(cells).mark_rect(color=BLUE).encode(**encoding)]


def _line_layers(plot: Plot, mark: float | str | None, lines: Sequence[str]) -> list[alt.Chart]:
    x = _category_axis(plot) if plot.scale == "category" else _number_axis(plot, plot.x, mark)
    levels = [(y, text) for y, text in plot.curve.levels if math.isfinite(y)]
    values = (*plot.low, *plot.y, *plot.high, *(y for y, _ in levels))
    bands, drawn = [], []
    found = points_by_line(plot)
    styles = dict(zip(lines or found, LINE_STYLES, strict=False))
    for line, rows in found.items():
        style = styles[line]
        base = _inline_chart(rows).encode(x=x)
        look = _single_line_style(len(rows)) if plot.curve.series is None else _series_line_style(style, len(rows))
        drawn.append(base.mark_line(color=style.colour, **look).encode(y=_value_axis(plot, values)))
        band = base.mark_area(color=style.colour, opacity=0.25 if plot.curve.series is None else 0.15)
        bands.append(band.encode(y=_value_axis(plot, values, "low"), y2="high:Q"))
    banded = plot.curve.low is not None or plot.curve.high is not None
    return [*(bands if banded else []), *drawn, *_level_layers(levels, *_value_span(plot, values))]


def _level_layers(levels: Sequence[tuple[float, str]], low: float, high: float) -> list[alt.Chart]:
    """Dashed rules across the plot, with labels above them, or below those that are close to the highest value.

    Labels stand on the right, where rising lines leave room, unless another label is too close.
    """
    import altair as alt

    layers = list[alt.Chart]()
    for k, (y, text) in enumerate(levels):
        near = any(abs(y - other) < _LABEL_DISTANCE * (high - low) for other, _ in levels[:k])
        is_below = 0 < high - y < _LABEL_DISTANCE * (high - low)
        base = _inline_chart([{"y": y, "label": label_text(text, 40)}]).encode(y=alt.Y("y:Q"))
        layers.append(base.mark_rule(color=(INK, RED)[k % 2], strokeDash=[5, 3], strokeWidth=1))
        side: Literal["left", "right"] = "left" if near else "right"
        height: dict[str, Any] = {"baseline": "top", "dy": 4} if is_below else {"baseline": "bottom", "dy": -2}
        said = base.mark_text(align=side, fontSize=_MEASURED_FONT, color=INK, **height)
        layers.append(said.encode(x=alt.value(4) if near else alt.value("width"), text="label:N"))
    return layers


def _single_line_style(count: int) -> dict[str, Any]:
    """The style of a single line: points, unless there are too many to show each."""
    import altair as alt

    return {"point": alt.OverlayMarkDef(color=BLUE, size=30) if count <= 30 else False}


def _series_line_style(style: LineStyle, count: int) -> dict[str, Any]:
    """The style of one of several lines: dashes, and points unless there are too many to show each."""
    import altair as alt

    area = (2 * POINT_RADIUS) ** 2  # Vega scales a path by half the square root of its size
    point = alt.OverlayMarkDef(color=style.colour, size=area, shape=style.point) if count <= _MAX_POINTS else False
    return {"point": point, "strokeDash": list(style.dash) or alt.Undefined}


def _draw_legend(entries: Mapping[str, int]) -> ET.Element:
    """A sample of each line with its name, row by row, in as many columns as fit. Of each line, it is known how many
    points it has."""
    room = _SAMPLE_WIDTH + 22 + _LETTER_WIDTH * max(map(text_width, entries))
    rows = math.ceil(len(entries) / max(1, int(PICTURE_WIDTH // room)))
    columns = math.ceil(len(entries) / rows)
    drawing = ET.Element("svg", {"height": str(6 + _LEGEND_ROW * rows)})
    for i, (style, (line, points)) in enumerate(zip(LINE_STYLES, entries.items(), strict=False)):
        place = f"translate({4 + i % columns * room},{4 + _LEGEND_ROW * (i // columns) + _LEGEND_ROW / 2})"
        entry = ET.SubElement(drawing, "g", {"transform": place})
        _draw_legend_line(entry, style, points)
        ET.SubElement(
            entry, "text", {"x": f"{_SAMPLE_WIDTH + 6}", "y": "4", "fill": INK, "font-size": "12px"}
        ).text = line
    return drawing


def _draw_legend_line(entry: ET.Element, style: LineStyle, count: int) -> None:
    """A sample of the line, with a point if the line shows its points."""
    dash = {"stroke-dasharray": ",".join(map(str, style.dash))} if style.dash else {}
    look = {"fill": "none", "stroke": style.colour, "stroke-width": "2", **dash}
    ET.SubElement(entry, "path", {"d": f"M0,0h{_SAMPLE_WIDTH}", **look})
    if count <= _MAX_POINTS:
        middle = f"translate({_SAMPLE_WIDTH // 2},0) scale({POINT_RADIUS})"
        ET.SubElement(entry, "path", {"d": style.point, "transform": middle, "fill": style.colour})


def _mark_layers(plot: Plot, mark: float | str, lines: Sequence[str]) -> list[alt.Chart]:
    """A dashed rule with its label above the plot, on the side with more room."""
    import altair as alt

    base = _inline_chart([{"x": mark, "label": "\n".join(lines)}])
    rule = base.mark_rule(color=RED, strokeDash=[5, 3], strokeWidth=1.5)
    where: Any = "x:Q"
    if plot.scale == "category":
        edge: dict[str, Any] = {"bandPosition": 0, "scale": alt.Scale(domain=list(plot.x))}
        where = (alt.Y if plot.sideways else alt.X)("x:N", **edge)
    if plot.sideways:
        text = base.mark_text(
            align="right", baseline="bottom", dy=-2, lineBreak="\n", fontSize=_MEASURED_FONT, color=INK
        )
        return [rule.encode(y=where), text.encode(y=where, x=alt.value("width"), text="label:N")]
    align: Literal["left", "right"] = "left" if _in_left_half(plot, mark) else "right"
    text = base.mark_text(
        align=align, baseline="top", lineBreak="\n", lineHeight=_LINE_HEIGHT, fontSize=_MEASURED_FONT, color=INK
    )
    return [rule.encode(x=where), text.encode(x=where, y=alt.value(-4 - _LINE_HEIGHT * len(lines)), text="label:N")]


def _in_left_half(plot: Plot, mark: float | str) -> bool:
    if isinstance(mark, str):
        return 2 * plot.x.index(mark) <= len(plot.x)
    low, high = min(*plot.x, mark), max(*plot.x, mark)
    middle = (low * high) ** 0.5 if low > 0 and plot.scale == "log" else (low + high) / 2
    return bool(mark <= middle)


def _category_axis(plot: Plot) -> Any:
    """The axis for categories."""
    import altair as alt

    order: dict[str, Any] = {"sort": None, "scale": alt.Scale(domain=list(plot.x))}
    if plot.sideways:
        return alt.Y("x:N", **order, axis=alt.Axis(title=None, ticks=False, domain=False))
    axis = alt.Axis(
        title=_wrap_label(plot.curve.x_label), labelAngle=0, labelOverlap=True, labelSeparation=5, grid=False
    )
    return alt.X("x:N", **order, axis=axis)


def _number_axis(plot: Plot, ends: Sequence[float], mark: float | str | None) -> Any:
    """The x axis for numbers, wide enough for the mark."""
    import altair as alt

    low, high = axis_domain(plot, ends, mark)
    places = axis_ticks(plot, low, high)
    kind: Any = plot.scale
    axis = alt.Axis(
        title=_wrap_label(plot.curve.x_label),
        values=places or alt.Undefined,
        tickCount=alt.Undefined if places else 6,
        labelExpr=_label_expression(plot.curve.x_label, plot.x),
        labelOverlap="greedy" if places else "parity",
        labelSeparation=6,
        labelFlush=False,
        grid=False,
    )
    return alt.X("x:Q", axis=axis, scale=alt.Scale(type=kind, domain=[low, high], nice=False))


def _value_axis(plot: Plot, values: Sequence[float], field: str = "y") -> Any:
    """The axis for the measured values; it starts at 0, or at a power of ten if it is logarithmic."""
    import altair as alt

    if plot.curve.y_scale == "log":
        return _logarithmic_axis(plot, values, field)
    low, high = _value_span(plot, values)
    whole = all(v == int(v) for v in values)
    axis = alt.Axis(
        title=_wrap_label(plot.curve.y_label) if plot.sideways else None,
        labelExpr=_label_expression(plot.curve.y_label, values),
        tickCount=4,
        tickMinStep=1 if whole and high > 1 else alt.Undefined,
        domain=False,
        ticks=False,
        labelPadding=6,
        labelOverlap=True,
        labelFlush=False,
    )
    begins_at_0 = plot.curve.y_scale != "fitted"
    scale = alt.Scale(domain=[low, high if high > low else low + 1], nice=4 if begins_at_0 else False, zero=begins_at_0)
    return (alt.X if plot.sideways else alt.Y)(f"{field}:Q", axis=axis, scale=scale)


def _value_span(plot: Plot, values: Sequence[float]) -> tuple[float, float]:
    """From where to where the axis for the measured values reaches."""
    low, high = min(values), max(values)
    if plot.curve.y_scale != "fitted":
        return min(0.0, low), max(0.0, high)
    room = max(0.1 * (high - low), (_LEAST_SPAN * max(abs(low), abs(high)) - (high - low)) / 2)
    least, most = (0.0 if low >= 0 else -math.inf), (1.0 if is_share_axis(plot.curve.y_label, values) else math.inf)
    return max(least, low - room), min(most, high + room)


def _logarithmic_axis(plot: Plot, values: Sequence[float], field: str) -> Any:
    """The axis from one power of ten to another, with a tick at each, or at some of them if there are many."""
    import altair as alt

    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    powers = range(min(first, last - 1), last + 1, max(1, (last - first) // _MOST_POWERS))
    axis = alt.Axis(
        title=None,
        values=[10.0**power for power in powers],
        labelExpr=_label_expression(plot.curve.y_label, values),
        domain=False,
        ticks=False,
        labelPadding=6,
        labelFlush=False,
    )
    scale = alt.Scale(type="log", domain=[10.0 ** powers[0], 10.0**last], nice=False)
    return alt.Y(f"{field}:Q", axis=axis, scale=scale)


def _label_expression(axis_label: str, values: Sequence[Any]) -> str:
    """The Vega expression for axis labels: percent, or numbers with k for thousand, M for million and B for billion."""
    if is_share_axis(axis_label, values):
        return "format(datum.value, '~%')"
    largest = max(abs(v) for v in values)
    if largest >= 1e15:
        return "format(datum.value, '~e')"
    return "replace(format(datum.value, '~s'), 'G', 'B')" if largest >= 1e4 else "format(datum.value, ',~r')"


def _category_label(plot: Plot) -> str:
    shown_rows = f" (the first {len(plot.x)} of {len(plot.x) + plot.left_out:,})" if plot.left_out else ""
    return f"{plot.curve.x_label}{shown_rows}"


def _wrap_label(text: str) -> list[str]:
    """Wrap text into lines that end in a space: Vega takes the bare word "if" for the function of that name."""
    return [f"{line} " for line in textwrap.wrap(label_text(text, 110), 58)] or [""]


def _chart_config() -> alt.Config:
    import altair as alt

    colours: dict[str, Any] = dict.fromkeys(("labelColor", "titleColor", "domainColor", "tickColor", "gridColor"), INK)
    opacity: dict[str, Any] = {"gridOpacity": 0.15, "domainOpacity": 0.5, "tickOpacity": 0.5}
    # No label limit: labels are short already, and vl-convert fails if it cuts a character in two.
    text: dict[str, Any] = {
        "labelFontSize": _MEASURED_FONT,
        "labelLimit": 0,
        "titleFontSize": _MEASURED_FONT,
        "titlePadding": 8,
    }
    return alt.Config(
        axis=alt.AxisConfig(titleFontWeight="normal", **colours, **opacity, **text),
        background="transparent",
        font="sans-serif",
        padding=4,
        title=alt.TitleConfig(color=INK, fontSize=_MEASURED_FONT, fontWeight="normal"),
        view=alt.ViewConfig(stroke=None),
    )
