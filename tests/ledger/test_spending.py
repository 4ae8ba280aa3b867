"""Costs add up exactly; answers about different parts cost the most that any person pays."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.naive_spending import most_that_a_person_pays
from unveil.errors import UnveilError
from unveil.ledger import Part, PrivacyCost, Spending

COSTS = st.builds(
    PrivacyCost,
    st.fractions(min_value=Fraction(1, 100), max_value=3, max_denominator=100),
    st.fractions(min_value=0, max_value=Fraction(1, 10), max_denominator=1000),
)
PARTS = st.none() | st.builds(Part, st.sampled_from(["sex", "ward"]), st.sampled_from("abc"))
ANSWERS = st.lists(st.tuples(COSTS, PARTS, st.integers(0, 1)), max_size=12)


def spending_on(answers: list[tuple[PrivacyCost, Part | None, int]]) -> Spending:
    spending = Spending()
    for answer in answers:
        spending.add(*answer)
    return spending


@given(ANSWERS)
def test_the_total_is_what_some_person_pays(answers: list[tuple[PrivacyCost, Part | None, int]]) -> None:
    total = spending_on(answers).total()
    assert (total.loss, total.delta) == most_that_a_person_pays(answers)


@given(ANSWERS, COSTS, PARTS, st.integers(0, 1))
def test_what_is_left_for_a_part_is_exactly_what_fits(
    answers: list[tuple[PrivacyCost, Part | None, int]], cost: PrivacyCost, part: Part | None, version: int
) -> None:
    before, after = spending_on(answers), spending_on([*answers, (cost, part, version)])
    counted = before.total() if part is None else before.total_for(part, version)
    grown = counted + cost
    assert after.total() == PrivacyCost(max(before.total().loss, grown.loss), max(before.total().delta, grown.delta))


@given(ANSWERS, COSTS)
def test_a_copy_is_independent(answers: list[tuple[PrivacyCost, Part | None, int]], cost: PrivacyCost) -> None:
    spending = spending_on(answers)
    before, copy = spending.total(), spending.copy()
    copy.add(cost, Part("sex", "a"), 0)
    copy.add(cost, None, 0)
    assert spending.total() == before
    assert copy.total().loss > before.loss


def test_people_who_move_between_versions_pay_in_both_parts() -> None:
    half = PrivacyCost.of("1/2")
    assert spending_on([(half, Part("ward", "a"), 0), (half, Part("ward", "b"), 0)]).total() == half
    assert spending_on([(half, Part("ward", "a"), 0), (half, Part("ward", "b"), 1)]).total() == PrivacyCost.of(1)


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("0.1", Fraction(1, 10)),
        (" .5", Fraction(1, 2)),
        ("1/3", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        ("2", Fraction(2)),
        (3, Fraction(3)),
    ],
)
def test_a_cost_is_read_as_it_is_typed(typed: str | int, number: Fraction) -> None:
    assert PrivacyCost.of(typed).loss == number


@pytest.mark.parametrize(
    "typed", ["", "nan", "inf", "-1", "1/0", "0.1.2", "1e9999", "1_000", "٣", "1" * 50, "0x1", "1/-2", "1 2", "1\n2"]
)
def test_what_is_no_cost_is_refused(typed: str) -> None:
    with pytest.raises(UnveilError, match=r"is not a privacy cost; write a number such as 0\.1, 1/3 or 1e-6$"):
        PrivacyCost.of(typed)


def test_costs_are_exact_and_not_negative() -> None:
    with pytest.raises(TypeError, match="floating point is not exact"):
        PrivacyCost.of(0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a Fraction"):
        PrivacyCost(0.1)  # type: ignore[arg-type]
    with pytest.raises(UnveilError, match="must not be negative"):
        PrivacyCost(Fraction(-1))
    with pytest.raises(UnveilError, match="must not be negative"):
        PrivacyCost(Fraction(1), Fraction(-1, 2))
    with pytest.raises(UnveilError, match="too many digits"):
        PrivacyCost(Fraction(1, 10**2000))


def test_a_cost_fits_only_if_loss_and_delta_do() -> None:
    left = PrivacyCost.of("1", "1e-6")
    assert left.fits(left) and PrivacyCost.of("0.5").fits(left)
    assert not PrivacyCost.of("1.0000000001").fits(left)
    assert not PrivacyCost.of("0.1", "2e-6").fits(left)
