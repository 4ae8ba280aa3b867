"""The journalist: a population in a file, or of which only the size is known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Case, Engine, Policy, UnveilError
from unveil.classes.fitting import meaning
from unveil.classes.population import fitting_people
from unveil.release.codes import encode
from unveil.release.table import table_of

ENGINE = Engine()
AGES, ZIPS = ["31", "38", "42", None], ["12", "13", "25", None]
LABELS_AGE, LABELS_ZIP = ["30-39", "42", "*", None], ["1*", "25", "**", "13"]


def fits(value: str | None, label: str | None) -> bool:
    """Written out for the few labels here."""
    if value is None or label in (None, "*", "**") or value == label:
        return True
    return (label == "30-39" and value in ("31", "38")) or (label == "1*" and value in ("12", "13"))


def coded(rows: list[tuple[str | None, ...]]) -> list[object]:
    return [encode(pa.chunked_array([pa.array(c, pa.string())])) for c in zip(*rows, strict=True)]


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(AGES), st.sampled_from(ZIPS)), min_size=1, max_size=20),
    st.lists(st.tuples(st.sampled_from(LABELS_AGE), st.sampled_from(LABELS_ZIP)), min_size=1, max_size=10),
)
def test_who_fits_a_row_by_looking_at_everybody(people: list[tuple[str, str]], rows: list[tuple[str, str]]) -> None:
    many = [sum(all(map(fits, person, row)) for person in people) for row in rows]
    same = [rows.count(row) for row in rows]
    if not any(many):
        with pytest.raises(UnveilError, match="nobody of the population"):
            fitting_people(coded(people), coded(rows), [meaning, meaning])  # type: ignore[arg-type]
        return
    found = fitting_people(coded(people), coded(rows), [meaning, meaning])  # type: ignore[arg-type]
    each = [max(m, s) for m, s in zip(many, same, strict=True)]
    assert found.k_map == min(each)
    assert found.average == pytest.approx(sum(1 / m for m in each) / len(rows))
    assert found.uniques == sum(m == 1 for m in each)
    assert found.sample_uniques == sum(s == 1 for s in same)
    assert found.lacking == sum(m < s for m, s in zip(many, same, strict=True))
    present = [
        min(1.0, sum(1 / m for m, row in zip(each, rows, strict=True) if all(map(fits, p, row)))) for p in people
    ]
    assert found.presence == pytest.approx((min(present), max(present)))
    assert found.several == any(len({r for r in rows if all(map(fits, p, r))}) > 1 for p in people)
    assert found.population == len(people)


def table(rows: list[tuple[str, ...]], names: list[str], name: str = "t") -> unveil.Table:
    return table_of(
        pa.table([pa.array(c, pa.string()) for c in zip(*rows, strict=True)], names), engine=ENGINE, name=name
    )


def test_findings_with_a_file() -> None:
    """Five people aged 31 to 38 and one of 42; the release has two in their thirties, one of 42 and a stranger."""
    people = [("31",), ("33",), ("35",), ("37",), ("38",), ("42",)]
    release = table([("30-39", "a"), ("30-39", "b"), ("42", "a"), ("77", "b")], ["age", "ill"])
    case = Case(release, holds={"population": table(people, ["age"], "register")})
    found = unveil.assess(case, Policy(quasi=("age",), sensitive=("ill",)))
    assert found["classes.population_uniques"].value == pytest.approx(2 / 4)
    assert "1 row fit fewer people" in found["classes.population_uniques"].sentence
    assert found["classes.k_map"].value == 1
    assert "register with 6 people" in found["classes.k_map"].attacker
    assert f"{(1 / 5 + 1 / 5 + 1 + 1) / 4:.0%}" in found["classes.k_map"].sentence
    assert found["classes.presence"].value == 1
    assert found["classes.presence"].method == "exact"
    assert {found[f].decides for f in ("classes.population_uniques", "classes.k_map", "classes.presence")} == {False}
    held = unveil.assess(case, Policy(quasi=("age",), sensitive=("ill",), tolerance={"classes.k_map": 2}))
    assert held["classes.k_map"].status == "over"


def test_an_estimate_has_its_interval_and_says_what_it_assumes() -> None:
    rng = np.random.default_rng(5)
    rows = [(str(a), str(b)) for a, b in zip(rng.zipf(1.6, 3000) % 900, rng.integers(0, 5, 3000), strict=True)]
    release = table(rows, ["a", "b"])
    found = unveil.assess(release, Policy(quasi=("a", "b"), population=0.1))["classes.population_uniques"]
    assert found.method == "bound"
    assert found.interval is not None
    assert 0 <= found.interval[0] < found.interval[1] == found.value < 1
    assert found.confidence == 0.95
    for said in ("Pitman", "Zayatz", "SNB", "random sample", "Dankar"):
        assert said in found.sentence
    (curve,) = found.curves
    assert curve.x == ("at least", "Pitman", "Zayatz", "SNB", "at most")
    by_size = unveil.assess(release, Policy(quasi=("a", "b"), population=30_000))["classes.population_uniques"]
    assert by_size.value == found.value


def test_one_set_of_several_may_be_in_the_population() -> None:
    release = table([("30", "x", "p"), ("40", "y", "q")], ["age", "zip", "job"])
    case = Case(release, holds={"population": table([("30", "x"), ("30", "x"), ("40", "y")], ["age", "zip"])})
    found = unveil.assess(case, Policy(quasi=(("age", "job"), ("age", "zip"))))
    assert "classes.k_map.2" in {f.id for f in found.findings}
    assert "classes.k_map" not in {f.id for f in found.findings}


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Policy(quasi=("zip",)), "no column zip"),
        (Policy(quasi=("age",), subject="zip"), "one row per person"),
    ],
)
def test_populations_that_do_not_go_with_the_release(policy: Policy, says: str) -> None:
    release = table([("30", "x"), ("40", "y")], ["age", "zip"])
    with pytest.raises(UnveilError, match=says):
        unveil.assess(Case(release, holds={"population": table([("30",)], ["age"])}), policy)


@pytest.mark.parametrize("population", [0, -3, 1.5, True, float("nan"), "many"])
def test_impossible_sizes(population: object) -> None:
    with pytest.raises(UnveilError, match="population"):
        Policy(population=population)  # type: ignore[arg-type]
    release = table([("30", "x"), ("40", "y"), ("40", "y")], ["age", "zip"])
    with pytest.raises(UnveilError, match="cannot have a sample"):
        unveil.assess(release, Policy(quasi=("age",), population=2))
