"""What would an attacker with a sample know? (Similarity by sampling, Figure 15 of Lakshmanan, Ng and Ramesh 2008.)

A competitor's data are not the owner's, but a random sample of the owner's data may stand in for them. An attacker with
a sample of a share p of the baskets believes every frequency to be that of the sample, plus or minus the median gap
between the sample's own frequency groups; wider where too many items would fit nothing, and without the items that
still fit nothing (``attacker_beliefs``). The share α of items about which that is right measures the sample's worth in
the paper. But it cannot be compared with what is tolerated at another precision: the intervals of a small sample are
wide, hence often right, and identify little. The expected cracks of these beliefs say what a sample identifies.

A replicate draws one random order of the baskets and takes its prefixes as samples of all sizes, so that one pass over
the data serves them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from unveil.arrays import Floats, Ints
from unveil.case import Case
from unveil.intervals import student_half_width
from unveil.items.attacker_beliefs import beliefs_from_sample
from unveil.items.beliefs import Beliefs
from unveil.matching.solver import Budget, solve
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["SampleKnowledge", "SampleMean", "sample_knowledge"]

SAMPLE_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_REPLICATES = 5
_FEW_REPLICATES = 3
_MAX_ITEMS = 2000  # items up to which all replicates are drawn
_BUDGET = Budget(states=200_000, transitions=100_000_000, sweeps=2000, half_width=0.01)  # for one sample


@dataclass(frozen=True, eq=False)
class SampleMean:
    """The mean over several samples of each size, and its interval."""

    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class SampleKnowledge:
    """For samples of these shares of the baskets, the share α of right items, and the expected cracks."""

    shares: tuple[float, ...]
    alpha: SampleMean
    cracks: SampleMean
    replicates: int


def sample_knowledge(
    transactions: Transactions,
    rng: np.random.Generator,
    shares: tuple[float, ...] = SAMPLE_SHARES,
    *,
    believe: Callable[[Ints, int], Beliefs] | None = None,
    replicates: int | None = None,
    confidence: float = 0.95,
    run: Run | None = None,
) -> SampleKnowledge:
    """What an attacker with a sample is right about and identifies, averaged over several samples of each size.

    ``believe`` makes beliefs of the counts in a sample and its size; by default, those about the baskets themselves.
    """
    run, believe = run or Run(), believe or partial(beliefs_from_sample, Case(transactions))
    replicates = replicates or (_REPLICATES if len(transactions.labels) <= _MAX_ITEMS else _FEW_REPLICATES)
    sizes = np.maximum(1, np.round(np.array(shares) * transactions.baskets)).astype(np.int64)
    alpha, cracks = np.empty((2, replicates, len(shares)))
    quiet = replace(run, progress=lambda doing, fraction: None)
    for k in range(replicates):
        counts = _count_prefixes(transactions, transactions.shuffle_baskets(rng), sizes)
        for m, size in enumerate(sizes.tolist()):
            run.progress("drawing samples", (k + m / len(sizes)) / replicates)
            run.check()
            beliefs = believe(counts[m], size)
            alpha[k, m] = beliefs.alpha
            solution = solve(beliefs.candidates, None, quiet, budget=_BUDGET, may_exclude_truth=True)
            cracks[k, m] = solution.expected_cracks
    items = float(len(believe(transactions.counts, transactions.baskets).counts))
    return SampleKnowledge(shares, _mean(alpha, confidence, 1.0), _mean(cracks, confidence, items), replicates)


def _mean(found: Floats, confidence: float, most: float) -> SampleMean:
    """The mean over the replicates with its interval by Student's t."""
    mean, width = found.mean(axis=0), student_half_width(found, confidence)
    return SampleMean(mean, np.maximum(mean - width, 0), np.minimum(mean + width, most))


def _count_prefixes(transactions: Transactions, order: Ints, sizes: Ints) -> Ints:
    """How often each item occurs in the first baskets of an order, for several rising numbers of them."""
    place, items = np.empty(len(order), np.int64), len(transactions.labels)
    place[order] = np.arange(len(order))
    first_sample = np.searchsorted(sizes, place, "right")
    cells = np.repeat(first_sample * items, np.diff(transactions.indptr)) + transactions.items
    return np.bincount(cells, minlength=(len(sizes) + 1) * items).reshape(-1, items)[: len(sizes)].cumsum(axis=0)
