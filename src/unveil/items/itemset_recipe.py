"""The recipe for itemsets: should the baskets be released? (Assess-Risk-Itemsets, Figure 9 of Lakshmanan, Ng and Ramesh
2008.)

The owner names itemsets Θ, a danger σ and a tolerance τ (``itemsets``). Probabilities are exact where the paper takes
OS, and bounded where they are out of reach; what is undecided counts as vulnerable.

1. Someone who knows every frequency exactly: if at most a share τ of Θ is vulnerable, stop.
2. Someone who knows them as believed: if at most a share τ is vulnerable, stop. Neither the exact share nor OS is
   monotone in what is known, so that step 1 ends the recipe only where step 2 agrees.
3. Otherwise: the largest share α_max of items that the attacker may be right about, with all smaller ones tolerated
   too.

To be *right* about an item is to believe of it what the given beliefs say. An itemset that holds an item with a wrong
interval can still be cracked, as a set: the wrong item takes the pseudonym of another member.

- The **exact** value is what it always is, the share of the consistent mappings that give the itemset just its own
  pseudonyms. **OS** is ∏ |N(x) ∩ X′| / |N(x)| over its items, where N(x) is what is believed: a wrong item has the
  pseudonyms of the others in its N(x) ∩ X′, and not its own. Both are 0 for a wrong item alone.
- Where **no mapping is consistent** there is no exact value: ``InfeasibleError`` names items with too few pseudonyms
  between them. OS is still defined (``itemsets.estimated``); it informs, and decides nothing.

As in ``recipe``, being wrong is read in two ways. The paper says that OS applies to wrong beliefs "under the same
assumptions" as for items, namely that wrong items are known and never cracked; what their intervals are it does not
say.

- **Excluded** (as printed): an itemset with a wrong item counts as not cracked, and the others are as before. If m of n
  items are right, at random, a vulnerable k-itemset stays so with probability C(n − k, m − k) / C(n, m), so that the
  expected share has a closed form and no subsets need be drawn. It rises with m.
- **Elsewhere**: each wrong item has the interval of the next wrong one (``recipe.mixed_up``), and every share is
  computed anew, cracks by permutation included. The intervals are the same, only dealt differently: if a mapping is
  consistent with the given beliefs, one is with the mixed-up ones. Random nested subsets, averaged over several orders.
  The share need not be monotone, so that α_max comes from a scan and not from a binary search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unveil.items.beliefs import Beliefs
from unveil.items.itemsets import Theta, Vulnerable, vulnerable
from unveil.items.recipe import mixed_up
from unveil.matching.candidates import Floats, Ints
from unveil.matching.ladder import Budget, Solution, solve
from unveil.run import Run

__all__ = ["ItemsetRecipe", "ItemsetsElsewhere", "assess_risk_itemsets", "itemsets_elsewhere"]

_RUNS = 5
_STEPS = 10
_SAMPLE = 1000
_SLACK = 1e-12  # a share that is τ but for rounding is tolerated


@dataclass(frozen=True, eq=False)
class ItemsetRecipe:
    """What each step found. ``stopped`` is the step at which the recipe ended; 3 leaves it to the owner whether
    ``alpha_max`` is high enough.

    ``excluded[m]`` is the expected share that is vulnerable when m items are right and the others excluded. Where the
    share of step 2 is not exact, ``alpha_max`` lies in ``interval``.
    """

    items: int
    point: Vulnerable
    believed: Vulnerable
    stopped: int
    excluded: Floats
    alpha_max: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False)
class ItemsetsElsewhere:
    """The share that is vulnerable when so many items are ``right`` and the others mixed up: mean over several orders,
    the least and the most, and the mean by OS; ``looked_at`` itemsets were, a sample or all of them.

    ``alpha_max`` is the largest share of right items looked at up to which the mean is tolerated, None if it is not
    even where none is right.
    """

    items: int
    looked_at: int
    sampled: bool
    right: Ints
    share: Floats
    least: Floats
    most: Floats
    estimate: Floats
    alpha_max: float | None


def assess_risk_itemsets(
    beliefs: Beliefs,
    theta: Theta | None = None,
    run: Run | None = None,
    *,
    believed: Vulnerable | None = None,
    solution: Solution | None = None,
    budget: Budget | None = None,
) -> ItemsetRecipe:
    """Go through the recipe, with wrong items excluded.

    ``believed`` is what ``vulnerable`` said of the same beliefs and itemsets, and ``solution`` what is known of single
    items, if there is either.

    >>> found = assess_risk_itemsets(Beliefs.exact([1, 2, 3, 4]), Theta(tau=0.2))
    >>> found.stopped, found.alpha_max  # of 6 pairs one may be cracked: two items
    (3, 0.5)
    """
    theta, run, n = theta or Theta(), run or Run(), beliefs.n
    point = vulnerable(Beliefs.exact(beliefs.counts), theta, run, budget=budget)
    if believed is None:
        believed = vulnerable(beliefs, theta, run, budget=budget, solution=solution)
    parts = _by_size(theta)
    found = (
        [(k, vulnerable(beliefs, some, run, budget=budget, solution=solution)) for k, some in parts]
        if len(parts) > 1
        else [(k, believed) for k, _ in parts]
    )
    excluded = _excluded(n, found)
    stopped = 3 if not believed.tolerable else 1 if point.tolerable else 2
    most, alpha_max, least = (_largest(np.arange(n + 1), share, theta.tau, n) or 0.0 for share in excluded)
    return ItemsetRecipe(n, point, believed, stopped, excluded[1], alpha_max, (least, most))


def itemsets_elsewhere(
    beliefs: Beliefs,
    theta: Theta,
    rng: np.random.Generator,
    run: Run | None = None,
    *,
    runs: int = _RUNS,
    steps: int = _STEPS,
    sample: int = _SAMPLE,
    solution: Solution | None = None,
    budget: Budget | None = None,
) -> ItemsetsElsewhere:
    """The share that is vulnerable against how many items are right, when wrong ones are mixed up with each other.

    So many steps from none to all are looked at; then, between the last before the first that is not tolerated and that
    one, so many smaller ones: every number of items if there are few. The same orders serve all, so that whoever is
    right about more items is right about those of before. ``sample`` is as in ``vulnerable``; the same itemsets serve
    all.
    """
    run, n = run or Run(), beliefs.n
    if solution is None:
        solution = solve(beliefs.candidates, None, run, budget=budget, may_be_wrong=True, simulate=False)
    orders = [rng.permutation(n) for _ in range(runs)]
    looked: dict[int, list[Vulnerable]] = {}

    def look(some: list[int]) -> int | None:
        """Look at some numbers of right items, and say which is the first that is not tolerated."""
        for right in some:
            if right not in looked:
                run.progress("mixing up wrong items", len(looked) / (2 * steps + 1))
                different = orders if right < n - 1 else orders[:1]  # one wrong item has nobody to be mixed up with
                looked[right] = [
                    _mixed_up_share(mixed_up(beliefs, order, right), theta, run, sample, solution, budget)
                    for order in different
                ]
        return next((k for k in some if np.mean([x.share for x in looked[k]]) > theta.tau + _SLACK), None)

    stops = _spread(0, n, steps)
    over = look(stops)
    if over:
        look(_spread(stops[stops.index(over) - 1], over, steps))
    right = np.array(sorted(looked))
    shares = [np.array([x.share for x in looked[m]]) for m in right]
    mean, least, most = (np.array([end(x) for x in shares]) for end in (np.mean, np.min, np.max))
    estimate = np.array([np.mean([x.estimate for x in looked[m]]) for m in right])
    alpha_max = _largest(right, mean, theta.tau, n)
    all_right = looked[n][0]
    sampled = all_right.looked_at < all_right.itemsets
    return ItemsetsElsewhere(n, all_right.looked_at, sampled, right, mean, least, most, estimate, alpha_max)


def _by_size(theta: Theta) -> list[tuple[int, Theta]]:
    """The itemsets of each size."""
    if theta.listed is None:
        return [(theta.size, theta)]
    sizes = sorted({len(x) for x in theta.listed})
    return [(k, replace(theta, listed=tuple(x for x in theta.listed if len(x) == k))) for k in sizes]


def _excluded(n: int, found: list[tuple[int, Vulnerable]]) -> Floats:
    """The expected share when 0 … n items are right: its lower end, as counted, and its upper end."""
    total = np.zeros((3, n + 1))
    all_sizes = max(sum(part.itemsets for _, part in found), 1)
    for k, part in found:
        ends = np.array([[part.interval[0]], [part.share], [part.interval[1]]])
        total += part.itemsets / all_sizes * ends * _survival(n, k)
    return total


def _survival(n: int, k: int) -> Floats:
    """C(n − k, m − k) / C(n, m) for m = 0 … n: the probability that k items are all among m of n."""
    right, others = np.arange(n + 1)[:, None], np.arange(min(k, n))
    chance: Floats = ((right - others) / (n - others)).prod(axis=1) if k <= n else np.zeros(n + 1)
    return chance


def _largest(right: Ints, share: Floats, tau: float, n: int) -> float | None:
    """The largest share of right items up to which the share of itemsets is tolerated throughout; None if nowhere."""
    over = np.flatnonzero(share > tau + _SLACK)
    if not len(over):
        return 1.0
    return float(right[over[0] - 1] / n) if over[0] else None


def _spread(first: int, last: int, steps: int) -> list[int]:
    """Whole numbers from the first to the last, in about so many steps."""
    return sorted({first + round(k * (last - first) / steps) for k in range(steps + 1)})


def _mixed_up_share(
    believed: Beliefs, theta: Theta, run: Run, sample: int, solution: Solution, budget: Budget | None
) -> Vulnerable:
    """The share that is vulnerable. Intervals dealt differently make the same classes and groups, and the marginals
    between them are known already."""
    run.check()
    here, there = believed.candidates, solution.candidates
    names = ("class_sizes", "group_sizes", "indptr", "groups")
    same = all(np.array_equal(getattr(here, name), getattr(there, name)) for name in names)
    return vulnerable(believed, theta, run, budget=budget, sample=sample, solution=solution if same else None)
