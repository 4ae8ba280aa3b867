"""The levels that lose least, against trying everything."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_generalisation as naive
from unveil import Case, Policy
from unveil.classes.protections.class_protector import class_protector
from unveil.classes.protections.lattice_search import CheckedNode, search_lattice
from unveil.release.hierarchy import Hierarchy
from unveil.run import Run

AGES = {str(a): [str(a), f"{a // 10 * 10}s", "young" if a < 40 else "old", "*"] for a in (21, 25, 33, 38, 44, 47, 61)}
ZIPS = {z: [z, f"{z[0]}*", "*"] for z in ("11", "12", "13", "21", "22")}
SEXES = {s: [s, "*"] for s in ("f", "m")}
LABELS = (AGES, ZIPS, SEXES)
NAMES = ("age", "zip", "sex")

SETTINGS: dict[str, tuple[dict[str, float], list[naive.Goal], float | None]] = {
    "k = 2": ({"classes.k": 2}, [lambda c, t: len(c) >= 2], None),
    "k = 4": ({"classes.k": 4}, [lambda c, t: len(c) >= 4], None),
    "distinct ℓ = 2": (
        {"classes.k": 2, "classes.l_distinct": 2},
        [lambda c, t: len(c) >= 2, lambda c, t: len(set(c)) >= 2],
        None,
    ),
    "distinct ℓ = 3": ({"classes.k": 1, "classes.l_distinct": 3}, [lambda c, t: len(set(c)) >= 3], None),
    "entropy ℓ = 1.8": (
        {"classes.k": 1, "classes.l_entropy": 1.8},
        [lambda c, t: naive.entropy_l(c) >= 1.8 - 1e-12],
        None,
    ),
    "recursive (3, 2)": (
        {"classes.k": 1, "classes.l_distinct": 2, "classes.recursive_c": 3},
        [lambda c, t: len(set(c)) >= 2, lambda c, t: naive.recursive_c(c, 2) <= 3 + 1e-12],
        None,
    ),
    "t = .3": ({"classes.k": 2, "classes.t": 0.3}, [lambda c, t: len(c) >= 2,
        lambda c, t: naive.t_distance(c, t) <= 0.3 + 1e-12], None),
    "α = .6": (
        {"classes.k": 1, "classes.alpha": 0.6},
        [lambda c, t: max(map(c.count, c)) / len(c) <= 0.6 + 1e-12],
        None,
    ),
    "average risk .3": ({"classes.k": 1, "classes.reidentification": 0.3}, [], 0.3),
    "average risk .25, k = 3": (
        {"classes.k": 3, "classes.reidentification": 0.25},
        [lambda c, t: len(c) >= 3],
        0.25,
    ),
}  # fmt: skip

small_tables = st.lists(
    st.tuples(*(st.sampled_from(sorted(own)) for own in LABELS), st.sampled_from("abc")), min_size=4, max_size=18
)


def policy(tolerance: dict[str, float | None], suppress: float = 0.2, **more: object) -> Policy:
    off = {} if "classes.l_distinct" in tolerance else {"classes.l_distinct": None}
    return Policy(
        quasi=(NAMES,),
        sensitive=("diagnosis",),
        tolerance={**off, **tolerance},
        settings={"classes": {"suppress": suppress, **more}},
    )


def case(rows: list[tuple[str, str, str, str]]) -> Case:
    columns = dict(zip((*NAMES, "diagnosis"), map(list, zip(*rows, strict=True)), strict=True))
    hierarchies = {n: Hierarchy.from_rows(own.values()) for n, own in zip(NAMES, LABELS, strict=True)}
    return Case(unveil.read(pa.table(columns)), hierarchies=hierarchies)


@pytest.mark.parametrize("setting", SETTINGS)
@settings(max_examples=25, deadline=None)
@given(small_tables, st.sampled_from([0.0, 0.1, 0.3]))
def test_nothing_loses_less(setting: str, rows: list[tuple[str, str, str, str]], suppress: float) -> None:
    """For every kind of goal, alone or with others, the optimum has the loss of the best of all levels, and says that
    this is proven."""
    tolerance, goals, risk = SETTINGS[setting]
    search = class_protector(case(rows), policy(tolerance, suppress), Run()).full_domain(1.0)
    found = search.find_optimum(Run())
    wanted, levels = naive.best_levels(
        [row[:3] for row in rows], [row[3] for row in rows], LABELS, goals, int(suppress * len(rows)), risk
    )
    assert found.is_proven and found.nodes <= math.prod(
        len(own["*" if "*" in own else next(iter(own))]) for own in LABELS
    )
    assert found.loss == pytest.approx(wanted, abs=1e-9)
    assert (found.levels is None) == (not levels)


def test_entropy_does_not_last() -> None:
    """Classes (1, 1) and (8, 0) at ℓ = 1.8 leave out 8 people; merged, (9, 1), they leave out 10. So a level that is
    not fine says nothing about the levels below it."""
    rows = [("21", "11", "f", "a"), ("21", "11", "f", "b"), *([("25", "11", "f", "a")] * 8)]
    goals = {"classes.k": 1, "classes.l_entropy": 1.8}
    found = class_protector(case(rows), policy(goals, suppress=0.8), Run()).full_domain(1.0).find_optimum(Run())
    assert found.levels == (0, 0, 0)
    stricter = class_protector(case(rows), policy(goals, suppress=0.7), Run()).full_domain(1.0).find_optimum(Run())
    assert stricter.levels is None and stricter.is_proven


@pytest.mark.parametrize("measure", ["loss", "entropy", "discernibility", "classes"])
def test_bounds_hold_for_every_measure(measure: str) -> None:
    """No level loses less than the bound of any level below it, and the search finds the least of all."""
    rng = np.random.default_rng(3)
    rows = [(*(str(rng.choice(sorted(own))) for own in LABELS), str(rng.choice(list("abc")))) for _ in range(40)]
    asked = policy({"classes.k": 3}, suppress=0.2, loss=measure)
    search = class_protector(case(rows), asked, Run()).full_domain(1.0)
    heights = [column.height for column in search.columns]
    nodes = {levels: search._check(levels) for levels in np.ndindex(*(h + 1 for h in heights))}
    for levels, node in nodes.items():
        for below, lower in nodes.items():
            if all(a <= b for a, b in zip(below, levels, strict=True)):
                assert node.loss >= max(lower.bound, search.loss.bound(below)) - 1e-12
    assert search.find_optimum(Run()).loss == pytest.approx(min(node.loss for node in nodes.values()))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_search_against_all_nodes(heights: list[int], rng: object) -> None:
    """Random lattices in which losses are anything above their bounds and hopeless nodes form a down-set."""
    choose: Callable[[], float] = rng.random  # type: ignore[attr-defined]
    steps = [[0.0, *(choose() for _ in range(h))] for h in heights]
    bound = {
        node: sum(sum(s[: x + 1]) for s, x in zip(steps, node, strict=True))
        for node in np.ndindex(*(h + 1 for h in heights))
    }
    tops = [tuple(int(choose() * (h + 1)) for h in heights) for _ in range(2)]
    hopeless = {n: any(all(a <= b for a, b in zip(n, top, strict=True)) for top in tops) for n in bound}
    loss = {n: math.inf if hopeless[n] or choose() < 0.2 else b + choose() for n, b in bound.items()}
    found = search_lattice(heights, bound.__getitem__, lambda n: CheckedNode(loss[n], hopeless[n]), Run(), 10_000)
    assert found.loss == min(loss.values()) and found.is_proven
    assert found.levels is None or loss[found.levels] == found.loss
    few = search_lattice(heights, bound.__getitem__, lambda n: CheckedNode(loss[n], hopeless[n]), Run(), 1)
    assert few.bound <= min(loss.values()), "what is said of nodes that were not looked at holds"


def test_columns_to_keep_stay() -> None:
    rng = np.random.default_rng(5)
    rows = [(*(str(rng.choice(sorted(own))) for own in LABELS), str(rng.choice(list("abc")))) for _ in range(80)]
    made = class_protector(case(rows), policy({"classes.k": 4}, keep=["age"]), Run()).full_domain(1.0)
    found = made.find_optimum(Run())
    assert found.levels is not None and found.levels[0] == 0
    weighed = class_protector(case(rows), policy({"classes.k": 4}, importance={"age": "9"}), Run()).full_domain(1.0)
    plain = class_protector(case(rows), policy({"classes.k": 4}), Run()).full_domain(1.0)
    assert weighed.find_optimum(Run()).levels[0] <= plain.find_optimum(Run()).levels[0]  # type: ignore[index]
