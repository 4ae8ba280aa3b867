"""Cells to hide: against trying everything, and the goals on what is released."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from classes.class_checks import check_classes
from classes.test_full_domain import SETTINGS, case, policy, small_tables
from classes.test_protect import patients, released_rows
from reference.naive_cells import fewest_hidden_cells
from unveil import Case, Policy
from unveil.classes.protect import PROTECTIONS
from unveil.protection import Protection
from unveil.run import Run

Run_ = Callable[..., object]


def hide(table: pa.Table, k: int, **settings: object) -> Protection | None:
    asked = Policy(quasi=(tuple(table.column_names),), tolerance={"classes.k": k}, settings={"classes": settings})
    return PROTECTIONS["cells"].fit(Case(unveil.read(table)), asked, Run(), 1.0)


def cells_and_bound(made: Protection) -> tuple[int, int]:
    found = re.search(
        r"([\d,]+) cells? (?:is|are) hidden; classes of .* need at least ([\d,]+) hidden cells?\.", made.sentence
    )
    assert found is not None
    return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


tiny_tables = st.one_of(
    st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from("xyz")), min_size=2, max_size=6),
    st.lists(st.tuples(*[st.sampled_from("ab")] * 3), min_size=2, max_size=5),
)


@settings(max_examples=150, deadline=None)
@given(tiny_tables, st.integers(2, 3))
def test_the_bound_holds_and_the_cells_suffice(rows: list[tuple[str | None, ...]], k: int) -> None:
    """The bound is never above the fewest cells of all, which are never more than the cells that are hidden."""
    table = pa.table({f"c{c}": pa.array([row[c] for row in rows], pa.string()) for c in range(len(rows[0]))})
    made, fewest = hide(table, k), fewest_hidden_cells(rows, k)
    if made is None:
        everything = sum(value is not None for row in rows for value in row)
        assert fewest is None or fewest <= everything  # all columns would be gone
        return
    cells, bound = cells_and_bound(made)
    assert fewest is not None and bound <= fewest <= cells
    found = released_rows(made.apply().release)
    assert len(found) == len(rows) and min(Counter(tuple(row.values()) for row in found).values()) >= k
    for row, new in zip(rows, found, strict=True):
        assert all(value in (None, row[int(name[1:])]) for name, value in new.items())


def test_few_more_cells_than_needed() -> None:
    """On random tiny tables, the cells hidden are at most a quarter more than the fewest in all."""
    rng, hidden, fewest = np.random.default_rng(6), 0, 0
    for _ in range(60):
        rows = [tuple(str(x) for x in rng.integers(0, 3, 2)) for _ in range(7)]
        made = hide(pa.table({"a": [r[0] for r in rows], "b": [r[1] for r in rows]}), 2)
        if made is not None:
            hidden += cells_and_bound(made)[0]
            fewest += fewest_hidden_cells(rows, 2) or 0
    assert fewest <= hidden <= 1.25 * fewest


def test_one_who_stands_apart_costs_k_cells() -> None:
    """99 alike and one with another value: four of the 99 hide theirs too, and nothing else changes."""
    made = hide(pa.table({"sex": ["f"] * 100, "zip": ["1"] * 99 + ["2"]}), 5)
    assert made is not None and cells_and_bound(made)[0] == 5
    found = Counter((row["sex"], row["zip"]) for row in released_rows(made.apply().release))
    assert found == {("f", "1"): 95, ("f", None): 5}


@pytest.mark.parametrize("setting", SETTINGS)
@settings(max_examples=20, deadline=None)
@given(small_tables)
def test_every_class_is_fine(setting: str, rows: list[tuple[str, str, str, str]]) -> None:
    made = PROTECTIONS["cells"].fit(case(rows), policy(SETTINGS[setting][0]), Run(), 1.0)
    check_classes(made, setting, rows, lambda column, label, value: label in (None, value))


def test_columns_that_matter_more_are_hidden_less() -> None:
    rng = np.random.default_rng(2)
    table = pa.table({"a": rng.integers(0, 12, 200), "b": rng.integers(0, 12, 200)})
    hidden = {}
    for important in ("a", "b"):
        made = hide(table, 4, importance={important: "5"})
        assert made is not None
        release = made.apply().release
        hidden[important] = {c: sum(row.get(c) is None for row in released_rows(release)) for c in "ab"}
    assert hidden["a"]["a"] < hidden["b"]["a"] and hidden["b"]["b"] < hidden["a"]["b"]


def test_columns_to_keep_keep_their_values_and_all_keep_their_types() -> None:
    rng = np.random.default_rng(2)
    table = pa.table({"age": rng.integers(20, 30, 300), "size": rng.integers(0, 9, 300) / 4, "sex": ["f", "m"] * 150})
    made = hide(table, 4, keep=["sex"])
    assert made is not None
    release = pa.Table.from_batches(made.apply().release.batches())  # type: ignore[union-attr]
    assert release.schema.types == table.schema.types and release.column("sex") == table.column("sex")
    assert min(Counter(tuple(row.values()) for row in release.to_pylist()).values()) >= 4


@pytest.mark.parametrize("reading", ["value", "wildcard", "excluded"])
def test_the_assessment_agrees_however_it_reads_missing_values(reading: str) -> None:
    quasi = ("age", "sex")
    table = patients().select([*quasi, "diagnosis"])
    asked = Policy(quasi=(quasi,), insensitive=("diagnosis",), missing_as=reading, tolerance={"classes.k": 3})
    made = unveil.protect(table, asked, method="cells")
    assert made.case is not None
    found = made.assessment["classes.k"]
    assert found.value is not None and found.value >= 3
    classes = Counter((row["age"], row["sex"]) for row in released_rows(made.release))
    assert min(classes.values()) >= 3


def test_more_people_than_there_are_cannot_be_alike() -> None:
    assert hide(pa.table({"a": ["x"] * 5, "b": list("vwxyz")}), 6) is None


def test_the_command_hides_cells(tmp_path: Path, unveil: Run_) -> None:
    lines = ["age,sex,note", *(f"{20 + k % 12},{'fm'[k % 2]},n{k}" for k in range(100)), "99,f,x"]
    (tmp_path / "p.csv").write_text("\n".join(lines))
    options = ("--quasi", "age,sex", "--insensitive", "note", "--goal", "classes.k=3", "--method", "cells")
    done = unveil("protect", "p.csv", *options, "-o", "safe.csv")
    assert done.returncode in (0, 3), done.stderr  # type: ignore[attr-defined]
    with (tmp_path / "safe.csv").open(newline="") as file:
        rows = [tuple(row[:2]) for row in csv.reader(file)][1:]
    assert len(rows) == 101 and min(Counter(rows).values()) >= 3 and ("", "f") in rows
