"""How quickly the command line answers: CPU of ``unveil --help`` against ``import click``."""

from __future__ import annotations

import resource
import subprocess
import sys

from _measure import print_figure

__all__ = ["main"]


def _cpu(command: list[str], repeat: int = 9) -> float:
    """The least CPU seconds of a command, over several runs."""
    best = float("inf")
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main() -> None:
    """Print the figures."""
    print("startup")
    click = _cpu([sys.executable, "-c", "import click"])
    print_figure(
        "unveil --help", _cpu([sys.executable, "-m", "unveil", "--help"]), click, "python -c 'import click'", goal=4
    )


if __name__ == "__main__":
    main()
