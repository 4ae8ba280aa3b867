"""O and OS against the graph drawn in full, and what the lemmas say about widening intervals."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_items
from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.degree_estimates import crack_estimates, o_estimate, os2_estimates, os_estimates
from unveil.matching import Candidates, solve


@st.composite
def beliefs(draw: st.DrawFn, most: int = 7, wrong: bool = True) -> Beliefs:
    """Small whole counts, and intervals around them or, if they may be wrong, anywhere."""
    counts = draw(st.lists(st.integers(0, 6), min_size=1, max_size=most))
    below, above = (draw(st.lists(st.integers(0, 3), min_size=len(counts), max_size=len(counts))) for _ in "ab")
    shift = [draw(st.integers(-4, 4)) if wrong and draw(st.booleans()) else 0 for _ in counts]
    low = [c - x + s for c, x, s in zip(counts, below, shift, strict=True)]
    high = [c + x + s for c, x, s in zip(counts, above, shift, strict=True)]
    return Beliefs.from_intervals(low, high, counts)


def possible(some: Beliefs) -> np.ndarray:
    return naive_items.possible_pairs(some.low.tolist(), some.high.tolist(), some.counts.tolist())


@settings(max_examples=300, deadline=None)
@given(beliefs(12), st.booleans(), st.sampled_from([1, 0.1, 1e7]))
def test_estimates_are_those_of_the_graph(some: Beliefs, propagate: bool, unit: float) -> None:
    """Whole counts are looked up, others are sought."""
    scaled = Beliefs.from_intervals(some.low * unit, some.high * unit, some.counts * unit)
    expected = naive_items.crack_estimates(possible(some), propagate)
    assert np.allclose(crack_estimates(scaled, propagate), expected)
    assert o_estimate(scaled, propagate) == pytest.approx(expected.sum())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_long_cascades(seed: int) -> None:
    """Stairs with some steps moved: items and pseudonyms are forced one after the other, from both ends."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    counts = rng.permutation(n).astype(float)
    low = np.where(rng.random() < 0.5, 0.0, counts - rng.integers(0, 3, n))
    high = counts + np.where(rng.random(n) < 0.8, 0, rng.integers(0, 4, n))
    some = Beliefs.from_intervals(low, high, counts)
    assert np.allclose(crack_estimates(some), naive_items.crack_estimates(possible(some), True))


def test_no_items_and_infinite_intervals() -> None:
    assert o_estimate(Beliefs.from_intervals([], [], [])) == 0
    assert o_estimate(naive_items.from_ignorance([3, 1, 2])) == pytest.approx(1)
    assert o_estimate(naive_items.from_ignorance([0.3, 0.1]), propagate=False) == pytest.approx(1)


@settings(max_examples=150, deadline=None)
@given(beliefs(), st.integers(1, 4))
def test_os_and_os2_are_those_of_the_graph(some: Beliefs, k: int) -> None:
    k = min(k, some.n)
    sets = list(combinations(range(some.n), k))
    graph = possible(some)
    assert os_estimates(some, sets) == pytest.approx([naive_items.os_estimate(graph, x) for x in sets])
    assert os2_estimates(some.candidates, sets) == pytest.approx([naive_items.os2_estimate(graph, x) for x in sets])


def test_an_itemset_with_a_wrong_interval_may_be_cracked_as_a_set() -> None:
    """Both believe the other's frequency: neither item can be cracked, the pair is certain."""
    swapped = Beliefs.from_intervals([2, 1], [2, 1], [1, 2])
    assert o_estimate(swapped) == 0
    assert os_estimates(swapped, [[0, 1]]).tolist() == os2_estimates(swapped, [[0, 1]]).tolist() == [1]


@pytest.mark.parametrize("wrong", [[[0, 0]], [[0, 9]], [[-1, 0]], [0, 1]])
def test_bad_itemsets_are_refused(wrong: list) -> None:
    with pytest.raises(UnveilError, match="itemset"):
        os_estimates(Beliefs.from_exact_counts([1, 2, 3]), wrong)


@settings(max_examples=200, deadline=None)
@given(beliefs(10, wrong=False), st.data(), st.booleans())
def test_lemma_4_2(some: Beliefs, data: st.DataObject, propagate: bool) -> None:
    """Wider intervals: O does not rise, with propagation or without."""
    more = st.lists(st.integers(0, 3), min_size=some.n, max_size=some.n)
    wider = Beliefs.from_intervals(some.low - data.draw(more), some.high + data.draw(more), some.counts)
    assert naive_items.is_within(some, wider)
    assert o_estimate(some, propagate) >= o_estimate(wider, propagate) - 1e-9


@settings(max_examples=200, deadline=None)
@given(beliefs(10), beliefs(10), st.data())
def test_lemma_4_4(some: Beliefs, other: Beliefs, data: st.DataObject) -> None:
    """Fewer right intervals, none of them narrower: O does not rise, without propagation."""
    n = min(some.n, other.n)
    counts = some.counts[:n]
    spoiled = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    low = np.where(spoiled, counts + 1, np.minimum(some.low[:n], other.low[:n]))
    high = np.where(spoiled, counts + 2, np.maximum(some.high[:n], other.high[:n]))
    right = Beliefs.from_intervals(some.low[:n], some.high[:n], counts)
    worse = Beliefs.from_intervals(low, high, counts)
    kept = worse.compliant & ~right.compliant
    worse = Beliefs.from_intervals(np.where(kept, counts + 1, low), np.where(kept, counts + 2, high), counts)
    assert naive_items.is_at_least_as_right(right, worse)
    assert o_estimate(worse, propagate=False) <= o_estimate(right, propagate=False) + 1e-9


def test_lemma_4_4_fails_with_propagation() -> None:
    """An interval that is wrong leaves a pseudonym alone with its item, which propagation then takes for a crack."""
    right = Beliefs.from_intervals([1, 1, 1, 1], [2, 2, 4, 4], [1, 2, 3, 4])
    worse = Beliefs.from_intervals([1, 1, 1, 0], [2, 2, 4, 0], [1, 2, 3, 4])
    assert naive_items.is_at_least_as_right(right, worse)
    assert (o_estimate(right), o_estimate(worse)) == (1.5, 2)
    assert (o_estimate(right, propagate=False), o_estimate(worse, propagate=False)) == (1.5, 1.25)


def test_the_exact_number_of_cracks_is_not_monotone() -> None:
    """One interval of four items widens, and more items are cracked on average: 13/10, then 4/3. O cannot rise."""
    narrow = Beliefs.from_intervals([1, 1, 3, 1], [4, 3, 4, 4], [1, 2, 3, 4])
    wide = Beliefs.from_intervals([1, 1, 3, 1], [4, 4, 4, 4], [1, 2, 3, 4])
    assert naive_items.is_within(narrow, wide)
    before, after = (naive_cracks(x) for x in (narrow, wide))
    assert (before, after) == (pytest.approx(13 / 10), pytest.approx(4 / 3))
    assert o_estimate(wide, propagate=False) <= o_estimate(narrow, propagate=False)
    assert solve(narrow.candidates).expected_cracks == pytest.approx(before)
    assert solve(wide.candidates).expected_cracks == pytest.approx(after)


def naive_cracks(some: Beliefs) -> float:
    graph = possible(some)
    mappings = [p for p in permutations(range(some.n)) if all(graph[i, p[i]] for i in range(some.n))]
    return sum(sum(p[i] == i for i in range(some.n)) for p in mappings) / len(mappings)


def test_candidates_and_beliefs_agree() -> None:
    some = Beliefs.from_half_width([1, 2, 4, 4, 7], 2)
    sets = list(combinations(range(5), 3))
    assert isinstance(some.candidates, Candidates)
    assert np.array_equal(os_estimates(some, sets), os_estimates(some.candidates, sets))
