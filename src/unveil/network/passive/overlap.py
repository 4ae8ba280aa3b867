"""How much two networks have in common at nodes that are matched: the share of edges, and how even it is.

If edges are missing at random, all people have about the same share of their edges in the other network, and the number
of shared edges is binomial. If whole neighbourhoods are missing, shares differ from person to person. They are taken to
follow a beta distribution; then the number of shared edges is beta-binomial. The *evenness* is the sum of the two
parameters of that distribution: the larger, the more alike are the shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from unveil.arrays import Floats, Ints
    from unveil.network.passive.partner_probabilities import PairProbabilities

__all__ = ["EdgeOverlap", "estimate_overlap"]

_LEAST_SHARE, _MOST_SHARE = 0.1, 0.9
_EVENNESS = (5.0, 10.0, 20.0, 50.0, 200.0)
_TIMES_RARER = 6.0  # than a right candidate does, a wrong one shares an edge
_LIKELY = 0.5


@dataclass(frozen=True)
class EdgeOverlap:
    """The share of edges of the left graph that are in the right one, and of the right one in the left one; and how
    even these shares are from node to node."""

    shares: tuple[float, float] = (0.5, 0.5)
    evenness: tuple[float, float] = (10.0, 10.0)

    def beta_parameters(self) -> Floats:
        """For both graphs, the parameters of the distribution of shares."""
        import numpy as np

        return np.array([[k * share, k * (1 - share)] for share, k in zip(self.shares, self.evenness, strict=True)])

    def chance_of_wrong_candidate(self) -> float:
        """How probable it is at most that a wrong candidate shares an edge: nodes with a witness in common are near
        each other, and so share others more often than nodes at random."""
        return self.shares[0] * self.shares[1] / _TIMES_RARER


class _PairCounter(Protocol):
    def possible_shared(self, lefts: Ints, rights: Ints) -> tuple[Floats, Floats]: ...


def estimate_overlap(evidence: _PairCounter, pairs: PairProbabilities) -> EdgeOverlap:
    """The overlap at the likely pairs. Shares are neither impossible nor certain, whatever was counted."""
    import numpy as np

    possible = evidence.possible_shared(pairs.lefts, pairs.rights)
    expected = float((pairs.probability * pairs.shared).sum())
    low, high = (
        float(np.clip((expected + 1) / (float((pairs.probability * total).sum()) + 2), _LEAST_SHARE, _MOST_SHARE))
        for total in possible
    )
    likely = np.flatnonzero(pairs.probability >= _LIKELY)
    weights, shared = pairs.probability[likely], pairs.shared[likely]
    first, second = (
        _likeliest_evenness(share, shared, total[likely], weights)
        for share, total in zip((low, high), possible, strict=True)
    )
    return EdgeOverlap((low, high), (first, second))


def _likeliest_evenness(share: float, shared: Floats, total: Floats, weights: Floats) -> float:
    """The evenness under which so many shared edges are likeliest; among equals, the least."""
    import numpy as np
    from scipy.special import betaln

    unshared = np.maximum(total - shared, 0)

    def log_likelihood(evenness: float) -> Any:
        yes, no = share * evenness, (1 - share) * evenness
        return float((weights * (betaln(yes + shared, no + unshared) - betaln(yes, no))).sum())

    return max(_EVENNESS, key=log_likelihood)
