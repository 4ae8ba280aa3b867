"""ARX's optimum on Adult, with its hierarchies. Recomputed with ARX; the data is not part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

import unveil
from unveil import Case, Policy
from unveil.classes.protections.class_protector import class_protector
from unveil.release.hierarchy import Hierarchy
from unveil.run import Run

QUASI = (
    *("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"),
    "salary-class",
)


@pytest.mark.parametrize(
    ("columns", "levels", "loss", "classes", "left_out", "nodes"),
    [
        (9, (0, 3, 0, 2, 2, 1, 1, 2, 0), 0.3137130, 222, 506, 12_960),
        (7, (0, 3, 0, 1, 2, 1, 1), 0.2259996, 233, 552, 2_160),
    ],
)
def test_the_optimum_of_arx(
    data: Path, columns: int, levels: tuple[int, ...], loss: float, classes: int, left_out: int, nodes: int
) -> None:
    folder, quasi = data / "tables" / "adult-hierarchies", QUASI[:columns]
    hierarchies = {c: Hierarchy.read(folder / f"adult_hierarchy_{c}.csv") for c in quasi}
    policy = Policy(quasi=(quasi,), missing=(), settings={"classes": {"suppress": 0.02}})
    case = Case(unveil.read(folder / "adult.csv"), hierarchies=hierarchies)
    search = class_protector(case, policy, Run()).full_domain(1.0)
    found = search.find_optimum(Run())
    assert (found.levels, found.nodes, found.is_proven) == (levels, nodes, True)
    assert found.loss == pytest.approx(loss, abs=1e-6)
    people, kept = search.combinations_on(levels), search.keep_people(levels)
    assert (int(kept.sum()), int(people.people[~kept].sum())) == (classes, left_out)
