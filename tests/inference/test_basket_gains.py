"""What a few items of a basket tell, against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from reference import naive_basket_gains
from unveil import Policy, Transactions
from unveil.errors import UnveilError
from unveil.inference import learned_values, sampled_gains
from unveil.inference.basket_gains import Baskets, measure_basket_gains, shuffle_baskets
from unveil.inference.sampled_gains import measure_sampled_baskets
from unveil.run import Run

RELATIONS = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=14)


def baskets_of(rows: list[frozenset[str]], sensitive: frozenset[str] = frozenset()) -> Baskets:
    items = [sorted(row) for row in rows]
    begins = np.append(0, np.cumsum([len(row) for row in items])).astype(np.int64)
    numbers = np.array([ord(item) - ord("a") for row in items for item in row], np.int64)
    secret = np.array([chr(ord("a") + i) in sensitive for i in range(6)])
    return Baskets(begins, numbers, ~secret | (not sensitive), secret | (not sensitive))


@settings(deadline=None)
@given(RELATIONS, st.integers(1, 4), st.integers(1, 4), st.frozensets(st.sampled_from("abc")))
def test_gains_are_as_defined(rows: list[frozenset[str]], facts: int, fewest: int, sensitive: frozenset[str]) -> None:
    expected = naive_basket_gains.gains(rows, facts, fewest, sensitive)
    baskets = baskets_of(rows, sensitive)
    everybody = measure_basket_gains(baskets, facts=facts, fewest=fewest, gain=0.5, run=Run())
    drawn = np.arange(len(rows))[::2]
    some = measure_sampled_baskets(baskets, drawn, facts=facts, fewest=fewest, gain=0.5, run=Run())
    assert everybody is not None
    for found, who in ((everybody, range(len(rows))), (some, drawn.tolist())):
        assert found.best.T.tolist() == [pytest.approx([gain for gain, _ in expected[b]]) for b in who]
        assert found.certain.T.tolist() == [[certain for _, certain in expected[b]] for b in who]


@settings(deadline=None)
@given(RELATIONS, st.integers(1, 3), st.integers(1, 3))
def test_telling_items_are_counted(rows: list[frozenset[str]], facts: int, fewest: int) -> None:
    baskets = baskets_of(rows)
    everybody = measure_basket_gains(baskets, facts=facts, fewest=fewest, gain=0.3, run=Run())
    drawn = np.arange(len(rows))
    some = measure_sampled_baskets(baskets, drawn, facts=facts, fewest=fewest, gain=0.3, run=Run())
    assert everybody is not None
    shares = {item: sum(item in row for row in rows) / len(rows) for item in "abcdef"}
    for found in (*everybody.telling, *some.telling):
        known = {chr(ord("a") + item) for item in found.columns}
        those = [row for row in rows if known <= row]
        tells = {
            item for item in "abcdef" if sum(item in row for row in those) / len(those) - shares[item] >= 0.3 - 1e-12
        }
        assert len(those) == found.sharing >= fewest
        assert found.people == sum(bool(row & tells - known) for row in those) > 0
    if everybody.telling:
        assert everybody.telling[0].people == max(found.people for found in everybody.telling + some.telling)


@settings(deadline=None)
@given(RELATIONS, st.frozensets(st.sampled_from("abc")), st.integers(0, 5))
def test_shuffled_baskets_keep_what_is_not_shuffled(
    rows: list[frozenset[str]], sensitive: frozenset[str], seed: int
) -> None:
    before = baskets_of(rows, sensitive)
    after = shuffle_baskets(before, np.random.default_rng(seed))
    if sensitive:
        assert after.counts.tolist() == before.counts.tolist()
        for b in range(len(rows)):
            own = {chr(ord("a") + int(i)) for i in after.items[after.indptr[b] : after.indptr[b + 1]]}
            assert own - sensitive == rows[b] - sensitive
    else:
        assert len(after) == len(before)
        assert (after.counts <= before.counts).all()
        assert (np.diff(after.indptr) <= np.diff(before.indptr)).all()


SHOP = [["bread", "milk"]] * 6 + [["bread"]] * 2 + [["eggs", "tea"]] * 5 + [["tea"]] * 7


def assess_shop(policy: Policy | None = None, reveal: bool = False) -> dict[str, unveil.Finding]:
    baskets = Transactions.from_baskets(SHOP)
    found = unveil.assess(baskets, policy, only=["inference"], reveal=reveal)
    return {f.id: f for f in found.findings}


def test_what_is_learned_about_baskets() -> None:
    """Milk → bread: 1 − 8/20; bread → milk: 6/8 − 6/20 = .45; eggs → tea: 1 − 12/20 = .4."""
    found = assess_shop(Policy.from_dict({"inference": {"facts_known": 1, "gain": 0.5}}))
    assert found["inference.learned"].value == 6 / 20
    assert (
        "One item raises belief in another item of the same basket by 50 points or more for 6 of 20 baskets (30%)"
        in (found["inference.learned"].sentence)
    )
    assert found["inference.certain"].value == 11 / 20
    assert found["inference.facts"].value == 1
    assert found["inference.rules"].value == 6 / 20
    assert "milk" not in repr(found)


def test_items_are_named_if_revealed() -> None:
    found = assess_shop(Policy.from_dict({"inference": {"facts_known": 1, "gain": 0.5}}), reveal=True)
    (rule,) = found["inference.rules"].exposed
    assert rule.values == {"known": "milk"}
    assert rule.because == "another item is given away in 6 of 6 baskets with this item"


def test_only_sensitive_items_are_learned() -> None:
    policy = Policy.from_dict({"inference": {"facts_known": 1, "gain": 0.35, "sensitive_items": ["tea"]}})
    found = assess_shop(policy)
    assert found["inference.learned"].value == 5 / 20
    assert "a sensitive item of the same basket" in found["inference.learned"].sentence
    hidden = unveil.assess(Transactions.from_baskets(SHOP), policy, only=["inference"]).provenance.policy
    assert hidden["inference"]["sensitive_items"] == ["hidden"]


def test_an_item_that_no_basket_has_is_refused() -> None:
    with pytest.raises(UnveilError, match="sensitive_items names 'coffee', but no basket has such an item"):
        assess_shop(Policy.from_dict({"inference": {"sensitive_items": ["coffee"]}}))


def test_a_sample_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits are lowered so that a small example is drawn from; the true share is 30%."""
    rows = [["bread", "milk"]] * 300 + [["bread"]] * 100 + [["tea"]] * 600
    baskets = Transactions.from_baskets(rows)
    policy = Policy.from_dict({"inference": {"facts_known": 1, "gain": 0.5}})
    exact = unveil.assess(baskets, policy, only=["inference"]).findings[0]
    monkeypatch.setattr(learned_values, "_BASKET_WORK", 0)
    monkeypatch.setattr(sampled_gains, "_PEOPLE", (100, 200))
    monkeypatch.setattr("unveil.inference.basket_gains._SLICE", 1)
    found = unveil.assess(baskets, policy, only=["inference"]).findings
    learned = found[0]
    assert exact.value == 0.3 and exact.method == "exact"
    assert learned.method == "simulation" and learned.interval is not None
    assert learned.interval[0] <= 0.3 <= learned.interval[1]
    assert "an estimated" in learned.sentence and "from 200 drawn at random)" in learned.sentence
    assert learned.subjects == 1000
    rules = next(f for f in found if f.id == "inference.rules")
    assert (rules.value, rules.method) == (0.3, "bound")
    again = unveil.assess(Transactions.from_baskets(rows[::-1]), policy, only=["inference"]).findings
    assert [f.sentence for f in again] == [f.sentence for f in found]
