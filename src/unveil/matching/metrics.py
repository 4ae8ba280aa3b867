"""The metrics on matchings, each as a thin function.

With P a matrix of weights and m the truth (entry i has pseudonym m_i):

- ``permanent``: the total weight of all perfect matchings; d = ln permanent / ln n!;
- ε or Ψ, ``expected_cracks``: Σ_i of the probability that (i, m_i) lies in a matching drawn with weight ∏ P;
- H: Σ_i P[i, m_i] of a doubly stochastic P, the expected cracks over all functions rather than bijections
  (Theorem 4.3.1 of the thesis on unified metrics);
- O: Σ_i 1/degree(i);
- the distribution of the number of cracks, and the probability that a *set* is cracked as a set;
- NMAPE: how far H is from Ψ, averaged over all truths, and for the worst of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from unveil.errors import UnveilError
from unveil.matching.blocks import InfeasibleError, blocks, feasible_flow
from unveil.matching.candidates import Candidates, Floats, Ints
from unveil.matching.scaling import balanced
from unveil.matching.solve import solve
from unveil.matching.subsets import matrix_marginals

__all__ = [
    "Accuracy",
    "crack_distribution",
    "degree_of_anonymity",
    "expected_cracks",
    "flat_matrix",
    "heuristic",
    "is_flat",
    "log_permanent",
    "nmape",
    "o_estimate",
    "permanent",
    "psi",
    "sampled_psi",
    "set_cracked",
    "truth_curve",
]

_EXHAUSTIVE = 8
_WIDEST = 18


def log_permanent(matrix: npt.ArrayLike) -> float:
    """ln of the permanent, exact; an error where only bounds can be had (see :func:`unveil.matching.solve`)."""
    try:
        low, high = solve(Candidates.from_matrix(matrix), may_be_wrong=True).log_permanent
    except InfeasibleError:
        return -math.inf
    if low != high:
        raise UnveilError("the permanent of this matrix can only be bounded; use solve(...).log_permanent")
    return low


def permanent(matrix: npt.ArrayLike) -> float:
    """The total weight of all perfect matchings.

    >>> round(permanent([[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]), 9)
    18.0
    """
    return math.exp(log_permanent(matrix))


def degree_of_anonymity(matrix: npt.ArrayLike) -> float:
    """d = ln permanent / ln n!; 0 for a single entry (Edman, Sivrikaya and Yener 2007)."""
    n = len(np.asarray(matrix))
    return log_permanent(matrix) / math.lgamma(n + 1) if n > 1 else 0.0


def expected_cracks(matrix: npt.ArrayLike, truth: Ints | None = None) -> float:
    """ε of a 0/1 matrix, Ψ of a weighted one."""
    return solve(Candidates.from_matrix(matrix), truth).expected_cracks


def heuristic(matrix: npt.ArrayLike, truth: Ints | None = None) -> float:
    """H: the sum of a doubly stochastic matrix along the truth.

    >>> heuristic([[0.5, 0.5], [0.5, 0.5]])
    1.0
    """
    p = _doubly_stochastic(matrix)
    return float(p[np.arange(len(p)), np.arange(len(p)) if truth is None else truth].sum())


def o_estimate(candidates: Candidates) -> float:
    """O: Σ 1/degree."""
    return float((1 / candidates.degrees).sum())


def flat_matrix(matrix: npt.ArrayLike) -> Floats:
    """The doubly stochastic matrix under which all matchings of a 0/1 matrix weigh the same: the limit of Sinkhorn's
    scaling on the edges that lie in some perfect matching."""
    candidates = Candidates.from_matrix((np.asarray(matrix) != 0).astype(float))
    edges = np.zeros(len(candidates.groups))
    for block in blocks(candidates, feasible_flow(candidates, None)):
        flow = balanced(block.a, block.b, block.weights, block.r, block.c, sweeps=100_000, tolerance=1e-15)[2]
        edges[block.edges] = (flow / (block.r[block.a] * block.c[block.b]))[block.part]
    small = np.zeros((len(candidates.class_sizes), len(candidates.group_sizes)))
    small[candidates.edge_class, candidates.groups] = edges
    return small[np.ix_(candidates.entry_class, candidates.pseudonym_group)]


def is_flat(matrix: npt.ArrayLike, tolerance: float = 1e-9) -> bool:
    """Whether all matchings of a doubly stochastic matrix weigh the same, so that it tells no more than its zeros."""
    p = _doubly_stochastic(matrix)
    return bool(np.abs(p - flat_matrix(p)).max(initial=0.0) <= tolerance)


def _doubly_stochastic(matrix: npt.ArrayLike, tolerance: float = 1e-6) -> Floats:
    p = np.asarray(matrix, np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise UnveilError("the matrix must be square")
    sums = np.concatenate([p.sum(axis=0), p.sum(axis=1)])
    if (p < 0).any() or np.abs(sums - 1).max(initial=0) > tolerance:
        raise UnveilError("the matrix is not doubly stochastic: rows and columns must sum to 1")
    return p


def crack_distribution(matrix: npt.ArrayLike, truth: Ints | None = None) -> Floats:
    """The probability of exactly 0, 1, … n cracks, for up to 18 entries.

    With the true edges multiplied by t, the permanent is a polynomial in t whose coefficients are the distribution.
    They are carried along the sum over sets of columns, all of them non-negative.
    """
    from unveil.matching._subsets import subset_cracks

    weights = np.asarray(matrix, np.float64)
    n = len(weights)
    if n > _WIDEST:
        raise UnveilError(f"the distribution of cracks is computed for up to {_WIDEST} entries")
    order = np.arange(n) if truth is None else np.asarray(truth)
    if n == 0:
        return np.ones(1)
    scaled = weights / np.exp(_log_scale(weights))
    found = subset_cracks(np.ascontiguousarray(scaled[:, order]))
    distribution: Floats = found / found.sum()
    return distribution


def _log_scale(weights: Floats) -> Floats:
    """Factors that make the heaviest matching weigh 1, as a matrix of logarithms."""
    from unveil.matching.scaling import potentials

    with np.errstate(divide="ignore"):
        u, v = potentials(np.log(weights))
    return u[:, None] + v


def set_cracked(matrix: npt.ArrayLike, members: Sequence[int], truth: Ints | None = None) -> float:
    """The probability that a set of entries has, in whatever order, just the pseudonyms of the set.

    The set maps onto its own pseudonyms when both it and the rest are matched within themselves:
    perm(P[S, m(S)]) · perm(P[rest, m(rest)]) / perm(P).
    """
    weights = np.asarray(matrix, np.float64)
    order = np.arange(len(weights)) if truth is None else np.asarray(truth)
    inside = np.zeros(len(weights), bool)
    inside[list(members)] = True
    parts = [weights[np.ix_(rows, order[rows])] for rows in (np.flatnonzero(inside), np.flatnonzero(~inside))]
    logs = [log_permanent(part) if len(part) else 0.0 for part in parts]
    return math.exp(sum(logs) - log_permanent(weights))


@dataclass(frozen=True)
class Accuracy:
    """How far H is from Ψ over all n! truths, in percent of n: on average (NMAPE) and for the worst truth."""

    nmape: float
    worst: float
    worst_truth: tuple[int, ...]


def nmape(matrix: npt.ArrayLike) -> Accuracy:
    """The accuracy of H for a doubly stochastic matrix of up to 8 entries, exactly, over all truths."""
    psi_values, h_values, truths = truth_curve(matrix)
    errors = 100 * np.abs(h_values - psi_values) / len(np.asarray(matrix))
    worst = int(errors.argmax())
    return Accuracy(float(errors.mean()), float(errors[worst]), tuple(truths[worst].tolist()))


def truth_curve(matrix: npt.ArrayLike) -> tuple[Floats, Floats, Ints]:
    """Ψ and H for every possible truth, sorted by Ψ, and the truths (Figure 4.1 of the thesis)."""
    p = _doubly_stochastic(matrix)
    n = len(p)
    if n > _EXHAUSTIVE:
        raise UnveilError(f"all n! truths are gone through for up to {_EXHAUSTIVE} entries")
    truths = np.array(list(permutations(range(n))), np.int64)
    marginals = matrix_marginals(p)[1]
    rows = np.arange(n)
    psi_values, h_values = marginals[rows, truths].sum(axis=1), p[rows, truths].sum(axis=1)
    order = np.lexsort((h_values, psi_values))
    return psi_values[order], h_values[order], truths[order]


def psi(distribution: Mapping[tuple[int, ...], float], truth: Sequence[int]) -> float:
    """Ψ under any distribution over matchings, given as weights of matchings.

    The matrix of the distribution's own edge probabilities is doubly stochastic, and its sum along the truth, which is
    how H generalises to a distribution that no matrix induces, is Ψ itself: expectation is linear.
    """
    total = sum(distribution.values())
    if not total > 0 or any(w < 0 for w in distribution.values()):
        raise UnveilError("the weights of the matchings must be 0 or more, and one of them positive")
    return sum(w * sum(x == y for x, y in zip(m, truth, strict=True)) for m, w in distribution.items()) / total


def sampled_psi(
    sampler: Callable[[np.random.Generator], Sequence[int]],
    truth: Sequence[int],
    rng: np.random.Generator,
    *,
    draws: int = 10_000,
    confidence: float = 0.95,
) -> tuple[float, tuple[float, float]]:
    """Ψ under a distribution that can only be drawn from, with its interval (independent draws, normal limit)."""
    cracks = np.array([sum(x == y for x, y in zip(sampler(rng), truth, strict=True)) for _ in range(draws)], float)
    width = float(ndtri((1 + confidence) / 2)) * float(cracks.std(ddof=1)) / math.sqrt(draws)
    mean = float(cracks.mean())
    return mean, (max(0.0, mean - width), min(float(len(truth)), mean + width))
