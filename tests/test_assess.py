"""Who asks: the border of the library, doubts, and that a new question changes no old number."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import unveil
from unveil import Assessment, Case, Finding, Policy, Run, UnveilError
from unveil import assess as assess_function
from unveil.assess import QUESTIONS
from unveil.question import Question

GIVEN = Policy(identifier=("name",), quasi=(("age", "zip", "sex"),), sensitive=("diagnosis",))


def harmless(tmp_path: Path) -> unveil.Table:
    (tmp_path / "t.csv").write_text("sex,shoe\n" + "f,1\nm,2\nf,2\nm,1\n" * 5)
    table = unveil.read(tmp_path / "t.csv")
    assert isinstance(table, unveil.Table)
    return table


@pytest.mark.parametrize(
    ("policy", "decision"),
    [
        (Policy(quasi=("sex",)), "release"),
        (Policy(quasi=("sex",), require=("classes",)), "release"),
        (Policy(quasi=("sex",), require=("network",)), "your call"),
        (Policy(quasi=("sex",), require=("classes",), tolerance={"classes.k": None}), "your call"),
        (Policy(insensitive=("sex", "shoe")), "your call"),  # nobody said what an attacker knows
        (Policy(sensitive=("shoe",)), "your call"),  # the other role is a guess
        (Policy(), "your call"),
        (Policy(quasi=("sex",), tolerance={"classes.k": 11}), "protect first"),
    ],
)
def test_what_keeps_a_table_from_release(tmp_path: Path, policy: Policy, decision: str) -> None:
    assert unveil.assess(harmless(tmp_path), policy).verdict.decision == decision


def test_columns_whose_names_speak_are_not_assumed_harmless(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,zip,shoe\n" + "f,1,a\nm,2,b\n" * 10)
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("sex",)))
    assert found.verdict.decision == "your call"
    assert "zip" in found.verdict.sentence
    assert {c.name: c.origin for c in found.columns} == {"sex": "given", "zip": "guessed", "shoe": "assumed"}
    confirmed = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("sex",), insensitive=("zip",)))
    assert confirmed.verdict.decision == "release"


def _extra(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    value = float(run.rng("extra.draw").random())
    yield Finding(
        id="extra.draw",
        question="extra",
        title="A draw",
        value=value,
        unit="share",
        method="simulation",
        interval=(0, 1),
        subjects=1,
        direction="lower",
        decides=False,
        attacker="",
        sentence="",
    )


def test_a_new_question_changes_no_old_number(patients: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = unveil.read(patients)
    before = unveil.assess(table, GIVEN)
    extra = Question("extra", "Anything else?", ("table",), ("extra.draw",), _extra, sampled=("extra.draw",))
    monkeypatch.setattr(sys.modules["unveil.assess"], "QUESTIONS", (extra, *QUESTIONS))
    after = unveil.assess(table, GIVEN)
    assert after["extra.draw"].value != 0
    for finding in before.findings:
        assert replace(after[finding.id], seconds=0.0) == replace(finding, seconds=0.0)


def _broken(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    raise UnveilError("there is a hole in it")
    yield


def test_a_question_that_breaks_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Question("broken", "Does it hold?", ("table",), ("classes.k",), _broken)
    monkeypatch.setattr(sys.modules["unveil.assess"], "QUESTIONS", (*QUESTIONS, broken))
    found = unveil.assess(harmless(tmp_path), Policy(quasi=("sex",)))
    assert found["broken.failed"].status == "failed"
    assert "there is a hole in it" in found["broken.failed"].sentence
    assert found.verdict.decision == "your call"


@pytest.mark.parametrize("thing", ["x.csv", 3, pd.DataFrame({"a": [1]})])
def test_only_releases_are_assessed_and_written(thing: object, tmp_path: Path) -> None:
    with pytest.raises(UnveilError, match=r"unveil\.read"):
        assess_function(thing)  # type: ignore[arg-type]
    with pytest.raises(UnveilError, match=r"unveil\.read"):
        unveil.write(thing, tmp_path / "t.csv")  # type: ignore[arg-type]


def test_a_policy_is_a_policy(tmp_path: Path) -> None:
    with pytest.raises(UnveilError, match=r"unveil\.Policy"):
        unveil.assess(harmless(tmp_path), {"quasi": ["sex"]})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["x", "[]", "{}", '{"schema_version": 1}', '{"schema_version": 99}'])
def test_what_is_no_assessment(text: str) -> None:
    with pytest.raises(UnveilError):
        Assessment.from_json(text)


def test_an_assessment_cannot_be_changed_and_comes_back_from_json(patients: Path) -> None:
    found = unveil.assess(unveil.read(patients), GIVEN)
    with pytest.raises(TypeError):
        found.provenance.policy["seed"] = 7  # type: ignore[index]
    with pytest.raises(AttributeError):
        found.verdict.decision = "release"  # type: ignore[misc]
    assert json.loads(Assessment.from_json(found.to_json()).to_json()) == json.loads(found.to_json())
    assert "Protect first" in repr(found)
    assert "Protect first" in found._repr_html_()


def test_the_suggested_options_can_be_typed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"a, b",sex\n' + "1,f\n2,m\n" * 5)
    assert unveil.assess(unveil.read(tmp_path / "t.csv")).suggestion == "--quasi '\"a, b\",sex'"
    wide = ",".join(f"column number {i}" for i in range(300))
    (tmp_path / "wide.csv").write_text(wide + "\n" + (",".join(["a"] * 300) + "\n" + ",".join(["b"] * 300) + "\n") * 3)
    assert unveil.assess(unveil.read(tmp_path / "wide.csv")).suggestion == "unveil init wide.csv"


def test_close_calls_can_be_told_apart() -> None:
    made = Finding(
        id="test.close",
        question="test",
        title="t",
        value=0.09001,
        unit="share",
        method="exact",
        subjects=1,
        tolerance=0.09,
        direction="lower",
        decides=True,
        attacker="",
        sentence="",
    )
    assert (made.value_text, made.tolerance_text, made.status) == ("9.001%", "at most 9%", "over")
