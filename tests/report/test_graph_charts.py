"""Pictures of small graphs: everything is there, and names stay names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from report.pictures import check_plain, smallest_text_size, svg_elements, svg_texts
from report.samples import ANSI, NASTY, OVERRIDE
from test_finding import finding
from unveil.finding import Finding, GraphChart
from unveil.report.charts import chart_svg
from unveil.report.phrases import chart_table

EXAMPLE = GraphChart(
    title="Accounts and people",
    inner_label="account",
    outer_label="person",
    inner=3,
    outer=2,
    edges=((0, 1), (1, 2), (0, 3), (2, 3), (4, 1)),
    reading="Lines are links.",
)


def nodes(picture: str) -> tuple[int, int]:
    """How many squares and dots there are, the legend left out."""
    tags = [e.tag for e in svg_elements(picture) if e.get("fill") and e.tag in ("rect", "path")]
    return tags.count("rect") - 1, tags.count("path") - 1


def ends(picture: str) -> set[frozenset[tuple[str | None, str | None]]]:
    """The ends of all lines."""
    lines = [e for e in svg_elements(picture) if e.tag == "line"]
    return {frozenset(((e.get("x1"), e.get("y1")), (e.get("x2"), e.get("y2")))) for e in lines}


def test_every_node_and_every_edge_is_drawn() -> None:
    picture = chart_svg(EXAMPLE)
    check_plain(picture)
    assert nodes(picture) == (3, 2)
    assert len(ends(picture)) == len(EXAMPLE.edges)
    assert svg_texts(picture) == ["account", "person"]


def test_the_table_says_who_is_linked_with_whom() -> None:
    head, rows = chart_table(EXAMPLE)
    assert head == ["node", "linked with"]
    assert rows == [
        ["account 1", "account 2 and person 1"],
        ["account 2", "account 1, account 3 and person 2"],
        ["account 3", "account 2 and person 1"],
        ["person 1", "account 1 and account 3"],
        ["person 2", "account 2"],
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 9), st.integers(0, 9), st.randoms(use_true_random=False))
def test_any_graph_can_be_drawn(inner: int, outer: int, draw: Any) -> None:
    pairs = list(combinations(range(inner + outer), 2))
    edges = tuple(draw.sample(pairs, draw.randint(0, len(pairs))))
    picture = chart_svg(replace(EXAMPLE, inner=inner, outer=outer, edges=edges))
    check_plain(picture)
    assert smallest_text_size(picture) >= 9.5
    assert len([e for e in svg_elements(picture) if e.tag == "line"]) == len(edges)
    size = [float(e) for e in re.findall(r'[xy][12]?="([-\d.]+)"', picture)]
    assert all(0 <= place <= 400 for place in size)


def test_lines_do_not_hide_each_other() -> None:
    """Two accounts and a person linked with both stood on one line."""
    picture = chart_svg(replace(EXAMPLE, inner=2, outer=1, edges=((0, 1), (0, 2), (1, 2))))
    (a, b), (c, d), (e, f) = ([tuple(map(float, end)) for end in line] for line in map(sorted, ends(picture)))  # type: ignore[type-var, arg-type]
    points = {a, b, c, d, e, f}
    (x1, y1), (x2, y2), (x3, y3) = points
    assert abs((x2 - x1) * (y3 - y1) - (x3 - x1) * (y2 - y1)) > 1000


def test_nothing_is_said_to_be_nothing() -> None:
    assert "nothing to draw" in svg_texts(chart_svg(replace(EXAMPLE, inner=0, outer=0, edges=())))


@pytest.mark.parametrize("nasty", [NASTY, "]]>", "\"'><svg onload=x>", OVERRIDE, ANSI, "&lt;", "\ufffe\uffff", "\x00"])
def test_names_stay_names(nasty: str) -> None:
    picture = chart_svg(replace(EXAMPLE, title=nasty, inner_label=nasty, outer_label=nasty, reading=nasty))
    check_plain(picture)
    assert not re.search("[\x00-\x1f\u202a-\u202e\ufffe\uffff]", "".join(svg_texts(picture)))
    assert "<script" not in picture


def test_graphs_come_back_from_json() -> None:
    made = finding(curves=(EXAMPLE,))
    assert Finding.from_dict(json.loads(json.dumps(made.to_dict()))) == made


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"edges": ((0, 9),)}, "not there"),
        ({"edges": ((1, 1),)}, "not there"),
        ({"inner": -1}, "not there"),
        ({"edges": ((0, 1), (1, 0))}, "twice"),
        ({"kind": "links"}, "kind"),
    ],
)
def test_graphs_that_contradict_themselves_are_refused(changes: dict[str, Any], because: str) -> None:
    with pytest.raises(ValueError, match=because):
        replace(EXAMPLE, **changes)
