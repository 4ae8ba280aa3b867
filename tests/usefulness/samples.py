"""Tables to protect, and what is measured of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import unveil
from unveil import Policy, ProtectedRelease, Table
from unveil.release.codes import Codes
from unveil.usefulness.use_measure import UseMeasure
from unveil.usefulness.value_groups import ComparedColumn, compare_column

NUMBERS = Policy(quasi=(("age", "height"),), insensitive=("income", "class"), tolerance={"classes.k": 10})


def numbers(n: int = 400) -> pa.Table:
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, n)
    noise = rng.normal(0, 5, (2, n))
    return pa.table(
        {
            "age": age,
            "height": (150 + noise[0] * 2).round().astype(int),
            "income": (100 * age + 20 * noise[1]).round().astype(int),
            "class": np.where(age + noise[0] > 40, "old", "young"),
        }
    )


def rows_of(release: object) -> list[dict[str, str | None]]:
    assert isinstance(release, Table)
    rows: list[dict[str, str | None]] = pa.Table.from_batches(release.batches()).to_pylist()
    return rows


def use_of(made: ProtectedRelease) -> dict[str, UseMeasure]:
    return {measure.id: measure for p in made.assessment.protections if p.chosen for measure in p.use}


def codes(name: str, texts: list[str]) -> Codes:
    table = unveil.read(pa.table({name: texts}))
    assert isinstance(table, Table)
    return table.codes([name])[name]


def compared(name: str, before: list[str], after: list[str]) -> ComparedColumn:
    found = compare_column(name, codes(name, before), codes(name, after), None)
    assert found is not None
    return found
