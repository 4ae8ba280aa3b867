"""Blocks that are too wide to solve: simulated, with error bars.

The chain walks over perfect matchings by local swaps: an entry picks one of *its* candidates and swaps with the holder
if the holder can take what it gives up. Almost every proposal is sensible, unlike the published chain that swaps two
entries picked at random. Twins are exchangeable, so that a matching is scored by how many entries of each class stand
in each group, not by who they are (Rao–Blackwell). Four chains from different starts; split R̂ and the effective sample
size say whether they have met.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtri

from unveil.matching import _kernels
from unveil.matching.blocks import Block
from unveil.matching.candidates import Floats, Ints
from unveil.matching.diagnostics import effective_size, split_rhat, standard_error
from unveil.run import Run

__all__ = ["Simulated", "simulate"]

_CHAINS = 4
_ROUND = 250
_LARGEST_START = 3000


@dataclass(frozen=True, eq=False)
class Simulated:
    """The probability of each edge, the expected score with its standard error, and how far to trust it."""

    marginals: Floats
    score: float
    error: float
    rhat: float
    effective: float
    sweeps: int


def simulate(
    block: Block,
    start: Ints,
    truth: Floats,
    rng: np.random.Generator,
    *,
    half_width: float,
    sweeps: int,
    confidence: float = 0.95,
    run: Run | None = None,
) -> Simulated:
    """Simulate a block until the expected number of cracks is known to ± ``half_width``, or the sweeps are used up.

    ``start`` is how many entries go along each edge in some perfect matching; ``truth`` how many do in the true one.
    """
    walk = _Walk(block, start, rng)
    per_pair = 1.0 / (block.r[block.a] * block.c[block.b])
    total, scores = np.zeros(len(block.a)), [np.empty((_CHAINS, 0))]
    walk.advance(_ROUND)  # burn-in
    made = 0
    while True:
        found = walk.advance(_ROUND)
        made += _ROUND
        total += found.sum(axis=(0, 1))
        scores.append(found @ (truth * per_pair))
        kept = np.concatenate(scores, axis=1)
        error, rhat = standard_error(kept), split_rhat(kept)
        good = rhat < 1.01 and float(ndtri((1 + confidence) / 2)) * error <= half_width
        if run is not None:
            run.progress("simulating matchings", made / sweeps)
            run.check()
        if good or made >= sweeps:
            marginals = total / (made * _CHAINS) * per_pair
            return Simulated(marginals, float(kept.mean()), error, rhat, effective_size(kept), made)


class _Walk:
    """Four matchings of a block on their way."""

    def __init__(self, block: Block, start: Ints, rng: np.random.Generator) -> None:
        self.block, self.rng = block, rng
        self.of_entry = np.repeat(np.arange(len(block.r)), block.r)
        self.of_slot = np.repeat(np.arange(len(block.c)), block.c)
        self.logs = np.full((len(block.r), len(block.c)), -np.inf)
        self.logs[block.a, block.b] = np.log(block.weights)
        self.first, self.ends, self.reach = _runs(block)
        self.held = [self._start(start, k) for k in range(_CHAINS)]

    def _start(self, start: Ints, k: int) -> Ints:
        """The given matching for the first chain; matchings as far off as random costs make them for the others."""
        n = self.block.n
        if k == 0 or n > _LARGEST_START:
            return _matching(self.block, start)
        costs = self.rng.random((n, n))
        costs[np.isneginf(self.logs)[np.ix_(self.of_entry, self.of_slot)]] = np.inf
        return np.asarray(linear_sum_assignment(costs)[1], np.int64)

    def advance(self, sweeps: int) -> Floats:
        """Go on by some sweeps; the flow along each edge after each of them, by chain."""
        n = self.block.n
        counts = np.zeros((len(self.block.r), len(self.block.c)), np.int64)
        found = np.empty((_CHAINS, sweeps, len(self.block.a)))
        for k, held in enumerate(self.held):
            holder = np.argsort(held)
            for s in range(sweeps):
                uniforms = self.rng.random((n, 3))
                _kernels.swap_sweeps(
                    *(self.logs, self.of_entry, self.of_slot, self.first, self.reach, self.ends, held, holder, uniforms)
                )
                _kernels.flows(self.of_entry, self.of_slot, held, counts)
                found[k, s] = counts[self.block.a, self.block.b]
        return found


def _runs(block: Block) -> tuple[Ints, Ints, Ints]:
    """For every class: where its candidate groups begin among the pseudonyms, and the running number of candidates."""
    starts = np.cumsum(block.c) - block.c
    width = int(np.bincount(block.a).max())
    first = np.zeros((len(block.r), width), np.int64)
    ends = np.zeros((len(block.r), width), np.int64)
    for a in range(len(block.r)):
        groups = block.b[block.a == a]
        first[a, : len(groups)] = starts[groups]
        ends[a, : len(groups)] = np.cumsum(block.c[groups])
        ends[a, len(groups) :] = ends[a, len(groups) - 1]
    return first, ends, ends[:, -1].copy()


def _matching(block: Block, flow: Ints) -> Ints:
    """A matching with these numbers along the edges."""
    held = np.empty(block.n, np.int64)
    entry, slot = np.cumsum(block.r) - block.r, np.cumsum(block.c) - block.c
    for a, b, x in zip(block.a.tolist(), block.b.tolist(), flow.tolist(), strict=True):
        held[entry[a] : entry[a] + x] = np.arange(slot[b], slot[b] + x)
        entry[a] += x
        slot[b] += x
    return held
