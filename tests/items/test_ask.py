"""The door of the room: what it declares, what it refuses, and what it says where numbers are 0, 1 or simulated."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import Case, Policy, Transactions, UnveilError
from unveil.items import item_recipe
from unveil.items.ask import QUESTION
from unveil.items.beliefs import Beliefs
from unveil.items.itemsets import ItemsetRequirement, measure_vulnerable_share
from unveil.items.risks import CORRELATION, EXPECTED_CRACKS, NEVER_TOGETHER
from unveil.release.table import Table
from unveil.run import Run
from unveil.wording import percent_text

SIX = Transactions.from_baskets([list(x) for x in ["abc", "abcd", "df", "cdef", "ef", "f", "ab", "acd", "ace", "bdf"]])


def table(**columns: list[object]) -> Table:
    made = unveil.read(pa.table(columns))
    assert isinstance(made, Table)
    return made


def items(**chosen: object) -> Policy:
    return Policy(settings={"items": chosen})


def test_a_tolerance_for_cracks_holds_for_those_who_know_more() -> None:
    policy = Policy(tolerance={"items.expected_cracks": 0.4})
    assert (
        policy.tolerance_for(CORRELATION)
        == policy.tolerance_for(NEVER_TOGETHER)
        == policy.tolerance_for(EXPECTED_CRACKS)
        == 0.4
    )
    own = Policy(tolerance={"items.expected_cracks": 0.4, "items.correlation": 0.2})
    assert (own.tolerance_for(CORRELATION), own.tolerance_for(NEVER_TOGETHER)) == (0.2, 0.4)
    assert Policy().tolerance_for(CORRELATION) == 0.1
    found = unveil.assess(SIX, Policy(tolerance={"items.expected_cracks": 0.5}, settings={"items": {"known_pairs": 1}}))
    assert found["items.correlation"].tolerance == pytest.approx(3)


def test_a_tolerance_for_what_nobody_knows_is_no_reason_to_doubt() -> None:
    """It follows another one, and only takes its place where there is something to measure."""
    lax = Policy(tolerance={"items.expected_cracks": 0.9, "items.never_together": 0.9})
    assert lax.preset_tolerance(NEVER_TOGETHER) == 0.1
    assert unveil.assess(SIX, lax).verdict.decision == "release"


@pytest.mark.parametrize(
    ("chosen", "complaint"),
    [
        ({"frequency_precision": "gap"}, "such as 2x, or a share between 0 and 1 such as 0.01"),
        ({"frequency_precision": 2}, "items.frequency_precision must be"),
        ({"itemsets": "triples"}, "pairs, top:10"),
        ({"itemset_threshold": 0}, "above 0 and up to 1"),
        ({"known_pairs": 0}, "whole number, 1 or more"),
        ({"width": 0.1}, "unknown setting 'width'"),
    ],
)
def test_settings_that_are_none(chosen: dict[str, object], complaint: str) -> None:
    with pytest.raises(UnveilError, match=complaint):
        items(**chosen)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("width", "frequency_precision"),
        ("danger", "itemset_threshold"),
        ("pairs_known", "known_pairs"),
        ("may_be_wrong", "may_exclude_truth"),
    ],
)
def test_old_names_of_settings_lead_to_the_new_ones(old: str, new: str) -> None:
    with pytest.raises(UnveilError, match=f"write .*{new} = "):
        Policy.from_dict({old: 1})


def test_beliefs_and_similar_baskets_exclude_each_other() -> None:
    beliefs = table(item=["a"], low=[0.1], high=[0.9])
    with pytest.raises(UnveilError, match="exclude each other"):
        unveil.assess(Case(SIX, holds={"beliefs": beliefs, "similar": SIX}))


def test_the_original_and_the_mapping_go_together() -> None:
    (mapping,) = (held for held in QUESTION.holdings if held.read_truth is not None)
    (original,) = (held for held in QUESTION.holdings if held.is_original)
    assert (mapping.name, original.name) == ("mapping", "original")
    assert mapping.read_truth is not None
    renamed = Transactions.from_baskets([["x"], ["x", "y"]])
    known = table(item=["a", "b", "c"], pseudonym=["y", "x", None])
    before = Transactions.from_baskets([["a", "b"], ["b", "c"]])
    assert mapping.read_truth(known, Case(renamed, before)).tolist() == [1, 0, -1]
    with pytest.raises(UnveilError, match="give both"):
        mapping.read_truth(known, Case(renamed))
    with pytest.raises(UnveilError, match="give both"):
        unveil.assess(Case(renamed, before))
    with pytest.raises(UnveilError, match="give both"):
        unveil.assess(Case(renamed, truth=np.array([1, 0, -1])))


def test_listed_and_named_itemsets_are_both_protected() -> None:
    listed = table(items=["a b", "c d e"], **{"class": ["spices {}", ""]})
    found = unveil.assess(Case(SIX, holds={"itemsets_file": listed}), items(itemsets="3"), reveal=True)
    told = [f for f in found.findings if f.id == "items.itemsets_vulnerable"]
    assert [(f.known, f.subjects, f.decides) for f in told] == [
        (("class 1 of your file",), 1, True),
        (("listed itemsets",), 1, True),
        (None, 20, True),
    ]
    assert [f.title.partition(" identified")[0] for f in told] == [
        "Itemsets of class spices {}",
        "Listed itemsets",
        "Sets of 3 items",
    ]
    assert told[0].sentence.startswith("The only itemset of class spices {} is not vulnerable. ")
    assert found.find("items.itemsets_vulnerable", known=("listed itemsets",)) is told[1]


def test_the_names_of_classes_of_itemsets_were_shown_without_being_revealed() -> None:
    listed = table(items=["a gone", "c d", "a b"], **{"class": ["CANARY-1", "CANARY-2", "CANARY-3"]})
    mapped = Transactions.from_baskets([["a", "b", "c", "d", "gone"], ["a", "b"], ["c"]])
    truth = np.array(
        [["a", "b", "c", "d"].index(label) if label != "gone" else -1 for label in mapped.labels.to_pylist()]
    )
    released = Transactions.from_baskets([["a", "b", "c", "d"], ["a", "b"], ["c"]])
    case = Case(released, mapped, truth, holds={"itemsets_file": listed})
    found = unveil.assess(case, only="items.itemsets_vulnerable")
    assert [f.known for f in found.findings] == [("class 2 of your file",), ("class 3 of your file",)]
    for form in ("to_text", "to_json", "to_html", "to_markdown", "to_junit"):
        assert "CANARY" not in getattr(found, form)(), form
    revealed = unveil.assess(case, only="items.itemsets_vulnerable", reveal=True)
    assert [f.known for f in revealed.findings] == [f.known for f in found.findings]
    assert [f.title.split()[3] for f in revealed.findings] == ["CANARY-2", "CANARY-3"]


def test_without_pairs_there_is_nothing_to_say_about_them() -> None:
    alone = unveil.assess(Transactions.from_baskets([["a"], ["a"]]))
    assert alone["items.itemsets_vulnerable"].sentence == "There are no pairs of items."


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([3], "1 of 1 item (100%), all for certain, because no other item is bought exactly as often."),
        ([3, 3], "1 of 2 items (50%), none for certain, because every item shares its frequency with another."),
        ([3, 1, 1], "2 of 3 items (66.7%), 1 for certain, because no other item is bought exactly as often."),
    ],
)
def test_what_is_certain_is_said(counts: list[int], said: str) -> None:
    baskets = [[f"i{i}" for i, c in enumerate(counts) if c > b] for b in range(max(counts))]
    found = unveil.assess(Transactions.from_baskets(baskets))["items.point_knowledge"]
    assert found.sentence == f"On average, the attacker identifies {said}"


def test_simulated_numbers_are_said_to_be_so() -> None:
    counts = np.random.default_rng(3).integers(1, 400, 300)
    baskets = Transactions.from_baskets([[f"i{i}" for i, c in enumerate(counts) if c > b] for b in range(max(counts))])
    asked = ["items.expected_cracks", "items.alpha_max", "items.itemsets_vulnerable"]
    found = unveil.assess(baskets, items(frequency_precision=0.2), only=asked)
    cracks, alpha = found["items.expected_cracks"], found["items.alpha_max"]
    assert (cracks.method, alpha.method) == ("simulation", "simulation")
    assert cracks.confidence == alpha.confidence == pytest.approx(1 - 0.05 / 2)
    assert cracks.sentence.startswith("On average, the attacker identifies about ")
    assert cracks.sentence.endswith(", none for certain.")
    sets = found["items.itemsets_vulnerable"]
    assert sets.method == "simulation"
    assert "Sets that cannot be computed exactly were simulated." in sets.sentence


def test_only_what_is_asked_for_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    found = unveil.assess(SIX, only=["items.correlation"])
    assert [f.id for f in found.findings] == ["items.correlation"]
    assert "items.expected_cracks" in found.not_asked

    def refuse(*_: object) -> None:
        raise AssertionError("nobody asked for that")

    monkeypatch.setattr(item_recipe, "assess_risk", refuse)
    assert [f.id for f in unveil.assess(SIX, only="items.point_knowledge").findings] == ["items.point_knowledge"]


def test_facts_about_frequencies() -> None:
    facts = QUESTION.facts(SIX)
    assert facts["items per basket"] == 2.7
    assert (facts["frequency groups"], facts["groups of a single item"]) == (3, 2)
    assert (facts["smallest gap"], facts["largest gap"]) == (0.1, 0.1)
    assert "median gap" not in QUESTION.facts(Transactions.from_baskets([["a", "b"]]))


def test_hints_and_caveats() -> None:
    (hint,) = QUESTION.hints(Case(SIX), Policy(), ["items.expected_cracks"], Run())
    assert "publish statistics about many baskets" in hint
    assert list(QUESTION.hints(Case(SIX), Policy(), ["classes.known_items"], Run())) == []
    assert all("counts of pairs" in offer.caveat for offer in QUESTION.protections.values())
    made = unveil.protect(Transactions.from_baskets([[str(i) for i in range(20)]] * 4))
    assert made.caveats == (QUESTION.protections["rename"].caveat,)


def test_between_is_said_where_sets_could_not_be_decided() -> None:
    """60 items, the k-th in k baskets, each known to ± 15: nothing can be solved. By the bounds alone 28% of the pairs
    might be vulnerable at 2%; the simulation leaves 14 of 1,770 open, and nothing is told as a fact about these."""
    rows = [[f"i{k}" for k in range(60) if k >= b] for b in range(60)]
    policy = Policy(settings={"items": {"frequency_precision": 15 / 60, "itemset_threshold": 0.02}})
    told = unveil.assess(Transactions.from_baskets(rows), policy)["items.itemsets_vulnerable"]
    low, high = told.interval or (1.0, 0.0)
    assert told.method == "simulation"
    assert low == 0 < high < 0.02
    assert told.sentence.startswith(f"Of 1,770 pairs of items, between 0% and {percent_text(high)} are vulnerable.")
    assert "were simulated. " in told.sentence
    assert " pairs of items could not be decided." in told.sentence
    beliefs = Beliefs.from_half_width(np.arange(1, 61), 15)
    bounded = measure_vulnerable_share(beliefs, ItemsetRequirement(sigma=0.02), simulate=False)
    assert bounded.interval[1] > 10 * high


def test_the_two_readings_of_being_wrong_do_not_contradict_each_other() -> None:
    """Four items in one basket each are taken for each other even by someone who is wrong about all of them, so that
    too many are identified whatever is right; in the other reading a share is tolerated. Each says which it is."""
    told = unveil.assess(Transactions.from_baskets([["a"], ["b"], ["c"], ["d"]]), Policy())["items.alpha_max"].sentence
    assert (
        "the attacker may be right about no more than 40% of the items (1 of 4), if those they are wrong about are "
        in told
    )
    assert (
        "If, instead, the items they are wrong about are mixed up with each other at random, even an attacker who "
        in told
    )


def test_a_number_looked_like_the_name_of_an_item() -> None:
    """The item called 38 is the first in the file, so it must not be shown as item 1, nor another one as item 38."""
    baskets = Transactions.from_baskets([["38", "1"], ["38"], ["1"], ["38"]])
    shown = unveil.assess(baskets, reveal=True)["items.point_knowledge"].exposed
    assert [(e.subject, dict(e.values or {})) for e in shown] == [
        ("1st item", {"item": "38"}),
        ("2nd item", {"item": "1"}),
    ]
