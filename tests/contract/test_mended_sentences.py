"""What was said and was not so, in several rooms; each test is named after what was wrong."""

from __future__ import annotations

import os
import random
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unveil
from command_runner import run_unveil
from unveil import Case, Policy, Transactions
from unveil.report.next_steps import next_steps


def yearly_rows(people: int = 200) -> pd.DataFrame:
    """Five rows of each person, one for every year; no two people have the same quasi-identifiers."""
    draw = random.Random(4)
    who = draw.sample([(age, place, sex) for age in range(18, 80) for place in range(40) for sex in "fm"], people)
    rows = [
        (f"c{k}", *known, year, draw.choice("abcdefghijkl"), draw.randrange(90, 160))
        for k, known in enumerate(who)
        for year in range(2015, 2020)
    ]
    return pd.DataFrame(rows, columns=["code", "age", "place", "sex", "year", "diagnosis", "pressure"])


ROLES = {"quasi": (("age", "place", "sex"),), "sensitive": ("diagnosis",), "insensitive": ("year", "pressure")}


# ---- repeated people -------------------------------------------------------------------------------------------------


def test_leaving_out_the_id_made_five_rows_of_each_person_releasable() -> None:
    table = yearly_rows()
    found = unveil.assess(table.drop(columns="code"), Policy(**ROLES))
    assert found["classes.k"].value == 5 and found.verdict.decision == "your call"
    assert "hardly ever agree in year" in found.verdict.sentence
    shuffled = table.drop(columns="code")
    shuffled["year"] = np.random.default_rng(0).permutation(shuffled["year"])
    assert unveil.assess(shuffled, Policy(**ROLES)).verdict.decision == "release", "years that mean nothing"


def test_protecting_leaves_out_the_id_but_not_the_doubt() -> None:
    found = unveil.assess(yearly_rows(), Policy(identifier=("code",), **ROLES))
    said = [step.sentence for step in next_steps(found)]
    assert "Settle first whether several rows belong to one person: every class size depends on it." in said
    made = unveil.protect(yearly_rows(), Policy(identifier=("code",), **ROLES))
    assert "code" not in made.release.columns  # type: ignore[union-attr]
    assert made.assessment.verdict.decision == "your call"
    assert "If rows with the same value belong to one person" in made.assessment.verdict.sentence


# ---- roles -----------------------------------------------------------------------------------------------------------


def test_the_printed_command_dropped_most_of_the_guesses(tmp_path: Path) -> None:
    """Of 13 guessed quasi-identifiers it named one, and the pasted command said release."""
    draw = np.random.default_rng(3)
    columns = {"sex": draw.choice(["f", "m"], 300)} | {f"q{k}": draw.integers(1, 6, 300) for k in range(12)}
    pd.DataFrame(columns).to_csv(tmp_path / "wide.csv", index=False)
    said = run_unveil(("assess", "wide.csv"), tmp_path, os.environ)
    assert said.returncode == 1
    printed = next(line.strip() for line in said.stdout.splitlines() if "--quasi" in line and "wide.csv" in line)
    quasi = shlex.split(printed)[shlex.split(printed).index("--quasi") + 1].split(",")
    assert sorted(quasi) == sorted(columns)
    again = run_unveil(("assess", "wide.csv", "--quasi", ",".join(quasi)), tmp_path, os.environ)
    assert again.returncode == 1


def test_roles_depended_on_how_whole_numbers_are_stored(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    whole = pd.DataFrame({"rooms": draw.integers(1, 9, 300), "sex": draw.choice(["f", "m"], 300)})
    lacking = whole.assign(rooms=whole["rooms"].where(draw.random(300) > 0.05))  # NaN makes them floats
    lacking.to_csv(tmp_path / "floats.csv", index=False)
    tables = (whole, lacking, unveil.read(tmp_path / "floats.csv"))
    roles = [{c.name: c.role for c in unveil.assess(x).columns} for x in tables]
    assert roles[0] == roles[1] == roles[2] == {"rooms": "quasi", "sex": "quasi"}


# ---- sentences about other findings ----------------------------------------------------------------------------------


def test_coin_tosses_were_counted_as_links_likelier_right_than_wrong() -> None:
    """Two rows that look the same: their links are right with probability one half."""
    released = pd.DataFrame({"sex": ["f", "f", "m"], "age": [30, 30, 41], "zip": ["1", "1", "2"]})
    people = unveil.read(released.assign(name=["a", "b", "c"]))
    links = unveil.read(pd.DataFrame({"known": [1, 2, 3], "row": [1, 2, 3]}))
    policy = Policy(quasi=(("sex", "age", "zip"),), settings={"linkage": {"errors": 0.0, "outside": 0.0}})
    case = Case(unveil.read(released), holds={"people": people, "true_links": links})
    (found,) = [f for f in unveil.assess(case, policy).findings if f.id == "linkage.matched"]
    assert "1 link seems likelier right than wrong" in found.sentence


def test_combining_releases_lowered_the_guess() -> None:
    """Whoever combines releases can ignore all but the most telling one."""
    draw = np.random.default_rng(11)
    base = pd.DataFrame(
        {"zip": draw.integers(100, 120, 200), "age": draw.integers(20, 60, 200), "d": draw.choice(list("abcdef"), 200)}
    )
    june = base.assign(zip=base["zip"].astype(str), age=[f"{a // 20 * 20}-{a // 20 * 20 + 19}" for a in base["age"]])
    may = base.assign(
        zip=[f"{z // 10}*" for z in base["zip"]], age=[f"{a // 10 * 10}-{a // 10 * 10 + 9}" for a in base["age"]]
    )
    policy = Policy(quasi=(("zip", "age"),), sensitive=("d",))
    both = unveil.assess(Case(unveil.read(june), holds={"earlier": unveil.read(may)}), policy)["classes.intersection"]
    told = float(both.sentence.split("all of them together, is right for ")[1].split("%")[0]) / 100
    for one in (june, may):
        alone = one.groupby(["zip", "age"])["d"].agg(lambda d: d.value_counts().iloc[0]).sum() / 200
        assert told >= alone - 0.001


def test_a_set_of_all_items_was_to_be_protected() -> None:
    """Guessing alone identifies the set of all items."""
    data = Transactions.from_baskets([list(text) for text in ("24", "12456", "124", "245", "12", "1246", "46")])
    found = unveil.assess(data, Policy(settings={"items": {"itemsets": "5"}}))
    (sets,) = [f for f in found.findings if f.id == "items.itemsets_vulnerable"]
    assert sets.status == "over" and sets.baseline == 1 and sets.is_unreachable
    if found.deciding_finding is sets:
        assert [step.command for step in next_steps(found)] == [None, None]


def test_the_largest_harm_was_a_number_of_values() -> None:
    draw = random.Random(1)
    rows = [(draw.randrange(1, 4), draw.choice("fm"), draw.choice(["yes", "no", None])) for _ in range(120)]
    table = pd.DataFrame(rows, columns=["age", "sex", "diagnosis"])
    found = unveil.assess(table, Policy(quasi=(("age", "sex"),), sensitive=("diagnosis",)))
    (line,) = [x for x in found.to_text().splitlines() if x.startswith("The largest harm measured")]
    assert found.verdict.decision == "release" and ("%" in line), line


def test_python_users_were_told_to_assess_a_file_called_table_in_memory() -> None:
    table = pd.DataFrame({"age": [1, 2, 3, 4] * 5, "sex": list("fm") * 10, "zip": [str(k) for k in range(10)] * 2})
    for found in (unveil.assess(table), unveil.assess(table, Policy(quasi=(("age", "sex", "zip"),)))):
        assert "in memory" not in " ".join(step.command or "" for step in next_steps(found))
        assert all(step.command is None for step in next_steps(found))


def test_a_frame_that_arrow_cannot_hold_did_not_name_the_column() -> None:
    with pytest.raises(unveil.UnveilError, match="Arrow cannot hold wave; give"):
        unveil.read(pd.DataFrame({"age": [1, 2], "wave": [1j, 2j]}))


# ---- what a protection leaves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep_age", [True, False])
def test_an_id_that_grows_with_age_undid_coarser_ages(keep_age: bool) -> None:
    """Sorted by the id, rows are sorted by age, also if no age is left in the table."""
    draw = random.Random(2)
    ages = sorted(draw.randrange(20, 80) for _ in range(600))
    rows = [(1000 + k, age, draw.choice("fm"), draw.randrange(3)) for k, age in enumerate(ages)]
    table = pd.DataFrame(rows, columns=["rid", "age", "sex", "job"])
    limit = 20 if keep_age else 90
    policy = Policy(quasi=(("age", "sex", "job"),), insensitive=("rid",), tolerance={"classes.k": limit})
    made = unveil.protect(table, policy, method="levels")
    assert ("age" in made.release.columns) == keep_age  # type: ignore[union-attr]
    assert made.assessment.verdict.decision == "your call"
    assert "Sorting by rid puts rows in the order of age" in made.assessment.verdict.sentence


def test_protected_ratings_kept_the_ids_of_people() -> None:
    draw = random.Random(3)
    rows = [(f"u{k}", f"film{draw.randrange(8)}", draw.randrange(1, 6)) for k in range(60) for _ in range(3)]
    table = pd.DataFrame(rows, columns=["user", "film", "stars"]).drop_duplicates(["user", "film"])
    policy = Policy(
        ratings=("user", "film", "stars"), tolerance={"linkage.success": 0.2}, settings={"linkage": {"known": 1}}
    )
    made = unveil.protect(table, policy)
    (done,) = [p for p in made.assessment.protections if p.chosen]
    assert "user is replaced by random numbers" in done.sentence
    released = next(iter(made.release.batches())).column("user").to_pylist()  # type: ignore[union-attr]
    assert all(isinstance(who, int) for who in released)
