"""Recipes: what was done to one table is done to other rows, and its goals are measured again."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from unveil import Policy, ProtectedRelease, Recipe, Table, UnveilError
from unveil.owner_key import load_owner_key

ROLES: dict[str, Any] = {
    "identifier": ("name",),
    "quasi": (("age", "sex", "zip", "admitted", "job"),),
    "sensitive": ("diagnosis",),
}
JOBS = {"clerk": "office", "lawyer": "office", "nurse": "care", "doctor": "care"}


def patients(n: int = 600, seed: int = 1, job: Sequence[str] = tuple(JOBS)) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"Name {k}" for k in range(n)],
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "zip": [f"0{z}" for z in rng.integers(1000, 1400, n)],
            "admitted": [f"2023-{1 + k % 12:02}-{1 + k % 28:02}" for k in rng.integers(0, 400, n)],
            "job": rng.choice(list(job), n),
            "diagnosis": rng.choice(["asthma", "flu", "gout", "none"], n),
            "note": [("ä", "", None, "007", " x ")[k % 5] for k in range(n)],
        }
    )


def policy(tmp_path: Path, **more: Any) -> Policy:
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("".join(f"{job};{kind};*\n" for job, kind in JOBS.items()))
    return Policy(**{**ROLES, **more}, hierarchy={"job": str(jobs)})


def rows_of(table: object, without: Sequence[str] = ()) -> Counter[tuple[Any, ...]]:
    """The rows of a table as a multiset, with values as texts."""
    assert isinstance(table, Table)
    columns = sorted(set(table.columns) - set(without))
    found = pa.Table.from_batches(table.batches()).select(columns)
    return Counter(tuple(row.values()) for row in found.to_pylist())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recipe")


@pytest.fixture(scope="module")
def made(folder: Path) -> ProtectedRelease:
    return unveil.protect(patients(), policy(folder), method="levels", pseudonymise=["name"])


@pytest.fixture(scope="module")
def recipe(made: ProtectedRelease, folder: Path) -> Recipe:
    made.recipe().write(folder / "safe.recipe.toml")
    return Recipe.read(folder / "safe.recipe.toml")


# ---- the same rows ---------------------------------------------------------------------------------------------------


def test_the_same_table_becomes_the_same_release(made: ProtectedRelease, recipe: Recipe) -> None:
    again = unveil.protect(patients(), recipe=recipe)
    assert 0 < sum(rows_of(again.release).values()) < 600  # some rows are left out, the same ones
    assert rows_of(again.release) == rows_of(made.release)
    assert again.assessment.verdict.decision == made.assessment.verdict.decision == "release"
    assert again.recipe() is recipe
    assert {c.becomes for c in recipe.columns} > {"pseudonyms", "coarser", "unchanged"}


@pytest.mark.parametrize("goal", [{"classes.t": 0.5}, {"classes.reidentification": 0.1}, {"linkage.success": 0.2}])
def test_rows_are_left_out_by_the_same_goals(folder: Path, goal: dict[str, float]) -> None:
    """Goals that compare classes with the whole table, that add classes up, and that need more strictness."""
    made = unveil.protect(patients(), policy(folder, tolerance=goal), method="levels")
    again = unveil.protect(patients(), recipe=Recipe.from_toml(made.recipe().to_toml()))
    assert rows_of(again.release) == rows_of(made.release)


def test_several_rows_of_a_person_and_several_attackers(folder: Path) -> None:
    visits = pa.concat_tables([patients(300), patients(300).slice(0, 150)])
    own = policy(folder, identifier=(), subject="name", quasi=(("age", "sex"), ("zip", "job")), insensitive=("note",))
    made = unveil.protect(visits, own, method="levels", pseudonymise=["name"])
    again = unveil.protect(visits, recipe=Recipe.from_toml(made.recipe().to_toml()))
    assert rows_of(again.release) == rows_of(made.release)


def test_halves_get_the_labels_of_the_whole(folder: Path) -> None:
    """Where each half meets the goals by itself, nothing depends on which rows come together."""
    half = patients(500)
    whole = pa.concat_tables([half, half])
    own = policy(folder, rows_are_people=True, tolerance={"classes.k": 10}, settings={"classes": {"suppress": 0}})
    made = unveil.protect(whole, own, method="levels")
    assert sum(rows_of(made.release).values()) == 1000
    recipe = replace(made.recipe(), policy=replace(made.recipe().policy, tolerance={"classes.k": 5}))
    halves = [unveil.protect(half, recipe=recipe) for _ in range(2)]
    assert rows_of(halves[0].release) + rows_of(halves[1].release) == rows_of(made.release)


def test_files_and_frames_are_treated_alike(made: ProtectedRelease, recipe: Recipe, tmp_path: Path) -> None:
    frame = patients(900, seed=5)
    pq.write_table(frame, tmp_path / "june.parquet")
    whole = {
        "arrow": unveil.protect(frame, recipe=recipe),
        "parquet": unveil.protect(unveil.read(tmp_path / "june.parquet"), recipe=recipe),
        "pandas": unveil.protect(pd.DataFrame(frame.to_pydict()), recipe=recipe),
    }
    found = {name: rows_of(each.release) for name, each in whole.items()}
    assert found["arrow"] == found["parquet"] == found["pandas"]


# ---- new values ------------------------------------------------------------------------------------------------------


def small_jobs(folder: Path) -> ProtectedRelease:
    """Twelve people, three of each job, who become two groups of six."""
    own = policy(folder, identifier=(), quasi=(("job",),), rows_are_people=True)
    return unveil.protect(
        pa.table({"job": [*JOBS] * 3, "diagnosis": ["flu", "flu", "gout"] * 4}), own, recipe_methods_only=True
    )


def test_values_without_a_label_are_refused_or_shown_as_the_root(folder: Path) -> None:
    made = small_jobs(folder)
    assert rows_of(made.release) == Counter({("flu", kind): 4 for kind in ("office", "care")}) + Counter(
        {("gout", kind): 2 for kind in ("office", "care")}
    )
    june = pa.table({"job": [*JOBS] * 5 + ["CANARY"] * 5, "diagnosis": ["flu", "flu", "gout", "flu", "gout"] * 5})
    with pytest.raises(UnveilError) as refused:
        unveil.protect(june, recipe=made.recipe())
    said = "5 rows have a value in 'job' that the recipe has no label for, the first of them row 21"
    assert said in str(refused.value)
    assert "--unseen root" in str(refused.value) and "CANARY" not in str(refused.value)
    shown = unveil.protect(june, recipe=made.recipe(), unseen="root")
    assert Counter(job for _, job in rows_of(shown.release).elements()) == {"office": 10, "care": 10, "*": 5}
    with pytest.raises(UnveilError, match="unseen must be one of refuse and root"):
        unveil.protect(june, recipe=made.recipe(), unseen="keep")  # type: ignore[arg-type]


def test_rows_without_quasi_identifiers_are_as_useful_as_before() -> None:
    table = pa.table({"name": [f"Name {k}" for k in range(30)], "note": ["x", "y", "z"] * 10})
    made = unveil.protect(table, Policy(identifier=("name",), insensitive=("note",), rows_are_people=True))
    again = unveil.protect(table, recipe=made.recipe())
    assert again.assessment.protections[-1].usefulness == 1
    assert again.assessment.verdict == made.assessment.verdict


def test_a_recipe_says_what_becomes_of_columns_and_rows(recipe: Recipe) -> None:
    done = unveil.protect(patients(), recipe=recipe).assessment.protections[-1]
    assert "As the recipe says: " in done.sentence and "zip coarser" in done.sentence
    assert "of 600 rows left out. The quasi-identifiers keep " in done.sentence


def test_rare_values_that_were_grouped_are_grouped_again(folder: Path) -> None:
    rng = np.random.default_rng(4)
    table = pa.table(
        {c: rng.choice(list("abcdefgh"), 400, p=[0.3, 0.3, 0.2, 0.1, 0.04, 0.03, 0.02, 0.01]) for c in "xyz"}
    )
    own = Policy(quasi=(("x", "y", "z"),), tolerance={"classes.k": None, "linkage.success": 0.2}, rows_are_people=True)
    made = unveil.protect(table, own, method="values")
    recipe = Recipe.from_toml(made.recipe().to_toml())
    assert recipe.lists_values and "keep it secret" in recipe.to_toml()
    assert rows_of(unveil.protect(table, recipe=recipe).release) == rows_of(made.release)


# ---- the goals -------------------------------------------------------------------------------------------------------


def smallest_class(*tables: object) -> int:
    """The fewest rows with the same quasi-identifiers, counted row by row."""
    classes = Counter[tuple[Any, ...]]()
    for table in tables:
        assert isinstance(table, Table)
        columns = [c for c in ROLES["quasi"][0] if c in table.columns]
        classes.update(tuple(r[c] for c in columns) for r in pa.Table.from_batches(table.batches()).to_pylist())
    return min(classes.values())


def test_rows_of_small_classes_are_left_out_of_new_rows_too(made: ProtectedRelease, recipe: Recipe) -> None:
    june = unveil.protect(patients(900, seed=9), recipe=recipe, released=[made.release])
    assert june.assessment.verdict.decision == "release"
    assert smallest_class(june.release) >= 5
    assert smallest_class(june.release, made.release) >= 5


def test_old_and_new_rows_together_must_be_within_tolerance(folder: Path) -> None:
    """Every class is like its own table, but not like both tables together."""
    first_rows = pa.table({"age": ["30"] * 20 + ["50"] * 20, "diagnosis": ["flu", "gout"] * 20})
    own = Policy(
        quasi=(("age",),),
        sensitive=("diagnosis",),
        rows_are_people=True,
        tolerance={"classes.t": 0.3},
        settings={"classes": {"suppress": 0}},
    )
    first = unveil.protect(first_rows, own, recipe_methods_only=True)
    alone = pa.table({"age": ["30"] * 20, "diagnosis": ["mumps", "asthma"] * 10})
    assert unveil.protect(alone, recipe=first.recipe()).case is not None
    together = unveil.protect(alone, recipe=first.recipe(), released=[first.release])
    assert together.case is None and "classes.t" in together.blocking_findings


def test_too_few_rows_for_the_goals_give_nothing(recipe: Recipe) -> None:
    few = unveil.protect(patients(20, seed=6), recipe=recipe)
    assert few.case is None and few.assessment.verdict.decision == "protect first"


def test_people_with_random_numbers_cannot_be_recognised(folder: Path) -> None:
    visits = pa.concat_tables([patients(300), patients(300).slice(0, 150)])
    own = policy(folder, identifier=(), subject="name", insensitive=("note",))
    made = unveil.protect(visits, own, method="levels")
    with pytest.raises(UnveilError, match="name gets new random numbers in every release"):
        unveil.protect(visits, recipe=made.recipe(), released=[made.release])


# ---- what does not fit -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (patients(50).drop_columns(["zip"]), "lacks zip"),
        (patients(50).append_column("more", [["x"] * 50]), "has more, which the recipe does not know"),
    ],
)
def test_other_columns_are_refused(recipe: Recipe, table: pa.Table, said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        unveil.protect(table, recipe=recipe)


def test_another_release_than_one_of_the_recipe_is_refused(recipe: Recipe) -> None:
    with pytest.raises(UnveilError, match="was not made by this recipe"):
        unveil.protect(patients(900, seed=5), recipe=recipe, released=[patients(50)])


def test_another_key_is_refused(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNVEIL_KEY", str(tmp_path / "other.key"))
    with pytest.raises(UnveilError, match=f"made with the key {recipe.key_id}") as refused:
        unveil.protect(patients(), recipe=recipe)
    assert (tmp_path / "other.key").read_text().strip() not in str(refused.value)


def test_the_key_is_not_in_the_recipe(recipe: Recipe) -> None:
    assert load_owner_key().secret.hex() not in recipe.to_toml().lower()
    assert recipe.key_id == load_owner_key().id


def test_another_hierarchy_under_the_same_name_is_refused(made: ProtectedRelease, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("clerk;a;*\nlawyer;b;*\nnurse;b;*\ndoctor;b;*\n")
    text = made.recipe().to_toml(folder)
    with pytest.raises(UnveilError, match="hierarchy of 'job' is not the one that the recipe was written with"):
        unveil.protect(patients(), recipe=Recipe.from_toml(text, folder=tmp_path))


def test_a_recipe_says_the_policy(recipe: Recipe) -> None:
    for more in ({"policy": Policy()}, {"method": "levels"}, {"pseudonymise": ["zip"]}):
        with pytest.raises(UnveilError, match="a recipe sets the policy"):
            unveil.protect(patients(), recipe=recipe, **more)  # type: ignore[arg-type]
    with pytest.raises(UnveilError, match="only under the recipe that made them"):
        unveil.protect(patients(), released=[patients()])


def test_what_depends_on_other_rows_has_no_recipe(folder: Path) -> None:
    said = "what local makes of a row depends on other rows, so it cannot be written as a recipe"
    with pytest.raises(UnveilError, match=said):
        unveil.protect(patients(300), policy(folder), method="local", recipe_methods_only=True)
    made = unveil.protect(patients(300), policy(folder), method="local")
    with pytest.raises(UnveilError, match=said):
        made.recipe()
    baskets = folder / "baskets.dat"
    baskets.write_text("1 2\n1\n2 3\n" * 20)
    with pytest.raises(UnveilError, match="only what is done to tables"):
        unveil.protect(unveil.read(baskets), Policy(tolerance={"items.expected_cracks": 1})).recipe()


# ---- the file --------------------------------------------------------------------------------------------------------


def test_a_recipe_is_private_and_names_files_from_where_it_lies(made: ProtectedRelease, folder: Path) -> None:
    (folder / "deeper").mkdir()
    made.recipe().write(folder / "deeper" / "safe.recipe.toml")
    assert (folder / "deeper" / "safe.recipe.toml").stat().st_mode & 0o077 == 0
    assert 'job = "../jobs.csv"' in (folder / "deeper" / "safe.recipe.toml").read_text()
    again = Recipe.read(folder / "deeper" / "safe.recipe.toml")
    assert rows_of(unveil.protect(patients(), recipe=again).release) == rows_of(made.release)


def test_a_recipe_survives_being_written_and_read(recipe: Recipe) -> None:
    assert Recipe.from_toml(recipe.to_toml()).to_toml() == recipe.to_toml()


def test_a_recipe_says_once_what_is_tolerated_and_only_what_is_about_tables(recipe: Recipe) -> None:
    said = tomllib.loads(recipe.to_toml())
    assert said["goals"]["classes.k"] == 5
    assert "tolerance" not in said["policy"]
    assert {"classes", "linkage"} <= set(said["policy"]) and not {"items", "matching"} & set(said["policy"])


def test_goals_do_not_change_with_the_presets_of_another_version(recipe: Recipe) -> None:
    loose = replace(recipe, policy=replace(recipe.policy, tolerance={"classes.k": 7, "classes.l_distinct": None}))
    again = Recipe.from_toml(loose.to_toml()).policy
    assert again.tolerance_for("classes.k") == 7 and again.tolerance_for("classes.l_distinct") is None


def test_a_changed_recipe_is_refused(recipe: Recipe) -> None:
    text = recipe.to_toml()
    for before, after in (('"classes.k" = 5', '"classes.k" = 2'), ('becomes = "left out"', 'becomes = "unchanged"')):
        if before in text:
            with pytest.raises(UnveilError, match="was changed after unveil wrote it"):
                Recipe.from_toml(text.replace(before, after, 1))
    with pytest.raises(UnveilError, match="is not a recipe"):
        Recipe.from_toml("[policy]\nquasi = ['age']\n")
    with pytest.raises(UnveilError, match="of another format"):
        Recipe.from_toml(text.replace("format = 1", "format = 2"))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_malformed_recipe_is_refused_in_one_line(recipe: Recipe, data: st.DataObject) -> None:
    """Cut, overwritten or doubled anywhere, with the checksum that it would have or without: one line, or a recipe."""
    lines = recipe.to_toml().splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    other = data.draw(st.sampled_from(["", "x = 1", "[columns]", 'becomes = "coarser"', "rule = 3", "\x00", lines[0]]))
    how = data.draw(st.sampled_from(["cut", "replace", "double", "value"]))
    if how == "cut":
        lines = lines[:at]
    elif how == "replace":
        lines[at] = other
    elif how == "double":
        lines.insert(at, lines[at])
    else:
        wrong = data.draw(st.sampled_from(["0", "-1.5", "[]", '"?"', "{}", "true", "1979-05-27", "[[1]]", "nan"]))
        lines[at] = f"{lines[at].partition('=')[0]} = {wrong}"
    for text in ("\n".join(lines), with_checksum("\n".join(lines))):
        said = ""
        try:
            Recipe.from_toml(text)
        except UnveilError as refused:
            said = str(refused)
        assert "\n" not in said


def with_checksum(text: str) -> str:
    """The text with the checksum that it would have if unveil had written it."""
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return text
    said.pop("sha256", None)
    digest = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()
    return re.sub(r'sha256 = "\w+"', f'sha256 = "{digest}"', text, count=1)
