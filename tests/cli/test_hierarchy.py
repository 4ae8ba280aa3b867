"""The hierarchy of a column, drawn, built and checked."""

from __future__ import annotations

import csv
import random
import stat
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

Unveil = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def people(tmp_path: Path) -> list[dict[str, str]]:
    draw = random.Random(1)
    rows = [
        {
            "age": str(draw.randrange(18, 90)),
            "zip": f"0{draw.randrange(100, 140)}",
            "job": draw.choice("aaaaaaaabbbbccd"),
        }
        for _ in range(400)
    ]
    with (tmp_path / "p.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["age", "zip", "job"])
        writer.writeheader()
        writer.writerows(rows)
    return rows


def test_the_tree_counts_rows(people: list[dict[str, str]], unveil: Unveil) -> None:
    done = unveil("hierarchy", "p.csv", "--column", "zip")
    assert done.returncode == 0, done.stderr
    head, *levels = done.stdout.splitlines()[:6]
    values = Counter(p["zip"] for p in people)
    assert head == f"zip: {len(values)} values, 4 levels above them"
    rarest, most = min(values.values()), max(values.values())
    rows = "row" if rarest == 1 else "rows"
    assert levels[0] == f"  level 0: {len(values)} labels, the rarest in {rarest} {rows}, the most frequent in {most}"
    tens = Counter(p["zip"][:3] for p in people)
    for prefix, many in tens.items():
        (line,) = [line for line in done.stdout.splitlines() if f" {prefix}*  " in line]
        assert float(line.split("  ")[-1].removesuffix("%")) == pytest.approx(100 * many / 400, abs=0.06)
    assert not any(p["zip"] in done.stdout for p in people), "no value is shown"
    revealed = unveil("hierarchy", "p.csv", "--column", "zip", "--reveal").stdout
    assert all(p["zip"] in revealed for p in people)


def test_quantiles_are_written_as_arx_reads_them(people: list[dict[str, str]], unveil: Unveil, tmp_path: Path) -> None:
    done = unveil("hierarchy", "p.csv", "--column", "age", "--rule", "quantiles:4,2", "-o", "age.csv")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "age.csv").open(newline="") as file:
        rows = {row[0]: row[1:] for row in csv.reader(file, delimiter=";")}
    assert set(rows) == {p["age"] for p in people} and {len(labels) for labels in rows.values()} == {3}
    for level, groups in ((0, 4), (1, 2)):
        sizes = Counter(rows[p["age"]][level] for p in people)
        assert len(sizes) == groups and max(sizes.values()) - min(sizes.values()) <= 40
    assert stat.S_IMODE((tmp_path / "age.csv").stat().st_mode) == 0o600
    again = unveil("hierarchy", "p.csv", "--column", "age", "--rule", "age.csv")
    assert again.stdout == done.stdout
    protected = ("--quasi", "age,zip", "--insensitive", "job", "--hierarchy", "age=age.csv", "-o", "safe.csv")
    assert unveil("protect", "p.csv", *protected).returncode in (0, 3)


def test_rare_values_together(people: list[dict[str, str]], unveil: Unveil) -> None:
    done = unveil("hierarchy", "p.csv", "--column", "job")
    assert done.returncode == 0, done.stderr
    drawn = done.stdout.splitlines()[-4:]
    assert not any(line.strip("├└─│ ").startswith(tuple("abcd")) and "a value" not in line for line in drawn)
    rare = sum(p["job"] in "cd" for p in people)
    (line,) = [line for line in drawn if "other" in line][:1]
    assert float(line.split("  ")[-1].removesuffix("%")) >= 100 * rare / 400 - 0.1
    wide = unveil("hierarchy", "p.csv", "--column", "age", "--rule", "cuts:30,65").stdout
    assert [line.split("  ")[0] for line in wide.splitlines()[-3:]] == ["├─ <30", "├─ 30–64", "└─ ≥65"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--column", "nobody"), "no column is called 'nobody'"),
        (("--column", "job", "--rule", "quantiles:4"), "400 rows have no number in 'job'"),
        (("--column", "age", "--rule", "quantiles:4,3"), "each a divisor of the one before"),
        (("--column", "age", "--rule", "cuts:x"), "is not a rule"),
        (("--column", "age", "--rule", "p.csv"), "p.csv"),
        (("--column", "age", "-o", "p.csv"), "p.csv"),
    ],
)
def test_what_cannot_be_built(
    people: list[dict[str, str]], unveil: Unveil, options: tuple[str, ...], said: str
) -> None:
    done = unveil("hierarchy", "p.csv", *options)
    assert done.returncode == 2 and said in done.stderr and done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1


def test_nested_lists_are_checked_and_drawn(people: list[dict[str, str]], unveil: Unveil, tmp_path: Path) -> None:
    (tmp_path / "jobs.json").write_text('{"frequent": ["a", "b"], "rare": ["c", "d"]}')
    done = unveil("hierarchy", "p.csv", "--column", "job", "--rule", "jobs.json", "-o", "jobs.csv")
    assert done.returncode == 0 and "frequent" in done.stdout, done.stderr
    assert (tmp_path / "jobs.csv").read_text() == "a;frequent;*\nb;frequent;*\nc;rare;*\nd;rare;*\n"
    (tmp_path / "jobs.json").write_text('[["a", "b"], ["c", "d"]]')
    bare = unveil("hierarchy", "p.csv", "--column", "job", "--rule", "jobs.json")
    assert "several values" in bare.stdout and "a or b" not in bare.stdout
    assert "a or b" in unveil("hierarchy", "p.csv", "--column", "job", "--rule", "jobs.json", "--reveal").stdout
    (tmp_path / "jobs.json").write_text('[["a", "b"], ["c"]]')
    lacking = unveil("hierarchy", "p.csv", "--column", "job", "--rule", "jobs.json")
    assert lacking.returncode == 2 and "a value in 'job' that jobs.json lacks" in lacking.stderr


def test_ends_are_coded(people: list[dict[str, str]], unveil: Unveil) -> None:
    done = unveil("hierarchy", "p.csv", "--column", "age", "--rule", "ends:25,80")
    assert done.returncode == 0, done.stderr
    share = sum(int(p["age"]) >= 80 for p in people) / 4
    (line,) = [line for line in done.stdout.splitlines() if "≥80" in line]
    assert float(line.split("  ")[-1].removesuffix("%")) == pytest.approx(share, abs=0.06)
    assert "<25" in done.stdout and "a value" in done.stdout
