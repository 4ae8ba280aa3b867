"""How close protected numbers stay to the original ones, against pairs compared one by one."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import Case, Policy
from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.release.interval_disclosure import measure_intervals


def test_shares_of_rows_pairs_and_ranks_are_those_counted_one_by_one() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        x = [float(rng.randrange(12)) for _ in range(rng.randint(2, 25))]
        y = [v + rng.choice([0, 0, 0.1, 1, -3]) for v in x]
        found = measure_intervals(np.array(x), np.array(y), [0.05, 0.5])
        if len(set(x)) == 1:
            assert found is None
            continue
        assert found is not None
        for width, own, pairs in zip(found.widths, found.own, found.any_row, strict=True):
            far = width * statistics.pstdev(x) + 1e-9
            assert own == pytest.approx(sum(abs(a - b) <= far for a, b in zip(x, y, strict=True)) / len(x))
            assert pairs == pytest.approx(sum(abs(a - b) <= far for a in x for b in y) / len(x) ** 2)

        def rank(v: float, x: list[float] = x) -> float:
            return (sum(a < v for a in x) + sum(a <= v for a in x)) / 2

        moved = sum(abs(rank(a) - rank(b)) <= 0.05 * len(x) for a, b in zip(x, y, strict=True))
        assert found.by_rank == pytest.approx(moved / len(x))


def table(**columns: list[str | None]) -> unveil.Table:
    found = unveil.read(pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}))
    assert isinstance(found, unveil.Table)
    return found


ORIGINAL = table(age=["1"] * 6, pay=["10", "20", "30", "40", None, "60"], size=["1", "2", "3", "4", "5", "6"])
RELEASED = table(age=["1"] * 6, pay=["10", "29", "30", "49", "50", None], size=["1", "2", "3", "4", "5", "6"])


def findings(case: Case) -> list[Finding]:
    policy = Policy(quasi=("age",), sensitive=("pay",), insensitive=("size",))
    return list(unveil.assess(case, policy, only="release.interval_disclosure").findings)


def test_only_changed_numbers_are_compared_and_rows_without_both_are_left_out() -> None:
    (f,) = findings(Case(RELEASED, ORIGINAL))
    assert (f.column, f.value, f.subjects, f.method) == ("pay", 0.5, 4, "exact")
    assert "Rows are compared in their order" in f.sentence


def test_the_truth_says_which_row_became_which() -> None:
    turned = table(age=["1"] * 5, pay=["60", "50", "49", "30", "29"], size=["6", "5", "4", "3", "2"])
    (f,) = findings(Case(turned, ORIGINAL, truth=np.array([-1, 4, 3, 2, 1, 0])))
    assert (f.value, f.subjects) == (0.5, 4)
    assert "in their order" not in f.sentence


def test_tables_of_different_length_are_refused_without_the_truth() -> None:
    with pytest.raises(UnveilError, match="must be in the same order"):
        findings(Case(table(age=["1"], pay=["10"], size=["1"]), ORIGINAL))


def test_labels_and_unchanged_numbers_have_no_finding() -> None:
    labels = table(age=["1"] * 6, pay=["10-20"] * 6, size=["1", "2", "3", "4", "5", "6"])
    assert findings(Case(labels, ORIGINAL)) == []


def test_the_command_line_reads_the_original_of_a_table(
    unveil: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "before.csv").write_text("age,pay\n" + "".join(f"{i % 2},{i}\n" for i in range(20)))
    (tmp_path / "after.csv").write_text("age,pay\n" + "".join(f"{i % 2},{i + i % 2}\n" for i in range(20)))
    roles = ("--quasi", "age", "--sensitive", "pay", "--format", "json")
    done = unveil("assess", tmp_path / "after.csv", *roles, "--original", tmp_path / "before.csv")
    found = {f["id"]: f for f in json.loads(done.stdout)["findings"]}
    assert found["release.interval_disclosure"]["value"] == 0.5


def test_shuffled_rows_were_compared_with_the_wrong_originals() -> None:
    before = pa.table({"income": [10, 20, 30, 40], "sex": ["f", "f", "m", "m"]})
    after = pa.table({"income": [41, 11, 31, 21], "sex": ["m", "f", "m", "f"]})
    case = Case(unveil.read(after), unveil.read(before))
    with pytest.raises(UnveilError, match="its rows are not in the order of"):
        unveil.assess(case, only="release")
    moved = replace(case, truth=np.array([1, 3, 2, 0]))
    assert unveil.assess(moved, only="release")["release.interval_disclosure"].subjects == 4
