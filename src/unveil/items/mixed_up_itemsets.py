"""How many itemsets are vulnerable if the attacker is right about some items and mixes up the others?

Each wrong item has the interval of another wrong item, and so each pseudonym with the probability that the other has.
An itemset S is then cracked if the items whose intervals its members have, a set T of as many items, have exactly the
pseudonyms of S. Over all choices of m right items of n and all ways to mix up the others, only the number t of members
of S that are not in T has to be known: all T with the same t are equally likely. So the expected vulnerable share is

    Σ_t P(t | m) · (share of all S and T, t apart, for which T has the pseudonyms of S with probability σ or more),

where P(t | m) is a matter of counting and does not depend on the data. The shares are computed from all S and T if
there are not too many, and from a random sample of them otherwise. A single wrong item cannot be mixed up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.intervals import binomial_interval
from unveil.items.beliefs import Beliefs
from unveil.items.item_recipe import largest_safe_share
from unveil.items.itemset_recipe import ItemsetRecipe
from unveil.items.itemsets import SIGMA_SLACK, choose_itemsets
from unveil.items.joint_probability import JointProbability
from unveil.matching.solver import Budget, Solution
from unveil.run import Run

__all__ = ["MixedUpItemsets", "assess_mixed_up_itemsets", "exchange_probabilities"]

_MOST_LISTED = 20_000  # pairs of S and T up to which all are inspected
_SAMPLE_SIZE = 2_000
_MOST_PERMANENTS = 5_000
_MOST_TERMS = 40


@dataclass(frozen=True, eq=False)
class MixedUpItemsets:
    """The expected vulnerable share if 0, 1, … n items are right and the others are mixed up, between ``low`` and
    ``high``, which are equal if it is exact."""

    share: Floats
    low: Floats
    high: Floats
    tau: float

    @property
    def is_exact(self) -> bool:
        """Whether nothing was sampled or left open."""
        return bool((self.low == self.high).all())

    @property
    def alpha_max(self) -> tuple[float | None, float | None]:
        """The largest share of right items up to which the share of itemsets is tolerated for certain, and for all that
        is known; None if it is not tolerated even if no item is right."""
        return largest_safe_share(self.high, self.tau), largest_safe_share(self.low, self.tau)


def assess_mixed_up_itemsets(
    beliefs: Beliefs,
    recipe: ItemsetRecipe,
    run: Run | None = None,
    *,
    solution: Solution | None = None,
    budget: Budget | None = None,
    most: int = _MOST_LISTED,
    sample: int = _SAMPLE_SIZE,
) -> MixedUpItemsets:
    """The expected vulnerable share by the number of right items, when the others are mixed up with each other."""
    run, n, theta = run or Run(), beliefs.n, recipe.known_roughly.requirement
    exact = JointProbability(beliefs.candidates, run, budget or Budget(), _MOST_PERMANENTS, solution)
    sets, is_sample = choose_itemsets(beliefs, theta, run, sample)
    tests = sum(some.shape[1] for some in sets)
    found, total = np.zeros((3, n + 1)), max(sum(part.itemsets for _, part in recipe.by_size), 1)
    for some, (k, part) in zip(sets, recipe.by_size, strict=True):
        by_distance = [(part.share, *part.interval)]
        for t in range(1, min(k, n - k) + 1):
            run.progress("mixing up wrong items", t / k)
            count = len(some) * math.comb(k, t) * math.comb(n - k, t)
            rng = run.rng(f"items.mixed_up_itemsets {k} {t}")
            if listed := not is_sample and count <= most:
                pairs = _all_pairs(some, t, n)
            else:
                chosen = some if is_sample else some[rng.integers(len(some), size=sample)]
                pairs = chosen, _draw_exchanges(chosen, t, n, rng)
            low, high = _count_vulnerable(exact, *pairs, theta.sigma - SIGMA_SLACK, run)
            ends = low / max(len(pairs[0]), 1), high / max(len(pairs[0]), 1)
            if not listed:
                ends = binomial_interval(low, high, len(pairs[0]), 1 - (1 - run.confidence) / tests)
            by_distance.append((high / max(len(pairs[0]), 1), *ends))
        weights = exchange_probabilities(n, k)[: len(by_distance)]
        found += part.itemsets / total * (np.array(by_distance).T @ weights)
    return MixedUpItemsets(found[0], found[1], found[2], theta.tau)


def exchange_probabilities(n: int, k: int) -> Floats:
    """P(t | m) for t = 0 … k (rows) and m = 0 … n right items (columns).

    Of the k members of S, u are wrong with hypergeometric probability, among w = n − m wrong items. In
    C(w − u, t) · C(u, t) · t! · F · G of all ways to mix these up, t of the u have the interval of an item outside S:
    F counts the ways in which the other u − t have each other's, and G those of the items outside S.

    >>> exchange_probabilities(4, 2)[:, 0].round(4)  # nine ways to mix up all four; in one, the pair is exchanged
    array([0.1111, 0.4444, 0.4444])
    """
    found = np.zeros((k + 1, n + 1))
    for m in range(n + 1):
        w = n - m
        for u in range(max(0, k - m), min(k, w) + 1):
            chance = math.comb(k, u) * math.comb(n - k, w - u) / math.comb(n, w)
            ways = np.array([_count_mixtures(u, w - u, t) for t in range(u + 1)])
            if ways.any():
                found[: u + 1, m] += chance * ways / ways.sum()
            else:
                found[0, m] += chance  # a single wrong item
    return found


def _count_mixtures(u: int, others: int, t: int) -> float:
    """The ways to mix up u members and some others so that t of the members have the interval of another, divided by
    the ways to order the others."""
    inside = sum((-1.0) ** i * math.comb(u - t, i) * math.perm(u - i, u - t - i) for i in range(u - t + 1))
    outside, term = 0.0, 1.0
    for j in range(min(max(others - t, 0), _MOST_TERMS) + 1):  # inclusion and exclusion; the terms fall like 1/j!
        outside += term
        term *= -(others - t - j) / ((j + 1) * max(others - j, 1))
    return math.comb(others, t) * math.comb(u, t) * math.factorial(t) * inside * outside


def _all_pairs(sets: Ints, t: int, n: int) -> tuple[Ints, Ints]:
    """Every itemset S with every T that has t other items instead of t members."""
    first, second = list[list[int]](), list[list[int]]()
    for members in sets.tolist():
        others = [i for i in range(n) if i not in members]
        for gone in combinations(members, t):
            kept = [i for i in members if i not in gone]
            for instead in combinations(others, t):
                first.append(members)
                second.append([*kept, *instead])
    shape = (-1, sets.shape[1])
    return np.array(first, np.int64).reshape(shape), np.array(second, np.int64).reshape(shape)


def _draw_exchanges(sets: Ints, t: int, n: int, rng: np.random.Generator) -> Ints:
    """For each itemset a random T that has t other items instead of t members."""
    drawn = np.empty_like(sets)
    for row, members in enumerate(sets):
        others = np.setdiff1d(np.arange(n), members)
        kept = rng.permutation(members)[t:]
        drawn[row] = np.append(kept, rng.choice(others, t, replace=False))
    return drawn


def _count_vulnerable(
    exact: JointProbability, sets: Ints, instead: Ints, threshold: float, run: Run
) -> tuple[int, int]:
    """How many itemsets S are vulnerable for certain, and how many may be, if their members have the intervals of the
    items of T."""
    certain = possible = 0
    for k in np.flatnonzero(exact.upper_bounds(instead, sets) >= threshold).tolist():
        run.check()
        found = exact.chance_bounds(instead[k], threshold, sets[k])
        certain += found.low >= threshold
        possible += found.high >= threshold
    return certain, possible
