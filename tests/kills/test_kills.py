"""Killed runs lose nothing: a few random kills here, any number with ``make kill N=1000``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_KILLS = 20


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What came of the kills."""
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "kills", "--kills", str(_KILLS), "--seed", "7"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_killed_runs_leave_no_mismatched_lost_or_half_written_files(found: dict[str, Any]) -> None:
    assert found["faults"] == []
    assert sum(found["by place"].values()) == _KILLS
    assert set(found["by command"]) == {"protect", "relabel", "link", "assess"}


def test_so_do_runs_on_mounted_files_and_full_disks(found: dict[str, Any]) -> None:
    if not found["may_mount"]:
        pytest.skip("mounted files and full disks were not tried: this process may not mount anything")
    assert {"mounted files", "full disk", "another file system"} <= set(found["by place"])
    assert found["faults"] == []


def test_processes_that_are_killed_while_they_book_have_answered_nothing_else(found: dict[str, Any]) -> None:
    ledgers = found["ledgers"]
    assert ledgers["faults"] == []
    assert ledgers["kills inside transactions"] >= _KILLS / 2
    assert ledgers["answers booked"] > 0
