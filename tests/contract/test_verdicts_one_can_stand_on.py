"""Verdicts that were wrong once: checks turned off, identifiers left in, harm left out, knife edges."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from contract.cases import CASES, assessed
from unveil import Assessment, Case, Policy, Table, Transactions, UnveilError
from unveil.finding import TOLERANCE_SLACK, Finding
from unveil.report.phrases import status_text
from unveil.verdict import decide_verdict

Command = Callable[..., subprocess.CompletedProcess[str]]

ALL_UNIQUE = pa.table({"age": list(range(60)), "name": [f"n{i}" for i in range(60)]})


def measured(value: float, tolerance: float, **more: Any) -> Finding:
    fields: dict[str, Any] = {
        "id": "test.one", "question": "test", "title": "One", "value": value, "unit": "share", "method": "exact",
        "subjects": 100, "tolerance": tolerance, "direction": "lower", "decides": True, "attacker": "",
        "sentence": "S.",
    }  # fmt: skip
    return Finding(**fields | more)


def test_a_check_that_is_off_was_within_tolerance() -> None:
    """Everybody is unique, and the check for it is off: text, page and JSON say so on top."""
    policy = Policy(quasi=("age",), insensitive=("name",), tolerance={"classes.k": None})
    found = unveil.assess(unveil.read(ALL_UNIQUE), policy)
    assert found.verdict.decision == "your call"
    said = "The policy turns off 1 check of the preset default: classes.k (Smallest class (k))."
    assert said in found.verdict.reasons
    assert found.checks_off == ("classes.k",)
    assert json.loads(found.to_json())["checks_off"] == ["classes.k"]
    assert said in " ".join(found.to_text().split("Finding")[0].split())
    assert said in found.to_html()
    assert Assessment.from_json(found.to_json()).checks_off == ("classes.k",)


def test_titles_of_checks_that_are_off_were_cut() -> None:
    policy = Policy(quasi=("age",), insensitive=("name",), tolerance={"release.suspected_identifiers": None})
    found = unveil.assess(unveil.read(ALL_UNIQUE), policy, only="release")
    assert any("release.suspected_identifiers (Columns that seem to name people)." in r for r in found.doubts)


def test_checks_that_are_off_are_named_when_others_fail() -> None:
    policy = Policy(
        quasi=("age",), sensitive=("name",), tolerance={"classes.l_distinct": None, "classes.k": 5, "classes.t": None}
    )
    found = unveil.assess(unveil.read(ALL_UNIQUE), policy)
    assert (found.verdict.decision, found.checks_off) == ("protect first", ("classes.l_distinct",))
    said = "The policy turns off 1 check of the preset default: classes.l_distinct"
    assert said in " ".join(found.to_text().split("Finding")[0].split())
    assert said in found.to_html()
    assert said not in unveil.assess(unveil.read(ALL_UNIQUE), replace(policy, tolerance={})).to_text()


def test_identifiers_that_are_tolerated_were_released() -> None:
    policy = Policy(
        identifier=("name",), quasi=("age",), tolerance={"release.identifiers": 1, "classes.k": 1}, rows_are_people=True
    )
    found = unveil.assess(unveil.read(ALL_UNIQUE), policy)
    assert found["release.identifiers"].status == "within"
    assert found.verdict.decision == "your call"
    assert found.verdict.reasons[0] == found["release.identifiers"].sentence


def test_the_largest_harm_was_that_of_the_findings_that_decide() -> None:
    small, large = measured(0.1, 0.2, share=(0.1, 0.1)), measured(0.9, 0.2, share=(0.9, 0.9), id="test.two")
    verdict = decide_verdict([small, replace(large, tolerance=None, decides=False)])
    assert (verdict.decision, verdict.because) == ("release", "test.two")


@pytest.mark.parametrize("name", CASES)
def test_a_release_names_the_largest_harm_on_the_page(name: str) -> None:
    found = assessed(name)
    if found.verdict.decision == "release":
        harms = [f.share[0] for f in found.findings if f.share]
        named = found.deciding_finding
        assert (0.0 if named is None else (named.share or (0,))[0]) == max(harms, default=0.0)


def test_what_fails_without_deciding_says_why() -> None:
    assert status_text(measured(0.9, 0.2, decides=False)) == "over, for information"
    assert status_text(measured(0.9, 0.2, decides=True)) == "fails"
    estimated = measured(0.9, 0.2, decides=False, method="estimate", interval=(0.8, 0.9))
    assert status_text(estimated) == "over, only an estimate"


def test_a_guessed_role_was_over_for_information_without_a_reason() -> None:
    """Nothing beside "over, for information" said that the column is only guessed to be sensitive."""
    rows = {"age": [30 + i % 4 for i in range(40)], "stroke": ["yes" if i % 4 == 1 else "no" for i in range(40)]}
    found = unveil.assess(unveil.read(pa.table(rows)), only="classes")
    finding = found.find("classes.l_distinct", column="stroke")
    assert (finding.status, finding.decides, status_text(finding)) == ("over", False, "over, role is a guess")
    assert "It decides nothing while the role of stroke is a guess." in finding.sentence
    told = " ".join(found.to_text(details=True).split())
    assert "over, role is a guess" in told and "while the role of stroke is a guess" in told
    assert "does not decide (role is a guess)" in found.to_html()


@pytest.mark.parametrize(
    ("value", "status"),
    [(1.0000000000000002, "within"), (1 + TOLERANCE_SLACK / 2, "within"), (1 + 3 * TOLERANCE_SLACK, "over")],
)
def test_rounding_was_over_the_tolerance(value: float, status: str) -> None:
    assert measured(value, 1.0, unit="items").status == status
    assert measured(-value, -1.0, unit="items", direction="higher").status == status


def test_counts_are_compared_exactly() -> None:
    assert measured(10**8 + 1, 10**8, unit="rows").status == "over"
    assert measured(10**8, 10**8, unit="rows").status == "within"


@pytest.mark.parametrize(
    "limits", [{"classes.k": 1, "classes.l_distinct": 1}, {"classes.k": 0, "classes.l_distinct": 0}]
)
def test_tolerances_that_every_release_meets_counted_as_checks(limits: dict[str, float]) -> None:
    table = unveil.read(pa.table({"a": range(12), "b": range(12), "s": ["x", "y"] * 6}))
    policy = Policy(quasi=("a", "b"), sensitive=("s",), tolerance=limits, rows_are_people=True)
    found = unveil.assess(table, policy)
    assert found["classes.uniques"].value == 1 and found.verdict.decision == "your call"
    assert found.checks_off == ("classes.k", "classes.l_distinct")
    assert (
        "The policy sets a tolerance that every release meets for 2 checks of the preset default: classes.k (Smallest "
        "class (k)) and classes.l_distinct"
    ) in found.verdict.sentence


def test_a_share_of_at_most_100_percent_counted_as_a_check() -> None:
    table = unveil.read(pa.table({"a": range(12), "b": range(12), "s": ["x", "y"] * 6}))
    limits = {"classes.reidentification": 1.0}
    policy = Policy(quasi=("a", "b"), sensitive=("s",), tolerance=limits, preset="ema-0070", rows_are_people=True)
    assert unveil.assess(table, policy).checks_off == ("classes.reidentification",)


def test_more_rows_or_values_than_there_are_were_to_be_had_by_coarser_values() -> None:
    four = unveil.assess(
        unveil.read(pa.table({"a": [1] * 4, "b": [2] * 4, "s": list("wxyz")})), Policy(quasi=("a", "b"))
    )
    assert four.verdict.sentence.endswith(
        "No coarser version of the same data can meet this tolerance (at least 5): all of it together has 4 rows."
    )
    assert "a tolerance above what all of the data has is meant" in " ".join(four.to_text().split())
    assert "Release coarser values" not in four.to_text() and "Release coarser values" not in four.to_html()
    same = pa.table({"a": [1, 2] * 6, "b": [3] * 12, "s": ["x"] * 12})
    found = unveil.assess(unveil.read(same), Policy(quasi=("a", "b"), sensitive=("s",), rows_are_people=True))
    assert found["classes.l_distinct"].baseline == 1 and found["classes.k"].baseline == 12
    assert "(at least 2): all of it together has 1 value." in found.verdict.sentence
    assert "Knowing nothing: 12." in " ".join(found.to_text(details=True).split())


@pytest.mark.parametrize("command", ["link", "intersect"])
@pytest.mark.parametrize("role", ["--identifier", "guessed"])
def test_commands_for_one_question_released_identifiers(
    unveil: Command, tmp_path: Path, command: str, role: str
) -> None:
    rows = "".join(f"P{i},{i % 2},{i // 2 % 4}\n" for i in range(80))
    (tmp_path / "a.csv").write_text(f"name,age,s\n{rows}")
    (tmp_path / "t.csv").write_text("known,row\n" + "".join(f"{i},{i}\n" for i in range(1, 81)))
    given = ["--quasi", "age", "--sensitive", "s", *([role, "name"] if role != "guessed" else [])]
    more = ["--people", "a.csv", "--true-links", "t.csv", "--tolerance", "linkage.matched=50%"]
    done = unveil(command, "a.csv", *(["a.csv"] if command == "intersect" else more), *given)
    assert done.returncode == (3 if role == "guessed" else 1), done.stdout
    assert "name" in done.stdout


def test_a_second_release_with_small_classes_passed_where_k_was_off(unveil: Command, tmp_path: Path) -> None:
    for name, ages in (("a.csv", 2), ("b.csv", 40)):
        rows = "".join(f"{i % ages},{i // 2 % 4}\n" for i in range(40))
        (tmp_path / name).write_text(f"age,s\n{rows}")
    given = ("--quasi", "age", "--sensitive", "s", "--rows-are-people", "--tolerance", "classes.k=off")
    done = unveil(
        "intersect", "a.csv", "b.csv", *given, "--people", "a.csv", "--tolerance", "classes.intersection=100%"
    )
    said = " ".join(done.stdout.split())
    assert done.returncode == 3, said
    assert (
        "In b.csv alone, the smallest class for someone who knows age has 1 row; classes.k must be at least 5." in said
    )
    assert "The policy turns off 1 check of the preset default: classes.k" in said


def test_a_tolerance_that_guessing_exceeds_was_to_be_met_by_protection() -> None:
    """Four items that are equally frequent: naming them at random identifies one of four."""
    baskets = Transactions.from_baskets([["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]])
    found = unveil.assess(baskets)
    assert found.verdict.decision == "protect first"
    assert found.verdict.sentence.endswith(
        "No protection that keeps all 4 items can meet this tolerance (at most 0.4): guessing without the release "
        "already reaches 1 item."
    )
    assert "Protect it" not in found.to_text() and "Protect it" not in found.to_html()
    assert "Decide first whether a tolerance below what guessing reaches is meant." in " ".join(found.to_text().split())
    many = unveil.assess(Transactions.from_baskets([[f"i{k}" for k in range(n)] for n in range(1, 40)]))
    assert "No protection" not in many.verdict.sentence


def test_four_equal_candidates_cannot_meet_the_tolerance() -> None:
    found = unveil.assess(Case(unveil.read([[1] * 4] * 4, "matrix")))
    assert "No protection that keeps all 4 subjects can meet this tolerance (at most 0.4)" in found.verdict.sentence


def test_identical_rows_counted_as_found() -> None:
    """On k = 20 data, an average re-identification of 5% stood beside "100% are found"."""
    rows = [(age, zip_code, sex) for age in (30, 40, 50) for zip_code in ("1010", "1020") for sex in "fm"]
    table = unveil.read(pa.table(dict(zip(("age", "zip", "sex"), zip(*rows * 20, strict=True), strict=True))))
    found = unveil.assess(table, Policy(quasi=("age", "zip", "sex"), settings={"linkage": {"known": 3}}))
    assert found["classes.k"].value == 20
    assert found["linkage.success"].value == pytest.approx(1 / 20) == found["classes.reidentification"].value
    assert "finds 5% of the rows" in found["linkage.success"].sentence
    learned = found["linkage.everything_learned"]
    assert learned.value == 1
    assert "found" not in learned.sentence and "learns everything released about 100% of the rows" in learned.sentence


def test_columns_that_are_enough_contradicted_a_pair_that_is() -> None:
    """Of 70 columns, two tell all rows apart; "4 columns are enough" stood beside the pair."""
    rng = np.random.default_rng(2)
    columns = {f"c{i:02d}": rng.integers(0, 2, 400) for i in range(70)}
    columns["c20"], columns["c60"] = np.arange(400) // 20, np.arange(400) % 20
    found = unveil.assess(unveil.read(pa.table(columns)), Policy(quasi=tuple(columns)), only="classes.known_columns")
    said = found["classes.known_columns"].sentence
    assert said.startswith("2 known columns are enough to find half of the rows or more on average")
    assert "c20 and c60 (100%)" in said
    assert found["classes.known_columns"].value == 1


def test_what_makes_rows_unique_vanished_above_200_000_rows() -> None:
    n = 200_050
    table = pa.table({"age": np.arange(n) % 50, "zip": np.arange(n) % 50, "sex": ["f"] * 7 + ["m"] + ["f"] * (n - 8)})
    found = unveil.assess(unveil.read(table), Policy(quasi=("age", "zip", "sex")))
    (exposed, *_) = found["classes.known_columns"].exposed
    assert exposed.subject == "row 8" and exposed.because.startswith("unique on sex")
    assert found["classes.k"].exposed[0].because == "unique because of sex"
    assert "1 row is unique on 3 columns or fewer." in found["classes.known_columns"].sentence


def test_people_in_large_tables_were_not_looked_for_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.linkage.ask.MAX_ROWS", 50)
    table = unveil.read(pa.table({c: [1] * 60 for c in "abc"}))
    found = unveil.assess(table, Policy(quasi=("a", "b", "c"), rows_are_people=True))
    assert found.verdict.decision == "your call"
    assert (
        "Which record is the person I know a few things about? was not asked for someone who knows some of a, b and c: "
        "the table has more than 50 rows." in found.verdict.reasons
    )


def test_several_attackers_were_taken_for_one_who_knows_everything() -> None:
    """Someone who knows columns of both sets was declared by nobody."""
    rng = np.random.default_rng(4)
    table = unveil.read(pa.table({c: rng.integers(0, 4, 300) for c in "abcdef"}))
    sets = (("a", "b", "c"), ("d", "e", "f"), ("a", "f"))
    found = unveil.assess(table, Policy(quasi=sets, settings={"linkage": {"known": 2}}))
    alone = [unveil.assess(table, Policy(quasi=s, settings={"linkage": {"known": 2}})) for s in sets]
    for name, asked in (("classes.known_columns", 3), ("linkage.success", 2), ("linkage.unicity", 2)):
        findings = [f for f in found.findings if f.id == name]
        assert [f.known for f in findings] == list(sets[:asked])
        assert [f.value for f in findings] == [a[name].value for a in alone[:asked]]
        assert len({f.title for f in findings}) == asked
    assert not [f for f in found.findings if f.known and not any(set(f.known) <= set(s) for s in sets)]


def test_ratings_were_attacked_by_someone_who_knows_every_column() -> None:
    assert not [f for f in assessed("ratings").findings if "every column" in f.title]


def test_columns_known_of_people_with_several_rows_were_not_measured() -> None:
    rows = [("p", 1, "x"), ("p", 2, "y"), ("q", 1, "y"), ("q", 2, "x"), ("r", 1, "y"), ("r", 2, "x")]
    who, a, b = zip(*rows, strict=True)
    found = unveil.assess(unveil.read(pa.table({"who": who, "a": a, "b": b})), Policy(quasi=("a", "b"), subject="who"))
    finding = found["classes.known_columns"]
    assert finding.value == pytest.approx(2 / 3) and finding.subjects == 3
    assert "a and b (33.3%)" in finding.sentence
    assert [e.subject for e in finding.exposed] == ["person of row 1"]


def visits_of(people: list[tuple[int, str]], rng: np.random.Generator) -> Table:
    """One to three rows for each of these people, in random order."""
    rows = [(f"p{i}", age, sex, int(rng.integers(9))) for i, (age, sex) in enumerate(people) for _ in range(1 + i % 3)]
    who, age, sex, visit = zip(*(rows[i] for i in rng.permutation(len(rows))), strict=True)
    return unveil.read(pa.table({"who": who, "age": age, "sex": sex, "visit": visit}))


def test_people_with_several_rows_could_not_be_compared_with_a_population() -> None:
    rng = np.random.default_rng(8)
    population = [(int(a), str(s)) for a, s in zip(rng.integers(20, 60, 120), rng.choice(list("fm"), 120), strict=True)]
    released = population[:40]
    ages, sexes = zip(*population, strict=True)
    case = Case(visits_of(released, rng), holds={"population": unveil.read(pa.table({"age": ages, "sex": sexes}))})
    found = unveil.assess(case, Policy(quasi=("age", "sex"), subject="who", insensitive=("visit",)))
    fits = [population.count(p) for p in released]
    assert found["classes.k_map"].value == min(fits)
    assert found["classes.population_uniques"].value == pytest.approx(fits.count(1) / 40)
    assert found["classes.population_uniques"].subjects == 40
    assert "of 40 people" in found["classes.population_uniques"].sentence
    assert "row" not in found["classes.k_map"].sentence


def test_people_with_several_rows_could_not_be_a_sample() -> None:
    rng = np.random.default_rng(9)
    people = [(int(a), "f") for a in rng.integers(20, 90, 60)]
    once = unveil.read(pa.table({"age": [a for a, _ in people], "sex": ["f"] * 60}))
    settings = {"classes": {"population_size": 600}}
    several = unveil.assess(
        visits_of(people, rng), Policy(quasi=("age", "sex"), subject="who", insensitive=("visit",), settings=settings)
    )
    single = unveil.assess(once, Policy(quasi=("age", "sex"), settings=settings))
    for risk in ("classes.population_uniques", "classes.k_map", "classes.dis_suda"):
        assert several[risk].value == pytest.approx(single[risk].value)
        assert several[risk].subjects == 60
        assert " row" not in several[risk].sentence


def test_people_whose_values_change_cannot_be_compared_with_a_population() -> None:
    table = unveil.read(pa.table({"who": ["p", "p", "q"], "age": [30, 31, 30]}))
    case = Case(table, holds={"population": unveil.read(pa.table({"age": [30, 31]}))})
    with pytest.raises(UnveilError, match="age differs between rows of the same person"):
        unveil.assess(case, Policy(quasi=("age",), subject="who"))
