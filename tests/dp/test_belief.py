"""How far answers move a belief: the bounds against answers drawn by the mechanism that reaches them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.dp.belief import belief_bounds, total_loss


@given(st.floats(0, 1), st.floats(0, 20))
def test_bounds_are_those_of_bayes_rule(before: float, loss: float) -> None:
    low, high = belief_bounds(before, loss)
    factor = math.exp(loss)
    assert high == pytest.approx(before * factor / (before * factor + 1 - before), rel=1e-6, abs=1e-9)
    assert low == pytest.approx(before / (before + (1 - before) * factor), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("loss", [0.1, 1.0, 3.0])
def test_one_coin_reaches_the_bounds(loss: float) -> None:
    """Randomised response: the answer yes has probability e^ε/(1 + e^ε) if the person is in, 1/(1 + e^ε) if not."""
    yes_in, yes_out = math.exp(loss) / (1 + math.exp(loss)), 1 / (1 + math.exp(loss))
    for before in (0.01, 0.3, 0.5):
        after_yes = before * yes_in / (before * yes_in + (1 - before) * yes_out)
        after_no = before * (1 - yes_in) / (before * (1 - yes_in) + (1 - before) * (1 - yes_out))
        assert belief_bounds(before, loss) == pytest.approx((after_no, after_yes))


def test_huge_losses_are_certainties() -> None:
    assert belief_bounds(0.5, 1e9) == (pytest.approx(0), pytest.approx(1))


def test_answers_about_disjoint_parts_cost_the_most_of_them() -> None:
    def line(epsilon: str, part: str | None, version: int = 0) -> dict[str, object]:
        return {"epsilon": epsilon, "partition": part and "ward", "part": part, "version": version}

    assert total_loss([]) == 0
    assert total_loss([line("1/2", "A"), line("1/3", "B"), line("1/10", None)]) == Fraction(3, 5)
    assert total_loss([line("1/2", "A"), line("1/3", "A"), line("1/2", "B")]) == Fraction(5, 6)
    assert total_loss([line("1/2", "A", 0), line("1/2", "B", 1)]) == 1
