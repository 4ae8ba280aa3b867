"""What the tests share: an example table, the command line in a process of its own, and the real data's place."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import settings

from command_runner import run_unveil

settings.register_profile("steady", derandomize=True)  # a change must not fail for an input that it did not bring about
if os.environ.get("CI"):
    settings.load_profile("steady")


_CONFIG_FOLDER = tempfile.mkdtemp(prefix="unveil-tests-")
atexit.register(shutil.rmtree, _CONFIG_FOLDER, ignore_errors=True)
os.environ["XDG_CONFIG_HOME"] = _CONFIG_FOLDER  # the owner's key is made there, not in somebody's home
os.environ.pop("UNVEIL_KEY", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest is begun first, so that no other process waits for it in the end."""
    items.sort(key=lambda item: item.path.name != "test_wheel.py")


PATIENTS = """\
name,age,zip,sex,diagnosis
Ada,34,01234,f,flu
Ben,34,01234,m,CANARY-SENSITIVE
Cleo,34,01234,f,asthma
Dan,51,01235,m,flu
CANARY-IDENTIFIER,51,01235,m,?
Eve,51,01235,f,flu
"""


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """Six patients; by age, zip and sex: classes {Ada, Cleo}, {Ben}, {Dan, C.}, {Eve}."""
    path = tmp_path / "patients.csv"
    path.write_text(PATIENTS)
    return path


@pytest.fixture
def unveil(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line as a user would, in a directory of its own."""

    def run(
        *arguments: object, env: Mapping[str, str] | None = None, stdin: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **(env or {})}
        return run_unveil(tuple(map(str, arguments)), tmp_path, environment, stdin)

    return run


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public research data, which is not part of the project."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("UNVEIL_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"replication needs public data sets: set UNVEIL_DATA to their folder (looked in {folder.name})")
    return folder
