"""Mondrian against its recursive reference, and its goals on what is released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from classes.class_checks import check_classes
from classes.test_full_domain import LABELS, NAMES, SETTINGS, case, policy, small_tables
from classes.test_protect import ROLES, measured_classes, patients, released_rows
from reference.naive_mondrian import mondrian_classes
from unveil import Case, Policy
from unveil.classes.protect import PROTECTIONS
from unveil.classes.protections.class_protector import class_protector
from unveil.classes.protections.column_order import column_order
from unveil.classes.protections.mondrian import PeopleGroups, split_people
from unveil.release.label_matching import match_labels
from unveil.run import Run

Run_ = Callable[..., object]


def groups_of(rows: list[tuple[str, str, str, str]], tolerance: dict[str, float | None], **more: object) -> object:
    """The rows of each class; None if there are no classes."""
    protector = class_protector(case(rows), policy(tolerance, **more), Run())  # type: ignore[arg-type]
    orders = [column_order(column) for column in protector.columns]
    found = split_people(orders, protector.people, protector.goals(1.0), protector.weights, Run())
    if found is None:
        return None
    assert isinstance(found, PeopleGroups)
    class_of_row = found.class_of[protector.combination_of_row].tolist()
    return {frozenset(i for i, own in enumerate(class_of_row) if own == c) for c in range(found.classes)}


@pytest.mark.parametrize("setting", [name for name, (_, _, risk) in SETTINGS.items() if risk is None])
@settings(max_examples=30, deadline=None)
@given(small_tables, st.sampled_from([{}, {"age": "3"}, {"sex": "2.5", "zip": "0"}]))
def test_classes_are_those_of_the_reference(
    setting: str, rows: list[tuple[str, str, str, str]], importance: dict[str, str]
) -> None:
    tolerance, goals, _ = SETTINGS[setting]
    weights = [float(importance.get(name, 1)) for name in NAMES]
    known = [row[:3] for row in rows]
    numeric = [len({row[0] for row in rows}) > 1, False, False]
    wanted = mondrian_classes(known, [row[3] for row in rows], LABELS, numeric, goals, weights)
    found = groups_of(rows, tolerance, importance=importance)
    assert found == (None if wanted is None else set(map(frozenset, wanted)))


def is_true_label(column: int, label: object, value: str) -> bool:
    """Whether a released label stands for a value: by the hierarchy, or as the assessment reads it."""
    return label in LABELS[column][value] or bool(len(match_labels([value], [str(label)])[0]))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("setting", SETTINGS)
@settings(max_examples=20, deadline=None)
@given(small_tables)
def test_every_class_is_fine(setting: str, ties: bool, rows: list[tuple[str, str, str, str]]) -> None:
    made = PROTECTIONS["mondrian"].fit(case(rows), policy(SETTINGS[setting][0], divide_ties=ties), Run(), 1.0)
    check_classes(made, setting, rows, is_true_label)


awkward = st.lists(
    st.tuples(
        st.sampled_from(["-1.5", "2", "3.25", "10", "1e3", "-", None, "n/a"]),
        st.sampled_from(["2023-01-05", "2023-01-09", "2022-07-01", "-", None]),
        st.sampled_from(["x", "y", "?"]),
    ),
    min_size=3,
    max_size=25,
)


@pytest.mark.parametrize("method", ["levels", "local", "mondrian"])
@settings(max_examples=30, deadline=None)
@given(awkward)
def test_goals_hold_if_missing_values_come_first(method: str, rows: list[tuple[str | None, ...]]) -> None:
    """A missing value that sorts before others moved all of them to their neighbours' labels."""
    columns = {
        name: pa.array([row[c] for row in rows], pa.string()) for c, name in enumerate(("weight", "day", "kind"))
    }
    asked = Policy(quasi=(tuple(columns),), missing=("-", "n/a", "?"), tolerance={"classes.k": 3})
    made = PROTECTIONS[method].fit(Case(unveil.read(pa.table(columns))), asked, Run(), 1.0)
    if made is None:  # all columns would have to go
        return
    found = released_rows(made.apply().release)
    assert found and min(Counter(tuple(row.values()) for row in found).values()) >= 3


def test_labels_of_numbers_are_read_as_ranges() -> None:
    """Wholes, negative numbers and decimals: each original value fits the label that it got, and no class is wider
    than its people."""
    rng = np.random.default_rng(5)
    table = pa.table({"age": rng.integers(0, 99, 80), "change": rng.normal(0, 10, 80).round(2)})
    made = PROTECTIONS["mondrian"].fit(
        Case(unveil.read(table)), Policy(quasi=(("age", "change"),), tolerance={"classes.k": 4}), Run(), 1.0
    )
    assert made is not None
    for name in table.column_names:
        labels = [str(row[name]) for row in released_rows(made.apply().release)]
        for value, label in zip(table.column(name).to_pylist(), labels, strict=True):
            assert len(match_labels([str(value)], [label])[0]) == 1
            ends = label.strip("[]").replace("–", ", ").split(", ")
            assert {Fraction(end) for end in ends} <= {Fraction(str(v)) for v in table.column(name).to_pylist()}


def test_columns_to_keep_stay_exact() -> None:
    rng = np.random.default_rng(8)
    rows = [(*(str(rng.choice(sorted(own))) for own in LABELS), str(rng.choice(list("abc")))) for _ in range(200)]
    made = PROTECTIONS["mondrian"].fit(case(rows), policy({"classes.k": 4}, keep=["age", "sex"]), Run(), 1.0)
    assert made is not None
    assert [(r["age"], r["sex"]) for r in released_rows(made.apply().release)] == [(row[0], row[2]) for row in rows]
    alone = policy({"classes.k": 40}, keep=["age", "sex"])
    assert PROTECTIONS["mondrian"].fit(case(rows), alone, Run(), 1.0) is None


def test_ties_are_divided_only_if_asked() -> None:
    """Three, ten and three people of ages 20, 30 and 40 with k = 5: only people of the same age on both sides of a cut
    let it be made."""
    rows = [("21", "11", "f", "a")] * 3 + [("33", "11", "f", "a")] * 10 + [("44", "11", "f", "a")] * 3
    shown = {}
    for ties in (False, True):
        made = PROTECTIONS["mondrian"].fit(case(rows), policy({"classes.k": 5}, divide_ties=ties), Run(), 1.0)
        assert made is not None
        shown[ties] = Counter(row.get("age") for row in released_rows(made.apply().release))
    assert shown == {False: {None: 16}, True: {"21–33": 8, "33–44": 8}}


def test_numbers_written_as_codes_keep_their_prefixes() -> None:
    table = pa.table({"zip": [f"0{z}" for z in range(1000, 1060)], "age": list(range(20, 80))})
    asked = Policy(quasi=(("zip", "age"),), tolerance={"classes.k": 10})
    made = PROTECTIONS["mondrian"].fit(Case(unveil.read(table)), asked, Run(), 1.0)
    assert made is not None
    assert all("–" not in str(row.get("zip", "")) for row in released_rows(made.apply().release))


def test_the_default_policy_is_reached() -> None:
    table = patients()
    made = unveil.protect(table, Policy(**ROLES), method="mondrian")
    assert made.assessment.verdict.decision == "release"
    k, values = measured_classes(made, ROLES["quasi"][0])
    assert k >= 5 and values >= 2 and made.release.rows == 300  # type: ignore[union-attr]
    assert made.case is not None and made.case.truth is not None
    after = released_rows(made.release)
    for row, place in zip(table.to_pylist(), made.case.truth.tolist(), strict=True):
        assert all(row[c] == after[place][c] for c in ("diagnosis", "note", "cost"))


def test_several_sets_of_quasi_identifiers_hold_at_once() -> None:
    sets = (("age", "sex"), ("sex", "zip"), ("age", "admitted"))
    table = patients().drop_columns(["name"])
    asked = Policy(quasi=sets, sensitive=("diagnosis",), insensitive=("note", "cost"))
    made = unveil.protect(table, asked, method="mondrian")
    assert made.assessment.verdict.decision == "release"
    for group in sets:
        k, values = measured_classes(made, group)
        assert k >= 5 and values >= 2


def test_more_people_than_there_are_cannot_be_alike() -> None:
    asked = policy({"classes.k": 11})
    assert PROTECTIONS["mondrian"].fit(case([("21", "11", "f", "a")] * 10), asked, Run(), 1.0) is None


def test_the_command_splits_people(tmp_path: Path, unveil: Run_) -> None:
    lines = ["age,sex,diagnosis", *(f"{20 + k % 40},{'fm'[k % 2]},{'abcd'[k // 2 % 4]}" for k in range(240))]
    (tmp_path / "p.csv").write_text("\n".join(lines))
    options = ("--quasi", "age,sex", "--sensitive", "diagnosis", "--goal", "classes.k=20", "--method", "mondrian")
    for ties in ((), ("--divide-ties",)):
        done = unveil("protect", "p.csv", *options, *ties, "-o", "safe.csv")
        assert done.returncode == 0, done.stderr  # type: ignore[attr-defined]
        rows = [line.rsplit(",", 1)[0] for line in (tmp_path / "safe.csv").read_text().splitlines()[1:]]
        assert len(rows) == 240 and min(Counter(rows).values()) >= 20
        (tmp_path / "safe.csv").unlink()
