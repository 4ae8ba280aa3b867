"""What the engine counts, against the same row by row; and how much one person can change it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from dp.made_up import AGE, PEOPLE, VISITS, Row, counted, questions, read_rows, rows
from reference.naive_answers import cells_by_person
from unveil.dp.aggregate_sql import CellCounts, cell_sql, count_cells
from unveil.dp.answers import influence
from unveil.dp.declarations import CategoryColumn, DeclaredTable, NumberColumn
from unveil.dp.query_language import Question, parse_question
from unveil.release import Table

declared_tables = st.one_of(st.just(PEOPLE), st.integers(1, 3).map(lambda most: replace(VISITS, rows_per_person=most)))


def nonzero(counts: dict[int, int]) -> Counter[int]:
    return +Counter(counts)


@settings(max_examples=150, deadline=None)
@given(rows, questions)
def test_counts_all_rows_that_may_count(lines: list[Row], question: Question) -> None:
    """Where no person has more rows than count, there is only one right result."""
    for declared in (PEOPLE, replace(VISITS, rows_per_person=len(lines))):
        found, cells = counted(question, declared, lines), cells_by_person(lines, question, declared)
        if question.measure == "count people":
            assert nonzero(found.counts) == nonzero({0: len(cells)})
        elif question.measure in ("sum", "mean"):
            both = sum(cells.values(), Counter())
            assert found == CellCounts({0: both.total()}, sum(cell * n for cell, n in both.items()))
        else:
            assert nonzero(found.counts) == sum(cells.values(), Counter())


@settings(max_examples=150, deadline=None)
@given(rows, questions, st.integers(1, 3))
def test_counts_as_many_rows_of_each_person_as_declared(lines: list[Row], question: Question, most: int) -> None:
    declared = replace(VISITS, rows_per_person=most)
    found, cells = counted(question, declared, lines), cells_by_person(lines, question, declared)
    if question.measure == "count people":
        assert sum(found.counts.values()) == len(cells)
        return
    assert sum(found.counts.values()) == sum(min(most, own.total()) for own in cells.values())
    for cell, count in found.counts.items():
        if question.measure not in ("sum", "mean"):
            assert count <= sum(min(most, own[cell]) for own in cells.values())


@settings(max_examples=200, deadline=None)
@given(rows, questions, declared_tables, st.randoms(use_true_random=False))
def test_one_person_changes_no_more_than_is_said(
    lines: list[Row], question: Question, declared: DeclaredTable, rng: Random
) -> None:
    """The influence that noise is made for: all changes together for Laplace, the largest for a choice."""
    gone = rng.choice(lines)
    others = (
        [line for line in lines if line is not gone]
        if declared.person_column is None
        else [line for line in lines if line["id"] != gone["id"]]
    )
    rng.shuffle(others)  # the order of rows has no influence at all
    true, without = (influence(question, declared, counted(question, declared, some)) for some in (lines, others))
    changes = [abs(one - other) for one, other in zip(true.values, without.values, strict=True)]
    if question.measure in ("quantile", "top"):
        assert max(changes) <= true.sensitivity
    else:
        assert sum(changes) <= true.sensitivity
    if question.measure == "top":
        assert all(one >= other for one, other in zip(true.values, without.values, strict=True))


def test_the_influence_is_reached() -> None:
    """Less noise would not do: some person changes as much as is said."""
    two = [{"id": "a", "age": "120", "length of stay": "0", "ill'ness": "flu"}] * 3
    for text, most in {
        "count": 2,
        "count people": 1,
        "sum age": 2 * 240,
        'histogram "ill\'ness"': 2,
        'top "ill\'ness"': 2,
        "quantile 0.9 of age": 2 * 9,
    }.items():
        question = parse_question(text, VISITS)
        true, without = (influence(question, VISITS, counted(question, VISITS, lines)) for lines in (two, []))
        changes = [abs(one - other) for one, other in zip(true.values, without.values, strict=True)]
        assert true.sensitivity == most
        assert (max if question.measure in ("quantile", "top") else sum)(changes) == most


def test_rows_without_a_person_are_left_out() -> None:
    lines = [{"id": id_, "age": "1", "length of stay": "1", "ill'ness": "flu"} for id_ in ("", "NA", "a")]
    assert counted(Question("count"), VISITS, lines).counts == {0: 1}
    assert counted(Question("count"), PEOPLE, lines).counts == {0: 3}


@pytest.mark.parametrize("hostile", ["x'); DROP TABLE t0; --", 'a" OR 1=1', "%", "\\'"])
def test_no_text_of_a_question_reaches_the_engine_but_as_a_literal(hostile: str) -> None:
    declared = replace(VISITS, columns=(AGE, CategoryColumn("ill'ness", (hostile,))))
    lines = [{"id": "a", "age": "1", "length of stay": "1", "ill'ness": hostile}]
    quoted = hostile.replace("'", "''")
    for sign, count in (("=", 1), ("!=", 0)):
        question = parse_question(f"count where \"ill'ness\" {sign} '{quoted}'", declared)
        assert counted(question, declared, lines).counts == {0: count}
        assert "'" + quoted + "'" in cell_sql(question, declared, read_rows(lines))


def test_numbers_count_the_same_whatever_their_type() -> None:
    """A column of numbers is read as its text would be."""
    values = [1, 17, 18, 65, 500, -3, None]
    texts = ["" if value is None else str(value) for value in values]
    same = {"id": texts, "length of stay": texts, "ill'ness": texts}
    for text in ("sum age", "histogram age", "count where age >= 18", "count where age is missing", "median age"):
        question, found = parse_question(text, PEOPLE), []
        for ages in (pa.array(texts), pa.array(values, pa.int32()), pa.array(values, pa.float64())):
            release = unveil.read(pa.table({"age": ages, **same}))
            assert isinstance(release, Table)
            found.append(count_cells(question, PEOPLE, release))
        assert found[0] == found[1] == found[2]


def test_one_number_has_one_text_whatever_its_type() -> None:
    """One row more may turn a column of integers into one of decimals; others' rows must not count otherwise."""
    codes = DeclaredTable((CategoryColumn("code", ("1", "2.5", "-9")),), "id", 1)
    types = (pa.int64(), pa.float64(), pa.decimal128(12, 3), pa.decimal128(9, 1))
    for values in ([1, 1, -9, -9, 2], [1, 1, -9, -9, 2.5]):
        found = []
        for kind in types if values[-1] == 2 else types[1:]:
            ids = pa.array([7, 7, 8, 9, 9]).cast(pa.float64() if pa.types.is_decimal(kind) else pa.int64())
            release = unveil.read(pa.table({"id": ids, "code": pa.array(values, pa.float64()).cast(kind)}))
            assert isinstance(release, Table)
            found.append([count_cells(parse_question(text, codes), codes, release) for text in
                          ("histogram code", "count where code = '1'", "count where code is other")])  # fmt: skip
        assert all(each == found[0] for each in found)
        assert found[0][1].counts == {0: 1}


def test_sums_beyond_64_bits_are_exact() -> None:
    """Ten million rows of 10¹² are more than the engine's integers hold."""
    declared = DeclaredTable((NumberColumn("x", Decimal(0), Decimal(10**12)),))
    release = unveil.read(pa.table({"x": pa.array([10**12]).take(pa.array([0] * 10_000_000))}))
    assert isinstance(release, Table)
    assert count_cells(parse_question("sum x", declared), declared, release) == CellCounts({0: 10**7}, 10**19)
