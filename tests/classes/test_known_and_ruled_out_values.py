"""What classes reveal beyond one column at a time: known sensitive columns, ruled-out values, kinds."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Policy, UnveilError
from unveil.classes.diversity import group_sensitive_values

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.sets(st.integers(0, 5)))
def test_values_that_are_ruled_out(rows: list[tuple[int, int]], ruled: set[int]) -> None:
    """Counts people whose value is the only one left in their class."""
    found = group_sensitive_values(np.array([k for k, _ in rows]), 4, np.array([v for _, v in rows], np.int32))
    left = {k: {v for q, v in rows if q == k} - ruled for k, _ in rows}
    revealed = sum(v not in ruled and len(left[k]) == 1 for k, v in rows)
    assert found.people_revealed_if_ruled_out(np.array([v in ruled for v in range(6)])) == revealed


@settings(max_examples=100, deadline=None)
@given(ROWS, st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_kinds_of_values(rows: list[tuple[int, int]], kinds: list[int]) -> None:
    found = group_sensitive_values(np.array([k for k, _ in rows]), 4, np.array([v for _, v in rows], np.int32))
    expected = {k: len({kinds[v] for q, v in rows if q == k}) for k in sorted({k for k, _ in rows})}
    assert found.distinct_kinds(kinds).tolist() == list(expected.values())


def test_someone_who_knows_the_other_sensitive_columns(tmp_path: Path) -> None:
    """Brute force over random rows: classes by the quasi-identifier and the other sensitive column."""
    rng = random.Random(8)
    rows = [(rng.randrange(3), rng.randrange(3), rng.randrange(4)) for _ in range(60)]
    (tmp_path / "t.csv").write_text("q,s,r\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    table = unveil.read(tmp_path / "t.csv")
    found = unveil.assess(table, Policy(quasi=("q",), sensitive=("s", "r")))
    for column, own, known, other in (("s", 1, "r", 2), ("r", 2, "s", 1)):
        strict = found.find("classes.l_distinct", column=column, known=("q", known))
        classes: dict[tuple[int, int], set[int]] = {}
        for row in rows:
            classes.setdefault((row[0], row[other]), set()).add(row[own])
        assert strict.value == min(map(len, classes.values()))
        sizes = Counter((row[0], row[other]) for row in rows)
        poor = sum(n for key, n in sizes.items() if len(classes[key]) < 2)
        assert strict.share == pytest.approx((poor / 60, poor / 60))
        assert not strict.decides
        assert strict.status is None
    strict_policy = Policy(quasi=("q",), sensitive=("s", "r"), settings={"classes": {"others_known": True}})
    decided = unveil.assess(table, strict_policy).find("classes.l_distinct", column="s", known=("q", "r"))
    assert decided.decides
    assert decided.tolerance == 2


def test_one_sensitive_column_has_no_stricter_reading(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\n1,a\n1,b\n")
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("q",), sensitive=("s",)))
    assert {f.known for f in found.findings if f.column == "s"} == {("q",)}


def test_listed_values_and_who_may_see_them(tmp_path: Path) -> None:
    """Without CANARY the class of 1 is left with flu, of which one in four is."""
    (tmp_path / "t.csv").write_text("q,s\n1,flu\n1,CANARY\n2,gout\n2,ulcer\n")
    table = unveil.read(tmp_path / "t.csv")
    ruled_out = {"ruled_out": {"s": ["CANARY", "plague"]}}
    policy = Policy(quasi=("q",), sensitive=("s",), settings={"classes": ruled_out})
    found = unveil.assess(table, policy)
    assert "rule out the 2 listed values (1 found in the column)" in found["classes.l_distinct"].sentence
    assert "learns s for 25% of the rows" in found["classes.l_distinct"].sentence
    assert "CANARY" not in found.to_json()
    assert found.provenance.policy["classes"]["ruled_out"] == {"s": ["hidden", "hidden"]}
    assert "CANARY" in unveil.assess(table, policy, reveal=True).to_json()


def test_the_policy_showed_ruled_out_values_when_it_was_printed(tmp_path: Path) -> None:
    """Texts for missing values are no values; results show them, because numbers depend on them."""
    (tmp_path / "t.csv").write_text("q,s\n1,flu\n1,CANARY\n2,-99\n")
    ruled_out = {"ruled_out": {"s": ["CANARY"]}}
    policy = Policy(quasi=("q",), sensitive=("s",), missing=("-99",), settings={"classes": ruled_out})
    assert "CANARY" not in repr(policy) + str(policy) + repr(policy.settings)
    assert "-99" in repr(policy)
    assert unveil.assess(unveil.read(tmp_path / "t.csv"), policy).provenance.policy["missing"] == ["-99"]


def test_what_cannot_be_ruled_out_is_refused() -> None:
    with pytest.raises(UnveilError, match="not among the sensitive"):
        Policy(quasi=("q",), settings={"classes": {"ruled_out": {"q": ["1"]}}})
    with pytest.raises(UnveilError, match="must be a list"):
        Policy(sensitive=("s",), settings={"classes": {"ruled_out": {"s": [1]}}})


def test_counts_beyond_two_thousand_million() -> None:
    """Rows that stand for more people than 32 bits can count."""
    many = np.array([3_000_000_000, 1, 5_000_000_000, 5_000_000_000])
    found = group_sensitive_values(np.array([0, 0, 1, 1]), 2, np.array([0, 1, 0, 1], np.int32), many)
    assert found.size.tolist() == [3_000_000_001, 10_000_000_000]
    assert found.people == 13_000_000_001
    assert found.alpha.tolist() == [3_000_000_000 / 3_000_000_001, 0.5]
    q = 8_000_000_000 / 13_000_000_001
    assert found.t_equal == pytest.approx([3_000_000_000 / 3_000_000_001 - q, q - 0.5])


@pytest.mark.parametrize("values", [3, 6, 7, 10])
def test_rounding_does_not_decide(values: int, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\n" + "".join(f"{q},v{v}\n" for q in "ab" for v in range(values)))
    tolerance = {"classes.k": 2, "classes.l_entropy": values, "classes.t": 0}
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("q",), sensitive=("s",), tolerance=tolerance))
    assert (found["classes.l_entropy"].value, found["classes.t"].value) == (values, 0)
    assert found.verdict.decision == "release"


def test_a_hierarchy_of_the_case_is_checked_before_anything_is_told(tmp_path: Path) -> None:
    from unveil.release.hierarchy import Hierarchy

    (tmp_path / "t.csv").write_text("q,s\n1,flu\n1,CANARY\n")
    case = unveil.Case(unveil.read(tmp_path / "t.csv"), hierarchies={"s": Hierarchy.from_rows([["flu", "*"]])})
    with pytest.raises(UnveilError, match="row 2 has a value in 's' that"):
        unveil.assess(case, Policy(quasi=("q",), sensitive=("s",)))


def test_no_class_may_be_too_small_where_any_is_tolerated(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\n1,a\n2,b\n")
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("q",), tolerance={"classes.k": 0}))
    assert found["classes.k"].status == "within"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (1, "It does so for at least half of the rows."),
        (2, "Once the most helpful value is ruled out, s is known for at least half of the rows."),
        (3, "Once the 2 most helpful values are ruled out, s is known for at least half of the rows."),
        (30, "Even if the 20 most helpful values are ruled out, s is known for fewer than half of the rows."),
    ],
)
def test_what_is_said_about_values_that_could_be_ruled_out(tmp_path: Path, values: int, said: str) -> None:
    """Three classes with so many values each, all different: an attacker must rule out all but one of a class."""
    (tmp_path / "t.csv").write_text("q,s\n" + "".join(f"{q},{q}{i}\n" for q in "abc" for i in range(values)))
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("q",), sensitive=("s",)))
    (curve,) = found["classes.l_distinct"].curves
    assert curve.reading == f"At 0, the class alone reveals the value. {said}"


def test_values_with_other_spaces_were_ruled_out_as_well(tmp_path: Path) -> None:
    """Values that differ in spaces are different values, so only the one that is listed is ruled out."""
    (tmp_path / "t.csv").write_text("q,s\n1,flu\n1, flu\n2,gout\n2,ulcer\n")
    for listed, found in ((["flu"], 1), ([" flu"], 1), ([" flu", "flu"], 2), (["flu "], 0)):
        settings = {"classes": {"ruled_out": {"s": listed}}}
        sentence = unveil.assess(
            unveil.read(tmp_path / "t.csv"), Policy(quasi=("q",), sensitive=("s",), settings=settings)
        )["classes.l_distinct"].sentence
        assert f"({found} found in the column)" in sentence
        assert f"learns s for {'25%' if found == 1 else '0%'} of the rows" in sentence
