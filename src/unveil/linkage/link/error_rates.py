"""How often is what is known wrong? Estimated from the two files alone.

The posterior of :mod:`unveil.linkage.link.best_match` needs q, the error rate of every attribute, and π, the share of
known people who are not in the release. The attacker knows neither. Both can be estimated by *expectation maximisation*
(Dempster, Laird and Rubin 1977; Winkler 1988 for linkage). With the current rates, every row is a person's with some
probability, and if it is, its value in an attribute is wrong with probability q/(q + (1 − q) · sim/G), or 1 if it
disagrees. The means of these probabilities over all people and rows are the next rates. Each round makes the two files
more probable.

One additional person, with the initial error rate, keeps rates away from 0. Errors cannot be estimated well from few
people, from attributes in which most rows agree, or from people outside the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unveil.linkage.link.file_pair import FilePair
from unveil.linkage.link.row_kinds import choose_row_kinds
from unveil.linkage.link.row_scores import attribute_error_rates, score_people
from unveil.run import Run

__all__ = ["ErrorRates", "estimate_error_rates"]

_CONVERGENCE = 1e-4  # largest change of a rate at convergence


@dataclass(frozen=True)
class ErrorRates:
    """Error rates by attribute, the share of people outside the release, the number of rounds, and whether the rates
    ``converged`` within them."""

    errors: Mapping[str, float]
    outside: float
    rounds: int
    converged: bool


def estimate_error_rates(
    file_pair: FilePair, *, start: float = 0.05, outside: float = 0.0, rounds: int = 100, run: Run | None = None
) -> ErrorRates:
    """Estimate error rates, starting from ``start``, and the share of people outside, starting from ``outside``; 0
    stays 0."""
    rates, common = attribute_error_rates(file_pair, start), choose_row_kinds(file_pair)
    done, moved = 0, 1.0
    while done < rounds and moved > _CONVERGENCE:
        found = score_people(file_pair, common, "likelihood", rates, outside, run, count_errors=True)
        before = np.append(rates, outside)
        rates = (found.tally[:, 0] + start) / (found.tally[:, 1] + 1)
        if outside:
            outside = float((found.outside @ file_pair.person_sizes + outside) / (file_pair.n + 1))
        moved, done = float(np.abs(np.append(rates, outside) - before).max()), done + 1
    errors = dict(zip(file_pair.rows.names, rates.tolist(), strict=True))
    return ErrorRates(errors, outside, done, moved <= _CONVERGENCE)
