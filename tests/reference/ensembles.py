"""Random attackers for measuring the cheap estimators: doubly stochastic matrices from several generators.

The distance of the heuristic H from Ψ depends on how the matrices are drawn, so there are several generators. In each
matrix the identity is a matching of greatest weight: the attacker deems the truth likeliest. Relabelling the columns to
achieve this does not change anything that is averaged over all truths.

:func:`run_nmape_experiment` addresses the second item of future work in the thesis on unified metrics (sections 4.4 and
5), which conjectures that the greatest NMAPE over all matrices falls with n. Ψ averages 1 over all truths, so always
answering 1 has an NMAPE of at most 100/n. NMAPE must be read against this *baseline*.

The greatest errors found at a single truth are those of :func:`cycle_matrix`, a·I + (1 − a)·C with C a cycle through
all entries. It has two perfect matchings, of weights aⁿ and (1 − a)ⁿ, so at the identity Ψ = n·aⁿ/(aⁿ + (1 − a)ⁿ) while
H = n·a: for a just above 1/2 and large n, half of Ψ. For n = 2 every doubly stochastic matrix has this form, and the
greatest NMAPE is 50·φ^(−5/2) = 15.014, with φ the golden ratio, at a = 1/2 ± √(√5 − 2)/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numba import njit
from scipy.optimize import linear_sum_assignment

from unveil.arrays import Floats
from unveil.matching.column_subsets import matrix_marginals
from unveil.matching.metrics import flat_matrix
from unveil.matching.truth_errors import MOST_EXACT_ENTRIES, mean_absolute_error, worst_truth

__all__ = [
    "ENSEMBLES",
    "MatrixGenerator",
    "NmapeExperiment",
    "SpreadSummary",
    "confident_matrix",
    "cycle_matrix",
    "peaky_matrix",
    "permutation_mixture",
    "random_cycle_matrix",
    "run_nmape_experiment",
    "sample_absolute_error",
    "scale_to_stochastic",
    "sparse_matrix",
    "uniform_matrix",
]

MatrixGenerator = Callable[[int, np.random.Generator], Floats]


def uniform_matrix(n: int, rng: np.random.Generator) -> Floats:
    """Weights uniform between 0 and 1, scaled."""
    return _move_heaviest_to_diagonal(scale_to_stochastic(rng.random((n, n))))


def peaky_matrix(n: int, rng: np.random.Generator) -> Floats:
    """Sixth powers of weights uniform between 0 and 1, scaled."""
    return _move_heaviest_to_diagonal(scale_to_stochastic(rng.random((n, n)) ** 6))


def permutation_mixture(n: int, rng: np.random.Generator) -> Floats:
    """A mixture of n random permutations, with all mixtures equally likely (Birkhoff)."""
    orders = rng.permuted(np.tile(np.arange(n), (n, 1)), axis=1)
    found = np.zeros((n, n))
    np.add.at(found, (np.arange(n), orders), rng.dirichlet(np.ones(n))[:, None])
    return _move_heaviest_to_diagonal(found)


def confident_matrix(n: int, rng: np.random.Generator) -> Floats:
    """Noise uniform between 0 and 1, plus the expected noise of a whole row on each true pair, scaled."""
    return scale_to_stochastic(rng.random((n, n)) + n / 2 * np.eye(n))


def sparse_matrix(n: int, rng: np.random.Generator) -> Floats:
    """The flat matrix of the true pairs and, on average, two other candidates per entry."""
    return flat_matrix((rng.random((n, n)) * (n - 1) < 2) | np.eye(n, dtype=bool))


def random_cycle_matrix(n: int, rng: np.random.Generator) -> Floats:
    """The identity, with a share uniform between 1/2 and 1, mixed with a cycle through all entries."""
    return cycle_matrix(n, rng.uniform(0.5, 1))


def cycle_matrix(n: int, share: float) -> Floats:
    """The matrix a·I + (1 − a)·C: the identity with share a, and the cycle C that sends entry i to i + 1.

    >>> cycle_matrix(3, 0.75)
    array([[0.75, 0.25, 0.  ],
           [0.  , 0.75, 0.25],
           [0.25, 0.  , 0.75]])
    """
    found: Floats = share * np.eye(n) + (1 - share) * np.roll(np.eye(n), 1, axis=1)
    return found


ENSEMBLES: Mapping[str, MatrixGenerator] = MappingProxyType(
    {
        "uniform": uniform_matrix,
        "peaky": peaky_matrix,
        "mixture": permutation_mixture,
        "confident": confident_matrix,
        "sparse": sparse_matrix,
        "cycles": random_cycle_matrix,
    }
)


def scale_to_stochastic(weights: Floats) -> Floats:
    """Scale the rows and columns of positive weights to sum to 1.

    If scaling is slow it is cut short, and the result rounded to a nearby doubly stochastic matrix (Altschuler, Weed
    and Rigollet 2017, algorithm 2).
    """
    p: Floats = _sinkhorn_sweeps(weights, 10_000, 1e-13)
    p *= np.minimum(1, 1 / p.sum(axis=1))[:, None]
    p *= np.minimum(1, 1 / p.sum(axis=0))
    rows, columns = 1 - p.sum(axis=1), 1 - p.sum(axis=0)
    missing = rows.sum()
    return p + np.outer(rows, columns).clip(0) / missing if missing > 0 else p


@njit(cache=True)
def _sinkhorn_sweeps(weights: Any, sweeps: Any, tolerance: Any) -> Any:
    n = len(weights)
    p = weights.copy()
    for _ in range(sweeps):
        off = 0.0
        for i in range(n):
            total = p[i].sum()
            off = max(off, abs(total - 1))
            p[i] /= total
        for j in range(n):
            p[:, j] /= p[:, j].sum()
        if off < tolerance:
            break
    return p


def _move_heaviest_to_diagonal(p: Floats) -> Floats:
    """Reorder the columns so that the identity is a heaviest matching."""
    with np.errstate(divide="ignore"):
        order = linear_sum_assignment(-np.log(p))[1]
    return p[:, order]


@dataclass(frozen=True)
class SpreadSummary:
    """The distribution of a figure over the matrices: mean, extremes and quantiles."""

    mean: float
    least: float
    q05: float
    median: float
    q95: float
    greatest: float

    @classmethod
    def of(cls, values: Floats) -> SpreadSummary:
        """Summarise some values."""
        return cls(float(values.mean()), *(float(q) for q in np.quantile(values, (0, 0.05, 0.5, 0.95, 1))))


@dataclass(frozen=True)
class NmapeExperiment:
    """How far H is from Ψ over random matrices.

    In percent of n: ``nmape``, the ``baseline`` of always answering 1, and the ``worst`` single truth, at which H
    understates in a share ``understated_share`` of the matrices. In percent of Ψ, negative if H understates:
    ``planted_error``, at the identity, and ``calibrated_error``, over truths as likely as the attacker deems them. Up
    to 12 entries NMAPE and baseline are exact and ``standard_error`` is 0. Beyond, they are estimated from random
    truths, and it is the largest of their standard errors.
    """

    n: int
    matrices: int
    nmape: SpreadSummary
    standard_error: float
    baseline: SpreadSummary
    worst: SpreadSummary
    understated_share: float
    planted_error: SpreadSummary
    calibrated_error: SpreadSummary


def run_nmape_experiment(
    generator: MatrixGenerator, n: int, matrices: int, rng: np.random.Generator
) -> NmapeExperiment:
    """Draw matrices of n ≤ 24 rows and compare H with Ψ on each."""
    p = np.array([generator(n, rng) for _ in range(matrices)])
    marginals = np.array([matrix_marginals(matrix)[1] for matrix in p])
    difference = p - marginals
    nmape, error = _mean_errors(difference, rng)
    baseline, baseline_error = _mean_errors(marginals - 1 / n, rng)
    worst = np.array([worst_truth(d)[0] for d in difference])
    psi = np.trace(marginals, axis1=1, axis2=2)
    planted = np.trace(difference, axis1=1, axis2=2) / psi
    calibrated = (difference * marginals).sum(axis=(1, 2)) / (marginals**2).sum(axis=(1, 2))
    return NmapeExperiment(
        n=n,
        matrices=matrices,
        nmape=SpreadSummary.of(100 / n * nmape),
        standard_error=100 / n * max(error, baseline_error),
        baseline=SpreadSummary.of(100 / n * baseline),
        worst=SpreadSummary.of(100 / n * np.abs(worst)),
        understated_share=float((worst < 0).mean()),
        planted_error=SpreadSummary.of(100 * planted),
        calibrated_error=SpreadSummary.of(100 * calibrated),
    )


def _mean_errors(differences: Floats, rng: np.random.Generator) -> tuple[Floats, float]:
    """The mean absolute error over all truths for each matrix, and the largest standard error."""
    if differences.shape[-1] <= MOST_EXACT_ENTRIES:
        return mean_absolute_error(differences), 0.0
    found = np.array([sample_absolute_error(difference, rng) for difference in differences])
    return found[:, 0], float(found[:, 1].max())


def sample_absolute_error(difference: Floats, rng: np.random.Generator, draws: int = 10_000) -> tuple[float, float]:
    """An estimate of the mean of |Σ_i D[i, m_i]| from random truths, and its standard error."""
    n = len(difference)
    truths = rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)
    errors = np.abs(difference[np.arange(n), truths].sum(axis=1))
    return float(errors.mean()), float(errors.std(ddof=1)) / math.sqrt(draws)
