"""Hierarchies that a policy names: files, rules, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import unveil
from unveil import Policy, UnveilError
from unveil.release.policy_hierarchies import load_hierarchies

ILLNESS = "flu;lungs;*\nasthma;lungs;*\nulcer;stomach;*\ngastritis;stomach;*\n"


@pytest.fixture
def table(tmp_path: Path) -> unveil.Table:
    rows = ["30,1234,1987-06-05,flu", "34,1299,1987-06-09,asthma", "41,5555,1990-01-01,ulcer", "?,5556,?,flu"]
    (tmp_path / "t.csv").write_text("age,zip,born,ill\n" + "\n".join(rows) + "\n")
    (tmp_path / "ill.csv").write_text(ILLNESS)
    found = unveil.read(tmp_path / "t.csv")
    assert isinstance(found, unveil.Table)
    return found


def test_rules_are_applied_to_the_columns_values(table: unveil.Table) -> None:
    said = {"age": "intervals:10,20", "zip": "prefixes:2", "born": "dates"}
    made = load_hierarchies(said, [table], Policy(missing=("?",)))
    assert list(made["age"].rows()) == [
        ("30", "30–39", "20–39", "*"),
        ("34", "30–39", "20–39", "*"),
        ("41", "40–49", "40–59", "*"),
    ]
    assert made["zip"].labels(1).to_pylist() == ["12**", "55**"]
    assert made["born"].height == 5


def test_t_and_similarity_use_the_hierarchy(table: unveil.Table, tmp_path: Path) -> None:
    """By hand: the first class holds flu and asthma, both of the lungs; the second ulcer and flu."""
    (tmp_path / "t.csv").write_text("age,ill\n30,flu\n30,asthma\n40,ulcer\n40,flu\n")
    policy = Policy(quasi=("age",), sensitive=("ill",), hierarchy={"ill": str(tmp_path / "ill.csv")})
    found = unveil.assess(unveil.read(tmp_path / "t.csv"), policy)
    assert found["classes.l_distinct"].value == 2
    assert found["classes.homogeneity"].value == 0
    (similar,) = found["classes.homogeneity"].curves
    assert similar.x == ("value", "level 1")
    assert similar.y == (0.0, 0.5)
    # p = ½ flu, ½ asthma against q = ½ flu, ¼ asthma, ¼ ulcer: a quarter moves from ulcer to asthma over the root
    assert found["classes.t"].value == pytest.approx(0.25)
    assert "hierarchy" in found["classes.t"].sentence


def test_a_policy_file_names_files_beside_it(table: unveil.Table, tmp_path: Path) -> None:
    (tmp_path / "unveil.toml").write_text(
        '[columns]\nquasi = ["age"]\nsensitive = ["ill"]\n[hierarchy]\nill = "ill.csv"\nzip = "prefixes"\n'
    )
    policy = Policy.from_toml(tmp_path / "unveil.toml")
    assert policy.hierarchy == {"ill": str(tmp_path / "ill.csv"), "zip": "prefixes"}
    assert "hierarchy" in unveil.assess(table, policy)["classes.t"].sentence


def test_the_row_with_a_value_that_is_not_covered_is_named(table: unveil.Table, tmp_path: Path) -> None:
    (tmp_path / "ill.csv").write_text("flu;lungs;*\nulcer;stomach;*\n")
    policy = Policy(quasi=("age",), sensitive=("ill",), hierarchy={"ill": str(tmp_path / "ill.csv")})
    with pytest.raises(
        UnveilError, match=r"t\.csv: row 2 has a value in 'ill' that ill\.csv lacks; add the missing values"
    ):
        unveil.assess(table, policy)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"height": "prefixes"}, "no such column"),
        ({"ill": "intervals:5"}, "t.csv: 4 rows have no number in 'ill', the first of them row 1; use another rule"),
        ({"zip": "dates"}, "t.csv: 4 rows have no date in 'zip', the first of them row 1; write dates like 1987-06-05"),
        ({"ill": "nowhere.csv"}, "nowhere.csv"),
    ],
)
def test_what_cannot_be_made_is_refused(table: unveil.Table, said: dict[str, str], says: str) -> None:
    with pytest.raises(UnveilError, match=says):
        unveil.assess(table, Policy(quasi=("age",), sensitive=("ill",), hierarchy=said))


def test_rules_are_checked_when_the_policy_is_made() -> None:
    with pytest.raises(UnveilError, match="is not a rule"):
        Policy(hierarchy={"age": "intervals:ten"})
    with pytest.raises(UnveilError, match="file name or a rule"):
        Policy(hierarchy={"age": ""})
    assert dataclasses.replace(Policy(), hierarchy={"age": "dates"}).to_dict()["hierarchy"] == {"age": "dates"}


def test_a_graph_has_no_columns_to_have_hierarchies(tmp_path: Path) -> None:
    (tmp_path / "g.edges").write_text("1 2\n2 3\n3 1\n")
    with pytest.raises(UnveilError, match="no columns"):
        unveil.assess(unveil.read(tmp_path / "g.edges"), Policy(hierarchy={"age": "dates"}))
