"""What agreement of records with each other guarantees, against counting pair by pair."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.linkage import equal_records
from unveil.linkage.equal_records import count_copies, group_equal_records
from unveil.linkage.records import Records, records_from_codes
from unveil.linkage.similarity import within_distance
from unveil.linkage.theorems.record_agreement import agreement_bounds, agreement_work
from unveil.release.codes import encode_column
from unveil.run import Run

Table = list[list[int | None]]

tables = st.integers(1, 5).flatmap(
    lambda c: st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=c, max_size=c), min_size=1, max_size=12
    )
)


def made(table: Table, reach: int) -> Records:
    columns = {
        f"c{i}": encode_column(pa.chunked_array([list(column)], pa.int64()))
        for i, column in enumerate(zip(*table, strict=True))
    }
    return records_from_codes(columns, {name: within_distance(reach) for name in columns} if reach else None)


def bounds(table: Table, row: int, m: int, reach: int) -> tuple[Fraction, Fraction]:
    """The union bound with random ties, and 1/E|D_x|, by the definition."""
    own = {i: v for i, v in enumerate(table[row]) if v is not None}
    fewer = same = more = Fraction(0)
    for y, other in enumerate(table):
        if y == row:
            continue
        g = sum(other[i] is not None and abs(other[i] - v) <= reach for i, v in own.items())  # type: ignore[operator]
        size = sum(v is not None for v in other)
        stays = Fraction(comb(g, m), comb(len(own), m))
        fewer += stays * (size < len(own))
        same += stays * (size == len(own))
        more += stays * (size > len(own))
    union = max(Fraction(0), 1 - fewer - same / 2, 1 / (1 + same) - fewer)
    return union, 1 / (1 + fewer + same + more)


@settings(deadline=None, max_examples=60)
@given(tables, st.integers(0, 2))
def test_bounds_are_those_of_the_definition(table: Table, reach: int) -> None:
    records = made(table, reach)
    ms = [1, 2, 3]
    found = agreement_bounds(records, np.arange(records.n), ms)
    for r in range(records.n):
        for j, m in enumerate(ms):
            if not records.support[r]:
                assert np.isnan(found.union[r, j])
                continue
            union, jensen = bounds(table, r, min(m, int(records.support[r])), reach)
            assert found.union[r, j] == pytest.approx(float(union))
            assert found.jensen[r, j] == pytest.approx(float(jensen))


def success(table: Table, row: int, m: int, reach: int, least: bool) -> float:
    """Of Â or Scoreboard, over all sets of m values."""
    own = {i: v for i, v in enumerate(table[row]) if v is not None}
    sets, total = list(combinations(own, m)), 0.0
    for s in sets:
        fits = [o for o in table if all(o[i] is not None and abs(o[i] - own[i]) <= reach for i in s)]  # type: ignore[operator]
        sizes = [sum(v is not None for v in o) for o in fits]
        total += (len(own) == min(sizes)) / sizes.count(min(sizes)) if least else 1 / len(fits)
    return total / len(sets)


@settings(deadline=None, max_examples=60)
@given(tables, st.integers(0, 2), st.integers(1, 3))
def test_no_bound_exceeds_success(table: Table, reach: int, m: int) -> None:
    """Row by row for the adversary that each is about; on average both hold for Â where facts are right and alike
    values are equal ones, since it is then the best there is."""
    records = made(table, reach)
    rows = np.flatnonzero(records.support >= m)
    if not len(rows):
        return
    found = agreement_bounds(records, rows, [m])
    best = [success(table, r, m, reach, True) for r in rows]
    any_of_them = [success(table, r, m, reach, False) for r in rows]
    assert (found.union[:, 0] <= np.array(best) + 1e-9).all()
    assert (found.jensen[:, 0] <= np.array(any_of_them) + 1e-9).all()
    if reach == 0:
        assert found.jensen[:, 0].mean() <= np.mean(best) + 1e-9


@settings(deadline=None, max_examples=100)
@given(tables, st.booleans())
def test_records_are_equal_only_if_they_have_the_same(table: Table, collisions: bool) -> None:
    """Those that are equal to the one before, though all should have the same hash; and all copies if hashes differ."""
    records, rows = made(table, 0), [tuple(row) for row in table]
    with pytest.MonkeyPatch.context() as patch:
        if collisions:
            patch.setattr(equal_records, "_hash_records", lambda matrix: np.zeros(matrix.shape[0], np.uint64))
        order, fresh = group_equal_records(records, records.value, Run())
    assert sorted(order) == list(range(len(rows))) and fresh[0]
    assert all(rows[order[k]] == rows[order[k - 1]] for k in np.flatnonzero(~fresh))
    assert collisions or fresh.sum() == len(set(rows))
    assert count_copies(records).tolist() == [rows.count(row) for row in rows]


def test_work_is_what_is_looked_at_or_more() -> None:
    """Three records, of which all three and two have an attribute: 3 + (3·3 + 2·2)/3 on average."""
    assert agreement_work(made([[0, 1], [0, None], [1, 1]], 0)) == pytest.approx(3 + 13 / 3)


def test_it_can_be_stopped() -> None:
    records, run = made([[0, 1]] * 3, 0), Run()
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        agreement_bounds(records, [0, 1, 2], [1], run)
