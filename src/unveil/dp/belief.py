"""How far private answers can move a belief.

If answers have probability P on a table with a person and Q on the same table without, ε-differential privacy says
e^(−ε) ≤ P/Q ≤ e^ε. By Bayes' rule, a belief b that the person is in it becomes bP/(bP + (1 − b)Q), which lies between
b/(b + (1 − b)e^ε) and be^ε/(be^ε + 1 − b). That holds for any belief about one person by somebody who knows everything
else, and for somebody who knows less (S. Kasiviswanathan, A. Smith, *On the "semantics" of differential privacy*,
2014).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from unveil.ledger.privacy_cost import PrivacyCost
from unveil.ledger.spending import Part, Spending

__all__ = ["belief_bounds", "total_loss"]


def belief_bounds(before: float, loss: float) -> tuple[float, float]:
    """The least and the greatest belief after answers that cost ε = ``loss`` together.

    >>> [round(belief, 3) for belief in belief_bounds(0.5, math.log(3))]
    [0.25, 0.75]
    """
    if before in (0.0, 1.0):
        return before, before
    odds = math.log(before / (1 - before))
    low, high = (1 / (1 + math.exp(-min(max(odds + way, -700), 700))) for way in (-loss, loss))
    return low, high


def total_loss(answers: Iterable[Mapping[str, Any]]) -> Fraction:
    """What answers cost together, by the rules of a ledger: one row for each, with ``epsilon``, ``partition``, ``part``
    and ``version``."""
    spending = Spending()
    for each in answers:
        part = None if each["partition"] is None else Part(each["partition"], each["part"])
        spending.add(PrivacyCost(Fraction(each["epsilon"])), part, each["version"])
    return spending.total().loss
