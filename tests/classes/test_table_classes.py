"""Class sizes against the slow reference, and the properties they must have."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.naive_classes import sizes_of_people
from unveil import Engine, Table
from unveil.classes.table_classes import count_class_sizes, read_row_values, smallest_classes
from unveil.release.table import table_from_frame

ENGINE = Engine()
VALUE = st.sampled_from(["a", "A", "b", "", "?", None, "é", "1.50"])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[object, ...]], int]:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[VALUE] * width, st.sampled_from("pqrs")), min_size=1, max_size=25))
    return rows, width


def make_table(rows: list[tuple[object, ...]]) -> Table:
    columns = list(zip(*rows, strict=True))
    names = [f"column {i}" for i in range(len(columns))]
    return table_from_frame(pa.table([pa.array(c, pa.string()) for c in columns], names), engine=ENGINE)


@settings(max_examples=60, deadline=None)
@given(tables(), st.booleans())
def test_agrees_with_comparing_every_pair(drawn: tuple[list[tuple[object, ...]], int], persons: bool) -> None:
    rows, width = drawn
    table = make_table(rows)
    quasi = table.columns[:width]
    crowds = count_class_sizes(table, quasi, table.columns[width] if persons else None)
    expected = sizes_of_people(rows, range(width), width if persons else None)
    histogram = Counter(expected.values())
    assert dict(zip(crowds.size.tolist(), crowds.subjects.tolist(), strict=True)) == dict(histogram)
    assert crowds.total == len(expected)
    assert crowds.expected_reidentifications == pytest.approx(sum(1 / s for s in expected.values()))
    assert crowds.smallest_size == min(expected.values())
    assert [crowds.count_below(k) for k in (1, 2, 3, 100)] == [
        sum(s < k for s in expected.values()) for k in (1, 2, 3, 100)
    ]


@settings(max_examples=60, deadline=None)
@given(tables(), st.booleans(), st.integers(1, 5))
def test_the_smallest_classes_are_found_with_their_first_row(
    drawn: tuple[list[tuple[object, ...]], int], persons: bool, limit: int
) -> None:
    rows, width = drawn
    table = make_table(rows)
    found = smallest_classes(table, table.columns[:width], 4, limit, table.columns[width] if persons else None)
    shown: dict[object, set[tuple[object, ...]]] = {}
    first: dict[object, int] = {}
    for i, row in enumerate(rows, 1):
        who = row[width] if persons else i
        shown.setdefault(who, set()).add(row[:width])
        first.setdefault(who, i)
    classes: dict[frozenset[tuple[object, ...]], list[int]] = {}
    for who, known in shown.items():
        classes.setdefault(frozenset(known), []).append(first[who])
    expected = sorted((len(members), min(members)) for members in classes.values() if len(members) < 4)
    assert [(c.size, c.row) for c in found] == expected[:limit]


@settings(max_examples=25, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(drawn: tuple[list[tuple[object, ...]], int], random: object) -> None:
    rows, width = drawn
    shuffled = rows[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = (count_class_sizes(make_table(r), make_table(r).columns[:width]) for r in (rows, shuffled))
    assert first.size.tolist() == second.size.tolist()
    assert first.subjects.tolist() == second.subjects.tolist()


def test_values_come_in_the_order_of_the_rows_asked_for() -> None:
    table = make_table([("a", "p"), ("b", "q"), (None, "r")])
    assert read_row_values(table, [3, 1], table.columns).to_pylist() == [
        {"column 0": None, "column 1": "r"},
        {"column 0": "a", "column 1": "p"},
    ]


def test_a_person_with_several_rows_counts_once_and_is_known_by_all_of_them() -> None:
    """p shows {a, b}; q and r show {a}. An attacker who knows that p was also at b finds p."""
    crowds = count_class_sizes(
        make_table([("a", "p"), ("a", "q"), ("a", "r"), ("b", "p"), ("a", "q")]), ["column 0"], "column 1"
    )
    assert crowds.size.tolist() == [1, 2]
    assert crowds.subjects.tolist() == [1, 2]


def test_pairs_of_rows_can_be_unique_where_single_rows_are_not() -> None:
    rows = [(f"{zip_code}", f"p{person}") for person in range(6) for zip_code in ((0, 1), (0, 2), (1, 2))[person % 3]]
    assert count_class_sizes(make_table(rows), ["column 0"]).smallest_size == 4
    assert count_class_sizes(make_table(rows), ["column 0"], "column 1").smallest_size == 2
