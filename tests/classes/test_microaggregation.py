"""Means of similar people: MDAV against its plain form, and the promise on what is released."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from classes.test_protect import released_rows
from reference.naive_microaggregation import mdav_groups
from unveil import Case, Policy, UnveilError
from unveil.classes.protect import PROTECTIONS
from unveil.classes.protections.microaggregation import group_neighbours
from unveil.protection import Protection
from unveil.run import Run

Run_ = Callable[..., object]

small_points = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(0, 6).map(float)] * d), min_size=1, max_size=40)
)


@settings(max_examples=100, deadline=None)
@given(small_points, st.integers(1, 6))
def test_groups_are_those_of_the_plain_form(points: list[tuple[float, ...]], k: int) -> None:
    """With many equal distances: the first of equals is taken, in both."""
    found = group_neighbours(np.array(points), k, Run())
    if len(points) < k:
        assert found is None
        return
    assert found is not None
    groups = {frozenset(np.flatnonzero(found == g).tolist()) for g in range(int(found.max()) + 1)}
    assert groups == set(map(frozenset, mdav_groups(points, k)))
    assert all(k <= len(group) < 2 * k for group in groups)


def average(table: pa.Table, k: int, quasi: tuple[str, ...], **settings: object) -> Protection | None:
    asked = Policy(quasi=(quasi,), tolerance={"classes.k": k}, settings={"classes": settings})
    return PROTECTIONS["microaggregation"].fit(Case(unveil.read(table)), asked, Run(), 1.0)


def people(n: int = 200) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "age": pa.array(rng.integers(18, 90, n), pa.int16()),
            "size": rng.normal(170, 10, n).round(1),
            "income": [None if k % 20 == 0 else str(x) for k, x in enumerate(rng.integers(0, 5000, n))],
            "sex": ["f", "m"] * (n // 2),
        }
    )


def test_numbers_become_means_of_their_groups_and_keep_their_types() -> None:
    table, quasi = people(), ("age", "size", "income", "sex")
    made = average(table, 5, quasi)
    assert made is not None
    release = pa.Table.from_batches(made.apply().release.batches())  # type: ignore[union-attr]
    assert release.schema.types == table.schema.types and release.column("sex") == table.column("sex")
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, row in enumerate(release.to_pylist()):
        groups.setdefault(tuple(row.values()), []).append(i)
    assert min(map(len, groups.values())) >= 5
    lost = total = 0.0
    for name, digits in (("age", 0), ("size", 1), ("income", 0)):
        old, new = ([None if x is None else float(x) for x in t.column(name).to_pylist()] for t in (table, release))
        assert [x is None for x in old] == [x is None for x in new]
        there = [(a, b) for a, b in zip(old, new, strict=True) if a is not None and b is not None]
        variance = float(np.var([a for a, _ in there]))
        lost += sum((a - b) ** 2 for a, b in there) / variance
        total += len(there)
        for members in groups.values():
            own = [old[i] for i in members if old[i] is not None]
            if own and max(len(m) for m in groups.values()) < 10:  # no two groups were merged by rounding
                assert new[members[0]] == pytest.approx(round(sum(own) / len(own), digits), abs=0.51 / 10**digits)
    assert f"Averaging loses {100 * lost / total:.1f}% of the variance" in made.sentence


def test_columns_that_are_no_numbers_stay_and_may_make_it_impossible() -> None:
    table = people().append_column("name", pa.array([f"n{k}" for k in range(200)]))
    assert average(table, 5, ("age", "name")) is None
    assert average(people(), 5, ("age", "size"), keep=["age"]) is None
    assert average(people(), 201, ("age", "size")) is None


def test_numbers_are_needed() -> None:
    table = pa.table({"sex": ["f", "m"] * 20, "job": list("abcd") * 10})
    with pytest.raises(UnveilError, match="no protection for such data is called 'microaggregation'"):
        unveil.protect(table, Policy(quasi=(("sex", "job"),)), method="microaggregation")


def test_the_assessment_agrees() -> None:
    asked = Policy(quasi=(("age", "size", "sex"),), insensitive=("income",), tolerance={"classes.k": 4})
    made = unveil.protect(people(), asked, method="microaggregation")
    assert made.case is not None and len(made.caveats) == 1
    found = made.assessment["classes.k"]
    assert found.value is not None and found.value >= 4
    rows = Counter((row["age"], row["size"], row["sex"]) for row in released_rows(made.release))
    assert min(rows.values()) >= 4 and sum(rows.values()) == 200


def test_goals_about_values_are_not_broken() -> None:
    """Groups take no notice of sensitive values, so that nothing is offered where a group has only one."""
    table = pa.table({"age": list(range(40)), "diagnosis": ["a"] * 20 + ["b"] * 20})
    asked = Policy(quasi=(("age",),), sensitive=("diagnosis",), tolerance={"classes.k": 4, "classes.l_distinct": 2})
    assert PROTECTIONS["microaggregation"].fit(Case(unveil.read(table)), asked, Run(), 1.0) is None


def test_the_command_averages(tmp_path: Path, unveil: Run_) -> None:
    lines = ["age,size,note", *(f"{20 + 7 * k % 60},{150 + 11 * k % 43}.5,n{k}" for k in range(120))]
    (tmp_path / "p.csv").write_text("\n".join(lines))
    options = ("--quasi", "age,size", "--insensitive", "note", "--goal", "classes.k=4", "--method", "microaggregation")
    done = unveil("protect", "p.csv", *options, "-o", "safe.csv")
    assert done.returncode in (0, 3), done.stderr  # type: ignore[attr-defined]
    with (tmp_path / "safe.csv").open(newline="") as file:
        rows = [tuple(row[:2]) for row in csv.reader(file)][1:]
    assert len(rows) == 120 and min(Counter(rows).values()) >= 4
    assert all(age.isdigit() and float(size) for age, size in rows)
