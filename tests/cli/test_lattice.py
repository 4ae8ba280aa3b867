"""``unveil lattice``: what rows have in common, in every form; values only if they are revealed."""

from __future__ import annotations

import json
import stat
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import networkx as nx
import pytest

import unveil as package
from unveil import Graph

Unveil = Callable[..., CompletedProcess[str]]


@pytest.fixture
def baskets(tmp_path: Path) -> Path:
    """Example 4.3 of the document: nine closed sets."""
    path = tmp_path / "baskets.dat"
    path.write_text("a b c d\na b c e\na b f g\nb c f g\n")
    return path


def test_sets_are_sentences_with_most_baskets_first(unveil: Unveil, baskets: Path) -> None:
    assert unveil("lattice", baskets, "--reveal").stdout.splitlines() == [
        "9 sets of items that some of 4 baskets have in common",
        "- All 4 baskets contain b.",
        "- 3 baskets contain a and b; knowing a is enough.",
        "- 3 baskets contain b and c; knowing c is enough.",
        "- 2 baskets contain a, b and c; knowing a and c is enough.",
        "- 2 baskets contain b, f and g; knowing f or g is enough.",
        "- 1 basket contains a, b, c and d; knowing d is enough.",
        "- 1 basket contains a, b, c and e; knowing e is enough.",
        "- 1 basket contains a, b, f and g; knowing a and f, or a and g is enough.",
        "- 1 basket contains b, c, f and g; knowing c and f, or c and g is enough.",
        "Betti numbers (pieces, holes, voids …): 1, 0, 0, 0",
    ]
    hidden = unveil("lattice", baskets).stdout
    assert "- All 4 baskets contain item 1." in hidden  # b, the most frequent
    assert "- 3 baskets contain item 2 and item 1; knowing item 2 is enough." in hidden


def test_json_and_graphml_have_the_same_sets(unveil: Unveil, baskets: Path) -> None:
    plain = json.loads(unveil("lattice", baskets, "--reveal", "--format", "json").stdout)
    assert (plain["rows"], plain["betti_numbers"], len(plain["sets"])) == (4, [1, 0, 0, 0], 9)
    unveil("lattice", baskets, "--reveal", "--format", "graphml", "-o", "lattice.graphml")
    path = baskets.parent / "lattice.graphml"
    graph = nx.read_graphml(path)
    covers = {(f"n{k}", f"n{below}") for k, one in enumerate(plain["sets"]) for below in one["covers"]}
    assert set(graph.edges) == covers
    for k, one in enumerate(plain["sets"]):
        assert graph.nodes[f"n{k}"]["people"] == one["people"]
    by_label = {data["label"]: data for _, data in graph.nodes(data=True)}
    assert by_label["b, f and g"]["follows_from"] == "f or g"
    ours = package.read(path)
    assert isinstance(ours, Graph)
    assert ours.size["nodes"] == 9


def test_a_picture_stands_alone(unveil: Unveil, baskets: Path) -> None:
    made = unveil("lattice", baskets, "--reveal", "--format", "svg", "-o", "lattice.svg")
    assert made.returncode == 0
    path = baskets.parent / "lattice.svg"
    root = ET.fromstring(path.read_text())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert {"a, b and c", "2 have b, f and g, from f; or g"} <= {e.text for e in root.iter() if e.tag.endswith("text")}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # values are revealed


@pytest.mark.parametrize("form", ["text", "json", "graphml", "svg"])
def test_values_are_numbers_unless_revealed(unveil: Unveil, patients: Path, form: str) -> None:
    asked = ("lattice", patients, "--columns", "age,sex,diagnosis", "--format", form)
    hidden, shown = unveil(*asked).stdout, unveil(*asked, "--reveal").stdout
    assert "diagnosis 1" in hidden
    assert not {"CANARY-SENSITIVE", "flu", "asthma", "34", "01234"} & set(hidden.replace(",", " ").split())
    assert "CANARY" not in hidden
    assert "diagnosis = CANARY-SENSITIVE" in shown


def test_a_missing_value_is_a_value_of_its_own(unveil: Unveil, patients: Path) -> None:
    said = unveil("lattice", patients, "--columns", "sex,diagnosis", "--missing", "?").stdout
    assert "- 1 row has sex 2 and no diagnosis; knowing no diagnosis is enough." in said


def test_too_many_sets_are_refused_with_a_remedy(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"x{k},y{k % 7}\n" for k in range(80)))
    found = unveil("lattice", "t.csv", "--format", "svg", "-o", "t.svg")
    assert found.returncode == 2
    assert "sets are too many for a picture of 60; name fewer columns" in found.stderr
    assert not (tmp_path / "t.svg").exists()
    (tmp_path / "wide.csv").write_text("a,b\n" + "".join(f"x{k},y{k % 7}\n" for k in range(6000)))
    found = unveil("lattice", "wide.csv")
    assert (found.returncode, found.stdout) == (2, "")
    assert "wide.csv: more than 5,000 closed sets; take fewer columns, items or rows" in found.stderr


def test_small_data_are_drawn_beside_the_score(unveil: Unveil, patients: Path) -> None:
    asked = ("assess", patients, "--quasi", "age,sex", "--sensitive", "diagnosis", "--identifier", "name,zip")
    missing = ("--missing", "none", "--only", "inference.score")
    found = json.loads(unveil(*asked, *missing, "--format", "json").stdout)
    (score,) = (f for f in found["findings"] if f["id"] == "inference.score")
    (drawn,) = (c for c in score["curves"] if c["kind"] == "lattice")
    assert ["age 1", "sex 1"] in drawn["sets"]
    page = unveil(*asked, *missing, "--format", "html").stdout
    assert "Which values belong together" in page
    assert "CANARY" not in page
