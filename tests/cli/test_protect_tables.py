"""``unveil protect`` on tables, as a user runs it."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from unveil.owner_key import load_owner_key

Unveil = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = ("--quasi", "age,sex,zip,select", "--insensitive", "weight", "--tolerance", "classes.k=1")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    age, sex, code = (
        rng.integers(20, 60, 300),
        rng.choice(["f", "m"], 300),
        rng.choice(["01001", "01002", "20100"], 300),
    )
    job = rng.choice(["CANARY", "clerk", "nurse"], 300, p=[0.02, 0.5, 0.48])
    rows = zip(age, sex, code, job, np.round(rng.normal(70, 9, 300), 4), strict=True)
    path = tmp_path / "people.csv"
    path.write_text("age,sex,zip,select,weight\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def test_it_writes_a_release_that_holds(unveil: Unveil, written: Path) -> None:
    safe, report = written.with_name("safe.csv"), written.with_name("safe.html")
    wanted = (*COMMAND, "--tolerance", "linkage.success=.2")
    done = unveil("protect", written, *wanted, "-o", safe, "--report", report, "--format", "json")
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert told["checks_off"] == ["classes.k"] and len(told["verdict"]["reasons"]) == 1
    assert [p["id"] for p in told["protections"]] == [
        "none",
        "levels",
        "local",
        "mondrian",
        "cells",
        "microaggregation",
        "columns",
        "values",
        "rows",
        "mixed",
    ]
    (chosen,) = [p for p in told["protections"] if p["chosen"]]
    assert chosen["usefulness"] == max(
        p["usefulness"] for p in told["protections"] if p["usefulness"] is not None and p["decision"] == "your call"
    )
    assert told["release"]["name"] == "safe.csv"
    digest = hashlib.sha256(safe.read_bytes()).hexdigest()
    assert told["provenance"]["hmac_sha256"] == load_owner_key().hash_text(digest)
    assert sorted(p.name for p in written.parent.iterdir()) == ["people.csv", "safe.csv", "safe.html"]
    assert "CANARY" not in done.stdout + done.stderr + report.read_text(encoding="utf-8")
    quasi = [c["name"] for c in told["columns"] if c["role"] == "quasi"]
    again = unveil("assess", safe, "--quasi", ",".join(quasi), *COMMAND[2:], "--tolerance", "linkage.success=.2")
    assert again.returncode == 3 and "protect first" not in again.stdout.lower(), again.stdout


def test_it_writes_parquet(unveil: Unveil, written: Path) -> None:
    wanted = (*COMMAND, "--tolerance", "linkage.success=.3", "--method", "columns", "--quiet")
    done = unveil("protect", written, *wanted, "-o", written.with_name("safe.parquet"))
    assert (done.returncode, done.stderr) == (3, "")
    table = pq.read_table(written.with_name("safe.parquet"))
    assert table.num_rows == 300
    assert "weight" in table.column_names


def test_what_is_within_tolerance_is_written_in_another_order(unveil: Unveil, written: Path) -> None:
    safe = written.with_name("safe.csv")
    done = unveil("protect", written, *COMMAND, "--tolerance", "linkage.success=1", "-o", safe)
    assert done.returncode == 3, done.stderr
    header, *rows = safe.read_text().replace('"', "").splitlines()
    assert [header, *sorted(rows)] == [header, *sorted(written.read_text().splitlines()[1:])]
    assert [header, *rows] != written.read_text().splitlines()
    assert "Only the order of rows changes" in done.stdout
    kept = unveil("protect", written, *COMMAND, "--tolerance", "linkage.success=1", "-o", safe, "--keep-order")
    assert kept.returncode == 3, kept.stderr
    assert "Rows keep their order" in kept.stdout
    assert safe.read_text().replace('"', "") == written.read_text()


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--tolerance", "linkage.success=.0001"), 1, "nothing was written"),
        (
            ("--tolerance", "linkage.success=.0001", "--tolerance", "classes.k=1", "--method", "values"),
            1,
            "linkage.success is over its tolerance, and no protection that was tried brings it within",
        ),
        (
            ("--tolerance", "linkage.success=.2", "--tolerance", "classes.k=50", "--method", "columns"),
            1,
            "and must be at least 50\nunveil: coarser values alone can reach the goals for classes (--method levels)",
        ),
        (
            ("--tolerance", "linkage.success=.0001", "--method", "values"),
            1,
            "the average risk must be at most 0.01%, and is 0.33% even if no quasi-identifier is released",
        ),
        (("--write-mapping", "map.csv"), 2, "--write-mapping is for baskets"),
        (("--categories", "people.csv"), 2, "--categories is for baskets"),
        (("--method", "merge"), 2, "choose from levels, local, mondrian, cells and microaggregation"),
        (("--subject", "weight", "--method", "mixed"), 2, "choose from levels"),
    ],
)
def test_nothing_is_written_where_it_fails(
    unveil: Unveil, written: Path, more: tuple[str, ...], code: int, said: str
) -> None:
    wanted = ("--quasi", "age,sex,zip,select", "--tolerance", "classes.k=5", *more)
    if "--subject" not in more:
        wanted = (*wanted, "--insensitive", "weight")
    done = unveil("protect", written, *wanted, "-o", "safe.csv")
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert [p.name for p in written.parent.iterdir()] == ["people.csv"]


def test_what_was_tried_is_reported_though_nothing_reaches_it(unveil: Unveil, written: Path) -> None:
    wanted = ("--quasi", "age,sex,zip,select", "--insensitive", "weight", "--tolerance", "linkage.success=.0001")
    done = unveil("protect", written, *wanted, "--method", "values", "-o", "safe.csv", "--report", "tried.html")
    assert done.returncode == 1
    assert "no release was written; tried.html shows what was tried" in done.stderr
    assert sorted(p.name for p in written.parent.iterdir()) == ["people.csv", "tried.html"]
    assert "Group rare values" in (written.parent / "tried.html").read_text()


def test_a_table_with_two_columns_to_know_was_refused(unveil: Unveil, written: Path) -> None:
    done = unveil("protect", written, "--quasi", "age,zip", "--insensitive", "weight,sex,select", "-o", "safe.csv")
    assert done.returncode in (0, 3), done.stderr
    assert written.with_name("safe.csv").exists()
