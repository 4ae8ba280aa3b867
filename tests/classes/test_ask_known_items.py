"""Whose basket is it? The finding about a few known items, checked against all sets of items."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

import unveil
from unveil import Policy, Transactions, UnveilError


def test_known_items_by_all_sets() -> None:
    rng = random.Random(6)
    baskets = [frozenset(rng.sample("abcdefgh", rng.randrange(1, 5))) for _ in range(30)]
    release = Transactions.from_baskets(sorted(b) for b in baskets)
    for m in (1, 2, 3):
        sets = {s for b in baskets for size in range(1, m + 1) for s in combinations(sorted(b), size)}
        support = {s: sum(set(s) <= b for b in baskets) for s in sets}
        found = unveil.assess(release, Policy(settings={"classes": {"known": m}}, tolerance={"classes.k": 3}))[
            "classes.known_items"
        ]
        assert found.value == min(support.values())
        at_risk = sum(any(n < 3 and set(s) <= b for s, n in support.items()) for b in baskets)
        assert found.share == pytest.approx((at_risk / 30, at_risk / 30))
        assert not found.decides
        alone = [b for b in baskets if any(n == 1 and set(s) <= b for s, n in support.items())]
        assert sum(e.risk == 1 for e in found.exposed) == min(10, len(alone))


def test_a_tolerance_decides() -> None:
    release = Transactions.from_baskets([["tea", "milk"], ["tea"], ["tea", "milk"]])
    found = unveil.assess(release, Policy(tolerance={"classes.known_items": 2}))["classes.known_items"]
    assert (found.value, found.status, found.decides) == (2, "within", True)
    over = unveil.assess(release, Policy(tolerance={"classes.known_items": 3}))["classes.known_items"]
    assert over.status == "over"


def test_items_are_named_only_when_revealed() -> None:
    release = Transactions.from_baskets([["tea", "CANARY"], ["tea"], ["tea"]])
    hidden = unveil.assess(release)["classes.known_items"]
    assert hidden.exposed[0].subject == "basket 1"
    assert hidden.exposed[0].because == "one of its items is in no other basket"
    assert hidden.exposed[0].values is None
    shown = unveil.assess(release, reveal=True)["classes.known_items"]
    assert shown.exposed[0].values == {"items": "CANARY"}


def test_how_many_items_must_be_sensible() -> None:
    for wrong in (0, 10, True, 1.5):
        with pytest.raises(UnveilError, match=r"classes\.known must be a whole number from 1 to 9"):
            Policy(settings={"classes": {"known": wrong}})
