"""The metrics on matchings, each as a thin function.

With P a matrix of weights and m the truth (entry i has pseudonym m_i):

- ``permanent``: the total weight of all perfect matchings; d = ln permanent / ln n!;
- ε or Ψ, ``expected_cracks``: Σ_i of the probability that (i, m_i) lies in a matching drawn with weight ∏ P;
- H: Σ_i P[i, m_i] of a doubly stochastic P, the expected cracks over all functions rather than bijections
  (Theorem 4.3.1 of the thesis on unified metrics);
- O: Σ_i 1/degree(i);
- the distribution of the number of cracks (``sets`` has the probability that a set is cracked as a set);
- NMAPE: how far H is from Ψ, averaged over all truths, and for the worst of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import ndtri

from unveil.errors import UnveilError
from unveil.matching._subsets import subset_cracks
from unveil.matching.blocks import Block, InfeasibleError, blocks, feasible_flow
from unveil.matching.candidates import Candidates, Floats, Ints
from unveil.matching.ladder import bijection, solve
from unveil.matching.scaling import balanced, potentials
from unveil.matching.subsets import matrix_marginals
from unveil.matching.truths import EXACT, mean_error, worst_truth

__all__ = [
    "Accuracy",
    "crack_distribution",
    "degree_of_anonymity",
    "edge_probabilities",
    "expected_cracks",
    "flat_matrix",
    "generalised_heuristic",
    "heuristic",
    "is_flat",
    "log_permanent",
    "nmape",
    "o_estimate",
    "permanent",
    "projected",
    "psi",
    "sampled_psi",
    "truth_curve",
]

_EXHAUSTIVE = 8
_WIDEST = 18
_PATIENCE = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-10}


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
    log = log_permanent(matrix)
    return math.exp(log) if log < 709 else math.inf


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
    return _along(p, bijection(truth, len(p)))


def o_estimate(candidates: Candidates) -> float:
    """O: Σ 1/degree."""
    degrees = candidates.degrees
    return float((1 / degrees[degrees > 0]).sum())


def flat_matrix(matrix: npt.ArrayLike) -> Floats:
    """The doubly stochastic matrix under which all matchings of a 0/1 matrix weigh the same: the limit of Sinkhorn's
    scaling on the edges that lie in some perfect matching."""
    full = Candidates.from_matrix(matrix)
    candidates = Candidates.from_matrix(full.dense() > 0)
    edges = np.zeros(len(candidates.groups))
    for block in blocks(candidates, feasible_flow(candidates, None)):
        flow = balanced(block.a, block.b, block.weights, block.r, block.c, sweeps=20_000, tolerance=1e-14)[2]
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
    if not ((p >= 0).all() and np.abs(sums - 1).max(initial=0) <= tolerance):
        raise UnveilError("the matrix is not doubly stochastic: rows and columns must sum to 1")
    return p


def crack_distribution(matrix: Candidates | npt.ArrayLike, truth: Ints | None = None) -> Floats:
    """The probability of exactly 0, 1, … n cracks, where no block has more than 18 entries or all its entries are
    twins.

    With the true edges multiplied by t, the permanent is a polynomial in t whose coefficients are the distribution.
    They are carried along the sum over sets of columns, all of them non-negative; blocks are independent.
    """
    candidates = matrix if isinstance(matrix, Candidates) else Candidates.from_matrix(matrix)
    truth = bijection(truth, candidates.n)
    edge = candidates.edge_of(np.arange(candidates.n), truth)
    true_counts = np.bincount(edge[edge >= 0], minlength=len(candidates.groups))
    found = np.ones(1)
    for block in blocks(candidates, feasible_flow(candidates, truth)):
        inside = np.bincount(block.part, true_counts[block.edges], len(block.a)).astype(np.int64)
        found = np.convolve(found, _block_cracks(block, inside))
    return np.append(found, np.zeros(candidates.n + 1 - len(found)))


def _block_cracks(block: Block, true_counts: Ints) -> Floats:
    """The distribution within a block, given how many true pairs lie along each edge."""
    n = block.n
    if len(block.a) == 1 and true_counts[0] == n:
        return np.array([math.exp(-math.lgamma(k + 1)) * _derangements(n - k) for k in range(n + 1)])
    if n > _WIDEST:
        raise UnveilError(f"the distribution of cracks is computed for blocks of up to {_WIDEST} entries")
    of_entry, of_slot = np.repeat(np.arange(len(block.r)), block.r), np.repeat(np.arange(len(block.c)), block.c)
    weights = block.dense()[np.ix_(of_entry, of_slot)]
    true = np.zeros((n, n), np.bool_)
    entry, slot = np.cumsum(block.r) - block.r, np.cumsum(block.c) - block.c
    for a, b, count in zip(block.a, block.b, true_counts, strict=True):
        true[entry[a] : entry[a] + count, slot[b] : slot[b] + count] = np.eye(count, dtype=bool)
        entry[a], slot[b] = entry[a] + count, slot[b] + count
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    u, v = potentials(logs)
    found = subset_cracks(np.exp(logs - u[:, None] - v), true)
    distribution: Floats = found / found.sum()
    return distribution


def _derangements(n: int) -> float:
    """The share of the permutations of n that leave nothing in its place."""
    return math.fsum((-1) ** k / math.factorial(k) for k in range(min(n, 25) + 1))


@dataclass(frozen=True)
class Accuracy:
    """How far H is from Ψ over all n! truths, in percent of n: on average (NMAPE) and for the worst truth.

    ``worst`` is negative where H understates.
    """

    nmape: float
    worst: float
    worst_truth: tuple[int, ...]


def nmape(matrix: npt.ArrayLike) -> Accuracy:
    """The accuracy of H for a doubly stochastic matrix of up to 12 entries, exactly, over all truths."""
    p = _doubly_stochastic(matrix)
    if not 0 < len(p) <= EXACT:
        raise UnveilError(f"all truths are gone through for 1 to {EXACT} entries")
    difference = p - matrix_marginals(p)[1]
    worst, truth = worst_truth(difference)
    return Accuracy(100 / len(p) * float(mean_error(difference[None])[0]), 100 / len(p) * worst, tuple(truth.tolist()))


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
    """Ψ under any distribution over matchings, given as weights of matchings."""
    return float(_along(edge_probabilities(distribution), truth))


def edge_probabilities(distribution: Mapping[tuple[int, ...], float]) -> Floats:
    """How likely each pair is under a distribution over matchings: a doubly stochastic matrix. Of a sampler, give how
    often each matching was drawn."""
    total = sum(distribution.values())
    if not 0 < total < math.inf or any(w < 0 for w in distribution.values()):
        raise UnveilError("the weights of the matchings must be 0 or more, and one of them positive")
    n = len(next(iter(distribution)))
    found = np.zeros((n, n))
    for matching, weight in distribution.items():
        if sorted(matching) != list(range(n)):
            raise UnveilError(f"a matching must name every pseudonym 0 … {n - 1} once")
        found[np.arange(n), matching] += weight / total
    return found


def _along(matrix: Floats, truth: Sequence[int] | Ints) -> float:
    return float(matrix[np.arange(len(matrix)), bijection(np.asarray(truth), len(matrix))].sum())


def projected(probabilities: npt.ArrayLike) -> Floats:
    """The doubly stochastic matrix P under which each pair is as likely as given, for up to 24 entries.

    Of all distributions over matchings that a matrix induces, that of P is the nearest (in relative entropy) to any
    with these edge probabilities. ln permanent is convex in the logarithms of the weights and its slope are the
    marginals, so that P is found by climbing Σ p ln w − ln permanent(w).
    """
    p = _doubly_stochastic(probabilities)
    edges = np.nonzero(p > 0)

    def fall(logs: Floats) -> tuple[float, Floats]:
        weights = np.zeros_like(p)
        weights[edges] = np.exp(logs - logs.max())
        log, marginals = matrix_marginals(weights)
        return log + len(p) * logs.max() - float(p[edges] @ logs), marginals[edges] - p[edges]

    found = minimize(fall, np.log(p[edges]), jac=True, method="L-BFGS-B", options=_PATIENCE)
    rows, columns = edges
    scaled = balanced(rows, columns, np.exp(found.x - found.x.max()), np.ones(len(p)), np.ones(len(p)), 100_000, 1e-14)
    matrix = np.zeros_like(p)
    matrix[edges] = scaled[2]
    return matrix


def generalised_heuristic(probabilities: npt.ArrayLike, truth: Sequence[int]) -> float:
    """H of a distribution over matchings that no matrix need induce, from the probabilities of its edges.

    It is H of the matrix that induces the nearest distribution (:func:`projected`), hence H itself where some matrix
    induces the distribution. The sum of the edge probabilities along the truth would be Ψ.
    """
    return _along(projected(probabilities), truth)


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
