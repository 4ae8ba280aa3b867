"""Numbers, plurals and intervals as people read them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from report import samples
from unveil.finding import Finding
from unveil.report.phrases import interval_text
from unveil.wording import count_text, number_text, percent_text, plural_noun, range_text, singular_noun, unit_noun


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (1_209_600, "1,209,600"),
        (1.2096e6, "1,209,600"),
        (1_209_600.25, "1,209,600.2"),
        (999_999.96, "1,000,000.0"),
        (12.34567, "12.35"),
        (999.99999, "1,000"),
        (0.0001, "0.0001"),
        (1e-7, "1 × 10⁻⁷"),
        (1.23456e-7, "1.235 × 10⁻⁷"),
        (1e15, "1 × 10¹⁵"),
        (-3, "-3"),
        (0, "0"),
        (float("-inf"), "−∞"),
    ],
)
def test_numbers(x: float, text: str) -> None:
    assert number_text(x) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_number_is_written_as_a_programmer_would(x: float) -> None:
    assert not re.search(r"\de[+-]?\d", number_text(x))


@given(st.sampled_from(["row", "class", "entry", "person", "day", "box", "batch", "known person"]))
def test_plurals_come_back(noun: str) -> None:
    assert singular_noun(plural_noun(noun)) == noun
    assert count_text(1, noun) == f"1 {noun}"
    assert count_text(2, noun) == f"2 {plural_noun(noun)}"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        ("1", "rows", "row"),
        ("at least 1", "rows", "row"),
        ("at most 1", "people", "person"),
        ("1 (1 to 3)", "rows", "rows"),
        ("11", "rows", "rows"),
        ("0", "people", "people"),
        ("1", "distance", "distance"),
    ],
)
def test_a_unit_agrees_with_its_number(value: str, unit: str, text: str) -> None:
    assert unit_noun(value, unit) == text


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_an_interval_that_says_nothing_is_left_out(value: float) -> None:
    assert range_text(value, (value, value)) == percent_text(value)
    assert range_text(0.3, (0.2, 0.4)) == "30% (20% to 40%)"


def sampled(value: float, low: float, high: float, unit: str = "share") -> Finding:
    whole = samples.hospital().findings[1]
    return replace(whole, value=value, unit=unit, method="simulation", interval=(low, high), confidence=0.95)


def test_findings_write_their_interval_only_where_it_says_something() -> None:
    assert sampled(1.0, 1.0, 1.0).value_text == "100%"
    assert interval_text(sampled(1.0, 1.0, 1.0)) == ""
    assert sampled(0.5, 0.4, 0.6).value_text == "50% (40% to 60%)"
    assert interval_text(sampled(0.5, 0.4, 0.6)) == "40% to 60%"


def test_a_bound_of_one_is_singular() -> None:
    bound = replace(sampled(1, 1, 4, "rows"), method="bound", confidence=None, tolerance=None, decides=False)
    assert f"{bound.value_text} {bound.unit_text}" == "at least 1 row"


def test_a_bound_that_leaves_no_room_is_a_number() -> None:
    assert replace(sampled(1.0, 1.0, 1.0), method="bound", confidence=None).value_text == "100%"
    bound = replace(sampled(0.3, 0.3, 1.0), method="bound", confidence=None)
    assert replace(bound, tolerance=None, decides=False).value_text == "at least 30%"


def test_a_bound_beside_a_tolerance_is_a_range() -> None:
    """ "At least 30%, must be at least 50%" was hard to follow."""
    bound = replace(sampled(0.3, 0.3, 1.0), method="bound", confidence=None, tolerance=0.5)
    assert bound.value_text == "30% to 100%"
