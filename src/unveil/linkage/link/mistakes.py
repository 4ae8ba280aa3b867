"""How often is what is known wrong? From the two files alone.

The posterior of :mod:`unveil.linkage.link.matches` needs q, the error rate of every attribute, and π, the share of the
known people who are not in the release. Nobody tells the attacker either. Both can be estimated by *expectation and
maximisation* (Dempster, Laird and Rubin 1977; Winkler 1988 for linkage): with the rates so far, every row is a person's
with some probability, and if it is, its value in an attribute is wrong with probability q/(q + (1 − q) · sim/G), and 1
if it disagrees. The means of those, over all people and all rows, are the next rates. Each round makes the two files
more probable.

One more person, wrong as often as at the start, keeps rates off 0. Few people, attributes in which most rows agree, or
people who are not in the release say little about errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unveil.linkage.link.kinds import kinds
from unveil.linkage.link.paired import Paired
from unveil.linkage.link.scores import error_rates, scored
from unveil.run import Run

__all__ = ["Mistakes", "estimated_mistakes"]

_SETTLED = 1e-4  # by how much rates may still move


@dataclass(frozen=True)
class Mistakes:
    """Error rates by attribute and the share of people outside the release, and after how many rounds they settled, or
    were left as they are."""

    errors: Mapping[str, float]
    outside: float
    rounds: int
    settled: bool


def estimated_mistakes(
    paired: Paired, *, start: float = 0.05, outside: float = 0.0, rounds: int = 100, run: Run | None = None
) -> Mistakes:
    """Error rates that start at ``start``, and the share of people outside that starts at ``outside``; 0 stays 0."""
    rates, common = error_rates(paired, start), kinds(paired)
    done, moved = 0, 1.0
    while done < rounds and moved > _SETTLED:
        found = scored(paired, common, "likelihood", rates, outside, run, count_errors=True)
        before = np.append(rates, outside)
        rates = (found.tally[:, 0] + start) / (found.tally[:, 1] + 1)
        if outside:
            outside = float((found.reals[:, 2] @ paired.person_sizes + outside) / (paired.n + 1))
        moved, done = float(np.abs(np.append(rates, outside) - before).max()), done + 1
    errors = dict(zip(paired.rows.names, rates.tolist(), strict=True))
    return Mistakes(errors, outside, done, moved <= _SETTLED)
