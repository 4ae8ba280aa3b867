"""The question ``classes`` as an owner sees it: given and guessed roles, several sets, people with several rows."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest

import unveil
from unveil import Policy

GIVEN = Policy(identifier=("name",), quasi=(("age", "zip", "sex"),), sensitive=("diagnosis",))


def test_the_four_numbers(patients: Path) -> None:
    found = unveil.assess(unveil.read(patients), GIVEN)
    assert [found[f].value for f in ("classes.k", "classes.uniques", "classes.at_risk")] == [1, 2 / 6, 1.0]
    assert found["classes.reidentification"].value == pytest.approx(4 / 6)
    assert found["classes.reidentification"].baseline == pytest.approx(1 / 6)
    assert {f.method for f in found.findings if f.question == "classes"} == {"exact"}
    assert {f.known for f in found.findings if f.question == "classes"} == {("age", "zip", "sex")}


def test_at_risk_counts_classes_smaller_than_the_policys_k(patients: Path) -> None:
    lenient = dataclasses.replace(GIVEN, tolerance={"classes.k": 2})
    assert unveil.assess(unveil.read(patients), lenient)["classes.at_risk"].value == 2 / 6


def test_a_tolerance_that_is_off_informs(patients: Path) -> None:
    off = dataclasses.replace(GIVEN, tolerance={"classes.k": None})
    found = unveil.assess(unveil.read(patients), off)["classes.k"]
    assert (found.decides, found.status, found.tolerance) == (False, None, None)


def test_exposed_rows_are_numbers_unless_revealed(patients: Path) -> None:
    hidden = unveil.assess(unveil.read(patients), GIVEN)["classes.k"].exposed
    assert [(e.subject, e.risk) for e in hidden] == [("row 2", 1), ("row 6", 1), ("row 1", 0.5), ("row 4", 0.5)]
    assert {e.values for e in hidden} == {None}
    assert {e.learns for e in hidden} == {("diagnosis",)}
    revealed = unveil.assess(unveil.read(patients), GIVEN, reveal=True)["classes.k"].exposed
    assert list((revealed[0].values or {}).values()) == ["Ben", "34", "01234", "m", "CANARY-SENSITIVE"]


def test_several_sets_are_all_measured(patients: Path) -> None:
    both = dataclasses.replace(GIVEN, quasi=(("age", "zip", "sex"), ("age",)))
    found = unveil.assess(unveil.read(patients), both)
    by_age = found.find("classes.k", known=("age",))
    assert (found["classes.k"].value, by_age.value) == (1, 3)
    assert found.find("classes.k", known=("age", "zip", "sex")) == found["classes.k"]
    assert by_age.title == "Smallest class (k), knowing age"
    assert found["classes.k"].value == unveil.assess(unveil.read(patients), GIVEN)["classes.k"].value


def test_people_not_rows_where_a_column_says_so(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("who,age\np,30\np,30\nq,30\nr,40\nr,40\n")
    policy = Policy(quasi=(("age",),), subject="who")
    found = unveil.assess(unveil.read(tmp_path / "visits.csv"), policy)
    assert found["classes.uniques"].value == pytest.approx(1 / 3)
    assert found["classes.k"].subjects == 3


def test_guessed_roles_are_bounded_and_never_release(tmp_path: Path) -> None:
    rows = "".join(f"{i % 2},{i % 3},x{i},{i / 8}\n" for i in range(600))
    (tmp_path / "t.csv").write_text("sex,region,email,blood\n" + rows)
    found = unveil.assess(unveil.read(tmp_path / "t.csv"))
    assert found.verdict.decision == "your call"
    assert found["classes.k"].value == 100
    everything = found.find("classes.k", known=("sex", "region", "blood"))
    assert everything.method == "bound"
    assert not everything.decides
    assert found["release.suspected_identifiers"].method == "estimate"
    assert everything.value == 1  # by the measurement; the suspected identifier stays out
    assert found.suggestion == "--quasi sex,region --identifier email --sensitive blood"
    assert {c.name: (c.role, c.origin) for c in found.columns}["email"] == ("identifier", "guessed")


def test_the_bound_for_all_columns_covers_the_guess(patients: Path) -> None:
    found = unveil.assess(unveil.read(patients))
    everything = ("age", "zip", "sex", "diagnosis")
    assert found.find("classes.k", known=everything).value <= found["classes.k"].value
    uniques = found.find("classes.uniques", known=everything)
    assert uniques.value >= found["classes.uniques"].value
    low, high = uniques.interval
    assert low <= found["classes.uniques"].value <= high
    measured = {f.id for f in found.findings if f.known == everything}
    assert measured == {"classes.k", "classes.uniques", "classes.at_risk", "classes.reidentification"}


def test_an_unnamed_column_that_looks_like_an_identifier_is_reported(patients: Path) -> None:
    found = unveil.assess(unveil.read(patients), Policy(quasi=(("sex",),), tolerance={"classes.k": 1}))
    assert found["release.suspected_identifiers"].value == 1
    origins = {c.name: c.origin for c in found.columns}
    assert origins == {"name": "guessed", "age": "guessed", "zip": "guessed", "sex": "given", "diagnosis": "guessed"}
    assert "age" in found.verdict.sentence
    assert found["classes.k"].value == 3  # what the attacker knows stays what the owner said
    assert found.find("classes.k", known=("age", "zip", "sex", "diagnosis")).method == "bound"


def test_declared_identifiers_decide(patients: Path) -> None:
    found = unveil.assess(unveil.read(patients), GIVEN)
    assert found["release.identifiers"].status == "over"
    assert found.verdict.because == "release.identifiers"


def test_within_tolerance_is_release(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,score\n" + "f,1\nm,2\nf,2\nm,1\n" * 5)
    policy = Policy(quasi=(("sex",),), sensitive=("score",))
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), policy)
    assert found.verdict.decision == "release"
    assert found["classes.k"].value == 10


# ---- what classes give away ------------------------------------------------------------------------------------------

TABLE_3_1 = """zip,age,condition
130**,<30,AIDS
130**,<30,Heart Disease
130**,<30,Viral Infection
130**,<30,Viral Infection
1485*,≥40,Cancer
1485*,≥40,Heart Disease
1485*,≥40,Viral Infection
1485*,≥40,Viral Infection
130**,3*,Cancer
130**,3*,Cancer
130**,3*,Cancer
130**,3*,Cancer
"""


def test_a_class_where_all_have_the_same_gives_it_away(tmp_path: Path) -> None:
    """Table 3.1 of document 004 is 4-anonymous, and everybody in their thirties has cancer."""
    (tmp_path / "t.csv").write_text(TABLE_3_1)
    policy = Policy(quasi=(("zip", "age"),), sensitive=("condition",), tolerance={"classes.k": 4})
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), policy)
    assert (found["classes.k"].value, found["classes.k"].status) == (4, "within")
    assert (found["classes.l_distinct"].value, found["classes.l_distinct"].status) == (1, "over")
    assert found["classes.homogeneity"].value == pytest.approx(1 / 3)
    assert found.verdict.decision == "protect first"
    assert found.verdict.because == "classes.l_distinct"
    assert "Cancer" not in found.to_json()


def test_two_values_in_every_class_and_entropy_in_between(tmp_path: Path) -> None:
    """Table 3.2 of document 004: three values in every class, 2.8 by entropy, since two of four agree."""
    rows = [("1305*", v) for v in "HVCC"] + [("1485*", v) for v in "CHVV"] + [("1306*", v) for v in "HVCC"]
    (tmp_path / "t.csv").write_text("zip,condition\n" + "".join(f"{q},{s}\n" for q, s in rows))
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=(("zip",),), sensitive=("condition",)))
    assert found["classes.l_distinct"].value == 3
    assert found["classes.l_entropy"].value == pytest.approx(2 * 2**0.5)
    assert found["classes.homogeneity"].value == 0
    (curve,) = found["classes.l_distinct"].curves
    assert curve.y == (0.0, 0.0, 1.0)


def test_several_sensitive_columns_are_measured_each(patients: Path) -> None:
    policy = dataclasses.replace(GIVEN, quasi=(("sex",),), sensitive=("diagnosis", "age"))
    found = unveil.assess(unveil.read(patients), policy)
    assert "diagnosis" in found["classes.l_distinct"].title
    assert "age" in found.find("classes.l_distinct", column="age").title
    assert "values on a line" in found.find("classes.t", column="age").sentence
    assert "equally far apart" in found["classes.t"].sentence


def test_values_of_people_not_of_rows(tmp_path: Path) -> None:
    """p and q look alike; p has value a twice, which counts once."""
    (tmp_path / "visits.csv").write_text("who,age,ill\np,30,a\np,30,a\nq,30,b\nr,40,a\nr,40,c\n")
    policy = Policy(quasi=(("age",),), subject="who", sensitive=("ill",))
    found = unveil.assess(unveil.read(tmp_path / "visits.csv"), policy)
    assert found["classes.k"].value == 1
    assert found["classes.l_distinct"].value == found["classes.l_entropy"].value == 1  # r has a and c for certain
    assert found["classes.l_distinct"].share == pytest.approx((1 / 3, 1 / 3))
    assert found["classes.alpha"].value == 1


@pytest.mark.parametrize("rows", ["5,30,flu\n5,30,hiv\n", "5,30,flu\n"])
def test_a_value_that_everybody_has_was_hidden_among_others(tmp_path: Path, rows: str) -> None:
    """Everybody has the flu; that somebody also has HIV hides nothing."""
    (tmp_path / "t.csv").write_text("id,age,diag\n" + "".join(f"{i},30,flu\n" for i in range(1, 5)) + rows)
    policy = Policy(quasi=("age",), subject="id", sensitive=("diag",))
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), policy)
    assert found.verdict.decision == "protect first"
    assert found["classes.l_distinct"].value == found["classes.alpha"].value == found["classes.homogeneity"].value == 1
    assert "The class alone reveals diag for 100% of the people." in found["classes.homogeneity"].sentence
    some = unveil.read(tmp_path / "t.csv")
    assert unveil.assess(some, Policy(quasi=("age",), subject="id", sensitive=("id",)))["classes.alpha"].value == 0.2


def test_how_much_must_they_know(tmp_path: Path) -> None:
    """Checks the band, crossing, smallest sets and contributions by brute force over all sets of columns."""
    from itertools import combinations

    rng = random.Random(4)
    rows = [(rng.randrange(6), rng.randrange(4), rng.randrange(3), rng.randrange(2)) for _ in range(40)]
    (tmp_path / "t.csv").write_text("a,b,c,d\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=(("a", "b", "c", "d"),)))[
        "classes.known_columns"
    ]

    def risk(chosen: tuple[int, ...]) -> float:
        return len({tuple(r[c] for c in chosen) for r in rows}) / len(rows)

    by_size = [[risk(s) for s in combinations(range(4), m)] for m in range(5)]
    assert found.value == pytest.approx(max(by_size[3]))
    band, shares = found.curves
    assert band.y == pytest.approx([sum(x) / len(x) for x in by_size])
    assert band.low == pytest.approx([min(x) for x in by_size])
    assert band.high == pytest.approx([max(x) for x in by_size])
    assert sum(shares.y) == pytest.approx(risk((0, 1, 2, 3)) - risk(()))
    assert shares.x[0] == "a"
    first = next(m for m in range(5) if max(by_size[m]) >= 0.5)
    assert found.sentence.startswith(f"{first} known columns are enough to find half of the rows")


def test_a_unique_row_says_why(tmp_path: Path) -> None:
    rows = ["f,1234,30"] * 5 + ["m,1234,30"] * 5 + ["f,9999,30"] * 5 + ["m,9999,40"]
    (tmp_path / "t.csv").write_text("sex,zip,age\n" + "\n".join(rows) + "\n")
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=(("sex", "zip", "age"),)))["classes.k"]
    assert [(e.subject, e.because) for e in found.exposed] == [("row 16", "unique because of age")]
    rows[-1] = "m,9999,30"
    (tmp_path / "u.csv").write_text("sex,zip,age\n" + "\n".join(rows) + "\n")
    found = unveil.assess(unveil.read(tmp_path / "u.csv"), Policy(quasi=(("sex", "zip", "age"),)))["classes.k"]
    assert [e.because for e in found.exposed] == ["unique because of sex and zip"]


def test_the_most_special_rows(tmp_path: Path) -> None:
    """Row 16 is unique on age (SUDA score 2: 3 − 1 columns could be left out), and on no other set."""
    rows = ["f,1234,30"] * 5 + ["m,1234,30"] * 5 + ["f,9999,30"] * 5 + ["m,9999,40"] + ["m,9999,30"] * 2
    (tmp_path / "t.csv").write_text("sex,zip,age\n" + "\n".join(rows) + "\n")
    policy = Policy(quasi=(("sex", "zip", "age"),))
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), policy)["classes.known_columns"]
    assert [(e.subject, e.because) for e in found.exposed] == [("row 16", "unique on age (SUDA score 2)")]
    said = "1 row is unique on 3 columns or fewer. Sets that include age make up 100% of its SUDA score"
    assert said in found.sentence


def test_a_guessed_sensitive_column_informs(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,diagnosis\n" + "f,flu\nm,cold\n" * 10)
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("sex",)))
    assert found["classes.l_distinct"].value == 1
    assert not found["classes.l_distinct"].decides
    assert found.verdict.decision == "your call"
