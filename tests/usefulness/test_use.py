"""What a protected table can still be used for, against the definition, through ``unveil.protect``."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_use as naive
from unveil import Policy, ProtectedRelease, Table, UnveilError
from unveil.assessment import Assessment
from unveil.release.codes import Codes
from unveil.report.schema import assessment_schema
from unveil.usefulness.count_errors import column_distance, query_errors
from unveil.usefulness.use_measure import UseMeasure
from unveil.usefulness.value_groups import ComparedColumn, compare_column
from unveil.wording import number_text, percent_text

COLUMNS = ("age", "sex", "zip", "drug")
POLICY = Policy(
    quasi=(("age", "sex", "zip"),),
    insensitive=("drug",),
    tolerance={"classes.k": 3},
    hierarchy={"age": "intervals:10,20", "zip": "prefixes"},
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A few rows with at most ten values in each column, so that every value is a group of its own."""
    n = draw(st.integers(6, 40))
    ages = st.sampled_from(["21", "22", "34", "35", "36", "47", "58", "59"])
    zips = st.sampled_from([None, "10115", "10117", "10243", "20095"])
    columns = {
        "age": draw(st.lists(ages, min_size=n, max_size=n)),
        "sex": draw(st.lists(st.sampled_from("fm"), min_size=n, max_size=n)),
        "zip": ["10115", *draw(st.lists(zips, min_size=n - 1, max_size=n - 1))],
        "drug": draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n)),
    }
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def rows_of(release: object) -> list[dict[str, str | None]]:
    assert isinstance(release, Table)
    rows: list[dict[str, str | None]] = pa.Table.from_batches(release.batches()).to_pylist()
    return rows


def use_of(made: ProtectedRelease) -> dict[str, UseMeasure]:
    return {measure.id: measure for p in made.assessment.protections if p.chosen for measure in p.use}


@pytest.mark.parametrize("method", ["levels", "local"])
@given(table=tables())
@settings(max_examples=25, deadline=None)
def test_counts_and_cells_are_off_by_what_the_definition_says(method: str, table: pa.Table) -> None:
    made = unveil.protect(table, POLICY, method=method)
    if made.case is None:
        return
    original, released, use = table.to_pylist(), rows_of(made.release), use_of(made)
    truth = made.case.truth
    assert truth is not None
    assert use["cells"].after == pytest.approx(naive.unchanged(original, released, truth.tolist(), COLUMNS))
    for measure, width in (("columns", 1), ("pairs", 2)):
        off = {names: naive.distance(original, released, names) for names in combinations(COLUMNS, width)}
        assert use[measure].after == pytest.approx(np.mean(list(off.values())))
        assert f"off by {percent_text(use[measure].after)} on average" in use[measure].sentence
        most = max(off.values())
        worst = [" and ".join(names) for names, x in off.items() if x > most - 1e-9]
        assert most < 1e-9 or any(f"most for {w} (" in use[measure].sentence for w in worst)


def codes(name: str, texts: list[str]) -> Codes:
    table = unveil.read(pa.table({name: texts}))
    assert isinstance(table, Table)
    return table.codes([name])[name]


def compared(name: str, before: list[str], after: list[str]) -> ComparedColumn:
    found = compare_column(name, codes(name, before), codes(name, after), None)
    assert found is not None
    return found


def test_a_random_count_is_off_by_what_the_definition_says() -> None:
    rng = np.random.default_rng(1)
    ages, sexes = ([str(a) for a in rng.integers(20, 30, 50)], [str(s) for s in rng.choice(["f", "m"], 50)])
    coarse = ["20–24" if int(a) < 25 else "25–29" for a in ages]
    original = [{"age": a, "sex": s} for a, s in zip(ages, sexes, strict=True)]
    released = [{"age": a, "sex": s} for a, s in zip(coarse[5:], sexes[5:], strict=True)]
    columns = [compared("age", ages, coarse[5:]), compared("sex", sexes, sexes[5:])]
    errors = {round(float(e), 9) for e in query_errors(columns, 200, np.random.default_rng(7))}
    possible = set()
    values = sorted(set(ages))
    for width in range(1, len(values) // 2 + 1):
        for begin in range(len(values) - width + 1):
            for also in ({}, {"sex": {"f"}}, {"sex": {"m"}}):
                true, guess = naive.count(original, released, {"age": set(values[begin : begin + width])} | also)
                possible.add(round(abs(guess - true) / max(true, 1), 9))
    assert errors <= possible
    assert len(errors) > 20


def test_numbers_are_counted_in_tenths_of_the_rows() -> None:
    ages = [str(a) for a in range(20, 80)] * 2
    assert compared("age", ages, ages).groups == 11  # ten, and missing values
    lower_half = ["20–49" if int(a) < 50 else a for a in ages]
    assert column_distance(compared("age", ages, lower_half)) == pytest.approx(0)
    hidden = ["20–79" if int(a) < 50 else a for a in ages]  # half of them may be any age
    assert column_distance(compared("age", ages, hidden)) == pytest.approx(0.25)


def test_a_label_that_is_a_new_number_counts_where_that_number_is() -> None:
    ages = [str(a) for a in (20, 21, 22, 40, 41, 42)]
    column = compared("age", ages, ["21", "21", "21", "41.5", "41.5", "41.5"])
    assert column.label_numbers is not None
    assert column.label_numbers[column.label_of_row].tolist() == [21, 21, 21, 41.5, 41.5, 41.5]
    assert column.group_shares[column.label_of_row[-1]].sum() == 1


def numbers(n: int = 400) -> pa.Table:
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, n)
    noise = rng.normal(0, 5, (2, n))
    return pa.table(
        {
            "age": age,
            "height": (150 + noise[0] * 2).round().astype(int),
            "income": (100 * age + 20 * noise[1]).round().astype(int),
            "class": np.where(age + noise[0] > 40, "old", "young"),
        }
    )


NUMBERS = Policy(quasi=(("age", "height"),), insensitive=("income", "class"), tolerance={"classes.k": 10})


def test_correlations_change_by_what_the_numbers_covered_say() -> None:
    table = numbers()
    made = unveil.protect(table, NUMBERS, method="levels")
    rows, original = rows_of(made.release), table.to_pylist()
    names = ("age", "height", "income")
    values = {c: sorted({str(r[c]) for r in original}, key=int) for c in names}

    def number(row: dict[str, str | None], column: str) -> float:
        own = naive.covered(str(row.get(column, "*")), values[column])
        return sum(map(float, own)) / len(own)

    changes = {}
    for pair in combinations(names, 2):
        was = naive.pearson([(float(r[pair[0]]), float(r[pair[1]])) for r in original])
        now = naive.pearson([(number(r, pair[0]), number(r, pair[1])) for r in rows])
        changes[pair] = abs(was - now), was, now
    found = use_of(made)["correlations"]
    assert found.after == pytest.approx(np.mean([c[0] for c in changes.values()]), abs=1e-9)
    pair, (_, was, now) = max(changes.items(), key=lambda item: item[1][0])
    assert f"most that of {pair[0]} and {pair[1]}: from {number_text(was)} to {number_text(now)}." in found.sentence
    assert found.after > 0


def test_a_column_is_predicted_as_well_as_it_was_if_the_others_stay_as_they_are() -> None:
    table = numbers().set_column(0, "age", pa.array(["x"] * 400))
    made = unveil.protect(table, NUMBERS, method="levels", predict="class")
    found = use_of(made)["prediction"]
    counts = np.unique(table["class"].to_numpy(zero_copy_only=False), return_counts=True)[1]
    assert (
        f"always guessing what is most common would be right in {percent_text(counts.max() / 400)}." in found.sentence
    )
    assert found.before > counts.max() / 400 + 0.1  # income tells
    assert found.interval is not None and found.interval[0] < found.after < found.interval[1]
    assert abs(found.after - found.before) < 0.1


def test_a_prediction_is_worse_if_what_it_needs_is_gone() -> None:
    table = numbers().drop_columns(["income"])
    policy = Policy(quasi=(("age", "height"),), insensitive=("class",), tolerance={"classes.k": 200})
    found = use_of(unveil.protect(table, policy, method="levels", predict="class"))["prediction"]
    assert found.before > 0.75 > found.after


def test_a_column_that_is_not_there_cannot_be_predicted() -> None:
    with pytest.raises(UnveilError, match="there is no column 'wages' to predict"):
        unveil.protect(numbers(), NUMBERS, predict="wages")


def test_use_is_said_in_every_form(tmp_path: Path) -> None:
    made = unveil.protect(numbers(), NUMBERS)
    a = made.assessment
    plain = json.loads(a.to_json())
    jsonschema.validate(plain, assessment_schema())
    assert Assessment.from_dict(plain).protections == a.protections
    page, brief, full = a.to_html(), a.to_text(), a.to_text(details=True)
    for measure in use_of(made).values():
        assert measure.sentence in page
        assert " ".join(measure.sentence.split()) in " ".join(full.split())
        assert measure.title[1:] in brief
    assert "What the data can still be used for" in page
    assert made._repr_html_().count(use_of(made)["cells"].sentence) == 1


def test_hidden_values_are_read_as_any_value() -> None:
    """As far as more values are missing than before; hiding part of a column is no worse than leaving it out."""
    before, hidden = ["1"] * 3 + ["2"] * 3 + ["3"], ["1", "1", "1", "", "", "", ""]
    table = unveil.read(pa.table({"a": [t or None for t in hidden]}))
    assert isinstance(table, Table)
    column = compare_column("a", codes("a", before), table.codes(["a"])["a"], None)
    assert column is not None and column.has_new_labels
    wanted = [3 / 7 + 4 / 21, 4 / 21, 4 / 21]
    assert column_distance(column) == pytest.approx(
        sum(abs(x - y) for x, y in zip(wanted, (3 / 7, 3 / 7, 1 / 7), strict=True)) / 2
    )
