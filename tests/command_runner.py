"""The command line in processes of its own, each forked from one that has loaded the libraries already."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["LIBRARIES", "run_unveil"]

LIBRARIES = (
    "duckdb",
    "numba.typed",
    "pandas",
    "pyarrow.compute",
    "scipy.special",
    "unveil.cli.main",
    "unveil.report.html",
)
"""What takes long to load, and may be loaded before a process forks."""

_TIMEOUT_SECONDS = 120

_fork_server = multiprocessing.get_context("forkserver")
_fork_server.set_forkserver_preload(list(LIBRARIES))


def run_unveil(
    arguments: tuple[str, ...], cwd: Path, environment: Mapping[str, str], stdin: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """What ``unveil`` with these arguments exits with and prints; standard input is empty, or a file."""
    with tempfile.TemporaryDirectory() as folder:
        printed = [str(Path(folder, name)) for name in ("out", "err")]
        given = (arguments, str(cwd), dict(environment), str(stdin or os.devnull), printed)
        process = _fork_server.Process(target=_run_in_child, args=given)
        process.start()
        process.join(_TIMEOUT_SECONDS)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(arguments, _TIMEOUT_SECONDS)
        texts = [Path(path).read_text(encoding="utf-8") for path in printed]
    return subprocess.CompletedProcess(arguments, process.exitcode, *texts)


def _run_in_child(
    arguments: tuple[str, ...], cwd: str, environment: dict[str, str], stdin: str, printed: list[str]
) -> None:
    os.dup2(os.open(stdin, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    for number, path in enumerate(printed, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = ["unveil", *arguments]
    from unveil.cli import main

    try:
        main()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
