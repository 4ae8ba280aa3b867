"""``unveil rules``: the smallest sets that imply a value, in sentences and as JSON."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

Unveil = Callable[..., CompletedProcess[str]]


def test_rules_are_sentences_with_most_rows_first(unveil: Unveil, tmp_path: Path) -> None:
    rows = ["miner,A,lung"] * 4 + ["miner,B,lung", "miner,C,flu", "clerk,A,flu", "cook,B,lung", "cook,C,"]
    (tmp_path / "work.csv").write_text("\n".join(["job,town,illness", *rows]) + "\n")
    found = unveil("rules", "work.csv", "--target", "illness=lung")
    assert found.returncode == 0
    assert found.stdout.splitlines() == [
        "6 of 9 rows have illness = lung.",
        "- All 4 rows with job = miner and town = A have illness = lung, 66.7% of all that do.",
        "- Both rows with town = B have illness = lung, 33.3% of all that do.",
        "- The one row with job = cook whose illness is not missing has illness = lung, 16.7% of all that do.",
    ]
    few = unveil("rules", "work.csv", "--target", "illness=lung", "--least-support", 3, "--facts-known", 1)
    assert few.stdout.splitlines()[1:] == ["No set of at most 1 of the values looked at implies it in at least 3 rows."]


def test_json_rules_are_those_of_all_sets(unveil: Unveil, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    columns = {name: rng.choice(list("xyz"), 40).tolist() for name in ("a", "b", "c", "d")}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    text = [",".join(columns), *(",".join(row.values()) for row in rows)]
    (tmp_path / "t.csv").write_text("\n".join(text) + "\n")
    said = json.loads(
        unveil("rules", "t.csv", "--target", "d=x", "--format", "json", "--columns", "a,b,c", "--header").stdout
    )
    implying: dict[frozenset[tuple[str, str]], int] = {}
    for size in range(4):
        for names in combinations("abc", size):
            for row in rows:
                known = frozenset((c, row[c]) for c in names)
                those = [other["d"] for other in rows if all(other[c] == v for c, v in known)]
                if set(those) == {"x"} and not any(other < known for other in implying):
                    implying[known] = len(those)
    found = {frozenset((k["column"], k["value"]) for k in rule["known"]): rule["support"] for rule in said["rules"]}
    assert found == implying
    assert [rule["support"] for rule in said["rules"]] == sorted(implying.values(), reverse=True)
    assert said["having"] == columns["d"].count("x")
    assert said["rows"] == 40


def test_items_follow_from_items(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "b.dat").write_text("bread milk\nbread milk butter\nmilk\nbutter\n")
    found = unveil("rules", "b.dat", "--target", "milk")
    assert found.stdout.splitlines() == [
        "3 of 4 baskets contain milk.",
        "- Both baskets with bread contain milk, 66.7% of all that do.",
    ]


def test_a_number_means_its_range(unveil: Unveil, tmp_path: Path) -> None:
    rows = [f"{age},{'young' if age < 30 else 'old'}" for age in range(20, 80)]
    (tmp_path / "ages.csv").write_text("\n".join(["age,group", *rows]) + "\n")
    found = unveil("rules", "ages.csv", "--target", "age=21")
    assert "age is cut into ranges" in found.stderr
    assert found.stdout.splitlines()[0] == "7 of 60 rows have age = 20 to 26."
    same = unveil("rules", "ages.csv", "--target", "age=20 to 26")
    assert same.stdout == found.stdout


def test_the_result_is_a_private_file(unveil: Unveil, patients: Path) -> None:
    made = unveil("rules", patients, "--target", "diagnosis=flu", "-o", "rules.txt")
    assert (made.returncode, made.stdout) == (0, "")
    path = patients.parent / "rules.txt"
    assert "3 of 6 rows have diagnosis = flu." in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_control_characters_in_values_are_not_printed(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("job,ill\n\x1b[31mred,yes\nblue,no\n")
    found = unveil("rules", "t.csv", "--target", "ill=yes")
    assert "\x1b" not in found.stdout
    assert "red" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--target", "diagnosis"], "--target: write COLUMN=VALUE"),
        (["--target", "diagnose=flu"], "no column is called 'diagnose'; did you mean 'diagnosis'?"),
        (["--target", "diagnosis=plague"], "'diagnosis' has no such value; write --target as the file does"),
        (["--target", "diagnosis=flu", "--columns", "agee"], "no column is called 'agee'"),
        (["--target", "diagnosis=flu", "-o", "patients.csv"], "would overwrite the input"),
    ],
)
def test_bad_targets_get_one_line(unveil: Unveil, patients: Path, arguments: list[str], said: str) -> None:
    found = unveil("rules", "patients.csv", *arguments)
    assert (found.returncode, found.stdout) == (2, "")
    assert said in found.stderr
    assert "CANARY" not in found.stderr


def test_graphs_have_no_rules(unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "g.edges").write_text("a b\nb c\n")
    found = unveil("rules", "g.edges", "--kind", "graph", "--target", "a")
    assert found.returncode == 2
    assert "was read as a graph, which has no attributes; give a table or transactions" in found.stderr
