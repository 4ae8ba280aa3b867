"""Itemsets of interest: what share of them is too likely to be cracked?

The owner names a set Θ of itemsets, a threshold σ and a tolerance τ. An itemset is *vulnerable* if it is cracked with
probability σ or more; the release is tolerable if at most a share τ of Θ is vulnerable (Lakshmanan, Ng and Ramesh 2008,
Definition 2.1). An itemset is cracked if it has exactly its own pseudonyms, in any order.

All pairs are decided by type (``pair_types``), other itemsets one by one (``joint_probability``), or a random sample of
them if there are too many. What cannot be decided exactly is simulated, and what is too close to σ stays undecided. σ
is compared with a slack of 10⁻⁹, because 1/2 is a common probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.intervals import binomial_interval
from unveil.items.beliefs import Beliefs
from unveil.items.degree_estimates import as_candidates, check_itemsets, os_estimates
from unveil.items.joint_probability import JointProbability, SetBounds
from unveil.items.pair_types import count_estimated_pairs, count_vulnerable_pairs
from unveil.matching.candidates import Candidates
from unveil.matching.solver import Budget, Solution
from unveil.run import Run

__all__ = [
    "ItemsetRequirement",
    "VulnerableShare",
    "choose_itemsets",
    "estimate_vulnerable_share",
    "itemset_chances",
    "measure_vulnerable_share",
]

SIGMA_SLACK = 1e-9
"""A probability that falls short of σ by less than this counts as σ."""

_SAMPLE_SIZE = 10_000


@dataclass(frozen=True)
class ItemsetRequirement:
    """Itemsets of interest Θ, the probability σ from which one is vulnerable, and the share τ that may be vulnerable.

    Θ is either the ``listed`` itemsets, or all itemsets of ``size`` items without any of the most frequent items, which
    are a share ``without_top`` of all items. Classes of itemsets with their own thresholds need one instance each.

    >>> # Θ₁ of the paper: pairs without the tenth of the items that everybody knows
    >>> ItemsetRequirement(without_top=0.1)
    ItemsetRequirement(size=2, without_top=0.1, listed=None, sigma=0.5, tau=0.1)
    """

    size: int = 2
    without_top: float = 0.0
    listed: tuple[tuple[int, ...], ...] | None = None
    sigma: float = 0.5
    tau: float = 0.1

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 <= self.without_top < 1:
            raise UnveilError("itemsets must have at least 1 item, and the share of items left out must be below 1")
        if not (0 < self.sigma <= 1 and 0 <= self.tau <= 1):
            raise UnveilError(
                "the threshold of an itemset must be above 0 and at most 1, the tolerated share between 0 and 1"
            )
        if self.listed is not None and () in self.listed:
            raise UnveilError("a listed itemset has no items; name at least one")

    @classmethod
    def from_itemsets(
        cls, itemsets: Iterable[Iterable[int]], sigma: float = 0.5, tau: float = 0.1
    ) -> ItemsetRequirement:
        """Listed itemsets; items are numbered from 0."""
        return cls(listed=tuple(tuple(sorted(x)) for x in itemsets), sigma=sigma, tau=tau)

    def items(self, known: Beliefs | Candidates) -> Ints:
        """The items that itemsets consist of; among equally frequent items the first are left out first."""
        n = known.n
        if not self.without_top:
            return np.arange(n)
        if isinstance(known, Candidates):
            raise UnveilError("cannot leave out the most frequent items without their frequencies; give Beliefs")
        rarest = np.argsort(-known.counts, kind="stable")[round(self.without_top * n) :]
        return np.sort(rarest)

    def share_guessed(self, n: int) -> float:
        """The share that is vulnerable to someone who knows nothing about n items: whoever picks s of them at random
        has the right set with probability 1/C(n, s)."""
        sizes = [self.size] if self.listed is None else [len(itemset) for itemset in self.listed]
        return sum(0 < math.comb(n, s) * self.sigma <= 1 + SIGMA_SLACK for s in sizes) / max(1, len(sizes))

    def count(self, known: Beliefs | Candidates) -> int:
        """The number of itemsets."""
        return math.comb(len(self.items(known)), self.size) if self.listed is None else len(self.listed)


@dataclass(frozen=True)
class VulnerableShare:
    """The share of Θ that is vulnerable.

    ``share`` counts the ``undecided_count`` itemsets as vulnerable; ``interval`` runs from the certain share to the
    possible share, and is a confidence interval if only a sample was inspected or some itemsets were simulated.
    ``estimate`` is the share of the same itemsets that is vulnerable by OS; ``is_simulated``: some were simulated.
    """

    requirement: ItemsetRequirement
    itemsets: int
    inspected_count: int
    undecided_count: int
    share: float
    interval: tuple[float, float]
    method: Literal["exact", "bound", "simulation"]
    estimate: float
    is_simulated: bool = False

    @property
    def is_tolerable(self) -> bool | None:
        """Whether the requirement R(Θ, σ, τ) holds; None if the interval leaves it open."""
        low, high = self.interval
        return True if high <= self.requirement.tau else False if low > self.requirement.tau else None


def measure_vulnerable_share(
    known: Beliefs | Candidates,
    theta: ItemsetRequirement | None = None,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
    solves: int = 1000,
    sample: int = _SAMPLE_SIZE,
    solution: Solution | None = None,
    simulate: bool = True,
) -> VulnerableShare:
    """The share of Θ, by default all pairs, that is cracked with probability σ or more.

    Parameters
    ----------
    known
        What the attacker believes; item i has pseudonym i. Intervals may be wrong, but some mapping must be consistent.
    budget
        The work that one permanent may take.
    solves
        The number of permanents that may be computed beyond the marginals of single items.
    sample
        If there are more itemsets than this, and they are not pairs, a sample of this size is inspected.
    solution
        The solution for single items, if known.
    simulate
        Whether to simulate what cannot be decided exactly.

    >>> measure_vulnerable_share(Beliefs.from_exact_counts([5, 4, 5, 5, 3, 5])).share * 15  # only {2, 5}
    1.0
    """
    theta, run = theta or ItemsetRequirement(), run or Run()
    candidates, total = as_candidates(known), theta.count(known)
    pairs = theta.listed is None and theta.size == 2
    sets, sampled = ([], False) if pairs else choose_itemsets(known, theta, run, sample)
    error = (1 - run.confidence) / (2 if sampled else 1)
    exact = JointProbability(candidates, run, budget or Budget(), solves, solution, error if simulate else 0.0)
    if pairs:
        counts = count_vulnerable_pairs(exact, theta.items(known), theta.sigma - SIGMA_SLACK)
        estimate, inspected = estimate_vulnerable_share(known, theta, run), total
    else:
        estimate, inspected = _estimate_share(candidates, sets, theta.sigma), sum(map(len, sets))
        counts = _count_vulnerable(exact, sets, theta.sigma - SIGMA_SLACK)
    certain, undecided = counts
    most, count = certain + undecided, max(inspected, 1)
    interval = certain / count, most / count
    method: Literal["exact", "bound", "simulation"] = "bound" if undecided else "exact"
    if exact.simulated or sampled:
        method = "simulation"
    if sampled:
        interval = binomial_interval(certain, most, count, 1 - error if exact.simulated else run.confidence)
    return VulnerableShare(
        theta, total, inspected, undecided, most / count, interval, method, estimate, exact.simulated
    )


def estimate_vulnerable_share(
    known: Beliefs | Candidates,
    theta: ItemsetRequirement | None = None,
    run: Run | None = None,
    sample: int = _SAMPLE_SIZE,
) -> float:
    """The share of Θ that is vulnerable by OS. It needs no permanents and no consistent mapping."""
    theta, run = theta or ItemsetRequirement(), run or Run()
    candidates = as_candidates(known)
    if theta.listed is not None or theta.size != 2:
        return _estimate_share(candidates, choose_itemsets(known, theta, run, sample)[0], theta.sigma)
    vulnerable = count_estimated_pairs(candidates, theta.items(known), theta.sigma - SIGMA_SLACK)
    return vulnerable / max(theta.count(known), 1)


def _estimate_share(candidates: Candidates, sets: list[Ints], sigma: float) -> float:
    found = sum(int((os_estimates(candidates, some) >= sigma - SIGMA_SLACK).sum()) for some in sets)
    return found / max(sum(len(some) for some in sets), 1)


def itemset_chances(
    known: Beliefs | Candidates,
    itemsets: npt.ArrayLike,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
    solves: int = 1_000_000,
) -> tuple[Floats, Floats]:
    """Lower and upper bounds on the probability that each itemset is cracked, for itemsets of one size. The bounds are
    equal unless a block is too large to solve or the permanents are used up.

    >>> low, high = itemset_chances(Candidates.from_matrix([[1, 1, 0], [1, 1, 0], [0, 1, 1]]), [[0, 1], [0, 2]])
    >>> low.tolist() == high.tolist(), low.tolist()
    (True, [1.0, 0.5])
    """
    candidates, sets = check_itemsets(known, itemsets)
    exact = JointProbability(candidates, run or Run(), budget or Budget(), solves)
    found = [exact.chance_bounds(members) for members in sets]
    return np.array([each.low for each in found]), np.array([each.high for each in found])


def choose_itemsets(
    known: Beliefs | Candidates, theta: ItemsetRequirement, run: Run, sample: int
) -> tuple[list[Ints], bool]:
    """The itemsets to inspect, by size, and whether they are only a random sample of Θ."""
    if theta.listed is not None:
        sizes = sorted({len(x) for x in theta.listed})
        return [np.array([x for x in theta.listed if len(x) == k], np.int64) for k in sizes], False
    items = theta.items(known)
    if math.comb(len(items), theta.size) <= sample:
        return [np.array(list(combinations(items.tolist(), theta.size)), np.int64).reshape(-1, theta.size)], False
    rng = run.rng(f"items.itemsets {theta.size} {theta.without_top}")
    return [np.array([rng.choice(items, theta.size, replace=False) for _ in range(sample)])], True


def _count_vulnerable(exact: JointProbability, sets: list[Ints], threshold: float) -> tuple[int, int]:
    """The number of itemsets that are certainly vulnerable, and of those that may be."""
    certain, undecided = 0, list[SetBounds]()
    for some in sets:
        for k, members in enumerate(some[exact.upper_bounds(some) >= threshold]):
            found = exact.chance_bounds(members, threshold)
            certain += found.low >= threshold
            if found.is_open(threshold):
                undecided.append(found)
            exact.run.progress("inspecting itemsets", k / len(some))
            exact.run.check()
    if exact.error and undecided:
        exact.simulate_bounds(undecided)
        certain += sum(found.low >= threshold for found in undecided)
    return certain, sum(found.is_open(threshold) for found in undecided)
