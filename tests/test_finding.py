"""Findings: where a value stands against its tolerance, and what may not be said."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.finding import TOLERANCE_SLACK, Curve, ExposedSubject, Finding, LinkChart


def finding(**changes: Any) -> Finding:
    base: dict[str, Any] = {
        "id": "classes.k",
        "question": "classes",
        "title": "Smallest class (k)",
        "value": 0.5,
        "unit": "share",
        "method": "exact",
        "subjects": 10,
        "share": (0.5, 0.5),
        "tolerance": 0.1,
        "direction": "lower",
        "decides": True,
        "attacker": "Knows the age.",
        "sentence": "Half of them.",
    }
    return Finding(**{**base, **changes})


@pytest.mark.parametrize(
    ("direction", "value", "interval", "method", "tolerance", "status"),
    [
        ("lower", 0.5, None, "exact", 0.1, "over"),
        ("lower", 0.1, None, "exact", 0.1, "within"),  # the tolerance itself is tolerated
        ("higher", 4, None, "exact", 5, "over"),
        ("higher", 5, None, "exact", 5, "within"),
        ("lower", 0.2, (0.15, 0.3), "simulation", 0.1, "over"),
        ("lower", 0.2, (0.05, 0.3), "simulation", 0.1, "open"),
        ("lower", 0.05, (0.02, 0.1), "simulation", 0.1, "within"),
        ("higher", 6, (4, 9), "bound", 5, "open"),
        ("higher", 6, (6, 9), "bound", 5, "within"),
        ("lower", 0.5, None, "estimate", 0.1, "open"),
        ("lower", 0.5, (0.4, 0.6), "truncated", 0.1, "over"),
        ("lower", 0.05, None, "truncated", 0.1, "open"),
        ("lower", 0.5, None, "exact", None, None),
        ("lower", None, None, None, 0.1, "failed"),
    ],
)
def test_status(direction: Any, value: Any, interval: Any, method: Any, tolerance: Any, status: str | None) -> None:
    made = finding(
        direction=direction,
        value=value,
        interval=interval,
        method=method,
        tolerance=tolerance,
        decides=method != "estimate",
    )
    assert made.status == status


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "no_room"},
        {"id": "Bad.Id"},
        {"value": float("nan")},
        {"tolerance": float("inf")},
        {"share": (0.2, 1.2)},
        {"share": (0.5, 0.2)},
        {"interval": (2.0, 1.0)},
        {"method": "simulation"},
        {"method": "bound"},
        {"method": "estimate"},
    ],
)
def test_a_finding_that_contradicts_itself_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        finding(**changes)


def test_json_round_trip_keeps_everything_and_the_published_keys() -> None:
    made = finding(
        curves=(Curve(title="t", kind="bars", x_label="x", y_label="y", x=("1", "2"), y=(1, 2), reading="r"),),
        exposed=(
            ExposedSubject(subject="row 1", risk=1.0, because="alone", learns=("diagnosis",), values={"age": "3"}),
        ),
        interval=(0.4, 0.6),
        confidence=0.95,
    )
    plain = json.loads(json.dumps(made.to_dict()))
    keys = (
        "id question column known title value unit method interval confidence subjects share tolerance direction "
        "decides status attacker missing baseline sentence curves exposed source seconds"
    )
    assert " ".join(plain) == keys
    assert Finding.from_dict(plain) == made


def test_a_value_may_be_infinite_and_comes_back() -> None:
    made = finding(value=math.inf, unit="number", known=("age", "zip"), column="ill", tolerance=3.0)
    plain = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert (plain["value"], plain["known"], plain["column"]) == ("infinite", ["age", "zip"], "ill")
    assert Finding.from_dict(plain) == made
    assert (made.status, made.value_text) == ("over", "∞")
    with pytest.raises(ValueError, match="not finite"):
        finding(value=math.nan)
    with pytest.raises(ValueError, match="not finite"):
        finding(value=-math.inf)


def test_a_value_has_a_method_and_a_method_a_value() -> None:
    for value, method in ((0.5, None), (None, "exact")):
        with pytest.raises(ValueError, match="needs its method"):
            finding(value=value, method=method)


@given(
    value=st.floats(0, 1),
    width=st.floats(0, 1),
    tolerance=st.floats(0, 1),
    direction=st.sampled_from(["lower", "higher"]),
)
def test_status_follows_from_the_ends_of_the_interval(
    value: float, width: float, tolerance: float, direction: Any
) -> None:
    made = finding(
        value=value, interval=(value, value + width), method="simulation", tolerance=tolerance, direction=direction
    )
    slack = [TOLERANCE_SLACK * max(tolerance, x) for x in (value, value + width)]
    bad = [
        x > tolerance + s if direction == "lower" else x < tolerance - s
        for x, s in zip((value, value + width), slack, strict=True)
    ]
    assert made.status == {(True, True): "over", (False, False): "within"}.get((bad[0], bad[1]), "open")


def test_replacing_the_tolerance_judges_anew() -> None:
    assert replace(finding(), tolerance=0.9).status == "within"


def test_curves_with_points_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        Curve(title="t", kind="line", x_label="", y_label="", x=(1, 2), y=(1, float("nan")), reading="")


def test_curves_with_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        Curve(title="t", kind="line", x_label="", y_label="", x=(1, 2), y=(1,), reading="")


def lines(**changes: Any) -> Curve:
    base: dict[str, Any] = {"title": "t", "kind": "line", "x_label": "x", "y_label": "y", "reading": "r"}
    points: dict[str, Any] = {"x": (1, 2, 1), "y": (3, 4, 5), "series": ("a", "a", "b")}
    return Curve(**{**base, **points, **changes})


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"series": ("a", "b")}, "differ in length"),
        ({"series": ()}, "differ in length"),
        ({"series": ("a", "b", "a")}, "stand together"),
        ({"kind": "bars"}, "kind line"),
        ({"x_scale": "category"}, "numbers as places"),
        ({"x": (1, "2", 1)}, "numbers as places"),
        ({"x": (1,) * 7, "y": (1,) * 7, "series": tuple("abcdefg")}, "7 lines"),
    ],
)
def test_lines_that_cannot_be_told_apart_are_refused(changes: dict[str, Any], because: str) -> None:
    assert lines().series == ("a", "a", "b")
    assert len(set(lines(x=(1,) * 6, y=(1,) * 6, series=tuple("abcdef")).series or ())) == 6
    with pytest.raises(ValueError, match=because):
        lines(**changes)


def test_levels_stand_among_lines_only() -> None:
    assert lines(levels=((0.1, "tolerated"),)).levels == ((0.1, "tolerated"),)
    with pytest.raises(ValueError, match="among lines only"):
        lines(kind="bars", series=None, levels=((0.1, "tolerated"),))
    with pytest.raises(ValueError, match="not finite"):
        lines(levels=((float("inf"), "tolerated"),))


def test_only_lines_of_positive_values_are_logarithmic() -> None:
    assert lines(y_scale="log").y_scale == "log"
    for changes in (
        {"kind": "bars", "series": None},
        {"y": (3, 0, 5)},
        {"low": (-1, 2, 3)},
        {"levels": ((0.1, "tolerated"),)},
    ):
        with pytest.raises(ValueError, match="logarithmic"):
            lines(y_scale="log", **changes)


@given(
    points=st.dictionaries(
        st.text(), st.lists(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 4), min_size=1), max_size=6
    ),
    banded=st.booleans(),
    one=st.booleans(),
)
def test_curves_come_back(points: dict[str, list[tuple[float, ...]]], banded: bool, one: bool) -> None:
    x, y, low, high = (tuple(p[i] for line in points.values() for p in line) for i in range(4))
    series = None if one else tuple(name for name, line in points.items() for _ in line)
    drawn = {
        "series": series,
        "mark": 1.0,
        "levels": tuple((p, name) for name, line in points.items() for p in line[0]),
    }
    made = lines(x=x, y=y, low=low if banded else None, high=high if banded else None, **drawn)
    plain = json.loads(json.dumps(finding(curves=(made,)).to_dict()))
    assert list(plain["curves"][0])[-3:] == ["series", "levels", "y_scale"]
    assert Finding.from_dict(plain).curves == (made,)


def links(**changes: Any) -> LinkChart:
    base: dict[str, Any] = {
        "title": "t",
        "left_label": "entry",
        "right_label": "pseudonym",
        "left": ("1", "2"),
        "right": ("1", "2", "3"),
        "risk": (0.5, 0.25),
        "pairs": ((0, 0, 0.5), (0, 2, 0.5), (1, 1, 1.0)),
        "reading": "r",
    }
    return LinkChart(**{**base, **changes})


@pytest.mark.parametrize("true", [None, (), ((0, 2), (1, 1))])
def test_links_come_back_beside_curves(true: Any) -> None:
    curve = Curve(title="t", kind="bars", x_label="x", y_label="y", x=("1", "2"), y=(1, 2), reading="r")
    made = finding(curves=(links(true=true), curve))
    back = Finding.from_dict(json.loads(json.dumps(made.to_dict())))
    assert back == made
    assert [type(c) for c in back.curves] == [LinkChart, Curve]


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"risk": (0.5,)}, "one risk"),
        ({"risk": (0.5, 1.5)}, "outside"),
        ({"risk": (0.5, float("nan"))}, "outside"),
        ({"pairs": ((0, 0, -0.1),)}, "outside"),
        ({"pairs": ((0, 0, float("inf")),)}, "outside"),
        ({"pairs": ((2, 0, 0.1),)}, "not there"),
        ({"pairs": ((0, 3, 0.1),)}, "not there"),
        ({"pairs": ((-1, 0, 0.1),)}, "not there"),
        ({"pairs": ((0.5, 0, 0.1),)}, "not there"),
        ({"pairs": ((0, 0, 0.1), (0, 0, 0.2))}, "twice"),
        ({"true": ((0, 3),)}, "not there"),
        ({"true": ((0, 1), (0, 1))}, "twice"),
        ({"kind": "bars"}, "kind"),
    ],
)
def test_links_that_contradict_themselves_are_refused(changes: dict[str, Any], because: str) -> None:
    assert links()
    with pytest.raises(ValueError, match=because):
        links(**changes)
