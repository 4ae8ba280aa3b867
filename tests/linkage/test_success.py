"""Success as findings state it: counted as far as that is cheap, played beyond."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from unveil.linkage.attack.exact_success import count_success, counting_cost
from unveil.linkage.attack.success import measure_success
from unveil.linkage.records import Records, records_from_codes
from unveil.linkage.similarity import within_distance
from unveil.release.codes import encode_column


def made(reach: float | None = None) -> Records:
    rng = np.random.default_rng(5)
    columns = {f"c{i}": encode_column(pa.chunked_array([rng.integers(0, 4, 300).tolist()])) for i in range(6)}
    return records_from_codes(columns, {"c0": within_distance(reach)} if reach is not None else None)


def test_the_first_numbers_are_counted_and_the_others_played() -> None:
    """Intervals are at 99.9999 %, of a fixed seed."""
    records, ms = made(), [1, 2, 3, 4, 5, 6]
    truth = count_success(records, ms)
    found = measure_success(
        records, ms, rng=np.random.default_rng(0), work=counting_cost(records, ms[:3]), targets=200, confidence=1 - 1e-6
    )
    assert [o.known for o in found] == ms
    assert [o.exact for o in found] == [True, True, True, False, False, False]
    assert [len(o.rows) for o in found] == [300, 300, 300, 200, 200, 200]
    for outcome, exact in zip(found, truth, strict=True):
        low, high = outcome.success.interval
        if outcome.exact:
            assert outcome.found == pytest.approx(exact.row)
            assert low == high == pytest.approx(exact.row.mean())
            assert outcome.unicity.value == pytest.approx(exact.unique.mean())
        assert low - 1e-9 <= exact.row.mean() <= high + 1e-9


def test_nothing_is_counted_where_values_are_only_alike() -> None:
    found = measure_success(made(1.0), [2], rng=np.random.default_rng(0))
    assert not found[0].exact


def test_equal_records_count_as_found() -> None:
    records = made()
    twice = records.select(np.repeat(np.arange(records.n), 2))
    found = measure_success(twice, [6], rng=np.random.default_rng(0))[0]
    assert found.equal_success.value == pytest.approx(1)
    assert found.success.value <= 0.5
    apart = measure_success(twice, [6], rng=np.random.default_rng(0), equals=np.ones(600, np.int64))[0]
    assert apart.equal_success.value == pytest.approx(found.success.value)
