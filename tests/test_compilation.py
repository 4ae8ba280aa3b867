"""What is compiled is kept under the contents of its files; whoever waits for it is told."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
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
    monkeypatch.setattr(messages, "PROGRESS_LINE_EVERY", 0.1)
    with messages.progress_bar("working", quiet=False):
        heard[0](1, 0.5)
        heard[0](4, 2.0)
        heard[0](26, 13.0)
        deadline, said = time.monotonic() + 20, ""
        while "working" not in said and time.monotonic() < deadline:
            time.sleep(0.02)
            said += capsys.readouterr().err
    first, second, third, *_ = said.splitlines()
    assert first == "unveil: compiling, first run only"
    assert second.startswith("unveil: compiling, first run only: 26 functions, ")
    assert third.startswith("unveil: working, ")


def test_damaged_files_are_compiled_anew(tmp_path: Path) -> None:
    """Neither the interpreter nor the machine code that is left may see what is in them."""
    run(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert len(files) >= 2
    for path in files:
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 255]) + data[len(data) // 2 + 1 :])
    assert run(tmp_path)[0] >= 1
    for path in files:
        path.write_bytes(path.read_bytes()[:-100])
    assert run(tmp_path)[0] >= 1
    assert run(tmp_path)[0] == 0


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_file_that_is_whole_but_no_pickle_was_a_defect(tmp_path: Path, ending: str) -> None:
    run(tmp_path)
    body = b"no pickle"
    for path in tmp_path.rglob(f"*{ending}"):
        path.write_bytes(hashlib.sha256(body).digest() + body)
    assert run(tmp_path)[0] >= 1
    assert run(tmp_path)[0] == 0


def test_quiet_says_nothing(tmp_path: Path) -> None:
    functions, said = run(tmp_path, quiet=True)
    assert functions >= 1
    assert said == ""
