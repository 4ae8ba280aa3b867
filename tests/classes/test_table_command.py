"""``unveil assess`` for a table with every extra: population, hierarchies, missing and ruled-out values."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Unveil = Callable[..., subprocess.CompletedProcess[str]]

ROLES = ("--quasi", "age", "--sensitive", "ill", "--format", "json")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("age,ill\n" + "30-39,flu\n30-39,asthma\n*,ulcer\n" * 3)
    (tmp_path / "people.csv").write_text("age\n" + "".join(f"{age}\n" for age in range(20, 60)))
    (tmp_path / "ill.csv").write_text("flu;lungs;*\nasthma;lungs;*\nulcer;stomach;*\n")
    return tmp_path / "t.csv"


def told(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    assert done.returncode in (0, 1, 3), done.stderr
    return {f["id"]: f for f in json.loads(done.stdout)["findings"]}


def test_a_population_in_a_file_or_by_number(unveil: Unveil, table: Path) -> None:
    found = told(unveil("assess", table, *ROLES, "--population", table.with_name("people.csv")))
    assert found["classes.k_map"]["value"] == 10  # ten people in their thirties; * fits all forty
    assert found["classes.presence"]["method"] == "estimate"  # people in their thirties fit * as well
    for size in (("--population-size", "1000"), ("--sampling-fraction", "1%")):
        found = told(unveil("assess", table, *ROLES, *size))
        assert found["classes.population_uniques"]["method"] == "bound"
        assert found["classes.k_map"]["method"] == "estimate"


def test_hierarchies_and_ruled_out_values(unveil: Unveil, table: Path) -> None:
    asked = ("--hierarchy", "ill=ill.csv", "--ruled-out", "ill=asthma", "--ruled-out", "ill=gout")
    found = told(unveil("assess", table, *ROLES, *asked))
    assert "values in their hierarchy" in found["classes.t"]["sentence"]
    assert "rule out the 2 listed values (1 found in the column)" in found["classes.l_distinct"]["sentence"]
    assert found["classes.homogeneity"]["curves"][0]["y"] == pytest.approx([1 / 3, 1.0])


@pytest.mark.parametrize(("reading", "k"), [("value", 3), ("wildcard", 9), ("excluded", 6)])
def test_three_readings_of_missing_values(unveil: Unveil, table: Path, reading: str, k: int) -> None:
    assert told(unveil("assess", table, *ROLES, "--missing-as", reading))["classes.k"]["value"] == k


def test_the_strict_reading_decides_when_asked(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,ill,job\n" + "30,flu,a\n30,gout,b\n" * 5)
    roles = ("--quasi", "age", "--sensitive", "ill,job", "--format", "json")
    assert unveil("assess", "t.csv", *roles).returncode == 0
    assert unveil("assess", "t.csv", *roles, "--others-known").returncode == 1


def test_hierarchies_read_labels_of_several_releases(unveil: Unveil, tmp_path: Path) -> None:
    """Only the hierarchy says that a nurse is care staff."""
    (tmp_path / "a.csv").write_text("job,ill\ncare,flu\ncare,gout\noffice,cold\noffice,acne\n")
    (tmp_path / "b.csv").write_text("job,ill\n*,flu\n*,hiv\n")
    (tmp_path / "people.csv").write_text("job\nnurse\nclerk\n")
    (tmp_path / "job.csv").write_text("nurse;care;*\nclerk;office;*\n")
    asked = ("intersect", "a.csv", "b.csv", "--quasi", "job", "--sensitive", "ill", "--people", "people.csv")
    found = told(unveil(*asked, "--hierarchy", "job=job.csv", "--format", "json"))["classes.intersection"]
    assert found["value"] == 0.5  # the nurse has the flu; the clerk is not in both
    without = told(unveil(*asked, "--format", "json"))["classes.intersection"]
    assert "2 labels match none of the known values" in without["sentence"]


def test_bad_calls_are_told(unveil: Unveil, table: Path) -> None:
    (table.parent / "g.edges").write_text("1 2\n2 3\n")
    (table.parent / "p.toml").write_text('[hierarchy]\nill = "ill.csv"\n')
    for args, complaint in (
        (("t.csv", "--hierarchy", "prefixes"), "does not say for which column"),
        (("t.csv", "--hierarchy", "ill=people.csv"), "people.csv"),
        (("t.csv", "--hierarchy", "ill=intervals:5"), "have no number in"),
        (("t.csv", "--hierarchy", "ill=ill.csv", "-o", "ill.csv"), "overwrite"),
        (("t.csv", "--policy", "p.toml", "-o", "ill.csv"), "overwrite"),
        (("t.csv", "--population-size", str(10**300)), "classes.population_size must be a whole number from 1 to"),
        (("t.csv", "--population", "people.csv", "--report", "people.csv"), "overwrite"),
        (("t.csv", "--population", "nobody.csv"), "nobody.csv"),
        (("t.csv", "--population-size", "2"), "cannot have a sample"),
        (
            ("t.csv", "--population", "1000"),
            "takes a file; write --population-size NUMBER or --sampling-fraction NUMBER",
        ),
        (("t.csv", "--items-known", "2"), "--items-known is now --known"),
        (("t.csv", "--strict"), "--strict is now --others-known"),
        (("t.csv", "--known-pairs", "2"), "for baskets"),
        (("g.edges", "--population", "people.csv"), "for tables"),
        (("g.edges", "--population-size", "1000"), "for tables"),
    ):
        roles = ROLES if args[0] == "t.csv" else ()
        done = unveil("assess", *args, *roles)
        assert done.returncode == 2, args
        assert complaint in done.stderr, args
        assert "defect" not in done.stderr
