"""What attributes weigh: by column, by value, by preset; and what the score then says."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import unveil
from unveil import Policy, Transactions
from unveil.errors import UnveilError
from unveil.release.hierarchy import Hierarchy

ROWS = [("a", "1", "flu"), ("a", "1", "flu"), ("b", "1", "HIV"), ("b", "2", "flu"), ("c", "2", "cold")]
TABLE = pa.table({c: [row[i] for row in ROWS] for i, c in enumerate(("town", "age", "illness"))})


def score_of(settings: dict[str, Any], table: pa.Table = TABLE, **more: Any) -> unveil.Finding:
    policy = Policy(quasi=(("town", "age"),), sensitive=("illness",), settings={"inference": settings}, **more)
    found = unveil.assess(unveil.read(table), policy, only=["inference.score"]).findings
    return next(f for f in found if f.id == "inference.score")


def average_score(*sums: float, offset: float = 1.0) -> float:
    """The average score of people about whom dangers of these sums are learned."""
    return sum(s / (offset + s) for s in sums) / len(sums)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, average_score(0.4, 0.4, 0.8, 0.4, 0.8)),  # both facts single everybody's illness out; flu has 3 of 5
        ({"score_weights": "k-anonymity"}, average_score(1, 1, 1, 1, 1)),
        ({"danger": {"illness": 0.5}}, average_score(0.2, 0.2, 0.4, 0.2, 0.4)),
        ({"danger": {"illness=HIV": 0.1}}, average_score(0.4, 0.4, 0.1, 0.4, 0.8)),
        ({"danger": {"illness": 0.5, "illness=HIV": 1}}, average_score(0.2, 0.2, 1, 0.2, 0.4)),
        ({"score_weights": "k-anonymity", "danger": {"illness=flu": 0}}, average_score(0, 0, 1, 0, 1)),
        ({"score_offset": 0.1}, average_score(0.4, 0.4, 0.8, 0.4, 0.8, offset=0.1)),
    ],
)  # fmt: skip
def test_dangers(settings: dict[str, Any], expected: float) -> None:
    assert score_of(settings).value == pytest.approx(expected)


def test_likelihoods_override_by_value() -> None:
    """Town a alone implies flu, and c cold; of b, the age must be known as well."""
    weights = {"score_weights": "k-anonymity", "likelihood": {"town": 0.5, "town=c": 1, "age": 0.5}}
    assert score_of(weights).value == pytest.approx((0.5 / 2 + 0.5 / 2 + 0.25 / 2 + 0.25 / 2 + 1 / 2) / 5)


def test_complementary_weights() -> None:
    """d(town) = .4 makes l(town) = .6; l(illness) = .1 makes d(illness) = .9. Age has the defaults l = 1, d = 0."""
    complementary = {"score_weights": "complementary", "danger": {"town": 0.4}, "likelihood": {"illness": 0.1}}
    both = {
        "score_weights": "k-anonymity",
        "danger": {"town": 0.4, "illness": 0.9},
        "likelihood": {"town": 0.6, "illness": 0.1},
    }
    assert score_of(complementary).value == score_of(both).value
    assert score_of(both).value != score_of({**both, "danger": {"town": 0.4}}).value


def test_labels_of_a_hierarchy_can_be_learned_and_values_weigh_the_same() -> None:
    """Town x has flu and cold: only "airways" follows, which 3 of 4 have. Town y tells the value itself."""
    rows = [("x", "flu"), ("x", "cold"), ("y", "flu"), ("z", "ulcer")]
    table = pa.table({"town": [r[0] for r in rows], "illness": [r[1] for r in rows]})
    groups = [["flu", "airways", "*"], ["cold", "airways", "*"], ["ulcer", "gut", "*"]]
    policy = Policy(quasi=(("town",),), sensitive=("illness",))
    case = unveil.Case(unveil.read(table), hierarchies={"illness": Hierarchy.from_rows(groups)})
    found = unveil.assess(case, policy, only=["inference.score"]).findings[0]
    assert found.value == pytest.approx(average_score(0.25, 0.25, 0.5, 0.75))


def test_people_with_several_rows_have_what_any_row_has() -> None:
    """p is in towns a and b, and so is q; only q's illnesses differ: nothing follows from a and b together but flu."""
    rows = [
        ("p", "a", "flu"),
        ("p", "b", "flu"),
        ("q", "a", "flu"),
        ("q", "b", "HIV"),
        ("r", "c", "cold"),
        ("s", "c", None),
    ]
    table = pa.table({c: [row[i] for row in rows] for i, c in enumerate(("who", "town", "illness"))})
    policy = Policy(
        quasi=(("town",),), sensitive=("illness",), subject="who",
        settings={"inference": {"score_weights": "k-anonymity"}},
    )  # fmt: skip
    found = unveil.assess(unveil.read(table), policy, only=["inference.score"]).findings[0]
    assert (found.value, found.subjects) == (pytest.approx((1 / 2 + 1 / 2 + 1 / 2) / 3), 3)
    assert "about a person" in found.sentence
    assert "a missing sensitive value excludes the person" in found.missing


def test_rows_with_missing_facts_are_left_out_if_they_are_to_be() -> None:
    table = pa.table({"town": ["a", "a", None], "age": ["1", "2", "1"], "illness": ["x", "y", "y"]})
    assert score_of({}, table).subjects == 3
    found = score_of({}, table, missing_as="excluded")
    assert found.subjects == 2 and "A missing fact excludes the row" in found.missing


def test_the_worst_inference_is_explained() -> None:
    found = score_of({"score_weights": "k-anonymity", "likelihood": {"age": 0.5}})
    (first, *_) = found.exposed
    assert first.because == "town gives away illness (score 0.5)"
    assert first.learns == ("illness",) and first.values is None
    policy = Policy(
        quasi=(("town", "age"),), sensitive=("illness",), settings={"inference": {"likelihood": {"age": 0.5}}}
    )
    shown = unveil.assess(unveil.read(TABLE), policy, only=["inference.score"], reveal=True).findings[0].exposed
    assert {"illness": "cold", "town": "c"} in [e.values for e in shown]


@pytest.mark.parametrize(
    ("what", "message"),
    [("twn", r"\[inference.danger\] names 'twn', but there is no such column; did you mean 'town'"),
     ("twn=a", r"names 'twn=a', but there is no such column")],
)  # fmt: skip
def test_weights_of_columns_that_are_not_there_are_refused(what: str, message: str) -> None:
    with pytest.raises(UnveilError, match=message):
        score_of({"danger": {what: 0.5}})


def test_weights_of_values_that_nobody_has_were_ignored() -> None:
    with pytest.raises(UnveilError, match=r"names 'illness=HVI', but no row has this value"):
        score_of({"danger": {"illness=HVI": 0.5}})


def test_the_weight_of_a_number_applies_to_its_range() -> None:
    """Incomes are cut into eight ranges of five; everybody's is certain from their town."""
    incomes = [1000 + i for i in range(40)]
    table = pa.table({"town": [str(i // 5) for i in range(40)], "age": ["1"] * 40, "illness": incomes})
    everything, nothing = {"score_weights": "k-anonymity"}, {"illness": 0, "illness=1003": 1}
    assert score_of(everything, table).value == pytest.approx(1 / 2)
    assert score_of({**everything, "danger": nothing}, table).value == pytest.approx(5 / 40 / 2)


def test_columns_with_equals_signs_can_be_weighed() -> None:
    table = TABLE.rename_columns(["town", "age", "a=b"])
    policy = Policy(quasi=(("town", "age"),), sensitive=("a=b",), settings={"inference": {"danger": {"a=b=HIV": 0.1}}})
    (found,) = (f for f in unveil.assess(unveil.read(table), policy, only=["inference.score"]).findings)
    assert found.value == pytest.approx(average_score(0.4, 0.4, 0.1, 0.4, 0.8))


@pytest.mark.parametrize("weight", [1.5, -0.1, True, "much", float("nan")])
def test_weights_that_are_no_shares_are_refused(weight: object) -> None:
    with pytest.raises(UnveilError, match="must be a number from 0 to 1, such as"):
        Policy(settings={"inference": {"danger": {"illness": weight}}})


def test_values_in_weights_are_hidden_from_results() -> None:
    policy = Policy(
        quasi=(("town", "age"),),
        sensitive=("illness",),
        settings={"inference": {"danger": {"illness=HIV": 0.1, "age": 0}}},
    )
    found = unveil.assess(unveil.read(TABLE), policy, only=["inference.score"])
    assert found.provenance.policy["inference"]["danger"] == {"illness=hidden 1": 0.1, "age": 0}
    assert "HIV" not in found.to_json()


def test_items_have_weights_and_a_score() -> None:
    """Tea implies milk, which 3 of 4 have; whoever has only milk is told nothing."""
    baskets = Transactions.from_baskets([["tea", "milk"], ["tea", "milk"], ["milk"], ["rum"]])

    def average(settings: dict[str, Any]) -> float | None:
        policy = Policy(settings={"inference": settings})
        found = unveil.assess(baskets, policy, only=["inference.score"])
        assert not settings or "tea" not in found.to_json()
        (score,) = (f for f in found.findings if f.id == "inference.score")
        assert "about a basket" in score.sentence
        return score.value

    assert average({}) == pytest.approx(average_score(0.25, 0.25, 0, 0))
    assert average({"score_weights": "k-anonymity"}) == pytest.approx(average_score(1, 1, 0, 0))
    assert average({"danger": {"milk": 0.5}}) == pytest.approx(average_score(0.5, 0.5, 0, 0))
    assert average({"score_weights": "complementary"}) == pytest.approx((0.5 * 0.5 / 1.5 * 2) / 4)
    assert average({"likelihood": {"tea": 0.2}, "danger": {"milk": 1}}) == pytest.approx(
        0.2 * average_score(1, 1, 0, 0)
    )
    with pytest.raises(UnveilError, match="names 'ale', but no basket has such an item"):
        average({"danger": {"ale": 0.5}})
