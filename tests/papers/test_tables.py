"""Published and recomputed values for the first questions, on public data (skipped, with the reason, without it)."""

from __future__ import annotations

from pathlib import Path

import pytest

import unveil
from unveil import Policy
from unveil.classes.sizes import class_sizes

SIX = ("age", "education", "occupation", "relationship", "sex", "native-country")


def test_adult_as_pycanon_counts_it(data: Path) -> None:
    """QI of pycanon's documentation: 15,093 classes, k = 1, 10,154 unique rows."""
    adult = unveil.read(data / "tables" / "adult.csv", strip=True)
    crowds = class_sizes(adult, SIX)
    assert (crowds.total, crowds.smallest, crowds.below(2), round(crowds.found)) == (32_561, 1, 10_154, 15_093)


@pytest.mark.parametrize(("quasi", "k"), [(("sex", "race"), 109), (("sex",), 10_771)])
def test_adult_small_sets(data: Path, quasi: tuple[str, ...], k: int) -> None:
    assert class_sizes(unveil.read(data / "tables" / "adult.csv"), quasi).smallest == k


@pytest.mark.parametrize(
    ("quasi", "classes", "unique", "average", "below_5"),
    [
        (None, 19_502, 0.5142895, 0.6465752, 0.7781314),
        (("sex", "age", "race", "marital-status"), 1_690, 0.0180028, 0.0560308, 0.0604734),
    ],
)
def test_adult_as_arx_counts_it(
    data: Path, quasi: tuple[str, ...] | None, classes: int, unique: float, average: float, below_5: float
) -> None:
    """ARX's risk figures for its own copy of Adult."""
    adult = unveil.read(data / "tables" / "adult-hierarchies" / "adult.csv")
    found = unveil.assess(adult, Policy(quasi=(quasi or adult.columns,)))
    assert found["classes.reidentification"].value * adult.rows == pytest.approx(classes)
    assert found["classes.uniques"].value == pytest.approx(unique, abs=1e-7)
    assert found["classes.reidentification"].value == pytest.approx(average, abs=1e-7)
    assert found["classes.at_risk"].value == pytest.approx(below_5, abs=1e-7)


@pytest.mark.parametrize(
    ("name", "groups", "items", "transactions"),
    [("chess", 73, 75, 3_196), ("mushroom", 89, 119, 8_124), ("retail", 583, 16_470, 88_162)],
)
def test_frequency_groups(data: Path, name: str, groups: int, items: int, transactions: int) -> None:
    """Groups over items, the expected share cracked by someone who knows every frequency."""
    baskets = unveil.read(data / "transactions" / f"{name}.dat")
    assert baskets.baskets == transactions
    assert unveil.assess(baskets)["items.point_knowledge"].value == pytest.approx(groups / items)


@pytest.mark.parametrize(
    ("file", "nodes", "edges"),
    [
        ("Caltech36.edges.gz", 769, 16_656),
        ("Bowdoin47.edges.gz", 2_252, 84_387),
        ("power.gml", 4_941, 6_594),
        ("ca-GrQc.txt", 5_242, 14_484),
    ],
)
def test_graphs_have_their_published_size(data: Path, file: str, nodes: int, edges: int) -> None:
    """ca-GrQc: 5,242 nodes of which one has no edge but a loop; the others as published."""
    graph = unveil.read(data / "graphs" / file)
    assert (graph.nodes, graph.edges) == (nodes, edges)
