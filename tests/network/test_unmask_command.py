"""``unveil unmask``: a network without names, and one with names that somebody holds."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Unveil = Callable[..., subprocess.CompletedProcess[str]]
RISK = "network.unmasked"


def write_edges(path: Path, edges: Sequence[tuple[str, str]]) -> None:
    path.write_text("".join(f"{a} {b}\n" for a, b in edges))


def drawn_edges(nodes: int, mean: float, seed: int = 4) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    weight = [rng.random() + 0.3 for _ in range(nodes)]
    scale = mean / nodes / 0.64
    return [(a, b) for a in range(nodes) for b in range(a) if rng.random() < scale * weight[a] * weight[b]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two networks of 76 people each, of whom 72 are in both."""
    edges, rng = drawn_edges(80, 26), random.Random(1)
    for file, name, members in (("aux.edges", "CANARY", range(76)), ("anonymous.edges", "SECRET", range(4, 80))):
        kept = [e for e in edges if e[0] in members and e[1] in members and rng.random() < 0.9]
        write_edges(tmp_path / file, [(f"{name}{a}", f"{name}{b}") for a, b in rng.sample(kept, len(kept))])
    rows = [f"CANARY{k},SECRET{k}" for k in range(4, 76)]
    (tmp_path / "truth.csv").write_text("\n".join(["known,node", *rows, ""]))
    (tmp_path / "seeds.csv").write_text("\n".join(["known,node", *rows[:20], ""]))
    return tmp_path


ASKED = ("unmask", "anonymous.edges", "--known", "aux.edges")


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode in (0, 1, 3), done.stderr
    return next(f for f in json.loads(done.stdout)["findings"] if f["id"] == RISK)


def test_names_are_written_for_the_owner_alone(unveil: Unveil, folder: Path) -> None:
    done = unveil(*ASKED, "--true-matches", "truth.csv", "--matches", "matches.csv", "--format", "json")
    found = told(done)
    assert "matches.csv written, for your eyes only" in done.stderr
    path = folder / "matches.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open() as file:
        names = list(csv.DictReader(file))
    assert list(names[0]) == ["known", "node", "score", "probability"]
    right = sum(row["known"][6:] == row["node"][6:] for row in names)
    assert found["value"] == right / found["subjects"] > 0.8
    assert (found["method"], found["subjects"]) == ("exact", 76)
    assert "By the true matches, 72 nodes are in both networks" in found["sentence"]
    assert "(aux.edges, 76 nodes and " in found["attacker"]
    probability = [float(row["probability"]) for row in names]
    assert probability == sorted(probability, reverse=True) and 0 < probability[-1] <= probability[0] < 1
    estimate = told(unveil(*ASKED, "--format", "json"))
    assert estimate["value"] == pytest.approx(sum(probability) / 76)
    assert estimate["method"] == "estimate"


def test_names_can_be_read_back_as_pairs_known_beforehand(unveil: Unveil, folder: Path) -> None:
    assert unveil(*ASKED, "--matches", "matches.csv").returncode == 3
    found = told(unveil(*ASKED, "--seeds", "matches.csv", "--format", "json"))
    pairs = len((folder / "matches.csv").read_text().splitlines()) - 1
    assert f"Of {pairs} pairs known beforehand, the attack confirms" in found["sentence"]


@pytest.mark.parametrize("form", ["text", "json", "html", "markdown", "junit"])
def test_labels_are_in_no_result_unless_asked_for(unveil: Unveil, folder: Path, form: str) -> None:
    more = ("--true-matches", "truth.csv", "--seeds", "seeds.csv", "--details", "--format", form)
    done = unveil(*ASKED, *more, "--report", "report.html")
    assert done.returncode == 3
    for said in (done.stdout, done.stderr, (folder / "report.html").read_text()):
        assert "CANARY" not in said and "SECRET" not in said
    if form in ("text", "json", "html"):
        revealed = unveil(*ASKED, *more, "--reveal").stdout
        assert "CANARY" in revealed and "SECRET" in revealed


def test_assess_makes_the_same_finding(unveil: Unveil, folder: Path) -> None:
    more = ("--seeds", "seeds.csv", "--true-matches", "truth.csv", "--format", "json")
    beside = ("assess", "anonymous.edges", "--known-network", "aux.edges")
    one, other = told(unveil(*ASKED, *more)), told(unveil(*beside, *more))
    assert {k: v for k, v in one.items() if k != "seconds"} == {k: v for k, v in other.items() if k != "seconds"}
    everything = json.loads(unveil(*beside, *more).stdout)
    assert {"network.degree_k", "network.passive", RISK} <= {f["id"] for f in everything["findings"]}
    alone = json.loads(unveil(*ASKED, *more).stdout)
    assert [f["id"] for f in alone["findings"]] == [RISK]


def test_exit_codes_follow_the_tolerance(unveil: Unveil, folder: Path) -> None:
    true = ("--true-matches", "truth.csv", "--tolerance")
    assert unveil(*ASKED, *true, f"{RISK}=5%").returncode == 1
    assert unveil(*ASKED, *true, f"{RISK}=100%").returncode in (0, 3)
    assert unveil(*ASKED, *true, f"{RISK}=99%").returncode == 0
    assert unveil(*ASKED, "--tolerance", f"{RISK}=5%").returncode == 3
    assert unveil(*ASKED).returncode == 3
    assert unveil(*ASKED, "--exit-zero").returncode == 0


def test_mistakes_are_told_in_one_line(unveil: Unveil, folder: Path) -> None:
    """Nothing is written, and no label is told."""
    (folder / "directed.edges").write_text("# directed graph, 3 nodes, 2 edges\nCANARY1 CANARY2\nCANARY2 CANARY3\n")
    (folder / "empty.edges").write_text("")
    (folder / "comment.edges").write_text("# nothing here\n")
    (folder / "header.csv").write_text("known,node\n")
    (folder / "no_header.csv").write_text("CANARY4,SECRET4\nCANARY5,SECRET5\n")
    (folder / "twice.csv").write_text("known,node\nCANARY4,SECRET4\nCANARY4,SECRET5\n")
    (folder / "unknown.csv").write_text("known,node\nCANARY4,SECRET4\nCANARY999,SECRET5\n")
    (folder / "table.csv").write_text("age,sex\n3,f\n")
    for arguments, complaint in (
        (("unmask", "anonymous.edges"), "name the network that the attacker holds: --known FILE"),
        (("unmask", "anonymous.edges", "--known", "nosuch.edges"), "nosuch.edges"),
        (("unmask", "anonymous.edges", "--known", "directed.edges"), "save both as edge lists and read both with"),
        (("unmask", "anonymous.edges", "--known", "anonymous.edges"), "the network held is the release itself"),
        (("unmask", "anonymous.edges", "--known", "empty.edges"), "empty.edges: the file is empty"),
        (("unmask", "comment.edges", "--known", "aux.edges"), "comment.edges: there are no nodes"),
        ((*ASKED, "--seeds", "header.csv"), "header.csv: there are no rows"),
        ((*ASKED, "--seeds", "no_header.csv"), "the columns known and node are needed; name them in the first line"),
        (
            (*ASKED, "--seeds", "twice.csv"),
            "twice.csv: row 2 repeats the known label of an earlier row; keep one row for each",
        ),
        ((*ASKED, "--seeds", "unknown.csv"), "unknown.csv: row 2 has a known label that is not in aux.edges"),
        ((*ASKED, "--true-matches", "twice.csv"), "twice.csv: row 2 repeats the known label of an earlier row"),
        ((*ASKED, "--matches", "matches.txt"), "matches are written as .csv"),
        ((*ASKED, "--matches", "seeds.csv", "--seeds", "seeds.csv"), "would overwrite"),
        ((*ASKED, "-o", "aux.edges"), "would overwrite"),
        ((*ASKED, "--known-edges", ".5"), "No such option"),
        (("assess", "anonymous.edges", "--seeds", "seeds.csv"), "add --known-network FILE"),
        (("assess", "table.csv", "--known-network", "aux.edges"), "--known-network is for graphs"),
    ):
        before = sorted(path.name for path in folder.iterdir())
        done = unveil(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert complaint in done.stderr, (arguments, done.stderr)
        assert "Traceback" not in done.stderr and "CANARY" not in done.stderr and "SECRET" not in done.stderr
        assert len([line for line in done.stderr.splitlines() if line.startswith("unveil: ")]) == 1
        assert sorted(path.name for path in folder.iterdir()) == before


def test_directions_are_read_in_both_files(unveil: Unveil, folder: Path) -> None:
    found = told(unveil(*ASKED, "--directed", "--true-matches", "truth.csv", "--format", "json"))
    assert found["value"] > 0.8


def test_a_network_in_another_format_is_read(unveil: Unveil, folder: Path) -> None:
    lines = [line.split() for line in (folder / "aux.edges").read_text().splitlines()]
    (folder / "aux.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in lines))
    (folder / "aux.csv").rename(folder / "held.csv")
    held = ("unmask", "anonymous.edges", "--known", "held.csv", "--true-matches", "truth.csv", "--format", "json")
    assert told(unveil(*held))["value"] > 0.8


def test_help_shows_examples_and_nothing_about_tables(unveil: Unveil) -> None:
    said = unveil("unmask", "--help").stdout
    assert "unveil unmask anonymous.edges --known aux.edges --seeds pairs.csv --matches matches.csv" in said
    assert "--known-network, --known FILE" in said
    for option in ("--quasi", "--kind", "--delimiter", "--people", "--planted-nodes"):
        assert option not in said


def test_interrupting_leaves_nothing(tmp_path: Path) -> None:
    rng = random.Random(1)
    edges = [(int(20_000 * rng.random() ** 2), rng.randrange(20_000)) for _ in range(400_000)]
    for file, name in (("aux.edges", "p"), ("anonymous.edges", "n")):
        write_edges(tmp_path / file, [(f"{name}{a}", f"{name}{b}") for a, b in edges])
    (tmp_path / "scratch").mkdir()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "unveil",
            *ASKED,
            "--matches",
            "matches.csv",
            "--report",
            "report.html",
            "-o",
            "out.txt",
        ],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's & would have it ignored
    )
    time.sleep(5)
    assert process.poll() is None, "the work was over before it could be interrupted"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, "unveil: interrupted; no file was left half-written")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["anonymous.edges", "aux.edges", "scratch"]
