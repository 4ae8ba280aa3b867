"""What would an attacker with a sample know? (Similarity by sampling, Figure 15 of Lakshmanan, Ng and Ramesh 2008.)

A competitor's data are not the owner's, but a random sample of the owner's data may stand in for them. An attacker with
a sample of a share p of the baskets believes every frequency to be that of the sample, plus or minus the median gap
between the sample's own frequency groups. The share α of items about which that is right measures the sample's worth.

A replicate draws one random order of the baskets and takes its prefixes as samples of all sizes, so that one pass over
the data serves them all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from unveil.arrays import Floats, Ints
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["SampleKnowledge", "sample_knowledge"]

SAMPLE_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_REPLICATES = 10


@dataclass(frozen=True, eq=False)
class SampleKnowledge:
    """For samples of these shares of the baskets, the mean share α of right items, and its interval."""

    shares: tuple[float, ...]
    alpha: Floats
    low: Floats
    high: Floats


def sample_knowledge(
    transactions: Transactions,
    rng: np.random.Generator,
    shares: tuple[float, ...] = SAMPLE_SHARES,
    *,
    replicates: int = _REPLICATES,
    confidence: float = 0.95,
    run: Run | None = None,
) -> SampleKnowledge:
    """The share of items that an attacker with a sample is right about, averaged over several samples of each size."""
    run = run or Run()
    sizes = np.maximum(1, np.round(np.array(shares) * transactions.baskets)).astype(np.int64)
    found = np.empty((replicates, len(shares)))
    for k in range(replicates):
        run.progress("drawing samples", k / replicates)
        run.check()
        counts = _count_prefixes(transactions, rng.permutation(transactions.baskets), sizes)
        for m, size in enumerate(sizes.tolist()):
            found[k, m] = compliant_share(counts[m], size, transactions.counts, transactions.baskets)
    mean = found.mean(axis=0)
    t = float(stdtrit(replicates - 1, (1 + confidence) / 2))
    width = t * found.std(axis=0, ddof=1) / np.sqrt(replicates)
    return SampleKnowledge(shares, mean, np.maximum(mean - width, 0), np.minimum(mean + width, 1))


def _count_prefixes(transactions: Transactions, order: Ints, sizes: Ints) -> Ints:
    """How often each item occurs in the first baskets of an order, for several rising numbers of them."""
    place, items = np.empty(len(order), np.int64), len(transactions.labels)
    place[order] = np.arange(len(order))
    first_sample = np.searchsorted(sizes, place, "right")
    cells = np.repeat(first_sample * items, np.diff(transactions.indptr)) + transactions.items
    return np.bincount(cells, minlength=(len(sizes) + 1) * items).reshape(-1, items)[: len(sizes)].cumsum(axis=0)


def compliant_share(found: Ints, size: int, counts: Ints, baskets: int) -> float:
    """The share of items whose true frequency is that of the sample, plus or minus the sample's median gap; compared in
    whole numbers."""
    off = np.abs(counts * size - found * baskets)
    return float((2 * off <= _twice_median_gap(found) * baskets).mean())


def _twice_median_gap(found: Ints) -> int:
    """Twice the median gap between successive counts, which is a whole number."""
    values = np.flatnonzero(np.bincount(found))
    gaps = np.sort(np.diff(values))
    return int(gaps[(len(gaps) - 1) // 2] + gaps[len(gaps) // 2]) if len(gaps) else 0
