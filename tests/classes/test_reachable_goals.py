"""If no protection reaches the goals for classes: which one is out of reach, or what the owner could give up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pyarrow as pa
import pyarrow.csv

from unveil import Policy, ProtectedRelease, protect
from unveil.classes.settings import ClassesSettings

N = 60


def people() -> pa.Table:
    rng = np.random.default_rng(2)
    return pa.table(
        {
            "name": [f"n{i}" for i in range(N)],
            "age": rng.integers(20, 60, N),
            "sex": [("f", "m")[i % 2] for i in range(N)],
            "zip": [str(10_000 + 7 * i) for i in range(N)],
            "illness": [("flu", "gout", "none")[i % 3] for i in range(N)],
        }
    )


def protected(goals: dict[str, float], keep: tuple[str, ...] = (), suppress: float = 0.05) -> ProtectedRelease:
    policy = Policy(
        identifier=("name",),
        quasi=(("age", "sex", "zip"),),
        sensitive=("illness",),
        tolerance={"classes.l_distinct": 1, **goals},
        settings={"classes": ClassesSettings(keep=keep, suppress=suppress)},
    )
    return protect(people(), policy)


def advice(goals: dict[str, float], keep: tuple[str, ...] = (), suppress: float = 0.05) -> tuple[str, ...]:
    made = protected(goals, keep, suppress)
    assert made.case is None
    assert "release.identifiers" not in made.blocking_findings  # the name is left out, so it is not in the way
    return made.advice


def test_more_alike_than_there_are_people_is_out_of_reach() -> None:
    (said,) = advice({"classes.k": N + 1})
    assert said == "classes.k must be at least 61, and is 60 even if no quasi-identifier is released"


def test_more_values_than_the_column_has_are_out_of_reach() -> None:
    (said,) = advice({"classes.l_distinct": 4})
    assert said == (
        "classes.l_distinct must be at least 4 for illness, and is 3 even if no quasi-identifier is released: leave "
        "that column out"
    )


def test_less_than_one_in_all_is_out_of_reach() -> None:
    said = advice({"classes.reidentification": 0.01})
    assert said[-1] == "the average risk must be at most 1%, and is 1.67% even if no quasi-identifier is released"


def test_columns_that_must_stay_are_named_if_giving_one_up_helps() -> None:
    over, said = advice({"classes.k": 10}, keep=("sex", "zip"))
    assert over == "classes.k is over its tolerance, and no protection that was tried brings it within"
    assert said == "the goals for classes can be reached if zip may be coarsened (now in --keep)"
    assert protected({"classes.k": 10}, keep=("sex",)).case is not None


def test_columns_that_must_stay_are_named_together_if_one_is_not_enough() -> None:
    _, said = advice({"classes.k": 10}, keep=("age", "zip"))
    assert said == "the goals for classes can be reached if age and zip may all be coarsened (now in --keep)"


def test_leaving_more_people_out_is_advised_where_it_helps() -> None:
    goals = {"classes.k": 2.0}
    said = advice(goals, keep=("age",), suppress=0.0)
    shares = [s for s in said if "--suppress" in s]
    assert len(shares) == 1
    share = int(shares[0].split("--suppress ")[1].rstrip("%)"))
    assert protected(goals, keep=("age",), suppress=share / 100).case is not None


def test_the_command_says_so_in_one_line_and_writes_nothing(
    tmp_path: Path, unveil: Callable[..., CompletedProcess[str]]
) -> None:
    pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
    roles = ("--identifier", "name", "--quasi", "age,sex,zip", "--sensitive", "illness")
    done = unveil("protect", "people.csv", *roles, "--goal", "classes.k=61", "-o", "safe.csv")
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if "classes.k" in line]
    assert said == ["unveil: classes.k must be at least 61, and is 60 even if no quasi-identifier is released"]
    assert not (tmp_path / "safe.csv").exists()
