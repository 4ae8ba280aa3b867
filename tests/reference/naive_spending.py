"""What many private answers cost, from the definition: the most that any person pays.

A person is in one part of every partition, in every version of the data. Each answer that can see them costs them what
is entered for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from unveil.ledger import Part, PrivacyCost

__all__ = ["most_that_a_person_pays"]


def most_that_a_person_pays(answers: Sequence[tuple[PrivacyCost, Part | None, int]]) -> tuple[Fraction, Fraction]:
    """The largest loss and the largest δ, each over all persons; an answer comes with its part and version."""
    parts: dict[tuple[int, str], set[str]] = {}
    for _, part, version in answers:
        if part is not None:
            parts.setdefault((version, part.partition), set()).add(part.name)
    worst = Fraction(0), Fraction(0)
    for places in product(*parts.values()):
        person = dict(zip(parts, places, strict=True))
        seen_by = [cost for cost, part, at in answers if part is None or person[at, part.partition] == part.name]
        paid = sum((c.loss for c in seen_by), Fraction(0)), sum((c.delta for c in seen_by), Fraction(0))
        worst = max(worst[0], paid[0]), max(worst[1], paid[1])
    return worst
