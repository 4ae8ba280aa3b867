"""Knowledge of pairs, against the paper's example and against listing all edges and all mappings."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import unveil
from reference.naive_matching import all_matchings, marginals
from unveil import Case, Finding, Policy, Run, Transactions
from unveil.errors import UnveilError
from unveil.finding import Curve
from unveil.items import ask_pairs
from unveil.items.beliefs import Beliefs
from unveil.items.correlation import (
    identify_and_filter,
    refine_beliefs,
    select_nearly_always,
)
from unveil.items.item_pairs import ItemPairs, top_pairs
from unveil.items.never_together import solve_never_together
from unveil.matching.candidates import Candidates
from unveil.matching.solver import Budget, solve
from unveil.wording import number_text

BIGMART = [[1, 2, 3], [1, 2, 3, 4], [4, 6], [3, 4, 5, 6], [5, 6], [6], [1, 2], [1, 3, 4], [1, 3, 5], [2, 4, 6]]
COUNTS = np.array([5, 4, 5, 5, 3, 5])
F = Beliefs.from_exact_counts(COUNTS)
H = Beliefs.from_intervals([0, 4, 5, 4, 1, 5], [10, 5, 5, 6, 4, 5], COUNTS)
OF_F = {(1, 3), (1, 4), (1, 6), (3, 1), (4, 1), (6, 1)}
OF_H = {(3, 1), (3, 2), (4, 1), (4, 2), (5, 1), (6, 1), (6, 2)}
REVERSED = {(1, 3), (1, 4), (1, 6), (2, 4), (2, 5)}


def some(*pairs: tuple[int, int]) -> ItemPairs:
    a, b = np.array(pairs, np.int64).reshape(-1, 2).T
    return ItemPairs(a, b, np.zeros(len(a), np.int64))


def removed(before: Candidates, after: Candidates) -> set[tuple[int, int]]:
    """Edges that are gone, as (pseudonym, item) numbered from 1; none is new."""
    assert (after.to_matrix() <= before.to_matrix()).all()
    items, pseudonyms = np.nonzero(before.to_matrix() > after.to_matrix())
    return set(zip((pseudonyms + 1).tolist(), (items + 1).tolist(), strict=True))


@pytest.mark.parametrize(
    ("beliefs", "reverse", "gone"),
    [(F, False, {(3, 1), (4, 1), (6, 1)}), (F, True, OF_F), (H, False, OF_H), (H, True, OF_H | REVERSED)],
)
def test_bigmart(beliefs: Beliefs, reverse: bool, gone: set[tuple[int, int]]) -> None:
    """Section 7.1: (1, 2) is identified with (1′, 2′). The example's edges are those with the reverse filter."""
    before = beliefs.candidates
    assert removed(before, identify_and_filter(before, some((0, 1)), some((0, 1)), reverse)) == gone
    assert len(gone) == {(False, False): 3, (False, True): 6, (True, False): 7, (True, True): 12}[beliefs is H, reverse]


def test_bigmart_counts() -> None:
    transactions = Transactions.from_baskets(BIGMART)
    assert transactions.labels.to_pylist() == list("123456")
    assert transactions.counts.tolist() == [5, 4, 5, 5, 3, 5]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_filters_against_all_edges(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 7))
    counts = np.array(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)), float)
    width = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), float)
    before = Beliefs.from_half_width(counts, width).candidates
    pairs = st.lists(st.sampled_from(list(combinations(range(n), 2))), unique=True, min_size=1, max_size=4)
    known, found = data.draw(pairs), data.draw(pairs)
    reverse = data.draw(st.booleans())
    if len(known) > len(found):
        with pytest.raises(UnveilError, match="cannot be matched"):
            identify_and_filter(before, some(*known), some(*found), reverse)
        return
    wanted = before.to_matrix()
    items, pseudonyms = {i for p in known for i in p}, {j for p in found for j in p}
    for i in range(n):
        for j in range(n):
            if i in items and j not in pseudonyms:
                wanted[i, j] = 0
            if reverse and len(known) == len(found) and j in pseudonyms and i not in items:
                wanted[i, j] = 0
    after = identify_and_filter(before, some(*known), some(*found), reverse)
    assert (after.to_matrix() == wanted).all()
    assert (after.class_sizes > 0).all() and (after.group_sizes > 0).all()
    one_by_one = before
    for pair in known:
        one_by_one = identify_and_filter(one_by_one, some(pair), some(*found))
    assert (one_by_one.to_matrix() == identify_and_filter(before, some(*known), some(*found)).to_matrix()).all()


def test_beliefs_are_refined_in_order() -> None:
    beliefs = Beliefs.from_intervals([0, 3, 6], [4, 7, 9], [2, 5, 8])
    first = refine_beliefs(beliefs, [some((0, 1)), some((1, 2))])
    assert (first.low.tolist(), first.high.tolist()) == ([3, 3, 6], [4, 4, 9])
    other = refine_beliefs(beliefs, [some((1, 2)), some((0, 1))])
    assert (other.low.tolist(), other.high.tolist()) == ([0, 6, 6], [4, 7, 7])
    for tied in (some((0, 1), (1, 2)), some((1, 2), (0, 1)), some((2, 1), (1, 0))):
        at_once = refine_beliefs(beliefs, [tied])  # 1 has nothing in common with both, so it stays
        assert (at_once.low.tolist(), at_once.high.tolist()) == ([3, 3, 6], [4, 7, 7])
    assert beliefs.high.tolist() == [4, 7, 9]


def test_the_example_of_refined_beliefs() -> None:
    """Section 7.1: 1 and 2 almost always occur together, so both get the intersection of their intervals, which removes
    an edge: item 1 may have been 5′ before."""
    after = refine_beliefs(H, [some((0, 1))])
    assert (after.low.tolist(), after.high.tolist()) == ([4, 4, 5, 4, 1, 5], [5, 5, 5, 6, 4, 5])
    assert removed(H.candidates, after.candidates) == {(5, 1)}


def test_nearly_always() -> None:
    """19 of the 20 baskets of the more frequent item suffice, 18 do not, nor do all of the rarer one; in order."""
    counts = np.array([20, 19, 20, 30, 40, 40])
    pairs = ItemPairs(np.array([4, 0, 0, 1, 2]), np.array([5, 1, 2, 3, 3]), np.array([39, 19, 18, 19, 20]))
    found = [list(zip(x.a, x.b, x.counts, strict=True)) for x in select_nearly_always(pairs, counts)]
    assert found == [[(4, 5, 39)], [(0, 1, 19)]]
    turned = select_nearly_always(ItemPairs(pairs.a[[1, 0]], pairs.b[[1, 0]], pairs.counts[[1, 0]]), counts)
    assert [x.counts.tolist() for x in turned] == [[39], [19]]
    tied = select_nearly_always(ItemPairs(pairs.a[:2], pairs.b[:2], np.array([38, 19])), counts)
    assert [x.counts.tolist() for x in tied] == [[38, 19]]
    assert select_nearly_always(pairs.take_first(0), counts) == []


def bought(**baskets: int) -> Transactions:
    """So many baskets of the items that each name spells."""
    return Transactions.from_baskets([list(items) for items, many in baskets.items() for _ in range(many)])


def asked(data: Transactions, known_pairs: int, width: int = 0) -> Finding:
    chosen = {"frequency_precision": width / data.baskets, "known_pairs": known_pairs}
    return unveil.assess(data, Policy(settings={"items": chosen}), only="items.correlation")["items.correlation"]


def believed(*intervals: tuple[int, int], counts: list[int]) -> float:
    """The expected cracks with these intervals, by listing all mappings."""
    return float(np.trace(marginals(np.array([[1.0 * (low <= c <= high) for c in counts] for low, high in intervals]))))


def test_taking_items_for_equally_frequent_can_crack_more() -> None:
    """Without it, a may be c′ and d may be b′; the intersections (97 … 101 and 100 … 104) rule that out."""
    data, counts = bought(ab=98, a=2, cd=98, c=5, d=3), [100, 98, 103, 101]
    told = asked(data, 2, 3)
    plain = believed((97, 103), (95, 101), (100, 106), (98, 104), counts=counts)
    close = believed((97, 101), (97, 101), (100, 104), (100, 104), counts=counts)
    assert plain + 0.1 < close == pytest.approx(told.value)
    assert told.sentence.startswith(
        f"On average, someone who knows these pairs identifies {number_text(plain)} of 4 items, as many as"
    )
    assert (
        "A second attacker also assumes that the items of the 2 known pairs that are nearly always bought together are "
        "equally frequent. This makes no right belief wrong. They identify "
        f"{number_text(close)} on average, more than the first attacker; the finding reports the second."
    ) in told.sentence
    assert told.attacker.endswith(
        ", and assumes that items which are nearly always bought together are equally frequent."
    )
    assert told.share == pytest.approx((close / 4, close / 4))


def test_taking_items_for_equally_frequent_can_crack_less() -> None:
    """a and b are both taken to be in 41 baskets, which c and d are: nothing is cracked any more."""
    told = asked(bought(ab=40, b=2, cd=40, c=1, d=1), 2, 1)
    plain = believed((39, 41), (41, 43), (40, 42), (40, 42), counts=[40, 42, 41, 41])
    assert plain == pytest.approx(told.value)
    assert (
        "They identify 0 on average, no more than the first attacker; the finding reports the first." in told.sentence
    )
    assert "This makes 2 right beliefs wrong." in told.sentence
    assert "equally frequent" not in told.attacker


def test_taking_items_for_equally_frequent_can_be_noticed() -> None:
    """a and b, 40 and 42 times, would both be in 41 baskets, and no item is. The value stays: a, b, c, and d or e."""
    told = asked(bought(ab=40, b=2, c=5, de=3), 1, 1)
    assert told.value == pytest.approx(4)
    assert told.method == "exact"
    assert told.sentence.endswith(
        "A second attacker also assumes that the items of the known pair that is nearly always bought together are "
        "equally frequent. This makes 2 right beliefs wrong. Then no assignment of pseudonyms fits, so they would "
        "notice; the finding reports the first."
    )
    assert "No known pair is nearly always bought together." in asked(bought(ab=40, b=3, c=5), 1, 1).sentence


def test_known_pairs_are_matched_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value at k = w is the finding's; beyond, no other item is barred from the pseudonyms that were found."""
    data = Transactions.from_baskets(BIGMART)
    told, pairs = asked(data, 1, 1), top_pairs(data, 5)
    (curve,) = told.curves
    assert isinstance(curve, Curve)
    assert (curve.x, curve.low) == ((1, 4, 9), None)  # 1, 3 and 5 pairs, and those that are as frequent as the last
    wanted = [believed_with_pairs(data, 1, pairs.take_top(1), pairs.take_top(k)) for k in (1, 2, 5)]
    assert curve.y == pytest.approx(wanted)
    assert len(set(wanted)) > 1
    assert curve.y[0] == pytest.approx(told.value)
    assert f"among 9 pairs, {number_text(wanted[-1])} items" in curve.reading
    assert [c.title for c in asked(data, 7, 1).curves] == ["Items identified, by how many pairs are relied on"]
    monkeypatch.setattr(ask_pairs, "MAX_VARIED_ITEMS", 5)
    assert asked(data, 1, 1).curves == ()


def believed_with_pairs(data: Transactions, width: int, known: ItemPairs, found: ItemPairs) -> float | None:
    """The expected cracks of someone who matches known pairs with found ones, by listing all mappings."""
    n, matrix = len(data.labels), Beliefs.from_half_width(data.counts, width).candidates.to_matrix()
    mine, theirs = set(known.items.tolist()), set(found.items.tolist())
    for i, j in product(range(n), range(n)):
        if (i in mine and j not in theirs) or (len(known) == len(found) and j in theirs and i not in mine):
            matrix[i, j] = 0
    return float(np.trace(marginals(matrix))) if all_matchings(matrix) else None


def test_knowledge_of_pairs_is_solved_exactly() -> None:
    transactions = Transactions.from_baskets(BIGMART)
    pairs = top_pairs(transactions, 3)
    before = Beliefs.from_half_width(transactions.counts, 1).candidates
    after = identify_and_filter(before, pairs.take_first(1), pairs.take_first(2))
    for candidates in (before, after):
        found = solve(candidates, may_exclude_truth=True)
        assert found.exact
        assert found.expected_cracks == pytest.approx(np.trace(marginals(candidates.to_matrix())))


# ---- ties, and knowing more ------------------------------------------------------------------------------------------

small_baskets = st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=2, max_size=14).filter(
    lambda rows: any(len(row) > 1 for row in rows)
)


def refined(low: dict[str, float], high: dict[str, float], close: list[tuple[float, str, str]]) -> None:
    """Narrow intervals by the most correlated pairs first, equally correlated ones at once."""
    for share in sorted({share for share, _, _ in close}, reverse=True):
        before = {item: (low[item], high[item]) for item in low}
        for item, (least, most) in before.items():
            for one, other in [(i, j) for s, i, j in close if s == share] + [(j, i) for s, i, j in close if s == share]:
                if one == item and max(before[one][0], before[other][0]) <= min(before[one][1], before[other][1]):
                    least, most = max(least, before[other][0]), min(most, before[other][1])
            if least <= most:
                low[item], high[item] = least, most


def best_of_pairs(rows: list[set[str]], width: float, known_pairs: int) -> float | None:
    """What is identified by someone who uses the most frequent 0, 1, … pairs, whichever is worth most, by listing all
    mappings; ties are used together. None if no use of pairs leaves a mapping."""
    items = sorted({item for row in rows for item in row})
    count = {item: sum(item in row for row in rows) for item in items}
    pair = {p: n for p in combinations(items, 2) if (n := sum({*p} <= row for row in rows))}
    least = sorted(pair.values(), reverse=True)[:known_pairs][-1]
    found = []
    for level in sorted({n for n in pair.values() if n >= least}):
        known = {p for p, n in pair.items() if n >= level}
        inside = {item for p in known for item in p}
        close = [(pair[p] / max(count[p[0]], count[p[1]]), *p) for p in known]
        for assumes in (False, True):
            low, high = ({i: count[i] + sign * width for i in items} for sign in (-1, 1))
            if assumes:
                refined(low, high, [x for x in close if x[0] >= 0.95])
            matrix = np.array(
                [
                    [1.0 * (low[i] <= count[j] <= high[i] and (i in inside) == (j in inside)) for j in items]
                    for i in items
                ]
            )
            if all_matchings(matrix):
                found.append(float(np.trace(marginals(matrix))))
    ignored = believed(*((count[i] - width, count[i] + width) for i in items), counts=[count[i] for i in items])
    return max(*found, ignored) if found else None


@settings(max_examples=60, deadline=None)
@given(small_baskets, st.integers(0, 2), st.randoms(use_true_random=False))
def test_the_order_of_the_baskets_moved_the_number_of_items_identified(
    rows: list[set[str]], width: int, rng: object
) -> None:
    """Ties at the last known pair were broken by the order of rows. Neither that order nor the names of the items may
    matter, nothing that is said may change, and knowing more pairs never identifies fewer items."""
    shuffled = [sorted(row) for row in rows]
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    names = rng.sample("uvwxyz", 6)  # type: ignore[attr-defined]
    renamed = [[names["abcdef".index(item)] for item in reversed(row)] for row in shuffled]
    values = []
    for known in (1, 2, 3, 5, 20):
        one, other = (asked(Transactions.from_baskets(x), known, width) for x in (list(map(sorted, rows)), renamed))
        assert (one.sentence, one.attacker, one.method) == (other.sentence, other.attacker, other.method)
        wanted = best_of_pairs(rows, width, known)
        assert wanted == one.value == other.value is None or one.value == pytest.approx(wanted) == pytest.approx(
            other.value
        )
        values.append(-1.0 if one.value is None else one.value)
    assert all(more >= fewer - 1e-9 for fewer, more in pairwise(values))


def test_tied_pairs_are_all_known() -> None:
    """Of three equally frequent pairs an attacker who is said to know one knows all three."""
    rows = [*["ab", "cd", "ef"] * 5, "a", "c", "c", "e", "e", "e"]
    told = [
        asked(Transactions.from_baskets([list(r) for r in x]), 1, 0) for x in (rows, rows[::-1], rows[1:] + rows[:1])
    ]
    assert {t.value for t in told} == {told[0].value}
    assert "2 more pairs are as frequent as it and count as known, too." in told[0].sentence
    assert "knows the 3 pairs of items that are bought together most often" in told[0].attacker


def test_knowing_more_pairs_lowered_the_number() -> None:
    """At BigMart one pair identifies 2.75 items, and all 13 pairs no more than none: the attacker relies on one."""
    data = Transactions.from_baskets(BIGMART)
    one, all_pairs = asked(data, 1, 1), asked(data, 20, 1)
    assert one.value == all_pairs.value == pytest.approx(2.75)
    assert believed_with_pairs(data, 1, top_pairs(data, 20), top_pairs(data, 20)) == pytest.approx(11 / 6)
    assert all_pairs.sentence.startswith(
        "On average, someone who knows the most frequent pair identifies 2.75 of 6 items"
    )
    assert "Relying on any other number of the 13 known pairs identifies no more." in all_pairs.sentence
    assert all_pairs.attacker.endswith(
        "Also knows the 13 pairs of items that are bought together most often and which is the most frequent."
    )


def test_pairs_that_mislead_are_not_used() -> None:
    """The attacker is wrong about b and e. To rely on c and e, the most frequent pair, would identify 1.5 items instead
    of 1.75, so the finding reports what they identify without it."""
    data = Transactions.from_baskets([list(row) for row in ("ce", "d", "bd", "ce", "be", "a", "ef", "b", "cf")])
    low, high = {"c": 2, "e": 3, "d": 2, "b": 2, "a": 1, "f": 1}, {"c": 6, "e": 3, "d": 2, "b": 2, "a": 1, "f": 5}
    items, count = list(low), {"c": 3, "e": 4, "d": 2, "b": 3, "a": 1, "f": 2}
    matrix = np.array([[1.0 * (low[i] <= count[j] <= high[i]) for j in items] for i in items])
    assert float(np.trace(marginals(matrix))) == pytest.approx(1.75)
    matrix[:2, 2:] = matrix[2:, :2] = 0
    assert float(np.trace(marginals(matrix))) == pytest.approx(1.5)
    ends = {"low": [low[i] / 9 for i in items], "high": [high[i] / 9 for i in items]}
    beliefs = unveil.read(pa.table({"item": items, **ends}))
    found = unveil.assess(Case(data, holds={"beliefs": beliefs}), Policy(settings={"items": {"known_pairs": 1}}))
    told = found["items.correlation"]
    assert told.value == pytest.approx(1.75) == pytest.approx(found["items.expected_cracks"].value)
    assert told.sentence == (
        "To rely on the known pairs would only mislead the attacker: they would identify 1.5 of 6 items on average. "
        "Without the pairs they identify 1.75."
    )


# ---- never together --------------------------------------------------------------------------------------------------


def listed(matrix: np.ndarray, never: list[tuple[int, int]], met: set[tuple[int, int]]) -> np.ndarray | None:
    """The probability of each crack over all mappings that heed the condition, by listing them."""
    n = len(matrix)
    kept = [p for p, _ in all_matchings(matrix) if not any((min(p[i], p[j]), max(p[i], p[j])) in met for i, j in never)]
    return np.mean([np.array(p) == np.arange(n) for p in kept], axis=0) if kept else None


def release(n: int, met: set[tuple[int, int]]) -> Transactions:
    """Baskets in which just these items meet."""
    return Transactions.from_baskets([*([i] for i in range(n)), *met])


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_pair_that_is_never_together(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 6))
    bits = data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    matrix = np.array(bits, float).reshape(n, n)
    assume(all_matchings(matrix))
    pairs = list(combinations(range(n), 2))
    met = set(data.draw(st.lists(st.sampled_from(pairs), unique=True)))
    never = data.draw(st.sampled_from(pairs))
    wanted = listed(matrix, [never], met)
    candidates = Candidates.from_matrix(matrix)
    if wanted is None:
        with pytest.raises(UnveilError, match="no mapping"):
            solve_never_together(candidates, [never[0]], [never[1]], release(n, met))
        return
    found = solve_never_together(candidates, [never[0]], [never[1]], release(n, met))
    assert found.exact and found.is_enough
    assert found.crack == pytest.approx(wanted)
    assert found.interval == pytest.approx((wanted.sum(), wanted.sum()))
    assert found.before == pytest.approx(np.diag(marginals(matrix)))


def cases(seed: int, many: int) -> list[tuple[np.ndarray, list[tuple[int, int]], set[tuple[int, int]], np.ndarray]]:
    """Graphs of one or two blocks with one to three pairs, such that some mapping is allowed."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < many:
        n = int(rng.integers(4, 8))
        matrix = 1.0 * ((rng.random((n, n)) < rng.choice([0.4, 0.7, 1.0])) | np.eye(n, dtype=bool))
        if len(found) % 3 == 0:
            matrix[: n // 2, n // 2 :] = 0
        pairs = list(combinations(range(n), 2))
        never = [pairs[k] for k in rng.choice(len(pairs), int(rng.integers(1, 4)), replace=False)]
        met = {pair for pair in pairs if rng.random() < 0.5}
        wanted = listed(matrix, never, met)
        if wanted is not None:
            found.append((matrix, never, met, wanted))
    return found


def test_the_walk_agrees_with_all_mappings() -> None:
    """z-scores of the expected cracks: mean 0, variance 1; fixed seeds; the bounds fail one correct walk in 1,000."""
    scores = []
    for seed, (matrix, never, met, wanted) in enumerate(cases(7, 30)):
        a, b = zip(*never, strict=True)
        found = solve_never_together(
            Candidates.from_matrix(matrix),
            a,
            b,
            release(len(matrix), met),
            Run(seed=seed, confidence=0.6826894921),
            budget=Budget(sweeps=1000, half_width=0),
            simulate=True,
        )
        error = (found.interval[1] - found.interval[0]) / 2
        assert np.abs(found.crack - wanted).max() < 0.08
        if error < 1e-12:
            assert found.expected == pytest.approx(wanted.sum())
        else:
            scores.append((found.expected - wanted.sum()) / error)
    z = np.array(scores)
    assert len(z) > 12
    assert abs(z.mean()) < 3.3 / np.sqrt(len(z))
    assert (z**2).sum() < len(z) + 4.5 * np.sqrt(2 * len(z))


def test_few_mappings_under_several_pairs_ran_out_of_budget() -> None:
    """Several pairs are counted as a single one is, where few mappings exist; a walk met too few of them."""
    for matrix, never, met, wanted in cases(11, 25):
        a, b = zip(*never, strict=True)
        found = solve_never_together(Candidates.from_matrix(matrix), a, b, release(len(matrix), met))
        assert found.exact and found.is_enough and found.method == "exact"
        assert found.crack == pytest.approx(wanted)
        assert found.expected == pytest.approx(wanted.sum())


def test_blocks_that_must_move_together() -> None:
    """Two blocks of two: only both straight or both crossed is allowed, so that no single swap is."""
    matrix = np.kron(np.eye(2), np.ones((2, 2)))
    met, never = {(0, 3), (1, 2)}, [(0, 2), (1, 3)]
    wanted = listed(matrix, never, met)
    assert wanted is not None and wanted.tolist() == [0.5] * 4
    found = solve_never_together(
        Candidates.from_matrix(matrix), [0, 1], [2, 3], release(4, met), budget=Budget(half_width=0.01), simulate=True
    )
    assert found.is_enough and not found.exact
    assert found.crack == pytest.approx(wanted, abs=0.05)


def test_a_condition_that_rules_out_nothing_or_everything() -> None:
    candidates = Candidates.from_matrix(np.ones((3, 3)))
    free = solve_never_together(candidates, [0, 1], [1, 2], release(3, set()))
    assert free.exact and free.expected == pytest.approx(1.0)
    assert solve_never_together(candidates, [], [], release(3, {(0, 1)})).expected == pytest.approx(1.0)
    with pytest.raises(UnveilError, match="no mapping"):
        solve_never_together(candidates, [0, 1], [1, 2], release(3, {(0, 1), (0, 2), (1, 2)}))
    fixed = Candidates.from_matrix(np.eye(3))
    with pytest.raises(UnveilError, match="no mapping"):
        solve_never_together(fixed, [0, 1], [1, 2], release(3, {(0, 1), (0, 2), (1, 2)}))


def test_the_same_seed_gives_the_same_numbers() -> None:
    matrix, never, met, _ = cases(3, 1)[0]
    a, b = zip(*never, strict=True)
    how = Candidates.from_matrix(matrix), a, b, release(len(matrix), met)
    one, two = (solve_never_together(*how, Run(seed=5), budget=Budget(sweeps=250), simulate=True) for _ in range(2))
    assert one.crack.tolist() == two.crack.tolist() and one.interval == two.interval


def test_weights_are_refused() -> None:
    with pytest.raises(UnveilError, match="candidates of equal weight"):
        solve_never_together(Candidates.from_matrix([[1, 2], [2, 1]]), [0], [1], release(2, set()))
