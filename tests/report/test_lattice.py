"""Pictures of sets ordered by inclusion: everything is there, nothing overlaps, and names stay names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from reference.random_relations import SetData, relation_from_sets, set_data
from report.pictures import check_plain, smallest_text_size, svg_elements, svg_texts
from report.samples import ANSI, NASTY, OVERRIDE
from test_finding import finding
from unveil.finding import Finding, LatticeChart
from unveil.inference.closed_sets import find_closed_sets
from unveil.inference.lattice_chart import draw_lattice
from unveil.inference.relation import Relation
from unveil.report.lattice_charts import lattice_svg
from unveil.report.phrases import chart_table


def lattice(rows: list[str]) -> LatticeChart:
    return draw_lattice(find_closed_sets(Relation.from_sets(rows)), "How to read it.")


EXAMPLE = lattice(["abcd", "abce", "abfg", "bcfg"])


def places(picture: str) -> dict[str, tuple[float, float]]:
    """Where each label stands."""
    return {
        e.text or "": (float(e.get("x") or 0), float(e.get("y") or 0)) for e in svg_elements(picture) if e.tag == "text"
    }


def test_larger_sets_stand_above_smaller_ones() -> None:
    at = places(lattice_svg(EXAMPLE))
    assert set(at) == {"b", "a and b", "b and c", "a, b and c", "b, f and g", "a, b, c and d", "a, b, c and e",
                       "a, b, f and g", "b, c, f and g"}  # fmt: skip
    for upper, lower in (("a and b", "b"), ("a, b and c", "b and c"), ("a, b, c and d", "a, b and c")):
        assert at[upper][1] < at[lower][1]
    lines = [e for e in svg_elements(lattice_svg(EXAMPLE)) if e.tag == "line"]
    assert len(lines) == len(EXAMPLE.edges)


def test_the_key_says_what_follows_from_what() -> None:
    said = svg_texts(lattice_svg(EXAMPLE, with_key=True))
    assert "2 have b, f and g, from f; or g" in said
    assert "4 have b" in said


def test_sets_whose_names_do_not_fit_are_numbered() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    wide = lattice([letters[k] + letters[(k + 1) % 26] for k in range(26)])
    assert len(wide.sets) == 53
    picture = lattice_svg(wide)
    at = places(picture)
    assert set(at) == {str(k + 1) for k in range(53)}
    assert len(set(at.values())) == 53
    assert all(0 <= x <= 390 for x, _ in at.values())
    head, rows = chart_table(wide)
    assert (head, len(rows)) == (["set", "shared by", "what belongs together", "follows from"], 53)
    assert rows[0] == ["1", "26", "nothing", "nothing"]
    assert rows[-1][1:] == ["1", "y and z", "y and z"]


@settings(max_examples=60, deadline=None)
@given(set_data(6))
def test_any_small_lattice_can_be_drawn(data: SetData) -> None:
    made = draw_lattice(find_closed_sets(relation_from_sets(data)), "r")
    for with_key in (False, True):
        picture = lattice_svg(made, with_key)
        check_plain(picture)
        assert smallest_text_size(picture) >= 9.5
        assert len([e for e in svg_elements(picture) if e.tag == "line"]) == len(made.edges)


@pytest.mark.parametrize("nasty", [NASTY, "]]>", "\"'><svg onload=x>", OVERRIDE, ANSI, "&lt;", "\ufffe\uffff", "\x00"])
def test_names_stay_names(nasty: str) -> None:
    made = replace(EXAMPLE, title=nasty, sets=tuple(tuple(nasty + x for x in one) for one in EXAMPLE.sets))
    picture = lattice_svg(made, with_key=True)
    check_plain(picture)
    assert not re.search("[\x00-\x1f\u202a-\u202e\ufffe\uffff]", "".join(svg_texts(picture)))
    assert "<script" not in picture


def test_nothing_is_said_to_be_nothing() -> None:
    empty = replace(EXAMPLE, sets=(), people=(), follows_from=(), edges=())
    assert "nothing to draw" in svg_texts(lattice_svg(empty))


def test_lattices_come_back_from_json() -> None:
    made = finding(curves=(EXAMPLE,))
    assert Finding.from_dict(json.loads(json.dumps(made.to_dict()))) == made


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"people": (1,)}, "for each set"),
        ({"edges": ((0, 99),)}, "not there"),
        ({"edges": ((0, 1),)}, "not smaller"),
        ({"kind": "links"}, "kind"),
    ],
)
def test_lattices_that_contradict_themselves_are_refused(changes: dict[str, Any], because: str) -> None:
    with pytest.raises(ValueError, match=because):
        replace(EXAMPLE, **changes)
