"""Protected tables: what is promised holds in what is written, and nothing else has changed."""

from __future__ import annotations

import csv
import os
import stat
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import unveil
from classes.test_full_domain import LABELS, NAMES, SETTINGS, case, policy, small_tables
from reference import naive_generalisation as naive
from unveil import Policy, ProtectedRelease, Table, UnveilError
from unveil.classes.protect import PROTECTIONS, proof_text
from unveil.classes.protections.class_protector import class_protector
from unveil.classes.protections.lattice_search import LatticeOptimum
from unveil.errors import Termination
from unveil.owner_key import OwnerKey
from unveil.release.pseudonyms import keyed_pseudonyms
from unveil.run import Run

Run_ = Callable[..., object]
DIAGNOSES = ("asthma", "flu", "gout", "none")


def released_rows(release: object) -> list[dict[str, object]]:
    assert isinstance(release, Table)
    rows: list[dict[str, object]] = pa.Table.from_batches(release.batches()).to_pylist()
    return rows


def patients(n: int = 300, seed: int = 1) -> pa.Table:
    """Names, quasi-identifiers of every kind with awkward texts, a sensitive column, and columns to leave alone."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"Name {k}" for k in range(n)],
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "zip": [f"0{z}" for z in rng.integers(1000, 1400, n)],
            "admitted": [f"2023-{1 + k % 12:02}-{1 + k % 28:02}" for k in rng.integers(0, 400, n)],
            "diagnosis": rng.choice(DIAGNOSES, n),
            "note": [('say "ä, ö"', "", None, "007", " x ")[k % 5] for k in range(n)],
            "cost": rng.normal(100, 20, n).round(2),
        }
    )


ROLES = {
    "identifier": ("name",),
    "quasi": (("age", "sex", "zip", "admitted"),),
    "sensitive": ("diagnosis",),
    "insensitive": ("note", "cost"),
}


# ---- local recoding --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
@settings(max_examples=20, deadline=None)
@given(small_tables)
def test_every_class_of_a_local_recoding_is_fine(setting: str, rows: list[tuple[str, str, str, str]]) -> None:
    """Whatever the goal, measured by the reference on what is released: every row is there, under labels of its own
    values, in a class that is fine. If nothing is offered, even all rows together fail."""
    tolerance, goals, risk = SETTINGS[setting]
    made = PROTECTIONS["local"].fit(case(rows), policy(tolerance), Run(), 1.0)
    values = [row[3] for row in rows]
    if made is None:
        together = all(goal(values, values) for goal in goals) and (risk is None or risk * len(rows) >= 1)
        assert not together
        return
    found = [tuple(row.values()) for row in released_rows(made.apply().release)]
    columns = [c for c in (*NAMES, "diagnosis") if c in released_rows(made.apply().release)[0]]
    assert len(found) == len(rows)
    for row, new in zip(rows, found, strict=True):
        own = dict(zip(columns, new, strict=True))
        assert own.pop("diagnosis") == row[3]
        assert all(label in LABELS[NAMES.index(c)][row[NAMES.index(c)]] for c, label in own.items())
    classes = list(naive.all_classes([row[:-1] for row in found]))
    for members in classes:
        assert all(goal([values[i] for i in members], values) for goal in goals)
    if risk is not None:
        assert len(classes) <= risk * len(rows) + 1e-9


def test_local_recoding_loses_less_than_the_best_levels() -> None:
    """On all but tiny tables; here by half or more."""
    data = unveil.read(patients().drop_columns(["name"]))
    asked = Policy(**{k: v for k, v in ROLES.items() if k != "identifier"}, tolerance={"classes.k": 4})
    kept = {}
    for name in ("levels", "local"):
        made = PROTECTIONS[name].fit(unveil.Case(data), asked, Run(), 1.0)
        assert made is not None
        kept[name] = made.usefulness
    assert kept["local"] > 1.1 * kept["levels"]


def test_columns_to_keep_are_not_coarsened_locally() -> None:
    rng = np.random.default_rng(8)
    rows = [(*(str(rng.choice(sorted(own))) for own in LABELS), str(rng.choice(list("abc")))) for _ in range(200)]
    made = PROTECTIONS["local"].fit(case(rows), policy({"classes.k": 4}, keep=["age", "sex"]), Run(), 1.0)
    assert made is not None
    assert [(r["age"], r["sex"]) for r in released_rows(made.apply().release)] == [(row[0], row[2]) for row in rows]


@pytest.mark.parametrize("method", ["levels", "local"])
def test_texts_without_a_hierarchy_were_kept_or_left_out(method: str) -> None:
    """Ten people with jobs of their own, and two groups of 245: rare jobs together make a class of ten."""
    jobs = ["clerk"] * 245 + ["nurse"] * 245 + [f"rare job {k}" for k in range(10)]
    asked = Policy(quasi=(("job",),), rows_are_people=True, settings={"classes": {"suppress": 0}})
    made = unveil.protect(pa.table({"job": jobs}), asked, method=method)
    assert Counter(row["job"] for row in released_rows(made.release)) == {"clerk": 245, "nurse": 245, "other": 10}


@pytest.mark.parametrize("method", ["levels", "local"])
def test_classes_with_missing_values_were_counted_under_the_labels_of_other_values(method: str, tmp_path: Path) -> None:
    """A missing value such as ? sorts before others, so that the search took each value for its neighbour."""
    rng = np.random.default_rng(3)
    jobs = {job: f"kind {k % 3}" for k, job in enumerate("abcdefghi")}
    (tmp_path / "jobs.csv").write_text("".join(f"{job};{kind};*\n" for job, kind in jobs.items()))
    table = pa.table(
        {
            "job": rng.choice(["?", *jobs], 200, p=[0.1, *([0.1] * 9)]),
            "town": rng.choice(["?", "u", "v", "w", "x"], 200, p=[0.1, 0.3, 0.3, 0.2, 0.1]),
        }
    )
    hierarchy = {"job": str(tmp_path / "jobs.csv")}
    asked = Policy(
        quasi=(("job", "town"),), rows_are_people=True, hierarchy=hierarchy, settings={"classes": {"keep": ["town"]}}
    )
    fitted = unveil.protect(table, asked, method=method)
    assert min(Counter(tuple(row.values()) for row in released_rows(fitted.release)).values()) >= 5
    (chosen,) = [p for p in fitted.assessment.protections if p.chosen]
    assert chosen.usefulness is not None and chosen.usefulness > 0.5


# ---- the whole way ---------------------------------------------------------------------------------------------------


def measured_classes(made: ProtectedRelease, quasi: tuple[str, ...]) -> tuple[int, int]:
    """The smallest class of a protected table and the fewest diagnoses in a class, counted row by row."""
    classes = defaultdict(list)
    for row in released_rows(made.release):
        classes[tuple(row.get(c) for c in quasi)].append(row["diagnosis"])
    return min(map(len, classes.values())), min(len(set(c)) for c in classes.values())


@pytest.mark.parametrize("method", ["levels", "local", None])
def test_the_default_policy_is_reached_and_all_else_stays(method: str | None) -> None:
    table = patients()
    made = unveil.protect(table, Policy(**ROLES), method=method)
    assert made.assessment.verdict.decision == "release"
    k, values = measured_classes(made, ROLES["quasi"][0])
    assert k >= 5 and values >= 2
    assert made.case is not None and made.case.truth is not None
    before, after = table.to_pylist(), released_rows(made.release)
    assert "name" not in after[0]
    gone = int((made.case.truth < 0).sum())
    assert len(after) == len(before) - gone and gone <= 0.05 * len(before)
    for row, place in zip(before, made.case.truth.tolist(), strict=True):
        if place >= 0:
            assert {c: row[c] for c in ("diagnosis", "note", "cost")} == {
                c: after[place][c] for c in ("diagnosis", "note", "cost")
            }
    (chosen,) = [p for p in made.assessment.protections if p.chosen]
    assert chosen.sentence.startswith("name is left out.")
    if gone:
        assert f"{gone} of 300 rows left out" in chosen.sentence


def test_people_with_several_rows_are_protected() -> None:
    rng = np.random.default_rng(4)
    who = [(f"P{p}", int(rng.integers(18, 90)), str(rng.choice(["f", "m"]))) for p in range(150)]
    rows = [(*who[p], str(rng.choice(DIAGNOSES))) for p in rng.integers(0, 150, 500)]
    table = pa.table(dict(zip(("pid", "age", "sex", "diagnosis"), map(list, zip(*rows, strict=True)), strict=True)))
    asked = Policy(subject="pid", quasi=(("age", "sex"),), sensitive=("diagnosis",))
    made = unveil.protect(table, asked)
    assert made.assessment.verdict.decision == "release"
    shown, values = defaultdict(set), defaultdict(set)
    for row in released_rows(made.release):
        assert not str(row["pid"]).startswith("P")
        shown[row["pid"]].add((row.get("age"), row.get("sex")))
        values[row["pid"]].add(row["diagnosis"])
    classes = defaultdict(list)
    for person, known in shown.items():
        classes[frozenset(known)].append(values[person])
    assert min(map(len, classes.values())) >= 5
    for people in classes.values():
        assert len(set.union(*people)) >= 2 and not set.intersection(*people)


def test_several_sets_of_quasi_identifiers_hold_at_once() -> None:
    sets = (("age", "sex"), ("sex", "zip"), ("age", "admitted"))
    table = patients().drop_columns(["name"])
    made = unveil.protect(table, Policy(quasi=sets, sensitive=("diagnosis",), insensitive=("note", "cost")))
    assert made.assessment.verdict.decision == "release"
    for group in sets:
        k, values = measured_classes(made, group)
        assert k >= 5 and values >= 2


@pytest.mark.parametrize(("goal", "limit"), [("classes.k", 301), ("classes.l_distinct", 5)])
def test_goals_that_nothing_reaches(goal: str, limit: float) -> None:
    made = unveil.protect(patients(), Policy(**ROLES, tolerance={goal: limit}))
    assert made.case is None
    with pytest.raises(UnveilError, match="none of the protections tried meets the tolerances"):
        _ = made.release


def test_goals_beyond_classes_are_reached_with_them() -> None:
    """Someone who knows a few facts finds at most as many as the average class lets them."""
    made = unveil.protect(patients(), Policy(**ROLES, tolerance={"linkage.success": 0.05, "classes.k": 2}))
    assert made.assessment.verdict.decision == "release"
    found = made.assessment["linkage.success"]
    assert found.value is not None and found.value <= 0.05


# ---- identifiers -----------------------------------------------------------------------------------------------------


def test_identifiers_alone_are_left_out_and_nothing_else() -> None:
    table = pa.table({"name": [f"n{k}" for k in range(40)], "sex": ["f", "m"] * 20, "diagnosis": list("abcd") * 10})
    made = unveil.protect(table, Policy(identifier=("name",), quasi=(("sex",),), sensitive=("diagnosis",)))
    assert made.assessment.verdict.decision == "release"
    assert made.release.columns == ("sex", "diagnosis")  # type: ignore[union-attr]
    assert made.release.rows == 40  # type: ignore[union-attr]
    before, after = made.assessment.protections
    assert (before.id, after.id, after.chosen) == ("none", "identifiers", True)
    assert after.sentence == "name is left out. The rows are in random order."


def test_pseudonyms_need_the_key() -> None:
    """The same under the same key, different under another one or in another column; missing stays missing."""
    column = pa.chunked_array([["anna", "ben", None, "anna"]])
    one, other = (OwnerKey(bytes([k]) * 32, is_kept=True) for k in (1, 2))
    found = keyed_pseudonyms(column, one, "id").to_pylist()
    assert found[0] == found[3] != found[1] and found[2] is None and len(found[0]) == 32
    assert found == keyed_pseudonyms(column, one, "id").to_pylist()
    assert not set(found) & set(keyed_pseudonyms(column, other, "id").to_pylist()) - {None}
    assert not set(found) & set(keyed_pseudonyms(column, one, "name").to_pylist()) - {None}


def test_the_command_replaces_an_identifier(tmp_path: Path, unveil: Run_) -> None:
    with (tmp_path / "p.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "sex", "diagnosis"])
        writer.writerows([f"id{k}", "fm"[k % 2], "abcd"[k // 2 % 4]] for k in range(80))
    key = tmp_path / "own.key"
    options = ("--identifier", "id", "--quasi", "sex", "--sensitive", "diagnosis", "--pseudonymise", "id")
    done = unveil("protect", "p.csv", *options, "-o", "safe.csv", env={"UNVEIL_KEY": str(key)})
    assert done.returncode in (0, 3), done.stderr  # type: ignore[attr-defined]
    text = (tmp_path / "safe.csv").read_text()
    assert "id7" not in text and len(Counter(line.split(",")[0] for line in text.splitlines()[1:])) == 80
    assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
    refused = unveil("protect", "p.csv", *options[:-1], "no", "-o", "again.csv")
    assert refused.returncode == 2 and "no column no to replace" in refused.stderr  # type: ignore[attr-defined]
    assert not (tmp_path / "again.csv").exists()


def test_goals_are_typed_as_such(tmp_path: Path, unveil: Run_) -> None:
    """--goal says what must hold; --tolerance means the same here."""
    with (tmp_path / "p.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "sex", "diagnosis"])
        writer.writerows([20 + k % 40, "fm"[k % 2], "abcd"[k // 2 % 4]] for k in range(240))
    for option in ("--goal", "--tolerance"):
        options = ("--quasi", "age,sex", "--sensitive", "diagnosis", option, "classes.k=20", "--suppress", "0")
        done = unveil("protect", "p.csv", *options, "-o", "safe.csv")
        assert done.returncode == 0, done.stderr  # type: ignore[attr-defined]
        with (tmp_path / "safe.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 240 and min(Counter((r["age"], r["sex"]) for r in rows).values()) >= 20
        (tmp_path / "safe.csv").unlink()


def test_protectors_are_made_once() -> None:
    run, attacked = Run(), case([("21", "11", "f", "a")] * 5)
    asked = policy({"classes.k": 2})
    assert class_protector(attacked, asked, run) is class_protector(attacked, asked, run)


def test_more_people_than_there_are_cannot_be_alike() -> None:
    """With a limit to the average risk as well, a class of all people was taken to be large enough."""
    rows = [("21", "11", "f", "a"), ("44", "22", "m", "b")] * 5
    asked = policy({"classes.k": 11, "classes.reidentification": 0.3})
    assert PROTECTIONS["local"].fit(case(rows), asked, Run(), 1.0) is None
    assert PROTECTIONS["levels"].fit(case(rows), asked, Run(), 1.0) is None


def test_levels_that_are_not_proven_best_were_said_to_be_reachable() -> None:
    """A search that ended early knows a bound, not what other levels lose."""
    short = LatticeOptimum((0, 1), 0.4, 0.25, 3, 12)
    assert proof_text(short) == (
        "These levels lose 0.4; others may lose less, but not less than 0.25 (3 of 12 combinations of levels checked)."
    )
    assert proof_text(replace(short, bound=0.4)).startswith("No other levels lose less (3 of 12 ")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, Termination])
def test_ctrl_c_goes_on_with_the_best_levels_so_far(stop: type[KeyboardInterrupt]) -> None:
    """What ends the process from outside ends it."""
    rng = np.random.default_rng(1)
    names = [f"q{i}" for i in range(7)]
    table = pa.table({name: rng.integers(0, 40, 400) for name in names})
    asked = Policy(quasi=(tuple(names),), tolerance={"classes.k": 3})
    reports = 0

    def interrupt(doing: str, fraction: float | None) -> None:
        nonlocal reports
        reports += doing.startswith("choosing levels")
        if reports == 3:
            reports += 1
            raise stop

    if stop is Termination:
        with pytest.raises(Termination):
            unveil.protect(table, asked, method="levels", progress=interrupt)
        return
    made = unveil.protect(table, asked, method="levels", progress=interrupt)
    said = made.assessment.protections[-1].sentence
    assert "; others may lose less, but not less than " in said
    rows = Counter(tuple(row.get(name) for name in names) for row in released_rows(made.release))
    assert min(rows.values()) >= 3
    whole = unveil.protect(table, asked, method="levels").assessment.protections[-1].sentence
    assert "No other levels lose less" in whole


# ---- wishes ----------------------------------------------------------------------------------------------------------


def strangers(n: int = 60) -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "zip": rng.choice(["01234", "01239", "01300", "99001"], n),
            "age": rng.integers(20, 60, n),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(list("abcdef"), n),
        }
    )


@pytest.mark.parametrize("method", ["levels", "local", "mondrian", "cells", "columns", "values", "rows", "mixed"])
def test_columns_to_keep_stay_whatever_the_method(method: str) -> None:
    """Methods that do not aim at it were free to change them."""
    tolerance = {"classes.k": 1, "linkage.success": 0.3}
    wishes = {"classes": {"keep": ["zip", "age"], "suppress": 0.02}}
    made = unveil.protect(
        strangers(), Policy(quasi=(("zip", "age", "sex", "job"),), tolerance=tolerance, settings=wishes), method=method
    )
    if made.case is None:
        said = made.assessment.protections[-1].sentence
        assert "keeps what must stay" in said or method in ("levels", "local", "mondrian", "cells"), said
        return
    rows = released_rows(made.release)
    assert len(rows) >= 0.98 * 60
    before = Counter((str(r["zip"]), r["age"]) for r in strangers().to_pylist())
    assert not Counter((str(r["zip"]), r["age"]) for r in rows) - before


@pytest.mark.parametrize("wish", [{"keep": ["nope"]}, {"importance": {"nope": "3"}}])
def test_wishes_about_columns_that_are_not_there_are_refused(wish: dict[str, object]) -> None:
    with pytest.raises(UnveilError, match="names nope, which is not among the quasi-identifiers"):
        unveil.protect(strangers(), Policy(quasi=(("zip", "age"),), settings={"classes": wish}))


def test_columns_that_never_vary_stay() -> None:
    table = pa.table({"c": ["x"] * 7, "age": [20, 20, 20, 41, 41, 41, 42], "dx": list("uvuvuvu")})
    asked = Policy(quasi=(("c", "age"),), sensitive=("dx",), tolerance={"classes.k": 3})
    made = unveil.protect(table, asked, method="levels")
    assert {r["c"] for r in released_rows(made.release)} == {"x"}
    assert "reveals c" not in made.assessment.protections[-1].sentence


def test_levels_that_change_nothing_that_is_released_are_not_raised() -> None:
    ages = [20] * 5 + [41, 42] + [30] * 3
    table = pa.table({"age": ages, "zip": ["01234"] * 5 + ["99002", "99003"] + ["99003"] * 3})
    asked = Policy(quasi=(("age", "zip"),), tolerance={"classes.k": 3}, settings={"classes": {"suppress": 0.2}})
    made = unveil.protect(table, asked, method="levels")
    assert Counter(r["age"] for r in released_rows(made.release)) == Counter({20: 5, 30: 3})


def test_values_equal_to_the_mean_of_their_group_tell_nothing() -> None:
    table = pa.table({"x": [2, 5, 8, 5], "s": ["m"] * 4})
    asked = Policy(quasi=(("x",),), insensitive=("s",), tolerance={"classes.k": 3})
    made = unveil.protect(table, asked, method="microaggregation")
    assert {r["x"] for r in released_rows(made.release)} == {5}
    assert made.assessment.protections[-1].usefulness == 0
    assert made.assessment.verdict.decision == "your call"


def test_values_that_were_missing_before_are_not_hidden() -> None:
    table = pa.table({"a": [None, "5", "5", "7", "7", None], "b": list("xxxyyy"), "dx": list("uvuvuv")})
    tolerance = {"classes.k": 3, "classes.l_distinct": 1}
    made = unveil.protect(table, Policy(quasi=(("a", "b"),), sensitive=("dx",), tolerance=tolerance), method="cells")
    rows = released_rows(made.release)
    hidden = 10 - sum(r.get(c) is not None for r in rows for c in ("a", "b"))
    assert f"{hidden} cells are hidden" in made.assessment.protections[-1].sentence


def test_pseudonyms_are_no_unchanged_cells() -> None:
    table = pa.table({"id": ["X1", "X2", "X3", "X4", "X5"], "a": list("11122"), "dx": list("uvuvu")})
    asked = Policy(identifier=("id",), quasi=(("a",),), sensitive=("dx",), tolerance={"classes.k": 3})
    plain, keyed = (unveil.protect(table, asked, method="levels", pseudonymise=p) for p in ((), ("id",)))
    assert [m.sentence for m in plain.assessment.protections[-1].use] == [
        m.sentence for m in keyed.assessment.protections[-1].use
    ]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columns_that_stay_keep_their_types(tmp_path: Path, ending: str) -> None:
    """Text in a dictionary, long text, and moments in milliseconds; the engine knows others for the same values."""
    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "age": rng.integers(20, 60, 80).astype("int16"),
            "sex": pa.array(rng.choice(["f", "m"], 80)).dictionary_encode(),
            "dx": pa.array(rng.choice(DIAGNOSES, 80), pa.large_string()),
            "seen": pa.array(rng.integers(0, 10**12, 80), pa.timestamp("ms")),
            "born": pa.array(rng.integers(0, 20_000, 80).astype("int32"), pa.date32()),
        }
    )
    asked = Policy(
        quasi=(("age", "sex"),),
        sensitive=("dx",),
        insensitive=("seen", "born"),
        tolerance={"classes.k": 4},
        settings={"classes": {"keep": ["sex"]}},
    )
    source, target = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    unveil.write(unveil.read(table), source)
    unveil.write(unveil.protect(unveil.read(source), asked, method="levels").release, target)
    schemas = [unveil.read(path).types for path in (source, target)]
    assert {name: schemas[1][name] for name in ("sex", "dx", "seen", "born")} == {
        name: table.schema.field(name).type for name in ("sex", "dx", "seen", "born")
    }
    assert schemas[0] == dict(zip(table.schema.names, table.schema.types, strict=True))
