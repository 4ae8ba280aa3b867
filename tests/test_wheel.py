"""The wheel, installed in a clean environment away from the checkout, runs the demo."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command: object, cwd: Path) -> str:
    environment = os.environ | {"NUMBA_OPT": "0"}  # everything is compiled anew: fast to compile is faster here
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_runs_the_demo_in_a_clean_environment(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    held = zipfile.ZipFile(wheel).namelist()
    assert "unveil/py.typed" in held
    assert "unveil/report/assessment.schema.json" in held
    assert not [name for name in held if name.startswith(("tests", "benchmarks"))]
    run(sys.executable, "-m", "venv", tmp_path / "clean", cwd=tmp_path)
    python = tmp_path / "clean" / "bin" / "python"
    quiet = ("--quiet", "--disable-pip-version-check")
    run(python, "-m", "pip", "install", *quiet, "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    said = run(tmp_path / "clean" / "bin" / "unveil", "demo", "made", cwd=tmp_path)
    report = tmp_path / said.strip()
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    where = run(python, "-c", "import unveil; print(unveil.__file__)", cwd=tmp_path)
    assert str(tmp_path / "clean") in where
