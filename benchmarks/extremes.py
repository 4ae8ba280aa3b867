"""The matrices on which H is worst: a search from random starts over all doubly stochastic matrices of n rows.

Prints the greatest NMAPE and the greatest error at a single truth that were found, beside those of the cycles. It takes
minutes and is not part of ``make bench``.
"""

from __future__ import annotations

from collections.abc import Callable

import _measure  # noqa: F401 (finds tests/reference)
import numpy as np
from scipy.optimize import minimize, minimize_scalar

from reference.ensembles import cycle_matrix, scale_to_stochastic
from unveil.matching.column_subsets import matrix_marginals
from unveil.matching.truth_errors import mean_absolute_error, worst_truth

__all__ = ["main"]

_STARTS = {2: 50, 3: 200, 4: 100, 5: 50, 6: 25, 7: 12, 8: 8}
_STEP = 1e-5

Score = Callable[[np.ndarray], np.ndarray]


def main() -> None:
    """Print a line for every n."""
    print("extremes: percent of n; greatest found from so many starts, and the greatest of a·I + (1 − a)·C")
    for n, starts in _STARTS.items():
        means, worst = (_searched(score, n, starts) for score in (_nmape, _worst))
        print(
            f"  n = {n}, {starts} starts: NMAPE {means:.4f} (cycle {_of_cycle(_nmape, n):.4f}), "
            f"worst truth {worst:.4f} (cycle {_of_cycle(_worst, n):.4f})"
        )


def _nmape(matrices: np.ndarray) -> np.ndarray:
    found: np.ndarray = 100 / matrices.shape[-1] * mean_absolute_error(matrices - _marginals(matrices))
    return found


def _worst(matrices: np.ndarray) -> np.ndarray:
    differences = matrices - _marginals(matrices)
    return np.array([100 / len(d) * abs(worst_truth(d)[0]) for d in differences])


def _marginals(matrices: np.ndarray) -> np.ndarray:
    return np.array([matrix_marginals(matrix)[1] for matrix in matrices])


def _searched(score: Score, n: int, starts: int) -> float:
    """The greatest score that was found by climbing from random starts, flat and peaky, full and sparse."""
    rng = np.random.default_rng(n)
    best = 0.0
    for _ in range(starts):
        logs = rng.normal(size=(n, n)) * rng.choice([1, 2, 4])
        logs -= 15 * (rng.random((n, n)) < rng.choice([0, 0.3, 0.6]))
        logs[np.arange(n), rng.permutation(n)] += 1
        for _ in range(3):
            climbed = minimize(_slope, logs.ravel(), (score, n), jac=True, method="L-BFGS-B")
            logs = climbed.x
        best = max(best, -climbed.fun)
    return best


def _slope(logs: np.ndarray, score: Score, n: int) -> tuple[float, np.ndarray]:
    """Minus the score of the scaled matrix with these logarithms, and its slope by differences."""
    points = np.concatenate([logs[None], logs + _STEP * np.eye(n * n)])
    weights = np.exp(np.clip(points - points.max(), -60, None)).reshape(-1, n, n)
    found = score(np.array([scale_to_stochastic(w) for w in weights]))
    return -found[0], -(found[1:] - found[0]) / _STEP


def _of_cycle(score: Score, n: int) -> float:
    found = minimize_scalar(lambda a: -score(cycle_matrix(n, a)[None])[0], bounds=(0.5, 1), method="bounded")
    return -float(found.fun)


if __name__ == "__main__":
    main()
