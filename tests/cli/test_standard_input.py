"""``-`` in place of a file: what is piped in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import PATIENTS

Unveil = Callable[..., subprocess.CompletedProcess[str]]

ROLES = ("--quasi", "age,zip,sex", "--sensitive", "diagnosis", "--identifier", "name")


def findings(text: str) -> list[dict[str, Any]]:
    return [{**f, "seconds": 0} for f in json.loads(text)["findings"]]


def test_a_dash_was_a_file_that_does_not_exist(unveil: Unveil, patients: Path) -> None:
    """What is piped in is assessed as the file is, under its own name."""
    from_file = unveil("assess", patients, *ROLES, "--format", "json")
    piped = unveil("assess", "-", *ROLES, "--format", "json", stdin=patients)
    assert (piped.returncode, piped.stderr) == (1, "")
    assert findings(piped.stdout) == findings(from_file.stdout)
    said = [json.loads(done.stdout) for done in (piped, from_file)]
    assert [one["release"]["name"] for one in said] == ["standard input", "patients.csv"]
    assert said[0]["provenance"]["hmac_sha256"] == said[1]["provenance"]["hmac_sha256"]


def test_a_real_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "unveil", "describe", "-", "--format", "json"],
        stdin=read_end, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(scratch)},
    )  # fmt: skip
    os.close(read_end)
    with open(write_end, "w") as pipe:
        for line in PATIENTS.splitlines(keepends=True):
            pipe.write(line)
            pipe.flush()
    out, _ = process.communicate(timeout=60)
    assert json.loads(out)["rows"] == 6
    assert list(scratch.iterdir()) == [], "the copy was left behind"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"1 2 3\n1 2\n4 5 6 7\n", "transactions"),
        (b'["a", "b"]\n["b"]\n', "transactions"),
        (b"source,target\na,b\n", "graph"),
        (b"age\tzip\tsex\tjob\n1\t2\tf\tx\n", "table"),
    ],
)
def test_the_content_says_what_is_piped_in(unveil: Unveil, tmp_path: Path, content: bytes, kind: str) -> None:
    (tmp_path / "x").write_bytes(content)
    done = unveil("describe", "-", "--format", "json", stdin=tmp_path / "x")
    assert json.loads(done.stdout)["kind"] == kind, done.stderr


def test_parquet_and_compressed_text_are_piped_in(unveil: Unveil, tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 2], "sex": ["f", "m"]}), tmp_path / "p")
    with pa.output_stream(tmp_path / "z", compression="gzip") as file:
        file.write(PATIENTS.encode())
    for file, rows in (("p", 2), ("z", 6)):
        done = unveil("describe", "-", "--format", "json", stdin=tmp_path / file)
        assert json.loads(done.stdout)["rows"] == rows, done.stderr


def test_what_the_attacker_holds_may_be_piped_in(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    (tmp_path / "voters.csv").write_text("age,zip,sex\n34,01234,m\n51,01235,f\n")
    done = unveil("link", patients, "--people", "-", "--quasi", "age,zip,sex", stdin=tmp_path / "voters.csv")
    assert done.returncode in (1, 3), done.stderr


@pytest.mark.parametrize(
    "arguments", [("assess", "-"), ("crack", "-"), ("describe", "-"), ("init", "-"), ("link", "-")]
)
def test_empty_input_is_said_in_one_line(unveil: Unveil, patients: Path, arguments: tuple[str, ...]) -> None:
    more = ("--people", patients) if arguments[0] == "link" else ()
    done = unveil(*arguments, *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "unveil: standard input: there is nothing to read; it is empty, or was read already\n"


def test_standard_input_is_read_once(unveil: Unveil, patients: Path) -> None:
    done = unveil("intersect", "-", "-", "--quasi", "age", stdin=patients)
    assert done.returncode == 2
    assert "standard input: there is nothing to read" in done.stderr


def test_a_matrix_is_piped_in(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("1,1\n1,1\n")
    assert "standard input" in unveil("crack", "-", stdin=tmp_path / "m.csv").stdout


def test_results_do_not_overwrite_the_file_that_is_piped_in(unveil: Unveil, patients: Path) -> None:
    done = unveil("protect", "-", *ROLES, "-o", patients, stdin=patients)
    assert done.returncode == 2
    assert "patients.csv: would overwrite the input" in done.stderr
    assert patients.read_text() == PATIENTS


def test_the_copy_is_private_and_goes_with_an_interrupt(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "unveil", "assess", "-", *ROLES],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(scratch)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's & would have it ignored
    )  # fmt: skip
    assert process.stdin is not None and process.stderr is not None
    process.stdin.write(PATIENTS.encode() * 50_000)  # more than a pipe holds, so that it is being read
    process.stdin.flush()
    (copy,) = scratch.glob("unveil-*/*/standard input")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in copy.parents[:2])
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read().decode()
    process.wait(timeout=20)
    process.stdin.close()
    process.stderr.close()
    assert (process.returncode, said.strip()) == (130, "unveil: interrupted; no file was left half-written")
    assert list(scratch.iterdir()) == []


def test_a_terminal_is_not_waited_for(tmp_path: Path) -> None:
    terminal, other_end = os.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "unveil", "describe", "-"], stdin=other_end, capture_output=True, text=True, timeout=60
    )
    os.close(terminal)
    os.close(other_end)
    assert (done.returncode, done.stderr) == (
        2, "unveil: standard input is closed, or a terminal; pipe the data in, or name a file\n",
    )  # fmt: skip
