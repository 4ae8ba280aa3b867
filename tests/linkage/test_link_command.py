"""``unveil link``: a file of known people against a release."""

from __future__ import annotations

import csv
import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from reference.naive_link import one_to_one
from unveil import Case, Policy, assess, read

Unveil = Callable[..., subprocess.CompletedProcess[str]]


def written(path: Path, header: str, rows: list[tuple[object, ...]]) -> Path:
    path.write_text(header + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    return path


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode in (0, 1, 3), done.stderr
    return next(f for f in json.loads(done.stdout)["findings"] if f["id"] == "linkage.matched")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Sixty people, whose births are known give or take ten days; the release has their rows in another order."""
    rng = random.Random(3)
    people = [(rng.choice("fm"), 1000 + rng.randrange(40), f"19{60 + i % 40}-{i % 12 + 1:02}-15") for i in range(60)]
    order = rng.sample(range(60), 60)
    near = [(*people[i][:2], people[i][2][:8] + f"{rng.randrange(6, 25):02}") for i in range(60)]
    release = written(tmp_path / "release.csv", "sex,zip,birth,ill", [(*people[i], rng.choice("ab")) for i in order])
    known = written(tmp_path / "known.csv", "name,sex,zip,birth", [(f"CANARY{i}", *near[i]) for i in range(60)])
    links = written(tmp_path / "links.csv", "known,row", [(i + 1, order.index(i) + 1) for i in range(60)])
    return release, known, links


def test_people_are_linked_within_a_tolerance(unveil: Unveil, files: tuple[Path, Path, Path]) -> None:
    release, known, links = files
    asked = ("link", release, "--people", known, "--quasi", "sex,zip,birth", "--sensitive", "ill", "--format", "json")
    found = told(unveil(*asked, "--compare", "birth=10d", "--true-links", links))
    assert found["value"] == 1
    assert (found["method"], found["subjects"]) == ("exact", 60)
    assert "precision 1.0000, recall 1.0000" in found["sentence"]
    exactly = told(unveil(*asked, "--true-links", links))
    assert exactly["value"] < 0.9  # nearly all births differ
    expected = told(unveil(*asked, "--compare", "birth=10d"))
    assert expected["method"] == "estimate"
    assert expected["value"] > 0.9
    assert not expected["decides"]


def test_a_graph_is_no_table_of_people(unveil: Unveil, files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    asked = ("link", files[0], "--people")
    (tmp_path / "net.gml").write_text("graph [ node [ id 1 ] ]")
    assert "net.gml: this format holds a graph, not a table" in unveil(*asked, "net.gml").stderr


def test_links_belong_to_the_release_that_was_read(tmp_path: Path) -> None:
    """The same file read in two ways is two releases."""
    path = written(tmp_path / "release.csv", "a,b", [(f"{i} ", i % 3) for i in range(40)])
    known = read(written(tmp_path / "known.csv", "a,b", [(i, i % 3) for i in range(40)]))
    found = [
        assess(Case(read(path, strip=strip), holds=MappingProxyType({"people": known})), Policy(quasi=(("a", "b"),)))
        for strip in (False, True)
    ]
    one, two = (f["linkage.matched"].value for f in found)
    assert one is not None and two is not None and one < 0.1 and two > 0.9


def test_those_who_fit_are_placed_whoever_does_not(unveil: Unveil, tmp_path: Path) -> None:
    """Ann and Bob fit two rows, and Cy none."""
    written(tmp_path / "release.csv", "age,sex", [(30, "f"), (30, "f"), (50, "m")])
    written(tmp_path / "known.csv", "age,sex", [(30, "f"), (30, "f"), (70, "m")])
    found = told(unveil("link", "release.csv", "--people", "known.csv", "--quasi", "age,sex", "--format", "json"))
    said = (
        "about the 2 who fit a row is right, no two people share a row and all ways to assign them are equally likely, "
    )
    assert f"{said}the likeliest row is right for 1" in found["sentence"]
    assert "2% of the known values are wrong (by default)." in found["sentence"]


def test_a_tolerance_of_nothing_is_refused(unveil: Unveil, files: tuple[Path, Path, Path]) -> None:
    done = unveil("link", files[0], "--people", files[1], "--tolerance", ".1")
    assert done.returncode == 2 and "for what? Write" in done.stderr


def test_options_that_say_nothing_of_tables_are_not_offered(unveil: Unveil) -> None:
    everything = unveil("assess", "--help").stdout
    for command in ("link", "intersect"):
        said = unveil(command, "--help").stdout
        for option in ("--frequency-precision", "--known-pairs", "--kind", "--directed"):
            assert option in everything and option not in said


def test_a_tolerance_of_a_finding_decides(unveil: Unveil, files: tuple[Path, Path, Path]) -> None:
    release, known, links = files
    asked = ("--quasi", "sex,zip,birth", "--compare", "birth=10d", "--tolerance", "linkage.matched=.5")
    found = told(unveil("link", release, "--people", known, "--true-links", links, *asked, "--format", "json"))
    assert (found["status"], found["decides"]) == ("over", True)


def test_john_mary_and_bob_among_exact_values(unveil: Unveil, tmp_path: Path) -> None:
    """What is known of Mary is a range, and it forces all three."""
    rows = [("Chinese", "Toyota", 41), ("Chinese", "Ford", 33), ("Indian", "Toyota", 52)]
    written(tmp_path / "release.csv", "origin,car,age", rows)
    written(tmp_path / "known.csv", "origin,car,age", [("Chinese", "Toyota", ""), ("", "", "30-35"), ("", "", "")])
    asked = ("link", "release.csv", "--people", "known.csv", "--quasi", "origin,car,age")
    found = told(unveil(*asked, "--matches", "matches.csv", "--format", "json"))
    assert "the likeliest row is right for 3 of them" in found["sentence"]
    with (tmp_path / "matches.csv").open() as file:
        made = list(csv.DictReader(file))
    assert [(m["candidates"], m["row_if_one_to_one"], float(m["probability_if_one_to_one"])) for m in made] == [
        ("1", "1", 1.0),
        ("1", "2", 1.0),
        ("3", "3", 1.0),
    ]


def test_john_mary_and_bob(unveil: Unveil, tmp_path: Path) -> None:
    """Lakshmanan, Ng and Ramesh 2008, §8.1: what is known leaves several rows open; labels are read as written."""
    rows = [
        ("Chinese", "Toyota", "30-35"),
        ("Chinese", "Toyota", "40-45"),
        ("Polish", "Ford", "30-35"),
        ("?", "?", "?"),
    ]
    known = [("Chinese", "Toyota", "?"), ("?", "?", "32"), ("?", "?", "?")]
    written(tmp_path / "release.csv", "origin,car,age", rows)
    written(tmp_path / "known.csv", "origin,car,age", known)
    found = told(unveil("link", "release.csv", "--people", "known.csv", "--format", "json"))
    assert found["subjects"] == 3
    assert "Everybody fits more than one row." in found["sentence"]


def test_names_are_in_no_output(unveil: Unveil, files: tuple[Path, Path, Path]) -> None:
    release, known, links = files
    for form in ("text", "json", "html"):
        done = unveil(
            "link", release, "--people", known, "--quasi", "sex,zip,birth", "--true-links", links, "--format", form
        )
        assert "CANARY" not in done.stdout + done.stderr


def test_bad_calls_are_told(unveil: Unveil, files: tuple[Path, Path, Path]) -> None:
    release, known, links = files
    written(release.parent / "twice.csv", "known,row", [(1, 1), (1, 2)])
    written(release.parent / "far.csv", "known,row", [(1, 99)])
    for args, complaint in (
        (("--quasi", "sex,age"), "no column is called 'age'"),
        (("--quasi", "ill"), "no column is called 'ill'"),
        (("--compare", "birth=soon"), "cannot be 'soon'"),
        (("--compare", "sex=2"), "not all values are numbers"),
        (("--compare", "age=2"), "no column is called 'age'"),
        (("--true-links", known), "columns known and row"),
        (("--true-links", "twice.csv"), "twice"),
        (("--true-links", "far.csv"), "which has 60 rows"),
        (("-o", known), "overwrite"),
        (("--report", links, "--true-links", links), "overwrite"),
    ):
        done = unveil("link", release, "--people", known, *args)
        assert done.returncode == 2, args
        assert complaint in done.stderr, args
        assert "defect" not in done.stderr


def test_what_is_made_of_every_person(unveil: Unveil, files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """One line for each, readable by the owner alone; all results or none."""
    release, known, links = files
    asked = ("link", release, "--people", known, "--quasi", "sex,zip,birth", "--compare", "birth=10d")
    done = unveil(*asked, "--matches", "all.csv")
    assert done.returncode in (0, 1, 3), done.stderr
    path = tmp_path / "all.csv"
    assert path.stat().st_mode & 0o077 == 0
    with path.open() as file:
        lines = list(csv.DictReader(file))
    with links.open() as file:
        truth = {line["known"]: line["row"] for line in csv.DictReader(file)}
    assert [line["known"] for line in lines] == [str(i + 1) for i in range(60)]
    assert all(line["row"] == truth[line["known"]] for line in lines)
    assert all(line["row_if_one_to_one"] == truth[line["known"]] for line in lines)
    expected = sum(float(line["probability"]) for line in lines) / 60
    assert expected == pytest.approx(told(unveil(*asked, "--format", "json"))["value"])
    assert all(float(line["lead"]) > 0 and int(line["candidates"]) >= 1 for line in lines)
    assert "CANARY" not in path.read_text()
    refused = unveil(*asked, "--matches", "all.txt", "-o", "result.txt")
    assert refused.returncode == 2
    assert not (tmp_path / "result.txt").exists()
    assert unveil(*asked, "--matches", known).returncode == 2


def test_months_and_years_of_dates_are_read(unveil: Unveil, tmp_path: Path) -> None:
    rng = random.Random(8)
    born = [f"19{rng.randrange(50, 99)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}" for _ in range(80)]
    written(tmp_path / "known.csv", "birth,zip", [(b, i % 7) for i, b in enumerate(born)])
    links = written(tmp_path / "links.csv", "known,row", [(i + 1, i + 1) for i in range(80)])
    for length in (7, 4):
        rows = [(b[:length], i % 7) for i, b in enumerate(born)]
        written(tmp_path / "release.csv", "birth,zip", rows)
        found = told(unveil("link", "release.csv", "--people", "known.csv", "--true-links", links, "--format", "json"))
        assert found["value"] == pytest.approx(len(set(rows)) / 80, abs=0.03)  # each class finds one, ties at random


def test_values_that_are_written_differently_are_told(unveil: Unveil, tmp_path: Path) -> None:
    written(tmp_path / "release.csv", "birth,zip", [(f"1987-06-{d:02}", d) for d in range(1, 20)])
    written(tmp_path / "known.csv", "birth,zip", [(f"{d:02}.06.1987", d) for d in range(1, 20)])
    found = told(unveil("link", "release.csv", "--people", "known.csv", "--format", "json"))
    assert "No value of birth is in both files" in found["sentence"]


def test_ties_count_as_chances_with_the_true_links(unveil: Unveil, tmp_path: Path) -> None:
    """Four rows for each of ten zips: a guess is right one time in four, and never surer than that."""
    rows = [(z, "x") for z in range(10) for _ in range(4)]
    written(tmp_path / "release.csv", "zip,ill", rows)
    written(tmp_path / "known.csv", "zip", [(z,) for z in range(10)])
    links = written(tmp_path / "links.csv", "known,row", [(z + 1, 4 * z + 2) for z in range(10)])
    asked = ("link", "release.csv", "--people", "known.csv", "--quasi", "zip", "--format", "json")
    assert told(unveil(*asked, "--true-links", links))["value"] == pytest.approx(0.25, abs=0.03)


def test_a_tolerance_of_what_is_only_estimated_is_a_call(unveil: Unveil, files: tuple[Path, Path, Path]) -> None:
    release, known, _ = files
    asked = ("link", release, "--people", known, "--quasi", "sex,zip,birth", "--compare", "birth=10d")
    done = unveil(*asked, "--tolerance", "linkage.matched=20%")
    assert done.returncode == 3, done.stdout
    assert "this is an estimate, so it cannot decide." in " ".join(done.stdout.split())


def test_matches_are_made_with_the_hierarchies_of_the_policy(unveil: Unveil, tmp_path: Path) -> None:
    """What is written of each person adds up to what the finding says."""
    kinds = {"flu": "lungs", "asthma": "lungs", "ulcer": "stomach", "gastritis": "stomach"}
    (tmp_path / "ill.csv").write_text("".join(f"{value};{kind};*\n" for value, kind in kinds.items()))
    ill = list(kinds) * 3
    written(tmp_path / "release.csv", "ill,zip", [(kinds[x], i % 6) for i, x in enumerate(ill)])
    written(tmp_path / "known.csv", "ill,zip", [(x, i % 6) for i, x in enumerate(ill)])
    asked = ("link", "release.csv", "--people", "known.csv", "--quasi", "ill,zip", "--hierarchy", "ill=ill.csv")
    found = told(unveil(*asked, "--matches", "all.csv", "--format", "json"))
    with (tmp_path / "all.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert sum(float(line["probability"] or 0) for line in lines) / 12 == pytest.approx(found["value"])
    assert {line["candidates"] for line in lines} == {"1"}


def test_only_what_the_command_is_called_after_is_asked_and_decides(
    unveil: Unveil, files: tuple[Path, Path, Path]
) -> None:
    """Everybody is alone in these columns, which is not what was asked."""
    release, people, links = files
    true = ("--true-links", links, "--insensitive", "ill")
    asked = ("link", release, "--people", people, "--quasi", "sex,zip,birth", *true)
    done = unveil(*asked, "--tolerance", "linkage.matched=1", "--format", "json")
    found = json.loads(done.stdout)
    asked_of_any_table = ["release.identifiers", "release.repeated_people"]
    assert [f["id"] for f in found["findings"]] == [*asked_of_any_table, "linkage.matched"]
    assert (done.returncode, found["verdict"]["decision"]) == (0, "release")
    assert {"classes", "release.safe_harbor", "linkage.success"} <= set(found["not_asked"])
    assert unveil(*asked, "--tolerance", "linkage.matched=1%").returncode == 1
    assert unveil(*asked).returncode == 3  # nobody said how many may be linked


def test_options_that_were_renamed_are_refused_with_their_new_name(
    unveil: Unveil, files: tuple[Path, Path, Path]
) -> None:
    release, people, _ = files
    for options, complaint in (
        (("--people", people, "--columns", "sex"), "--columns is now --quasi"),
        (("--people", people, "--links", "links.csv"), "--links is now --true-links"),
        (("--people", people, "--tolerance", "birth=10d"), "--compare birth=10d"),
        (("--known", people), "it takes a number, not a file"),
        (("--quasi", "sex"), "--people FILE"),
    ):
        done = unveil("link", release, *options)
        assert (done.returncode, complaint in done.stderr) == (2, True), done.stderr


def test_reports_said_which_row_somebody_is(tmp_path: Path) -> None:
    """Without reveal, no form says a row's number, however many people are listed; with it, all do but the short."""
    rows = [(1500 + i, f"p{i * 7 % 400}") for i in range(400)]
    release = read(written(tmp_path / "release.csv", "zip,job", rows))
    people = read(written(tmp_path / "people.csv", "zip,job", [rows[i] for i in (352, 317, 389)]))
    case, policy = Case(release, holds=MappingProxyType({"people": people})), Policy(quasi=(("zip", "job"),))
    texts = []
    for reveal in (False, True):
        found = assess(case, policy, only="linkage.matched", reveal=reveal, exposed=100_000)
        assert len(found["linkage.matched"].exposed) == 3
        texts.append((found.to_json(), found.to_html(), found.to_text(details=True)))
        texts[-1] += (found.to_markdown(), found.to_junit())
    rows_named = [[sorted(set(re.findall(r"\brow (3\d\d)\b", text))) for text in said] for said in texts]
    assert rows_named[0] == [[]] * 5
    assert rows_named[1][:3] == [["318", "353", "390"]] * 3
    for text in (*texts[0][:1], *texts[0][2:]):  # a picture's coordinates may be any number
        assert not re.search(r"\b(?:318|353|390)\b", text)


def test_the_likeliest_row_of_each_was_called_their_one_to_one_row(tmp_path: Path) -> None:
    """Two people may have the same likeliest row even if no two share one: it is no assignment."""
    rows = [("f", 30), ("f", 31), ("f", 30), ("m", 40)]
    known = [("f", 30), ("f", ""), ("f", ""), ("m", "")]
    files = [written(tmp_path / f"{k}.csv", "sex,age", made) for k, made in enumerate((rows, known))]
    case = Case(read(files[0]), holds=MappingProxyType({"people": read(files[1], header=True)}))
    made = assess(case, Policy(quasi=(("sex", "age"),)), only="linkage.matched").artefacts["matches"]().to_pydict()
    assert not [name for name in made if name.startswith("one_to_one")]
    chances = one_to_one([[0, 2], [0, 1, 2], [0, 1, 2], [3]], 4)
    assert made["probability_if_one_to_one"] == pytest.approx([max(own) for own in chances])
    for own, row in zip(chances, made["row_if_one_to_one"], strict=True):
        assert own[row - 1] == pytest.approx(max(own))
    assert made["row_if_one_to_one"][1] == made["row_if_one_to_one"][2]
