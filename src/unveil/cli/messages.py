"""Messages on standard error: progress on a terminal, notes anywhere, nothing if quiet."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from unveil.compilation import on_compilation
from unveil.run import Progress
from unveil.wording import count_text, percent_text

__all__ = ["COMPILING_NOTICE_AFTER", "PROGRESS_LINE_EVERY", "note_printer", "progress_bar", "quiet_option"]

_COMPILING = "compiling, first run only"
COMPILING_NOTICE_AFTER = 1.0  # seconds
PROGRESS_LINE_EVERY = 10.0  # seconds
_ALMOST_DONE = 1 - 1e-9  # of a task that is complete, rich stops the clock for good

quiet_option = click.option("--quiet", is_flag=True, help="Print only errors on standard error.")
"""Belongs to every command that prints notes or progress."""


def note_printer(quiet: bool) -> Callable[[str], None]:
    """A function that prints one line on standard error, unless quiet."""

    def print_note(line: str) -> None:
        if not quiet:
            print(f"unveil: {line}", file=sys.stderr)

    return print_note


@contextmanager
def progress_bar(doing: str, quiet: bool) -> Iterator[Progress]:
    """Show a progress bar on a terminal's standard error; it disappears when the work is done. Elsewhere a line says
    every few seconds what is being done."""
    if quiet:
        yield lambda doing, fraction: None
        return
    with _terminal_progress(doing) if sys.stderr.isatty() else _progress_lines(doing) as report:
        yield report


@contextmanager
def _terminal_progress(doing: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None)

        def report(doing: str, fraction: float | None) -> None:
            done = min(fraction or 0.0, _ALMOST_DONE)
            bar.update(task, description=doing, total=None if fraction is None else 1.0, completed=done)

        def tell_compilation(functions: int, seconds: float) -> None:
            if seconds > COMPILING_NOTICE_AFTER:
                report(_compiling_text(functions), None)

        with on_compilation(tell_compilation):
            yield report


@contextmanager
def _progress_lines(doing: str) -> Iterator[Progress]:
    """Print a line every few seconds, whether or not the work reports its progress; and one as soon as compiling
    kernels has taken a while."""
    started, over = time.monotonic(), threading.Event()
    current: tuple[str, float | None] = doing, None
    compiled = 0
    told: int | None = None  # how many compiled functions the last line knew of

    def report(doing: str, fraction: float | None) -> None:
        nonlocal current
        current = doing, fraction

    def tell_compilation(functions: int, seconds: float) -> None:
        nonlocal compiled, told
        if seconds > COMPILING_NOTICE_AFTER:
            if told is None:
                _print_line(_COMPILING)
                told = functions
            compiled = functions

    def print_lines() -> None:
        nonlocal told
        while not over.wait(PROGRESS_LINE_EVERY):
            compiling, told = told is not None and compiled > told, None if told is None else compiled
            words, fraction = (_compiling_text(compiled), None) if compiling else current
            far = "" if fraction is None else f" ({percent_text(min(fraction, 1.0))})"
            _print_line(f"{words}{far}, {count_text(round(time.monotonic() - started), 'second')} so far")

    printer = threading.Thread(target=print_lines, daemon=True)
    printer.start()
    try:
        with on_compilation(tell_compilation):
            yield report
    finally:
        over.set()
        printer.join()


def _compiling_text(functions: int) -> str:
    return f"{_COMPILING}: {count_text(functions, 'function')}"


def _print_line(line: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads standard error any more
        print(f"unveil: {line}", file=sys.stderr, flush=True)
