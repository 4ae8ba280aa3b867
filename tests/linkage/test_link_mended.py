"""What was wrong with ``link``: each test is named after it."""

from __future__ import annotations

import csv
import json
import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from unveil import Case, Policy, assess, read
from unveil.errors import UnveilError
from unveil.finding import Finding
from unveil.linkage.link.best_match import link_people
from unveil.linkage.link.candidates import find_candidates
from unveil.linkage.link.file_pair import FilePair, pair_files, records_from_both
from unveil.linkage.link.link_quality import match_quality
from unveil.linkage.link.one_to_one import one_to_one_chances
from unveil.linkage.similarity import parse_similarity
from unveil.release.codes import encode_column

Unveil = Callable[..., subprocess.CompletedProcess[str]]
Rows = Sequence[Sequence[object]]


def written(path: Path, header: str, rows: Rows) -> Path:
    path.write_text(header + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    return path


def found_links(folder: Path, rows: Rows, people: Rows, links: Rows, policy: Policy | None = None) -> Finding:
    header = ",".join("abcdefgh"[: len(rows[0])])
    release, known = (written(folder / f"{n}.csv", header, r) for n, r in (("release", rows), ("known", people)))
    true = written(folder / "links.csv", "known,row", links)
    case = Case(read(release), holds={"people": read(known), "true_links": read(true)})
    return assess(case, policy, only="linkage.matched")["linkage.matched"]


def sides(rows: Rows, people: Rows) -> FilePair:
    made = (
        {
            name: encode_column(pa.chunked_array([pa.array([row[i] for row in side], pa.string())]))
            for i, name in enumerate("abcdefgh"[: len(rows[0])])
        }
        for side in (rows, people)
    )
    return pair_files(*records_from_both(*made))


# ---- ties ------------------------------------------------------------------------------------------------------------


def tied_files(x: str, y: str, z: str, w: str) -> tuple[Rows, Rows]:
    """Two rows that differ only in what is not known of the two people who fit them, and a third of its own."""
    return [(x, x, y), (x, x, z), (w, w, w)], [(x, "", ""), ("", x, ""), (w, w, w)]


def test_what_is_linked_depended_on_how_values_are_spelled(tmp_path: Path) -> None:
    """Two people fit the same two rows equally well: one set of links is right about both, the other about neither. A
    guess for each is right about one of them on average."""
    rng, measured = random.Random(2), list[tuple[Any, ...]]()
    for turn in range(8):
        rows, people = tied_files(*rng.sample(["ape", "bat", "cat", "dog", "eel"], 4))
        links = [(1, 1), (2, 2), (3, 3)]
        order = rng.sample(range(3), 3)
        moved = [(who, order.index(row - 1) + 1) for who, row in links]
        folder = tmp_path / str(turn)
        folder.mkdir()
        found = found_links(folder, [rows[k] for k in order], people, moved, Policy(quasi=(tuple("abc"),)))
        measured.append((found.method, found.value, found.interval, found.share))
    assert len(set(measured)) == 1
    assert measured[0][0] == "bound" and measured[0][2] == pytest.approx((2 / 3, 1))


def test_a_verdict_hung_on_the_order_of_rows(tmp_path: Path) -> None:
    """Where tied links decide, none of them does: the status is open whichever comes out."""
    rows, people = tied_files("x", "y", "z", "w")
    for name, links in (("one", [(1, 1), (2, 2), (3, 3)]), ("two", [(1, 2), (2, 1), (3, 3)])):
        (tmp_path / name).mkdir()
        policy = Policy(quasi=(tuple("abc"),), tolerance={"linkage.matched": 0.8})
        found = found_links(tmp_path / name, rows, people, links, policy)
        assert found.status == "open" and found.interval == pytest.approx((2 / 3, 1))
        assert "Several sets of links seem equally good" in found.sentence
        assert "the row of 2 to 3 of 3 known people (66.7% to 100%)" in found.sentence


def test_the_best_row_was_not_the_first_among_ties() -> None:
    """Rows b and a fit equally well; b comes first, though a does in the alphabet."""
    found = link_people(sides([["z", "b"], ["x", "b"], ["x", "a"]], [["x", "q"]]))
    assert found.best.tolist() == [1] and found.ties.tolist() == [2]
    together = one_to_one_chances(find_candidates(sides([["x", "b"], ["x", "a"]], [["x", None]])))
    assert together.likeliest_row.tolist() == [0] and together.best_chance.tolist() == pytest.approx([0.5])


def test_ties_among_very_many_rows_counted_for_some_only() -> None:
    """3,000 rows tie; whichever is the person's, a guess is right one time in 3,000."""
    rows = [["x", str(k)] for k in range(3_000)]
    found = link_people(sides([*rows, ["y", "0"]], [["x", None]] * 2))
    for true in (0, 1_234, 2_999):
        assert match_quality(found, [0], [true], [0]).right_links == pytest.approx(1 / 3_000)


# ---- who is most exposed ---------------------------------------------------------------------------------------------


def test_the_best_row_by_score_was_shown_with_the_likeliest(unveil: Unveil, tmp_path: Path) -> None:
    """Row 1 agrees in the rare surname alone, the others in three of four columns: by rarity row 1 is best, by
    likelihood not. Whoever is shown as exposed is shown with the likeliest row, and its probability is the largest."""
    rng = random.Random(4)
    rows = [(f"n{rng.randrange(40)}", rng.randrange(30), rng.choice("fm"), rng.randrange(5)) for _ in range(200)]
    people = [(f"n{rng.randrange(40)}", *row[1:]) if rng.random() < 0.4 else row for row in rows[:80]]
    written(tmp_path / "release.csv", "name,age,sex,region", rows)
    written(tmp_path / "known.csv", "name,age,sex,region", people)
    asked = ("link", "release.csv", "--people", "known.csv", "--quasi", "name,age,sex,region", "--reveal")
    done = unveil(*asked, "--matches", "all.csv", "--format", "json")
    found = next(f for f in json.loads(done.stdout)["findings"] if f["id"] == "linkage.matched")
    with (tmp_path / "all.csv").open() as file:
        matches = {f"person {line['known']}": line for line in csv.DictReader(file)}
    risks = [e["risk"] for e in found["exposed"]]
    assert risks == sorted(risks, reverse=True)
    assert risks[0] == pytest.approx(max(float(m["probability"] or 0) for m in matches.values()))
    for each in found["exposed"]:
        match = matches[each["subject"]]
        assert each["values"]["best match"] == f"row {match['row']}"
        assert each["risk"] == pytest.approx(float(match["probability"]))
    likely = link_people(sides([[*map(str, r)] for r in rows], [[*map(str, p)] for p in people]), scoring="likelihood")
    pairs, files = likely.pairs, likely.file_pair
    for k in range(80):  # no row is likelier than the best
        assert likely.posterior[k] >= pairs.posterior[pairs.person == files.person_class[k]].max() - 1e-12


# ---- missing values --------------------------------------------------------------------------------------------------


def test_two_missing_values_are_no_evidence_of_equality(tmp_path: Path) -> None:
    """A ? beside an NA, or beside another ?, says nothing; a ? that is not declared as missing is a value."""
    rows = [("x", "?"), ("x", "Ford"), ("y", "?"), ("y", "NA")]
    people = [("x", "NA"), ("x", "?")]
    release, known = (written(tmp_path / f"{n}.csv", "a,b", r) for n, r in (("release", rows), ("known", people)))

    def matches(missing: tuple[str, ...]) -> list[dict[str, Any]]:
        case = Case(read(release), holds={"people": read(known)})
        made = assess(case, Policy(quasi=(("a", "b"),), missing=missing), only="linkage.matched")
        return list(made.artefacts["matches"]().to_pylist())

    declared = matches(("", "?", "NA", "*"))
    assert [m["candidates"] for m in declared] == [2, 2] and declared[0]["score"] == declared[1]["score"]
    assert [m["probability"] for m in declared] == pytest.approx([0.5, 0.5], abs=0.02)
    values = matches(("",))
    assert [m["candidates"] for m in values] == [0, 1] and values[1]["row"] == 1 and values[1]["probability"] > 0.9


# ---- the library -----------------------------------------------------------------------------------------------------


def test_true_links_held_in_a_case_were_silently_ignored(tmp_path: Path) -> None:
    release = read(written(tmp_path / "release.csv", "a,b", [(k, k % 7) for k in range(30)]))
    known = read(written(tmp_path / "known.csv", "a,b", [(k, k % 7) for k in range(10)]))
    links = read(written(tmp_path / "links.csv", "known,row", [(k + 1, k + 1) for k in range(10)]))
    holds = {"people": known, "true_links": links}
    found = assess(Case(release, holds=holds), only="linkage.matched")["linkage.matched"]
    assert (found.method, found.value) == ("exact", 1.0)
    told = np.arange(10)
    with pytest.raises(UnveilError, match="give it once"):
        assess(Case(release, holds=holds, truth=told), only="linkage.matched")
    with pytest.raises(UnveilError, match="true links need the people they are about"):
        assess(Case(release, holds={"true_links": links}), only="linkage.matched")
    baskets = tmp_path / "baskets.dat"
    baskets.write_text("1 2\n2 3\n")
    with pytest.raises(UnveilError, match="true_links must be a table"):
        assess(Case(release, holds={**holds, "true_links": read(baskets, "transactions")}), only="linkage.matched")


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_numbers_above_a_million_billion_were_near_whatever_lay_between() -> None:
    for start in (10**15, 2**53, 10**18, -(10**18)):
        numbers = pa.array([start, start + 1, start + 3])
        for values in (numbers, numbers.cast(pa.string())):
            low, high = parse_similarity("1").code_ranges(values, 1.0)
            assert (low.tolist(), high.tolist()) == ([0, 0, 2], [1, 1, 2])
        low, high = parse_similarity("~2").code_ranges(numbers, 0.5)
        assert (low.tolist(), high.tolist()) == ([0, 0, 2], [1, 1, 2])
    low, high = parse_similarity("1").code_ranges(pa.array([1e15, 1e15 + 0.5, 1e15 + 3]), 1.0)
    assert (low.tolist(), high.tolist()) == ([0, 0, 2], [1, 1, 2])
    with pytest.raises(UnveilError, match="cannot be compared"):
        parse_similarity("1").code_ranges(pa.array([0, 2**60]), 1.0)


def test_decimals_are_still_near_up_to_rounding() -> None:
    low, high = parse_similarity("0.3").code_ranges(pa.array([2.0, 2.3, 2.6, 2.7]), 1.0)
    assert (low.tolist(), high.tolist()) == ([0, 0, 1, 2], [1, 2, 3, 3])
