"""What is said on standard error while work goes on: progress on a terminal, notes anywhere, nothing when quiet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from unveil.run import Progress

__all__ = ["note", "progress"]


def note(quiet: bool) -> Callable[[str], None]:
    """A function that says one line on standard error, unless quiet."""

    def say(line: str) -> None:
        if not quiet:
            print(f"unveil: {line}", file=sys.stderr)

    return say


@contextmanager
def progress(doing: str, quiet: bool) -> Iterator[Progress]:
    """A bar on standard error that goes away by itself; only on a terminal."""
    if quiet or not sys.stderr.isatty():
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

        yield report
