"""``unveil crack``: numbers of the thesis from a file, labels kept secret, one-line complaints."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Unveil = Callable[..., subprocess.CompletedProcess[str]]

LABELLED = """\
,u,v,x,y,z
CANARY,0,0,1,1,1
Viral,0,0,1,1,1
Cold,0,1,1,1,1
Asthma,1,1,1,1,0
TB,1,1,1,0,0
"""
TRUTH = "entry,pseudonym\nCANARY,x\nViral,y\nCold,z\nAsthma,u\nTB,v\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "m.csv").write_text(LABELLED)
    (tmp_path / "t.csv").write_text(TRUTH)
    return tmp_path


def test_the_numbers(unveil: Unveil, files: Path) -> None:
    said = json.loads(unveil("crack", "m.csv", "--truth", "t.csv", "--format", "json").stdout)
    assert said["expected cracks (epsilon)"] == pytest.approx(29 / 18)
    assert said["degree of anonymity (d)"] == pytest.approx(0.6037340455)
    assert said["method"] == "exact"
    assert said["O-estimate"] == pytest.approx(1 / 3 + 1 / 3 + 1 / 4 + 1 / 4 + 1 / 3)
    assert said["H (estimate)"] is None
    assert sum(row["risk"] for row in said["riskiest"]) == pytest.approx(29 / 18)


def test_labels_stay_secret(unveil: Unveil, files: Path) -> None:
    hidden = unveil("crack", "m.csv", "--truth", "t.csv")
    assert "CANARY" not in hidden.stdout + hidden.stderr
    assert "entry 1" in hidden.stdout
    assert "CANARY" in unveil("crack", "m.csv", "--truth", "t.csv", "--reveal").stdout


def test_a_bare_weighted_matrix(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("0.75 0.25\n0.25 0.75\n")
    said = json.loads(unveil("crack", "w.txt", "--format", "json").stdout)
    assert said["expected cracks (psi)"] == pytest.approx(2 * 0.5625 / 0.625)
    assert said["H (estimate)"] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("matrix", "truth", "said"),
    [
        ("", "", "empty"),
        ("1,0\n1\n", "", "line 2"),
        ("1,0\n1,CANARY\n", "", "line 2"),
        ("1,0,1\n1,1,1\n", "", "must be as many"),
        ("1,-1\n1,1\n", "", "negative"),
        ("1,nan\n1,1\n", "", "not a number"),
        ("1,0\n1,0\n", "", "no perfect matching"),
        (",a,a\nx,1,1\ny,1,1\n", "", "same label"),
        (",a,b\nx,1,1\ny,1,1\n", "x,a\ny,CANARY\n", "line 2"),
        (",a,b\nx,1,1\ny,1,1\n", "x,a\n", "complete the truth"),
        (",a,b\nx,1,0\ny,1,1\n", "x,b\ny,a\n", "entry 1 is not among"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(unveil: Unveil, tmp_path: Path, matrix: str, truth: str, said: str) -> None:
    (tmp_path / "m.csv").write_text(matrix)
    (tmp_path / "t.csv").write_text(truth)
    done = unveil("crack", "m.csv", *(("--truth", "t.csv") if truth else ()))
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert "CANARY" not in done.stderr
