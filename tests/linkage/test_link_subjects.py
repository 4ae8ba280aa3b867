"""People with several rows: what was wrong with ``link``, and comparison with brute force on small tables."""

from __future__ import annotations

import csv
import json
import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.linkage.link.best_match import Linkage, link_people
from unveil.linkage.link.candidates import CandidateRows, find_candidates
from unveil.linkage.link.file_pair import FilePair, distinct_rows, pair_files, records_from_both
from unveil.linkage.link.link_quality import assignment_range, match_quality
from unveil.linkage.link.one_to_one import one_to_one_chances
from unveil.linkage.link.rehearsal import rehearse
from unveil.linkage.link.subject_rows import candidate_subjects, gather_subject_rows, link_subjects
from unveil.release.codes import encode_column

Unveil = Callable[..., subprocess.CompletedProcess[str]]
Values = list[str | None]
ERRORS = 0.1


def written(path: Path, header: str, rows: list[tuple[object, ...]]) -> Path:
    path.write_text(header + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    return path


def paired(rows: list[Values], owners: list[int], known: list[Values]) -> tuple[FilePair, list[int]]:
    codes = (
        {
            name: encode_column(pa.chunked_array([pa.array([row[i] for row in side], pa.string())]))
            for i, name in enumerate("abc"[: len(rows[0])])
        }
        for side in (rows, known)
    )
    released, others = records_from_both(*codes)
    kept = distinct_rows(released, np.array(owners))
    return pair_files(released.select(kept), others, subjects=np.array(owners)[kept]), kept.tolist()


def linked(files: FilePair) -> tuple[Linkage, CandidateRows]:
    subjects = gather_subject_rows(files)
    candidates = candidate_subjects(subjects, find_candidates(files))
    return link_subjects(subjects, link_people(files, scoring="likelihood", errors=ERRORS), candidates), candidates


class Expected(NamedTuple):
    """By brute force: people who fit, people with the best row, their mean posterior, and the posterior of each."""

    candidates: int
    best: set[int]
    posterior: float
    of: dict[int, float]


def brute_force(rows: list[Values], owners: list[int], person: Values) -> Expected:
    distinct = sorted({(who, tuple(row)) for who, row in zip(owners, rows, strict=True)}, key=str)
    ratio: dict[int, list[float]] = defaultdict(list)
    fits = set()
    for who, row in distinct:
        value, possible = 1.0, True
        for i, known in enumerate(person):
            released = [other[i] for _, other in distinct if other[i] is not None]
            if known is None or row[i] is None:
                continue
            share = released.count(known) / len(released)
            value *= ERRORS + (1 - ERRORS) / share if row[i] == known else ERRORS
            possible &= row[i] == known
        ratio[who].append(value)
        if possible:
            fits.add(who)
    total = sum(map(sum, ratio.values()))
    of = {who: sum(values) / total for who, values in ratio.items()}
    top = max(map(max, ratio.values()))
    best = {who for who, values in ratio.items() if max(values) > top * (1 - 1e-9)}
    return Expected(len(fits), best, sum(of[who] for who in best) / len(best), of)


VALUE = st.sampled_from(["x", "y", "z", None])
ROW = st.tuples(VALUE, VALUE).map(list)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), ROW), min_size=2, max_size=10),
    known=st.lists(ROW.filter(any), min_size=1, max_size=4),
    seed=st.integers(0, 9),
)
def test_people_are_linked_as_by_brute_force(rows: list[tuple[int, Values]], known: list[Values], seed: int) -> None:
    owners, shown = [who for who, _ in rows], [row for _, row in rows]
    files, kept = paired(shown, owners, known)
    found, _ = linked(files)
    numbers = {who: s for s, who in enumerate(sorted(set(owners)))}
    true = np.random.default_rng(seed).integers(len(numbers), size=len(known))
    quality = match_quality(found, np.arange(len(known)), true, np.arange(len(known)))
    right = 0.0
    for i, person in enumerate(known):
        expected = brute_force(shown, owners, person)
        assert found.candidates[i] == expected.candidates
        if found.best[i] < 0:  # no row agrees in anything
            continue
        assert found.ties[i] == len(expected.best)
        assert owners[kept[found.best_row[i]]] in expected.best
        assert found.posterior[i] == pytest.approx(expected.posterior)
        assert found.best[i] in {numbers[who] for who in expected.best}
        right += (true[i] in {numbers[who] for who in expected.best}) / len(expected.best)
    assert quality.right_links == pytest.approx(right)
    one = one_to_one_chances(candidate_subjects(gather_subject_rows(files), find_candidates(files)))
    assert one.placed_people <= len(numbers)
    low, high = assignment_range(found, np.arange(len(known)), true)
    assert 0 <= low.right_links <= high.right_links + 1e-9 <= len(known) + 1e-9


def test_the_posterior_of_a_person_is_that_of_their_rows_together() -> None:
    rows: list[Values] = [["x", "p"], ["x", "q"], ["y", "p"], ["y", "p"], ["x", "p"], ["z", "q"]]
    owners = [0, 0, 1, 1, 2, 3]
    known: list[Values] = [["x", "p"], ["y", "q"], ["z", None]]
    found, _ = linked(paired(rows, owners, known)[0])
    for i, person in enumerate(known):
        expected = brute_force(rows, owners, person)
        kind = found.file_pair.person_class[i]
        mine = found.pairs.person == kind
        of = {int(k): float(p) for k, p in zip(found.pairs.row[mine], found.pairs.posterior[mine], strict=True)}
        listed = {k: p for who, p in expected.of.items() if (k := int(found.file_pair.row_class[who])) in of}
        assert of == pytest.approx(listed) and sum(of.values()) > 0.9  # people who agree in nothing are left out


def test_a_person_taken_out_of_the_rehearsal_leaves_no_row_behind() -> None:
    """Stand-ins for people outside were still in the release with their other rows."""
    rows: list[Values] = [[str(i // 4), str(i % 4)] for i in range(400)]
    owners = [i // 4 for i in range(400)]
    files, _ = paired(rows, owners, rows[:40])
    rate = np.zeros(2)
    for made in rehearse(files, rate, rate, 50, np.random.default_rng(0)):
        who = made.file_pair.people.array[made.file_pair.person_class, 0]
        there = set(made.file_pair.rows.array[:, 0].tolist())
        assert there.isdisjoint(who[~made.inside].tolist()) and there.issuperset(who[made.inside].tolist())


# ---- the command -----------------------------------------------------------------------------------------------------


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode in (0, 1, 3), done.stderr
    return next(f for f in json.loads(done.stdout)["findings"] if f["id"] == "linkage.matched")


def test_people_with_five_rows_each_were_found_in_one_of_five_cases(unveil: Unveil, tmp_path: Path) -> None:
    """Everybody has five equal rows; four people share their values with one other."""
    rng = np.random.default_rng(1)
    people = [
        (int(age), int(zip_code)) for age, zip_code in rng.permutation([(a, z) for a in range(9) for z in range(9)])
    ]
    people[1] = people[0]
    people[3] = people[2]
    rows = [(f"p{i}", *people[i], visit) for visit in range(5) for i in range(50)]
    written(tmp_path / "release.csv", "pid,age,zip,visit", list(rows))
    written(tmp_path / "known.csv", "age,zip", list(people[:40]))
    written(tmp_path / "links.csv", "known,row", [(i + 1, 150 + i + 1) for i in range(40)])
    asked = ("--quasi", "age,zip", "--insensitive", "visit", "--people", "known.csv", "--true-links", "links.csv")
    asked = (*asked, "--subject", "pid", "--format", "json")
    found = told(unveil("link", "release.csv", *asked, "--matches", "matches.csv"))
    assert found["value"] == pytest.approx(38 / 40)
    assert found["baseline"] == pytest.approx(1 / 50)
    assert found["title"] == "People in the file “known.csv” linked to one of their rows"
    assert "finds a row of 38 of 40 known people (95%)" in found["sentence"]
    assert "36 of the people fit only one person in the release" in found["sentence"]
    assert "among 50 people with 250 rows in total" in found["attacker"]
    with (tmp_path / "matches.csv").open() as file:
        matches = list(csv.DictReader(file))
    assert [int(match["candidates"]) for match in matches] == [2] * 4 + [1] * 36
    assert all((int(m["row"]) - 1) % 50 == i for i, m in enumerate(matches) if i > 3)
    assert told(unveil("assess", "release.csv", *asked, "--only", "linkage.matched"))["value"] == found["value"]


def test_subjects_with_many_rows_are_told_from_people_outside(unveil: Unveil, tmp_path: Path) -> None:
    """With enough rows, errors and people outside are estimated from whole people."""
    rng = np.random.default_rng(2)
    born, home = rng.integers(0, 4_000, 600), rng.integers(0, 50, 600)
    rows = [(i, born[i], (home[i] + move) % 50) for i in range(500) for move in range(3)]
    known = [*range(0, 160), *range(500, 540)]
    written(tmp_path / "release.csv", "pid,born,home", list(rows))
    written(tmp_path / "known.csv", "born,home", [(born[i], home[i]) for i in known])
    written(tmp_path / "links.csv", "known,row", [(i + 1, 3 * i + 2) for i in range(160)])
    asked = ("link", "release.csv", "--people", "known.csv", "--subject", "pid", "--quasi", "born,home")
    found = told(unveil(*asked, "--true-links", "links.csv", "--format", "json"))
    assert found["value"] == pytest.approx(0.8, abs=0.03)
    guessed = told(unveil(*asked, "--format", "json"))
    assert guessed["value"] == pytest.approx(0.8, abs=0.08), guessed["sentence"]
