"""The recipe: should the baskets be released? (Assess-Risk, Figure 8 of Lakshmanan, Ng and Ramesh 2008.)

1. An attacker who knows every frequency exactly cracks one item per frequency group. If that is tolerated, release.
2. An attacker who knows every frequency to a given precision cracks ε items. ε is exact where possible; the paper
   estimates it. If that is tolerated, release.
3. Otherwise: about how many items must the attacker be right to crack more than is tolerated? α_max is the largest
   share of items that they may be right about.

A belief that is *wrong* about an item can be read in two ways.

- **Excluded** (as printed): a wrong item is never cracked, and nothing else changes. Over random subsets of right items
  the expected cracks are α·ε, a straight line, so α_max needs no search: it is the tolerance divided by ε.
- **Mixed up**: each wrong item has the interval of another wrong item, which also misleads about the right items. A
  consistent mapping always exists, namely the mixed-up one; with arbitrary wrong intervals there would usually be none,
  and the attacker would notice. An item with another's interval has each pseudonym with the other's probability. Over
  all choices of right items and all ways to mix up the others, a wrong item is therefore cracked with the mean
  probability of all pairs of an item and another's pseudonym, (n − ε)/(n(n − 1)), and the expected cracks of m right
  items are (m·ε + (n − m)·(n − ε)/(n − 1))/n. A single wrong item cannot be mixed up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.arrays import Floats
from unveil.items.beliefs import Beliefs
from unveil.items.frequency_groups import FrequencyGroups
from unveil.matching.solver import Budget, Solution, solve
from unveil.run import Run

__all__ = ["ItemRecipe", "assess_risk", "largest_safe_share", "mixed_up_cracks", "published_alpha_max"]

_SLACK = 1e-9  # what exceeds the tolerance only by rounding is tolerated


@dataclass(frozen=True, eq=False)
class ItemRecipe:
    """What each step found. ``last_step`` is the step at which the recipe ended: after 1 and 2 it says release, after 3
    the owner must judge whether ``alpha_max`` is high enough. ``cracks_if_exact`` items are cracked if every
    frequency is known, and ``tolerated_cracks`` may be."""

    items: int
    cracks_if_exact: int
    tolerated_cracks: float
    solution: Solution
    last_step: int
    alpha_max: float


def assess_risk(beliefs: Beliefs, tolerance: float, run: Run, budget: Budget | None = None) -> ItemRecipe:
    """Run all steps of the recipe, even if an earlier one suffices."""
    groups = len(FrequencyGroups.from_counts(beliefs.counts).values)
    allowed = tolerance * beliefs.n
    solution = solve(beliefs.candidates, None, run, budget=budget, may_exclude_truth=True)
    cracks = solution.expected_cracks
    stopped = 3 if cracks > allowed else 1 if groups <= allowed else 2  # an attacker who knows less may crack more
    return ItemRecipe(beliefs.n, groups, allowed, solution, stopped, min(1.0, allowed / cracks) if cracks else 1.0)


def published_alpha_max(estimates: Floats, allowed: float) -> float:
    """α_max as in Figure 8, by O-estimates. The figure averages a few random orders of items and searches; the mean
    over all orders is a straight line.

    >>> published_alpha_max(np.full(10, 0.5), 2.0)
    0.4
    """
    line = np.linspace(0.0, float(estimates.sum()), len(estimates) + 1)
    return largest_safe_share(line, allowed) or 0.0


def mixed_up_cracks(solution: Solution) -> Floats:
    """The expected cracks if 0, 1, … n items are right and the others are mixed up, over all ways to do so.

    >>> from unveil.matching.candidates import Candidates
    >>> mixed_up_cracks(solve(Candidates.from_matrix(np.eye(4))))
    array([0., 1., 2., 4., 4.])
    """
    n, cracks = solution.candidates.n, solution.expected_cracks
    right = np.arange(n + 1)
    found: Floats = (right * cracks + (n - right) * (n - cracks) / max(n - 1, 1)) / max(n, 1)
    found[max(n - 1, 0) :] = cracks
    return found


def largest_safe_share(harm: Floats, allowed: float) -> float | None:
    """The largest share m/n of right items up to which none of the numbers for 0, 1, … n right items exceeds what is
    allowed; None if the first does."""
    over = np.flatnonzero(harm > allowed * (1 + _SLACK) + _SLACK)
    if not len(over):
        return 1.0
    return float((over[0] - 1) / (len(harm) - 1)) if over[0] else None
