"""Missing values that match anything, against comparing every row with every other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_models, naive_wildcard
from unveil import Run, UnveilError
from unveil.classes import wildcard
from unveil.classes.diversity import SensitiveClasses, group_sensitive_values
from unveil.classes.wildcard import Neighbourhoods, find_neighbourhoods, neighbourhood_classes
from unveil.grouping import class_ids

Table = list[tuple[int, ...]]
NAMES = ("size", "distinct", "alpha", "entropy_l", "t_equal", "beta", "beta_enhanced", "delta")

# Tables for all patterns or for none, several words for a profile, and work in the smallest slices.
WAYS = (
    {"_FEW_PROFILES": 0},
    {"_FEW_PROFILES": 0, "_WORD_BITS": 4},
    {"_FEW_PROFILES": 0, "_LOOKUPS_PER_SLICE": 1, "_PROFILES_PER_TABLE": 2, "_MOST_HITS": 4},
    {"_FEW_PROFILES": 2},
    {"_FEW_PROFILES": 2, "_WORD_BITS": 1, "_LOOKUPS_PER_SLICE": 1, "_MOST_HITS": 1},
    {},
)
ways = st.sampled_from(WAYS)


@contextmanager
def patched_limits(way: dict[str, int]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(wildcard, name, value)
        yield


@st.composite
def tables(draw: st.DrawFn, least: int = 1) -> Table:
    """Rows of up to five columns with many values missing (−1)."""
    spans = draw(st.lists(st.integers(-1, 3), min_size=1, max_size=5))
    row = st.tuples(*(st.one_of(st.just(-1), st.integers(-1, span)) for span in spans))
    return draw(st.lists(row, min_size=least, max_size=30))


def encode_rows(rows: Table) -> list[np.ndarray]:
    return [np.array(c, np.int32) for c in zip(*rows, strict=True)]


def neighbourhood_sizes(rows: Table, counts: list[int] | None = None) -> list[int]:
    """F of every row."""
    found = find_neighbourhoods(encode_rows(rows), None if counts is None else np.array(counts, np.int64), len(rows))
    return [int(x) for x in found.size[found.row_profile]]


# ---- how many people -------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(tables(), ways, st.data())
def test_everyone_that_may_be_the_same_is_counted(rows: Table, way: dict[str, int], data: st.DataObject) -> None:
    several = st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows))
    counts = data.draw(st.one_of(st.none(), several))
    with patched_limits(way):
        found = find_neighbourhoods(encode_rows(rows), None if counts is None else np.array(counts), len(rows))
    people = counts or [1] * len(rows)
    profiles = sorted(set(rows))
    assert [profiles[k] for k in found.row_profile] == rows
    assert found.members.tolist() == [sum(n for r, n in zip(rows, people, strict=True) if r == p) for p in profiles]
    expected = [sum(people[k] for k in near) for near in naive_wildcard.possible_matches(rows)]
    assert found.size[found.row_profile].tolist() == expected
    assert naive_wildcard.match_counts(encode_rows(rows), np.array(people)).tolist() == expected


@pytest.mark.parametrize(("columns", "span", "missing"), [(9, 3, 0.1), (9, 4, 0.4), (14, 2, 0.3), (3, 2**31 - 1, 0.3)])
def test_larger_tables(columns: int, span: int, missing: float) -> None:
    """Patterns with many profiles and with few; one word and several."""
    random = np.random.default_rng(columns)
    values = random.integers(0, span, (columns, 40))
    table = [np.where(random.random(2500) < missing, -1, random.choice(v, 2500)).astype(np.int32) for v in values]
    counts = random.integers(1, 9, 2500)
    found = find_neighbourhoods(table, counts, 2500)
    assert found.patterns is not None and len(found.patterns) > found.patterns.large_patterns
    assert (found.patterns.large_patterns > 0) == (columns < 14)
    assert (found.size[found.row_profile] == naive_wildcard.match_counts(table, counts)).all()
    sensitive = random.integers(-1, 5, 2500).astype(np.int32)
    classes = neighbourhood_classes(found, sensitive, counts)
    assert (classes.size == found.size).all()
    for value in range(-1, 5):
        of_value = naive_wildcard.match_counts(table, np.where(sensitive == value, counts, 0))
        here = np.where(classes.codes[classes.value] == value, classes.count, 0)
        assert (np.add.reduceat(here, classes.begins[:-1])[found.row_profile] == of_value).all()


def test_an_example_on_paper() -> None:
    rows = [(30, 1), (40, 1), (-1, 1), (30, 0), (30, -1), (-1, -1)]
    assert neighbourhood_sizes(rows) == [4, 3, 5, 3, 5, 6]
    assert neighbourhood_sizes(rows, [1, 10, 100, 1000, 10_000, 100_000]) == [
        110_101,
        100_110,
        110_111,
        111_000,
        111_101,
        111_111,
    ]


def test_the_published_counts_of_sdcmicro() -> None:
    """From tests/testthat/test_freqCalc.R of sdcMicro; weights are given there in halves of a person."""
    a, b, c = (2, 3, 2, 2, 3, 3, 1, 2), (3, 3, 3, 3, 3, 3, 4, 3), (1, 3, -1, 2, 1, 1, -1, 1)
    halves = [36, 91, 78, 34, 184, 16, 247, 102]
    rows = list(zip(a, b, c, strict=True))
    assert neighbourhood_sizes(rows) == [3, 1, 4, 2, 2, 2, 1, 3]
    assert neighbourhood_sizes(rows, halves) == [216, 91, 250, 112, 200, 200, 247, 216]
    rows = [(x, y, -1) if k != 2 else (-1, -1, -1) for k, (x, y, _) in enumerate(rows)]
    assert neighbourhood_sizes(rows) == [4, 4, 8, 4, 4, 4, 2, 4]
    assert neighbourhood_sizes(rows, halves) == [250, 369, 788, 250, 369, 369, 325, 250]
    rows = [(x,) for x in (2, 3, -1, 2, 1, -1, 1, 2)]
    assert neighbourhood_sizes(rows) == [5, 3, 8, 5, 4, 8, 4, 5]
    rows = list(
        zip(*[iter((2, 3, -1, 2, 3, 3, 1, -1, 3, 3, -1, 3, 3, 2, 2, 3, -1, -1, 1, 2, -1, -1, 4, 4))] * 3, strict=True)
    )
    assert neighbourhood_sizes(list(zip(*rows, strict=True))) == [1, 2, 2]


def test_counts_are_exact() -> None:
    """Beyond 32 bits, and beyond the precision of floating-point numbers."""
    rows = [(0, 0), (0, -1), (1, -1), (-1, 0), (-1, -1)]
    counts = [2**31 + 1, 2**53 + 1, 2**32 + 3, 2**53 + 5, 7]
    expected = [sum(counts[k] for k in near) for near in naive_wildcard.possible_matches(rows)]
    for way in WAYS:
        with patched_limits(way):
            assert neighbourhood_sizes(rows, counts) == expected
            found = find_neighbourhoods(encode_rows(rows), np.array(counts), len(rows))
            classes = neighbourhood_classes(found, np.array([0, 0, 1, 1, 0], np.int32), np.array(counts))
        assert classes.size[found.row_profile].tolist() == expected
        assert classes.table_counts is not None and classes.table_counts.tolist() == [
            2**31 + 2**53 + 9,
            2**32 + 2**53 + 8,
        ]


def test_borders() -> None:
    nothing = np.full(4, -1, np.int32)
    assert find_neighbourhoods([nothing, nothing], None, 4).size.tolist() == [4]
    assert find_neighbourhoods([nothing[:1]], None, 1).size.tolist() == [1]
    assert find_neighbourhoods([], None, 3).size.tolist() == [3]
    assert find_neighbourhoods([], np.array([2, 3]), 2).size.tolist() == [5]
    assert find_neighbourhoods([nothing[:0]], None, 0).size.tolist() == []
    assert neighbourhood_sizes([(-1, -1), (-1, 0)]) == [2, 2]
    assert neighbourhood_sizes([(-1, 5), (-1, -1), (-1, 6)]) == [2, 3, 2]  # a column without any value
    one = neighbourhood_classes(find_neighbourhoods([nothing[:1]], None, 1), np.array([3], np.int32))
    assert (one.size.tolist(), one.codes.tolist(), one.t_equal.tolist()) == ([1], [3], [0])


# ---- what else is true of it -----------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(tables(), st.data())
def test_between_the_same_row_and_the_neighbourhood(truth: Table, data: st.DataObject) -> None:
    """Whoever knows a person's true values chooses among at least as many as have the same row, gaps and all, and at
    most as many as may be the same: missing as a value of its own never understates the risk."""
    truth = [tuple(max(0, v) for v in row) for row in truth]
    gaps = data.draw(st.lists(st.tuples(*[st.booleans()] * len(truth[0])), min_size=len(truth), max_size=len(truth)))
    shown = [tuple(-1 if g else v for v, g in zip(row, gap, strict=True)) for row, gap in zip(truth, gaps, strict=True)]
    for true, row, may_be in zip(truth, shown, neighbourhood_sizes(shown), strict=True):
        left = sum(naive_wildcard.may_match(true, other) for other in shown)
        assert shown.count(row) <= left <= may_be


def test_whoever_knows_what_is_missing_finds_more() -> None:
    """The example of the module: F = 3, but who knows that the third person is 50 is certain."""
    shown = [(30, 1), (40, 1), (-1, 1)]
    assert neighbourhood_sizes(shown) == [2, 2, 3]
    assert sum(naive_wildcard.may_match((50, 1), other) for other in shown) == 1


@settings(max_examples=80, deadline=None)
@given(tables(), st.data())
def test_taking_a_value_out_makes_nobody_easier_to_find(rows: Table, data: st.DataObject) -> None:
    row, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows[0]) - 1))
    fewer = [tuple(-1 if (i, j) == (row, column) else v for j, v in enumerate(r)) for i, r in enumerate(rows)]
    assert all(
        before <= after for before, after in zip(neighbourhood_sizes(rows), neighbourhood_sizes(fewer), strict=True)
    )
    nothing = (-1,) * len(rows[0])
    assert neighbourhood_sizes([*rows, nothing]) == [size + 1 for size in neighbourhood_sizes(rows)] + [len(rows) + 1]


@settings(max_examples=80, deadline=None)
@given(tables(), ways, st.data())
def test_the_order_of_rows_and_columns_changes_nothing(rows: Table, way: dict[str, int], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(rows))))
    turned = data.draw(st.permutations(range(len(rows[0]))))
    sensitive = data.draw(st.lists(st.integers(-1, 3), min_size=len(rows), max_size=len(rows)))
    moved = [tuple(rows[k][c] for c in turned) for k in order]
    with patched_limits(way):
        one, two = measure_rows(rows, sensitive), measure_rows(moved, [sensitive[k] for k in order])
    for name in NAMES:
        assert [one[name][k] for k in order] == two[name]


def measure_rows(rows: Table, sensitive: list[int]) -> dict[str, list[float]]:
    """The measures of every row's neighbourhood."""
    found = find_neighbourhoods(encode_rows(rows), None, len(rows))
    classes = neighbourhood_classes(found, np.array(sensitive, np.int32))
    return {name: getattr(classes, name)[found.row_profile].tolist() for name in NAMES}


# ---- and which values they have --------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(tables(), ways, st.data())
def test_neighbourhoods_are_measured_as_defined(rows: Table, way: dict[str, int], data: st.DataObject) -> None:
    sensitive = data.draw(st.lists(st.integers(-1, 4), min_size=len(rows), max_size=len(rows)))
    several = st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows))
    counts = data.draw(st.one_of(st.none(), several))
    with patched_limits(way):
        found = find_neighbourhoods(encode_rows(rows), None if counts is None else np.array(counts), len(rows))
        classes = neighbourhood_classes(
            found, np.array(sensitive, np.int32), None if counts is None else np.array(counts)
        )
    people = counts or [1] * len(rows)
    profiles = sorted(set(rows))
    near = [
        [
            s
            for other, s, n in zip(rows, sensitive, people, strict=True)
            for _ in range(n * naive_wildcard.may_match(p, other))
        ]
        for p in profiles
    ]
    everyone = [s for s, n in zip(sensitive, people, strict=True) for _ in range(n)]
    codes = sorted(set(sensitive), key=lambda v: (v < 0, v))
    assert classes.key.tolist() == list(range(len(profiles)))
    assert classes.codes.tolist() == codes
    assert classes.table_counts is not None and classes.table_counts.tolist() == [everyone.count(v) for v in codes]
    assert classes.target_counts.tolist() == found.members.tolist()
    for c, members in enumerate(near):
        here = slice(classes.begins[c], classes.begins[c + 1])
        pairs = list(zip(classes.codes[classes.value[here]].tolist(), classes.count[here].tolist(), strict=True))
        assert pairs == [(v, members.count(v)) for v in codes if v in members]
    expected = [naive_models.class_measures(members, everyone) for members in near]  # type: ignore[arg-type]
    for name in NAMES:
        assert getattr(classes, name).tolist() == pytest.approx([e[name] for e in expected]), name
    for few in (1, 2, 3):
        least = [naive_models.recursive_c(members, few) for members in near]  # type: ignore[arg-type]
        assert classes.recursive_c(few).tolist() == pytest.approx(least)


@settings(max_examples=25, deadline=None)
@given(tables(least=4), st.data())
def test_distances_of_neighbourhoods(rows: Table, data: st.DataObject) -> None:
    """t on a line and in a tree is measured from the whole table, not from the sum of overlapping classes."""
    sensitive = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    found = find_neighbourhoods(encode_rows(rows), None, len(rows))
    classes = neighbourhood_classes(found, np.array(sensitive, np.int32))
    values = sorted(set(sensitive))
    whole = [sensitive.count(v) / len(rows) for v in values]
    near = [[sensitive[k] for k in others] for others in naive_wildcard.possible_matches(rows)]
    tree = naive_models.tree_distances([[v // 2 for v in values], [0] * len(values)])
    for distance, ours in (
        (naive_models.line_distances(len(values)), classes.t_ordered()),
        (tree, classes.t_tree([[0, 0, 1, 1], [0] * 4])),
    ):
        once = {k: near[k] for k in np.unique(found.row_profile, return_index=True)[1].tolist()}
        for k, members in once.items():
            shares = [members.count(v) / len(members) for v in values]
            assert ours[found.row_profile[k]] == pytest.approx(
                naive_models.earth_mover_distance(shares, whole, distance), abs=1e-7
            )


def test_an_example_of_values_on_paper() -> None:
    """(30), (40) and (?) with values a, b, b: the first two may each be the third."""
    found, classes = small_example()
    first, second, third = found.row_profile.tolist()
    assert classes.alpha[[first, second, third]].tolist() == [1 / 2, 1, 2 / 3]
    assert classes.entropy_l[first] == pytest.approx(2)
    assert classes.entropy_l[third] == pytest.approx(exp(log(3) - 2 / 3 * log(2)))
    assert classes.t_equal[[first, second, third]] == pytest.approx([1 / 6, 1 / 3, 0])


def small_example() -> tuple[Neighbourhoods, SensitiveClasses]:
    found = find_neighbourhoods([np.array([30, 40, -1], np.int32)], None, 3)
    return found, neighbourhood_classes(found, np.array([0, 1, 1], np.int32))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(-1, 3)), min_size=1, max_size=25))
def test_without_missing_values_these_are_the_classes(rows: Table) -> None:
    a, b, sensitive = encode_rows(rows)
    nothing = np.full(len(rows), -1, np.int32)
    ids, classes = class_ids([a, b], len(rows))
    plain = group_sensitive_values(ids, classes, sensitive)
    for columns in ([a, b], [a, nothing, b]):  # nor where all miss the same
        found = find_neighbourhoods(columns, None, len(rows))
        assert found.patterns is None
        assert (found.row_profile == ids).all()
        assert found.size.tolist() == found.members.tolist() == np.bincount(ids).tolist()
        same = neighbourhood_classes(found, sensitive)
        for name in ("key", "begins", "value", "count", "codes", *NAMES, "target_counts"):
            assert getattr(same, name).tolist() == getattr(plain, name).tolist()


# ---- how it runs -----------------------------------------------------------------------------------------------------


def test_too_many_values_to_count() -> None:
    with patched_limits({"_MOST_PAIRS": 3}), pytest.raises(UnveilError, match="more than 3 sensitive values"):
        small_example()


def test_progress_rises_and_a_run_can_be_cancelled() -> None:
    random = np.random.default_rng(1)
    table = [np.where(random.random(400) < 0.3, -1, random.integers(0, 3, 400)).astype(np.int32) for _ in range(6)]
    said: list[float] = []
    run = Run(progress=lambda _, fraction: said.append(-1.0 if fraction is None else fraction))
    with patched_limits({"_LOOKUPS_PER_SLICE": 20, "_MOST_HITS": 100}):
        found = find_neighbourhoods(table, None, 400, run)
        sized = len(said)
        neighbourhood_classes(found, table[0], None, run)
        for part in (said[:sized], said[sized:]):
            assert len(part) > 10 and part == sorted(part) and part[0] >= 0 and part[-1] <= 1
        run.cancelled.set()
        with pytest.raises(KeyboardInterrupt):
            find_neighbourhoods(table, None, 400, run)
        with pytest.raises(KeyboardInterrupt):
            neighbourhood_classes(found, table[0], None, run)
