"""Protecting a table until every row looks like enough people of a population (k-map)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from classes.test_full_domain import LABELS, NAMES, case
from reference import naive_generalisation as naive
from unveil import Case, Policy, Table
from unveil.classes.protections.class_protector import class_protector
from unveil.classes.settings import ClassesSettings
from unveil.run import Run

Person = tuple[str, str, str]
people = st.tuples(*(st.sampled_from(sorted(own)) for own in LABELS))


def with_population(rows: list[Person], others: list[Person]) -> Case:
    found = case([(*row, "a") for row in rows])
    held = pa.table(dict(zip(NAMES, map(list, zip(*rows, *others, strict=True)), strict=True)))
    return replace(found, holds={"population": unveil.read(held)})


def goal(k_map: int, suppress: float) -> Policy:
    return Policy(
        quasi=(NAMES,),
        sensitive=("diagnosis",),
        tolerance={"classes.k": 1, "classes.k_map": k_map, "classes.l_distinct": None},
        settings={"classes": ClassesSettings(suppress=suppress)},
    )


def labels_of(person: Person, levels: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(own[x][level] for own, x, level in zip(LABELS, person, levels, strict=True))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(people, min_size=3, max_size=12),
    st.lists(people, min_size=1, max_size=40),
    st.integers(2, 6),
    st.sampled_from([0.0, 0.3]),
)
def test_nothing_that_looks_like_enough_people_loses_less(
    rows: list[Person], others: list[Person], k_map: int, suppress: float
) -> None:
    search = class_protector(with_population(rows, others), goal(k_map, suppress), Run()).full_domain(1.0)
    found = search.find_optimum(Run())
    best = math.inf
    for levels in product(*(range(len(next(iter(own.values())))) for own in LABELS)):
        many = Counter(labels_of(p, levels) for p in (*rows, *others))
        kept = [i for i, row in enumerate(rows) if many[labels_of(row, levels)] >= k_map]
        if len(rows) - len(kept) <= int(suppress * len(rows)):
            best = min(best, naive.loss(rows, LABELS, levels, kept))
    assert found.is_proven
    assert found.loss == pytest.approx(best, abs=1e-9)


def test_every_released_row_looks_like_enough_people() -> None:
    rng = np.random.default_rng(4)
    everybody = [
        (str(rng.integers(20, 80)), str(rng.choice(["f", "m"])), str(rng.integers(100, 130))) for _ in range(900)
    ]
    names = ("age", "sex", "zip")
    sample, all_ = (
        pa.table(dict(zip(names, zip(*some, strict=True), strict=True))) for some in (everybody[:90], everybody)
    )
    policy = Policy(quasi=(names,), tolerance={"classes.k": 1, "classes.k_map": 10, "classes.uniques": None})
    attacked = Case(unveil.read(sample), holds={"population": unveil.read(all_)})
    made = unveil.protect(attacked, policy, method="levels")
    assert isinstance(made.release, Table)
    found = made.assessment["classes.k_map"]
    released = pa.Table.from_batches(made.release.batches()).to_pylist()
    fewest = min(
        sum(all(covers(row.get(c, "*"), p[i]) for i, c in enumerate(names)) for p in everybody) for row in released
    )
    assert found.value == fewest >= 10
    stricter = unveil.protect(attacked.release, replace(policy, tolerance={"classes.k": 10}), method="levels")
    levels, alike = (p.assessment.protections[-1].usefulness for p in (made, stricter))
    assert levels is not None and alike is not None and levels > alike  # a population hides more than a sample


def covers(label: str, value: str) -> bool:
    low, dash, high = label.partition("–")
    if dash:
        return int(low) <= int(value) <= int(high)
    head = label.rstrip("*")
    return value.startswith(head) and len(value) == len(label) if label != "*" else True


def test_a_random_sample_needs_classes_that_plausibly_come_from_enough_people() -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"age": rng.integers(20, 80, 300), "zip": [str(z) for z in rng.integers(100, 130, 300)]})
    policy = Policy(
        quasi=(("age", "zip"),),
        tolerance={"classes.k": 1, "classes.k_map": 12, "classes.uniques": None},
        settings={"classes": ClassesSettings(sampling_fraction=0.01)},
    )
    made = unveil.protect(table, policy, method="levels")
    assert made.assessment["classes.k"].value == 3  # two rows plausibly come from 11 people, three from 60
    assert (made.assessment["classes.k_map"].value or 0) >= 12
