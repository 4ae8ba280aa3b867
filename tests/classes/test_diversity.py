"""ℓ, t, β and δ of every class against their definitions, on random tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_models as naive
from unveil import UnveilError
from unveil.classes.diversity import SensitiveClasses, group_sensitive_values
from unveil.grouping import class_ids, group_people, pack_columns

ROWS = st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 1), st.integers(-1, 4)), min_size=1, max_size=30)
NAMES = ("size", "distinct", "alpha", "entropy_l", "t_equal", "beta", "beta_enhanced", "delta")


def make_classes(rows: list[tuple[int, int, int]]) -> tuple[SensitiveClasses, list[tuple[int, int]], list[int]]:
    a, b, s = (np.array(x, np.int32) for x in zip(*rows, strict=True))
    key, bound = pack_columns([a, b], len(rows), room=10)
    return group_sensitive_values(key, bound, s), [(x, y) for x, y, _ in rows], s.tolist()


@settings(max_examples=150, deadline=None)
@given(ROWS)
def test_every_class_is_as_defined(rows: list[tuple[int, int, int]]) -> None:
    found, keys, sensitive = make_classes(rows)
    expected = [
        naive.class_measures(m, list(sensitive)) for _, m in sorted(naive.values_by_class(keys, sensitive).items())
    ]
    for name in NAMES:
        assert getattr(found, name).tolist() == pytest.approx([e[name] for e in expected]), name
    for few in (1, 2, 3):
        members = [m for _, m in sorted(naive.values_by_class(keys, sensitive).items())]
        assert found.recursive_c(few).tolist() == pytest.approx([naive.recursive_c(m, few) for m in members])


def value_shares(members: list[int], order: list[int]) -> list[float]:
    return [Counter(members)[v] / len(members) for v in order]


@settings(max_examples=60, deadline=None)
@given(ROWS, st.permutations(range(5)))
def test_ordered_t_is_the_transport_on_a_line(rows: list[tuple[int, int, int]], order: list[int]) -> None:
    found, keys, sensitive = make_classes(rows)
    rank = np.argsort(order)
    line = [v for v in order if v in sensitive] + [-1] * (-1 in sensitive)
    whole = value_shares(sensitive, line)
    groups = sorted(naive.values_by_class(keys, sensitive).items())
    expected = [
        naive.earth_mover_distance(value_shares(m, line), whole, naive.line_distances(len(line))) for _, m in groups
    ]
    assert found.t_ordered(rank).tolist() == pytest.approx(expected, abs=1e-7)
    plain = found.t_ordered().tolist()
    assert plain == pytest.approx(found.t_ordered(np.arange(5)).tolist())


@settings(max_examples=60, deadline=None)
@given(ROWS, st.lists(st.integers(0, 2), min_size=5, max_size=5), st.integers(0, 1))
def test_tree_t_is_the_transport_in_the_tree(rows: list[tuple[int, int, int]], low: list[int], root: int) -> None:
    found, keys, sensitive = make_classes(rows)
    high = [0 if root else node // 2 for node in low]
    levels = [low, high]
    present = sorted(set(sensitive), key=lambda v: (v < 0, v))
    tree = naive.tree_distances([[-1 if v < 0 else level[v] for v in present] for level in levels])
    whole = value_shares(sensitive, present)
    groups = sorted(naive.values_by_class(keys, sensitive).items())
    expected = [naive.earth_mover_distance(value_shares(m, present), whole, tree) for _, m in groups]
    assert found.t_tree(levels).tolist() == pytest.approx(expected, abs=1e-7)


def test_a_flat_tree_is_equal_distance() -> None:
    found, *_ = make_classes([(i % 3, 0, i % 5) for i in range(40)] + [(0, 0, 1)] * 9)
    assert found.t_tree([[0] * 5]) == pytest.approx(found.t_equal)
    with pytest.raises(UnveilError, match="must share one at the next"):
        found.t_tree([[0, 0, 1, 1, 1], [0, 1, 0, 0, 0]])


def test_constant_and_unique_sensitive_columns() -> None:
    same = group_sensitive_values(np.array([0, 0, 1]), 2, np.zeros(3, np.int32))
    assert same.distinct.tolist() == [1, 1]
    assert same.t_equal.tolist() == same.t_ordered().tolist() == same.beta.tolist() == same.delta.tolist() == [0, 0]
    unique = group_sensitive_values(np.array([0, 0, 1]), 2, np.arange(3, dtype=np.int32))
    assert unique.entropy_l == pytest.approx([2, 1])
    assert unique.t_equal == pytest.approx([1 / 3, 2 / 3])


@settings(max_examples=60, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_changes_nothing(rows: list[tuple[int, int, int]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, two = make_classes(rows)[0], make_classes([(b + 1, a + 1, s) for a, b, s in shuffled])[0]
    for name in NAMES:
        assert sorted(getattr(one, name).tolist()) == sorted(getattr(two, name).tolist())


# ---- packing ---------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-1, 3)] * 4), min_size=1, max_size=20), st.booleans())
def test_packed_numbers_are_equal_where_rows_are(rows: list[tuple[int, ...]], wide: bool) -> None:
    """Also where the product of the bases does not fit in 64 bits."""
    columns = [np.array(c, np.int32) * (2**29 if wide else 1) for c in zip(*rows, strict=True)]
    columns = [np.where(c < 0, -1, c).astype(np.int32) for c in columns]
    key, bound = pack_columns(columns, len(rows), room=7)
    assert bound * 7 <= 1 << 62
    assert 0 <= key.min() <= key.max() < bound
    for i in range(len(rows)):
        for j in range(len(rows)):
            assert (key[i] == key[j]) == (rows[i] == rows[j])
    ids, count = class_ids(columns, len(rows))
    assert count == len(set(rows)) == len(set(ids.tolist()))


def test_no_columns_make_one_class() -> None:
    key, bound = pack_columns([], 5)
    assert key.tolist() == [0] * 5
    assert bound == 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 5)), min_size=1, max_size=25))
def test_people_are_alike_when_their_rows_are(rows: list[tuple[int, int]]) -> None:
    ids, person = np.array([i for i, _ in rows]), np.array([p for _, p in rows], np.int32)
    classes, who = group_people(ids, person)
    shown: dict[object, set[int]] = {}
    for k, (i, p) in enumerate(rows):
        shown.setdefault(("nobody", k) if p < 0 else p, set()).add(i)
    by_person = {p: shown[p] for p in shown}
    for k, (_, p) in enumerate(rows):
        for m, (_, q) in enumerate(rows):
            mine, theirs = (("nobody", n) if x < 0 else x for n, x in ((k, p), (m, q)))
            assert (classes[who[k]] == classes[who[m]]) == (by_person[mine] == by_person[theirs])
    assert len(classes) == len(shown)
