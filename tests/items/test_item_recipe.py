"""The recipe step by step, the two readings of being wrong, and what a sample is worth."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

import unveil
from reference import naive_matching as naive
from unveil import Case, Policy, Run, Transactions, UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.item_recipe import assess_risk, mixed_up_cracks, published_alpha_max
from unveil.items.sample_similarity import sample_knowledge
from unveil.matching import solve


def baskets(counts: list[int]) -> Transactions:
    """Baskets in which item i occurs so many times."""
    return Transactions.from_baskets([[f"i{i}" for i, c in enumerate(counts) if c > b] for b in range(max(counts))])


def test_each_step_stops_where_it_should() -> None:
    same, near, apart = [7] * 20, list(range(1, 21)), [10 * k for k in range(1, 21)]
    exactly = assess_risk(Beliefs.from_half_width(same, 1), 0.1, Run())
    assert (exactly.last_step, exactly.alpha_max) == (1, 1)
    roughly = assess_risk(Beliefs.from_half_width(near, 12), 0.1, Run())
    assert (roughly.last_step, roughly.alpha_max) == (2, 1)
    assert roughly.cracks_if_exact == 20
    over = assess_risk(Beliefs.from_half_width(apart, 4), 0.1, Run())
    assert over.last_step == 3
    assert over.solution.expected_cracks == pytest.approx(20)
    assert over.alpha_max == pytest.approx(0.1)


def test_a_published_recipe_that_was_drawn_at_random() -> None:
    """Over all orders, the cracks among the first k items are k/n of all; five random orders gave something else."""
    estimates = np.random.default_rng(1).random(30)
    right = int(np.floor(6 / estimates.sum() * 30))
    assert published_alpha_max(estimates, 6.0) == published_alpha_max(estimates[::-1], 6.0) == right / 30
    assert published_alpha_max(estimates, 60.0) == 1


def mixtures(n: int, right: int) -> list[np.ndarray]:
    """Every way to be right about some items and to mix up all others: whose interval each item has."""
    found = []
    for wrong in combinations(range(n), n - right):
        for order in permutations(wrong):
            if len(wrong) == 1 or all(i != j for i, j in zip(wrong, order, strict=True)):
                has = np.arange(n)
                has[list(wrong)] = order
                found.append(has)
    return found


def test_mixed_up_items_were_the_mean_of_five_draws() -> None:
    """The closed form is the mean over all choices of right items and all ways to mix up the others, solved anew."""
    rng = np.random.default_rng(4)
    for n in (2, 3, 5, 5):
        beliefs = Beliefs.from_half_width(rng.integers(1, 9, n), rng.integers(0, 3, n))
        found = mixed_up_cracks(solve(beliefs.candidates))
        for m in range(n + 1):
            anew = [naive.marginals(beliefs.swap_items(has).candidates.to_matrix()) for has in mixtures(n, m)]
            assert found[m] == pytest.approx(np.mean([np.trace(each) for each in anew]))


def test_the_order_of_rows_changed_what_may_be_known() -> None:
    """Two orders of the same baskets, and what is tolerated with mixed-up items never exceeds what is without."""
    rng = np.random.default_rng(2)
    rows = [["all", *(x for x, p in zip("bcdef", (0.8, 0.6, 0.6, 0.3, 0.1), strict=True) if rng.random() < p)]
            for _ in range(40)]  # fmt: skip
    told = set()
    for _ in range(3):
        rng.shuffle(rows)
        data = Transactions.from_baskets([rng.permutation(row).tolist() for row in rows])
        found = unveil.assess(data, only=["items.alpha_max", "items.o_estimate"])
        sentence = found["items.alpha_max"].sentence
        counts = [int(m) for m in re.findall(r"\((\d+) of \d+\)", sentence)]
        assert len(counts) < 2 or counts[1] <= counts[0]
        told.add((sentence, found["items.o_estimate"].sentence))
    assert len(told) == 1
    assert "mixed up with each other at random" in sentence


def test_samples() -> None:
    """All baskets tell everything."""
    rng = np.random.default_rng(6)
    data = Transactions.from_baskets(
        [[str(i) for i in np.flatnonzero(rng.random(12) < 0.3)] or ["0"] for _ in range(200)]
    )
    everything = sample_knowledge(data, np.random.default_rng(7), (0.5, 1.0), replicates=3)
    assert everything.alpha.mean[1] == 1
    assert 0 < everything.alpha.mean[0] <= 1


def test_the_recipe_says_release_and_no() -> None:
    crowd, apart = baskets([k // 8 + 1 for k in range(160)]), baskets([10 * k for k in range(1, 21)])
    hidden, found = unveil.assess(crowd), unveil.assess(apart)
    assert hidden.verdict.decision == "release"
    assert found.verdict.decision == "protect first"
    wide = Policy(settings={"items": {"frequency_precision": 1.0}})
    tolerant = replace(wide, tolerance={"items.similar_pairs": 0.99})
    assert unveil.assess(apart, tolerant).verdict.decision == "release"
    sampled = unveil.assess(apart, wide).verdict
    assert sampled.decision == "your call", "someone with a sample who compares pairs identifies too many"
    (reason,) = sampled.reasons
    assert "more than 10% of all items. Nobody said what attackers hold: give --similar FILE" in reason
    told = found["items.alpha_max"]
    assert told.value == pytest.approx(2 / (found["items.expected_cracks"].value or 0))
    assert "Step 3" in told.sentence
    assert "Step 1" in hidden["items.alpha_max"].sentence
    assert len(told.curves) == 2
    sample = found["items.sample_knowledge"]
    assert sample.method == "simulation"
    assert "enough" not in sample.sentence


def test_what_the_attacker_holds() -> None:
    data = baskets([10 * k for k in range(1, 21)])
    similar = unveil.assess(Case(data, holds={"similar": data}))
    assert similar["items.expected_cracks"].value == pytest.approx(unveil.assess(data)["items.expected_cracks"].value)
    assert "100% of the items" in similar["items.expected_cracks"].attacker
    import pyarrow as pa

    known = unveil.read(pa.table({"item": ["i0", "i1", "other"], "low": [0.0, 0.1, 0], "high": [0.05, 0.1, 1]}))
    two = unveil.assess(Case(data, holds={"beliefs": known}))["items.expected_cracks"]
    assert two.value == pytest.approx(1 + 1 + 18 / 18)


def test_beliefs_that_contradict_the_data_are_a_finding() -> None:
    import pyarrow as pa

    data = baskets([10, 20, 30])
    wrong = unveil.read(pa.table({"item": ["i0", "i1"], "low": [1.0, 1.0], "high": [1.0, 1.0]}))
    found = unveil.assess(Case(data, holds={"beliefs": wrong}))
    assert found.verdict.decision == "your call"
    assert "no perfect matching" in found["items.failed"].sentence


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"item": ["i0"], "low": [0.1]}, "no column high"),
        ({"item": ["i0"], "low": [0.1], "high": [2.0]}, "row 1 has no frequency between 0 and 1 as high"),
        ({"item": ["i0", "i0"], "low": [0.1, 0.1], "high": [0.2, 0.3]}, "row 2 names an item again"),
        ({"item": ["x"], "low": [0.1], "high": [0.3]}, "none of its items"),
        ({"item": ["i0", "i1"], "low": ["0.1", "a"], "high": [0.3, 0.3]}, "row 2 has no number as low"),
        ({"item": ["i0", "i1"], "low": [0.1, 0.4], "high": [0.3, 0.3]}, "row 2 has a low end above its high end"),
        ({"item": ["i0"], "low": [0.1], "high": [0.3], "weight": [0]}, "row 1 has no weight above 0"),
        ({"item": ["i0"], "low": [0.1], "high": [0.3], "weight": ["inf"]}, "row 1 has no weight above 0"),
        ({"item": ["i0"], "low": [0.1], "high": [0.3], "weight": [None]}, "row 1 has no number as weight"),
    ],
)
def test_beliefs_that_are_none(columns: dict[str, list[object]], said: str) -> None:
    import pyarrow as pa

    from unveil.items.attacker_files import parse_beliefs

    with pytest.raises(UnveilError, match=said):
        parse_beliefs(unveil.read(pa.table(columns)), baskets([10, 20, 30]))  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [[1], [5], [3, 3, 3], [1, 2]])
def test_small_and_even_data_do_not_break_it(counts: list[int]) -> None:
    found = unveil.assess(baskets(counts))
    assert found["items.expected_cracks"].value >= 1 - 1e-9
    assert found["items.sample_knowledge"].value is not None


def test_itemsets_that_are_named_decide() -> None:
    data = baskets([10 * k for k in range(1, 21)])
    off = {"items.expected_cracks": None}
    pairs = unveil.assess(data, Policy(tolerance=off))["items.itemsets_vulnerable"]
    assert pairs.subjects == 190
    assert not pairs.decides
    chosen = {"itemsets": "top:10", "itemset_threshold": 0.2}
    named = unveil.assess(data, Policy(tolerance=off, settings={"items": chosen}))
    assert named["items.itemsets_vulnerable"].subjects == 153
    assert named["items.itemsets_vulnerable"].decides
    assert named.verdict.decision == "protect first"
    import pyarrow as pa

    table = pa.table(
        {"items": ["i0 i1", "i2 i3 i4", "i5"], "sigma": ["", "0.9", ""], "tau": ["", "", ""], "class": ["a", "b", "a"]}
    )
    listed = unveil.assess(Case(data, holds={"itemsets_file": unveil.read(table)}), Policy(tolerance=off))
    groups = [("class 1 of your file",), ("class 2 of your file", "threshold 0.9")]
    assert [listed.find("items.itemsets_vulnerable", known=known).subjects for known in groups] == [2, 1]
    from unveil.items.attacker_files import parse_itemsets

    wrong = unveil.read(pa.table({"items": ["i0 nothing"]}))
    with pytest.raises(UnveilError, match="row 1 repeats an item or names one"):
        parse_itemsets(wrong, {"i0": 0}, 0.5, 0.1)  # type: ignore[arg-type]


def test_only_correlation_tips_it() -> None:
    """Fifteen items equally often: one is cracked on average, which is tolerated. Two of them are always together, and
    whoever knows that cracks two."""
    data = Transactions.from_baskets([["a", "b"]] * 4 + [[f"i{i}"] for i in range(13) for _ in range(4)])
    found = unveil.assess(data)
    assert found["items.expected_cracks"].value == pytest.approx(1)
    assert found["items.correlation"].value == pytest.approx(2)
    assert found.verdict.decision == "release"
    known = unveil.assess(data, Policy(settings={"items": {"known_pairs": 1}}))
    assert known["items.correlation"].status == "over"
    assert known.verdict.decision == "protect first"
    assert known.verdict.because == "items.correlation"


def test_where_nothing_is_bought_together_there_is_no_such_finding() -> None:
    ids = [f.id for f in unveil.assess(Transactions.from_baskets([["a"], ["b"], ["b"]])).findings]
    assert "items.correlation" not in ids
    assert "items.sample_knowledge" in ids
