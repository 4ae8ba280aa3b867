"""Which protections no other beats, what is said about them, and how they are drawn."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from unveil.assessment import ProtectionResult
from unveil.protection_front import add_comparisons, unbeaten_protections
from unveil.report.front_chart import front_svg

SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])
BEST = "Nothing else that was tried keeps more without harming more."


def result(name: str, useful: float | None, harmed: float | None, chosen: bool = False) -> ProtectionResult:
    interval = None if harmed is None else (harmed / 2, harmed)
    return ProtectionResult(
        id=name, title=name.upper(), sentence="", usefulness=useful, harmed=interval, decision="release", chosen=chosen
    )


@given(st.lists(st.tuples(SHARES, SHARES), max_size=7))
def test_the_front_is_what_nothing_else_beats(places: list[tuple[float, float]]) -> None:
    results = [result(f"p{i}", *place) for i, place in enumerate(places)]
    best = {
        f"p{i}"
        for i, (u, h) in enumerate(places)
        if not any((a >= u and b < h) or (a > u and b <= h) for a, b in places)
    }
    assert {p.id for p in unbeaten_protections(results)} == best
    for p in add_comparisons(results):
        assert (p.comparison == BEST) == (p.id in best)
        if p.id in best:
            continue
        named = re.fullmatch(r"“P(\d+)” keeps (as much|more) and harms (as few|fewer)\.", p.comparison)
        assert named
        (u, h), (a, b) = places[int(p.id[1:])], places[int(named[1])]
        assert (a > u if named[2] == "more" else a == u) and (b < h if named[3] == "fewer" else b == h)


def test_what_was_not_made_is_compared_with_nothing() -> None:
    results = [result("none", 1.0, 0.5), result("levels", None, None), result("local", 0.5, None)]
    assert [p.comparison for p in add_comparisons(results)] == [BEST, "", ""]


def test_the_chart_shows_every_protection_where_it_is() -> None:
    results = [result("none", 1.0, 0.4), result("levels", 0.5, 0.1), result("local", 0.75, 0.1, chosen=True)]
    picture = ET.fromstring(front_svg(results))
    texts = {t.text: t for t in picture.iter() if t.tag.endswith("text") and t.text}
    assert {"as it is", "levels", "local (chosen)", "Usefulness", "Share harmed", "50%", "100%"} <= set(texts)
    circles = [e.get("d", "") for e in picture.iter() if e.tag.endswith("path") and "A" in e.get("d", "")]
    at = [tuple(map(float, re.findall(r"[\d.]+", d)[:2])) for d in circles]
    assert len(at) == 3
    (x0, y0), (x1, y1), (x2, y2) = at
    assert x1 < x2 < x0 and y0 < y1 == y2  # more useful is further right, fewer harmed is lower
    filled = [e.get("fill") for e in picture.iter() if "A" in e.get("d", "")]
    assert [f != "none" for f in filled] == [False, False, True]
    described = " ".join("".join(e.itertext()) for e in picture.iter() if e.tag.endswith("desc"))
    assert "LOCAL: 75% useful, 10% harmed" in described


def test_a_single_point_is_not_drawn() -> None:
    assert front_svg([result("none", 1.0, 0.4), result("levels", None, None)]) == ""
