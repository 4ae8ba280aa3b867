"""``unveil intersect``: two releases that are diverse alone but not together."""

from __future__ import annotations

import datetime
import itertools
import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import unveil as library
from unveil import Case, Policy
from unveil.classes.intersection import ReleaseView, intersect_releases, possible_values

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
    assert (told["value"], told["baseline"], told["subjects"]) == (0.5, None, 2)
    assert told["status"] == "over"
    said = "Where values are left (2 people), the likeliest by the most telling release, or by all of them together, is"
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


def test_breaches_that_the_own_row_refutes_were_counted(tmp_path: Path) -> None:
    """Rows of the first file have their true values at hand: a value that is left and is not theirs is no breach."""
    rng = random.Random(11)
    for trial in range(40):
        files = []
        for name in ("a", "b", "c")[: rng.randrange(2, 4)]:
            rows = [(rng.randrange(3), rng.randrange(2), rng.choice(["x", "y", "z", ""])) for _ in range(12)]
            path = tmp_path / f"{name}{trial}.csv"
            path.write_text("zip,age,ill\n" + "".join(f"{z},{a},{v}\n" for z, a, v in rows))
            files.append((path, rows))
        (path, own), *others = files
        policy = Policy(quasi=(("zip",), ("zip", "age")), sensitive=("ill",))
        holds = {f"earlier {k}": library.read(p) for k, (p, _) in enumerate(others, 1)}
        found = library.assess(Case(library.read(path), holds=holds), policy, only="classes.intersection")
        for width, columns in ((1, ("zip",)), (2, ("zip", "age"))):
            revealed = misled = 0
            for row in own:
                shown = [{r[2] for r in rows if r[:width] == row[:width]} - {""} for _, rows in files]
                left = set.intersection(*filter(None, shown)) if any(shown) else set()
                revealed += len(left) == 1 and (not row[2] or row[2] in left)
                misled += len(left) == 1 and bool(row[2]) and row[2] not in left
            f = found.find("classes.intersection", known=columns)
            assert (f.value, f.subjects) == (pytest.approx(revealed / 12), 12)
            assert f.title.endswith(f", knowing {' and '.join(columns)}")
            assert f.curves[0].y[-1] == f.value
            assert ("the value left is wrong" in f.sentence) == bool(misled)
            if any(row[2] != "" for row in own):
                assert f"For {revealed} of 12 rows" in f.sentence
            assert f"For {misled}, the value left is wrong" in f.sentence or not misled


def test_every_set_of_quasi_identifiers_attacks(unveil: Unveil, tmp_path: Path) -> None:
    """Only the first set was tried: two releases that zip and age break together were within tolerance."""
    (tmp_path / "e.csv").write_text("zip,age,diag\n1,1,flu\n1,1,cold\n1,2,flu\n1,2,cold\n")
    (tmp_path / "f.csv").write_text("zip,age,diag\n1,1,flu\n1,1,hiv\n1,2,cold\n1,2,gout\n")
    asked = ("intersect", "e.csv", "f.csv", "--quasi", "zip", "--sensitive", "diag", "--tolerance", "classes.k=2")
    assert unveil(*asked, "--insensitive", "age").returncode == 0
    done = unveil(*asked, "--quasi", "zip,age")
    assert done.returncode == 1
    assert "Values of diag known from 2 releases together, knowing zip and age" in " ".join(done.stdout.split())
    refused = unveil(*asked, "--subject", "age")
    assert refused.returncode == 2 and "leave out subject" in refused.stderr


def test_the_values_left_could_not_be_had(unveil: Unveil, files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """--matches writes S for every person, to a file that only its owner may read."""
    a, b, people = files
    left = tmp_path / "left.csv"
    done = unveil(
        "intersect", a, b, "--quasi", "zip,age", "--sensitive", "ill", "--people", people, "--matches", left
    )  # fmt: skip
    assert done.returncode == 1 and "for your eyes only" in done.stderr
    assert left.stat().st_mode & 0o777 == 0o600
    header, first, second = left.read_text().splitlines()
    assert header == '"person","known","column","values_left","values","values_in_release_1","values_in_release_2"'
    assert first == '1,"zip age","ill",1,"hiv",3,3'
    assert second == '2,"zip age","ill",2,"cold | flu",3,3'
    assert unveil("intersect", a, b, "--quasi", "zip,age", "--sensitive", "ill", "--matches", "x.txt").returncode == 2


def test_values_left_are_those_of_the_definition() -> None:
    rng = random.Random(3)
    views, brute = [], []
    for _ in range(3):
        classes = [rng.randrange(4) for _ in range(30)] + [0, 1, 2, 3]
        values = [rng.randrange(-1, 5) for _ in classes]
        members = [rng.randrange(-1, 4) for _ in range(50)]
        views.append(ReleaseView.from_known_classes(classes, values, members))
        shown = [{v for c, v in zip(classes, values, strict=True) if c == k and v >= 0} for k in range(4)]
        brute.append([shown[m] if m >= 0 else set() for m in members])
    expected = [
        tuple(sorted(set.intersection(*said))) if (said := [s for s in sets if s]) else ()
        for sets in zip(*brute, strict=True)
    ]
    found = possible_values(views)
    assert found == expected
    counted = intersect_releases(views).together[-1]
    assert [len(s) for s in found] == [max(0, int(n)) for n in counted]


def test_the_classes_of_the_other_files_were_not_looked_at(unveil: Unveil, tmp_path: Path) -> None:
    """The second file has a class of one row."""
    rows = [("1", str(20 + i // 6), v) for i, v in enumerate("abcdef" * 2)]
    a = written(tmp_path / "a.csv", rows, "zip,age,ill")
    b = written(tmp_path / "b.csv", [*rows, ("2", "99", "a")], "zip,age,ill")
    said = ("--quasi", "zip,age", "--sensitive", "ill", "--format", "json")
    done = json.loads(unveil("intersect", a, b, *said).stdout)
    assert done["verdict"]["decision"] == "your call"
    small = "In b.csv alone, the smallest class for someone who knows zip and age has 1 row"
    assert f"{small}; classes.k must be at least 5." in done["verdict"]["reasons"]
    (found,) = (f for f in done["findings"] if f["question"] == "classes")
    assert "Taken one by one, the releases have smallest classes of 6 rows and 1 row." in found["sentence"]
    assert json.loads(unveil("intersect", a, a, *said).stdout)["verdict"]["decision"] == "release"


def test_the_headline_was_about_the_first_file_alone(unveil: Unveil, tmp_path: Path) -> None:
    rows = [("1", str(20 + i // 6), v) for i, v in enumerate("abcdef" * 2)]
    for name in ("a.csv", "b.csv", "c.csv"):
        written(tmp_path / name, rows, "zip,age,ill")
    done = unveil("intersect", "a.csv", "b.csv", "c.csv", "--quasi", "zip,age", "--sensitive", "ill")
    assert done.stdout.startswith("a.csv, b.csv and c.csv together: Within tolerance against these attackers")
    assert "Publish exactly this file" not in done.stdout
    assert "Not all questions were asked" in done.stdout


def test_a_column_guessed_sensitive_that_a_later_file_lacks_stops_nothing(unveil: Unveil, tmp_path: Path) -> None:
    """It was looked up in all files although only the first was asked what it has."""
    first = [(*row, str(1000 + 10 * k)) for k, row in enumerate(FIRST)]
    a = written(tmp_path / "a.csv", first, "zip,age,ill,income")
    b = written(tmp_path / "b.csv", SECOND, "zip,age,ill")
    for sensitive in ("ill", "ill,income"):
        done = unveil("intersect", a, b, "--quasi", "zip,age", "--sensitive", sensitive, "--format", "json")
        assert done.returncode == 3, done.stderr
        told = json.loads(done.stdout)
        assert [f["column"] for f in told["findings"] if f["question"] == "classes"] == ["ill"]
        assert "b.csv has no column income, so the releases were not combined for it." in told["doubts"]
    swapped = unveil("intersect", b, a, "--quasi", "zip,age", "--sensitive", "ill", "--format", "json")
    assert "income" not in swapped.stdout


def test_a_file_without_what_all_must_have_is_named(unveil: Unveil, tmp_path: Path) -> None:
    a = written(tmp_path / "a.csv", FIRST, "zip,age,ill")
    for kept, lacking in (((0, 2), "age"), ((0, 1), "ill"), ((0,), "age and ill")):
        rows = [tuple(row[c] for c in kept) for row in SECOND]
        b = written(tmp_path / "b.csv", rows, ",".join(("zip", "age", "ill")[c] for c in kept))
        done = unveil("intersect", a, a, b, "--quasi", "zip,age", "--sensitive", "ill")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"unveil: b.csv: there is no column {lacking}; check the header\n"


def test_files_may_differ_in_the_types_of_their_columns() -> None:
    """Equal texts are equal values; other values fit no release together, which the sentence says."""
    columns: dict[str, list[object]] = {
        "whole": [1, 2, 1, 3],
        "number": [1.0, 2.0, 1.0, 3.0],
        "text": ["1", "2", "1", "3"],
        "day": [datetime.date(2020, 1, day) for day in (1, 2, 1, 3)],
        "flag": [True, False, False, True],
        "nothing": [None] * 4,
    }
    policy, only = Policy(quasi=(("zip",),), sensitive=("ill",)), "classes.intersection"
    for first, second in itertools.permutations(columns, 2):
        tables = [pa.table({"zip": [1, 1, 2, 2], "ill": columns[name]}) for name in (first, second)]
        f = library.assess(Case(tables[0], holds={"earlier 1": tables[1]}), policy, only=only).findings[0]
        assert f.value == 0
        is_equal = {first, second} <= {"whole", "number", "text"} or "nothing" in (first, second)
        assert ("written differently" in f.sentence) != is_equal
        same = [pa.table({"zip": columns[name], "ill": ["a", "b", "c", "d"]}) for name in (first, second)]
        found = library.assess(Case(same[0], holds={"earlier 1": same[1]}), policy, only=only).findings[0]
        assert found.value is not None
