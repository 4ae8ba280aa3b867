"""``unveil budget`` and ``unveil query``: what is typed, printed and refused."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Unveil = Callable[..., subprocess.CompletedProcess[str]]

VISITS = "patient,age,ward\n" + "".join(f"p{n},{n},{ward}\n" for n in range(40) for ward in "ABC")
DECLARED = ("--number", "age=0:120", "--cuts", "age=18,65", "--categories", "ward=A,B")
PER_PATIENT = ("--subject", "patient", "--rows-per-person", "2")


@pytest.fixture
def asked(unveil: Unveil, tmp_path: Path) -> Unveil:
    """The command line in a folder with a table, and with a register of its own."""
    (tmp_path / "visits.csv").write_text(VISITS)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return unveil(*arguments, env={"XDG_CONFIG_HOME": str(tmp_path / "config")})

    return run


@pytest.fixture
def ledger(asked: Unveil, tmp_path: Path) -> Path:
    done = asked("budget", "init", "visits.csv", "--ledger", "v.ledger", "--epsilon", "3", *DECLARED, *PER_PATIENT)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "unveil: v.ledger written, with ε = 3 to spend; keep it, and keep it secret\n"
    return tmp_path / "v.ledger"


def ask(asked: Unveil, *arguments: object) -> subprocess.CompletedProcess[str]:
    return asked("query", "visits.csv", *arguments, "--ledger", "v.ledger")


def answers(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["answers"]
    return found


def test_says_what_each_answer_cost_and_how_exact_it_is(asked: Unveil, ledger: Path) -> None:
    done = ask(asked, "count people where ward = 'A'", "--epsilon", "0.5")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "count people where ward = 'A'"
    assert lines[1].endswith("people. With 95% confidence, the noise is at most ± 6.")
    assert lines[2:] == [
        "  Its price is ε = 0.5; by discrete Laplace noise.",
        "Whether or not one person is in the table changes how likely all answers of this ledger are by a factor of "
        "1.649 at most (two tables are neighbours if one has one person more, with all of that person's rows).",
        "Spent: ε = 0.5 of ε = 3. Left: ε = 2.5.",
    ]
    again = ask(asked, "COUNT PEOPLE where (ward='A')", "--epsilon", "0.5")
    assert again.stdout == done.stdout.replace("Its price is ε = 0.5", "Asked before, at ε = 0.5: it costs nothing now")


def test_json_says_the_same(asked: Unveil, ledger: Path) -> None:
    done = ask(asked, "histogram age", "mean age", "top ward", "--epsilon", "1/3", "--format", "json")
    ages, mean, top = answers(done)
    assert [each["labels"] for each in ages["values"]] == [["0 to <18"], ["18 to <65"], ["65 to 120"], ["(missing)"]]
    assert mean["interval"][0] <= mean["values"][0]["value"] <= mean["interval"][1]
    assert top["values"][0]["value"] in ("A", "B")
    assert {each["epsilon"] for each in (ages, mean, top)} == {"1/3"}
    assert json.loads(done.stdout)["epsilon_spent"] == "1"
    (shown,) = (json.loads(asked("budget", "show", "v.ledger", "--format", "json").stdout),)
    assert [entry["question"] for entry in shown["answers"]] == ["histogram age", "mean age", "top ward"]
    assert shown["answers"][1]["values"] == mean["values"]
    assert (shown["total"], shown["spent"], shown["left"]) == ("3", "1", "2")


def test_a_dry_run_spends_nothing_and_reads_no_data(asked: Unveil, ledger: Path, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").unlink()
    done = ask(asked, "count people", "median age", "--within", "10", "--dry-run")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == [
        "count people",
        "  Price: ε = 0.2844; by discrete Laplace noise.",
        "  With 95% confidence, the noise is at most ± 10.",
    ]
    assert done.stdout.splitlines()[-1] == (
        "Together: ε = 1.7574. Nothing was spent. Spent: ε = 0 of ε = 3. Left: ε = 3."
    )
    dear = ask(asked, "count", "--epsilon", "4", "--dry-run")
    assert dear.stdout.splitlines()[-1] == "That does not suffice."
    assert "Nothing was asked yet." in asked("budget", "show", "v.ledger").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["count", "--epsilon", "4"], "v.ledger: the answer would spend ε = 4, but only ε = 3 is left of ε = 3; "),
        (["count where agee = 1", "--epsilon", "1"], "no column called 'agee' was declared; did you mean 'age'?"),
        (["count", "--epsilon", "0"], "an answer costs more than ε = 0"),
        (["count", "--epsilon", "nan"], "'nan' is not a privacy cost; write a number such as 0.1, 1/3 or 1e-6"),
        (["count", "--epsilon", "-1"], "'-1' is not a privacy cost; write a number such as 0.1, 1/3 or 1e-6"),
        (["count", "--epsilon", "1e-30"], "epsilon is so small that the noise would not fit"),
        (["count", "--within", "0"], "an answer must be allowed to be wrong by more than 0"),
        (["mean age", "--within", "1"], "how exact a mean is depends on how many rows it is of; say what it may cost"),
        (["count"], "say what an answer may cost (--epsilon), or how exact it must be (--within)"),
        (["count", "--epsilon", "1", "--within", "1"], "say what an answer may cost (--epsilon), or how exact it must"),
        (["count", "--epsilon", "1", "--seed", "3"], "No such option '--seed'."),
        (["quantile 0.12345 of age", "--epsilon", "1"], "the share of a quantile may have three decimals at most"),
    ],
)
def test_refuses_in_one_line_and_spends_nothing(asked: Unveil, ledger: Path, arguments: list[str], said: str) -> None:
    done = ask(asked, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith(f"unveil: {said}")
    assert "Nothing was asked yet." in asked("budget", "show", "v.ledger").stdout


def test_shows_what_was_declared_asked_and_left(asked: Unveil, ledger: Path) -> None:
    ask(asked, "count", "mean age", "--epsilon", "0.5")
    shown = " ".join(asked("budget", "show", "v.ledger").stdout.split())
    assert "ε = 1 spent of ε = 3, ε = 2 left" in shown
    assert "age: 0 to 120 in steps of 1, cut at 18, 65 ward: 2 categories" in shown
    assert "patient says who a row is about; 2 rows of each person count" in shown
    assert "An answer cost ε = 0.5 on average; at that price, 4 more answers can be given." in shown


def test_binds_to_new_data_and_keeps_the_spend(asked: Unveil, ledger: Path, tmp_path: Path) -> None:
    ask(asked, "count", "--epsilon", "1")
    (tmp_path / "visits.csv").write_text(VISITS + "p99,99,B\n")
    refused = ask(asked, "count", "--epsilon", "1")
    assert refused.returncode == 2
    assert "unveil budget rebind" in refused.stderr
    done = asked("budget", "rebind", "visits.csv", "--ledger", "v.ledger")
    assert (done.returncode, done.stderr) == (0, "unveil: v.ledger is about visits.csv now; ε = 2 is left\n")
    assert ask(asked, "count", "--epsilon", "1").stdout.endswith("Spent: ε = 2 of ε = 3. Left: ε = 1.\n")


def test_nobody_else_can_read_a_ledger_and_none_is_overwritten(asked: Unveil, ledger: Path) -> None:
    assert stat.S_IMODE(os.stat(ledger).st_mode) == 0o600
    before = ledger.read_bytes()
    done = asked(
        "budget", "init", "visits.csv", "--ledger", "v.ledger", "--epsilon", "3", "--another-budget", *DECLARED
    )
    assert done.returncode == 2
    assert ledger.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--number", "age=0"], "--number age: write its bounds as FROM:TO, or FROM:TO:STEP"),
        (["--number", "age"], "--number age: write COLUMN=…, as in the examples of --help"),
        (["--number", "age=x:1"], "--number age: 'x' is not a number"),
        (["--number", "age=5:1"], "column 'age': the lower bound must be less than the upper one"),
        (["--number", "age=0:inf"], "--number age: 'inf' is not a number"),
        (["--number", "age=0:1:0.3"], "column 'age': both bounds must be multiples of the step"),
        (["--number", "age=0:9", "--cuts", "age=5,5"], "column 'age': cuts must rise, so that no value is in two"),
        (["--number", "age=0:9", "--cuts", "age=20"], "column 'age': cuts must lie above the lower bound, and not"),
        (["--cuts", "age=20"], "--cuts age: declare its bounds as well, with --number"),
        (["--number", "age=0:1e90"], "--number age: '1e90' has too many digits"),
        (
            ["--number", "age=0:9", "--cuts", "age=2", "--cuts", "age=3"],
            "--cuts age is given twice; write all its cuts",
        ),
        (["--categories", "ward=A,(other)"], "column 'ward': (other) is what unveil calls values itself; rename that"),
        (["--categories", "ward=A,NA"], "column 'ward': NA cannot be a category, as it stands for a missing value"),
        (["--categories", "ward=A,A"], "column 'ward': a category is declared twice"),
        (["--categories", "ward=@none.txt"], "none.txt: cannot be read (No such file or directory)"),
        (["--categories", "floor=1"], "visits.csv: has no column floor; its columns are patient, age and ward"),
        (["--rows-per-person", "2"], "--rows-per-person needs --subject; without it, each row is a person"),
        (["--subject", "age", "--number", "age=0:9"], "column 'age' says who a row is about, so that it cannot be"),
        (["--epsilon", "0"], "the total ε must be above 0, and δ below 1"),
    ],
)
def test_refuses_declarations_that_cannot_be_meant(
    asked: Unveil, tmp_path: Path, options: list[str], said: str
) -> None:
    done = asked("budget", "init", "visits.csv", "--ledger", "v.ledger", "--epsilon", "3", *options)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("unveil: ")
    assert said in done.stderr
    assert not (tmp_path / "v.ledger").exists()


def test_reads_categories_from_a_file(asked: Unveil, tmp_path: Path) -> None:
    (tmp_path / "wards.txt").write_text("A\n\nB\n C \n")
    done = asked(
        "budget", "init", "visits.csv", "--ledger", "v.ledger", "--epsilon", "3", "--categories", "ward=@wards.txt"
    )
    assert done.returncode == 0
    (found,) = answers(ask(asked, "histogram ward", "--epsilon", "1", "--format", "json"))
    assert [each["labels"] for each in found["values"]] == [["A"], ["B"], ["C"], ["(other)"], ["(missing)"]]


def test_says_that_rows_seem_to_repeat_people(asked: Unveil) -> None:
    done = asked("budget", "init", "visits.csv", "--ledger", "v.ledger", "--epsilon", "3", *DECLARED)
    assert done.returncode == 0
    assert done.stderr.splitlines()[0] == (
        "unveil: several rows seem to be about one person, and only single rows are hidden; make the ledger with "
        "--subject COLUMN to hide all rows of a person"
    )


def test_another_sheet_is_another_table(unveil: Unveil, tmp_path: Path) -> None:
    """Read in another way, a file says something else about the same people: that is not what the ledger is about."""
    from openpyxl import Workbook

    book = Workbook()
    for number, (sheet, ward) in enumerate((("y2025", "A"), ("y2026", "B"))):
        page = book.active if number == 0 else book.create_sheet(sheet)
        assert page is not None
        page.title = sheet
        for row in [("name", "ward"), *((f"n{k}", ward) for k in range(20))]:
            page.append(row)
    book.save(tmp_path / "w.xlsx")
    options = ("--ledger", "w.ledger", "--epsilon", "2")
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    made = unveil("budget", "init", "w.xlsx", *options, "--sheet", "y2025", "--categories", "ward=A,B", env=env)
    assert made.returncode == 0, made.stderr
    asked = ("query", "w.xlsx", "count where ward = 'A'", *options)
    assert unveil(*asked, "--sheet", "y2025", env=env).returncode == 0
    other = unveil(*asked, "--sheet", "y2026", env=env)
    assert (other.returncode, other.stdout) == (2, "")
    assert "the data are not those of the ledger" in other.stderr or "the data changed" in other.stderr


def test_a_dry_run_adds_up_as_the_ledger_does(asked: Unveil) -> None:
    done = asked("budget", "init", "visits.csv", "--ledger", "v.ledger", "--epsilon", "1", *DECLARED, "--quiet")
    assert done.returncode == 0
    dry = ask(
        asked,
        "count where ward = 'A'",
        "count where ward = 'B'",
        "count where ward='B'",
        "--epsilon",
        ".6",
        "--dry-run",
    )
    assert dry.stdout.splitlines()[-1].startswith("Together: ε = 0.6. Nothing was spent.")


def test_says_what_all_answers_tell(asked: Unveil, ledger: Path, tmp_path: Path) -> None:
    ask(asked, "count", "--epsilon", "1")
    said = ("--answers", "v.ledger", "--only", "dp", "--details", "--exit-zero")
    done = asked("assess", "visits.csv", *said)
    text = " ".join(done.stdout.split())
    assert "that one person is in the data now thinks it at least 26.89% and at most 73.11% likely" in text
    (tmp_path / "other.csv").write_text(VISITS.replace("p1,", "q1,"))
    assert asked("assess", "other.csv", *said).returncode == 2


def test_a_ledger_that_the_register_does_not_know_is_told(asked: Unveil, ledger: Path, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "config" / "unveil" / "ledgers")
    said = asked("budget", "show", "v.ledger").stderr
    assert said == (
        "unveil: v.ledger: this computer has not seen this ledger before, so that an older copy of it would not be "
        "noticed\n"
    )
