"""What is found of rows when all sets of things known are counted, against every set looked at and against attacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from math import comb, inf

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference import exact_linkage
from unveil import Run, UnveilError
from unveil.linkage.attack import exact_success as module
from unveil.linkage.attack.adversaries import least_support_adversary, scoreboard_adversary
from unveil.linkage.attack.exact_success import ExactSuccess, count_success, counting_cost, is_countable
from unveil.linkage.attack.experiment import attack_records
from unveil.linkage.records import Records, records_from_codes
from unveil.linkage.similarity import equal_values, within_distance
from unveil.release.codes import encode_column

Rows = Sequence[Sequence[int | None]]

# Sets of bits wherever possible, some, or never; entries merged wherever possible or never; and the smallest slices.
MERGED = {"_MERGE_SHARE": 1.0, "_IDS_PER_ENTRY": 10**4}
WAYS: tuple[dict[str, float], ...] = (
    {},
    {"_MAX_BITSET_GROUP": 0},
    {"_MAX_BITSET_GROUP": 0, **MERGED},
    {"_MAX_BITSET_GROUP": 3, **MERGED, "_SLICE_ENTRIES": 1},
    {"_MAX_BITSET_GROUP": 4, "_MERGE_SHARE": 0.0},
)
ways = st.sampled_from(WAYS)


@contextmanager
def computed(way: dict[str, float]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(module, name, value)
        yield


def made(rows: Rows) -> Records:
    columns = zip(*rows, strict=True)
    return records_from_codes(
        {f"c{i}": encode_column(pa.chunked_array([pa.array(c, pa.int64())])) for i, c in enumerate(columns)}
    )


def random_records(n: int, spans: Sequence[int], nulls: float, seed: int = 0) -> Records:
    """Few values are frequent, and as many are null in every column."""
    rng = np.random.default_rng(seed)
    columns = {}
    for i, span in enumerate(spans):
        weights = 1 / np.arange(1, span + 1)
        values = rng.choice(span, n, p=weights / weights.sum())
        columns[f"c{i}"] = encode_column(pa.chunked_array([pa.array(values, mask=rng.random(n) < nulls)]))
    return records_from_codes(columns)


def plain(records: Records) -> list[dict[int, int]]:
    cuts = zip(records.indptr, records.indptr[1:], strict=False)
    return [dict(zip(records.attribute[a:b].tolist(), records.value[a:b].tolist(), strict=True)) for a, b in cuts]


def stacked(found: ExactSuccess) -> np.ndarray:
    return np.stack([found.row, found.scoreboard, found.unique, found.size])


def expected(records: Records, m: int) -> np.ndarray:
    rows = plain(records)
    found = [exact_linkage.exact_probabilities(rows, r, m) for r in range(len(rows))]
    return np.array([[np.nan] * 4 if x is None else list(map(float, x)) for x in found]).reshape(-1, 4).T


@st.composite
def tables(draw: st.DrawFn, values: Sequence[int | None] = (None, 0, 0, 0, 1, 1, 2)) -> list[tuple[int | None, ...]]:
    """Up to 25 rows, many of them equal, of up to six columns, some of which are constant."""
    width = draw(st.integers(1, 6))
    column = [st.just(0) if draw(st.integers(0, 5)) == 0 else st.sampled_from(values) for _ in range(width)]
    return draw(st.lists(st.tuples(*column), min_size=1, max_size=25))


sizes = st.lists(st.integers(1, 7), min_size=1, max_size=7)


# ---- against all sets ------------------------------------------------------------------------------------------------


@settings(max_examples=250, deadline=None)
@given(tables(), sizes, ways)
@example([(None, None)], [1, 2], {})
@example([(0, 1)], [1, 2, 3], {})
@example([(0, None), (0, 0), (0, 0), (None, 0)], [1, 2], {})
def test_all_sets_are_counted(rows: Rows, ms: list[int], way: dict[str, float]) -> None:
    records = made(rows)
    with computed(way):
        found = count_success(records, ms)
    assert [one.known for one in found] == sorted(set(ms))
    for one in found:
        np.testing.assert_allclose(stacked(one), expected(records, one.known), rtol=1e-12, atol=0)


@settings(max_examples=100, deadline=None)
@given(tables((0, 0, 0, 1, 1, 2)), sizes, ways)
def test_complete_tables(rows: Rows, ms: list[int], way: dict[str, float]) -> None:
    """Â is Scoreboard, and its success is the number of groups over that of rows, on average over all sets."""
    with computed(way):
        found = count_success(made(rows), ms)
    n, c = len(rows), len(rows[0])
    for one in found:
        assert one.row.tobytes() == one.scoreboard.tobytes()
        if one.known > c:
            assert np.isnan(stacked(one)).all()
            continue
        groups = sum(len({tuple(row[i] for i in some) for row in rows}) for some in combinations(range(c), one.known))
        assert one.row.mean() == pytest.approx(groups / n / comb(c, one.known), rel=1e-12)


@pytest.mark.parametrize("nulls", [0.0, 0.3])
def test_groups_of_all_sizes(nulls: float) -> None:
    """From hundreds down to one, where every way to divide a group is taken."""
    records = random_records(300, (12, 2, 5, 3, 2, 2), nulls)
    found = count_success(records, range(1, 7))
    for one in found:
        np.testing.assert_allclose(stacked(one), expected(records, one.known), rtol=1e-12)
    for way in WAYS[1:]:
        with computed(way):
            for one, other in zip(found, count_success(records, range(1, 7)), strict=True):
                np.testing.assert_allclose(stacked(one), stacked(other), rtol=1e-13)


def test_columns_that_nobody_shares() -> None:
    """A column of numbers that are all different makes everyone unique who is known by it."""
    rows = [(k, k // 2, None if k % 3 else 0) for k in range(12)]
    records = made(rows)
    for one in count_success(records, [1, 2, 3]):
        np.testing.assert_allclose(stacked(one), expected(records, one.known), rtol=1e-12)


def test_many_values() -> None:
    """More than 16 bits number; everyone is one of two in the first column, and of half of them in the second."""
    count = 70_000
    columns = {"a": np.repeat(np.arange(count), 2), "b": np.tile([0, 1], count)}
    one, two = count_success(
        records_from_codes({k: encode_column(pa.chunked_array([pa.array(v)])) for k, v in columns.items()}), [1, 2]
    )
    assert (one.size == (2 + count) / 2).all() and (one.unique == 0).all()
    assert (one.row == (1 / 2 + 1 / count) / 2).all()
    assert (two.row == 1).all() and (two.size == 1).all()


def test_many_columns() -> None:
    """Of 60 columns, two rows differ in one: all sets without it are counted without being looked at."""
    rows = [[0] * 60, [0] * 59 + [1]]
    for one in count_success(made(rows), [1, 30, 60]):
        together = 1 - one.known / 60
        np.testing.assert_allclose(one.scoreboard, 1 - together / 2, rtol=1e-12)
        np.testing.assert_allclose(one.unique, 1 - together, rtol=1e-12, atol=1e-15)


# ---- order -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(tables(), st.randoms(use_true_random=False), ways)
def test_the_order_of_rows_and_columns_does_not_matter(rows: Rows, random: object, way: dict[str, float]) -> None:
    order, columns = list(range(len(rows))), list(range(len(rows[0])))
    random.shuffle(order)
    random.shuffle(columns)
    ms = range(1, len(columns) + 1)
    with computed(way):
        found = count_success(made(rows), ms)
        moved = count_success(made([rows[r] for r in order]), ms)
        turned = count_success(made([[row[a] for a in columns] for row in rows]), ms)
    for one, two, three in zip(found, moved, turned, strict=True):
        assert stacked(one)[:, order].tobytes() == stacked(two).tobytes()
        np.testing.assert_allclose(stacked(one), stacked(three), rtol=1e-12)


def test_the_order_of_many_rows_does_not_matter() -> None:
    records = random_records(3_000, (40, 9, 5, 3, 2), 0.1)
    order = np.random.default_rng(1).permutation(records.n)
    for one, two in zip(
        count_success(records, [1, 2, 4]), count_success(records.select(order), [1, 2, 4]), strict=True
    ):
        assert stacked(one)[:, order].tobytes() == stacked(two).tobytes()


# ---- attacks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nulls", [0.0, 0.25])
def test_attacks_find_as_much(nulls: float) -> None:
    """Intervals hold the exact value. Each misses it with probability 10⁻⁶, one of 18 with 2 · 10⁻⁵; the seed is fixed,
    so that none does by chance."""
    records, ms = random_records(2_000, (30, 8, 5, 4, 2), nulls), (1, 2, 4)
    found = count_success(records, ms)
    played = attack_records(
        records,
        [scoreboard_adversary(), least_support_adversary()],
        ms,
        rng=np.random.default_rng(7),
        confidence=1 - 1e-6,
    )
    for one in found:
        outcomes = {o.adversary.name: o for o in played if o.known == one.known}
        estimates = [
            outcomes["scoreboard"].success,
            outcomes["smallest"].success,
            outcomes["scoreboard"].unicity,
        ]
        for estimate, exact in zip(estimates, (one.scoreboard, one.row, one.unique), strict=True):
            low, high = estimate.interval
            assert low <= np.nanmean(exact) <= high and high - low < 0.25
            assert estimate.count == np.isfinite(exact).sum()


# ---- what is asked ---------------------------------------------------------------------------------------------------


def test_only_equality_is_counted() -> None:
    coded = {"age": encode_column(pa.chunked_array([[30, 31]])), "sex": encode_column(pa.chunked_array([["f", "m"]]))}
    assert is_countable(records_from_codes(coded, {"age": equal_values()}))
    alike = records_from_codes(coded, {"age": within_distance(1)})
    assert not is_countable(alike)
    with pytest.raises(UnveilError, match="compared for equality"):
        count_success(alike, [1])


@pytest.mark.parametrize("ms", [[], [0, 1], [-1]])
def test_what_is_known_is_one_thing_or_more(ms: list[int]) -> None:
    for function in (count_success, counting_cost):
        with pytest.raises(UnveilError, match="1 or more"):
            function(made([(0, 1)]), ms)


def test_no_rows_and_nothing_to_know() -> None:
    empty = records_from_codes({"a": encode_column(pa.chunked_array([pa.array([], pa.int64())]))})
    assert [len(one.row) for one in count_success(empty, [1, 2])] == [0, 0]
    (one,) = count_success(made([(None,), (None,)]), [1])
    assert np.isnan(stacked(one)).all()


@pytest.mark.parametrize(("c", "ms"), [(5, [2]), (5, [1, 2, 3, 4, 5]), (6, [2, 5]), (7, [6]), (4, [4, 9])])
def test_the_cost_is_that_of_all_sets(c: int, ms: list[int]) -> None:
    """A set of columns is divided if it is asked for, or the beginning of one that is."""
    records = made([[0] * c] * 3)
    asked = {some[:j] for m in ms for some in combinations(range(c), m) for j in range(1, m + 1)}
    assert counting_cost(records, ms) == 3 * len(asked)


def test_the_cost_of_many_columns() -> None:
    records = made([[0] * 300])
    assert counting_cost(records, [150]) == float(sum(comb(150 + j, j) for j in range(1, 151)))
    assert counting_cost(records, range(1, 301)) == pytest.approx(2.0**300)
    assert counting_cost(made([[0] * 1_200]), [600]) == inf
    with pytest.raises(UnveilError, match="too many"):
        count_success(made([[0] * 1_200]), [600])


# ---- runs ------------------------------------------------------------------------------------------------------------


def test_a_run_can_be_cancelled() -> None:
    run = Run()
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        count_success(made([(0, 1), (0, 0)]), [1], run)


def test_a_run_can_be_cancelled_in_the_middle() -> None:
    fractions = list[float]()

    def progress(doing: str, fraction: float | None) -> None:
        assert doing == "counting" and fraction is not None
        fractions.append(fraction)
        if len(fractions) == 5:
            run.cancelled.set()

    run = Run(progress=progress)
    with computed({"_SLICE_ENTRIES": 500}), pytest.raises(KeyboardInterrupt):
        count_success(random_records(2_000, (9, 5, 4, 3, 2), 0.1), [3], run)
    assert len(fractions) == 5


def test_progress_rises_to_the_end() -> None:
    fractions = list[float]()
    with computed({"_SLICE_ENTRIES": 500}):
        count_success(
            random_records(2_000, (9, 5, 4, 3, 2), 0.1), [2, 4], Run(progress=lambda _, f: fractions.append(f or 0))
        )
    assert len(fractions) > 10 and fractions == sorted(fractions) and fractions[-1] == 1 and fractions[0] < 0.5
