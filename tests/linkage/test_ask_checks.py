"""The door of the room: what is asked, what is refused, what is doubted, what is advised, and what is kept secret."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import Assessment, Case, Policy, UnveilError
from unveil.linkage.ask import QUESTION
from unveil.linkage.risks import RISKS
from unveil.run import Run
from unveil.settings import declared_settings

(PEOPLE, TRUE_LINKS, *_) = QUESTION.holdings


def read(path: Path, header: str, rows: list[tuple[object, ...]]) -> unveil.Table:
    path.write_text(header + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    table = unveil.read(path, "table")
    assert isinstance(table, unveil.Table)
    return table


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """Forty people, each the row of the same number; half of them share their sex and zip with another."""
    rng = random.Random(5)
    rows = [(rng.choice("fm"), 1000 + i // 2, 20 + i % 7, rng.choice("ab")) for i in range(40)]
    release = read(tmp_path / "release.csv", "sex,zip,age,ill", rows)
    people = read(tmp_path / "people.csv", "sex,zip,age", [row[:3] for row in rows])
    return Case(release, holds=MappingProxyType({"people": people}))


POLICY = Policy(quasi=("sex", "zip", "age"), sensitive=("ill",))


def ids(assessment: Assessment) -> list[str]:
    return [f.id for f in assessment.findings if f.question == "linkage"]


# ---- what is asked ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("risk", [r.id for r in RISKS if r.id != "linkage.everything_learned"])
def test_a_risk_alone_is_what_it_is_among_all(case: Case, risk: str) -> None:
    """Nothing else is measured, and no number depends on what is."""
    if risk == "linkage.original_matched":
        case = replace(case, original=case.release, holds=MappingProxyType({}))
    (alone,) = unveil.assess(case, POLICY, only=risk).findings
    among = unveil.assess(case, POLICY)[risk]
    assert alone.id == risk
    assert (alone.value, alone.interval, alone.sentence, alone.curves) == (
        among.value,
        among.interval,
        among.sentence,
        among.curves,
    )


def test_equal_rows_are_asked_about_where_they_matter_or_are_tolerated(case: Case) -> None:
    assert "linkage.everything_learned" not in ids(unveil.assess(case, POLICY))
    tolerant = Policy(quasi=POLICY.quasi, sensitive=("ill",), tolerance={"linkage.everything_learned": 0.1})
    assert "linkage.everything_learned" in ids(unveil.assess(case, tolerant))
    assert unveil.assess(case, tolerant, only="linkage.everything_learned")["linkage.everything_learned"].decides


def test_every_finding_is_of_a_declared_risk(case: Case) -> None:
    risks = {r.id: r for r in RISKS}
    for finding in unveil.assess(case, POLICY).findings:
        if finding.question == "linkage":
            assert (finding.unit, finding.direction) == (risks[finding.id].unit, risks[finding.id].safer)
            assert finding.column is None and finding.known in (POLICY.quasi_columns, None)


def test_settings_have_their_defaults_and_old_names() -> None:
    assert QUESTION.settings is not None
    settings = declared_settings(QUESTION.settings)
    assert settings["known"].former_names == ("things_known",)
    assert Policy().to_dict()["linkage"] == {
        "known": 4,
        "compare": {},
        "outside": None,
        "errors": None,
        "column_errors": {},
    }
    with pytest.raises(UnveilError, match=r"write known = \.\.\. under \[linkage\]"):
        Policy.from_dict({"things_known": 3})
    with pytest.raises(UnveilError, match=r"write \[linkage\.compare\]"):
        Policy.from_dict({"compare": {"age": "2"}})
    with pytest.raises(UnveilError, match=r"linkage\.compare for birth cannot be 'soon'; write equal, support"):
        Policy(settings={"linkage": {"compare": {"birth": "soon"}}})


# ---- known people ----------------------------------------------------------------------------------------------------


def test_matches_are_an_artefact_and_in_no_report(case: Case) -> None:
    found = unveil.assess(case, POLICY, only="linkage.matched")
    table = found.artefacts["matches"]()
    assert table.column_names[:3] == ["known", "row", "candidates"]
    assert table["known"].to_pylist() == list(range(1, 41))
    probability = sum(p or 0 for p in table["probability"].to_pylist())
    assert probability / 40 == pytest.approx(found["linkage.matched"].value)
    assert "artefacts" not in found.to_dict()
    assert not unveil.assess(case, POLICY, only="linkage.success").artefacts


def test_pairs_of_person_and_row_are_shown_only_on_request(case: Case) -> None:
    hidden = unveil.assess(case, POLICY, only="linkage.matched")["linkage.matched"].exposed
    shown = unveil.assess(case, POLICY, only="linkage.matched", reveal=True)["linkage.matched"].exposed
    assert [e.subject for e in hidden] == [e.subject for e in shown]
    assert all(e.values is None and "row 1" not in e.because for e in hidden)
    for e in shown:
        assert e.values == {"best match": e.subject.replace("person", "row")}  # each person is the row of that number
        assert e.because == "1 row fits everything that is known"


def test_true_links_say_which_row_is_whom(case: Case, tmp_path: Path) -> None:
    links = read(tmp_path / "links.csv", "known,row", [(i + 1, i + 1) for i in range(0, 40, 2)])
    assert TRUE_LINKS.read_truth is not None
    truth = TRUE_LINKS.read_truth(links, case)
    assert truth.tolist() == [i if i % 2 == 0 else -1 for i in range(40)]
    known = Case(case.release, truth=truth, holds=case.holds)
    found = unveil.assess(known, POLICY, only="linkage.matched")["linkage.matched"]
    assert found.method == "exact" and found.value == 0.5
    assert found.sentence.startswith(
        "The attacker finds the row of 20 of 40 known people (50%). The true links place 20 of them in the release. "
        "40 links seem likelier right than wrong; 20 of them are right (precision 0.5000, recall 1.0000)."
    )
    assert found.sentence.endswith(
        "Everybody fits only one row. If everything known about them is right, no two people share a row and all ways "
        "to assign them are equally likely, the likeliest row is right for 40 of them."
    )


@pytest.mark.parametrize(
    ("header", "rows", "error"),
    [
        ("known,line", [(1, 1)], "need the columns known and row"),
        ("known,row", [("x", 1)], "must be row numbers, counted from 1"),
        ("known,row", [(1, 99)], "a row number is not in release.csv, which has 40 rows"),
        ("known,row", [(0, 1)], "a row number is not in people.csv, which has 40 rows"),
        ("known,row", [(1, 1), (1, 2)], "a person is linked twice; keep one link for each"),
    ],
)
def test_true_links_that_cannot_be(
    case: Case, header: str, rows: list[tuple[object, ...]], error: str, tmp_path: Path
) -> None:
    assert TRUE_LINKS.read_truth is not None
    with pytest.raises(UnveilError, match=f"^links.csv: .*{error}"):
        TRUE_LINKS.read_truth(read(tmp_path / "links.csv", header, rows), case)


def test_true_links_need_people(case: Case, tmp_path: Path) -> None:
    links = read(tmp_path / "links.csv", "known,row", [(1, 1)])
    assert TRUE_LINKS.read_truth is not None
    with pytest.raises(UnveilError, match="true links need the people they are about; add --people FILE"):
        TRUE_LINKS.read_truth(links, Case(case.release))


@pytest.mark.parametrize(
    ("header", "settings", "error"),
    [
        ("sex,zip", {}, "people.csv: no column is called 'age'"),
        ("sex,zip,age", {"compare": {"born": "2"}}, "no column is called 'born'"),
        ("sex,zip,age", {"compare": {"sex": "2"}}, "sex: not all values are numbers"),
    ],
)
def test_people_that_cannot_be_looked_for(
    case: Case, header: str, settings: dict[str, object], error: str, tmp_path: Path
) -> None:
    people = read(tmp_path / "people.csv", header, [("f", 1000, 20)[: header.count(",") + 1]])
    asked = Case(case.release, holds=MappingProxyType({"people": people}))
    with pytest.raises(UnveilError, match=error):
        unveil.assess(asked, Policy(quasi=POLICY.quasi, settings={"linkage": settings}))


def test_without_quasi_identifiers_all_columns_in_common_are_compared(case: Case, tmp_path: Path) -> None:
    found = unveil.assess(case, Policy(insensitive=("age",)), only="linkage.matched")["linkage.matched"]
    assert "with the sex and zip of 40 people" in found.attacker
    strangers = read(tmp_path / "strangers.csv", "height", [(180,)])
    with pytest.raises(UnveilError, match="have no column in common"):
        unveil.assess(Case(case.release, holds=MappingProxyType({"people": strangers})), only="linkage.matched")


def test_one_known_person_is_written_in_the_singular(tmp_path: Path) -> None:
    release = read(tmp_path / "r.csv", "a,b,c", [(1, 2, 3), (4, 5, 6)])
    holds = MappingProxyType({"people": read(tmp_path / "p.csv", "a,b,c", [(1, 2, 3)])})
    policy = Policy(quasi=("a", "b", "c"))
    found = unveil.assess(Case(release, truth=np.array([0]), holds=holds), policy)["linkage.matched"]
    assert "1 of 1 known person (100%)" in found.sentence and "1 link seems likelier right" in found.sentence
    assert "it is right with a probability of 100% (precision 1.0000" in found.sentence
    assert "The person fits only one row." in found.sentence


# ---- doubts and hints ------------------------------------------------------------------------------------------------


def ratings(tmp_path: Path) -> unveil.Table:
    rng = random.Random(1)
    rows = [(u, film, rng.randrange(1, 6)) for u in range(30) for film in rng.sample("pqrstuvw", 3)]
    return read(tmp_path / "ratings.csv", "user,film,stars", rows)


def test_ratings_without_a_tolerance_are_a_call(tmp_path: Path) -> None:
    table, policy = ratings(tmp_path), Policy(ratings=("user", "film", "stars"))
    found = unveil.assess(table, policy, only="linkage")
    success = found["linkage.success"]
    assert (
        f"{success.title}: {success.value_text}. linkage.success has no tolerance, so nothing says how many "
        "people may be found from a few ratings." in found.verdict.reasons
    )
    for risk in ("linkage.success", "linkage.everything_learned"):
        tolerant = Policy(ratings=policy.ratings, tolerance={risk: 1})
        assert not [
            r for r in unveil.assess(table, tolerant, only="linkage").verdict.reasons if "has no tolerance" in r
        ]


@pytest.mark.parametrize(
    ("policy", "in_the_way", "advice"),
    [
        (POLICY, ["classes.k", "linkage.success"], "try another method or fewer columns"),
        (Policy(ratings=("user", "film")), ["linkage.success"], "publish statistics about many people"),
        (POLICY, ["linkage.matched"], "no protection targets linkage.matched; set a tolerance for linkage.success"),
        (POLICY, ["linkage.unicity"], "release coarser values of"),
        (POLICY, ["linkage.sparsity"], "release coarser values of"),
        (POLICY, ["linkage.everything_learned"], "try another method or fewer columns"),
        (
            Policy(quasi=POLICY.quasi, tolerance={"linkage.everything_learned": 0.1}),
            ["linkage.unicity"],
            "set a lower tolerance for linkage.everything_learned",
        ),
    ],
)
def test_hints_say_what_can_be_done(case: Case, policy: Policy, in_the_way: list[str], advice: str) -> None:
    hints = list(QUESTION.hints(case, policy, in_the_way, Run()))
    assert advice in " ".join(hints)


def test_no_hint_about_what_is_not_in_the_way(case: Case) -> None:
    assert not list(QUESTION.hints(case, POLICY, [], Run()))
    assert not list(QUESTION.hints(case, POLICY, ["classes.k", "release.identifiers"], Run()))


# ---- sentences -------------------------------------------------------------------------------------------------------


def test_equal_rows_are_named_where_they_count(tmp_path: Path) -> None:
    table = read(tmp_path / "t.csv", "a,b,c", [(1, 2, 3)] * 4 + [(4, 5, 6)])
    found = unveil.assess(table, Policy(quasi=("a", "b", "c")))
    success, learned = found["linkage.success"], found["linkage.everything_learned"]
    assert success.value == pytest.approx(2 / 5)
    assert success.sentence.startswith("Someone who knows 3 random columns finds 40% of the rows. If one fact in ten")
    assert success.sentence.endswith("The attacker may know up to 4 values, but no row has more than 3.")
    assert learned.title == "Rows fully disclosed to someone who knows 3 random columns"
    assert learned.sentence == (
        "Someone who knows 3 random columns learns everything released about 100% of the rows: they name the row "
        "itself, or one that is identical in all columns."
    )
    assert learned.value == 1


@pytest.mark.parametrize(
    ("values", "crossing"),
    [
        (2, "Once 2 columns are known, at least half of the rows are found."),
        (3, "All 3 columns must be known before at least half of the rows are found."),
    ],
)
def test_how_many_columns_it_takes(values: int, crossing: str, tmp_path: Path) -> None:
    """Every combination of so many values in three columns: without one of them as many rows fit."""
    rows = list(product(range(values), repeat=3))
    table = read(tmp_path / "t.csv", "a,b,c,s", [(*row, i) for i, row in enumerate(rows)])
    found = unveil.assess(table, Policy(quasi=("a", "b", "c"), sensitive=("s",)))["linkage.success"]
    assert crossing in found.sentence


def test_dates_are_said_not_to_be_compared(tmp_path: Path) -> None:
    rows = [("a", "x", 1, "2020-01-01"), ("b", "x", 1, "2020-02-01"), ("b", "y", 1, "2020-02-01")]
    table = read(tmp_path / "r.csv", "user,film,stars,day", rows)
    found = unveil.assess(table, Policy(ratings=("user", "film", "stars", "day")))
    assert "Dates are not compared here." in found["linkage.sparsity"].sentence
    without = unveil.assess(unveil.read(pa.table({"u": ["a", "b"], "f": ["x", "x"]})), Policy(ratings=("u", "f")))
    assert "Dates" not in without["linkage.sparsity"].sentence


def test_two_ways_to_write_a_missing_value_made_rows_identical() -> None:
    """A row that shows ? and one that shows NA differ in the release."""
    rows = {"a": [1, 1, 2], "b": [1, 1, 2], "c": [1, 1, 2], "note": ["?", "NA", "x"]}
    found = unveil.assess(unveil.read(pa.table(rows)), Policy(quasi=("a", "b", "c"), insensitive=("note",)))
    assert not [f for f in found.findings if f.id == "linkage.everything_learned"]
    rows["note"] = ["?", "?", "x"]
    found = unveil.assess(unveil.read(pa.table(rows)), Policy(quasi=("a", "b", "c"), insensitive=("note",)))
    assert found["linkage.everything_learned"].value == 1


def test_people_who_could_be_singled_out_had_others_with_the_same_values() -> None:
    """They differ only in which values stand in one row, which this attacker does not know; that was not said."""
    rows = {"p": [1, 1, 2, 2], "a": list("xyxy"), "b": list("uvvu"), "c": list("kkkk")}
    found = unveil.assess(unveil.read(pa.table(rows)), Policy(quasi=("a", "b", "c"), subject="p"))
    assert found["classes.uniques"].value == 1
    assert "have one with all values the same, whichever rows they stand in." in found["linkage.sparsity"].sentence
    assert "Does not know which of these values stand in the same row." in found["linkage.success"].attacker
