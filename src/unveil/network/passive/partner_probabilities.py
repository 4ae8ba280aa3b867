"""From scores of pairs to probabilities: every node has at most one partner, and may have none.

The score of a pair is a log-likelihood ratio against both having no partner. With p(u, v) for the probability that u
and v are the same and p(u), p(v) for the probabilities that they have no partner, e^s = p(u, v) / (p(u) · p(v)), and
all possibilities of a node sum to 1. Rows and columns are scaled in turn until they do (R. Sinkhorn, 1964). This is on
the cautious side: a single pair would have e^s = p / (1 − p), and not e^s = p / (1 − p)².
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from unveil.network.passive.evidence import Candidates

if TYPE_CHECKING:
    from unveil.arrays import Floats, Ints

__all__ = [
    "LikeliestPairs",
    "PairProbabilities",
    "certain_matrix",
    "likeliest_pairs",
    "mix_matrices",
    "pair_probabilities",
]

_ROUNDS = 10
_LEAST = 0.005  # a probability that is kept
_MOST_SCORE = 50.0


def certain_matrix(mapping: Ints, columns: int, probability: float) -> Any:
    """The sparse matrix in which each mapped pair has this probability."""
    import numpy as np
    from scipy.sparse import csr_array

    rows = np.flatnonzero(mapping >= 0)
    data = np.full(len(rows), probability, np.float32)
    return csr_array((data, (rows, mapping[rows])), shape=(len(mapping), columns))


class PairProbabilities(NamedTuple):
    """Pairs of left and right nodes: how probable each is, and how many edges both nodes share."""

    lefts: Ints
    rights: Ints
    probability: Floats
    shared: Floats

    def as_matrix(self, lefts: int, rights: int) -> Any:
        """A sparse matrix of the probabilities, with so many rows and columns."""
        import numpy as np
        from scipy.sparse import csr_array

        data = self.probability.astype(np.float32)
        return csr_array((data, (self.lefts, self.rights)), shape=(lefts, rights))


def pair_probabilities(candidates: Candidates, right_nodes: int) -> PairProbabilities:
    """The probabilities of candidates."""
    import numpy as np

    there = candidates.who >= 0
    lefts, rights = np.nonzero(there)[0], candidates.who[there].astype(np.int64)
    score = np.minimum(candidates.score[there], _MOST_SCORE)
    left_scale, right_scale = np.zeros(len(there)), np.zeros(right_nodes)
    for _ in range(_ROUNDS):
        left_scale = np.log1p(np.bincount(lefts, np.exp(score - right_scale[rights]), len(there)))
        right_scale = np.log1p(np.bincount(rights, np.exp(score - left_scale[lefts]), right_nodes))
    probability = np.exp(np.minimum(score - left_scale[lefts] - right_scale[rights], 0.0))
    return PairProbabilities(lefts, rights, probability, candidates.shared[there])


def mix_matrices(old: Any, new: Any) -> Any:
    """The mean of two matrices of probabilities, without what is negligible."""
    mixed = (old + new) / 2
    mixed.data[mixed.data < _LEAST] = 0
    mixed.eliminate_zeros()
    return mixed


class LikeliestPairs(NamedTuple):
    """Pairs of nodes that are the likeliest for both, by left nodes: how probable each is, and how probable the next
    best partner of either node."""

    lefts: Ints
    rights: Ints
    probability: Floats
    runner_up: Floats


def likeliest_pairs(likely: Any) -> LikeliestPairs:
    """The pairs that are the likeliest for both of their nodes; among equals, the first node counts."""
    import numpy as np

    lefts = np.repeat(np.arange(likely.shape[0]), np.diff(likely.indptr))
    rights, probability = likely.indices.astype(np.int64), likely.data.astype(np.float64)
    best_right, highest, next_right = _two_best(lefts, rights, probability, likely.shape[0])
    best_left, _, next_left = _two_best(rights, lefts, probability, likely.shape[1])
    nodes = np.flatnonzero(best_right >= 0)
    nodes = nodes[best_left[best_right[nodes]] == nodes]
    partners = best_right[nodes]
    return LikeliestPairs(nodes, partners, highest[nodes], np.maximum(next_right[nodes], next_left[partners]))


def _two_best(keys: Ints, others: Ints, probability: Floats, size: int) -> tuple[Ints, Floats, Floats]:
    """For each key its likeliest other, or −1, its probability and that of the second."""
    import numpy as np

    order = np.lexsort((others, -probability, keys))
    ends = np.searchsorted(keys[order], np.arange(size + 1))
    first, second = ends[:-1], ends[:-1] + 1
    best, highest, following = np.full(size, -1), np.zeros(size), np.zeros(size)
    there, more = first < ends[1:], second < ends[1:]
    best[there], highest[there] = others[order[first[there]]], probability[order[first[there]]]
    following[more] = probability[order[second[more]]]
    return best, highest, following
