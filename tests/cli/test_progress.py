"""What standard error says while one waits: a bar on a terminal, lines elsewhere, nothing if quiet."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unveil.cli import messages

_ON_A_TERMINAL = """
import time
from unveil.cli.messages import progress_bar
with progress_bar("reading", False) as report:
    report("reading", 1.0)
    time.sleep(.2)
    report("counting", None)
    time.sleep(2.5)
"""


def terminal_output(program: str) -> str:
    """What a program writes to standard error if that is a terminal."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program], stderr=theirs, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    )
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 4096):
            written += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(timeout=30) == 0
    return written.decode()


def test_the_clock_stood_still_after_the_first_100_percent() -> None:
    shown = terminal_output(_ON_A_TERMINAL)
    assert "counting" in shown
    assert {"0:00:01", "0:00:02"} <= set(re.findall(r"\d:\d\d:\d\d", shown))


def wait_for(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Wait until a line that begins like this is on standard error."""
    deadline = time.monotonic() + 20
    while not any(said.startswith(line) for said in capsys.readouterr().err.splitlines()):
        assert time.monotonic() < deadline, f"{line} was not said"
        time.sleep(0.02)


def test_work_that_reports_nothing_was_silent_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(messages, "PROGRESS_LINE_EVERY", 0.05)
    with messages.progress_bar("reading x.csv", quiet=False) as report:
        wait_for("unveil: reading x.csv, 0 seconds so far", capsys)
        report("counting", 0.455)
        wait_for("unveil: counting (45.5%), ", capsys)
    with messages.progress_bar("reading x.csv", quiet=True) as report:
        capsys.readouterr()
        report("counting", 0.455)
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_short_work_says_nothing_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with messages.progress_bar("reading x.csv", quiet=False) as report:
        report("counting", 1.0)
    assert capsys.readouterr().err == ""
    assert messages.PROGRESS_LINE_EVERY <= 10


def test_the_demonstration_was_silent_until_its_end(tmp_path: Path) -> None:
    """Each example is told of when it is done, and what takes long in between."""
    program = """
import time, sys
import unveil.cli.messages as messages
import unveil.demo.examples as examples
from unveil.cli import main
messages.PROGRESS_LINE_EVERY = 0.2
class Slow:
    protected_file = ""
    def __init__(self, example): self.example = example
    def write(self, directory, seed):
        time.sleep(.5)
        return self.example.write(directory, seed)
survey = next(each for each in examples.EXAMPLES if each.file == "survey.csv")
examples.EXAMPLES = tuple(Slow(survey) for _ in range(2))
sys.argv = ["unveil", "demo", "out"]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    lines = done.stderr.splitlines()
    verdicts = [i for i, line in enumerate(lines) if re.match(r"unveil: survey\.csv: release\. ", line)]
    waiting = [i for i, line in enumerate(lines) if line.endswith(" so far")]
    assert len(verdicts) == 2 and done.stdout == "out/report.html\n", done.stderr
    assert min(waiting) < verdicts[0] < max(i for i in waiting if i < verdicts[1])
