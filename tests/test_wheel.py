"""The wheel, installed in a clean environment away from the checkout, runs the demo and compiles nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
_COUNTED = """
import sys
from numba.core import event

class Compiled(event.Listener):
    functions = 0
    def on_start(self, event):
        self.functions += 1
    def on_end(self, event):
        pass

compiled = Compiled()
event.register("numba:compile", compiled)
from unveil.cli.main import cli
cli.main(sys.argv[1:], prog_name="unveil", standalone_mode=False)
print(compiled.functions)
"""


def run(*command: object, cwd: Path, **settings: str) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False, env=os.environ | settings
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_runs_the_demo_in_a_clean_environment(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    held = zipfile.ZipFile(wheel).namelist()
    assert "unveil/py.typed" in held
    assert "unveil/report/assessment.schema.json" in held
    assert not [name for name in held if name.startswith(("tests", "benchmarks", "hatch_build"))]
    assert [name for name in held if name.startswith("unveil/_shipped/")]
    assert "none-any" not in wheel.name
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "clean", cwd=tmp_path)
    python = tmp_path / "clean" / "bin" / "python"
    quick = ("--quiet", "--disable-pip-version-check", "--no-compile")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", *quick)
    run(*pip, "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    report, functions = run(python, "-c", _COUNTED, "demo", "made", cwd=tmp_path, **cache).splitlines()
    assert (tmp_path / report).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert functions == "0"
    where = run(python, "-c", "import unveil; print(unveil.__file__)", cwd=tmp_path)
    assert str(tmp_path / "clean") in where
    changed = Path(where.strip()).parent / "_bits.py"  # what others call: they are compiled again
    changed.write_text(changed.read_text(encoding="utf-8") + "\n_CHANGED = True\n", encoding="utf-8")
    assess = ("assess", "made/patients.csv", "--exit-zero", "--quiet")
    said = run(python, "-c", _COUNTED, *assess, cwd=tmp_path, **cache).splitlines()
    assert int(said[-1]) > 0
    again = run(python, "-c", _COUNTED, *assess, cwd=tmp_path, **cache).splitlines()
    assert int(again[-1]) == 0
    assert said[:-1] == again[:-1]
