"""``unveil protect --write-recipe`` and ``--recipe``, as a user runs them."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from command_runner import run_unveil

Unveil = Callable[..., subprocess.CompletedProcess[str]]

ROLES = ("--identifier", "id", "--quasi", "age,sex,job", "--sensitive", "diagnosis")


def people(n: int, seed: int, jobs: str = "abcd") -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"P{seed}-{k}" for k in range(n)],
            "age": [f"{age}" for age in rng.integers(20, 60, n)],
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(list(jobs), n),
            "diagnosis": rng.choice(["flu", "gout", "none"], n),
        }
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("first")
    pc.write_csv(people(400, 1), folder / "people.csv")
    pc.write_csv(people(400, 2), folder / "june.csv")
    wanted = (*ROLES, "--pseudonymise", "id", "-o", "safe.csv", "--write-recipe", "safe.recipe.toml")
    return folder, run_unveil(("protect", "people.csv", *wanted), folder, os.environ)


@pytest.fixture
def first(made: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """The first release, in a folder of its own for every test."""
    folder, done = made
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return done


def test_new_rows_are_protected_like_the_first(
    unveil: Unveil, first: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    assert first.returncode == 0, first.stderr
    assert "safe.csv written; safe.recipe.toml says how to do the same to new rows\n" in first.stderr
    assert stat.S_IMODE((tmp_path / "safe.recipe.toml").stat().st_mode) == 0o600
    (tmp_path / "unveil.toml").write_text('quasi = ["id"]\n')  # the recipe's policy counts
    applied = ("--recipe", "safe.recipe.toml", "--released", "safe.csv", "-o", "june-safe.csv", "--format", "json")
    done = unveil("protect", tmp_path / "june.csv", *applied)
    assert done.returncode == 0 and "unveil.toml" not in done.stderr, done.stderr
    told = json.loads(done.stdout)
    (chosen,) = [p for p in told["protections"] if p["chosen"]]
    assert chosen["id"] == "recipe" and "measured together with those of safe.csv" in chosen["sentence"]
    old, new = (pc.read_csv(tmp_path / name).to_pylist() for name in ("safe.csv", "june-safe.csv"))
    assert set(old[0]) == set(new[0])
    for rows in (new, old + new):
        assert min(Counter(tuple(row[c] for c in row if c not in ("id", "diagnosis")) for row in rows).values()) >= 5


def test_the_same_file_again_gives_the_same_rows_in_any_format(
    unveil: Unveil, first: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    pq.write_table(people(400, 1), tmp_path / "people.parquet")
    applied = ("--recipe", "safe.recipe.toml", "--quiet")
    assert unveil("protect", tmp_path / "people.csv", *applied, "-o", "again.csv").returncode == 0
    assert unveil("protect", tmp_path / "people.parquet", *applied, "-o", "again.parquet").returncode == 0
    written = [(tmp_path / name).read_text().splitlines() for name in ("safe.csv", "again.csv")]
    assert written[0][0] == written[1][0] and sorted(written[0]) == sorted(written[1])
    tables = [pc.read_csv(tmp_path / "safe.csv"), pq.read_table(tmp_path / "again.parquet")]
    rows = [Counter(tuple(map(str, row.values())) for row in table.to_pylist()) for table in tables]
    assert rows[0] == rows[1]


def test_an_earlier_recipe_is_not_overwritten(
    unveil: Unveil, first: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    before = (tmp_path / "safe.recipe.toml").read_bytes()
    again = (*ROLES, "-o", "safe.csv", "--write-recipe", "safe.recipe.toml")
    done = unveil("protect", tmp_path / "people.csv", *again)
    assert "safe.recipe.2.toml says how" in done.stderr, done.stderr
    assert (tmp_path / "safe.recipe.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--goal", "classes.k=2"), 2, "--goal cannot be combined with --recipe, which sets it; leave it out"),
        (("--quasi", "age"), 2, "--quasi cannot be combined with --recipe, which sets it; leave it out"),
        (("--method", "levels"), 2, "--method cannot be combined with --recipe, which sets it; leave it out"),
        (
            ("--write-recipe", "other.toml"),
            2,
            "--write-recipe cannot be combined with --recipe, which stays as it is; leave it out",
        ),
        (("--released", "people.csv"), 2, "people.csv: was not made by this recipe"),
        (("--released", "safe.recipe.toml"), 2, "unveil: "),
    ],
)
def test_what_contradicts_a_recipe_is_refused(
    unveil: Unveil, first: subprocess.CompletedProcess[str], tmp_path: Path, more: tuple[str, ...], code: int, said: str
) -> None:
    done = unveil("protect", tmp_path / "june.csv", "--recipe", "safe.recipe.toml", "-o", "june-safe.csv", *more)
    assert done.returncode == code and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not (tmp_path / "june-safe.csv").exists()


def test_rows_that_the_recipe_does_not_protect_are_not_written(
    unveil: Unveil, first: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    pc.write_csv(people(12, 3), tmp_path / "few.csv")
    done = unveil("protect", tmp_path / "few.csv", "--recipe", "safe.recipe.toml", "-o", "few-safe.csv")
    assert done.returncode == 1, done.stderr
    assert "nothing was written" in done.stderr and "this recipe does not protect these rows enough" in done.stderr
    assert "--suppress" not in done.stderr and not (tmp_path / "few-safe.csv").exists()


def test_a_changed_recipe_is_refused_in_one_line(
    unveil: Unveil, first: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    recipe = tmp_path / "safe.recipe.toml"
    for text, said in (
        (recipe.read_text().replace('"classes.k" = 5', '"classes.k" = 2'), "was changed after unveil wrote it"),
        ("quasi = [", "not valid TOML"),
        ("", "is not a recipe"),
    ):
        recipe.write_text(text)
        done = unveil("protect", tmp_path / "june.csv", "--recipe", recipe, "-o", "june-safe.csv")
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and said in done.stderr, done.stderr


def test_options_for_new_rows_need_a_recipe(unveil: Unveil, patients: Path) -> None:
    for option in (("--unseen", "root"), ("--released", "x.csv")):
        done = unveil("protect", patients, *option, "-o", "safe.csv")
        assert done.returncode == 2 and "--released and --unseen need --recipe" in done.stderr
    done = unveil("protect", patients, "--write-recipe", "safe.txt", "-o", "safe.csv")
    assert done.returncode == 2 and "a recipe is written as .toml" in done.stderr


def test_baskets_have_no_recipe(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "baskets.dat").write_text("1 2\n1\n2 3\n" * 20)
    done = unveil("protect", tmp_path / "baskets.dat", "--write-recipe", "r.toml", "-o", "safe.dat")
    assert done.returncode == 2 and "--write-recipe is for tables" in done.stderr, done.stderr
