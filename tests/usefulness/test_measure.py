"""All measures of a protected table, against the definition and in every form of the report."""

from __future__ import annotations

import json
from itertools import combinations

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_use as naive
from unveil import Policy
from unveil.assessment import Assessment
from unveil.report.schema import assessment_schema
from unveil.wording import percent_text
from usefulness.samples import NUMBERS, numbers, rows_of, use_of

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


def test_use_is_said_in_every_form() -> None:
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
