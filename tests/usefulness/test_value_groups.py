"""The groups that the values and labels of a column are counted in."""

from __future__ import annotations

from usefulness.samples import compared


def test_a_label_that_is_a_new_number_counts_where_that_number_is() -> None:
    ages = [str(a) for a in (20, 21, 22, 40, 41, 42)]
    column = compared("age", ages, ["21", "21", "21", "41.5", "41.5", "41.5"])
    assert column.label_numbers is not None
    assert column.label_numbers[column.label_of_row].tolist() == [21, 21, 21, 41.5, 41.5, 41.5]
    assert column.group_shares[column.label_of_row[-1]].sum() == 1
