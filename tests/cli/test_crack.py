"""``unveil crack``: numbers of the thesis from a file, labels kept secret, one-line complaints."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unveil as library
from reference.naive_matching import marginals
from unveil import Case, Finding
from unveil.finding import ExposedSubject, LinkChart
from unveil.release import Matrix

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


def findings(text: str) -> dict[str, dict[str, Any]]:
    return {f["id"]: f for f in json.loads(text)["findings"]}


def test_the_numbers(unveil: Unveil, files: Path) -> None:
    done = unveil("crack", "m.csv", "--truth", "t.csv", "--format", "json", "--reveal")
    assert done.returncode == 1
    said = findings(done.stdout)
    cracks = said["matching.expected_cracks"]
    assert cracks["value"] == pytest.approx(29 / 18)
    assert cracks["method"] == "exact"
    assert cracks["tolerance"] == pytest.approx(0.5)
    assert cracks["status"] == "over"
    assert sum(row["risk"] for row in cracks["exposed"]) == pytest.approx(29 / 18)
    assert said["matching.degree_of_anonymity"]["value"] == pytest.approx(0.6037340455)
    assert said["matching.o_estimate"]["value"] == pytest.approx(1 / 3 + 1 / 3 + 1 / 4 + 1 / 4 + 1 / 3)
    assert {f["method"] for f in said.values()} == {"exact", "estimate"}
    assert unveil("crack", "m.csv", "--truth", "t.csv", "--tolerance", "matching.expected_cracks=0.4").returncode == 0


def test_labels_stay_secret(unveil: Unveil, files: Path) -> None:
    for form in ("text", "json", "html", "junit"):
        hidden = unveil("crack", "m.csv", "--truth", "t.csv", "--format", form, "--details")
        assert "CANARY" not in hidden.stdout + hidden.stderr
        assert "1st entry" in hidden.stdout
        shown = unveil("crack", "m.csv", "--truth", "t.csv", "--format", form, "--reveal").stdout
        assert "CANARY" in shown


def test_the_picture_does_not_tell_the_truth_unless_revealed(unveil: Unveil, files: Path) -> None:
    def links(*more: str) -> dict[str, Any]:
        said = findings(unveil("crack", "m.csv", "--format", "json", *more).stdout)
        (found,) = (c for c in said["matching.expected_cracks"]["curves"] if c["kind"] == "links")
        return dict(found)

    secret, revealed = links("--truth", "t.csv"), links("--truth", "t.csv", "--reveal")
    assert secret["true"] is None
    best = [max(p for i, _, p in secret["pairs"] if i == k) for k in range(5)]
    assert secret["risk"] == pytest.approx(best)  # what the attacker can tell as well
    assert revealed["true"] == [[0, 2], [1, 3], [2, 4], [3, 0], [4, 1]]
    assert sum(revealed["risk"]) == pytest.approx(29 / 18)
    assert len(secret["pairs"]) == 17


def test_risks_and_pictures_told_which_pseudonym_is_whose() -> None:
    """Who holds the matrix sees which of an entry's pseudonyms has just the risk that was listed, and found four of
    five true pairs; who does not was told the pairs by their numbers in the file."""
    weights = np.array([[1, 2, 3, 4, 0], [2, 1, 5, 3, 1], [4, 1, 1, 2, 6], [1, 3, 2, 7, 2], [0, 5, 1, 1, 1.0]])
    truth = np.array([1, 0, 4, 2, 3])
    orders = list(itertools.permutations(range(5)))[::7]
    seen = [assess_matrix(weights[:, order], np.argsort(order)[truth]) for order in orders]
    said, shown = seen[0], assess_matrix(weights, truth, reveal=True)
    pairs = marginals(weights)
    listed = zip(pairs, by_entry(shown), strict=True)
    guesses = [[k for k, p in enumerate(row) if p == pytest.approx(e.risk)] for row, e in listed]
    assert [truth[k] in guess for k, guess in enumerate(guesses)] == [True] * 5
    assert sum(len(guess) == 1 for guess in guesses) >= 4  # which the attack needs
    assert [e.risk for e in by_entry(said)] == pytest.approx(pairs.max(axis=1))
    (links,) = (c for c in said.curves if isinstance(c, LinkChart))
    assert (links.right, links.true) == (tuple("ABCDE"), None)
    for other in seen:
        (drawn,) = (c for c in other.curves if isinstance(c, LinkChart))
        assert [(i, j) for i, j, _ in drawn.pairs] == [(i, j) for i, j, _ in links.pairs]
        assert [p for *_, p in drawn.pairs] == pytest.approx([p for *_, p in links.pairs])
        assert drawn.risk == pytest.approx(links.risk)


def assess_matrix(weights: np.ndarray, truth: np.ndarray, reveal: bool = False) -> Finding:
    case = Case(Matrix.from_array(weights), truth=truth)
    return library.assess(case, only="matching.expected_cracks", reveal=reveal).findings[0]


def by_entry(finding: Finding) -> list[ExposedSubject]:
    return sorted(finding.exposed, key=lambda e: e.subject)


def test_the_report_draws_the_graph(unveil: Unveil, files: Path) -> None:
    unveil("crack", "m.csv", "--truth", "t.csv", "--report", "r.html")
    page = (files / "r.html").read_text()
    assert "Who may be whom" in page
    assert page.count("<line ") >= 17


def test_weights_and_patterns(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("0.75 0.25\n0.25 0.75\n")
    weighted = json.loads(unveil("crack", "w.txt", "--format", "json").stdout)
    said = {f["id"]: f for f in weighted["findings"]}
    assert said["matching.expected_cracks"]["value"] == pytest.approx(2 * 0.5625 / 0.625)
    assert said["matching.heuristic"]["value"] == pytest.approx(1.5)
    assert "Ψ" in said["matching.expected_cracks"]["title"]
    pattern = json.loads(unveil("crack", "w.txt", "--pattern-only", "--format", "json").stdout)
    said = {f["id"]: f for f in pattern["findings"]}
    assert said["matching.expected_cracks"]["value"] == pytest.approx(1)
    assert "ε" in said["matching.expected_cracks"]["title"]
    assert [r["provenance"]["policy"]["matching"]["pattern_only"] for r in (weighted, pattern)] == [False, True]


@pytest.mark.parametrize("more", [(), ("--format", "json")])
def test_former_options_are_refused(unveil: Unveil, files: Path, more: tuple[str, ...]) -> None:
    for option, said in (
        ("--pattern", "--pattern is now --pattern-only."),
        ("--weights", "--weights is the default; its opposite is --pattern-only."),
        ("--may-be-wrong", "--may-be-wrong is now --may-exclude-truth."),
    ):
        done = unveil("crack", "m.csv", option, *more)
        assert done.returncode == 2
        assert said in done.stderr


def test_an_attacker_who_may_be_wrong(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("1,1\n0,1\n")
    (tmp_path / "t.csv").write_text("1,2\n2,1\n")
    done = unveil("crack", "m.csv", "--truth", "t.csv", "--may-exclude-truth", "--format", "json")
    assert findings(done.stdout)["matching.expected_cracks"]["value"] == 0


def test_simulation_is_labelled_and_reproducible(unveil: Unveil, tmp_path: Path) -> None:
    rows = np.random.default_rng(1).random((40, 40)) < 0.5
    np.savetxt(tmp_path / "m.csv", rows | np.eye(40, dtype=bool), fmt="%d", delimiter=",")
    first, second = (findings(unveil("crack", "m.csv", "--format", "json").stdout) for _ in range(2))
    cracks = first["matching.expected_cracks"]
    assert cracks["method"] == "simulation"
    assert cracks["interval"][0] < cracks["value"] < cracks["interval"][1]
    assert first["matching.degree_of_anonymity"]["method"] == "bound"
    assert cracks["value"] == second["matching.expected_cracks"]["value"]


def test_sets_and_a_degree_of_anonymity_decide(unveil: Unveil, files: Path) -> None:
    """Asthma and TB may only have u, v and what others leave; as a set they are cracked more often than each alone."""
    (files / "sets.csv").write_text("entries\nAsthma TB\nCold\nCANARY; Viral\n")
    how = ("crack", "m.csv", "--truth", "t.csv", "--tolerance", "matching.expected_cracks=99%", "--format", "json")
    assert unveil(*how).returncode == 0
    assert unveil(*how, "--tolerance", "matching.degree_of_anonymity=.7").returncode == 1
    assert unveil(*how, "--tolerance", "matching.degree_of_anonymity=.6").returncode == 0
    assert unveil(*how, "--tolerance", "matching.alpha_max=.5").returncode == 0
    done = unveil(*how, "--sets", "sets.csv", "--set-threshold", "0.4")
    sets = findings(done.stdout)["matching.sets_vulnerable"]
    assert (done.returncode, sets["value"], sets["subjects"]) == (1, pytest.approx(1 / 3), 3)
    assert "CANARY" not in done.stdout
    assert unveil(*how, "--sets", "sets.csv", "--set-threshold", "0.9").returncode == 0
    for text, said in (("entries\nCold\nCold CANARIES\n", "row 2"), ("sets\nCold\n", "no column entries")):
        (files / "sets.csv").write_text(text)
        refused = unveil(*how, "--sets", "sets.csv")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "sets.csv" in refused.stderr and said in refused.stderr and "CANARIES" not in refused.stderr


@pytest.mark.parametrize(
    ("matrix", "truth", "said"),
    [
        ("", "", "empty"),
        ("1,0\n1\n", "", "line 2"),
        ("1,0\n1,CANARY\n", "", "line 2"),
        ("1,0,1\n1,1,1\n", "", "must be as many"),
        ("1,-1\n1,1\n", "", "negative"),
        ("1,nan\n1,1\n", "", "row 1, column 2 is infinite or not a number"),
        ("1,0\n1,0\n", "", "no perfect matching"),
        (",a,a\nx,1,1\ny,1,1\n", "", "same label"),
        (",a,b\nx,1,1\ny,1,1\n", "x,a\ny,CANARY\n", "line 2"),
        (",a,b\nx,1,1\ny,1,1\n", "x,a\n", "complete the truth"),
        (",a,b\nx,1,0\ny,1,1\n", "x,b\ny,a\n", "1st entry is not among"),
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


def test_a_set_of_all_entries_was_to_be_protected(unveil: Unveil, files: Path) -> None:
    """Guessing always cracks it, so no protection can help, and that is said."""
    (files / "all.csv").write_text("entries\nCANARY Viral Cold Asthma TB\n")
    done = unveil("crack", "m.csv", "--truth", "t.csv", "--sets", "all.csv", "--format", "json",
                  "--tolerance", "matching.expected_cracks=1")  # fmt: skip
    found = findings(done.stdout)["matching.sets_vulnerable"]
    assert (found["value"], found["baseline"], found["status"]) == (1, 1, "over")
    said = json.loads(done.stdout)["verdict"]["sentence"]
    assert "No protection that keeps the only subject can meet this tolerance (at most 10%)" in said
    assert "guessing without the release already reaches 100%" in said
    (files / "two.csv").write_text("entries\nCANARY Viral Cold Asthma TB\nCold TB\n")
    found = findings(unveil("crack", "m.csv", "--truth", "t.csv", "--sets", "two.csv", "--format", "json").stdout)
    assert found["matching.sets_vulnerable"]["baseline"] == 0.5
    assert "Guessing alone does that for 1 of them." in found["matching.sets_vulnerable"]["sentence"]


def test_the_first_entry_was_called_by_the_label_of_another(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(",1,2,3\n3,1,1,0\n1,1,1,0\n2,0,0,1\n")
    exposed = findings(unveil("crack", "m.csv", "--format", "json").stdout)["matching.expected_cracks"]["exposed"]
    assert [e["subject"] for e in exposed] == ["3rd entry", "1st entry", "2nd entry"]


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ("1,0\n0,0\n", "m.csv: no perfect matching: no pseudonym is possible for the 2nd entry; widen"),
        ("1,1,0\n1,1,0\n1,1,0\n", "the 1st, 2nd and 3rd entries have only 2 candidate pseudonyms between them; widen"),
        ("0,1\n1,0\n", "m.csv: the true pseudonym of the 1st entry is not among its candidates"),
        ("0,1\n1,0\n", "or allow it with --may-exclude-truth"),
    ],
)
def test_errors_named_neither_the_file_nor_the_option(unveil: Unveil, tmp_path: Path, matrix: str, said: str) -> None:
    (tmp_path / "m.csv").write_text(matrix)
    done = unveil("crack", "m.csv")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
