"""Random attackers, to measure the cheap estimators on: doubly stochastic matrices by several generators.

How far the heuristic H is from Ψ depends on how the matrices are drawn, so there are several ways to draw them. In each
the identity is a matching of the greatest weight: the truth is what the attacker deems likeliest. Relabelling the
columns to that end changes nothing that is taken over all truths.

:func:`nmape_experiment` is the second future work of the thesis on unified metrics (sections 4.4 and 5), which
conjectures that the greatest NMAPE over all matrices falls with n. As Ψ is 1 on average over all truths, whoever
says 1 whatever the matrix is has an NMAPE of at most 100/n: the *baseline* beside which NMAPE must be read.

The greatest errors at a single truth that were found are those of :func:`cycle`, a·I + (1 − a)·C with C the cycle
i → i + 1. It has two perfect matchings, weighing aⁿ and (1 − a)ⁿ, so that Ψ = n·aⁿ/(aⁿ + (1 − a)ⁿ) at the identity
while H = n·a: for a just above 1/2 and large n, half of Ψ. For n = 2 these are all the matrices, and the greatest NMAPE
is 50·φ^(−5/2) = 15.014, with φ the golden ratio, at a = 1/2 ± √(√5 − 2)/2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unveil.compiled import kernel
from unveil.matching.candidates import Floats
from unveil.matching.metrics import flat_matrix
from unveil.matching.subsets import matrix_marginals
from unveil.matching.truths import EXACT, mean_error, sampled_error, worst_truth

__all__ = [
    "ENSEMBLES",
    "Experiment",
    "Generator",
    "Spread",
    "confident",
    "cycle",
    "cycles",
    "mixture",
    "nmape_experiment",
    "peaky",
    "sparse",
    "uniform",
]

Generator = Callable[[int, np.random.Generator], Floats]


def uniform(n: int, rng: np.random.Generator) -> Floats:
    """Entries uniform between 0 and 1, scaled."""
    return _likeliest_first(_scaled(rng.random((n, n))))


def peaky(n: int, rng: np.random.Generator) -> Floats:
    """Sixth powers of entries uniform between 0 and 1, scaled."""
    return _likeliest_first(_scaled(rng.random((n, n)) ** 6))


def mixture(n: int, rng: np.random.Generator) -> Floats:
    """A mixture of n random permutations, all mixtures being as likely (Birkhoff)."""
    orders = rng.permuted(np.tile(np.arange(n), (n, 1)), axis=1)
    found = np.zeros((n, n))
    np.add.at(found, (np.arange(n), orders), rng.dirichlet(np.ones(n))[:, None])
    return _likeliest_first(found)


def confident(n: int, rng: np.random.Generator) -> Floats:
    """Noise uniform between 0 and 1, and on the true pairs as much as the noise of a row together, scaled."""
    return _scaled(rng.random((n, n)) + n / 2 * np.eye(n))


def sparse(n: int, rng: np.random.Generator) -> Floats:
    """The flat matrix of the true pairs and, on average, two other candidates of every entry."""
    return flat_matrix((rng.random((n, n)) * (n - 1) < 2) | np.eye(n, dtype=bool))


def cycles(n: int, rng: np.random.Generator) -> Floats:
    """The identity, with a share uniform between 1/2 and 1, and a cycle through all entries."""
    return cycle(n, rng.uniform(0.5, 1))


def cycle(n: int, share: float) -> Floats:
    """The matrix a·I + (1 − a)·C of the identity, with a share a, and the cycle that sends entry i to i + 1.

    >>> cycle(3, 0.75)
    array([[0.75, 0.25, 0.  ],
           [0.  , 0.75, 0.25],
           [0.25, 0.  , 0.75]])
    """
    found: Floats = share * np.eye(n) + (1 - share) * np.roll(np.eye(n), 1, axis=1)
    return found


ENSEMBLES: Mapping[str, Generator] = MappingProxyType(
    {
        "uniform": uniform,
        "peaky": peaky,
        "mixture": mixture,
        "confident": confident,
        "sparse": sparse,
        "cycles": cycles,
    }
)


def _scaled(weights: Floats) -> Floats:
    """Rows and columns of positive weights scaled to sum 1.

    Where the scaling is slow it is cut short, and the nearby doubly stochastic matrix taken (Altschuler, Weed and
    Rigollet 2017, algorithm 2).
    """
    p: Floats = _sinkhorn(weights, 10_000, 1e-13)
    p *= np.minimum(1, 1 / p.sum(axis=1))[:, None]
    p *= np.minimum(1, 1 / p.sum(axis=0))
    rows, columns = 1 - p.sum(axis=1), 1 - p.sum(axis=0)
    missing = rows.sum()
    return p + np.outer(rows, columns).clip(0) / missing if missing > 0 else p


@kernel
def _sinkhorn(weights: Any, sweeps: Any, tolerance: Any) -> Any:
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


def _likeliest_first(p: Floats) -> Floats:
    """The columns reordered, so that the identity is a heaviest matching."""
    with np.errstate(divide="ignore"):
        order = linear_sum_assignment(-np.log(p))[1]
    return p[:, order]


@dataclass(frozen=True)
class Spread:
    """How a figure is spread over the matrices: mean, extremes and quantiles."""

    mean: float
    least: float
    q05: float
    median: float
    q95: float
    greatest: float

    @classmethod
    def of(cls, values: Floats) -> Spread:
        """The spread of some values."""
        return cls(float(values.mean()), *(float(q) for q in np.quantile(values, (0, 0.05, 0.5, 0.95, 1))))


@dataclass(frozen=True)
class Experiment:
    """How far H is from Ψ over random matrices.

    In percent of n: ``nmape``, the ``baseline`` that always says 1, and the ``worst`` single truth, which is an
    understatement in a share ``understated`` of the matrices. In percent of Ψ, negative where H understates:
    ``planted``, at the identity, and ``calibrated``, over truths that are as likely as the attacker deems them.
    ``standard_error`` is 0 where NMAPE and baseline are exact, over all truths; beyond 12 entries they are estimates
    from random truths, and it is the largest of their standard errors.
    """

    n: int
    matrices: int
    nmape: Spread
    standard_error: float
    baseline: Spread
    worst: Spread
    understated: float
    planted: Spread
    calibrated: Spread


def nmape_experiment(generator: Generator, n: int, matrices: int, rng: np.random.Generator) -> Experiment:
    """Draw matrices of n ≤ 24 rows and compare H with Ψ on each."""
    p = np.array([generator(n, rng) for _ in range(matrices)])
    marginals = np.array([matrix_marginals(matrix)[1] for matrix in p])
    difference = p - marginals
    nmape, error = _means(difference, rng)
    baseline, baseline_error = _means(marginals - 1 / n, rng)
    worst = np.array([worst_truth(d)[0] for d in difference])
    psi = np.trace(marginals, axis1=1, axis2=2)
    planted = np.trace(difference, axis1=1, axis2=2) / psi
    calibrated = (difference * marginals).sum(axis=(1, 2)) / (marginals**2).sum(axis=(1, 2))
    return Experiment(
        n=n,
        matrices=matrices,
        nmape=Spread.of(100 / n * nmape),
        standard_error=100 / n * max(error, baseline_error),
        baseline=Spread.of(100 / n * baseline),
        worst=Spread.of(100 / n * np.abs(worst)),
        understated=float((worst < 0).mean()),
        planted=Spread.of(100 * planted),
        calibrated=Spread.of(100 * calibrated),
    )


def _means(differences: Floats, rng: np.random.Generator) -> tuple[Floats, float]:
    """The mean absolute error over all truths for each matrix, and the largest standard error."""
    if differences.shape[-1] <= EXACT:
        return mean_error(differences), 0.0
    found = np.array([sampled_error(difference, rng) for difference in differences])
    return found[:, 0], float(found[:, 1].max())
