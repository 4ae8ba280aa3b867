"""What a column looks like, without changing it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from unveil.engine import Engine
from unveil.release.column_profile import ColumnProfile, infer_type, profile_columns
from unveil.release.table import read_csv, table_from_frame


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["007", "1", "-3", "+4", " 5 "], "whole number"),
        (["1", "1.50", ".5", "2.", "1e-3", "nan", "-Infinity", "INF"], "number"),
        (["2020-01-01", "1.2.1999", "31/12/2020", "2020/1/2", "2020-01", "2020-01-01T10:00:00Z"], "date"),
        (["1", "x"], "text"),
        (["1,5"], "text"),
        (["=1+1"], "text"),
        (["1\n2"], "text"),
        (["12 34"], "text"),
        (["e5", "."], "text"),
        ([""], "text"),
        (["١٢"], "text"),
        ([], "nothing"),
    ],
)
def test_type_of_text(values: list[str], kind: str) -> None:
    for arrow in (pa.string(), pa.large_string()):
        assert infer_type(pa.array(values, arrow)) == kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1], "whole number"),
        ([1.5], "number"),
        ([Decimal("1.5")], "number"),
        ([dt.date(2020, 1, 1)], "date"),
        ([dt.datetime(2020, 1, 1)], "date"),
        ([True], "text"),
        ([b"x"], "text"),
    ],
)
def test_type_of_others(values: list[Any], kind: str) -> None:
    assert infer_type(pa.array(values)) == kind


def test_counts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("zip,n,gone\n01234,1,?\n1234, ? ,\n01234,1.50,NA\n")
    found = profile_columns(read_csv(path, engine=Engine()), ("", "?", "NA"))
    assert found == {
        "zip": ColumnProfile("zip", "whole number", 3, 2, 0),
        "n": ColumnProfile("n", "number", 3, 2, 1),
        "gone": ColumnProfile("gone", "nothing", 3, 0, 3),
    }


def test_all_null_column() -> None:
    found = profile_columns(table_from_frame(pa.table({"a": pa.nulls(3)}), engine=Engine()), ())
    assert found["a"] == ColumnProfile("a", "nothing", 3, 0, 3)


def test_one_query_for_all_columns() -> None:
    table = table_from_frame(pa.table({"a": [1], "b": [2]}), engine=Engine())
    profile_columns(table, ())
    profile_columns(table, ("?",))
    assert len(table.engine.log) == 1


@pytest.mark.parametrize(
    ("rows", "distinct", "missing", "unique"),
    [(100, 95, 0, True), (100, 90, 0, False), (19, 19, 0, False), (100, 20, 80, True)],
)
def test_nearly_unique(rows: int, distinct: int, missing: int, unique: bool) -> None:
    assert ColumnProfile("x", "text", rows, distinct, missing).is_nearly_unique is unique


def test_whole_numbers_however_they_are_stored() -> None:
    whole = [pa.array([1.0, -3.0]), pa.array(["2.0", "5."]), pa.array([Decimal("7.00")], pa.decimal128(4, 2))]
    assert {infer_type(values) for values in whole} == {"whole number"}
    others = [pa.array([1.5]), pa.array(["2.5", "5"]), pa.array([Decimal("0.25")], pa.decimal128(2, 2))]
    assert {infer_type(values) for values in others} == {"number"}
