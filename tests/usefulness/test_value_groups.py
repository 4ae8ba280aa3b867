"""The groups that the values and labels of a column are counted in."""

from __future__ import annotations

import pyarrow as pa
import pytest

import unveil
from unveil import Table
from unveil.usefulness.count_errors import column_distance
from unveil.usefulness.value_groups import compare_column
from usefulness.samples import codes, compared


def test_a_label_that_is_a_new_number_counts_where_that_number_is() -> None:
    ages = [str(a) for a in (20, 21, 22, 40, 41, 42)]
    column = compared("age", ages, ["21", "21", "21", "41.5", "41.5", "41.5"])
    assert column.label_numbers is not None
    assert column.label_numbers[column.label_of_row].tolist() == [21, 21, 21, 41.5, 41.5, 41.5]
    assert column.group_shares[column.label_of_row[-1]].sum() == 1


def test_hidden_values_are_read_as_any_value() -> None:
    """As far as more values are missing than before; hiding part of a column is no worse than leaving it out."""
    before, hidden = ["1"] * 3 + ["2"] * 3 + ["3"], ["1", "1", "1", "", "", "", ""]
    table = unveil.read(pa.table({"a": [t or None for t in hidden]}))
    assert isinstance(table, Table)
    column = compare_column("a", codes("a", before), table.codes(["a"])["a"], None)
    assert column is not None and column.has_new_labels
    wanted, true = (3 / 7 + 4 / 21, 4 / 21, 4 / 21), (3 / 7, 3 / 7, 1 / 7)
    off = sum(abs(x - y) for x, y in zip(wanted, true, strict=True)) / 2
    assert column_distance(column) == pytest.approx(off)


def test_codes_with_leading_zeros_are_no_numbers() -> None:
    assert compared("zip", ["02139", "10115"], ["02139", "10115"]).numbers is None
    assert compared("age", ["21", "10"], ["21", "10"]).numbers is not None
