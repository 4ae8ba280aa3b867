"""Pictures: what they show, what they let through, and that they can be read."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import cache
from importlib.resources import files
from itertools import pairwise
from unittest.mock import patch

import altair
import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from report.pictures import check_plain, smallest_text_size, svg_colours, svg_elements, svg_texts
from report.samples import ANSI, NASTY, OVERRIDE
from unveil.finding import Curve
from unveil.report import phrases
from unveil.report.charts import chart_svg
from unveil.report.plot_data import PLOT_WIDTH, axis_ticks, bar_spans, mark_position, points_by_line, prepare_plot
from unveil.report.svg_filter import LINE_COLOURS, filter_svg


def curve(**given: object) -> Curve:
    base = {"title": "t", "kind": "bars", "x_label": "size", "y_label": "people", "reading": "r", "x": (), "y": ()}
    return Curve(**{**base, **given})  # type: ignore[arg-type]


CURVES = {
    "categories": curve(x=("1", "2", "3–4", "5–9"), y=(9.0, 5.0, 2.0, 1.0), x_scale="category", mark=5.0),
    "sideways": curve(x=tuple(f"a longer name {i}" for i in range(9)), y=tuple(range(9)), x_scale="category"),
    "log bars": curve(x=tuple(range(1, 400)), y=tuple(range(399)), x_scale="log", mark=50.0, mark_label="limit"),
    "log bars from 0": curve(x=(0, 1, 10, 100), y=(4, 3, 2, 1), x_scale="log"),
    "linear bars": curve(x=tuple(range(5000)), y=tuple(range(5000))),
    "band": curve(kind="line", x=(1, 2, 3), y=(0.1, 0.5, 0.9), low=(0, 0.4, 0.8), high=(0.2, 0.6, 1.0), mark=2.5),
    "log line": curve(kind="line", x=(0.001, 0.1, 1), y=(3, 2, 1), x_scale="log"),
    "line of names": curve(kind="line", x=("Mon", "Tue"), y=(1, -2)),
    "one bar": curve(x=(3,), y=(7,), mark=5.0, mark_label="limit"),
    "one log bar": curve(x=(3,), y=(7,), x_scale="log"),
    "one point": curve(kind="line", x=(3,), y=(7,)),
    "one name": curve(x=("only",), y=(7,), x_scale="category"),
    "several lines": curve(
        kind="line", x=(1, 2, 3, 1, 3, 2), y=(0.1, 0.5, 0.9, 0.2, 0.2, 1), series=("a",) * 3 + ("b", "b", "c"), mark=2,
    ),
    "six bands": curve(
        kind="line", x=tuple(range(1, 5)) * 6, y=tuple(range(24)), low=(0,) * 24, high=tuple(range(1, 25)),
        series=tuple(name for name in ("one", "two", "three", "four", "five", "six") for _ in range(4)), x_scale="log",
    ),
    "levels": curve(
        kind="line", x=(1, 2), y=(0.2, 0.4), y_label="share of rows", levels=((0.01, "guessing"), (0.7, "tolerated")),
    ),
    "both axes logarithmic": curve(
        kind="line", x=(1, 10, 100, 10, 100), y=(1, 0.3, 0.002, 0.2, 0.001), series=("a",) * 3 + ("b",) * 2,
        y_label="share of nodes", x_scale="log", y_scale="log",
    ),
    "one logarithmic value": curve(kind="line", x=(3,), y=(1,), y_scale="log"),
    "all powers of ten": curve(kind="line", x=(1, 2, 3), y=(1e100, 1e-100, 1), low=(1e99, 1e-100, 0.5), y_scale="log"),
    "no lines": curve(kind="line", series=()),
    "nothing": curve(),
    "no name": curve(x_scale="category"),
    "all zero": curve(x=(1, 2), y=(0, 0)),
    "huge": curve(x=(1e10, 1e99), y=(1e99, 1e98), x_scale="log"),
    "emoji": curve(x=("a name that goes on and on 😀😀😀", "😀", "名" * 60), y=(1, 2, 3), x_scale="category"),
    "a word that Vega knows": curve(x=(1, 2), y=(1, 2), x_label="if", y_label="if", mark=1, mark_label="if"),
}  # fmt: skip


@cache
def picture_of(name: str) -> str:
    return chart_svg(CURVES[name])


@pytest.mark.parametrize("name", [name for name, each in CURVES.items() if prepare_plot(each).x])
def test_every_specification_is_valid(name: str) -> None:
    with patch("vl_convert.vegalite_to_svg", wraps=vl_convert.vegalite_to_svg) as draw:
        chart_svg(CURVES[name])
    altair.LayerChart.from_dict(draw.call_args.args[0], validate=True)


@pytest.mark.parametrize("name", CURVES)
def test_every_curve_is_a_plain_named_picture(name: str) -> None:
    picture = picture_of(name)
    root = ET.fromstring(picture)
    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert root.find("title") is not None
    assert root.findtext("title") == "t"
    check_plain(picture)
    numbers = re.findall(r"NaN|Infinity|undefined", picture)
    assert numbers == []


@pytest.mark.parametrize("name", CURVES)
def test_text_can_be_read_on_a_phone(name: str) -> None:
    assert smallest_text_size(picture_of(name)) >= 9


@pytest.mark.parametrize("name", CURVES)
def test_text_and_axes_take_the_colour_of_the_page(name: str) -> None:
    picture = picture_of(name)
    assert {e.get("fill") for e in svg_elements(picture) if e.tag == "text"} == {"currentColor"}
    several = LINE_COLOURS if CURVES[name].series else ()
    assert svg_colours(picture) <= {"none", "currentColor", "#3a80bf", "#c4533a", *several}


def luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("mark", ["#3a80bf", "#c4533a", *(c for c in LINE_COLOURS if c != "currentColor")])
def test_marks_stand_out_on_every_background(mark: str) -> None:
    style = files("unveil.report").joinpath("style.css").read_text(encoding="utf-8")
    backgrounds = re.findall(r"--(?:paper|card): (#[0-9a-f]{6});", style)
    assert len(backgrounds) == 4, "light and dark, paper and card"
    for background in backgrounds:
        low, high = sorted((luminance(mark), luminance(background)))
        assert (high + 0.05) / (low + 0.05) >= 3


@pytest.mark.parametrize("nasty", [NASTY, "]]>", "\"'><svg onload=x>", OVERRIDE, ANSI, "&lt;", "\ufffe\uffff", "\x00"])
def test_names_stay_names(nasty: str) -> None:
    bars_of_names = curve(
        title=nasty, x_label=nasty, y_label=nasty, reading=nasty, mark=1.0, mark_label=nasty, x_scale="category",
        x=(nasty, "1 or more", "another long name to lay it on its side"), y=(3, 2, 1),
    )  # fmt: skip
    for kind in ("bars", "line"):
        picture = chart_svg(Curve(**{**vars(bars_of_names), "kind": kind}))
        check_plain(picture)
        visible = "".join(svg_texts(picture))
        assert not re.search("[\x00-\x1f\u202a-\u202e\ufffe\uffff]", visible)
        assert ("<script>" in visible) == (nasty == NASTY)


def test_only_shapes_and_text_pass() -> None:
    drawing = f"""<svg xmlns="urn:svg" xmlns:xlink="urn:xlink" width="9" height="9"><text opacity="0">hidden</text>
        <style>text {{ fill: red }}</style><script>alert(1)</script><image href="x"/><foreignObject><p/></foreignObject>
        <a xlink:href="x"><text>linked</text></a><g clip-path="url(#c)" onclick="x()" style="fill:red" class="c">
        <path d="M0.123,4.567" fill="url(#p)" stroke="#123456"/><text font-family="f">{"&lt;b&gt;"}</text></g></svg>"""
    picture = filter_svg(drawing, "<t>", "]]>")
    check_plain(picture)
    assert [e.tag for e in svg_elements(picture)] == ["svg", "title", "desc", "path", "text"]
    assert svg_elements(picture)[3].attrib == {"d": "M0.1,4.6", "stroke": "#123456"}
    assert svg_texts(picture) == ["<b>"]


names = st.text(max_size=40)
finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["bars", "line"]),
    scale=st.sampled_from(["linear", "log", "category"]),
    points=st.lists(st.tuples(st.one_of(finite, names), finite), max_size=12),
    label=names,
    mark=st.one_of(st.none(), finite),
)
def test_anything_can_be_drawn(
    kind: str, scale: str, points: list[tuple[float | str, float]], label: str, mark: float | None
) -> None:
    x, y = tuple(p[0] for p in points), tuple(p[1] for p in points)
    picture = chart_svg(
        curve(kind=kind, x=x, y=y, x_scale=scale, x_label=label, y_label=label, mark=mark, mark_label=label)
    )
    check_plain(picture)


@settings(max_examples=200)
@given(
    x=st.lists(st.floats(1e-6, 1e9), min_size=1, max_size=600, unique=True),
    scale=st.sampled_from(["linear", "log"]),
)
def test_bars_never_overlap_and_miss_no_height(x: list[float], scale: str) -> None:
    y = tuple(float(i % 17) for i in range(len(x)))
    drawn = bar_spans(prepare_plot(curve(x=tuple(x), y=y, x_scale=scale)))
    assert len(drawn) <= PLOT_WIDTH + 1
    assert all(b["x"] <= b["x2"] for b in drawn)
    assert all(a["x2"] <= b["x"] * (1 + 1e-9) for a, b in pairwise(drawn))
    assert max(b["y"] for b in drawn) == max(y)


def test_levels_are_dashed_rules_with_their_labels() -> None:
    picture = chart_svg(CURVES["levels"])
    assert len([e for e in svg_elements(picture) if e.get("stroke-dasharray")]) == 2
    assert {"guessing", "tolerated", "80%"} <= set(svg_texts(picture))  # the axis reaches beyond the highest


def test_the_label_of_a_level_close_to_the_top_stood_on_the_highest_line() -> None:
    for level, is_below in ((0.95, True), (0.5, False), (1.0, False)):
        picture = chart_svg(curve(kind="line", x=(1, 2), y=(1, 1), y_label="share", levels=((level, "enough"),)))
        (text,) = (e for e in svg_elements(picture) if e.tag == "text" and e.text == "enough")
        groups = [e for e in svg_elements(picture) if e.get("stroke-dasharray")]
        heights = [float(x) for e in (text, *groups) for x in re.findall(r",([-\d.]+)\)", e.get("transform") or "")]
        assert (heights[0] > heights[1]) == is_below


def test_the_mark_is_a_dashed_rule_with_its_label() -> None:
    picture = chart_svg(curve(x=(1, 2, 3), y=(3, 2, 1), mark=2.0, mark_label="tolerated from 2"))
    dashed = [e for e in svg_elements(picture) if e.get("stroke-dasharray")]
    assert len(dashed) == 1
    assert "tolerated from 2" in svg_texts(picture)
    assert not [e for e in svg_elements(chart_svg(curve(x=(1, 2), y=(3, 2)))) if e.get("stroke-dasharray")]


@pytest.mark.parametrize(
    ("names", "mark", "stands_before"),
    [
        (("1", "2", "3–4", "5–9", "10+"), 5, "5–9"),
        (("1", "2", "3–4", "5–9", "10+"), 6, "10+"),
        (("≥ 1,000", "≥ 2,000"), 1500, "≥ 2,000"),
        (("1", "2"), 9, None),
        (("age", "sex"), 1, None),
    ],
)
def test_a_mark_on_names_stands_before_the_first_as_large(
    names: tuple[str, ...], mark: float, stands_before: str | None
) -> None:
    plot = prepare_plot(curve(x=names, y=tuple(range(len(names))), x_scale="category", mark=mark))
    assert mark_position(plot) == stands_before


def test_a_mark_that_a_logarithm_cannot_show_is_left_out() -> None:
    assert mark_position(prepare_plot(curve(x=(1, 10), y=(1, 2), x_scale="log", mark=0.0))) is None


def test_shares_are_written_in_percent_and_counts_are_not() -> None:
    shares = svg_texts(chart_svg(curve(x=(1, 2), y=(0.5, 1.0), y_label="share of people")))
    counts = svg_texts(chart_svg(curve(x=(1, 2), y=(0.5, 1.0), y_label="people")))
    assert "100%" in shares
    assert not any("%" in t for t in counts)
    assert any(t.endswith("M") for t in svg_texts(chart_svg(curve(x=(1, 2), y=(4e6, 2e6)))))
    assert any(t.endswith("B") for t in svg_texts(chart_svg(curve(x=(1, 2), y=(4e9, 2e9)))))


def test_a_logarithmic_axis_has_a_tick_at_every_power_of_ten() -> None:
    assert {"0.1%", "1%", "10%", "100%"} <= set(svg_texts(chart_svg(CURVES["both axes logarithmic"])))
    assert not {"0%", "20%", "50%"} & set(svg_texts(chart_svg(CURVES["both axes logarithmic"])))


def test_equal_ratios_are_equal_steps_on_a_logarithmic_axis() -> None:
    picture = chart_svg(curve(kind="line", x=(1, 10, 100), y=(1, 0.1, 0.01), x_scale="log", y_scale="log"))
    (line,) = (e.get("d") or "" for e in svg_elements(picture) if e.tag == "path" and e.get("stroke") == "#3a80bf")
    (x1, y1), (x2, y2), (x3, y3) = (map(float, p.split(",")) for p in re.findall(r"[\d.]+,[\d.]+", line))
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2) and y2 - y1 == pytest.approx(y3 - y2, abs=0.2)


def test_names_keep_their_order_and_equal_looks_stay_apart() -> None:
    names = ("z" * 40 + "1", "z" * 40 + "2", "a")
    plot = prepare_plot(curve(x=names, y=(1, 2, 3), x_scale="category"))
    assert len(set(plot.x)) == 3
    shown = svg_texts(chart_svg(curve(x=("9", "10", "1"), y=(70, 80, 90), x_scale="category")))
    assert [t for t in shown if t in ("9", "10", "1")] == ["9", "10", "1"]


def test_a_chart_on_its_side_says_what_it_leaves_out() -> None:
    many = curve(x=tuple(f"column number {i}" for i in range(200)), y=tuple(range(200)), x_scale="category")
    shown = svg_texts(chart_svg(many))
    assert "size (the first 30 of 200)" in shown
    assert "column number 29" in shown
    assert "column number 30" not in shown


def test_wide_characters_take_the_room_of_two() -> None:
    plot = prepare_plot(curve(x=("名" * 60, "x" * 60, "名" * 14, "x" * 28), y=(1, 2, 3, 4), x_scale="category"))
    assert [len(name) for name in plot.x] == [15, 28, 14, 28]
    assert [name.endswith("…") for name in plot.x] == [True, True, False, False]


def test_points_beyond_all_measure_are_left_out() -> None:
    assert prepare_plot(curve(x=(0, 1e-300, 5, 1e300), y=(1, 2, 3, 4))).x == (0, 5)


def test_few_places_get_a_tick_each_and_many_get_round_ones() -> None:
    few = prepare_plot(curve(x=(1, 3, 7), y=(1, 1, 1)))
    assert axis_ticks(few, 1, 7) == [1, 3, 7]
    many = prepare_plot(curve(x=tuple(range(1, 300)), y=(1,) * 299, x_scale="log"))
    assert axis_ticks(many, 1, 299) == [1, 2, 5, 10, 20, 50, 100, 200]


def test_the_same_curve_gives_the_same_bytes() -> None:
    assert chart_svg(CURVES["band"]) == chart_svg(CURVES["band"])


def test_many_bars_stay_small() -> None:
    assert len(chart_svg(CURVES["linear bars"])) < 40_000


def several(n: int, points: int = 5, **given: object) -> Curve:
    """Lines that rise, each a little less than the one before."""
    placed = [(x, x / (i + 1), f"line {i}") for i in range(n) for x in range(1, points + 1)]
    x, y, series = zip(*placed, strict=True)
    return curve(**{"kind": "line", "x": x, "y": y, "series": series, **given})


def looks(picture: str, fill: str | None) -> list[tuple[str | None, str | None]]:
    """Colour and dashes of the lines of a picture, which have no fill, or of those in its legend."""
    strokes = [e for e in svg_elements(picture) if e.tag == "path" and e.get("stroke") and e.get("fill") == fill]
    return [(e.get("stroke"), e.get("stroke-dasharray")) for e in strokes]


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("points", [2, 40])
def test_each_line_is_drawn_and_named(n: int, points: int) -> None:
    picture = chart_svg(several(n, points))
    check_plain(picture)
    assert len(looks(picture, None)) == n
    assert looks(picture, "none") == looks(picture, None)
    assert [t for t in svg_texts(picture) if t.startswith("line ")] == [f"line {i}" for i in range(n)]


def test_lines_differ_without_their_colours() -> None:
    picture = chart_svg(several(6))
    drawn = looks(picture, None)
    assert len({colour for colour, _ in drawn}) == len({dashes for _, dashes in drawn}) == 6
    points = [e.get("d") for e in svg_elements(picture) if e.tag == "path" and e.get("fill") in LINE_COLOURS]
    legend = points[-6:]
    assert len(set(points[:-6])) == len(set(legend)) == 6
    assert not [e for e in svg_elements(chart_svg(several(6, 40))) if e.tag == "path" and e.get("fill") in LINE_COLOURS]


def test_one_line_needs_no_legend_and_looks_as_ever() -> None:
    picture = chart_svg(several(1, series=None))
    assert looks(picture, None) == [("#3a80bf", None)]
    assert looks(picture, "none") == []


def test_bands_of_several_lines_are_there_only_when_given() -> None:
    banded = chart_svg(CURVES["six bands"])
    assert len([e for e in svg_elements(banded) if e.get("opacity") == "0.15"]) == 6
    assert not [e for e in svg_elements(chart_svg(several(6))) if e.get("opacity")]


def test_several_lines_keep_the_mark() -> None:
    picture = chart_svg(several(3, mark=2.0, mark_label="limit"))
    assert "limit" in svg_texts(picture)
    assert len([e for e in svg_elements(picture) if e.get("stroke") == "#c4533a"]) == 1


def test_the_names_of_lines_stay_names_that_fit() -> None:
    nasty = ("<b>bold</b>", NASTY, f"{OVERRIDE}{ANSI}", "x" * 99 + "1", "x" * 99 + "2")
    picture = chart_svg(curve(kind="line", x=(1,) * 5, y=(1, 2, 3, 4, 5), series=nasty))
    check_plain(picture)
    assert "<b>" not in picture
    assert "&lt;b&gt;bold&lt;/b&gt;" in picture
    legend = svg_texts(picture)[-5:]
    assert legend[0] == "<b>bold</b>"
    assert not re.search("[\x00-\x1f\u202a-\u202e]", "".join(legend))
    assert len(set(legend)) == 5
    assert max(map(len, legend)) <= 46


def test_the_legend_stands_below_and_inside() -> None:
    alone, named = (ET.fromstring(chart_svg(several(6, series=series))) for series in (None, several(6).series))
    assert named.get("width") == alone.get("width")
    assert int(named.get("height") or 0) > int(alone.get("height") or 0)
    entries = [g for g in named.iter("g") if g.findtext("text") and len(g) == 3]
    places = [tuple(map(float, re.findall(r"[\d.]+", g.get("transform") or ""))) for g in entries]
    assert len(set(places)) == 6
    assert max(x for x, _ in places) < 300


def test_a_line_loses_only_its_points_beyond_all_measure() -> None:
    plot = prepare_plot(curve(kind="line", x=(1, 2, 1, 1e300), y=(1, 1, 5, 6), series=("a", "a", "b", "b")))
    assert {line: [p["y"] for p in points] for line, points in points_by_line(plot).items()} == {"a": [1, 1], "b": [5]}


def test_the_table_says_which_line() -> None:
    shares = curve(
        kind="line", x=(1, 2, 1), y=(0.5, 1, 0.25), low=(0.4, 1, 0.2), high=(0.6, 1, 0.3), series=("<b>", "<b>", "c"),
        y_label="share of people",
    )  # fmt: skip
    head, rows = phrases.chart_table(shares)
    assert head == ["line", "size", "share of people", "from", "to"]
    assert [row[:3] for row in rows] == [["<b>", "1", "50%"], ["<b>", "2", "100%"], ["c", "1", "25%"]]
    assert [row[3:] for row in rows] == [["40%", "60%"], ["100%", "100%"], ["20%", "30%"]]


@settings(max_examples=40, deadline=None)
@given(
    points=st.dictionaries(names, st.lists(st.tuples(finite, finite), min_size=1, max_size=4), max_size=6),
    scale=st.sampled_from(["linear", "log"]),
    banded=st.booleans(),
    is_log=st.booleans(),
)
def test_any_lines_can_be_drawn(
    points: dict[str, list[tuple[float, float]]], scale: str, banded: bool, is_log: bool
) -> None:
    x, y = (tuple(p[i] for line in points.values() for p in line) for i in range(2))
    y = tuple(abs(v) or 1.0 for v in y) if is_log else y
    series = tuple(name for name, line in points.items() for _ in line)
    drawn = curve(
        kind="line", x=x, y=y, low=y if banded else None, series=series, x_scale=scale,
        y_scale="log" if is_log else "linear",
    )  # fmt: skip
    check_plain(chart_svg(drawn))
