"""What the order of rows tells, against all orders of small tables; and what becomes of it under protection."""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import Policy
from unveil.errors import UnveilError
from unveil.protect import ProtectedRelease
from unveil.release.codes import encode_column
from unveil.release.generalised_labels import parse_interval
from unveil.release.row_order import OrderMeasure, count_inversions, measure_order, ordered_ranks

Count = Callable[[Sequence[int]], int]


def differing_pairs(values: Sequence[int]) -> list[tuple[int, int]]:
    return [(a, b) for a, b in itertools.combinations(values, 2) if a != b]


COUNTS: dict[str, Count] = {  # in rising order; the measure takes the better of rising and falling
    "neighbours": lambda values: sum(a <= b for a, b in itertools.pairwise(values)),
    "pairs": lambda values: sum(a < b for a, b in differing_pairs(values)),
    "groups": lambda values: sum(a == b for a, b in itertools.pairwise(values)),
}


def measures(values: Sequence[int]) -> dict[str, OrderMeasure]:
    return {m.way: m for m in measure_order(np.array(values), np.bincount(values))}


@pytest.mark.parametrize("values", [[0, 1], [0, 0, 1], [0, 1, 2, 3, 4], [0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 2, 3]])
def test_measures_are_those_of_all_orders(values: list[int]) -> None:
    orders = list(itertools.permutations(values))
    for way, count in COUNTS.items():
        of = len(differing_pairs(values)) if way == "pairs" else len(values) - 1
        in_orders = [count(order) for order in orders]
        mean, deviation = statistics.fmean(in_orders), statistics.pstdev(in_orders)
        for order in orders[:: max(1, len(orders) // 20)]:
            found = measures(order)[way]
            best = max(count(order), count(order[::-1]))
            assert found.share == pytest.approx(best / of)
            assert found.random_share == pytest.approx(mean / of)
            assert found.deviations == pytest.approx((best - mean) / deviation if deviation else 0)
        assert measures(values)[way].strength == (1 if measures(values)[way].share > mean / of else 0)


def test_inversions_are_counted() -> None:
    draw = np.random.default_rng(0)
    for size in (1, 2, 3, 50):
        codes = draw.integers(0, 9, size)
        assert count_inversions(codes) == sum(a > b for a, b in itertools.combinations(codes.tolist(), 2))


@pytest.mark.parametrize(
    ("values", "in_order", "is_ordered"),
    [
        (["9", "10", " 8"], [1, 2, 0], True),
        (["20–29", "<20", "≥100", "30–39"], [1, 0, 3, 2], True),
        (["2020-05-01", "2019-12-31"], [1, 0], True),
        (["P10", "P9", "A100"], [2, 1, 0], False),
        (["flu", "asthma"], [1, 0], False),
    ],
)
def test_values_are_ordered_as_people_order_them(values: list[str], in_order: list[int], is_ordered: bool) -> None:
    ranks, ordered = ordered_ranks(encode_column(pa.chunked_array([values])))
    assert (ranks.tolist(), ordered) == (in_order, is_ordered)


# ---- the attack ------------------------------------------------------------------------------------------------------

PEOPLE = 600


@pytest.fixture(scope="module")
def people() -> pa.Table:
    """People sorted by age."""
    draw = random.Random(1)
    ages = sorted(draw.randint(20, 79) for _ in range(PEOPLE))
    columns = {"sex": "fm", "job": "abcd", "region": "nsew"}
    return pa.table({"age": ages} | {name: draw.choices(values, k=PEOPLE) for name, values in columns.items()})


def protect_ages(people: pa.Table, keep_order: bool) -> ProtectedRelease:
    policy = Policy(
        quasi=(("age", "sex", "job", "region"),),
        hierarchy={"age": "intervals:10,20"},
        tolerance={"classes.k": 1, "linkage.success": 0.4},
    )
    return unveil.protect(people, policy, method="columns", keep_order=keep_order)


def guess_ages(made: ProtectedRelease) -> float:
    """The share of people whose exact age is guessed by someone who takes rows for sorted: within each interval, ages
    grow evenly from the first row to the last."""
    labels = pa.Table.from_batches(made.release.batches()).column("age").to_pylist()  # type: ignore[union-attr]
    places: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        places.setdefault(label, []).append(row)
    guesses = [0] * len(labels)
    for label, rows in places.items():
        interval = parse_interval(label)
        assert interval is not None
        for k, row in enumerate(rows):
            guesses[row] = int(interval.low + (interval.high - interval.low + 1) * k / len(rows))
    assert made.case is not None
    assert made.case.truth is not None
    originals = pa.Table.from_batches(made.case.original.batches()).column("age").to_pylist()  # type: ignore[union-attr]
    return sum(guesses[row] == age for row, age in zip(made.case.truth, originals, strict=True)) / len(originals)


def test_exact_ages_were_guessed_from_the_order_of_a_protected_table(people: pa.Table) -> None:
    ordered, shuffled = protect_ages(people, keep_order=True), protect_ages(people, keep_order=False)
    labels = set(pa.Table.from_batches(shuffled.release.batches()).column("age").to_pylist())  # type: ignore[union-attr]
    assert guess_ages(ordered) > 0.5
    assert guess_ages(shuffled) < 0.1 + 5 * (0.1 * 0.9 / PEOPLE) ** 0.5  # one in ten years: 5 standard errors
    assert len(labels) <= 6
    assert ordered.assessment.verdict.decision == "your call"
    assert "Rows keep their order" in ordered.assessment.verdict.sentence
    assert "Rows keep" not in shuffled.assessment.verdict.sentence
    for made, value in ((ordered, 1.0), (shuffled, 0.2)):
        assert made.before["release.order"].value == 1
        assert made.assessment["release.order"].value == pytest.approx(value, abs=0.2)


def test_a_table_within_tolerance_is_shuffled_too(people: pa.Table) -> None:
    policy = Policy(quasi=(("sex", "job", "region"),), tolerance={"classes.k": 1})
    made = unveil.protect(people, policy)
    assert made.case is not None
    assert made.case.truth is not None
    released, original = (pa.Table.from_batches(t.batches()) for t in (made.release, unveil.read(people)))  # type: ignore[union-attr]
    assert released != original
    assert released.take(pa.array(made.case.truth)) == original.combine_chunks()
    assert made.assessment["release.order"].value != 1


def test_only_rows_of_tables_can_keep_their_order() -> None:
    with pytest.raises(UnveilError, match="only the rows of a table can keep their order"):
        unveil.protect(unveil.Transactions.from_baskets([["a", "b"], ["a"]]), keep_order=True)
