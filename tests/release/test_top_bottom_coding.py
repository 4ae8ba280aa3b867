"""Top and bottom coding: extreme numbers together, others as they are."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unveil
from unveil import Policy, Table, UnveilError
from unveil.release.generalised_labels import parse_interval
from unveil.release.hierarchy import Hierarchy
from unveil.release.policy_hierarchies import load_hierarchies


def coded(values: list[str], rule: str) -> Hierarchy:
    table = unveil.read(pa.table({"age": values}))
    assert isinstance(table, Table)
    return load_hierarchies({"age": rule}, [table], Policy())["age"]


def test_only_extreme_numbers_are_coded() -> None:
    values = ["17", "18", "50", "89", "90", "104"]
    assert dict(row[:2] for row in coded(values, "ends:18,90").rows()) == {  # type: ignore[misc]
        **{"17": "<18", "18": "18", "50": "50"},
        **{"89": "89", "90": "≥90", "104": "≥90"},
    }
    assert set(coded(values, "top:90,50").labels(2).to_pylist()) == {"17", "18", "≥50"}
    assert set(coded(values, "bottom:18,60").labels(2).to_pylist()) == {"<60", "89", "90", "104"}


@given(
    st.lists(st.fractions(-50, 50, max_denominator=8), min_size=2, max_size=30, unique=True),
    st.integers(-40, 40),
    st.integers(0, 30),
)
def test_every_label_is_true_of_its_numbers(numbers: list[Fraction], low: int, more: int) -> None:
    texts = [str(float(n)) for n in numbers]
    for rule in (f"top:{low}", f"bottom:{low}", f"ends:{low},{low + more}"):
        for text, label, root in coded(texts, rule).rows():
            found = parse_interval(label)
            assert root == "*" and found is not None
            number = float(text)
            inside = found.low < number < found.high or (
                (number == found.low and found.low_closed) or (number == found.high and found.high_closed)
            )
            assert inside and (label == text or found.low in (low, low + more) or found.high in (low, low + more))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("top:80,90", "level 2 does not put more numbers together than level 1; write top:90,80 or bottom:18,30"),
        ("bottom:18,18", "level 2 does not put more numbers together than level 1"),
        ("ends:90,18", "on level 1 the low end lies above the high end; swap them"),
        ("top:1.2.3", "an end on level 1 is not a number"),
        ("top:ninety", "'top:ninety' is not a rule"),
        ("ends:18", "'ends:18' is not a rule"),
    ],
)
def test_ends_that_do_not_fit_are_refused(rule: str, said: str) -> None:
    table = pa.table({"age": ["17", "95"]})
    with pytest.raises(UnveilError, match=said):
        unveil.assess(table, Policy(quasi=(("age",),), hierarchy={"age": rule}), only="classes.k")


def test_a_protection_codes_the_top_and_says_so() -> None:
    ages = [str(20 + k % 20) for k in range(400)] + ["91", "92", "93", "97", "99"]
    policy = Policy(
        quasi=(("age",),),
        hierarchy={"age": "top:90"},
        rows_are_people=True,
        settings={"classes": {"suppress": 0}},
    )
    made = unveil.protect(pa.table({"age": ages}), policy, recipe_methods_only=True)
    (chosen,) = [p for p in made.assessment.protections if p.chosen]
    assert "age with numbers from 90 on together" in chosen.sentence
    (column,) = made.recipe().columns
    assert column.rule is not None and column.rule.to_dict() == {"rule": "ends", "low": "", "high": "90"}
    assert column.rule.label_values(["120", "21", "x"], None, ()) == ["≥90", "21", None]
