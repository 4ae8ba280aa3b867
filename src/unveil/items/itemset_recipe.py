"""The recipe for itemsets: should the baskets be released? (Assess-Risk-Itemsets, Figure 9 of Lakshmanan, Ng and Ramesh
2008.)

The owner names itemsets Θ, a threshold σ and a tolerance τ (``itemsets``). Probabilities are exact where the paper uses
OS, and simulated or bounded where a block is too large to solve; undecided itemsets count as vulnerable.

1. An attacker who knows every frequency exactly: if at most a share τ of Θ is vulnerable, stop.
2. An attacker with the given beliefs: if at most a share τ is vulnerable, stop. Neither the exact share nor OS is
   monotone in the attacker's knowledge, so step 1 ends the recipe only if step 2 agrees.
3. Otherwise: find α_max, the largest share of items that the attacker may be right about, such that all smaller shares
   are tolerated too.

To be *right* about an item is to believe what the given beliefs say about it. An itemset with a wrong interval can
still be cracked as a set: the wrong item takes the pseudonym of another member. If no mapping is consistent, there is
no exact value (``InfeasibleError``); OS is still defined (``itemsets.estimate_vulnerable_share``), for information
only.

As in ``item_recipe``, being wrong is read in two ways. The paper says that OS applies to wrong beliefs "under the same
assumptions" as for items, namely that wrong items are known and never cracked; it does not give their intervals.

- **Excluded** (as printed): an itemset with a wrong item counts as not cracked, and nothing else changes. If m random
  items of n are right, a vulnerable k-itemset stays vulnerable with probability C(n − k, m − k) / C(n, m), so the
  expected share has a closed form and needs no random subsets. It rises with m.
- **Mixed up**: each wrong item has the interval of another wrong item (``mixed_up_itemsets``). If a mapping is
  consistent with the given beliefs, one is consistent with the mixed-up beliefs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unveil.arrays import Floats
from unveil.items.beliefs import Beliefs
from unveil.items.item_recipe import largest_safe_share
from unveil.items.itemsets import ItemsetRequirement, VulnerableShare, measure_vulnerable_share
from unveil.matching.solver import Budget, Solution
from unveil.run import Run

__all__ = ["ItemsetRecipe", "assess_risk_itemsets"]


@dataclass(frozen=True, eq=False)
class ItemsetRecipe:
    """What each step found. ``last_step`` is the step at which the recipe ended; after step 3 the owner must judge
    whether ``alpha_max`` is high enough. ``by_size`` has the result of step 2 for the itemsets of each size.

    ``excluded_shares[m]`` is the expected vulnerable share if m items are right and the others are excluded. If the
    share of step 2 is not exact, ``alpha_max`` lies in ``interval``.
    """

    items: int
    known_exactly: VulnerableShare
    known_roughly: VulnerableShare
    by_size: tuple[tuple[int, VulnerableShare], ...]
    last_step: int
    excluded_shares: Floats
    alpha_max: float
    interval: tuple[float, float]


def assess_risk_itemsets(
    beliefs: Beliefs,
    theta: ItemsetRequirement | None = None,
    run: Run | None = None,
    *,
    believed: VulnerableShare | None = None,
    solution: Solution | None = None,
    budget: Budget | None = None,
) -> ItemsetRecipe:
    """Go through the recipe, with wrong items excluded.

    ``known_roughly`` is the result of ``measure_vulnerable_share`` for the same beliefs and itemsets, ``solution`` the
    solution for single items; both are computed if not given.

    >>> found = assess_risk_itemsets(Beliefs.from_exact_counts([1, 2, 3, 4]), ItemsetRequirement(tau=0.2))
    >>> found.last_step, found.alpha_max  # 1 of 6 pairs may be cracked: two right items
    (3, 0.5)
    """
    theta, run, n = theta or ItemsetRequirement(), run or Run(), beliefs.n
    point = measure_vulnerable_share(Beliefs.from_exact_counts(beliefs.counts), theta, run, budget=budget)
    if believed is None:
        believed = measure_vulnerable_share(beliefs, theta, run, budget=budget, solution=solution)
    parts = _split_by_size(theta)
    found = (
        [(k, measure_vulnerable_share(beliefs, some, run, budget=budget, solution=solution)) for k, some in parts]
        if len(parts) > 1
        else [(k, believed) for k, _ in parts]
    )
    excluded = _expected_shares(n, found)
    stopped = 3 if not believed.is_tolerable else 1 if point.is_tolerable else 2
    most, alpha_max, least = (largest_safe_share(share, theta.tau) or 0.0 for share in excluded)
    return ItemsetRecipe(n, point, believed, tuple(found), stopped, excluded[1], alpha_max, (least, most))


def _split_by_size(theta: ItemsetRequirement) -> list[tuple[int, ItemsetRequirement]]:
    """The itemsets of each size."""
    if theta.listed is None:
        return [(theta.size, theta)]
    sizes = sorted({len(x) for x in theta.listed})
    return [(k, replace(theta, listed=tuple(x for x in theta.listed if len(x) == k))) for k in sizes]


def _expected_shares(n: int, found: list[tuple[int, VulnerableShare]]) -> Floats:
    """The expected share if 0 … n items are right: lower end, value and upper end."""
    total = np.zeros((3, n + 1))
    all_sizes = max(sum(part.itemsets for _, part in found), 1)
    for k, part in found:
        ends = np.array([[part.interval[0]], [part.share], [part.interval[1]]])
        total += part.itemsets / all_sizes * ends * _survival_probability(n, k)
    return total


def _survival_probability(n: int, k: int) -> Floats:
    """C(n − k, m − k) / C(n, m) for m = 0 … n: the probability that k items are all among m of n."""
    right, others = np.arange(n + 1)[:, None], np.arange(min(k, n))
    chance: Floats = ((right - others) / (n - others)).prod(axis=1) if k <= n else np.zeros(n + 1)
    return chance
