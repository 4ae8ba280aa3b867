"""Declared tables, rows and questions for tests of ``dp``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

import unveil
from unveil.dp.aggregate_sql import CellCounts, count_cells
from unveil.dp.declarations import CategoryColumn, DeclaredTable, NumberColumn
from unveil.dp.query_language import AllOf, AnyOf, Comparison, Condition, IsMissing, IsOther, Not, Question
from unveil.release import Table

AGE = NumberColumn("age", Decimal(-10), Decimal(120), Decimal("0.5"), (Decimal(18), Decimal(65)))
STAY = NumberColumn("length of stay", Decimal(0), Decimal(5000))
ILLNESS = CategoryColumn("ill'ness", ("flu", "cold", "it's"))
VISITS = DeclaredTable((AGE, STAY, ILLNESS), "id", 2, ("", "NA"))
PEOPLE = replace(VISITS, person_column=None, rows_per_person=1)

Row = Mapping[str, str]

numbers = st.one_of(
    st.sampled_from(
        ["", "NA", "x", "17", "18", "18.0", "64.99", "65", "-3.75", "17.26", "1e9", "-1e400", "nan", "inf"]
    ),
    st.integers(-50, 6000).map(str),
)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["", "a", "b", "c", "d"]),
            "age": numbers,
            "length of stay": numbers,
            "ill'ness": st.sampled_from(["", "NA", "flu", "cold", "it's", "Flu", "other"]),
        }
    ),
    min_size=1,
    max_size=12,
)
_amounts = st.sampled_from(["-10", "17.26", "18", "65", "1e3"]).map(Decimal)
_texts = st.sampled_from(["flu", "it's", "cold"])
_signs = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


def _conditions(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    some = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(parts.map(Not), some.map(AllOf), some.map(AnyOf))


conditions: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(
        st.sampled_from(["age", "ill'ness"]).map(IsMissing),
        st.just(IsOther("ill'ness")),
        st.builds(lambda sign, value: Comparison("age", sign, (value,)), _signs, _amounts),
        st.builds(lambda sign, value: Comparison("ill'ness", sign, (value,)), st.sampled_from(["=", "!="]), _texts),
        st.lists(_texts, min_size=1, max_size=3).map(lambda values: Comparison("ill'ness", "in", tuple(values))),
        st.lists(_amounts, min_size=1, max_size=3).map(lambda values: Comparison("age", "in", tuple(values))),
    ),
    _conditions,
    max_leaves=4,
)
measures = st.sampled_from(
    [
        Question("count"),
        Question("count people"),
        Question("sum", ("age",)),
        Question("mean", ("length of stay",)),
        Question("quantile", ("length of stay",), share=Decimal("0.3")),
        Question("quantile", ("age",), share=Decimal("0.5")),
        Question("histogram", ("age",)),
        Question("histogram", ("ill'ness", "age")),
        Question("top", ("ill'ness",)),
    ]
)
questions = st.builds(lambda asked, said: replace(asked, condition=said), measures, st.none() | conditions)


def read_rows(lines: Sequence[Row]) -> Table:
    """Rows as a release."""
    release = unveil.read(pa.table({name: [line[name] for line in lines] for name in lines[0]}))
    assert isinstance(release, Table)
    return release


def counted(question: Question, declared: DeclaredTable, lines: Sequence[Row]) -> CellCounts:
    """What the engine counts; nothing if there are no rows, as there is no table then."""
    if not lines:
        return CellCounts({})
    return count_cells(question, declared, read_rows(lines))
