"""The recipe: should the baskets be released? (Assess-Risk, Figure 8 of Lakshmanan, Ng and Ramesh 2008.)

1. Someone who knows every frequency exactly cracks one item per frequency group. If that is tolerated, release.
2. Someone who knows every frequency to within a width cracks ε items: the exact value where there is one, where the
   paper estimates. If that is tolerated, release.
3. Otherwise: about how many items must the attacker be right at least, to crack more than is tolerated? α_max is the
   largest share of items that they may be right about.

A belief that is *wrong* about an item can be read in two ways.

- **Excluded** (as printed): a wrong item is never cracked, and the others are as before. Over random subsets of right
  items the expected cracks are α·ε, a straight line, so that α_max needs no search: it is the tolerance over ε.
- **Elsewhere**: the wrong items are mixed up with each other: each has the interval of another wrong one. They then
  also mislead about the others. A consistent mapping always exists, namely the mixed-up one; if wrong intervals were
  put anywhere, mostly none would, and the attacker would notice. Random nested subsets, averaged; the exact ε need not
  be monotone in α, so that α_max is found by a scan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unveil.items.beliefs import Beliefs
from unveil.items.groups import Groups
from unveil.matching.candidates import Floats
from unveil.matching.ladder import Budget, Solution, solve
from unveil.run import Run

__all__ = ["Elsewhere", "Recipe", "assess_risk", "mixed_up", "nested", "printed", "wrong_elsewhere"]

_RUNS = 5
_GRID = tuple(k / 50 for k in range(51))


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Expected cracks by α where wrong items point elsewhere: mean over runs, and the least and largest run."""

    alpha: tuple[float, ...]
    cracks: Floats
    least: Floats
    most: Floats
    alpha_max: float


@dataclass(frozen=True, eq=False)
class Recipe:
    """What each step found. ``stopped`` is the step at which the recipe ended: 1 and 2 say release, 3 leaves it to the
    owner whether ``alpha_max`` is high enough; ``allowed`` is the number of items that may be cracked."""

    items: int
    groups: int
    allowed: float
    solution: Solution
    stopped: int
    alpha_max: float


def assess_risk(beliefs: Beliefs, tolerance: float, run: Run, budget: Budget | None = None) -> Recipe:
    """Go through the recipe, to its end even where an earlier step would suffice."""
    groups = len(Groups.of(beliefs.counts).values)
    allowed = tolerance * beliefs.n
    solution = solve(beliefs.candidates, None, run, budget=budget, may_be_wrong=True)
    cracks = solution.expected_cracks
    stopped = 3 if cracks > allowed else 1 if groups <= allowed else 2  # who knows less may crack more
    return Recipe(beliefs.n, groups, allowed, solution, stopped, min(1.0, allowed / cracks) if cracks else 1.0)


def nested(crack: Floats, rng: np.random.Generator, runs: int = _RUNS) -> Floats:
    """The paper's own way with excluded items: the cracks among the first 0, 1, … n items of a random order, averaged
    over several orders."""
    totals = [np.concatenate([[0.0], np.cumsum(crack[rng.permutation(len(crack))])]) for _ in range(runs)]
    mean: Floats = np.mean(totals, axis=0)
    return mean


def printed(estimates: Floats, allowed: float, rng: np.random.Generator, runs: int = _RUNS) -> float:
    """α_max as Figure 8 has it: by O-estimates, over nested random subsets of right items averaged over several runs,
    and a binary search, for which the sums rise.

    >>> printed(np.full(10, 0.5), 2.0, np.random.default_rng(0))
    0.4
    """
    right = int(np.searchsorted(nested(estimates, rng, runs), allowed * (1 + 1e-9), side="right")) - 1
    return right / len(estimates)


def mixed_up(beliefs: Beliefs, order: np.ndarray, right: int) -> Beliefs:
    """The first items of an order are right; each of the others has the interval of the next of them."""
    wrong = order[right:]
    low, high = beliefs.low.copy(), beliefs.high.copy()
    low[wrong], high[wrong] = beliefs.low[np.roll(wrong, -1)], beliefs.high[np.roll(wrong, -1)]
    return Beliefs(low, high, beliefs.counts)


def wrong_elsewhere(
    beliefs: Beliefs, solution: Solution, allowed: float, rng: np.random.Generator, run: Run, runs: int = _RUNS
) -> Elsewhere:
    """Expected cracks against α when wrong items are mixed up with each other. The same orders serve all α, so that the
    right items of a smaller α are among those of a larger one.

    Nothing has to be solved again: an item with another's interval has each pseudonym as probably as the other had.
    """
    found = np.empty((runs, len(_GRID)))
    orders = [rng.permutation(beliefs.n) for _ in range(runs)]
    for k, order in enumerate(orders):
        run.progress("mixing up wrong items", k / runs)
        run.check()
        for m, alpha in enumerate(_GRID):
            has = np.arange(beliefs.n)
            wrong = order[round(alpha * beliefs.n) :]
            has[wrong] = np.roll(wrong, -1)
            edge = solution.candidates.edge_of(has, np.arange(beliefs.n))
            found[k, m] = solution.marginals[edge[edge >= 0]].sum()
    mean = found.mean(axis=0)
    return Elsewhere(_GRID, mean, found.min(axis=0), found.max(axis=0), _crossing(np.array(_GRID), mean, allowed))


def _crossing(alpha: Floats, cracks: Floats, allowed: float) -> float:
    """The largest α up to which no more than allowed is cracked, between the points of the grid on a straight line."""
    over = np.flatnonzero(cracks > allowed)
    if not len(over):
        return 1.0
    k = int(over[0])
    if k == 0:
        return 0.0
    part = (allowed - cracks[k - 1]) / (cracks[k] - cracks[k - 1])
    return float(alpha[k - 1] + part * (alpha[k] - alpha[k - 1]))
