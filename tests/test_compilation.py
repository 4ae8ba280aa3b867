"""What is compiled is kept under the contents of its files; whoever waits for it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from unveil.cli import messages
from unveil.compilation import CompilationListener

_PROGRAM = """
from unveil.cli.messages import progress_bar
from unveil.compilation import on_compilation
import unveil.cli.messages as messages
messages.COMPILING_NOTICE_AFTER = 0.0
heard = []
with on_compilation(lambda functions, seconds: heard.append(functions)), progress_bar("working", {quiet}):
    from unveil.release.text_tokens import split_tokens
    split_tokens(b"1 2")
    split_tokens(b"3")
print(len(heard))
"""


def run(cache: Path, quiet: bool = False) -> tuple[int, str]:
    """How many functions were compiled, and what was said on standard error."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", _PROGRAM.format(quiet=quiet)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return int(done.stdout), done.stderr


def test_who_waits_for_compilation_is_told_once_and_only_if_there_is_some(tmp_path: Path) -> None:
    functions, said = run(tmp_path)
    assert functions >= 1
    assert said == "unveil: compiling, first run only\n"
    assert run(tmp_path) == (0, "")


def test_who_waits_long_is_told_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[CompilationListener] = []
    monkeypatch.setattr(messages, "on_compilation", lambda listener: nullcontext(heard.append(listener)))
    with messages.progress_bar("working", quiet=False):
        for second in range(25):
            heard[0](2 * second, float(second))
    assert capsys.readouterr().err.splitlines() == [
        "unveil: compiling, first run only",
        "unveil: compiling, first run only: 26 functions so far, 13 seconds",
        "unveil: compiling, first run only: 48 functions so far, 24 seconds",
    ]


def test_quiet_says_nothing(tmp_path: Path) -> None:
    functions, said = run(tmp_path, quiet=True)
    assert functions >= 1
    assert said == ""
