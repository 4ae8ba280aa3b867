"""Three readings of a missing quasi-identifier, end to end, against comparing every pair of rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_models
from unveil import Engine, Policy, UnveilError
from unveil.classes.missing_values import MissingValues
from unveil.classes.table_classes import classes_with_values, smallest_classes
from unveil.release.table import table_from_frame

ENGINE = Engine()
GONE = ("?", " NA ", None)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", *GONE]), st.sampled_from(["x", "y", None, "?"]), st.sampled_from(["f", "g", "?"])
    ),
    min_size=1,
    max_size=20,
)
READINGS = ("value", "wildcard", "excluded")


def is_missing(value: str | None) -> bool:
    return value is None or value.strip() in ("?", "NA")


def neighbours(rows: list[tuple[str | None, ...]], reading: str) -> dict[int, list[int]]:
    """For every row that counts, all rows that look the same to an attacker who knows the first two columns."""

    def same(a: str | None, b: str | None) -> bool:
        return a == b or (reading == "wildcard" and (is_missing(a) or is_missing(b)))

    counting = [i for i, row in enumerate(rows) if reading != "excluded" or not any(map(is_missing, row[:2]))]
    return {i: [j for j in counting if all(map(same, rows[i][:2], rows[j][:2]))] for i in counting}


@settings(max_examples=120, deadline=None)
@given(ROWS, st.sampled_from(READINGS))
def test_sizes_and_values_by_looking_at_every_pair(rows: list[tuple[str | None, ...]], reading: str) -> None:
    table = table_from_frame(
        pa.table([pa.array(c, pa.string()) for c in zip(*rows, strict=True)], ["q", "r", "s"]), engine=ENGINE
    )
    missing, expected = MissingValues(("?", "NA"), reading), neighbours(rows, reading)
    if not expected:
        with pytest.raises(UnveilError, match="every row lacks"):
            classes_with_values(table, ["q", "r"], ["s"], missing=missing)
        return
    found = classes_with_values(table, ["q", "r"], ["s"], missing=missing)
    sizes = Counter(len(others) for others in expected.values())
    assert dict(zip(found.class_sizes.size.tolist(), found.class_sizes.subjects.tolist(), strict=True)) == dict(sizes)

    classes = found.values[0].classes
    having = {i: [rows[j][2] for j in others if not is_missing(rows[j][2])] for i, others in expected.items()}
    everyone = [rows[i][2] for i in expected if not is_missing(rows[i][2])]
    measured = [
        naive_models.class_measures(list(having[i]), list(everyone)) for i in expected if not is_missing(rows[i][2])
    ]
    if not everyone:
        assert len(classes) == 0
        return
    for name in ("size", "distinct", "alpha", "entropy_l", "t_equal", "beta", "delta"):
        per_person = [v for v, n in zip(getattr(classes, name), classes.target_counts, strict=True) for _ in range(n)]
        assert sorted(per_person) == pytest.approx(sorted(m[name] for m in measured)), name


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from(READINGS), st.integers(1, 4))
def test_the_smallest_classes(rows: list[tuple[str | None, ...]], reading: str, limit: int) -> None:
    table = table_from_frame(
        pa.table([pa.array(c, pa.string()) for c in zip(*rows, strict=True)], ["q", "r", "s"]), engine=ENGINE
    )
    expected = neighbours(rows, reading)
    if not expected:
        return
    seen: dict[object, tuple[int, int]] = {}
    for i in sorted(expected):
        own = tuple(None if reading != "value" and is_missing(v) else v for v in rows[i][:2])
        seen.setdefault(own, (len(expected[i]), i + 1))
    small = sorted(s for s in seen.values() if s[0] < 3)[:limit]
    found = smallest_classes(table, ["q", "r"], 3, limit, None, MissingValues(("?", "NA"), reading))
    assert [(f.size, f.row) for f in found] == small


def test_the_default_never_says_less_than_wildcards(tmp_path: Path) -> None:
    """The rows fit 4, 4, 5, 5, 2 … others: 30,f fits itself twice, 30,? and ?,f and ?,?."""
    rows = ["30,f,flu", "30,f,flu", "30,?,gout", "?,f,flu", "40,m,gout", "40,?,flu", "?,?,gout"]
    fit = [5, 5, 5, 6, 3, 4, 7]
    (tmp_path / "t.csv").write_text("age,sex,ill\n" + "\n".join(rows) + "\n")
    table = unveil.read(tmp_path / "t.csv")
    said = {"value": "value of its own", "wildcard": "fits anything", "excluded": "left out"}
    found = {
        reading: unveil.assess(table, Policy(quasi=("age", "sex"), sensitive=("ill",), missing_as=reading))
        for reading in READINGS
    }
    for reading in READINGS:
        assert said[reading] in found[reading]["classes.k"].missing
    risks = {reading: found[reading]["classes.reidentification"].value for reading in READINGS}
    assert risks == pytest.approx({"value": 6 / 7, "wildcard": sum(1 / f for f in fit) / 7, "excluded": 2 / 3})
    assert found["wildcard"]["classes.k"].value == 3
    for reading in ("wildcard", "excluded"):
        assert "the smallest class would have 1 row, and 71.4% of the rows" in found[reading]["classes.k"].sentence
    assert [e.because for e in found["wildcard"]["classes.k"].exposed] == [
        "one of 3 rows that fit",
        "one of 4 rows that fit",
    ]
    assert found["excluded"]["classes.k"].subjects == 3


def test_a_missing_sensitive_value_makes_no_class_more_diverse(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,ill\n" + "30,flu\n30,flu\n30,?\n40,gout\n40,flu\n50,?\n")
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("age",), sensitive=("ill",)))
    assert found["classes.k"].subjects == 6
    assert found["classes.l_distinct"].value == 1
    assert found["classes.homogeneity"].value == pytest.approx(2 / 4)
    nothing = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("age",), sensitive=("ill",), missing=()))
    assert nothing["classes.homogeneity"].value == pytest.approx(1 / 6)


def test_a_sensitive_column_without_any_value(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,ill\n" + "30,?\n40,?\n")
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("age",), sensitive=("ill",)))
    assert found["classes.homogeneity"].value == 0
    assert "nothing to learn" in found["classes.homogeneity"].sentence


def test_wildcards_are_for_rows_not_for_people_with_several() -> None:
    with pytest.raises(UnveilError, match="one row per person"):
        Policy(quasi=("age",), subject="who", missing_as="wildcard")
    with pytest.raises(UnveilError, match="missing_as must be"):
        Policy(missing_as="anything")


def test_people_with_several_rows_and_excluded_ones(tmp_path: Path) -> None:
    """r's row without an age is left out; the other one looks like q's."""
    (tmp_path / "v.csv").write_text("who,age,ill\np,30,a\np,40,b\nq,30,a\nr,?,c\nr,30,c\n")
    table = unveil.read(tmp_path / "v.csv")
    found = unveil.assess(table, Policy(quasi=("age",), subject="who", sensitive=("ill",), missing_as="excluded"))
    assert found["classes.uniques"].value == pytest.approx(1 / 3)
    assert found["classes.k"].exposed[0].subject == "person of row 1"
    assert found["classes.l_distinct"].value == 1  # p, alone in a class, has a and b for certain


def test_rows_that_were_left_out_are_a_doubt(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age\n" + "30\n" * 10 + "?\n" * 90)
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("age",), missing_as="excluded"))
    assert found.verdict.decision == "your call"
    assert "90 of 100 rows lack a quasi-identifier" in found.verdict.sentence
    assert "90 of 100 rows lack a value and were left out" in found["classes.k"].sentence


def test_nothing_and_what_is_not_a_number_are_the_same() -> None:
    rows = pa.table({"x": pa.array([None] * 5 + [float("nan")] * 5, pa.float64()), "s": ["a", "b"] * 5})
    for policy in (Policy(quasi=("x",)), Policy(quasi=("x",), sensitive=("s",))):
        assert unveil.assess(table_from_frame(rows, engine=ENGINE), policy)["classes.k"].value == 10
