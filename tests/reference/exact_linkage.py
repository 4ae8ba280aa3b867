"""How often records are found by m of their attributes, the slow, obvious way: all sets, every record looked at.

A record is a dictionary from attributes to codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

__all__ = ["exact_probabilities"]

Record = dict[int, int]


def exact_probabilities(records: Sequence[Record], target: int, m: int) -> tuple[Fraction, ...] | None:
    """The probability that Â names the target, that Scoreboard does, that nobody else fits, and how many fit on
    average; None if it has fewer than m attributes."""
    own = records[target]
    sets = list(combinations(sorted(own), m))
    if not sets:
        return None
    smallest = scoreboard = unique = size = Fraction()
    for some in sets:
        fit = [r for r in records if all(i in r and r[i] == own[i] for i in some)]
        least = min(map(len, fit))
        scoreboard += Fraction(1, len(fit))
        unique += len(fit) == 1
        size += len(fit)
        if len(own) == least:
            smallest += Fraction(1, sum(len(r) == least for r in fit))
    return tuple(x / len(sets) for x in (smallest, scoreboard, unique, size))
