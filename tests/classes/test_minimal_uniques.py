"""Minimal sample uniques against the definition, and scores against published values."""

from __future__ import annotations

from collections import Counter
from math import factorial
from pathlib import Path

import numpy as np
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_uniques as naive
from unveil import Run, UnveilError
from unveil.classes.minimal_uniques import MinimalUniques, dis_suda_scores, find_minimal_uniques

Table = list[tuple[int, ...]]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A few rows with up to five columns, some constant; −1 is missing."""
    spans = draw(st.lists(st.integers(-1, 3), min_size=1, max_size=5))
    row = st.tuples(*(st.integers(-1, span) for span in spans))
    return draw(st.lists(row, min_size=1, max_size=25))


def encode_rows(rows: Table) -> list[np.ndarray]:
    return [np.array(c, np.int32) for c in zip(*rows, strict=True)]


@settings(max_examples=200, deadline=None)
@given(tables(), st.integers(1, 5))
def test_every_row_has_the_sets_of_the_definition(rows: Table, most: int) -> None:
    found = find_minimal_uniques(encode_rows(rows), None, most)
    columns = len(rows[0])
    expected = naive.minimal_sets(rows, columns, min(most, columns))
    assert [list(found.sets_of_row(row)) for row in range(len(rows))] == expected
    assert not found.truncated
    sizes = Counter(len(s) for e in expected for s in e)
    assert found.sets_by_size.tolist() == [sizes[k] for k in range(1, found.largest_size + 1)]
    by_row = [sum(naive.set_score(columns, found.largest_size, len(s)) for s in e) for e in expected]
    assert found.score.tolist() == by_row
    having = [
        sum(naive.set_score(columns, found.largest_size, len(s)) for e in expected for s in e if c in s)
        for c in range(columns)
    ]
    assert found.contribution == pytest.approx([x / max(1, sum(by_row)) for x in having])
    classes = Counter(rows)
    assert found.unique_people == sum(classes[r] == 1 for r in rows)
    assert found.people_in_pairs == sum(classes[r] == 2 for r in rows)


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5))
def test_the_group_by_over_all_sets_finds_the_same(rows: Table, most: int) -> None:
    found, expected = (
        find_minimal_uniques(encode_rows(rows), None, most),
        naive.minimal_sets_by_numpy(encode_rows(rows), min(most, len(rows[0]))),
    )
    assert {s for s in expected if len(expected[s])} == set(found.sets)
    for k, columns in enumerate(found.sets):
        assert found.people_per_set[k] == len(expected[columns])
        assert all(columns in found.sets_of_row(row) for row in expected[columns])


@settings(max_examples=80, deadline=None)
@given(tables(), st.data())
def test_a_row_of_several_people_is_never_unique(rows: Table, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    found = find_minimal_uniques(encode_rows(rows), np.array(counts))
    people = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
    expected = naive.minimal_sets(people, len(rows[0]), found.largest_size)
    by_row = dict(zip(people, expected, strict=True))
    for k, (row, count) in enumerate(zip(rows, counts, strict=True)):
        assert list(found.sets_of_row(k)) == (by_row[row] if count == 1 and Counter(people)[row] == 1 else [])


@settings(max_examples=80, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_changes_nothing(rows: Table, random: object) -> None:
    turned, across = list(range(len(rows))), list(range(len(rows[0])))
    random.shuffle(turned)  # type: ignore[attr-defined]
    random.shuffle(across)  # type: ignore[attr-defined]
    one, two = (
        find_minimal_uniques(encode_rows(rows)),
        find_minimal_uniques(encode_rows([tuple(rows[r][c] for c in across) for r in turned])),
    )
    for new, old in enumerate(turned):
        assert {tuple(sorted(across[c] for c in s)) for s in two.sets_of_row(new)} == set(one.sets_of_row(old))
    assert two.score.tolist() == one.score[turned].tolist()
    assert two.contribution.tolist() == one.contribution[across].tolist()
    assert dis_suda_scores(two.score, 3, 4, 0.1).tolist() == dis_suda_scores(one.score, 3, 4, 0.1)[turned].tolist()


def test_tables_without_much_in_them() -> None:
    zeros = np.zeros(4, np.int32)
    same = find_minimal_uniques([zeros, zeros])
    assert same.sets == () and same.score.tolist() == [0] * 4 and same.contribution.tolist() == [0, 0]
    one = find_minimal_uniques([zeros[:1], zeros[:1]])
    assert one.sets_of_row(0) == ((0,), (1,)) and one.score.tolist() == [2]
    assert find_minimal_uniques([zeros[:1]], np.array([7])).sets_of_row(0) == ()
    none = find_minimal_uniques([zeros[:0], zeros[:0]])
    assert none.sets == () and none.score.tolist() == []
    nothing = find_minimal_uniques([], np.array([5]))
    assert nothing.sets == () and nothing.sets_of_row(0) == () and nothing.sets_by_size.tolist() == []


def test_many_columns_and_many_values() -> None:
    """More columns than a word has bits, and sparse codes: the last two columns together identify a row."""
    columns = [np.zeros(4, np.int32) for _ in range(130)]
    columns[128][:], columns[129][:] = [-1, -1, 2**30, 2**30], [5, 2**29, 5, 2**29]
    found = find_minimal_uniques(columns, None, 2)
    assert found.sets == ((128, 129),)
    assert found.sets_by_size.tolist() == [0, 4]
    columns[3][0] = 1
    found = find_minimal_uniques(columns, None, 2)
    expected = naive.minimal_sets([tuple(c[row] for c in columns) for row in range(4)], 130, 2)
    assert [list(found.sets_of_row(row)) for row in range(4)] == expected


def random_table(rows: int, columns: int) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.integers(0, 4, rows).astype(np.int32) for _ in range(columns)]


def as_sets(found: MinimalUniques) -> list[tuple[tuple[int, ...], ...]]:
    return [found.sets_of_row(row) for row in range(len(found.begins) - 1)]


def test_where_work_or_room_runs_out_smaller_sets_are_still_complete() -> None:
    table = random_table(300, 8)
    whole = find_minimal_uniques(table, None, 4)
    few = int(whole.sets_by_size[:3].sum())
    for part in (find_minimal_uniques(table, None, 4, work=5000 * 100), find_minimal_uniques(table, None, 4, keep=few)):
        assert part.truncated and part.largest_size == 3
        assert as_sets(part) == [tuple(s for s in sets if len(s) <= 3) for sets in as_sets(whole)]
    assert not whole.truncated
    names = [np.arange(9, dtype=np.int32)]
    assert (
        find_minimal_uniques([*names, *random_table(9, 3)], None, 4, keep=0).largest_size == 1
    )  # the sets of one column are always kept


def test_bad_arguments_are_refused() -> None:
    codes = np.arange(3, dtype=np.int32)
    with pytest.raises(UnveilError, match="at least one column"):
        find_minimal_uniques([codes], None, 0)
    with pytest.raises(UnveilError, match="same length"):
        find_minimal_uniques([codes, codes[:2]])
    with pytest.raises(UnveilError, match="same length"):
        find_minimal_uniques([codes], np.ones(2, np.int64))
    with pytest.raises(UnveilError, match="negative"):
        find_minimal_uniques([codes], np.array([1, -1, 1]))
    with pytest.raises(UnveilError, match="fraction"):
        dis_suda_scores(np.ones(1), 0, 3, 0.0)
    with pytest.raises(UnveilError, match="27 columns"):
        dis_suda_scores(np.ones(1), 0, 28, 0.1)


def test_a_cancelled_run_stops_and_progress_only_rises() -> None:
    told: list[float] = []
    run = Run(progress=lambda doing, fraction: told.append(fraction or 0.0))
    find_minimal_uniques(random_table(200, 7), None, 4, run=run)
    assert told == sorted(told) and told[0] >= 0 and told[-1] < 1
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        find_minimal_uniques(random_table(200, 7), None, 4, run=run)


# ---- published -------------------------------------------------------------------------------------------------------

SURVEY = """
urban female secondary-incomplete employed
urban female secondary-incomplete employed
urban female primary-incomplete non-lf
urban male secondary-complete employed
rural female secondary-complete unemployed
urban male secondary-complete employed
urban female primary-complete non-lf
urban male post-secondary unemployed
urban female secondary-incomplete non-lf
urban female secondary-incomplete non-lf
"""


def survey() -> list[np.ndarray]:
    rows = [line.split() for line in SURVEY.split("\n") if line]
    return [np.unique(c, return_inverse=True)[1].astype(np.int32) for c in zip(*rows, strict=True)]


def test_the_scores_of_the_practice_guide() -> None:
    """Benschop, Machingauta and Welch, *Statistical Disclosure Control: A Practice Guide*, table 4.5, sets of at most 3
    of 4 columns; record 5 has four minimal sample uniques. Its DIS-SUDA scores were made from the scores of an older
    program, which give 1.75, 3.25 and 2.75 for the same records."""
    found = find_minimal_uniques(survey(), None, 3)
    assert found.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert found.sets_of_row(4) == ((0,), (1, 2), (1, 3), (2, 3))
    assert (found.unique_people, found.people_in_pairs) == (4, 6)
    older = np.array([0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0])
    published = [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    assert dis_suda_scores(older, found.people_in_pairs, 4, 0.01) == pytest.approx(published, abs=5e-5)


def test_with_sets_of_all_sizes_the_score_is_that_of_sdcmicro() -> None:
    """(c − s)! for a set of s of c columns."""
    found = find_minimal_uniques(survey(), None, 4)
    assert found.points.tolist() == [factorial(4 - s) for s in range(1, 5)]
    assert found.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=10), st.integers(1, 20), st.floats(0.01, 0.99))
def test_dis_suda_spreads_the_risk_of_the_table(scores: list[int], paired: int, fraction: float) -> None:
    """The odds are proportional to score^q; if all scores are equal, everyone has DIS."""
    found = dis_suda_scores(np.array([0.0, *scores]), paired, 4, fraction)
    assert found[0] == 0 and (found[1:] > 0).all() and (found < 1).all()
    odds = found[1:] / (1 - found[1:])
    assert odds / odds[0] == pytest.approx((np.array(scores) / scores[0]) ** 1.2)
    people = len(scores)
    dis = people * fraction / (people * fraction + paired * (1 - fraction))
    assert dis_suda_scores(np.full(people, 6.0), paired, 4, fraction) == pytest.approx([dis] * people)
    assert dis_suda_scores(np.array([2.0, 0.0]), 0, 4, fraction).tolist() == [1, 0]


def test_adult(data: Path) -> None:
    """Of 30,162 people 51.42895 % are unique on all nine columns (ARX); all of them have a minimal set of some size."""
    table = csv.read_csv(
        data / "tables" / "adult-hierarchies" / "adult.csv", parse_options=csv.ParseOptions(delimiter=";")
    )
    codes = [np.asarray(c.combine_chunks().dictionary_encode().indices, np.int32) for c in table.columns]
    found = find_minimal_uniques(codes, None, 9)
    assert found.unique_people == int((np.diff(found.begins) > 0).sum()) == 15_512
    four = find_minimal_uniques(codes, None, 4)
    assert four.sets_by_size.tolist() == found.sets_by_size[:4].tolist()
    expected = naive.minimal_sets_by_numpy(codes, 3)
    counted = [sum(len(rows) for s, rows in expected.items() if len(s) == k) for k in (1, 2, 3)]
    assert counted == four.sets_by_size[:3].tolist()
