"""The metrics on matchings, each as a thin function.

With P a matrix of weights and m the truth (entry i has pseudonym m_i):

- ``permanent``: the total weight of all perfect matchings; d = ln permanent / ln n!;
- ε or Ψ, ``expected_cracks``: Σ_i of the probability that (i, m_i) lies in a matching drawn with weight ∏ P;
- H: Σ_i P[i, m_i] for a doubly stochastic P, the expected cracks over all functions rather than bijections
  (Theorem 4.3.1 of the thesis on unified metrics);
- O: Σ_i 1/degree(i);
- the distribution of the number of cracks (``set_cracks`` has the probability that a set is cracked as a set);
- NMAPE: the distance of H from Ψ, averaged over all truths, and at the worst of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.intervals import normal_quantile
from unveil.matching._column_subsets import subset_cracks
from unveil.matching.blocks import Block, InfeasibleError, feasible_flow, independent_blocks
from unveil.matching.candidates import Candidates
from unveil.matching.column_subsets import matrix_marginals
from unveil.matching.scaling import balance_weights, normalise_matrix
from unveil.matching.solver import check_bijection, solve
from unveil.matching.truth_errors import MOST_EXACT_ENTRIES, mean_absolute_error, worst_truth
from unveil.matching.whole_permanents import whole_permanent

__all__ = [
    "HeuristicAccuracy",
    "crack_distribution",
    "degree_of_anonymity",
    "distribution_psi",
    "edge_probabilities",
    "expected_cracks",
    "flat_matrix",
    "generalised_heuristic",
    "heuristic_accuracy",
    "heuristic_cracks",
    "is_flat",
    "log_permanent",
    "o_estimate",
    "permanent",
    "project_to_matrix",
    "simulate_psi",
    "truth_curve",
]

_MOST_LISTED_ENTRIES = 8
_LARGEST_BLOCK = 18
_OPTIMISER_LIMITS = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-10}


def log_permanent(matrix: npt.ArrayLike) -> float:
    """ln permanent, exact; raises an error if only bounds are available (see :func:`unveil.matching.solve`)."""
    try:
        low, high = solve(Candidates.from_matrix(matrix), may_exclude_truth=True).log_permanent
    except InfeasibleError:
        return -math.inf
    if low != high:
        raise UnveilError(
            "the permanent of this matrix is too costly to compute exactly; use solve(...).log_permanent for bounds"
        )
    return low


def permanent(matrix: npt.ArrayLike) -> float:
    """The total weight of all perfect matchings: an exact whole number if all weights are whole. Refuses a matrix for
    which that would take too long.

    >>> permanent([[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]])
    18
    """
    candidates = Candidates.from_matrix(matrix)
    if (candidates.weights == np.rint(candidates.weights)).all():
        return whole_permanent(candidates)
    log = log_permanent(matrix)
    return math.exp(log) if log < 709 else math.inf


def degree_of_anonymity(matrix: npt.ArrayLike) -> float:
    """d = ln permanent / ln n!; 0 for a single entry (Edman, Sivrikaya and Yener 2007)."""
    n = len(np.asarray(matrix))
    return log_permanent(matrix) / math.lgamma(n + 1) if n > 1 else 0.0


def expected_cracks(matrix: npt.ArrayLike, truth: Ints | None = None) -> float:
    """ε for a 0/1 matrix, Ψ for a weighted one. Refuses a matrix for which only a simulation is possible:
    :func:`~unveil.matching.solver.solve` gives its interval."""
    found = solve(Candidates.from_matrix(matrix), truth)
    if not found.exact:
        raise UnveilError(
            "the expected cracks of this matrix can only be simulated; use solve, which gives an interval"
        )
    return found.expected_cracks


def heuristic_cracks(matrix: npt.ArrayLike, truth: Ints | None = None) -> float:
    """H: the sum of a doubly stochastic matrix along the truth.

    >>> heuristic_cracks([[0.5, 0.5], [0.5, 0.5]])
    1.0
    """
    p = _check_doubly_stochastic(matrix)
    return _sum_along_truth(p, check_bijection(truth, len(p)))


def o_estimate(candidates: Candidates) -> float:
    """O: Σ 1/degree."""
    degrees = candidates.degrees
    return float((1 / degrees[degrees > 0]).sum())


def flat_matrix(matrix: npt.ArrayLike) -> Floats:
    """The doubly stochastic matrix under which all matchings of a 0/1 matrix have equal weight: the limit of Sinkhorn's
    scaling on the edges that lie in some perfect matching."""
    full = Candidates.from_matrix(matrix)
    candidates = Candidates.from_matrix(full.to_matrix() > 0)
    edges = np.zeros(len(candidates.groups))
    for block in independent_blocks(candidates, feasible_flow(candidates, None)):
        flow = balance_weights(block.a, block.b, block.weights, block.r, block.c, sweeps=20_000, tolerance=1e-14)[2]
        edges[block.edges] = (flow / (block.r[block.a] * block.c[block.b]))[block.part]
    return replace(candidates, weights=edges).to_matrix()


def is_flat(matrix: npt.ArrayLike, tolerance: float = 1e-9) -> bool:
    """Whether all matchings of a doubly stochastic matrix have equal weight: it then says no more than its zeros."""
    p = _check_doubly_stochastic(matrix)
    return bool(np.abs(p - flat_matrix(p)).max(initial=0.0) <= tolerance)


def _check_doubly_stochastic(matrix: npt.ArrayLike, tolerance: float = 1e-6) -> Floats:
    p = np.asarray(matrix, np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise UnveilError("the matrix must be square")
    sums = np.concatenate([p.sum(axis=0), p.sum(axis=1)])
    if not ((p >= 0).all() and np.abs(sums - 1).max(initial=0) <= tolerance):
        raise UnveilError("the matrix is not doubly stochastic: rows and columns must sum to 1")
    return p


def crack_distribution(matrix: Candidates | npt.ArrayLike, truth: Ints | None = None) -> Floats:
    """The probability of exactly 0, 1, … n cracks, for blocks of at most 18 entries or whose entries are all twins.

    With the true edges multiplied by t, the permanent is a polynomial in t whose coefficients give the distribution.
    The sum over sets of columns carries them along, all non-negative. Blocks are independent.
    """
    candidates = matrix if isinstance(matrix, Candidates) else Candidates.from_matrix(matrix)
    truth = check_bijection(truth, candidates.n)
    edge = candidates.find_edges(np.arange(candidates.n), truth)
    true_counts = np.bincount(edge[edge >= 0], minlength=len(candidates.groups))
    found = np.ones(1)
    for block in independent_blocks(candidates, feasible_flow(candidates, truth)):
        inside = np.bincount(block.part, true_counts[block.edges], len(block.a)).astype(np.int64)
        found = np.convolve(found, _block_distribution(block, inside))
    return np.append(found, np.zeros(candidates.n + 1 - len(found)))


def _block_distribution(block: Block, true_counts: Ints) -> Floats:
    """The distribution within a block, given the number of true pairs along each edge."""
    n = block.n
    if len(block.a) == 1 and true_counts[0] == n:
        return np.array([math.exp(-math.lgamma(k + 1)) * _derangement_share(n - k) for k in range(n + 1)])
    if n > _LARGEST_BLOCK:
        raise UnveilError(f"the distribution of cracks is only available for blocks of up to {_LARGEST_BLOCK} entries")
    true = np.zeros((n, n), np.bool_)
    entry, slot = np.cumsum(block.r) - block.r, np.cumsum(block.c) - block.c
    for a, b, count in zip(block.a, block.b, true_counts, strict=True):
        true[entry[a] : entry[a] + count, slot[b] : slot[b] + count] = np.eye(count, dtype=bool)
        entry[a], slot[b] = entry[a] + count, slot[b] + count
    found = subset_cracks(normalise_matrix(block.to_matrix())[0], true)
    distribution: Floats = found / found.sum()
    return distribution


def _derangement_share(n: int) -> float:
    """The share of permutations of n elements that move every element."""
    return math.fsum((-1) ** k / math.factorial(k) for k in range(min(n, 25) + 1))


@dataclass(frozen=True)
class HeuristicAccuracy:
    """The distance of H from Ψ over all n! truths, in percent of n: on average (NMAPE) and at the worst truth.

    ``worst`` is negative if H understates.
    """

    nmape: float
    worst: float
    worst_truth: tuple[int, ...]


def heuristic_accuracy(matrix: npt.ArrayLike) -> HeuristicAccuracy:
    """The accuracy of H for a doubly stochastic matrix of up to 12 entries, exactly, over all truths."""
    p = _check_doubly_stochastic(matrix)
    if not 0 < len(p) <= MOST_EXACT_ENTRIES:
        raise UnveilError(f"the accuracy of H is only available for 1 to {MOST_EXACT_ENTRIES} entries")
    difference = p - matrix_marginals(p)[1]
    worst, truth = worst_truth(difference)
    return HeuristicAccuracy(
        100 / len(p) * float(mean_absolute_error(difference[None])[0]), 100 / len(p) * worst, tuple(truth.tolist())
    )


def truth_curve(matrix: npt.ArrayLike) -> tuple[Floats, Floats, Ints]:
    """Ψ and H for every possible truth, sorted by Ψ, and the truths (Figure 4.1 of the thesis)."""
    p = _check_doubly_stochastic(matrix)
    n = len(p)
    if n > _MOST_LISTED_ENTRIES:
        raise UnveilError(f"all n! truths can be listed for up to {_MOST_LISTED_ENTRIES} entries only")
    truths = np.array(list(permutations(range(n))), np.int64)
    marginals = matrix_marginals(p)[1]
    rows = np.arange(n)
    psi_values, h_values = marginals[rows, truths].sum(axis=1), p[rows, truths].sum(axis=1)
    order = np.lexsort((h_values, psi_values))
    return psi_values[order], h_values[order], truths[order]


def distribution_psi(distribution: Mapping[tuple[int, ...], float], truth: Sequence[int]) -> float:
    """Ψ under any distribution over matchings, given as a weight per matching."""
    return float(_sum_along_truth(edge_probabilities(distribution), truth))


def edge_probabilities(distribution: Mapping[tuple[int, ...], float]) -> Floats:
    """The probability of each pair under a distribution over matchings: a doubly stochastic matrix. For a sampler, give
    how often it drew each matching."""
    total = sum(distribution.values())
    if not 0 < total < math.inf or any(w < 0 for w in distribution.values()):
        raise UnveilError("the weights of matchings must be 0 or more, and at least one must be positive")
    n = len(next(iter(distribution)))
    found = np.zeros((n, n))
    for matching, weight in distribution.items():
        if sorted(matching) != list(range(n)):
            raise UnveilError(f"a matching must name every pseudonym 0 … {n - 1} once")
        found[np.arange(n), matching] += weight / total
    return found


def _sum_along_truth(matrix: Floats, truth: Sequence[int] | Ints) -> float:
    return float(matrix[np.arange(len(matrix)), check_bijection(np.asarray(truth), len(matrix))].sum())


def project_to_matrix(probabilities: npt.ArrayLike) -> Floats:
    """The doubly stochastic matrix P under which each pair has the given probability, for up to 24 entries.

    Of all distributions over matchings that matrices induce, that of P is nearest (in relative entropy) to any with
    these edge probabilities. ln permanent is convex in the log weights and its gradient is the marginals, so P
    maximises Σ p ln w − ln permanent(w).
    """
    p = _check_doubly_stochastic(probabilities)
    edges = np.nonzero(p > 0)

    def negative_log_likelihood(logs: Floats) -> tuple[float, Floats]:
        weights = np.zeros_like(p)
        weights[edges] = np.exp(logs - logs.max())
        log, marginals = matrix_marginals(weights)
        return log + len(p) * logs.max() - float(p[edges] @ logs), marginals[edges] - p[edges]

    found = minimize(negative_log_likelihood, np.log(p[edges]), jac=True, method="L-BFGS-B", options=_OPTIMISER_LIMITS)
    rows, columns = edges
    scaled = balance_weights(
        rows, columns, np.exp(found.x - found.x.max()), np.ones(len(p)), np.ones(len(p)), 100_000, 1e-14
    )
    matrix = np.zeros_like(p)
    matrix[edges] = scaled[2]
    return matrix


def generalised_heuristic(probabilities: npt.ArrayLike, truth: Sequence[int]) -> float:
    """H for any distribution over matchings, from its edge probabilities, even if no matrix induces it.

    This is H of the matrix that induces the nearest distribution (:func:`project_to_matrix`), hence H itself if some
    matrix induces the distribution. The sum of the edge probabilities along the truth would be Ψ.
    """
    return _sum_along_truth(project_to_matrix(probabilities), truth)


def simulate_psi(
    sampler: Callable[[np.random.Generator], Sequence[int]],
    truth: Sequence[int],
    rng: np.random.Generator,
    *,
    draws: int = 10_000,
    confidence: float = 0.95,
) -> tuple[float, tuple[float, float]]:
    """Ψ under a distribution that can only be sampled, with its interval (independent draws, normal limit)."""
    cracks = np.array([sum(x == y for x, y in zip(sampler(rng), truth, strict=True)) for _ in range(draws)], float)
    width = normal_quantile(confidence) * float(cracks.std(ddof=1)) / math.sqrt(draws)
    mean = float(cracks.mean())
    return mean, (max(0.0, mean - width), min(float(len(truth)), mean + width))
