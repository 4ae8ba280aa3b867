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
_MET = 1.01
_LARGEST_START = 3000
_PROPOSALS = 1 << 18  # driven by one call: well under a tenth of a second


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
    walk = _Walk(block, start, truth, rng)
    walk.advance(_ROUND)  # burn-in
    walk.totals[:] = 0
    rounds, made = [], 0
    while True:
        rounds.append(walk.advance(_ROUND))
        made += _ROUND
        kept = np.concatenate(rounds, axis=1)
        error, rhat = standard_error(kept), split_rhat(kept)
        good = rhat < _MET and float(ndtri((1 + confidence) / 2)) * error <= half_width
        if run is not None:
            run.progress("simulating matchings", made / sweeps)
            run.check()
        if good or made >= sweeps:
            marginals = walk.totals[block.a, block.b] / (made * _CHAINS * block.n) * walk.per_pair
            return Simulated(marginals, float(kept.mean()), error, rhat, effective_size(kept), made)


class _Walk:
    """Four matchings of a block on their way."""

    def __init__(self, block: Block, start: Ints, truth: Floats, rng: np.random.Generator) -> None:
        self.block, self.rng = block, rng
        self.per_pair = 1.0 / (block.r[block.a] * block.c[block.b])
        self.worth = np.zeros((len(block.r), len(block.c)))
        self.worth[block.a, block.b] = truth * self.per_pair
        self.totals = np.zeros((len(block.r), len(block.c)), np.int64)
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
        """Go on by some sweeps; the score after each of them, by chain. The counts of all steps go to ``totals``."""
        scores = np.empty((_CHAINS, sweeps))
        for held, found in zip(self.held, scores, strict=True):
            counts = np.zeros(self.worth.shape, np.int64)
            np.add.at(counts, (self.of_entry, self.of_slot[held]), 1)
            holder = np.argsort(held)
            together = max(1, _PROPOSALS // self.block.n)
            for start in range(0, sweeps, together):
                part = found[start : start + together]
                uniforms = self.rng.random((len(part) * self.block.n, 2))
                _kernels.swap_sweeps(
                    *(self.logs, self.of_entry, self.of_slot, self.first, self.reach, self.ends, held, holder),
                    *(uniforms, counts, self.worth, self.totals, part),
                )
        return scores


def _runs(block: Block) -> tuple[Ints, Ints, Ints]:
    """For every class its candidates as runs of pseudonyms: where each run begins, the running number of candidates,
    and how many there are in all. Groups that stand side by side make one run."""
    starts = np.cumsum(block.c) - block.c
    runs: list[list[tuple[int, int]]] = [[] for _ in block.r]
    for e in np.lexsort((block.b, block.a)).tolist():
        mine, begin, size = runs[block.a[e]], int(starts[block.b[e]]), int(block.c[block.b[e]])
        if mine and sum(mine[-1]) == begin:
            mine[-1] = (mine[-1][0], mine[-1][1] + size)
        else:
            mine.append((begin, size))
    width = max(map(len, runs))
    first, sizes = np.zeros((2, len(runs), width), np.int64)
    for a, mine in enumerate(runs):
        first[a, : len(mine)], sizes[a, : len(mine)] = zip(*mine, strict=True)
    ends = np.cumsum(sizes, axis=1)
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
