"""What goes wrong outside the data is named for what it is: memory, disks, closed outputs, damaged files, defects."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import unveil
from unveil import Finding, Policy, questions
from unveil.question import Question
from unveil.risk import Risk

UNVEIL = (sys.executable, "-m", "unveil")
ASK = ("--quasi", "age,zip", "--only", "classes.k", "--quiet")


def run(
    *arguments: object, before: Callable[[], object] | None = None, env: dict[str, str] | None = None, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """The command line in a process that first limits itself."""
    return subprocess.run(
        (*UNVEIL, *map(str, arguments)), capture_output=True, text=True, preexec_fn=before, cwd=cwd, check=False,
        env={**os.environ, **(env or {})}, timeout=120,
    )  # fmt: skip


# ---- standard output -------------------------------------------------------------------------------------------------


def test_a_closed_standard_output_is_no_matter_if_the_result_goes_to_a_file(patients: Path) -> None:
    done = run("assess", patients, *ASK, "-o", "a.json", "--format", "json", before=lambda: os.close(1),
               cwd=patients.parent)  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert (patients.parent / "a.json").read_text().startswith("{")


def test_a_closed_standard_output_is_named_if_the_result_goes_there(patients: Path) -> None:
    done = run("describe", patients, "--quiet", before=lambda: os.close(1), cwd=patients.parent)
    assert (done.returncode, done.stderr) == (2, "unveil: standard output: Bad file descriptor\n")


def test_an_error_is_not_printed_on_standard_output_if_standard_error_is_closed(tmp_path: Path) -> None:
    done = run("describe", "nosuch.csv", before=lambda: os.close(2), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


# ---- full disks ------------------------------------------------------------------------------------------------------


def limit_files(size: int) -> Callable[[], None]:
    """As if the disk were full: no file may grow beyond a size."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def test_a_full_cache_directory_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "b.dat").write_text("1 2 3\n2 3\n1\n")
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = run("describe", "b.dat", "--quiet", before=limit_files(100), env=cache, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_spill_directory_is_named(tmp_path: Path) -> None:
    rows = (f"{k * 7919 % 1000003},{k % 90},{k}.{k * 104729 % 1000003}\n" for k in range(150_000))
    (tmp_path / "t.csv").write_text("id,age,zip\n" + "".join(rows))
    limits = ("--memory-limit", "12MB", "--format", "json")
    done = run("assess", "t.csv", *ASK, *limits, before=limit_files(100), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")
    assert "not enough memory or spill space; raise --memory-limit or point --spill to a larger disk" in done.stdout


def test_a_spill_file_that_cannot_be_written_was_taken_for_damaged_data() -> None:
    """DuckDB reports it, or that it has no memory, whichever thread is first; in this query it is the former."""
    script = (
        "from unveil import Engine\n"
        "try:\n"
        "    Engine('12MB').query_arrow('SELECT range % 700001 AS k FROM range(1500000) GROUP BY k ORDER BY k')\n"
        "except Exception as error:\n"
        "    print(error)"
    )
    done = subprocess.run(
        (sys.executable, "-c", script), capture_output=True, text=True, preexec_fn=limit_files(100), check=True
    )
    assert done.stdout == "not enough memory or spill space; raise --memory-limit or point --spill to a larger disk\n"


def test_a_spill_directory_in_which_nothing_can_be_made_was_a_defect(patients: Path) -> None:
    done = run("assess", patients, *ASK, "--spill", "/proc", cwd=patients.parent)
    assert (done.returncode, done.stdout) == (2, "")
    why = "no work files can be made there (No such file or directory); pass --spill with another directory"
    assert done.stderr == f"unveil: /proc: {why}\n"


# ---- memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mebibytes", [650, 900])
def test_a_lack_of_memory_is_not_taken_for_an_open_quote(tmp_path: Path, mebibytes: int) -> None:
    """Arrow may abort by itself, which nobody can prevent; how much is enough depends on the machine."""
    baskets = "".join(f"{k},{'x' * 80}{k}\n" for k in range(300_000))
    (tmp_path / "b.csv").write_text("basket,item\n" + baskets)
    limit = mebibytes << 20
    done = run("describe", "b.csv", "--kind", "transactions", "--quiet", cwd=tmp_path,
               before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))  # fmt: skip
    if done.returncode == 2:
        assert done.stderr == "unveil: not enough memory; lower --memory-limit so that the engine spills to disk\n"


@pytest.mark.parametrize("kind", [resource.RLIMIT_AS, resource.RLIMIT_DATA])
@pytest.mark.parametrize("kilobytes", [180_000, 240_000, 300_000])
def test_a_library_that_lacked_memory_ended_the_process_with_a_verdict(
    patients: Path, kind: int, kilobytes: int
) -> None:
    """OpenBLAS ends it with exit code 1, which means protect first, or interrupts it."""
    limit = kilobytes << 10
    done = run("assess", patients, *ASK, cwd=patients.parent, before=lambda: resource.setrlimit(kind, (limit, limit)))
    said = f"memory is limited to {limit // 10**6} MB, which is too little; raise the limit (ulimit -v or -d)"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"unveil: {said}\n")


# ---- damaged files ---------------------------------------------------------------------------------------------------


def test_deeply_nested_json_was_a_defect(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000 + "]" * 200_000)
    done = run("compare", "deep.json", "deep.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    why = "nests lists or objects too deeply; check that it is an assessment"
    assert done.stderr == f"unveil: deep.json: {why}\n"


# ---- defects ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["ask", "check", "doubts", "ask and doubts"])
def defect(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a question fails as nobody foresaw, with a value in its message."""

    def fail(*given: object) -> Iterator[Finding]:
        raise KeyError("CANARY-SENSITIVE")
        yield

    def check(*given: object) -> None:
        next(fail())

    where: str = request.param
    risk = Risk("broken.risk", title="A hole", unit="share", safer="lower", summary="Never measured.")
    parts: dict[str, Any] = {"ask": fail if "ask" in where else lambda *given: ()}
    parts |= {"doubts": fail} if "doubts" in where else {"check": check} if where == "check" else {}
    broken = Question(name="broken", title="What breaks?", kinds=("table",), risks=(risk,), **parts)
    monkeypatch.setattr(questions, "QUESTIONS", (*questions.QUESTIONS, broken))
    return where


def test_a_defect_in_one_question_does_not_lose_the_answers_to_the_others(
    defect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("sex,shoe\n" + "f,1\nm,2\nf,2\nm,1\n" * 5)
    monkeypatch.delenv("UNVEIL_DEBUG", raising=False)
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("sex",)))
    assert found["classes.k"].value == 10
    assert found.verdict.decision == "your call"  # it would be release
    what = (
        "Reasons to doubt these findings could not be looked for"
        if defect == "doubts"
        else "This could not be measured"
    )
    why = "internal error in unveil (KeyError); set UNVEIL_DEBUG=1 to see the traceback."
    assert [f.sentence for f in found.findings if f.id == "broken.failed"] == [f"{what}: {why}"]
    assert len(found.doubts) == (defect == "ask and doubts")
    assert "CANARY" not in found.to_json() + found.to_html() + "".join(capsys.readouterr())
    monkeypatch.setenv("UNVEIL_DEBUG", "1")
    unveil.assess(unveil.read(tmp_path / "t.csv"), Policy(quasi=("sex",)))
    assert "Traceback" in capsys.readouterr().err
