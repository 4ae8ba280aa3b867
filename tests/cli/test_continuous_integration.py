"""The pre-commit hook and the recipes of docs/ci.md, run for real."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import PATIENTS
from unveil import Assessment

ROOT = Path(__file__).parents[2]
POLICY = '[columns]\nidentifier = ["name"]\nquasi = [["age", "zip", "sex"]]\nsensitive = ["diagnosis"]\n'
ALIKE = "age,zip,sex,diagnosis\n" + "".join(f"34,01234,f,{d}\n" for d in "abcabcabc")
MILD_POLICY = 'quasi = [["age", "zip", "sex"]]\nsensitive = ["diagnosis"]\nrows_are_people = true\n'

Unveil = Callable[..., subprocess.CompletedProcess[str]]


def hooks() -> list[dict[str, str]]:
    """The hooks of the repository: a list of flat mappings, which is all that the file uses of YAML."""
    found: list[dict[str, str]] = []
    for line in (ROOT / ".pre-commit-hooks.yaml").read_text().splitlines():
        new, name, value = re.fullmatch(r"(- |  )(\w+): (.+)", line).groups()  # type: ignore[union-attr]
        if new == "- ":
            found.append({})
        found[-1][name] = value
    return found


def test_the_hook_says_what_pre_commit_asks_for() -> None:
    (hook,) = hooks()
    assert {"id", "name", "entry", "language", "pass_filenames"} <= set(hook)
    assert hook["id"] == "unveil-assess" and hook["language"] == "python"
    assert hook["pass_filenames"] == "false", "unveil assess takes one file"
    assert f"id: {hook['id']}" in (ROOT / "docs" / "ci.md").read_text()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git on the path")
def test_the_hook_stops_a_commit_of_what_must_be_protected(tmp_path: Path) -> None:
    """The hook's entry with a user's arguments, as git runs it before a commit."""
    (hook,) = hooks()
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        command = ["git", *identity, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=quiet)

    assert git("init", "-q").returncode == 0
    entry = shlex.split(hook["entry"])
    assert entry[0] == "unveil"
    script = tmp_path / ".git" / "hooks" / "pre-commit"
    command = shlex.join([sys.executable, "-m", *entry, "data.csv", "--policy", "unveil.toml"])
    script.write_text(f"#!/bin/sh\nexec {command}\n")
    script.chmod(0o755)
    (tmp_path / "data.csv").write_text(PATIENTS)
    (tmp_path / "unveil.toml").write_text(POLICY)
    git("add", ".")
    stopped = git("commit", "-qm", "patients")
    assert stopped.returncode != 0 and "data.csv: Protect first" in stopped.stdout + stopped.stderr
    assert "CANARY" not in stopped.stdout + stopped.stderr
    (tmp_path / "data.csv").write_text(ALIKE)
    (tmp_path / "unveil.toml").write_text(MILD_POLICY)
    git("add", ".")
    passed = git("commit", "-qm", "alike")
    assert passed.returncode == 0, passed.stdout + passed.stderr


def test_the_shell_recipe_of_the_docs_runs(tmp_path: Path) -> None:
    recipe = re.search(r"```sh\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.DOTALL)
    assert recipe
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "patients.csv").write_text(PATIENTS)
    (tmp_path / "data" / "unveil.toml").write_text(POLICY)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "unveil"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m unveil "$@"\n')
    program.chmod(0o755)
    path = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    first = subprocess.run(["sh", "-c", recipe[1]], cwd=tmp_path, capture_output=True, text=True, env=path)
    assert first.returncode == 1, first.stderr
    (tmp_path / "after.json").rename(tmp_path / "baseline.json")
    again = subprocess.run(["sh", "-c", recipe[1]], cwd=tmp_path, capture_output=True, text=True, env=path)
    assert again.returncode == 1
    assert (tmp_path / "comparison.md").read_text().startswith("## patients.csv: protect first, as before")
    assert Assessment.from_json((tmp_path / "after.json").read_text()).verdict.decision == "protect first"


def test_forms_on_the_command_line(unveil: Unveil, patients: Path) -> None:
    options = ("--quasi", "age,zip,sex", "--sensitive", "diagnosis", "--identifier", "name")
    marked = unveil("assess", patients.name, *options, "--format", "markdown")
    assert marked.returncode == 1 and marked.stdout.startswith("## patients.csv: Protect first")
    suites = ET.fromstring(unveil("assess", patients.name, *options, "--format", "junit").stdout)
    assert int(suites.get("failures", "0")) >= 2
    brief = unveil("assess", patients.name, *options).stdout
    detailed = unveil("assess", patients.name, *options, "--details").stdout
    assert len(brief.splitlines()) <= 60 < len(detailed.splitlines())
    assert "CANARY" not in marked.stdout + brief + detailed
