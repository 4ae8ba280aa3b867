"""Messages on standard error: progress on a terminal, notes anywhere, nothing if quiet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from unveil.compilation import on_compilation
from unveil.run import Progress
from unveil.wording import count_text

__all__ = ["COMPILING_NOTICE_AFTER", "COMPILING_NOTICE_EVERY", "note_printer", "progress_bar", "quiet_option"]

_COMPILING = "compiling, first run only"
COMPILING_NOTICE_AFTER = 1.0  # seconds
COMPILING_NOTICE_EVERY = 10.0  # seconds

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
    """Show a progress bar on a terminal's standard error; it disappears when the work is done. Elsewhere a line
    says that kernels are being compiled, if that takes a while, and another one every few seconds."""
    if quiet:
        yield lambda doing, fraction: None
        return
    if not sys.stderr.isatty():
        with on_compilation(_compilation_notice()):
            yield lambda doing, fraction: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=None)

        def report(doing: str, fraction: float | None) -> None:
            bar.update(task, description=doing, total=None if fraction is None else 1.0, completed=fraction or 0.0)

        def tell_compilation(functions: int, seconds: float) -> None:
            if seconds > COMPILING_NOTICE_AFTER:
                report(f"{_COMPILING}: {count_text(functions, 'function')} so far", None)

        with on_compilation(tell_compilation):
            yield report


def _compilation_notice() -> Callable[[int, float], None]:
    """A listener that says that kernels are being compiled, as soon as that has taken a while, and later how far it
    is."""
    next_line, first = COMPILING_NOTICE_AFTER, True

    def tell_compilation(functions: int, seconds: float) -> None:
        nonlocal next_line, first
        if seconds > next_line:
            far = "" if first else f": {count_text(functions, 'function')} so far, {seconds:.0f} seconds"
            print(f"unveil: {_COMPILING}{far}", file=sys.stderr, flush=True)
            next_line, first = seconds + COMPILING_NOTICE_EVERY, False

    return tell_compilation
