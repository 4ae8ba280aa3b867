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
- **Mixed up**: each wrong item has the interval of the next wrong item, and every share is computed anew, including
  cracks by permutation. If a mapping is consistent with the given beliefs, one is consistent with the mixed-up beliefs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.items.beliefs import Beliefs
from unveil.items.item_recipe import mix_up_wrong_items
from unveil.items.itemsets import ItemsetRequirement, VulnerableShare, measure_vulnerable_share
from unveil.matching.solver import Budget, Solution, solve
from unveil.run import Run

__all__ = ["ItemsetRecipe", "MixedUpItemsets", "assess_mixed_up_itemsets", "assess_risk_itemsets"]

_ORDERS = 5
_ALPHA_STEPS = 10
_SAMPLE_SIZE = 1000
_TAU_SLACK = 1e-12  # a share that exceeds τ only by rounding is tolerated


@dataclass(frozen=True, eq=False)
class ItemsetRecipe:
    """What each step found. ``last_step`` is the step at which the recipe ended; after step 3 the owner must judge
    whether ``alpha_max`` is high enough.

    ``excluded_shares[m]`` is the expected vulnerable share if m items are right and the others are excluded. If the
    share of step 2 is not exact, ``alpha_max`` lies in ``interval``.
    """

    items: int
    known_exactly: VulnerableShare
    known_roughly: VulnerableShare
    last_step: int
    excluded_shares: Floats
    alpha_max: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False)
class MixedUpItemsets:
    """The vulnerable share if the given numbers of items are ``right_counts`` and the others are mixed up: the mean,
    lowest and highest over several orders, and the mean by OS. ``inspected_count`` is the number of inspected itemsets.

    ``alpha_max`` is the largest inspected share of right items up to which the mean is tolerated; None if the mean is
    not tolerated even if no item is right.
    """

    items: int
    inspected_count: int
    sampled: bool
    right_counts: Ints
    share: Floats
    lowest: Floats
    highest: Floats
    estimate: Floats
    alpha_max: float | None


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
    most, alpha_max, least = (_largest_safe_alpha(np.arange(n + 1), share, theta.tau, n) or 0.0 for share in excluded)
    return ItemsetRecipe(n, point, believed, stopped, excluded[1], alpha_max, (least, most))


def assess_mixed_up_itemsets(
    beliefs: Beliefs,
    theta: ItemsetRequirement,
    rng: np.random.Generator,
    run: Run | None = None,
    *,
    runs: int = _ORDERS,
    steps: int = _ALPHA_STEPS,
    sample: int = _SAMPLE_SIZE,
    solution: Solution | None = None,
    budget: Budget | None = None,
) -> MixedUpItemsets:
    """The vulnerable share by the number of right items, when wrong items are mixed up with each other.

    The scan takes ``steps`` steps from no right item to all, then as many smaller steps before the first number that is
    not tolerated; with few items it tries every number. All numbers share the same orders, so the right items of a
    smaller number are among those of a larger one, and the same itemsets, sampled as in ``measure_vulnerable_share``.
    """
    run, n = run or Run(), beliefs.n
    if solution is None:
        solution = solve(beliefs.candidates, None, run, budget=budget, may_exclude_truth=True, simulate=False)
    orders = [rng.permutation(n) for _ in range(runs)]
    shares_by_right_count: dict[int, list[VulnerableShare]] = {}

    def first_count_over_tau(some: list[int]) -> int | None:
        """Inspect some numbers of right items; the first that is not tolerated."""
        for right in some:
            if right not in shares_by_right_count:
                run.progress("mixing up wrong items", len(shares_by_right_count) / (2 * steps + 1))
                different = orders if right < n - 1 else orders[:1]  # a single wrong item cannot be mixed up
                shares_by_right_count[right] = [
                    _mixed_up_share(mix_up_wrong_items(beliefs, order, right), theta, run, sample, solution, budget)
                    for order in different
                ]
        return next(
            (k for k in some if np.mean([x.share for x in shares_by_right_count[k]]) > theta.tau + _TAU_SLACK), None
        )

    stops = _integer_steps(0, n, steps)
    over = first_count_over_tau(stops)
    if over:
        first_count_over_tau(_integer_steps(stops[stops.index(over) - 1], over, steps))
    right = np.array(sorted(shares_by_right_count))
    shares = [np.array([x.share for x in shares_by_right_count[m]]) for m in right]
    mean, least, most = (np.array([end(x) for x in shares]) for end in (np.mean, np.min, np.max))
    estimate = np.array([np.mean([x.estimate for x in shares_by_right_count[m]]) for m in right])
    alpha_max = _largest_safe_alpha(right, mean, theta.tau, n)
    all_right = shares_by_right_count[n][0]
    sampled = all_right.inspected_count < all_right.itemsets
    return MixedUpItemsets(n, all_right.inspected_count, sampled, right, mean, least, most, estimate, alpha_max)


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


def _largest_safe_alpha(right: Ints, share: Floats, tau: float, n: int) -> float | None:
    """The largest share of right items up to which every share of itemsets is tolerated; None if there is none."""
    over = np.flatnonzero(share > tau + _TAU_SLACK)
    if not len(over):
        return 1.0
    return float(right[over[0] - 1] / n) if over[0] else None


def _integer_steps(first: int, last: int, steps: int) -> list[int]:
    """Whole numbers from the first to the last, in about the given number of steps."""
    return sorted({first + round(k * (last - first) / steps) for k in range(steps + 1)})


def _mixed_up_share(
    believed: Beliefs, theta: ItemsetRequirement, run: Run, sample: int, solution: Solution, budget: Budget | None
) -> VulnerableShare:
    """The vulnerable share. Intervals that are only dealt differently form the same classes and groups, so the
    marginals between them are already known."""
    run.check()
    here, there = believed.candidates, solution.candidates
    names = ("class_sizes", "group_sizes", "indptr", "groups")
    same = all(np.array_equal(getattr(here, name), getattr(there, name)) for name in names)
    return measure_vulnerable_share(
        believed, theta, run, budget=budget, sample=sample, solution=solution if same else None, simulate=False
    )
