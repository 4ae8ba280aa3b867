"""Instant estimates: what can be said before anything is counted.

None of these is exact and none has an interval; the documentation shows how far off they were where the truth is known.

- **O**: Σ 1/degree (Lakshmanan, Ng and Ramesh 2008).
- **Sinkhorn**: the flat matrix, rows and columns scaled to sum 1, read as if it were the marginals; for a doubly
  stochastic matrix this is the heuristic H.
- **one-step**: rows scaled to 1, then columns.
- **Bethe**: belief propagation. The Bethe permanent that it finds is a lower bound of the permanent, and 2^(n/2) times
  it an upper bound (Gurvits 2011; Anari and Rezaei 2019).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlogy

from unveil.matching.blocks import Block
from unveil.matching.candidates import Floats, Ints
from unveil.matching.scaling import balanced

__all__ = ["bethe", "one_step", "sinkhorn"]


def sinkhorn(block: Block) -> Floats:
    """The flat matrix of the block: one number per edge, for one entry and one pseudonym."""
    flow = balanced(block.a, block.b, block.weights, block.r, block.c)[2]
    flat: Floats = flow / (block.r[block.a] * block.c[block.b])
    return flat


def one_step(block: Block) -> Floats:
    """Rows scaled to sum 1, then columns: one sweep of Sinkhorn's iteration."""
    rows = np.bincount(block.a, block.weights * block.c[block.b], len(block.r))
    scaled = block.weights / rows[block.a]
    columns = np.bincount(block.b, scaled * block.r[block.a], len(block.c))
    found: Floats = scaled / columns[block.b]
    return found


def bethe(block: Block, sweeps: int = 2000, tolerance: float = 1e-12) -> tuple[float, Floats]:
    """ln of the Bethe permanent, and the beliefs: one number per edge, for one entry and one pseudonym.

    Messages μ = 1/Σ_{others} w·ν from entries and ν = 1/Σ_{others} w·μ from pseudonyms, until they settle, which they
    always do (Vontobel 2013); messages between twins are equal. The odds of a pair are w·μ·ν, and with x the beliefs
    ln Bethe = Σ over pairs of x ln w − x ln x + (1 − x) ln(1 − x).
    """
    a, b = block.a, block.b
    r, c = block.r[a], block.c[b]
    logs = np.log(block.weights)
    nu = np.zeros(len(a))
    for _ in range(sweeps):
        before = nu
        mu = -_others(a, logs + nu, c, len(block.r))
        nu = -_others(b, logs + mu, r, len(block.c))
        if np.abs(nu - before).max() < tolerance:
            break
    belief = expit(logs + mu + nu)
    pairs = block.r[a] * block.c[b]
    energy = pairs * (belief * logs - xlogy(belief, belief) + xlogy(1 - belief, 1 - belief))
    return float(energy.sum()), belief


def _others(index: Ints, logs: Floats, copies: Ints, count: int) -> Floats:
    """ln of the sum over the other pairs of a row: an edge stands for ``copies`` pairs, of which one is left out."""
    top = np.full(count, -np.inf)
    np.maximum.at(top, index, logs)
    scaled = np.exp(logs - top[index])
    total = np.bincount(index, scaled * copies, count)
    found: Floats = top[index] + np.log(np.maximum(total[index] - scaled, 1e-300))
    return found
