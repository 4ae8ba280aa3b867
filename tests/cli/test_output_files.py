"""Results overwrite nothing that they are made from, and not each other, by whatever names the files go."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conftest import PATIENTS

Unveil = Callable[..., subprocess.CompletedProcess[str]]
ROLES = ("--quasi", "age,zip", "--quiet")


def assert_refused(done: subprocess.CompletedProcess[str], name: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"unveil: {name}: would overwrite the input or another result; name another file\n"


@pytest.fixture(params=["hard link", "mounted file", "mounted directory"])
def other_name(request: pytest.FixtureRequest, patients: Path, tmp_path: Path) -> Iterator[str]:
    """Another name of the patients' file, which no resolving of paths leads back to it."""
    with ExitStack() as mounts:

        def mount(*paths: Path) -> None:
            if subprocess.run(["mount", "--bind", *paths], capture_output=True, check=False).returncode:
                pytest.skip("only root may mount")
            mounts.callback(subprocess.run, ["umount", paths[-1]], check=True)

        other = tmp_path / "other.csv"
        if request.param == "hard link":
            os.link(patients, other)
        elif request.param == "mounted file":
            other.touch()
            mount(patients, other)
        else:
            (tmp_path / "other").mkdir()
            mount(tmp_path, tmp_path / "other")
            other = tmp_path / "other" / patients.name
        yield str(other.relative_to(tmp_path))


def test_a_second_name_of_the_input_was_overwritten(unveil: Unveil, patients: Path, other_name: str) -> None:
    assert_refused(unveil("protect", patients, *ROLES, "-o", other_name), other_name)
    assert_refused(unveil("assess", patients, *ROLES, "--report", other_name), other_name)
    assert_refused(unveil("assess", "-", *ROLES, "-o", other_name, stdin=patients), other_name)
    assert_refused(unveil("compare", patients, patients, "-o", other_name), other_name)
    assert_refused(unveil("init", patients, "-o", other_name, "--force"), other_name)
    assert patients.read_text() == PATIENTS


def test_a_second_name_of_the_people_was_overwritten_by_the_matches(
    unveil: Unveil, patients: Path, tmp_path: Path, other_name: str
) -> None:
    (tmp_path / "release.csv").write_text(PATIENTS)
    done = unveil("link", "release.csv", "--people", patients, *ROLES, "--matches", other_name)
    assert_refused(done, other_name)
    assert patients.read_text() == PATIENTS


def test_two_results_that_do_not_exist_yet_were_given_one_file(
    unveil: Unveil, patients: Path, tmp_path: Path, other_name: str
) -> None:
    if other_name != "other/patients.csv":
        pytest.skip("a file that does not exist has other names only through its directory")
    done = unveil("assess", patients, *ROLES, "-o", "new.html", "--report", "other/new.html")
    assert_refused(done, "other/new.html")
    assert not (tmp_path / "new.html").exists()


def test_init_overwrote_the_data_with_the_policy(unveil: Unveil, patients: Path, tmp_path: Path) -> None:
    for more in ((), ("--force",)):
        assert_refused(unveil("init", "patients.csv", "-o", "patients.csv", *more), "patients.csv")
    assert patients.read_text() == PATIENTS
    assert unveil("init", "patients.csv", "--force").returncode == 0
    assert unveil("init", "patients.csv", "--force").returncode == 0  # an older policy may be overwritten
