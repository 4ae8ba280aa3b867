"""The journalist attacker: the population is in a file, or only its size is known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Case, Engine, Policy, UnveilError
from unveil.classes.known_population import match_population
from unveil.release.codes import encode_column
from unveil.release.label_matching import match_labels
from unveil.release.table import table_from_frame

ENGINE = Engine()
AGES, ZIPS = ["31", "38", "42", None], ["12", "13", "25", None]
LABELS_AGE, LABELS_ZIP = ["30-39", "42", "*", None], ["1*", "25", "**", "13"]


def fits(value: str | None, label: str | None) -> bool:
    """Written out for the few labels in this file."""
    if value is None or label in (None, "*", "**") or value == label:
        return True
    return (label == "30-39" and value in ("31", "38")) or (label == "1*" and value in ("12", "13"))


def encode_values(rows: list[tuple[str | None, ...]]) -> list[object]:
    return [encode_column(pa.chunked_array([pa.array(c, pa.string())])) for c in zip(*rows, strict=True)]


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(AGES), st.sampled_from(ZIPS)), min_size=1, max_size=20),
    st.lists(st.tuples(st.sampled_from(LABELS_AGE), st.sampled_from(LABELS_ZIP)), min_size=1, max_size=10),
)
def test_who_fits_a_row_by_looking_at_everybody(people: list[tuple[str, str]], rows: list[tuple[str, str]]) -> None:
    many = [sum(all(map(fits, person, row)) for person in people) for row in rows]
    same = [rows.count(row) for row in rows]
    if not any(many):
        with pytest.raises(UnveilError, match="nobody in the population"):
            match_population(encode_values(people), encode_values(rows), [match_labels, match_labels])  # type: ignore[arg-type]
        return
    found = match_population(encode_values(people), encode_values(rows), [match_labels, match_labels])  # type: ignore[arg-type]
    each = [max(m, s) for m, s in zip(many, same, strict=True)]
    assert found.k_map == min(each)
    assert found.average_risk == pytest.approx(sum(1 / m for m in each) / len(rows))
    assert found.uniques == sum(m == 1 for m in each)
    assert found.sample_uniques == sum(s == 1 for s in same)
    assert found.rows_without_enough_people == sum(m < s for m, s in zip(many, same, strict=True))
    present = [
        min(1.0, sum(1 / m for m, row in zip(each, rows, strict=True) if all(map(fits, p, row)))) for p in people
    ]
    assert found.presence == pytest.approx((min(present), max(present)))
    assert found.has_ambiguous_people == any(len({r for r in rows if all(map(fits, p, r))}) > 1 for p in people)
    assert found.population == len(people)


def table(rows: list[tuple[str, ...]], names: list[str], name: str = "t") -> unveil.Table:
    return table_from_frame(
        pa.table([pa.array(c, pa.string()) for c in zip(*rows, strict=True)], names), engine=ENGINE, name=name
    )


def test_findings_with_a_file() -> None:
    """Five people aged 31 to 38 and one of 42; the release has two in their thirties, one of 42 and a stranger."""
    people = [("31",), ("33",), ("35",), ("37",), ("38",), ("42",)]
    release = table([("30-39", "a"), ("30-39", "b"), ("42", "a"), ("77", "b")], ["age", "ill"])
    case = Case(release, holds={"population": table(people, ["age"], "register")})
    found = unveil.assess(case, Policy(quasi=("age",), sensitive=("ill",)))
    assert found["classes.population_uniques"].value == pytest.approx(2 / 4)
    assert "1 row matches fewer people" in found["classes.population_uniques"].sentence
    assert found["classes.k_map"].value == 1
    assert "(register) of 6 people" in found["classes.k_map"].attacker
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
    found = unveil.assess(release, Policy(quasi=("a", "b"), settings={"classes": {"sampling_fraction": 0.1}}))[
        "classes.population_uniques"
    ]
    assert found.method == "bound"
    assert found.interval is not None
    assert 0 <= found.interval[0] < found.interval[1] == found.value < 1
    assert found.confidence == 0.95
    assert "random sample" in found.sentence
    (curve,) = found.curves
    for said in ("Pitman", "Zayatz", "SNB", "Dankar"):
        assert said in curve.reading
    assert curve.x == ("at least", "Pitman", "Zayatz", "SNB", "at most")
    by_size = unveil.assess(release, Policy(quasi=("a", "b"), settings={"classes": {"population_size": 30_000}}))[
        "classes.population_uniques"
    ]
    assert by_size.value == found.value


def test_one_set_of_several_may_be_in_the_population() -> None:
    release = table([("30", "x", "p"), ("40", "y", "q")], ["age", "zip", "job"])
    case = Case(release, holds={"population": table([("30", "x"), ("30", "x"), ("40", "y")], ["age", "zip"])})
    found = unveil.assess(case, Policy(quasi=(("age", "job"), ("age", "zip"))))
    assert [f.known for f in found.findings if f.id == "classes.k_map"] == [("age", "zip")]


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Policy(quasi=("zip",)), "no column zip"),
    ],
)
def test_populations_that_do_not_go_with_the_release(policy: Policy, says: str) -> None:
    release = table([("30", "x"), ("40", "y")], ["age", "zip"])
    with pytest.raises(UnveilError, match=says):
        unveil.assess(Case(release, holds={"population": table([("30",)], ["age"])}), policy)


@pytest.mark.parametrize("population", [0, -3, 1.5, True, float("nan"), "many"])
def test_impossible_sizes(population: object) -> None:
    with pytest.raises(UnveilError, match=r"classes\.population_size must be a whole number"):
        Policy(settings={"classes": {"population_size": population}})
    with pytest.raises(UnveilError, match=r"classes\.sampling_fraction must be a share above 0"):
        Policy(settings={"classes": {"sampling_fraction": population}})
    release = table([("30", "x"), ("40", "y"), ("40", "y")], ["age", "zip"])
    with pytest.raises(UnveilError, match="cannot have a sample"):
        unveil.assess(release, Policy(quasi=("age",), settings={"classes": {"population_size": 2}}))


@pytest.mark.parametrize(
    "values",
    [
        [f"{month:02}-{year}" for year in (1985, 1987, 1990) for month in range(1, 13)],
        ["02139-4307", "90210-1234", "02139-4308"],
        ["555-1234", "555-0199", "556-9999"],
        ["25-12", "12-25", "05-07"],
        ["1e5", "10e4"],
    ],
)
def test_values_with_a_hyphen_are_no_intervals(values: list[str]) -> None:
    """A release of the whole population, each value once: everybody is found."""
    rows = [(v,) for v in values]
    case = Case(table(rows, ["born"]), holds={"population": table(rows, ["born"])})
    found = unveil.assess(case, Policy(quasi=("born",)))
    assert found["classes.k_map"].value == 1
    assert found["classes.population_uniques"].value == 1
    assert found["classes.presence"].value == 1


def test_a_population_that_fits_nobody_takes_nothing_else_away() -> None:
    release = table([("30", "x"), ("40", "y")], ["age", "zip"])
    case = Case(release, holds={"population": table([("99", "q")], ["age", "zip"])})
    found = unveil.assess(case, Policy(quasi=(("age",), ("zip",))))
    assert found.find("classes.k", known=("zip",)).value == 1
    assert found.verdict.decision == "protect first"
    assert found["classes.failed"].sentence.endswith("the same columns and categories.")


def test_a_set_that_the_population_lacks_is_told() -> None:
    release = table([("30", "x"), ("40", "y")], ["age", "zip"])
    case = Case(release, holds={"population": table([("30",), ("40",)], ["age"])})
    found = unveil.assess(case, Policy(quasi=(("age",), ("zip",))))
    assert "lacks some of these columns: zip" in found["classes.k_map"].sentence


def test_the_findings_own_tolerance_counts_whom_it_harms() -> None:
    release = table([("30",)] * 2, ["age"])
    case = Case(release, holds={"population": table([("30",)] * 10, ["age"])})
    policy = Policy(quasi=("age",), tolerance={"classes.k_map": 20, "classes.k": 1})
    found = unveil.assess(case, policy)["classes.k_map"]
    assert (found.status, found.share) == ("over", (1.0, 1.0))


def test_a_tolerance_that_nothing_measured_is_a_doubt() -> None:
    release = table([("30",)] * 9, ["age"])
    found = unveil.assess(release, Policy(quasi=("age",), tolerance={"classes.k_map": 3}))
    assert found.verdict.decision == "your call"
    assert "Not measured, although the policy sets a tolerance: classes.k_map" in found.verdict.sentence


def test_dates_of_which_the_release_shows_the_month() -> None:
    people = [("1987-06-05",), ("1987-06-30",), ("1990-01-01",)]
    case = Case(table([("1987-06",), ("1990-01",)], ["born"]), holds={"population": table(people, ["born"])})
    found = unveil.assess(case, Policy(quasi=("born",), hierarchy={"born": "dates"}))
    assert found["classes.k_map"].value == 1
    assert found["classes.population_uniques"].value == 0.5
    assert set(found.provenance.beside) == {"population", "hierarchy of born"}


def test_the_same_values_of_other_types() -> None:
    release = table_from_frame(pa.table({"old": pa.array([True, False, True])}), engine=ENGINE)
    case = Case(release, holds={"population": table([("True",)] * 4 + [("False",)] * 2, ["old"])})
    assert unveil.assess(case, Policy(quasi=("old",)))["classes.k_map"].value == 2


def test_bytes_that_are_no_text_are_told() -> None:
    release = table_from_frame(pa.table({"q": pa.array([b"\xff\xfe", b"\x80"])}), engine=ENGINE)
    found = unveil.assess(Case(release, holds={"population": release}), Policy(quasi=("q",)))
    assert "bytes that are not text" in found["classes.failed"].sentence
