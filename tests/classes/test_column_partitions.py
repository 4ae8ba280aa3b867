"""Classes of people by the columns that are known of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.classes.column_partitions import divisible_people
from unveil.classes.known_columns import find_identifying_sets, risk_by_columns_known
from unveil.classes.minimal_uniques import find_minimal_uniques, smallest_unique_set

Visits = list[tuple[int, tuple[int, ...]]]


@st.composite
def visits(draw: st.DrawFn) -> Visits:
    """Rows of a few people, each with a few columns; −1 is missing, and person −1 is somebody else in each row."""
    columns = draw(st.integers(1, 4))
    row = st.tuples(*(st.integers(-1, 1) for _ in range(columns)))
    return draw(st.lists(st.tuples(st.integers(-1, 6), row), min_size=1, max_size=16))


def people_by_shown_sets(rows: Visits, columns: Sequence[int]) -> list[list[int]]:
    """The classes of people whose rows show the same set of values in these columns: the first row of each person."""
    shown: dict[object, tuple[int, set[tuple[int, ...]]]] = {}
    for place, (who, values) in enumerate(rows):
        _, seen = shown.setdefault((place, "alone") if who < 0 else who, (place, set()))
        seen.add(tuple(values[c] for c in columns))
    classes: dict[frozenset[tuple[int, ...]], list[int]] = {}
    for place, seen in shown.values():
        classes.setdefault(frozenset(seen), []).append(place)
    return list(classes.values())


def encode(rows: Visits) -> tuple[list[np.ndarray], np.ndarray]:
    codes = [np.array(c, np.int32) for c in zip(*(values for _, values in rows), strict=True)]
    return codes, np.array([who for who, _ in rows], np.int32)


@settings(max_examples=150, deadline=None)
@given(visits())
def test_people_are_classed_by_the_set_of_values_their_rows_show(rows: Visits) -> None:
    codes, who = encode(rows)
    found = risk_by_columns_known(codes, None, np.random.default_rng(0), person=who)
    for band in found:
        classes = [people_by_shown_sets(rows, s) for s in combinations(range(len(codes)), band.known)]
        people = sum(map(len, classes[0]))
        risks = [len(c) / people for c in classes]
        unique = [sum(len(one) == 1 for one in c) / people for c in classes]
        assert (band.risk.low, band.risk.high) == (min(risks), max(risks))
        assert (band.unique.low, band.unique.high) == (min(unique), max(unique))


@settings(max_examples=100, deadline=None)
@given(visits())
def test_minimal_uniques_of_people_are_those_of_the_definition(rows: Visits) -> None:
    codes, who = encode(rows)
    found = find_minimal_uniques(codes, None, 3, person=who)
    sets = [s for size in range(1, min(3, len(codes)) + 1) for s in combinations(range(len(codes)), size)]
    alone = {s: {c[0] for c in people_by_shown_sets(rows, s) if len(c) == 1} for s in sets}
    nobody_known = {c[0] for c in people_by_shown_sets(rows, ()) if len(c) == 1}
    for place in range(len(rows)):
        unique_on = [s for s in sets if place in alone[s]]
        minimal = [s for s in unique_on if not any(set(t) < set(s) for t in unique_on)]
        if place in nobody_known:  # a single person is unique whatever is known
            continue
        assert sorted(found.sets_of_row(place)) == sorted(minimal)


def test_people_with_one_row_each_are_rows() -> None:
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, 3, 60).astype(np.int32) for _ in range(4)]
    alone, people = divisible_people(codes), divisible_people(codes, None, rng.permutation(60).astype(np.int32))
    assert type(alone) is type(people)
    assert sorted(alone.weights) == sorted(people.weights)


@settings(max_examples=150, deadline=None)
@given(visits(), st.data())
def test_the_smallest_set_that_makes_a_row_unique(rows: Visits, data: st.DataObject) -> None:
    codes, _ = encode(rows)
    values = [v for _, v in rows]
    own = data.draw(st.sampled_from(values))
    counts = np.array(data.draw(st.lists(st.integers(1, 2), min_size=len(rows), max_size=len(rows))))
    unique_on = [
        s
        for size in range(1, min(4, len(own)) + 1)
        for s in combinations(range(len(own)), size)
        if sum(n for v, n in zip(values, counts, strict=True) if all(v[c] == own[c] for c in s)) == 1
    ]
    assert smallest_unique_set(codes, counts, own) == (unique_on[0] if unique_on else None)


def test_many_columns_have_a_smallest_unique_set() -> None:
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 2, 500).astype(np.int32) for _ in range(60)]
    codes[58][:], codes[58][7] = 0, 1
    assert smallest_unique_set(codes, None, [int(c[7]) for c in codes]) == (58,)


def test_a_search_without_budget_was_told_as_none() -> None:
    """Three columns single out more than a quarter of the rows, which greedy search finds when work runs out."""
    rng = np.random.default_rng(5)
    codes = [rng.integers(0, 12 if c < 3 else 2, 2_000).astype(np.int32) for c in range(40)]
    found = find_identifying_sets(codes, None, 0.05, 4, work=300 * 5_000)
    assert found.truncated and found.size < 3
    (one,) = found.sets
    assert one.columns == (0, 1, 2)
    tuples = list(zip(*(codes[c] for c in one.columns), strict=True))
    assert one.unique == sum(tuples.count(t) == 1 for t in tuples) / 2_000 > 0.25


def test_the_band_missed_a_pair_that_suffices() -> None:
    """There are 2,415 pairs, more than are measured; random ones miss the one that tells all rows apart."""
    rng = np.random.default_rng(2)
    codes = [rng.integers(0, 2, 400).astype(np.int32) for _ in range(70)]
    codes[20], codes[60] = np.arange(400, dtype=np.int32) // 20, np.arange(400, dtype=np.int32) % 20
    found = risk_by_columns_known(codes, None, np.random.default_rng(0))
    assert not found[2].is_exhaustive
    assert found[2].risk.high == 1 and found[2].risk.worst_set == (20, 60)
    assert all(a.risk.high <= b.risk.high and a.unique.high <= b.unique.high for a, b in pairwise(found))
    little = risk_by_columns_known(codes, None, np.random.default_rng(0), work=1, also=[(20, 60)])
    assert little[2].unique.high == little[69].unique.high == 1
    assert len(little[69].unique.worst_set) == 69
