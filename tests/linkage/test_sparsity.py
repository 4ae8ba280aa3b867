"""The sparsity function against the comparison of every record with every other in fractions."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_sparsity as naive
from reference.hypotheses import has_rare_attribute
from unveil import Policy, Run, UnveilError, assess, slices
from unveil.intervals import upper_bound, wilson_interval
from unveil.linkage import equal_records
from unveil.linkage.finding_text import RARE_RANK
from unveil.linkage.records import Records, records_from_codes
from unveil.linkage.similarity import (
    Similarity,
    any_value,
    equal_values,
    linear_similarity,
    within_distance,
)
from unveil.linkage.sparsity import bit_planes, record_similarity
from unveil.linkage.sparsity import nearest_records as search
from unveil.linkage.sparsity.long_tail import LongTail, attribute_tail, rare_attributes
from unveil.linkage.sparsity.nearest_records import NearestRecords, nearest_records
from unveil.linkage.sparsity.sparsity_function import SparsityFunction, measure_sparsity
from unveil.release.codes import encode_column

Table = list[tuple[int | None, ...]]

# Planes for all attributes, lists for all, some of both; blocks and slices as small as can be; and as it is.
WAYS: tuple[dict[str, object], ...] = (
    {"_PLANE_COST": 1e-9, "_LOOK_COST": 0.0},
    {
        "_PLANE_COST": 1e-9,
        "_LOOK_COST": 0.0,
        "_MIN_BLOCK": 4,
        "_SLICE_NANOSECONDS": 1,
        "_TILE_RECORDS": 3,
        "CHUNK_ENTRIES": 1,
    },
    {"_PLANE_COST": 1e9},
    {
        "_PLANE_COST": 1e9,
        "_MIN_BLOCK": 4,
        "_SLICE_NANOSECONDS": 1,
        "_TILE_RECORDS": 3,
        "CHUNK_ENTRIES": 1,
        "_MAX_TABLE_VALUES": 0,
    },
    {"_PLANE_COST": 4.0, "_LOOK_COST": 0.0, "_MIN_BLOCK": 8},
    {"_PLANE_COST": 4.0, "_LOOK_COST": 0.0, "_MAX_PLANE_BYTES": 64},
    {},
)
ways = st.sampled_from(WAYS)

SIMS: dict[str, tuple[Similarity, naive.Sim]] = {
    "equal": (equal_values(), naive.equal_similarity),
    "within": (within_distance(1), naive.threshold_similarity(1)),
    "less": (within_distance(2.5, closed=False), naive.threshold_similarity(2)),
    "linear": (linear_similarity(4), naive.linear_similarity(4)),
    "support": (any_value(), lambda a, b: Fraction(1)),
}


@contextmanager
def computed(way: dict[str, object]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(
                next(m for m in (record_similarity, bit_planes, search, slices) if hasattr(m, name)), name, value
            )
        yield


def made(rows: Sequence[Sequence[int | None]], sims: Sequence[Similarity] | None = None) -> Records:
    """Records of rows; None is null."""
    each = enumerate(zip(*rows, strict=True))
    columns = {f"a{i:03}": encode_column(pa.chunked_array([pa.array(c, pa.int64())])) for i, c in each}
    return records_from_codes(columns, dict(zip(columns, sims or [equal_values()] * len(columns), strict=True)))


@st.composite
def tables(draw: st.DrawFn, most: int = 25) -> Table:
    """Rows of up to six columns with many nulls, some all null, some constant, some rows twice."""
    spans = draw(st.lists(st.integers(0, 6), min_size=1, max_size=6))
    row = st.tuples(*(st.one_of(st.none(), st.integers(0, span)) for span in spans))
    rows = draw(st.lists(row, min_size=1, max_size=most))
    return rows + draw(st.lists(st.sampled_from(rows), max_size=4))


def told(found: NearestRecords) -> list[tuple[Fraction, int]]:
    near = [Fraction(a, b) for a, b in zip(found.above.tolist(), found.below.tolist(), strict=True)]
    return list(zip(near, found.row.tolist(), strict=True))


# ---- the nearest -----------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(tables(), ways, st.sampled_from(["alike", "sum", "support"]), st.sampled_from([1, 0.75, 0.5]), st.data())
def test_everyone_is_compared_with_everyone(
    rows: Table, way: dict[str, object], kind: str, least: float, data: st.DataObject
) -> None:
    kinds = data.draw(st.sampled_from([["equal"], ["within"], ["linear"], list(SIMS)]))
    names = [data.draw(st.sampled_from(kinds)) for _ in rows[0]]
    records = made(rows, [SIMS[n][0] for n in names])
    expected = naive.nearest_records(rows, [SIMS[n][1] for n in names], kind, Fraction(least))
    with computed(way):
        assert told(nearest_records(records, kind, least)) == expected
        some = data.draw(st.lists(st.sampled_from(range(len(rows))), min_size=1, unique=True))
        assert told(nearest_records(records, kind, least, some)) == [expected[k] for k in some]
    found = measure_sparsity(records, kind, least)
    for sigma in {Fraction(0), Fraction(1), Fraction(1, 3), *(near for near, _ in expected)}:
        assert found.count(sigma) == naive.share_near(expected, sigma) * len(rows)
    curve = found.curve()[1]
    assert (np.diff(curve) <= 0).all()


@pytest.mark.parametrize(
    ("n", "c", "filled", "span", "said"),
    [
        (600, 70, 0.5, 2, equal_values()),
        (400, 130, 0.6, 9, within_distance(1)),
        (300, 200, 0.1, 300, equal_values()),
        (300, 70, 0.3, 400, linear_similarity(7)),
        (300, 150, 0.02, 5, within_distance(2)),
    ],
)
def test_larger_tables(n: int, c: int, filled: float, span: int, said: Similarity) -> None:
    """Several words and blocks, records of very different sizes; each is compared with all others by numpy."""
    random = np.random.default_rng(n)
    there = random.random((n, c)) < filled * random.uniform(0.2, 1.6, (n, 1))
    codes = np.where(there, random.integers(0, span, (n, c)), -1)
    codes[n // 2 : n // 2 + 5] = codes[:5]
    columns = {str(i): encode_column(pa.chunked_array([pa.array(x, mask=x < 0)])) for i, x in enumerate(codes.T)}
    records = records_from_codes(columns, dict.fromkeys(columns, said))
    for kind, least in (("alike", 1.0), ("sum", 1.0), ("alike", 0.5)):
        near, first = _by_numpy(codes, said, kind, least)
        for way in WAYS[:5]:
            with computed(way):
                found = nearest_records(records, kind, least)
            assert (found.row == first).all()
            assert np.abs(found.similarity - near).max() < 1e-12


def _by_numpy(codes: np.ndarray, said: Similarity, kind: str, least: float) -> tuple[np.ndarray, np.ndarray]:
    has = codes >= 0
    near, first = np.empty(len(codes)), np.empty(len(codes), np.int64)
    for k, own in enumerate(codes):
        apart = np.abs(codes - own)
        sim = np.maximum(0, 7 - apart) if said.kind == "linear" else 7 * (apart <= said.scale)
        sim = (sim if kind == "sum" else 7 * (sim >= 7 * least)) * (has & has[k])
        either = (has | has[k]).sum(axis=1)
        similar = np.where(either > 0, sim.sum(axis=1) / np.maximum(7 * either, 1), 1.0)
        similar[k] = -1
        first[k] = np.argmax(similar)
        near[k] = similar[first[k]]
    return near, first


def test_equal_only_by_the_same_number_is_no_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are told apart though the numbers that they are sorted by are the same."""
    monkeypatch.setattr(equal_records, "_hash_records", lambda matrix: np.zeros(matrix.shape[0], np.uint64))
    rows: Table = [(1, 2), (1, 3), (1, 2), (2, 2), (2, 2)]
    assert [near for near, _ in told(nearest_records(made(rows)))] == [1, Fraction(1, 2), 1, 1, 1]


def test_no_attributes_and_no_others() -> None:
    assert told(nearest_records(made([(None,)]))) == [(0, -1)]
    assert measure_sparsity(made([(1,)])).similar_share(0) == 0
    assert told(nearest_records(made([(None,), (None,), (3,), (None,)]))) == [(1, 1), (1, 0), (0, 0), (1, 0)]
    assert told(nearest_records(made([(3,), (None,), (4,)], [linear_similarity(2)]), "sum")) == [
        (Fraction(1, 2), 2),
        (0, 0),
        (Fraction(1, 2), 0),
    ]
    assert measure_sparsity(made([(1,), (2,)])).similar_share(0) == 1


def test_decimals_are_as_far_apart_as_they_are_written() -> None:
    tenths = encode_column(pa.chunked_array([[2.0, 2.3, 2.6, 0.1, 0.4]]))
    for said, rows in ((within_distance(0.3), [1, 0, 1, 4, 3]), (within_distance(0.3, closed=False), [1, 0, 0, 0, 0])):
        assert nearest_records(records_from_codes({"a": tenths}, {"a": said})).row.tolist() == rows


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    random = np.random.default_rng(5)
    rows = [tuple(None if random.random() < 0.4 else int(v) for v in random.integers(0, 4, 9)) for _ in range(200)]
    said = [equal_values(), within_distance(1), linear_similarity(3)] * 3
    before = nearest_records(made(rows, said), "sum")
    turned, moved = random.permutation(9), random.permutation(200)
    after = nearest_records(made([tuple(rows[k][i] for i in turned) for k in moved], [said[i] for i in turned]), "sum")
    assert (after.above == before.above[moved]).all() and (after.below == before.below[moved]).all()


def test_the_number_of_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    records = made([tuple(int(v) for v in random.integers(0, 3, 8)) for _ in range(400)])
    monkeypatch.setattr(search, "_TILE_RECORDS", 5)
    several = nearest_records(records)
    monkeypatch.setattr(slices, "MAX_THREADS", 1)
    assert told(nearest_records(records)) == told(several)


def test_progress_and_cancelling(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(7)
    records = made([tuple(int(v) for v in random.integers(0, 3, 8)) for _ in range(300)])
    monkeypatch.setattr(search, "_TILE_RECORDS", 5)
    seen = list[float | None]()
    run = Run(progress=lambda doing, fraction: seen.append(fraction))
    nearest_records(records, run=run)
    assert len(seen) > 10 and seen == sorted(seen) and seen[-1] == 1
    stopped = threading.Event()

    def stop(doing: str, fraction: float | None) -> None:
        stopped.set()

    with pytest.raises(KeyboardInterrupt):
        nearest_records(records, run=replace(run, cancelled=stopped, progress=stop))
    with pytest.raises(ZeroDivisionError):
        nearest_records(records, run=replace(run, progress=lambda doing, fraction: 1 / 0))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"sim": "cosine"}, "alike, sum or support"),
        ({"least": 0}, "above 0"),
        ({"rows": [0, 0]}, "twice"),
        ({"rows": [7]}, "from 0 to 1"),
        ({"rows": []}, "from 0 to 1"),
    ],
)
def test_what_cannot_be_asked(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(UnveilError, match=said):
        nearest_records(made([(1,), (2,)]), **arguments)


def test_what_else_cannot_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    found = measure_sparsity(made([(1,), (2,)]))
    for sigma in (-0.1, 1.1, float("nan"), True):
        with pytest.raises(UnveilError, match="between 0 and 1"):
            found.similar_share(sigma)
    for ask in (lambda: found.curve(1), lambda: attribute_tail(made([(1,), (2,)])).curve(1)):
        with pytest.raises(UnveilError, match="2 points"):
            ask()
    with pytest.raises(UnveilError, match="confidence"):
        upper_bound(1, 2, 1)
    with pytest.raises(UnveilError, match="sample"):
        measure_sparsity(made([(1,), (2,)]), sample=0)
    with pytest.raises(UnveilError, match="no records"):
        nearest_records(records_from_codes({}))
    with pytest.raises(UnveilError, match="any attribute"):
        attribute_tail(made([(None,), (None,)]))
    monkeypatch.setattr(record_similarity, "_MAX_ATTRIBUTES", 1)
    with pytest.raises(UnveilError, match="2 attributes; at most 1"):
        nearest_records(made([(1, 2), (2, None)]))


# ---- f ---------------------------------------------------------------------------------------------------------------


def shares(*near: Fraction | str, total: int | None = None) -> SparsityFunction:
    """f of records with these similarities."""
    parts = [Fraction(x) for x in near]
    above, below = np.array([p.numerator for p in parts]), np.array([p.denominator for p in parts])
    n = len(parts)
    return SparsityFunction(NearestRecords(np.arange(n), np.full(n, n), above, below), total or n)


def test_similarities_are_compared_as_they_are_written() -> None:
    """0.8 is no binary number; 4 of 5 is 0.8 all the same, and 1/3 is no 0.333."""
    found = shares("4/5", "1/3", "7/10", "0", "1")
    of_five = {0.8: 2, 0.800001: 1, 0.7: 3, 1 / 3: 4, 0.333: 4, 0.334: 3, 0: 5, 1: 1}
    assert {sigma: found.count(sigma) for sigma in of_five} == of_five
    tight = shares(Fraction(10**8 - 1, 3 * 10**8 - 4), Fraction(33333333, 100000000))
    assert [tight.count(Fraction(10**8 - 1, 3 * 10**8 - 4) + d) for d in (0, Fraction(1, 10**30))] == [1, 0]
    sigma, f = found.curve([0.5, Fraction(7, 10)])
    assert sigma.tolist() == [0.5, 0.7] and f.tolist() == [0.6, 0.6]


def test_nothing_seen_in_a_sample_is_not_nothing() -> None:
    """ERRATA 002: f = 0 in 400 of 8,619 records is at most .00746 with 95 % confidence, so not "success 1"; and a share
    of 400 is known to ± 4 points."""
    found = shares(*["1/2"] * 400, total=8619)
    assert found.similar_share(0.8) == 0 and not found.exact
    assert found.upper_limit(0.8) == pytest.approx(1 - 0.05 ** (1 / 400)) == pytest.approx(0.00746, abs=5e-6)
    assert found.interval(0.8)[0] == 0 and found.interval(0.8)[1] > 0.00746
    low, high = wilson_interval(58, 400)  # .145, as in Table 3 at σ = .70
    assert 0.03 < 0.145 - low < 0.04 and 0.035 < high - 0.145 < 0.04
    sigma, limit = found.upper_curve([0.5, 0.8])
    assert sigma.tolist() == [0.5, 0.8] and limit.tolist() == [1, pytest.approx(1 - 0.025 ** (1 / 400))]


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 60), st.data(), st.sampled_from([0.9, 0.95, 0.99]))
def test_intervals(of: int, data: st.DataObject, confidence: float) -> None:
    """The upper limit is the share with which so few or fewer come with probability 1 − confidence."""
    from scipy.stats import binom

    count = data.draw(st.integers(0, of))
    high, low = upper_bound(count, of, confidence), 1 - upper_bound(of - count, of, confidence)
    assert low <= count / of <= high
    if count < of:
        assert binom.cdf(count, of, high) == pytest.approx(1 - confidence)
    if count:
        assert binom.sf(count - 1, of, low) == pytest.approx(1 - confidence)
    left, right = wilson_interval(count, of, confidence)
    assert 0 <= left <= count / of <= right <= 1


def test_a_sample_is_some_of_all() -> None:
    random = np.random.default_rng(8)
    records = made([tuple(int(v) for v in random.integers(0, 3, 6)) for _ in range(300)])
    everyone, some = measure_sparsity(records), measure_sparsity(records, sample=60)
    assert everyone.exact and not some.exact and some.compared_count == 60
    assert (some.found.row == everyone.found.row[some.found.rows]).all()
    assert some.found.rows.tolist() == measure_sparsity(records, sample=60).found.rows.tolist()
    assert some.found.rows.tolist() != measure_sparsity(records, sample=60, run=Run(seed=1)).found.rows.tolist()
    assert measure_sparsity(records, sample=300).exact and "all 300" in repr(everyone) and "60 of 300" in repr(some)
    rare = measure_sparsity(records, rows=range(0, 300, 2))
    assert rare.exact and rare.similar_share(0.5) == (everyone.found.similarity[::2] >= 0.5).mean()
    assert not measure_sparsity(records, rows=range(0, 300, 2), sample=9).exact
    low, high = everyone.interval(0.8)
    assert low == high == everyone.upper_limit(0.8)
    assert (everyone.upper_curve()[1] == everyone.curve()[1]).all()


# ---- the tail --------------------------------------------------------------------------------------------------------


def test_the_published_tails() -> None:
    """Table 1 (Rhapsody): 1,400,000 people, 1,500,000 tracks. The third line is a (1/300, 1/140)-tail."""
    ranks, people = [1, 1_000, 5_000, 25_000, 85_000], [180_000, 30_000, 10_000, 700, 150]
    popularity = np.repeat([*people, 0], np.diff([0, *ranks, 1_500_000]))
    found = LongTail(popularity, np.zeros(1_400_000, np.int32))
    assert found.kappa(Fraction(1, 300)) == 1 / 140
    assert found.kappa(Fraction(85_000, 1_500_000)) == 150 / 1_400_000


@settings(deadline=None, max_examples=50)
@given(tables().filter(lambda rows: any(v is not None for row in rows for v in row)), st.fractions(0, 1))
def test_tails(rows: Table, part: Fraction) -> None:
    some = [i for i in range(len(rows[0])) if any(row[i] is not None for row in rows)]
    rows = [tuple(row[i] for i in some) for row in rows]
    records = made([(*row, None) for row in rows])  # an attribute that nobody has changes nothing
    found, marked = attribute_tail(records), rare_attributes(records, part)
    c, n = len(some), len(rows)
    assert found.attributes == c and found.records == n
    falling = sorted((sum(row[i] is not None for row in rows) for i in range(c)), reverse=True)
    rank = max(1, -(-part.numerator * c // part.denominator))
    assert found.rank(part) == rank and found.kappa(part) == falling[rank - 1] / n
    assert found.share(part) == float(naive.tail_share(rows, rank))
    assert (records.popularity[marked] <= found.max_rare_count(part)).all() and found.kappa(
        part
    ) == found.max_rare_count(part) / n, "Remark 8"
    assert marked.sum() >= c - rank + 1, "all from this rank on, and those that as few have"
    assert found.rows(part).tolist() == np.flatnonzero(has_rare_attribute(records, marked)).tolist()
    ranks, popularity = found.curve()
    assert ranks[0] == 1 and ranks[-1] == c and popularity.tolist() == [falling[r - 1] for r in ranks]


def test_of_equally_popular_attributes_all_are_rare_or_none() -> None:
    table = {"b": [1, None, 1], "a": [None, 1, 1], "c": [1, None, None]}
    columns = {name: encode_column(pa.chunked_array([values])) for name, values in table.items()}
    for names in ("bac", "cba", "acb"):
        records = records_from_codes({name: columns[name] for name in names})
        found = attribute_tail(records)
        assert found.rarest.tolist() == [1, 2, 2]
        assert found.rows(1).tolist() == [0] and found.rows(0.5).tolist() == [0, 1, 2]
        for tau, few in ((0, "abc"), (0.5, "abc"), (0.67, "c"), (1, "c")):
            assert {name for name, is_rare in zip(names, rare_attributes(records, tau), strict=True) if is_rare} == set(
                few
            )


@pytest.mark.parametrize("c", [3, 6, 7, 49, 353, 17_770])
def test_a_tau_leads_back_to_its_rank(c: int) -> None:
    """5/6 as a binary number is above 5/6, and means rank 5 of 6 all the same."""
    found = LongTail(np.arange(c, 0, -1), np.zeros(c, np.int64))
    assert all(found.rank(k / c) == k for k in range(1, c + 1, max(1, c // 1_000)))


@pytest.mark.parametrize("attributes", [1, 2, 5, 6, 7, 100, 100_000])
def test_the_rarer_half_held_one_item_too_many(attributes: int) -> None:
    """Of an even number it is the half; of an odd one, the item in the middle belongs to it."""
    tail = LongTail(np.arange(attributes, 0, -1), np.ones(3, np.int64))
    rare = int((tail.popularity <= tail.max_rare_count(RARE_RANK)).sum())
    assert rare == (attributes + 1) // 2


def test_rows_without_a_value_were_similar_to_each_other() -> None:
    """Two empty rows agreed in all of nothing, and counted among the rows with an equal one."""
    rng = np.random.default_rng(5)
    rows = [tuple(int(v) if v < 6 else None for v in rng.integers(0, 8, 4)) for _ in range(60)] + [(None,) * 4] * 40
    some = [row for row in rows if any(v is not None for v in row)]
    frame = pa.table({name: [row[k] for row in rows] for k, name in enumerate("abcd")})
    asked = ["linkage.sparsity", "linkage.success_bound"]
    found = assess(frame, Policy(quasi=(tuple("abcd"),)), only=asked)
    f = found["linkage.sparsity"]
    nearest = naive.nearest_records(some, [naive.equal_similarity] * 4)
    assert (f.value, f.subjects) == (float(naive.share_near(nearest, Fraction(1, 2))), len(some))
    assert f.curves[0].y[-1] == float(naive.share_near(nearest, Fraction(1)))  # type: ignore[union-attr]
    assert f.sentence.endswith("40 rows without any value were left out.")
    alone = assess(
        pa.table({n: [row[k] for row in some] for k, n in enumerate("abcd")}), Policy(quasi=(tuple("abcd"),))
    )
    for name in asked:
        assert (found[name].value, found[name].curves) == (alone[name].value, alone[name].curves)
    one = assess(frame.slice(59, 20), Policy(quasi=(tuple("abcd"),)), only=asked)
    assert one["linkage.sparsity"].value == 0
