"""The chart of protections: usefulness against harm."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from report.samples import protection_result as result
from unveil.report.front_chart import front_svg


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
