"""The command line in processes of its own, each forked from one that has loaded the program already."""

from __future__ import annotations

import atexit
import functools
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing import forkserver
from pathlib import Path
from unittest.mock import patch

__all__ = ["loaded_program", "run_unveil"]

_TIMEOUT_SECONDS = 120


@functools.cache
def loaded_program() -> multiprocessing.context.ForkServerContext:
    """Where processes are forked from one that has loaded the program."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["loaded_program"])
    found_by = os.pathsep.join(filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH"))))
    with patch.dict(os.environ, PYTHONPATH=found_by):  # the server is not told where this process finds modules
        forkserver.ensure_running()
    return context


def run_unveil(
    arguments: tuple[str, ...], cwd: Path, environment: Mapping[str, str], stdin: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """What ``unveil`` with these arguments exits with and prints; standard input is empty, or a file."""
    with tempfile.TemporaryDirectory() as folder:
        printed = [str(Path(folder, name)) for name in ("out", "err")]
        given = (arguments, str(cwd), dict(environment), str(stdin or os.devnull), printed)
        process = loaded_program().Process(target=_run_in_child, args=given)
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
