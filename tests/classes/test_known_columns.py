"""Risk by known columns, quasi-identifiers and Shapley values against slow references."""

from __future__ import annotations

from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_uniques as naive
from unveil import Run, UnveilError
from unveil.classes.column_partitions import divisible_people
from unveil.classes.known_columns import (
    ColumnContributions,
    KnownColumns,
    ShareBand,
    find_identifying_sets,
    risk_by_columns_known,
    shapley_values,
)

Table = list[tuple[int, ...]]


@st.composite
def tables(draw: st.DrawFn, most: int = 5) -> Table:
    """A few rows with a few columns, some constant; −1 is missing."""
    spans = draw(st.lists(st.integers(-1, 3), min_size=1, max_size=most))
    row = st.tuples(*(st.integers(-1, span) for span in spans))
    return draw(st.lists(row, min_size=1, max_size=25))


def encode_rows(rows: Table) -> list[np.ndarray]:
    return [np.array(c, np.int32) for c in zip(*rows, strict=True)]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def random_table(rows: int, columns: int, values: int = 4) -> list[np.ndarray]:
    made = rng(5)
    return [made.integers(-1, values + c % 3, rows).astype(np.int32) for c in range(columns)]


def count_rows(rows: Table) -> tuple[list[np.ndarray], np.ndarray]:
    """The distinct rows and how often each occurs."""
    kinds = sorted(set(rows))
    return encode_rows(kinds), np.array([rows.count(kind) for kind in kinds])


# ---- different rows --------------------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(tables(), st.booleans())
def test_dividing_by_one_column_after_the_other_makes_the_classes(rows: Table, wide: bool) -> None:
    spread = [tuple(v if v < 0 else v * 2**29 for v in row) for row in rows] if wide else rows
    made = divisible_people(encode_rows(spread))
    split = made.single_class()
    assert (split.classes, split.unique) == (1, int(len(rows) == 1))
    for k in range(len(made.codes)):
        split = made.divide_by(split, k)
        known = tuple(made.names[: k + 1])
        assert (split.classes, split.unique) == (naive.count_classes(rows, known), naive.count_uniques(rows, known))
    assert len(made) == len(set(rows)) and made.people == len(rows)


def test_bad_arguments_are_refused() -> None:
    codes = np.arange(3, dtype=np.int32)
    with pytest.raises(UnveilError, match="same length"):
        risk_by_columns_known([codes, codes[:2]], None, rng())
    with pytest.raises(UnveilError, match="negative"):
        shapley_values([codes], np.array([1, -1, 1]), rng())
    with pytest.raises(UnveilError, match="greater than 0"):
        find_identifying_sets([codes], None, 0.0, 2)
    with pytest.raises(UnveilError, match="2 or more"):
        shapley_values([codes] * 3, None, rng(), most=1, sample=1)


# ---- by number of columns --------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(tables())
def test_all_sets_of_as_many_columns(rows: Table) -> None:
    found, columns = risk_by_columns_known(encode_rows(rows), None, rng()), len(rows[0])
    assert [k.known for k in found] == list(range(columns + 1))
    for k in found:
        sets = list(combinations(range(columns), k.known))
        assert k.is_exhaustive and k.sets == len(sets)
        for band, measure in ((k.unique, naive.count_uniques), (k.risk, naive.count_classes)):
            values = [measure(rows, s) / len(rows) for s in sets]
            assert (band.low, band.high) == (min(values), max(values))
            assert band.mean == pytest.approx(sum(values) / len(values))
            assert band.worst_set == sets[values.index(max(values))]
            assert band.interval is None


@settings(max_examples=60, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_counts_and_the_order_of_rows_change_nothing(rows: Table, random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    kinds, counts = count_rows(rows)
    for most in (2_000, 1):
        one = risk_by_columns_known(encode_rows(rows), None, rng(), most=most, sample=20)
        assert one == risk_by_columns_known(encode_rows(shuffled), None, rng(), most=most, sample=20)
        assert one == risk_by_columns_known(kinds, counts, rng(), most=most, sample=20)
    values = [
        shapley_values(c, n, rng(), most=most, sample=20).risk.values.tolist()
        for most in (9, 0)
        for c, n in ((encode_rows(rows), None), (encode_rows(shuffled), None), (kinds, counts))
    ]
    assert values[0] == values[1] == values[2] and values[3] == values[4] == values[5]
    assert find_identifying_sets(encode_rows(rows), None, 0.5, 3) == find_identifying_sets(
        encode_rows(shuffled), None, 0.5, 3
    )
    assert find_identifying_sets(encode_rows(rows), None, 0.5, 3) == find_identifying_sets(kinds, counts, 0.5, 3)


def is_inside(part: ShareBand, whole: ShareBand) -> bool:
    return whole.low <= part.low <= part.mean <= part.high <= whole.high


def test_a_sample_of_sets_says_that_it_is_one() -> None:
    table = random_table(400, 9, 3)
    whole, part = (
        risk_by_columns_known(table, None, rng()),
        risk_by_columns_known(table, None, rng(), most=40, sample=200),
    )
    assert [k.is_exhaustive for k in part] == [comb(9, m) <= 40 for m in range(10)]
    for exact, sampled in zip(whole, part, strict=True):
        if sampled.is_exhaustive:
            assert sampled == exact
            continue
        assert sampled.sets == 200
        for one, other in ((sampled.unique, exact.unique), (sampled.risk, exact.risk)):
            assert is_inside(one, other)
            assert one.interval is not None and one.interval[0] <= one.mean <= one.interval[1]
            assert one.interval[1] - one.interval[0] < 0.25
            assert len(one.worst_set) == sampled.known


def test_intervals_hold_the_mean_as_often_as_they_say() -> None:
    """At a confidence of 80 %, 40 of 200 seeds may miss it on average, and more than 60 with a chance below 1 in 1,000.
    The bound holds for every distribution, and so misses far less often."""
    table = random_table(60, 6, 2)
    truth = risk_by_columns_known(table, None, rng())[3].risk.mean
    missed = 0
    for seed in range(200):
        low, high = _interval(risk_by_columns_known(table, None, rng(seed), most=1, sample=200, confidence=0.8)[3])
        missed += not low <= truth <= high
    assert missed <= 60


def _interval(known: KnownColumns) -> tuple[float, float]:
    assert known.risk.interval is not None
    return known.risk.interval


def test_the_same_seed_gives_the_same_sample() -> None:
    table = random_table(200, 8)
    one, two, three = (risk_by_columns_known(table, None, rng(seed), most=10, sample=30) for seed in (1, 1, 2))
    assert one == two != three


def test_little_work_means_fewer_sets() -> None:
    table = random_table(200, 8)
    small = risk_by_columns_known(table, None, rng(), work=5_000 * 40, sample=1_000)
    assert [k.is_exhaustive for k in small] == [m in (0, 1, 8) for m in range(9)]
    assert {k.sets for k in small if not k.is_exhaustive} == {30}


def test_tables_without_much_in_them() -> None:
    zeros = np.zeros(4, np.int32)
    for k in risk_by_columns_known([zeros, zeros], None, rng()):
        assert k.unique == ShareBand(0.0, 0.0, 0.0, k.unique.worst_set, None)
        assert k.risk.low == k.risk.high == 1 / 4
    assert [k.unique.mean for k in risk_by_columns_known([zeros[:1]], None, rng())] == [1, 1]
    assert [k.unique.mean for k in risk_by_columns_known([zeros[:1]], np.array([3]), rng())] == [0, 0]
    assert [k.risk.mean for k in risk_by_columns_known([zeros[:0]], None, rng())] == [0, 0]
    (nothing,) = risk_by_columns_known([], np.array([4]), rng())
    assert nothing.risk.mean == 1 / 4 and nothing.risk.worst_set == ()
    assert find_identifying_sets([zeros[:0]], None, 0.5, 2).sets == ()
    assert shapley_values([zeros[:0]], None, rng()).risk.values.tolist() == [0]
    assert shapley_values([], np.array([4]), rng()).risk.values.tolist() == []


def test_counts_beyond_32_bits() -> None:
    codes, many = np.array([0, 1, 2], np.int32), np.array([2**40, 1, 2**31])
    people = int(many.sum())
    assert risk_by_columns_known([codes], many, rng())[1].unique.mean == 1 / people
    (found,) = find_identifying_sets([codes], many, 1 / people, 1).sets
    assert found.unique == 1 / people


# ---- quasi-identifiers -----------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(tables(), st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.9, 1.0]), st.integers(0, 5))
def test_all_smallest_sets_that_single_out_a_share(rows: Table, share: float, most: int) -> None:
    columns = len(rows[0])
    found = find_identifying_sets(encode_rows(rows), None, share, most)
    assert not found.truncated and found.size == min(most, columns)
    assert {s.columns for s in found.sets} == set(naive.identifying_sets(rows, columns, share, min(most, columns)))
    assert list(found.sets) == sorted(found.sets, key=lambda s: (len(s.columns), -s.unique, s.columns))
    for one in found.sets:
        assert one.unique == naive.count_uniques(rows, one.columns) / len(rows)


def test_where_work_runs_out_what_was_found_is_complete_up_to_a_size() -> None:
    table = random_table(300, 9)
    whole = find_identifying_sets(table, None, 0.5, 6)
    part = find_identifying_sets(table, None, 0.5, 6, work=5_000 * 300)
    assert part.truncated and 0 < part.size < 6
    complete = tuple(s for s in whole.sets if len(s.columns) <= part.size)
    assert part.sets[: len(complete)] == complete
    assert set(part.sets) <= set(whole.sets)
    assert whole.sets and not whole.truncated


def test_a_column_of_names_is_enough() -> None:
    table = [np.arange(50, dtype=np.int32), *random_table(50, 3)]
    found = find_identifying_sets(table, None, 1.0, 4)
    assert found.sets[0].columns == (0,)
    assert all(0 not in s.columns for s in found.sets[1:])


# ---- Shapley ---------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(tables(4))
def test_shapley_is_the_mean_gain_over_all_orders(rows: Table) -> None:
    found, columns = shapley_values(encode_rows(rows), None, rng()), len(rows[0])
    assert found.exact
    assert found.unique.values == pytest.approx(naive.shapley_values(rows, columns, naive.count_uniques))
    assert found.risk.values == pytest.approx(naive.shapley_values(rows, columns, naive.count_classes))
    assert found.risk.errors.tolist() == [0] * columns


@settings(max_examples=60, deadline=None)
@given(tables(4), st.sampled_from([9, 0]))
def test_efficiency_symmetry_and_dummy(rows: Table, most: int) -> None:
    """The values sum to the total; a duplicated column gets the same value, a constant one gets none."""
    table = encode_rows(rows)
    table = [*table, table[0], np.zeros(len(rows), np.int32)]
    found = shapley_values(table, None, rng(), most=most, sample=10)
    whole = tuple(range(len(rows[0])))
    for shares, measure in ((found.unique, naive.count_uniques), (found.risk, naive.count_classes)):
        gain = (measure(rows, whole) - measure(rows, ())) / len(rows)
        assert shares.total == pytest.approx(gain)
        assert shares.values.sum() == pytest.approx(gain)
        assert shares.values[-1] == 0
        if found.exact:
            assert shares.values[0] == shares.values[-2]


def errors_in_sigmas(part: ColumnContributions, whole: ColumnContributions) -> float:
    return float(np.max(np.abs(part.values - whole.values) / np.maximum(part.errors, 1e-12)))


def test_random_orders_come_close() -> None:
    """16 values, each within 4.5 standard errors: with a fixed seed, and a chance of failing below 1 in 5,000."""
    table = random_table(500, 8, 3)
    whole, part = shapley_values(table, None, rng()), shapley_values(table, None, rng(3), most=5, sample=400)
    assert whole.exact and not part.exact and part.orders == 400
    assert errors_in_sigmas(part.risk, whole.risk) < 4.5 and errors_in_sigmas(part.unique, whole.unique) < 4.5
    assert part.risk.total == whole.risk.total
    again = shapley_values(table, None, rng(3), most=5, sample=400)
    assert again.risk.values.tolist() == part.risk.values.tolist()


def test_a_cancelled_run_stops_and_progress_only_rises() -> None:
    told: list[float] = []
    run = Run(progress=lambda doing, fraction: told.append(fraction or 0.0))
    shapley_values(random_table(200, 7), None, rng(), run=run)
    assert told == sorted(told) and told[0] >= 0 and told[-1] < 1
    run.cancelled.set()
    for ask in (risk_by_columns_known, shapley_values):
        with pytest.raises(KeyboardInterrupt):
            ask(random_table(200, 7), None, rng(), run=run)
    with pytest.raises(KeyboardInterrupt):
        find_identifying_sets(random_table(200, 7), None, 0.1, 3, run=run)


# ---- real data -------------------------------------------------------------------------------------------------------


def test_adult(data: Path) -> None:
    """What ARX reports for all nine columns and for sex, age, race and marital status."""
    table = csv.read_csv(
        data / "tables" / "adult-hierarchies" / "adult.csv", parse_options=csv.ParseOptions(delimiter=";")
    )
    codes = [np.asarray(c.combine_chunks().dictionary_encode().indices, np.int32) for c in table.columns]
    known = risk_by_columns_known(codes, None, rng())
    assert known[9].unique.mean == pytest.approx(0.5142895, abs=5e-8)
    assert known[9].risk.mean == pytest.approx(0.6465752, abs=5e-8)
    first = risk_by_columns_known(codes[:4], None, rng())[4]
    assert (first.unique.mean, first.risk.mean) == pytest.approx((0.0180028, 0.0560308), abs=5e-8)
    parts = shapley_values(codes, None, rng())
    assert parts.risk.values.sum() == pytest.approx(known[9].risk.mean - known[0].risk.mean)
    (best,) = find_identifying_sets(codes, None, known[9].unique.mean, 9).sets
    assert best.columns == tuple(range(9))
