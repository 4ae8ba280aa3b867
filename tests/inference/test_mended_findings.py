"""What was once said wrongly about what facts tell; each test is named after what was wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from unveil import Policy, Transactions
from unveil.errors import UnveilError
from unveil.release.hierarchy import Hierarchy

Unveil = Callable[..., CompletedProcess[str]]


def findings(rows: list[tuple[Any, ...]], names: str, quasi: str, inference: dict[str, Any] | None = None, **more: Any):  # type: ignore[no-untyped-def]
    columns = names.split()
    table = pa.table({c: [row[i] for row in rows] for i, c in enumerate(columns)})
    policy = Policy(
        quasi=(tuple(quasi.split()),), sensitive=("illness",), settings={"inference": inference or {}}, **more
    )
    found = unveil.assess(unveil.read(table), policy, only=["inference"], reveal=True)
    return {f.id.partition(".")[2]: f for f in found.findings}


def ages(missing: str | None) -> list[tuple[Any, ...]]:
    """Old people are ill; ages from 20 to 79 are cut into ranges."""
    rng = np.random.default_rng(1)
    drawn = rng.integers(20, 80, 100).tolist()
    rows = [(str(age), "yes" if age >= 65 else "no") for age in drawn]
    return [(missing, "no"), *rows] if missing is not None else rows


@pytest.mark.parametrize("missing", ["*", "", "NA"])
def test_one_missing_age_kept_all_ages_from_being_cut(missing: str) -> None:
    without, with_one = (findings(ages(m), "age illness", "age") for m in (None, missing))
    assert "of age, they know a range" in with_one["learned"].attacker
    assert round(with_one["learned"].value * 101) == round(without["learned"].value * 100) > 0


def test_a_missing_fact_that_is_not_known_was_known_to_be_missing() -> None:
    rows = [(None, "u", "a"), (None, "u", "b"), ("x", "u", "a"), ("x", "u", "b")]
    found = findings(rows, "q w illness", "q w", missing_as="wildcard", tolerance={"classes.k": 1})
    assert (found["score"].value, found["learned"].value, found["certain"].value) == (0, 0, 0)
    value = findings(rows, "q w illness", "q w", tolerance={"classes.k": 1})
    assert (value["certain"].value, value["score"].value) == (0, 0)


def test_rarity_counted_rows_of_people() -> None:
    """Both people have x and y, so that nothing is rare: a label that everybody has is no danger."""
    rows = [("p", "a", "x"), ("p", "a", "y"), ("q", "a", "x"), ("q", "a", "y"), ("q", "a", "x")]
    assert findings(rows, "who town illness", "town", subject="who")["score"].value == 0
    rows = [(f"p{i}", "a", v) for i in (1, 2, 3) for v in "uv"] + [("p4", "b", "w"), ("p5", "b", "w")]
    expected = (3 * 0.8 / 1.8 + 2 * 0.6 / 1.6) / 5  # u and v: 3 of 5 people, .4 each; w: 2 of 5
    assert findings(rows, "who town illness", "town", subject="who")["score"].value == pytest.approx(expected)


def test_rarity_counted_rows_that_were_left_out() -> None:
    rows = [(None, "u", "1")] * 4 + [("x", "u", "1")] * 2 + [("y", "u", "2")] * 2
    assert findings(rows, "q w illness", "q w", missing_as="excluded")["score"].value == pytest.approx(0.5 / 1.5)


def test_a_weight_of_one_value_dropped_the_labels_of_its_hierarchy() -> None:
    rows = [("x", "flu"), ("x", "cold"), ("y", "flu"), ("z", "ulcer")]
    table = pa.table({"town": [r[0] for r in rows], "illness": [r[1] for r in rows]})
    groups = [["flu", "airways", "*"], ["cold", "airways", "*"], ["ulcer", "gut", "*"]]
    case = unveil.Case(unveil.read(table), hierarchies={"illness": Hierarchy.from_rows(groups)})

    def score(danger: dict[str, float]) -> float | None:
        policy = Policy(quasi=(("town",),), sensitive=("illness",), settings={"inference": {"danger": danger}})
        return unveil.assess(case, policy, only=["inference.score"]).findings[0].value

    before = (2 * 0.25 / 1.25 + 0.5 / 1.5 + 0.75 / 1.75) / 4
    assert score({}) == pytest.approx(before)
    assert score({"illness=flu": 1}) == pytest.approx(before + (1 / 2 - 0.5 / 1.5) / 4)


def test_chance_was_told_as_what_no_protection_can_beat() -> None:
    """Few rows and many towns: chance alone gives some away, and dropping the towns none."""
    rows = [(str(i % 3), "a" if i % 3 else "b") for i in range(9)]
    table = unveil.read(pa.table({"town": [r[0] for r in rows], "illness": [r[1] for r in rows]}))
    policy = Policy(quasi=(("town",),), sensitive=("illness",), tolerance={"inference.certain": 0, "classes.k": 1})
    found = unveil.assess(table, policy, only=["inference.certain"])
    (certain,) = (f for f in found.findings if f.id == "inference.certain")
    assert certain.baseline is not None and certain.baseline > 0 and certain.status == "over"
    assert not certain.is_unreachable
    assert "can meet this tolerance" not in found.verdict.sentence


def test_all_items_named_as_sensitive_left_nothing_to_know() -> None:
    baskets = Transactions.from_baskets([["a", "b"], ["a", "b"]])
    with pytest.raises(UnveilError, match="names every item, so that nothing is left to be known"):
        unveil.assess(baskets, Policy(settings={"inference": {"sensitive_items": ["a", "b"]}}), only=["inference"])


def test_a_group_that_is_certain_was_told_as_a_value() -> None:
    rows = [("x", "flu"), ("x", "cold")] * 5 + [("y", "ulcer")] * 5 + [("y", "flu")] * 5
    table = pa.table({"town": [r[0] for r in rows], "illness": [r[1] for r in rows]})
    groups = [["flu", "airways", "*"], ["cold", "airways", "*"], ["ulcer", "gut", "*"]]
    case = unveil.Case(unveil.read(table), hierarchies={"illness": Hierarchy.from_rows(groups)})
    found = unveil.assess(case, Policy(quasi=(("town",),), sensitive=("illness",)), only=["inference"]).findings
    certain = next(f for f in found if f.id == "inference.certain")
    assert "make their own illness or the group of values that it is in certain for 10 of 20 rows" in (
        certain.sentence.replace("makes", "make")
    )


def test_people_with_several_rows_were_explained_by_facts_that_gain_too_little() -> None:
    """Everybody in town a has flu, which most people have anyway; in town b all have the rare gout."""
    rows = [("p", "a", "flu"), ("p", "b", "gout"), ("q", "b", "gout"), ("r", "b", "gout")]
    rows += [(f"s{i}", "a", "flu") for i in range(9)]
    found = findings(rows, "who town illness", "town", subject="who", tolerance={"classes.k": 2})
    assert [e.values for e in found["learned"].exposed] == 3 * [{"town": "b", "illness": "gout"}]


def test_the_order_of_quasi_identifiers_changed_what_chance_does() -> None:
    rng = np.random.default_rng(3)
    rows = [(*(str(x) for x in rng.integers(3, size=2)), "ab"[rng.integers(2)]) for _ in range(40)]
    one, other = (findings(rows, "q w illness", quasi, {"gain": 0.2}) for quasi in ("q w", "w q"))
    for name in ("learned", "certain"):
        assert (one[name].value, one[name].baseline) == (other[name].value, other[name].baseline)


def test_nothing_was_said_if_every_row_lacks_a_fact() -> None:
    table = unveil.read(pa.table({"town": pa.array([None, None], pa.string()), "illness": ["a", "b"]}))
    policy = Policy(quasi=(("town",),), sensitive=("illness",), missing_as="excluded")
    found = unveil.assess(table, policy, only=["inference"]).findings
    assert [f.status for f in found] == ["failed"]
    assert "every row lacks a quasi-identifier; read missing values differently" in found[0].sentence


def test_equal_rows_were_listed_once_without_saying_so() -> None:
    rows = [("a", "flu")] * 3 + [("b", "cold"), ("b", "gout")]
    assert [e.subject for e in findings(rows, "town illness", "town")["score"].exposed] == ["row 1", "row 2", "row 3"]


def test_a_column_without_values_was_told_as_safe() -> None:
    table = pa.table({"town": ["a", "b"], "illness": pa.array([None, None], pa.string())})
    found = unveil.assess(
        unveil.read(table), Policy(quasi=(("town",),), sensitive=("illness",)), only=["inference.learned"]
    )
    assert [f.sentence for f in found.findings] == [
        "No row has a value of illness, so it is given away for none of 2 rows."
    ]


def test_one_row_share_facts() -> None:
    rows = [("a", "flu"), ("b", "cold")]
    found = findings(rows, "town illness", "town", tolerance={"classes.k": 1})
    assert "at least one row shares the facts" in found["learned"].sentence


def test_protections_of_tables_were_offered_for_baskets(unveil: Unveil) -> None:
    text = unveil("protect", "--help").stdout
    baskets = text[text.index("Methods for baskets of items") :].split("Methods for", 2)[1].split("Options")[0]
    assert "shuffle" not in baskets and "suppress" in baskets


@pytest.mark.parametrize("goal", ["inference.score=.01", "inference.rules=1%", "inference.facts=3"])
def test_a_risk_that_protections_lower_was_told_to_have_none(unveil: Unveil, tmp_path: Path, goal: str) -> None:
    rows = ["town,job,illness"] + [f"{'ab'[i % 2]},{i % 3},{'flu' if i % 2 else 'cold'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    told = ("--quasi", "town,job", "--sensitive", "illness", "--rows-are-people", "--only", "inference", "--gain", ".4")
    found = unveil("assess", tmp_path / "t.csv", *told, "--tolerance", goal)
    assert "no protection against this yet" not in found.stdout
    assert "unveil protect" in found.stdout
