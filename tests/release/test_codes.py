"""Columns as integers: the same as a dictionary gives, parsed once."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.reference.naive_table import naive_codes

from unveil.engine import Engine
from unveil.release.codes import Codes, encode_column, mark_missing
from unveil.release.table import read_csv, table_from_frame

TEXT = st.one_of(
    st.none(), st.sampled_from(["", " ", "?", " ? ", "NA", "a", "b", "A", "é", "01", "1", "\t*\n"]), st.text(max_size=3)
)
COLUMN = st.one_of(
    st.lists(TEXT.filter(lambda t: t is None or "\0" not in t), max_size=30).map(lambda v: (v, pa.string())),
    st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=30).map(lambda v: (v, pa.int64())),
    st.lists(st.one_of(st.none(), st.floats(width=32)), max_size=30).map(lambda v: (v, pa.float64())),
    st.lists(st.one_of(st.none(), st.booleans()), max_size=30).map(lambda v: (v, pa.bool_())),
    st.lists(st.one_of(st.none(), st.dates()), max_size=30).map(lambda v: (v, pa.date32())),
    st.lists(st.one_of(st.none(), st.decimals(-9, 9, places=2)), max_size=30).map(lambda v: (v, pa.decimal128(5, 2))),
    st.lists(st.one_of(st.none(), st.binary(max_size=2)), max_size=30).map(lambda v: (v, pa.binary())),
)


def chunked(values: list[Any], kind: pa.DataType, size: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values[i : i + size], kind) for i in range(0, len(values), size)], kind)


@settings(deadline=None, max_examples=300)
@given(COLUMN, st.integers(1, 31), st.booleans())
@example(([0.0, -0.0, float("nan"), float("-inf")], pa.float64()), 2, False)
@example(([], pa.string()), 1, False)
@example(([None, None], pa.null()), 1, False)
def test_same_as_a_dictionary(column: tuple[list[Any], pa.DataType], size: int, dictionary: bool) -> None:
    values, kind = column
    expected, distinct = naive_codes(values)
    array = chunked(values, kind, size)
    found = encode_column(array.dictionary_encode() if dictionary and kind != pa.null() else array)
    assert found.codes.dtype == np.int32
    assert found.codes.tolist() == expected
    assert found.values.to_pylist() == distinct


@settings(deadline=None, max_examples=200)
@given(st.lists(TEXT, max_size=30), st.lists(st.sampled_from(["", "?", "NA", "*", "a"]), unique=True))
def test_missing_tokens(values: list[Any], missing: list[str]) -> None:
    expected, distinct = naive_codes(values, missing)
    for kind in (pa.string(), pa.large_string()):
        found = mark_missing(encode_column(chunked(values, kind, 7)), tuple(missing))
        assert found.codes.dtype == np.int32
        assert found.codes.tolist() == expected
        assert found.values.to_pylist() == distinct


def test_missing_tokens_are_text() -> None:
    numbers = encode_column(pa.chunked_array([[1, 2]]))
    assert mark_missing(numbers, ("1",)) is numbers


@pytest.mark.parametrize("values", [[Decimal("1.5")], [dt.date(2020, 1, 1)], [True], [1], ["a"]])
def test_one_row(values: list[Any]) -> None:
    assert encode_column(pa.chunked_array([values])).codes.tolist() == [0]


def test_many_values_and_chunks() -> None:
    rng = np.random.default_rng(0)
    values = [f"v{i}" for i in rng.integers(0, 5000, 40_000)]
    expected, distinct = naive_codes(values)
    found = encode_column(chunked(values, pa.string(), 999))
    assert found.codes.tolist() == expected
    assert found.values.to_pylist() == distinct


def test_file_is_parsed_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\nx,1,\ny,1,?\nx,2, NA \n")
    table = read_csv(path, engine=Engine())
    codes = table.codes(["a", "b"])
    assert len(table.engine.log) == 1
    assert codes["a"].codes.tolist() == [0, 1, 0]
    again = table.codes(["b", "a"], ("1",))
    assert len(table.engine.log) == 1
    assert again["b"].codes.tolist() == [-1, -1, 0]
    assert again["a"].codes is codes["a"].codes
    assert table.codes(["c", "a", "c"], ("", "?", "NA"))["c"].codes.tolist() == [-1, -1, -1]
    assert len(table.engine.log) == 2
    assert table.codes(["b"])["b"].codes.tolist() == [0, 0, 1]
    assert table.codes([]) == {}
    assert len(table.engine.log) == 2
    assert "c2" in Counter(table.engine.log[1].split())


def test_codes_follow_the_rows(tmp_path: Path) -> None:
    n = 300_000
    table = table_from_frame(pa.table({"x": np.arange(n) % 977, "y": [str(i % 31) for i in range(n)]}), engine=Engine())
    codes = table.codes(["x", "y"])
    assert np.array_equal(codes["x"].codes, np.arange(n) % 977)
    back = codes["y"].values.take(pa.array(codes["y"].codes)).to_pylist()
    assert back == [str(i % 31) for i in range(n)]


def test_a_missing_text_that_is_no_text_was_a_defect() -> None:
    """Bytes that are not UTF-8 reach a command line as lone surrogates; no value equals them."""
    column = Codes(np.array([0, 1], np.int32), pa.array(["?", "a"]))
    assert mark_missing(column, ("\udcff",)) is column
    assert mark_missing(column, ("\udcff", "?")).codes.tolist() == [-1, 0]
