"""Published and recomputed values for the first questions, on public data (skipped, with the reason, without it)."""

from __future__ import annotations

from pathlib import Path

import pytest

import unveil
from unveil import Policy
from unveil.classes.table_classes import classes_with_values, count_class_sizes

SIX = ("age", "education", "occupation", "relationship", "sex", "native-country")


def test_adult_as_pycanon_counts_it(data: Path) -> None:
    """QI of pycanon's documentation: 15,093 classes, k = 1, 10,154 unique rows."""
    adult = unveil.read(data / "tables" / "adult.csv", strip=True)
    crowds = count_class_sizes(adult, SIX)
    assert (crowds.total, crowds.smallest_size, crowds.count_below(2), round(crowds.expected_reidentifications)) == (
        32_561,
        1,
        10_154,
        15_093,
    )


@pytest.mark.parametrize(("quasi", "k"), [(("sex", "race"), 109), (("sex",), 10_771)])
def test_adult_small_sets(data: Path, quasi: tuple[str, ...], k: int) -> None:
    assert count_class_sizes(unveil.read(data / "tables" / "adult.csv"), quasi).smallest_size == k


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


ADULT = [
    (SIX, "salary-class", 1, 1, 1.0, 0.7591904425539756),
    (("sex", "race"), "salary-class", 109, 2, 1.2375240, 0.1857637),
    (("sex", "race"), "education", 109, 13, 6.4696839, 0.2238619),
    (("sex",), "occupation", 10_771, 14, 8.8004418, 0.2381513),
    (("sex", "race"), "education-num", 109, 13, 6.4696839, 0.0861024506),
    (("sex",), "age", 10_771, 72, 50.0550294, 0.0239594529),
]


@pytest.mark.parametrize(("quasi", "sensitive", "k", "distinct", "entropy", "t"), ADULT)
def test_adult_gives_away(
    data: Path, quasi: tuple[str, ...], sensitive: str, k: int, distinct: int, entropy: float, t: float
) -> None:
    """ℓ, entropy ℓ and t of Adult, ``?`` being a value like any other; numbers by the ordered distance."""
    adult = unveil.read(data / "tables" / "adult.csv", strip=True)
    found = unveil.assess(adult, Policy(quasi=(quasi,), sensitive=(sensitive,), missing=()))
    assert (found["classes.k"].value, found["classes.l_distinct"].value) == (k, distinct)
    assert found["classes.l_entropy"].value == pytest.approx(entropy, rel=1e-7)
    assert found["classes.t"].value == pytest.approx(t, rel=1e-6)


@pytest.mark.parametrize(
    ("quasi", "sensitive", "beta", "alpha"),
    [
        (("sex", "race"), "salary-class", 0.3962043, 0.9449541),
        (("sex", "race"), "education", 6.8821109, 0.4322917),
        (("sex",), "occupation", 1.8607147, 0.2355399),
    ],
)
def test_adult_beta_and_alpha(data: Path, quasi: tuple[str, ...], sensitive: str, beta: float, alpha: float) -> None:
    adult = unveil.read(data / "tables" / "adult.csv", strip=True)
    assert isinstance(adult, unveil.Table)
    (found,) = classes_with_values(adult, quasi, (sensitive,)).values
    classes = found.classes
    assert classes.beta.max() == pytest.approx(beta, rel=1e-6)
    assert classes.alpha.max() == pytest.approx(alpha, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "groups", "items", "transactions"),
    [("chess", 73, 75, 3_196), ("mushroom", 89, 119, 8_124), ("retail", 583, 16_470, 88_162)],
)
def test_frequency_groups(data: Path, name: str, groups: int, items: int, transactions: int) -> None:
    """Groups over items, the expected share cracked by someone who knows every frequency."""
    baskets = unveil.read(data / "transactions" / f"{name}.dat")
    assert baskets.baskets == transactions
    assert unveil.assess(baskets, only="items.point_knowledge")["items.point_knowledge"].value == pytest.approx(
        groups / items
    )


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
