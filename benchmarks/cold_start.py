"""What a newcomer waits for: CPU to compile all kernels of a command, against the same command with a warm cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

from _measure import print_figure

__all__ = ["main"]


def main() -> None:
    """Print the figures."""
    print("cold start: compilation with an empty cache")
    with tempfile.TemporaryDirectory() as folder:
        demo, patients = Path(folder) / "demo", Path(folder) / "demo" / "patients.csv"
        _print_figures(folder, "unveil demo", ["demo", str(demo)], goal=12)
        _print_figures(folder, "unveil assess patients.csv", ["assess", str(patients), "--exit-zero"], goal=6)


def _print_figures(folder: str, named: str, command: list[str], goal: float) -> None:
    cache = tempfile.mkdtemp(dir=folder)
    cold, warm = _measure_command(cache, command), _measure_command(cache, command)
    assert warm["functions"] == 0
    what = f"compiling {cold['functions']:.0f} functions for {named} ({cold['own']:.0f} of them ours, goal ≤ {goal} s)"
    print_figure(what, cold["compiling"], warm["cpu"], "the command with a warm cache")
    for seconds, name in cold["slowest"]:
        print(f"    {seconds:.2f} s  {name}")


def _measure_command(cache: str, command: list[str]) -> dict[str, float]:
    """One run in a process of its own: CPU seconds in all and for compiling, and how many functions were compiled."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    call = [sys.executable, __file__, *command, "--quiet"]
    done = subprocess.run(call, check=True, capture_output=True, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _count_compilations(command: list[str]) -> None:
    """Run a command and print what was compiled, each function without those that it calls."""
    from numba.core import event

    class Compilation(event.Listener):
        def __init__(self) -> None:
            self.open: list[list[float]] = []
            self.spent: dict[str, float] = {}
            self.functions = self.own = 0

        def on_start(self, event: event.Event) -> None:
            self.open.append([process_time(), 0.0])

        def on_end(self, event: event.Event) -> None:
            function = event.data["dispatcher"].py_func
            begun, inside = self.open.pop()
            taken = process_time() - begun
            if self.open:
                self.open[-1][1] += taken
            name = f"{function.__module__}.{function.__name__}"
            self.spent[name] = self.spent.get(name, 0.0) + taken - inside
            self.functions += 1
            self.own += function.__module__.startswith("unveil.")

    compilation = Compilation()
    event.register("numba:compile", compilation)
    from unveil.cli.main import cli

    start = process_time()
    cli.main(command, prog_name="unveil", standalone_mode=False)
    slowest = sorted(((seconds, name) for name, seconds in compilation.spent.items()), reverse=True)
    found = {
        "cpu": process_time() - start,
        "compiling": sum(compilation.spent.values()),
        "functions": compilation.functions,
        "own": compilation.own,
        "slowest": slowest[:8],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _count_compilations(sys.argv[1:])
    else:
        main()
