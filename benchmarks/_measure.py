"""How the figures are taken: CPU seconds and peak memory of a function in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # baselines are measured on tests/reference

__all__ = ["data_folder", "install_peer", "measure_work", "peak_memory", "print_figure", "run_in_process"]


def data_folder() -> Path | None:
    """The public data sets, or None with a line that says so."""
    folder = Path(os.environ.get("UNVEIL_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if folder.is_dir():
        return folder
    print("  public data is not here: set UNVEIL_DATA to its folder to measure this")
    return None


def install_peer(name: str, wanted: str) -> Path | None:
    """The Python of a peer's own virtual environment, which is made if it is not there; None if that fails."""
    folder = Path(__file__).parent / "peers" / name
    python, mark = folder / "bin" / "python", folder / ".installed"
    if mark.exists() and mark.read_text() == wanted:
        return python
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted.split()], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    mark.write_text(wanted)
    return python


def measure_work(work: Callable[[], object], repeat: int = 5) -> dict[str, float]:
    """The least CPU seconds (all threads) of several runs after one to warm up, and the peak memory in MB."""
    work()
    best = float("inf")
    for _ in range(repeat):
        start = process_time()
        work()
        best = min(best, process_time() - start)
    return {"cpu": best, "memory": peak_memory()}


def peak_memory() -> float:
    """The most memory this program has held, in MB. Linux's ``ru_maxrss`` would count what the parent held as well."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_in_process(file: str, *arguments: str) -> dict[str, float]:
    """Run a benchmark file with arguments in a fresh process; it prints one JSON object."""
    command = [sys.executable, file, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(file).parent)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def print_figure(
    what: str, ours: float, baseline: float, named: str, unit: str = "s CPU", goal: float | None = None
) -> None:
    """Print one figure as a ratio."""
    aim = f", goal ≤ {goal:g}" if goal is not None else ""
    print(f"  {what}: {ours / baseline:.2f} × {named}  ({ours:.3f} against {baseline:.3f} {unit}{aim})")
