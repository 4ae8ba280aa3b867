"""Who is the only one with a few points: at random, and in the worst case over all sets of points."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_attack
from unveil import Run, UnveilError
from unveil.linkage.attack import worst_case as module
from unveil.linkage.attack.adversaries import scoreboard_adversary
from unveil.linkage.attack.auxiliary import Knowledge
from unveil.linkage.attack.experiment import attack_records
from unveil.linkage.attack.worst_case import worst_case
from unveil.linkage.records import Records, records_from_codes, records_from_ratings
from unveil.linkage.similarity import equal_values, within_distance
from unveil.release.codes import encode_column

Visits = dict[str, list[str]]

# Bar and spa are where most were; two were at the bar twice.
TOY: Visits = {
    "ann": ["bar", "spa", "zoo"],
    "bob": ["bar", "bar", "spa"],
    "cy": ["bar", "spa", "zoo", "gym"],
    "dot": ["bar", "bar", "zoo"],
    "eve": ["spa"],
}


def visited(visits: Visits) -> tuple[Records, dict[str, str]]:
    """Records of visits, the second to a place being one that needs the first; people in the order of their names."""
    user, place, needs = list[str](), list[str](), dict[str, str]()
    for who, where in visits.items():
        for k, name in enumerate(where):
            before = where[:k].count(name)
            user.append(who)
            place.append(f"{name} {before}")
            if before:
                needs[f"{name} {before}"] = f"{name} {before - 1}"
    coded = (encode_column(pa.chunked_array([pa.array(column)])) for column in (user, place))
    return records_from_ratings(*coded), needs


@st.composite
def tables(draw: st.DrawFn) -> Records:
    width = draw(st.integers(1, 7))
    row = st.tuples(*(st.sampled_from([None, 0, 0, 1, 2]) for _ in range(width)))
    rows = draw(st.lists(row, min_size=1, max_size=12))
    columns = zip(*rows, strict=True)
    coded = {f"c{i}": encode_column(pa.chunked_array([pa.array(c, pa.int64())])) for i, c in enumerate(columns)}
    sim = draw(st.sampled_from([equal_values(), within_distance(1)]))
    return records_from_codes(coded, dict.fromkeys(coded, sim))


def plain(records: Records) -> list[dict[int, int]]:
    cuts = zip(records.indptr, records.indptr[1:], strict=False)
    return [dict(zip(records.attribute[a:b].tolist(), records.value[a:b].tolist(), strict=True)) for a, b in cuts]


# ---- the worst case --------------------------------------------------------------------------------------------------


@settings(max_examples=120, deadline=None)
@given(tables(), st.integers(1, 6))
def test_the_worst_case_is_that_of_all_sets(records: Records, size: int) -> None:
    rows = plain(records)
    sims = [s.matrix(own).tolist() for s, own in zip(records.similarities, records.values, strict=True)]
    found = worst_case(records, size)
    assert not found.is_truncated
    assert found.least.tolist() == [naive_attack.fewest_matches(rows, sims, r, size) for r in range(records.n)]
    everything = [naive_attack.fewest_matches(rows, sims, r, records.c) for r in range(records.n)]
    assert found.all_points.tolist() == everything


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=8), st.integers(1, 5))
def test_points_that_come_several_times(lists: list[list[str]], size: int) -> None:
    visits = {f"{k:02d}": where for k, where in enumerate(lists) if where}
    if not visits:
        return
    records, needs = visited(visits)
    at = {name: i for i, name in enumerate(records.names)}
    pairs = [(at[a], at[b]) for a, b in needs.items()]
    rows, sims = plain(records), [[[1.0]]] * records.c

    def allowed(chosen: set[int]) -> bool:
        return all(b in chosen for a, b in pairs if a in chosen)

    found = worst_case(records, size, needs=needs)
    assert found.least.tolist() == [naive_attack.fewest_matches(rows, sims, r, size, allowed) for r in range(len(rows))]


def test_a_small_example() -> None:
    """Knowing two visits, both to the bar, leaves Bob and Dot; with a third each is the only one."""
    records, needs = visited(TOY)
    risks = [worst_case(records, k, needs=needs).risk.tolist() for k in (1, 2, 3)]
    assert risks[0] == [1 / 3, 1 / 4, 1, 1 / 3, 1 / 4]
    assert risks[1] == [1 / 2, 1 / 2, 1, 1 / 2, 1 / 4]
    assert risks[2] == [1 / 2, 1, 1, 1, 1 / 4]


def test_the_toy_of_scikit_mobility(data: Path) -> None:
    """LocationAttack of scikit-mobility 1.3 on its own example (ERRATA, section 002)."""
    visits: Visits = defaultdict(list)
    with (data / "records" / "skmob_privacy_toy.csv").open() as file:
        for row in csv.DictReader(file):
            visits[row["uid"]].append(f"{row['lat']} {row['lng']}")
    records, needs = visited(visits)
    for size, risks in (
        (2, [1 / 3, 1 / 2, 1 / 3, 1 / 3, 1 / 4, 1 / 4, 1 / 2]),
        (3, [1 / 2, 1, 1 / 2, 1 / 3, 1 / 3, 1 / 4, 1]),
    ):
        assert worst_case(records, size, needs=needs).risk.tolist() == risks


def test_work_that_does_not_suffice() -> None:
    """What was found bounds the risk from below, all points from above."""
    rng = np.random.default_rng(0)
    table = {f"c{i}": encode_column(pa.chunked_array([rng.integers(0, 2, 3_000)])) for i in range(40)}
    records = records_from_codes(table)
    some = rng.choice(3_000, 20, replace=False)
    whole, part = worst_case(records, 4, targets=some), worst_case(records, 4, targets=some, work=1_000_000)
    assert not whole.is_truncated and part.is_truncated and part.rows.tolist() == some.tolist()
    assert (part.risk <= whole.risk + 1e-12).all() and (part.all_points <= whole.least)[~part.exact].all()
    assert (part.risk == whole.risk)[part.exact].all()
    more = worst_case(records, 5, targets=some)
    assert (more.least <= whole.least).all()


def test_records_without_points_could_be_anyone() -> None:
    nothing = np.empty(0, np.int32)
    records = Records(np.zeros(4, np.int64), nothing, nothing, ("a",), (pa.array([1]),), (equal_values(),))
    assert worst_case(records, 2).risk == pytest.approx([1 / 3] * 3)


def test_what_is_needed_comes_before() -> None:
    records, _ = visited(TOY)
    for needs in ({"bar 0": "bar 1"}, {"bar 1": "x"}, {"x": "bar 0"}):
        with pytest.raises(UnveilError, match="comes before"):
            worst_case(records, 2, needs=needs)
    with pytest.raises(UnveilError, match="1 or more"):
        worst_case(records, 0)


def test_it_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SLICE_WORK", 1)
    records, done = visited(TOY)[0], list[float]()
    run = Run(progress=lambda doing, fraction: (done.append(fraction or 0), run.cancelled.set()))
    with pytest.raises(KeyboardInterrupt):
        worst_case(records, 2, run=run)
    assert len(done) == 1 and done[0] < 1


# ---- at random -------------------------------------------------------------------------------------------------------


def test_unicity_is_to_be_the_only_candidate() -> None:
    rng = np.random.default_rng(3)
    table = {f"c{i}": encode_column(pa.chunked_array([rng.integers(0, 4, 200)])) for i in range(9)}
    outcomes = attack_records(
        records_from_codes(table), [scoreboard_adversary()], [1, 3, 5, 9, 12], rng=np.random.default_rng(1)
    )
    for outcome in outcomes:
        assert outcome.unique_probability.tolist() == (outcome.size == 1).tolist()
    values = [o.unicity.value for o in outcomes[:4]]
    assert values == sorted(values) and outcomes[4].excluded == 200
    low, high = outcomes[1].unicity.interval
    assert low < outcomes[1].unicity.value < high


def test_unicity_of_some_with_some_columns() -> None:
    records = records_from_codes({n: encode_column(pa.chunked_array([[1, 2, 2, 2]])) for n in ("a", "b")})
    asked = {"rng": np.random.default_rng(0), "targets": [0, 3], "knowledge": Knowledge(columns=("b",))}
    only = attack_records(records, [scoreboard_adversary()], [1], **asked)[0]
    assert only.unique_probability.tolist() == [True, False] and only.rows.tolist() == [0, 3]
