"""What a release tells before and after k-anonymity, which can make it worse: the comparison says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow as pa
import pytest

import unveil as package
from unveil import Policy, compare
from unveil.assessment import Assessment

Unveil = Callable[..., CompletedProcess[str]]

# The counterexample to theorem 5.3 as a table: of town a or b, the two people with c cannot be told from those with d,
# until exactly their towns are made coarser.
BEFORE = ["a,c", "b,c", "a,d", "a,d", "b,d", "b,d"]
AFTER = ["a or b,c", "a or b,c", "a,d", "a,d", "b,d", "b,d"]


def assess(rows: list[str]) -> Assessment:
    town, ill = zip(*(row.split(",") for row in rows), strict=True)
    policy = Policy(quasi=(("town",),), sensitive=("ill",), tolerance={"classes.k": 2})
    table = pa.table({"town": list(town), "ill": list(ill)})
    return package.assess(table, policy, only=["classes.k", "inference"])


def test_k_anonymity_raises_what_is_learned_and_the_comparison_says_so() -> None:
    before, after = assess(BEFORE), assess(AFTER)
    assert after["classes.k"].value == 2
    found = {c.finding.id: c for c in compare(before, after).findings}
    for risk, was, became in (
        ("inference.certain", 0, 1),  # a and b are certain afterwards as well
        ("inference.learned", 0, 1 / 3),
        ("inference.score", 0, (2 * (1 - 1 / 3) / (2 - 1 / 3) + 4 * (1 - 2 / 3) / (2 - 2 / 3)) / 6),
    ):
        one = found[risk]
        assert one.before is not None and one.after is not None
        assert (one.before.value, one.after.value) == (was, pytest.approx(became)), risk
        assert one.change == "worse"
    assert {c.change for c in compare(after, before).findings if c.finding.id.startswith("inference")} >= {"better"}


def test_two_files_are_compared_on_the_command_line(unveil: Unveil, tmp_path: Path) -> None:
    for name, rows in (("before", BEFORE), ("after", AFTER)):
        (tmp_path / f"{name}.csv").write_text("\n".join(["town,ill", *rows]) + "\n")
        asked = (
            "--quasi",
            "town",
            "--sensitive",
            "ill",
            "--tolerance",
            "classes.k=2",
            "--only",
            "inference",
            "--exit-zero",
        )
        made = unveil("assess", f"{name}.csv", *asked, "--format", "json", "-o", f"{name}.json")
        assert made.returncode == 0, made.stderr
    found = json.loads(unveil("compare", "before.json", "after.json", "--format", "json", "--exit-zero").stdout)
    changes = {one["id"]: one["change"] for one in found["findings"]}
    assert {changes[f"inference.{name}"] for name in ("learned", "certain", "score")} == {"worse"}
