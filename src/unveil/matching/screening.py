"""Instant estimates of crack probabilities, before anything is counted.

None of these is exact and none has an interval; the documentation shows their errors where the truth is known.

- **O**: Σ 1/degree (Lakshmanan, Ng and Ramesh 2008).
- **Sinkhorn**: the flat matrix, with rows and columns scaled to sum to 1, used in place of the marginals; for a doubly
  stochastic matrix this is the heuristic H.
- **one-step**: rows scaled to sum to 1, then columns.
- **Bethe**: belief propagation. The resulting Bethe permanent is a lower bound of the permanent, and 2^(n/2) times it
  is an upper bound (Gurvits 2011; Anari and Rezaei 2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy

from unveil.arrays import Floats, Ints
from unveil.matching.blocks import Block, feasible_flow, independent_blocks
from unveil.matching.candidates import Candidates
from unveil.matching.scaling import balance_weights
from unveil.run import Run

__all__ = ["BetheEstimate", "bethe_estimate", "instant_estimates", "one_step_estimate", "sinkhorn_estimate"]


def sinkhorn_estimate(block: Block) -> Floats:
    """The flat matrix of the block: per edge, the value for one entry and one pseudonym."""
    flow = balance_weights(block.a, block.b, block.weights, block.r, block.c)[2]
    flat: Floats = flow / (block.r[block.a] * block.c[block.b])
    return flat


def one_step_estimate(block: Block) -> Floats:
    """Rows scaled to sum to 1, then columns: one sweep of Sinkhorn's iteration."""
    rows = np.bincount(block.a, block.weights * block.c[block.b], len(block.r))
    scaled = block.weights / rows[block.a]
    columns = np.bincount(block.b, scaled * block.r[block.a], len(block.c))
    found: Floats = scaled / columns[block.b]
    return found


def instant_estimates(candidates: Candidates, truth: Ints | None = None) -> dict[str, Floats]:
    """Every entry's probability of being cracked, by each instant estimate."""
    truth = np.arange(candidates.n) if truth is None else truth
    edge = candidates.find_edges(np.arange(candidates.n), truth)
    found = {name: np.zeros(len(candidates.groups) + 1) for name in _ESTIMATORS}
    for block in independent_blocks(candidates, feasible_flow(candidates, truth)):
        for name, screen in _ESTIMATORS.items():
            found[name][block.edges] = screen(block)[block.part]
    return {"O": np.where(edge >= 0, 1 / candidates.degrees, 0.0), **{name: at[edge] for name, at in found.items()}}


@dataclass(frozen=True, eq=False)
class BetheEstimate:
    """Beliefs, per edge for one entry and one pseudonym, and bounds of ln permanent."""

    beliefs: Floats
    low: float
    high: float


def bethe_estimate(block: Block, sweeps: int = 2000, tolerance: float = 1e-12, run: Run | None = None) -> BetheEstimate:
    """Belief propagation on the balanced weights.

    Messages μ = 1/Σ_{others} w·ν from entries and ν = 1/Σ_{others} w·μ from pseudonyms are iterated until they converge
    (Vontobel 2013). Messages between twins are equal, and the odds of a pair are w·μ·ν. For any doubly stochastic x,
    Σ over pairs of x ln w − x ln x + (1 − x) ln(1 − x) is at most ln permanent, and at the converged beliefs it is at
    most (n/2) ln 2 less. A matrix whose rows sum to 1 has a permanent of at most 1, which always gives an upper bound.
    """
    a, b = block.a, block.b
    r, c = block.r[a], block.c[b]
    u, v, flow = balance_weights(a, b, block.weights, block.r, block.c, sweeps=10 * sweeps)
    logs = np.log(block.weights) + u[a] + v[b] - np.log(r * c)
    nu = np.zeros(len(a))
    for sweep in range(sweeps):
        if run is not None:
            run.progress("passing beliefs", sweep / sweeps)
            run.check()
        before = nu
        mu = -_log_sum_others(a, logs + nu, c, len(block.r))
        nu = -_log_sum_others(b, logs + mu, r, len(block.c))
        moved = float(np.abs(nu - before).max())
        if moved < tolerance:
            break
    beliefs = expit(logs + mu + nu)
    x = balance_weights(a, b, np.maximum(beliefs, 1e-300) * r * c, block.r, block.c, sweeps=sweeps)[2] / (r * c)
    scale = float((block.r * (np.log(block.r) - u)).sum() + (block.c * (np.log(block.c) - v)).sum())
    x = np.clip(x, 0, 1)
    low = scale + float((r * c * (x * logs - xlogy(x, x) + xlogy(1 - x, 1 - x))).sum())
    rows = np.bincount(a, flow, len(block.r)) / block.r
    high = scale + float((block.r * np.log(rows)).sum())
    settled = moved < 1e-6
    return BetheEstimate(beliefs, low, min(high, low + block.n / 2 * math.log(2) + 1e-6) if settled else high)


def _log_sum_others(index: Ints, logs: Floats, copies: Ints, count: int) -> Floats:
    """ln of the sum over the other pairs of a row; an edge stands for ``copies`` pairs, one of which is omitted."""
    top = np.full(count, -np.inf)
    np.maximum.at(top, index, logs)
    scaled = np.exp(logs - top[index])
    total = np.bincount(index, scaled * copies, count)
    found: Floats = top[index] + np.log(np.maximum(total[index] - scaled, 1e-300))
    return found


_ESTIMATORS: dict[str, Callable[[Block], Floats]] = {
    "Sinkhorn": sinkhorn_estimate,
    "one-step": one_step_estimate,
    "Bethe": lambda block: bethe_estimate(block).beliefs,
}
