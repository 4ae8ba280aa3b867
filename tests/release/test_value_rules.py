"""Rules that give values their labels: those of the level they were made of, and labels for new values."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unveil
from unveil import Policy, Table
from unveil.release.coarsening import column_ladders
from unveil.release.policy_hierarchies import load_hierarchies
from unveil.release.value_rules import ValueRule, rule_of_step
from unveil.run import Run


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(
        [
            "intervals:5,10",
            "cuts:3,20",
            "quantiles:4,2",
            "top:300,100",
            "bottom:0,10",
            "ends:5,90",
            "prefixes",
            "frequency",
            None,
        ]
    ),
    st.lists(st.integers(-40, 400), min_size=8, max_size=60),
    st.booleans(),
)
def test_every_step_of_every_rule_is_written_as_it_is(rule: str | None, numbers: list[int], halves: bool) -> None:
    """Whatever a ladder makes of a column, its rule makes the same of every value, and survives TOML."""
    texts = [str(n / 2) if halves and rule != "prefixes" else str(n) for n in numbers]
    own = Policy(hierarchy={} if rule is None else {"x": rule}, quasi=(("x",),))
    table = unveil.read(pa.table({"x": [*texts, "?", None]}))
    assert isinstance(table, Table)
    hierarchies = {}
    if rule is not None:
        hierarchies = dict(load_hierarchies(own.hierarchy, [table], own))
    (ladder,) = column_ladders(table, ["x"], hierarchies, own, Run())
    values = ladder.steps[0].labels.to_pylist()
    for level in range(1, len(ladder.steps)):
        for rare in (0, 3):
            step = ladder.step(level, rare)
            found = rule_of_step(ladder, step)
            again = ValueRule.from_dict(found.to_dict(), "here")
            assert again == found
            expected = [step.labels[place].as_py() for place in step.becomes.tolist()]
            assert again.label_values(values, ladder.hierarchy, own.missing) == expected


@pytest.mark.parametrize(
    ("rule", "text", "label"),
    [
        (ValueRule("intervals", {"width": "10", "whole": True}), "103", "100–109"),
        (ValueRule("intervals", {"width": "10", "whole": True}), "103.5", None),
        (ValueRule("intervals", {"width": "2.5", "whole": False}), "-1", "[-2.5, 0)"),
        (ValueRule("intervals", {"width": "10", "whole": True}), "n/a", None),
        (ValueRule("cuts", {"cuts": ["18", "65"], "whole": True}), "90", "≥65"),
        (ValueRule("dates", {"unit": "month"}), "2031-12-24", "2031-12"),
        (ValueRule("dates", {"unit": "month"}), "2031-13-24", None),
        (ValueRule("prefixes", {"length": 2, "shortest": 5, "longest": 5}), "99999", "99***"),
        (ValueRule("prefixes", {"length": 2, "shortest": 5, "longest": 5}), "Smith-Jones", None),
        (ValueRule("prefixes", {"length": 2, "shortest": 2, "longest": 5}), "?A", None),
        (ValueRule("labels", {}, {"gout": "other"}), "gout", "other"),
        (ValueRule("labels", {}, {"gout": "other"}), "flu", None),
    ],
)
def test_new_values_are_placed_by_the_rule(rule: ValueRule, text: str, label: str | None) -> None:
    assert rule.label_values([text], None, ("?A***",)) == [label]
