"""How much would someone with a sample know? (Similarity by sampling, Figure 15 of Lakshmanan, Ng and Ramesh 2008.)

A competitor's data are not the owner's, but a random sample of the owner's may stand in for them. Whoever holds a
sample of a share p of the baskets believes every frequency to be the sample's, give or take the median gap between the
sample's own frequency groups. The share of items about which that is right, α, says what the sample is worth.

A replicate draws one random order of the baskets and takes its beginnings as samples of all sizes, so that one pass
over the data serves them all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from unveil.items import _sampling
from unveil.matching.candidates import Floats, Ints
from unveil.release.transactions import Transactions
from unveil.run import Run

__all__ = ["Knowledge", "sample_knowledge"]

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_REPLICATES = 10


@dataclass(frozen=True, eq=False)
class Knowledge:
    """For samples of these shares of the baskets, the mean share α of items believed rightly, and its interval."""

    shares: tuple[float, ...]
    alpha: Floats
    low: Floats
    high: Floats

    def at(self, share: float) -> tuple[float, float, float]:
        """α for the sample of one size, and its interval."""
        k = self.shares.index(share)
        return float(self.alpha[k]), float(self.low[k]), float(self.high[k])


def sample_knowledge(
    transactions: Transactions,
    rng: np.random.Generator,
    shares: tuple[float, ...] = SHARES,
    *,
    replicates: int = _REPLICATES,
    confidence: float = 0.95,
    run: Run | None = None,
) -> Knowledge:
    """How many items someone with a sample is right about, on average over several samples of each size."""
    sizes = np.maximum(1, np.round(np.array(shares) * transactions.baskets)).astype(np.int64)
    found = np.empty((replicates, len(shares)))
    for k in range(replicates):
        if run is not None:
            run.progress("drawing samples", k / replicates)
            run.check()
        order = rng.permutation(transactions.baskets)
        counts = _sampling.beginnings(transactions.indptr, transactions.items, order, sizes, len(transactions.labels))
        for m, size in enumerate(sizes.tolist()):
            found[k, m] = compliancy(counts[m], size, transactions.counts, transactions.baskets)
    mean = found.mean(axis=0)
    t = float(stdtrit(replicates - 1, (1 + confidence) / 2))
    width = t * found.std(axis=0, ddof=1) / np.sqrt(replicates)
    return Knowledge(shares, mean, np.maximum(mean - width, 0), np.minimum(mean + width, 1))


def compliancy(found: Ints, size: int, counts: Ints, baskets: int) -> float:
    """The share of items whose true frequency lies within the sample's, give or take the sample's median gap; whole
    numbers decide."""
    off = np.abs(counts * size - found * baskets)
    return float((2 * off <= _twice_median_gap(found) * baskets).mean())


def _twice_median_gap(found: npt.NDArray[np.int64]) -> int:
    """Twice the median gap between successive counts, which is a whole number."""
    values = np.flatnonzero(np.bincount(found))
    gaps = np.sort(np.diff(values))
    return int(gaps[(len(gaps) - 1) // 2] + gaps[len(gaps) // 2]) if len(gaps) else 0
