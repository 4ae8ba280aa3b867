"""Itemsets of interest: what share of them would be cracked with a probability that is too high?

The owner names a set Θ of itemsets, a danger σ and a tolerance τ. An itemset is *vulnerable* if it is cracked with
probability σ or more; the release is tolerable if at most a share τ of Θ is (Lakshmanan, Ng and Ramesh 2008,
Definition 2.1). An itemset is cracked when it has just its own pseudonyms, in whatever order.

All pairs are decided by type (``pairtypes``), other itemsets one by one (``joint``), and a random sample of them where
there are too many. σ is compared with a slack of 10⁻⁹, because 1/2 is a common probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from unveil.errors import UnveilError
from unveil.items.beliefs import Beliefs
from unveil.items.estimates import checked, os_estimates
from unveil.items.joint import Joint
from unveil.items.pairtypes import estimated_pairs, vulnerable_pairs
from unveil.matching.candidates import Candidates, Floats, Ints
from unveil.matching.ladder import Budget, Solution
from unveil.run import Run

__all__ = ["Theta", "Vulnerable", "estimated", "itemset_chances", "vulnerable"]

_SLACK = 1e-9
_SAMPLE = 10_000


@dataclass(frozen=True)
class Theta:
    """Itemsets of interest, the danger σ from which one is vulnerable and the share τ of them that may be.

    All itemsets of ``size`` items, without those that hold one of the most frequent items, a share ``without_top`` of
    all; or the ``listed`` ones. Classes of itemsets with thresholds of their own are several Thetas.

    >>> Theta(without_top=0.1)  # Θ₁ of the paper: pairs without the tenth of the items that everybody knows
    Theta(size=2, without_top=0.1, listed=None, sigma=0.5, tau=0.1)
    """

    size: int = 2
    without_top: float = 0.0
    listed: tuple[tuple[int, ...], ...] | None = None
    sigma: float = 0.5
    tau: float = 0.1

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 <= self.without_top < 1:
            raise UnveilError("itemsets have 1 item or more, and less than all items can be left out")
        if not (0 < self.sigma <= 1 and 0 <= self.tau <= 1):
            raise UnveilError("the danger of an itemset must lie above 0 and up to 1, the tolerated share in 0 … 1")
        if self.listed is not None and () in self.listed:
            raise UnveilError("a listed itemset has no items")

    @classmethod
    def of(cls, itemsets: Iterable[Iterable[int]], sigma: float = 0.5, tau: float = 0.1) -> Theta:
        """Listed itemsets; items are numbered from 0."""
        return cls(listed=tuple(tuple(sorted(x)) for x in itemsets), sigma=sigma, tau=tau)

    def items(self, known: Beliefs | Candidates) -> Ints:
        """The items that itemsets are made of; of equally frequent items the first are left out first."""
        n = known.n
        if not self.without_top:
            return np.arange(n)
        if isinstance(known, Candidates):
            raise UnveilError("to leave out the most frequent items their frequencies are needed")
        rarest = np.argsort(-known.counts, kind="stable")[round(self.without_top * n) :]
        return np.sort(rarest)

    def count(self, known: Beliefs | Candidates) -> int:
        """How many itemsets there are."""
        return math.comb(len(self.items(known)), self.size) if self.listed is None else len(self.listed)


@dataclass(frozen=True)
class Vulnerable:
    """What share of Θ is vulnerable.

    ``share`` counts what could not be decided (``undecided`` itemsets) as vulnerable; ``interval`` runs from the
    certain part to the possible one, and is a confidence interval where only a sample was looked at. ``estimate`` is
    the share by OS of the same itemsets.
    """

    theta: Theta
    itemsets: int
    looked_at: int
    undecided: int
    share: float
    interval: tuple[float, float]
    method: Literal["exact", "bound", "simulation"]
    estimate: float

    @property
    def tolerable(self) -> bool | None:
        """Whether the requirement R(Θ, σ, τ) holds; None where the interval does not say."""
        low, high = self.interval
        return True if high <= self.theta.tau else False if low > self.theta.tau else None


def vulnerable(
    known: Beliefs | Candidates,
    theta: Theta | None = None,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
    solves: int = 1000,
    sample: int = _SAMPLE,
    solution: Solution | None = None,
) -> Vulnerable:
    """The share of Θ that is cracked with probability σ or more, by default of all pairs.

    Parameters
    ----------
    known
        What the attacker believes; item i has pseudonym i. Intervals may be wrong, but some mapping must be consistent.
    budget
        How much work one permanent may take.
    solves
        How many permanents may be computed beyond the marginals of single items.
    sample
        Larger itemsets are sampled if there are more of them than this.
    solution
        What is already known of single items, if anything.

    >>> vulnerable(Beliefs.exact([5, 4, 5, 5, 3, 5])).share * 15  # only {2, 5}
    1.0
    """
    theta, run = theta or Theta(), run or Run()
    candidates, total = _candidates(known), theta.count(known)
    exact = Joint(candidates, run, budget or Budget(), solves, solution)
    if theta.listed is None and theta.size == 2:
        certain, undecided = vulnerable_pairs(exact, theta.items(known), theta.sigma - _SLACK)
        return _told(theta, total, total, certain, undecided, estimated(known, theta, run), None)
    sets, sampled = _chosen(known, theta, run, sample)
    share = _estimated(candidates, sets, theta.sigma)
    certain, undecided = _among(exact, sets, theta.sigma - _SLACK)
    looked_at = sum(len(x) for x in sets)
    return _told(theta, total, looked_at, certain, undecided, share, run.confidence if sampled else None)


def _told(
    theta: Theta, total: int, looked_at: int, certain: int, undecided: int, estimate: float, confidence: float | None
) -> Vulnerable:
    """The result; an interval of the given confidence if the itemsets looked at are a sample (Clopper and Pearson)."""
    most, count = certain + undecided, max(looked_at, 1)
    interval = certain / count, most / count
    if confidence is not None:
        tail = (1 - confidence) / 2
        low = float(betaincinv(certain, count - certain + 1, tail)) if certain else 0.0
        high = float(betaincinv(most + 1, count - most, 1 - tail)) if most < count else 1.0
        interval = low, high
    method: Literal["exact", "bound", "simulation"] = "bound" if undecided else "exact"
    if confidence is not None:
        method = "simulation"
    return Vulnerable(theta, total, looked_at, undecided, most / count, interval, method, estimate)


def estimated(
    known: Beliefs | Candidates, theta: Theta | None = None, run: Run | None = None, sample: int = _SAMPLE
) -> float:
    """The share of Θ that is vulnerable by OS, without any permanent; also where no mapping is consistent."""
    theta, run = theta or Theta(), run or Run()
    candidates = _candidates(known)
    if theta.listed is not None or theta.size != 2:
        return _estimated(candidates, _chosen(known, theta, run, sample)[0], theta.sigma)
    return estimated_pairs(candidates, theta.items(known), theta.sigma - _SLACK) / max(theta.count(known), 1)


def _estimated(candidates: Candidates, sets: list[Ints], sigma: float) -> float:
    found = sum(int((os_estimates(candidates, some) >= sigma - _SLACK).sum()) for some in sets)
    return found / max(sum(len(some) for some in sets), 1)


def itemset_chances(
    known: Beliefs | Candidates,
    itemsets: npt.ArrayLike,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
    solves: int = 1_000_000,
) -> tuple[Floats, Floats]:
    """The probability of every itemset, all of one size, to be cracked: between which bounds it lies. They are equal
    where it is exact, as it is unless a block is out of reach or the permanents are used up.

    >>> low, high = itemset_chances(Candidates.from_matrix([[1, 1, 0], [1, 1, 0], [0, 1, 1]]), [[0, 1], [0, 2]])
    >>> low.tolist() == high.tolist(), low.tolist()
    (True, [1.0, 0.5])
    """
    candidates, sets = checked(known, itemsets)
    exact = Joint(candidates, run or Run(), budget or Budget(), solves)
    found = np.array([exact.chance(members) for members in sets]).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _candidates(known: Beliefs | Candidates) -> Candidates:
    return known.candidates if isinstance(known, Beliefs) else known


def _chosen(known: Beliefs | Candidates, theta: Theta, run: Run, sample: int) -> tuple[list[Ints], bool]:
    """The itemsets to look at, by size, and whether they are only a random sample of Θ."""
    if theta.listed is not None:
        sizes = sorted({len(x) for x in theta.listed})
        return [np.array([x for x in theta.listed if len(x) == k], np.int64) for k in sizes], False
    items = theta.items(known)
    if math.comb(len(items), theta.size) <= sample:
        return [np.array(list(combinations(items.tolist(), theta.size)), np.int64).reshape(-1, theta.size)], False
    rng = run.rng(f"items.itemsets {theta.size} {theta.without_top}")
    return [np.array([rng.choice(items, theta.size, replace=False) for _ in range(sample)])], True


def _among(exact: Joint, sets: list[Ints], danger: float) -> tuple[int, int]:
    """How many itemsets are certainly vulnerable, and how many may be."""
    certain = undecided = 0
    for some in sets:
        for k, members in enumerate(some[exact.at_most(some) >= danger]):
            low, high = exact.chance(members, danger)
            certain += low >= danger
            undecided += low < danger <= high
            exact.run.progress("inspecting itemsets", k / len(some))
            exact.run.check()
    return certain, undecided
