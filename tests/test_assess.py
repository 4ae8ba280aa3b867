"""Who asks: the border of the library, doubts, and that a new question changes no old number."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import unveil
from unveil import Assessment, Case, Finding, Policy, Run, UnveilError, questions
from unveil import assess as assess_function
from unveil.assess import make_run
from unveil.question import Question
from unveil.risk import Risk

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


def test_the_suggestion_left_out_guessed_quasi_identifiers(tmp_path: Path) -> None:
    """What is printed settles the guesses: with it, nothing is guessed any more."""
    (tmp_path / "t.csv").write_text("sex,zip,birth,shoe\n" + "f,1,1980-01-01,a\nm,2,1981-02-02,b\n" * 10)
    table = unveil.read(tmp_path / "t.csv")
    for quasi in ((), (("sex",),), (("sex",), ("sex", "birth"))):
        found = unveil.assess(table, Policy(quasi=quasi))
        assert found.suggestion is not None
        words = shlex.split(found.suggestion)
        given = {role: [] for role in ("--quasi", "--identifier", "--sensitive", "--insensitive")}
        for option, names in zip(words[::2], words[1::2], strict=True):
            given[option].append(tuple(names.split(",")))
        settled = Policy(
            quasi=tuple(given["--quasi"]), insensitive=sum(given["--insensitive"], ()),
            sensitive=sum(given["--sensitive"], ()), identifier=sum(given["--identifier"], ()),
        )  # fmt: skip
        again = unveil.assess(table, settled)
        assert again.suggestion is None
        assert {c.origin for c in again.columns} <= {"given", "assumed"}
        assert not any("guess" in reason for reason in again.verdict.reasons)


def test_what_nobody_gave_was_given_by_you(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,sex\n" + "".join(f"p{i // 2},{'fm'[i % 2]}\n" for i in range(20)))
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("sex",), subject="who"))
    assert {c.name: c.origin for c in found.columns} == {"who": "assumed", "sex": "given"}
    assert "insensitive (given by you)" not in found.to_text()


DRAW = Risk("extra.draw", title="A draw", unit="share", safer="lower", sampled=True, summary="A random number.")


def draw(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    yield DRAW.finding(
        policy,
        value=float(run.rng("extra.draw").random()),
        method="simulation",
        interval=(0, 1),
        subjects=1,
        attacker="",
        sentence="",
    )


EXTRA = Question(name="extra", title="Anything else?", kinds=("table",), risks=(DRAW,), ask=draw)


def test_a_new_question_changes_no_old_number(patients: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = unveil.read(patients)
    before = unveil.assess(table, GIVEN)
    monkeypatch.setattr(questions, "QUESTIONS", (EXTRA, *questions.QUESTIONS))
    after = unveil.assess(table, GIVEN)
    assert after["extra.draw"].value != 0
    for finding in before.findings:
        again = after.find(finding.id, column=finding.column, known=finding.known)
        assert replace(again, seconds=0.0) == replace(finding, seconds=0.0)


def breaks(case: Case, policy: Policy, run: Run) -> Iterator[Finding]:
    raise UnveilError("there is a hole in it")
    yield


HOLE = Risk("broken.hole", title="A hole", unit="share", safer="lower", tolerance=0, summary="A hole.")


def test_a_question_that_breaks_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Question(name="broken", title="Does it hold?", kinds=("table",), risks=(HOLE,), ask=breaks)
    monkeypatch.setattr(questions, "QUESTIONS", (*questions.QUESTIONS, broken))
    found = unveil.assess(harmless(tmp_path), Policy(quasi=("sex",)))
    assert found["broken.failed"].status == "failed"
    assert "there is a hole in it" in found["broken.failed"].sentence
    assert found["broken.failed"].decides
    assert found.verdict.decision == "your call"
    informing = replace(broken, risks=(replace(HOLE, tolerance=None),))
    monkeypatch.setattr(questions, "QUESTIONS", (*questions.QUESTIONS[:-1], informing))
    assert not unveil.assess(harmless(tmp_path), Policy(quasi=("sex",)))["broken.failed"].decides


def test_only_some_questions_can_be_asked(patients: Path) -> None:
    table = unveil.read(patients)
    whole = unveil.assess(table, GIVEN)
    some = unveil.assess(table, GIVEN, only="release")
    assert {f.question for f in some.findings} == {"release"}
    assert set(some.not_asked) == {"classes", "inference", "linkage"}
    one = unveil.assess(table, GIVEN, only=["classes.uniques"])
    assert [f.id for f in one.findings] == ["classes.uniques"]
    assert one["classes.uniques"].value == whole["classes.uniques"].value
    assert "classes.k" in one.not_asked and "classes.uniques" not in one.not_asked
    with pytest.raises(UnveilError, match="did you mean 'classes'"):
        unveil.assess(table, GIVEN, only="clases")


def test_a_check_that_was_not_asked_is_a_doubt(tmp_path: Path) -> None:
    table, policy = harmless(tmp_path), Policy(quasi=("sex",))
    assert unveil.assess(table, policy).verdict.decision == "release"
    verdict = unveil.assess(table, policy, only="release").verdict
    assert verdict.decision == "your call"
    assert "although there is a tolerance: classes.k" in verdict.sentence
    off = Policy(
        quasi=("sex",), tolerance={"classes.k": False, "classes.l_distinct": False, "classes.intersection": False}
    )
    assert "although there is a tolerance" not in unveil.assess(table, off, only="release").verdict.sentence


def test_every_sampled_finding_that_decides_shares_the_error_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of them: each holds with 1 − .05/3, so that all hold together with 95%."""
    case = Case(harmless(tmp_path))
    draws = tuple(replace(DRAW, id=f"extra.draw{k}", tolerance=0.5) for k in range(3))
    monkeypatch.setattr(questions, "QUESTIONS", (replace(EXTRA, risks=(*draws, DRAW)),))
    assert make_run(case, Policy()).confidence == pytest.approx(1 - 0.05 / 3)
    assert make_run(case, Policy(), only="extra.draw1").confidence == pytest.approx(0.95)
    assert make_run(case, Policy(tolerance={"extra.draw": 0.1})).confidence == pytest.approx(1 - 0.05 / 4)
    assert make_run(case, Policy(tolerance={d.id: False for d in draws})).confidence == pytest.approx(0.95)


@pytest.mark.parametrize("thing", ["x.csv", 3, [1, 2]])
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


def test_what_nobody_reads_cannot_be_held() -> None:
    release = unveil.read(pd.DataFrame({"age": [1, 2]}))
    with pytest.raises(
        UnveilError, match="nothing an attacker may hold is called 'poplation'; did you mean 'population'"
    ):
        unveil.assess(unveil.Case(release, holds={"poplation": release}))


def test_a_finding_that_is_not_there_names_what_is_meant(patients: Path) -> None:
    found = unveil.assess(unveil.read(patients), GIVEN, only="classes.k")
    with pytest.raises(KeyError, match=r"no finding 'classes\.kk' here; did you mean 'classes\.k'\?"):
        found["classes.kk"]


def test_a_frame_had_to_be_read_before_it_was_assessed() -> None:
    """Any frame or graph in memory is a source: of assess, of protect and in a case."""
    frame = pd.DataFrame({"sex": ["f", "m"] * 10, "shoe": [1, 2, 2, 1] * 5})
    policy = Policy(quasi=("sex",), rows_are_people=True)
    sources = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)]
    answers = [[(f.id, f.value, f.sentence) for f in unveil.assess(source, policy).findings] for source in sources]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0] == [(f.id, f.value, f.sentence) for f in unveil.assess(unveil.read(frame), policy).findings]
    known = unveil.assess(Case(frame, holds={"population": frame}), policy)
    assert known.provenance.beside["population"] == known.provenance.hmac_sha256
    assert unveil.assess(nx.path_graph(4)).release.kind == "graph"
    assert unveil.protect(frame, replace(policy, tolerance={"classes.k": 10})).release.size == {
        "rows": 20,
        "columns": 2,
    }


def test_findings_had_no_frame(patients: Path) -> None:
    found = unveil.assess(unveil.read(patients), GIVEN)
    frame = found.to_frame()
    assert list(frame["id"]) == [f.id for f in found.findings]
    for row, f in zip(frame.to_dict("records"), found.findings, strict=True):
        assert (row["value"], row["unit"], row["decides"], row["sentence"]) == (f.value, f.unit, f.decides, f.sentence)
        low, high = f.interval or (None, None)
        assert [None if math.isnan(row[end]) else row[end] for end in ("low", "high")] == [low, high]
        assert (None if math.isnan(row["share_low"]) else row["share_low"]) == (f.share[0] if f.share else None)
        assert row["known"] == (", ".join(f.known) if f.known is not None else None) or row["known"] != row["known"]
    assert frame["low"].dtype == frame["tolerance"].dtype == "float64"
    assert "CANARY" not in frame.to_csv()


def test_a_frame_of_findings_without_pandas_says_what_is_missing(
    patients: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = unveil.assess(unveil.read(patients), GIVEN, only="classes")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UnveilError, match="to_frame needs pandas: pip install pandas"):
        found.to_frame()
