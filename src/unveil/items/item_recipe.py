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
  and the attacker would notice. The cracks are averages over several orders of items, each of which yields nested
  subsets. The exact ε need not be monotone in α, so α_max is found by a scan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.arrays import Floats
from unveil.items.beliefs import Beliefs
from unveil.items.frequency_groups import FrequencyGroups
from unveil.matching.solver import Budget, Solution, solve
from unveil.run import Run

__all__ = ["ItemRecipe", "MixedUpItems", "assess_mixed_up_items", "assess_risk", "mix_up_wrong_items"]

_ORDERS = 5
_ALPHA_GRID = tuple(k / 50 for k in range(51))


@dataclass(frozen=True, eq=False)
class MixedUpItems:
    """Expected cracks by α if wrong items are mixed up: the mean, lowest and highest of several runs."""

    alpha: tuple[float, ...]
    cracks: Floats
    lowest: Floats
    highest: Floats
    alpha_max: float


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


def mean_nested_cracks(crack: Floats, rng: np.random.Generator, runs: int = _ORDERS) -> Floats:
    """The paper's treatment of excluded items: the cracks among the first 0, 1, … n items of a random order, averaged
    over several orders."""
    totals = [np.concatenate([[0.0], np.cumsum(crack[rng.permutation(len(crack))])]) for _ in range(runs)]
    mean: Floats = np.mean(totals, axis=0)
    return mean


def published_alpha_max(estimates: Floats, allowed: float, rng: np.random.Generator, runs: int = _ORDERS) -> float:
    """α_max as in Figure 8: by O-estimates, averaged over several runs of nested random subsets of right items, and a
    binary search, which works because the sums rise.

    >>> published_alpha_max(np.full(10, 0.5), 2.0, np.random.default_rng(0))
    0.4
    """
    right = int(np.searchsorted(mean_nested_cracks(estimates, rng, runs), allowed * (1 + 1e-9), side="right")) - 1
    return right / len(estimates)


def mix_up_wrong_items(beliefs: Beliefs, order: np.ndarray, right: int) -> Beliefs:
    """Beliefs in which the first items of an order are right, and each of the others has the interval of the next."""
    wrong, instead = order[right:], np.arange(beliefs.n)
    instead[wrong] = np.roll(wrong, -1)
    return beliefs.swap_items(instead)


def assess_mixed_up_items(
    beliefs: Beliefs, solution: Solution, allowed: float, rng: np.random.Generator, run: Run, runs: int = _ORDERS
) -> MixedUpItems:
    """Expected cracks by α if wrong items are mixed up with each other. All α share the same orders, so the right items
    of a smaller α are among those of a larger one.

    Nothing needs to be solved again: an item with another's interval has each pseudonym with the other's probability.
    """
    found = np.empty((runs, len(_ALPHA_GRID)))
    orders = [rng.permutation(beliefs.n) for _ in range(runs)]
    for k, order in enumerate(orders):
        run.progress("mixing up wrong items", k / runs)
        run.check()
        for m, alpha in enumerate(_ALPHA_GRID):
            has = np.arange(beliefs.n)
            wrong = order[round(alpha * beliefs.n) :]
            has[wrong] = np.roll(wrong, -1)
            edge = solution.candidates.find_edges(has, np.arange(beliefs.n))
            found[k, m] = solution.marginals[edge[edge >= 0]].sum()
    mean = found.mean(axis=0)
    return MixedUpItems(
        _ALPHA_GRID,
        mean,
        found.min(axis=0),
        found.max(axis=0),
        _tolerance_crossing(np.array(_ALPHA_GRID), mean, allowed),
    )


def _tolerance_crossing(alpha: Floats, cracks: Floats, allowed: float) -> float:
    """The largest α up to which no more than ``allowed`` is cracked, by linear interpolation between grid points."""
    over = np.flatnonzero(cracks > allowed)
    if not len(over):
        return 1.0
    k = int(over[0])
    if k == 0:
        return 0.0
    part = (allowed - cracks[k - 1]) / (cracks[k] - cracks[k - 1])
    return float(alpha[k - 1] + part * (alpha[k] - alpha[k - 1]))
