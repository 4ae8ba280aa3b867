"""Known items against the definition; neither order nor slices nor a budget change what is found."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_known_items as naive
from unveil import Run, Transactions, UnveilError, read
from unveil.classes import known_items as module
from unveil.classes.known_items import KnownItems, measure_known_items

Baskets = list[frozenset[str]]


@st.composite
def releases(draw: st.DrawFn) -> Baskets:
    """A few baskets of up to seven items, many in no basket or in nearly all; some baskets are empty or equal."""
    items = "abcdefg"[: draw(st.integers(1, 7))]
    some = st.frozensets(st.sampled_from(items))
    basket = some | some.map(lambda left_out: frozenset(items) - left_out)
    return draw(st.lists(basket, max_size=14))


def make_baskets(baskets: Baskets, labels: str | None = None) -> Transactions:
    """The given baskets, including empty ones, with items coded in the order of their labels."""
    names = sorted({item for basket in baskets for item in basket}) if labels is None else list(labels)
    codes = [names.index(item) for basket in baskets for item in basket]
    indptr = np.append(0, np.cumsum([len(basket) for basket in baskets])).astype(np.int64)
    return Transactions(indptr, np.array(codes, np.int32), pa.array(names, pa.string()), "made", "")


def list_counts(found: KnownItems) -> list[list[int]]:
    return [found.smallest_supports.tolist(), found.baskets_below_k.tolist(), found.unique_baskets.tolist()]


def item_labels(found: KnownItems, basket: int) -> list[str]:
    return [found.transactions.labels[item].as_py() for item in found.rarest_itemset(basket)]


def check(baskets: Baskets, k: int, most: int) -> None:
    found = measure_known_items(make_baskets(baskets), k, most)
    expected = [naive.least_supports(baskets, m) for m in range(most + 1)]
    assert not found.truncated and found.known == most
    assert found.rarest_supports.tolist() == expected[-1]
    assert found.rarest_set_sizes.tolist() == naive.fewest_items(baskets, most)
    assert list_counts(found) == [
        [min(least, default=0) for least in expected],
        [sum(x < k for x in least) for least in expected],
        [sum(x == 1 for x in least) for least in expected],
    ]
    assert all(
        array.dtype == np.int64
        for array in (found.smallest_supports, found.baskets_below_k, found.unique_baskets, found.rarest_supports)
    )


@settings(max_examples=300, deadline=None)
@given(releases(), st.integers(1, 6), st.integers(1, 8))
def test_every_basket_has_the_least_support_of_the_definition(baskets: Baskets, k: int, most: int) -> None:
    check(baskets, k, most)


@pytest.mark.parametrize("density", [0.15, 0.5, 0.85, 0.97])
@pytest.mark.parametrize("seed", range(4))
def test_sparse_and_dense_baskets(density: float, seed: int) -> None:
    """Enough baskets for every shortcut of the search to apply; the items are not equally frequent."""
    rng = np.random.default_rng(seed)
    holds = rng.random((80, 12)) < density ** (2 * rng.random(12))
    check([frozenset("abcdefghijkl"[i] for i in np.flatnonzero(row)) for row in holds], 5, 5)


@settings(max_examples=150, deadline=None)
@given(releases(), st.integers(1, 5))
def test_why_is_the_first_of_the_smallest_sets(baskets: Baskets, most: int) -> None:
    found = measure_known_items(make_baskets(baskets), most=most)
    for basket in range(len(baskets)):
        why = item_labels(found, basket)
        assert why == naive.rarest_items(baskets, basket, most)
        assert (
            len(why) == found.rarest_set_sizes[basket]
            and naive.count_support(baskets, set(why)) == found.rarest_supports[basket]
        )


@settings(max_examples=150, deadline=None)
@given(releases(), st.integers(1, 5), st.integers(0, 60), st.randoms(use_true_random=False))
def test_the_order_of_baskets_and_items_changes_nothing(baskets: Baskets, most: int, work: int, random: Random) -> None:
    turned, labels = list(range(len(baskets))), list("abcdefg")
    random.shuffle(turned)
    random.shuffle(labels)
    one = measure_known_items(make_baskets(baskets, "abcdefg"), 3, most, work=work)
    two = measure_known_items(make_baskets([baskets[b] for b in turned], "".join(labels)), 3, most, work=work)
    assert list_counts(one) == list_counts(two)
    assert (one.known, one.truncated, one.work) == (two.known, two.truncated, two.work)
    assert two.rarest_supports.tolist() == one.rarest_supports[turned].tolist()
    assert two.rarest_set_sizes.tolist() == one.rarest_set_sizes[turned].tolist()
    assert all(item_labels(two, new) == item_labels(one, old) for new, old in enumerate(turned))


def test_releases_without_much_in_them() -> None:
    nothing = measure_known_items(make_baskets([]), 5, 2)
    assert (
        list_counts(nothing) == [[0] * 3] * 3
        and nothing.rarest_supports.tolist() == []
        and nothing.rarest_baskets(3).tolist() == []
    )
    empty = measure_known_items(make_baskets([frozenset()] * 3), 4, 2)
    assert list_counts(empty) == [[3] * 3, [3] * 3, [0] * 3] and empty.rarest_itemset(0) == ()
    alone = measure_known_items(make_baskets([frozenset("ab")]), 2, 3)
    assert list_counts(alone) == [[1] * 4] * 3 and alone.rarest_itemset(0) == ()  # who is alone is found by anyone
    one_item = measure_known_items(make_baskets([frozenset("a"), frozenset(), frozenset("a")]), 3, 2)
    assert one_item.rarest_supports.tolist() == [2, 3, 2] and one_item.rarest_set_sizes.tolist() == [1, 0, 1]
    assert one_item.baskets_below_k.tolist() == [0, 2, 2]
    equal = measure_known_items(make_baskets([frozenset("abc")] * 4), 5, 10**5)
    assert equal.known == 10**5 and set(equal.smallest_supports.tolist()) == {4} and equal.work == 0


def test_the_worst_come_first() -> None:
    found = measure_known_items(make_baskets([frozenset(x) for x in ("ab", "abc", "ac", "bc", "d", "cb")]), most=3)
    assert found.rarest_supports.tolist() == [2, 1, 2, 3, 1, 3] and found.rarest_set_sizes.tolist() == [
        2,
        3,
        2,
        2,
        1,
        2,
    ]
    assert found.rarest_baskets(4).tolist() == [4, 1, 0, 2]
    assert [item_labels(found, b) for b in (4, 1, 0)] == [["d"], ["a", "b", "c"], ["a", "b"]]


LETTERS = "abcdefghijklmnopqrst"


def draw_baskets(baskets: int = 300) -> Baskets:
    holds = np.random.default_rng(3).random((baskets, len(LETTERS))) < 0.4
    return [frozenset(LETTERS[i] for i in np.flatnonzero(row)) for row in holds]


def random_baskets(baskets: int = 300) -> Transactions:
    return make_baskets(draw_baskets(baskets))


def test_the_work_is_the_same_in_any_order() -> None:
    rng, baskets = np.random.default_rng(4), draw_baskets()
    turned, labels = rng.permutation(300).tolist(), "".join(rng.permutation(list(LETTERS)))
    one, two = (
        measure_known_items(random_baskets(), 5, 5),
        measure_known_items(make_baskets([baskets[b] for b in turned], labels), 5, 5),
    )
    assert two.work == one.work and two.rarest_supports.tolist() == one.rarest_supports[turned].tolist()
    assert all(item_labels(two, new) == item_labels(one, old) for new, old in enumerate(turned[:40]))


def test_where_the_work_runs_out_smaller_sets_are_still_complete() -> None:
    whole = measure_known_items(random_baskets(), 5, 4)
    upto = [measure_known_items(random_baskets(), 5, m) for m in (1, 2, 3)]
    assert not whole.truncated and measure_known_items(random_baskets(), 5, 4, work=whole.work).known == 4
    for work, known in ((whole.work - 1, 3), (upto[2].work, 3), (upto[2].work - 1, 2), (upto[1].work - 1, 1), (0, 1)):
        part = measure_known_items(random_baskets(), 5, 4, work=work)
        assert part.truncated and part.known == known and part.work > work
        assert (
            list_counts(part) == [values[: known + 1] for values in list_counts(whole)] == list_counts(upto[known - 1])
        )
        assert part.rarest_supports.tolist() == upto[known - 1].rarest_supports.tolist()
        assert part.rarest_set_sizes.tolist() == upto[known - 1].rarest_set_sizes.tolist()
        assert part.rarest_itemset(7) == upto[known - 1].rarest_itemset(7)


def test_short_slices_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = measure_known_items(random_baskets(), 5, 4)
    monkeypatch.setattr(module, "_STEPS_PER_SLICE", 100)
    parts = measure_known_items(random_baskets(), 5, 4)
    assert list_counts(parts) == list_counts(whole) and parts.work == whole.work
    assert parts.rarest_supports.tolist() == whole.rarest_supports.tolist() and parts.rarest_itemset(
        11
    ) == whole.rarest_itemset(11)


def test_a_cancelled_run_stops_and_progress_only_rises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STEPS_PER_SLICE", 1000)
    shares: list[float] = []
    run = Run(progress=lambda doing, fraction: shares.append(fraction or 0.0))
    found = measure_known_items(random_baskets(), 5, 4, run=run)
    assert len(shares) > 100 and shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1
    run.cancelled.set()
    with pytest.raises(KeyboardInterrupt):
        measure_known_items(random_baskets(), 5, 4, run=run)
    with pytest.raises(KeyboardInterrupt):
        found.rarest_itemset(int(np.argmax(found.rarest_set_sizes)), run)
    late = Run(progress=lambda doing, fraction: late.cancelled.set() if (fraction or 0) > 0.5 else None)
    with pytest.raises(KeyboardInterrupt):
        measure_known_items(random_baskets(), 5, 4, run=late)


def test_baskets_are_alike_only_if_they_hold_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if all baskets had the same hash."""
    monkeypatch.setattr(module, "_hash_baskets", lambda begins, held, items: np.zeros(len(begins) - 1, np.uint64))
    sizes, held = np.array([2, 2, 2, 1, 2]), np.array([0, 1, 0, 1, 0, 2, 0, 0, 1], np.int32)
    alike, begins, kinds = module.group_equal_baskets(sizes, held, 3, Run())
    assert begins.tolist() == [0, 2, 4, 5, 7] and kinds.tolist() == [0, 1, 0, 2, 0, 0, 1]
    assert alike.tolist() == [0, 0, 1, 2, 3]  # the last is like the first two, but far from them: nothing is wrong then


@settings(max_examples=150, deadline=None)
@given(st.lists(st.frozensets(st.integers(0, 5), min_size=1), max_size=12))
def test_equal_baskets_are_of_one_kind(baskets: list[frozenset[int]]) -> None:
    sizes, held = np.array([len(b) for b in baskets], np.int64), [item for b in baskets for item in sorted(b)]
    alike, begins, kinds = module.group_equal_baskets(sizes, np.array(held, np.int32), 6, Run())
    found = [frozenset(kinds[a:b].tolist()) for a, b in pairwise(begins)]
    assert [found[kind] for kind in alike] == baskets and len(set(found)) == len(found)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(UnveilError, match="1 or more"):
        measure_known_items(random_baskets(), 5, 0)
    with pytest.raises(UnveilError, match="k must be"):
        measure_known_items(random_baskets(), 0)
    found = measure_known_items(random_baskets(10), 5, 2)
    for basket in (-1, 10):
        with pytest.raises(UnveilError, match="from 0 to 9"):
            found.rarest_itemset(basket)


# ---- public data -----------------------------------------------------------------------------------------------------


def test_chess(data: Path) -> None:
    """Every basket has 37 of 75 items, so the rarest sets have two or three items."""
    transactions = read(data / "transactions" / "chess.dat")
    held = np.zeros((transactions.baskets, len(transactions.labels)), np.int64)
    held[np.repeat(np.arange(transactions.baskets), np.diff(transactions.indptr)), transactions.items] = 1
    assert measure_known_items(transactions, 5, 2).rarest_supports.tolist() == naive.supports_by_tables(held, 2)
    found = measure_known_items(transactions, 5, 3)
    assert found.rarest_supports.tolist() == naive.supports_by_tables(held, 3)
    assert list_counts(found) == [[3196, 1, 1, 1], [0, 1, 52, 463], [0, 1, 8, 81]]


def test_retail(data: Path) -> None:
    """The same as DuckDB finds by joining the baskets with themselves (``benchmarks/measure_known_items.py``): with two
    items known most baskets are the only one."""
    found = measure_known_items(read(data / "transactions" / "retail.dat"), 5, 3)
    assert found.baskets_below_k.tolist() == [0, 9_252, 75_536, 77_357]
    assert found.unique_baskets.tolist() == [0, 2_078, 69_553, 74_058]
    assert not found.truncated
