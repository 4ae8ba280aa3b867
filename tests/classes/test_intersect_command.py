"""``unveil intersect``: two releases that are diverse alone but not together."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

Unveil = Callable[..., subprocess.CompletedProcess[str]]

FIRST = [("130**", "20-29", v) for v in ("flu", "gout", "hiv")] + [
    ("148**", "30-39", v) for v in ("flu", "cold", "gout")
]
SECOND = [("1305*", "2*", v) for v in ("hiv", "cold", "acne")] + [("148**", "3*", v) for v in ("cold", "flu", "acne")]


def written(path: Path, rows: list[tuple[str, ...]], header: str) -> Path:
    path.write_text(header + "\n" + "".join(",".join(r) + "\n" for r in rows))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    a = written(tmp_path / "a.csv", FIRST, "zip,age,ill")
    b = written(tmp_path / "b.csv", SECOND, "zip,age,ill")
    return a, b, written(tmp_path / "people.csv", [("13053", "28"), ("14850", "35")], "zip,age")


def test_two_diverse_releases_break_each_other(unveil: Unveil, files: tuple[Path, Path, Path]) -> None:
    """Each is 3-anonymous and 3-diverse, but both classes of a 28-year-old in 13053 share one value only."""
    for rows in (FIRST, SECOND):
        classes = Counter((z, a) for z, a, _ in rows)
        assert min(classes.values()) == 3
        assert min(len({v for z, a, v in rows if (z, a) == c}) for c in classes) == 3
    a, b, people = files
    done = unveil("intersect", a, b, "--quasi", "zip,age", "--sensitive", "ill", "--people", people, "--format", "json")
    assert done.returncode == 1
    told = next(f for f in json.loads(done.stdout)["findings"] if f["id"] == "classes.intersection")
    assert (told["value"], told["baseline"], told["subjects"]) == (0.5, 0, 2)
    assert told["status"] == "over"
    said = "is right for 75% of the people if all are equally likely, and for 75% if frequent values are likelier"
    assert said in told["sentence"]
    assert told["curves"][0]["y"] == [0.0, 0.5]
    assert "hiv" not in done.stdout


def test_without_people_the_first_release_is_looked_for(unveil: Unveil, files: tuple[Path, Path, Path]) -> None:
    a, b, _ = files
    done = unveil("intersect", a, b, "--quasi", "zip,age", "--sensitive", "ill", "--format", "json")
    told = next(f for f in json.loads(done.stdout)["findings"] if f["id"] == "classes.intersection")
    assert told["subjects"] == 6
    same = unveil("intersect", a, a, "--quasi", "zip,age", "--sensitive", "ill", "--format", "json")
    told = next(f for f in json.loads(same.stdout)["findings"] if f["id"] == "classes.intersection")
    assert (told["value"], told["status"]) == (0, "within")


def test_bad_calls_are_told(unveil: Unveil, files: tuple[Path, Path, Path]) -> None:
    a, b, people = files
    for args, complaint in (
        ((a, "--quasi", "zip", "--sensitive", "ill"), "two releases"),
        ((a, b, "--quasi", "zip"), "sensitive"),
        ((a, b, "--quasi", "zipp", "--sensitive", "ill"), "zipp"),
        ((a, people, "--quasi", "zip", "--sensitive", "ill"), "no column ill"),
        ((a, b, "--quasi", "zip", "--sensitive", "ill", "-o", a), "overwrite"),
    ):
        done = unveil("intersect", *args)
        assert done.returncode == 2, args
        assert complaint in done.stderr
        assert "defect" not in done.stderr
