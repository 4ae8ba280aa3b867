"""Blocks that are too wide to solve exactly: simulated, with error bars.

A Markov chain walks over perfect matchings by *local* changes. In a **swap**, an entry draws one of its own candidates
and swaps with the holder, if the holder can take what the entry gives up. Almost every proposal is sensible, unlike
those of the published chain, which picks two entries at random. If candidates have different weights, **reshuffles**
replace swaps: five entries redistribute what they hold by the exact conditional distribution.

Neither reaches every matching: three entries whose candidates form a ring cannot swap, and on sparse graphs such chains
settle on wrong results without any sign of it. So every sweep also has **tours**: one entry gives up its pseudonym and
draws a candidate by weight, whoever is displaced draws in turn, until the free pseudonym is drawn. The reverse of a
tour is a tour of the same length, and the ratio of their probabilities is the ratio of the two matchings' weights, so
tours preserve the distribution. A tour that grows too long is undone.

Twins are exchangeable, so a matching is scored by how many entries of each class are in each group, not by which
entries they are (Rao–Blackwell). Four chains start from different matchings; split R̂ and the effective sample size
show whether they agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unveil.arrays import Bools, Floats, Ints
from unveil.intervals import normal_quantile
from unveil.matching import _chains
from unveil.matching.blocks import Block, flow_between
from unveil.matching.diagnostics import effective_size, split_rhat, standard_error
from unveil.matching.scaling import scale_weights
from unveil.run import Run

__all__ = ["BlockGraph", "ChainWalk", "SimulatedBlock", "simulate_block"]

_CHAIN_COUNT = 4
_SWEEPS_PER_ROUND = 250
_CONVERGED_RHAT = 1.01
_LEAST_WEIGHT = 1e-290  # a candidate with a smaller relative weight is practically never drawn
_TRIAL_TOURS = 5  # tours that estimate the usual length
_LONGEST_TOUR = 4  # longest tour, as a multiple of the number of entries
_PROPOSALS_PER_CALL = 1 << 18  # per call: well under a tenth of a second


@dataclass(frozen=True, eq=False)
class SimulatedBlock:
    """The probability of each edge, the expected score with its standard error, and convergence diagnostics."""

    marginals: Floats
    score: float
    error: float
    rhat: float
    effective_size: float
    sweeps: int


def simulate_block(
    block: Block,
    start: Ints,
    truth: Floats,
    rng: np.random.Generator,
    *,
    half_width: float,
    sweeps: int,
    confidence: float = 0.95,
    run: Run | None = None,
) -> SimulatedBlock:
    """Simulate a block until the expected number of cracks is known to ± ``half_width``, or the sweeps run out.

    ``start`` is the number of entries along each edge in some perfect matching, ``truth`` that in the true one.
    """
    walk = ChainWalk(block, start, truth, rng)
    walk.advance(_SWEEPS_PER_ROUND, partial(_report_progress, run, 0, sweeps + _SWEEPS_PER_ROUND))  # burn-in
    walk.reset_counts()
    rounds, made = list[Floats](), 0
    while True:
        rounds.append(
            walk.advance(
                _SWEEPS_PER_ROUND, partial(_report_progress, run, made + _SWEEPS_PER_ROUND, sweeps + _SWEEPS_PER_ROUND)
            )
        )
        made += _SWEEPS_PER_ROUND
        kept = np.concatenate(rounds, axis=1)
        error, rhat = standard_error(kept), split_rhat(kept)
        good = rhat < _CONVERGED_RHAT and normal_quantile(confidence) * error <= half_width
        if good or made >= sweeps:
            if error == 0:  # a score that never changed may still change once in as many sweeps
                error = 1.6 * block.n / kept.size
            return SimulatedBlock(walk.marginals(), float(kept.mean()), error, rhat, effective_size(kept), made)


def _report_progress(run: Run | None, before: float, of: float, done: float) -> None:
    if run is not None:
        run.progress("simulating matchings", (before + done) / of)
        run.check()


class ChainWalk:
    """Four Markov chains over the matchings of a block."""

    def __init__(self, block: Block, start: Ints, truth: Floats, rng: np.random.Generator) -> None:
        self.block = block
        self.per_pair = 1.0 / (block.r[block.a] * block.c[block.b])
        self.worth = np.zeros((len(block.r), len(block.c)))
        self.worth[block.a, block.b] = truth * self.per_pair
        self.counts = np.zeros(self.worth.shape, np.int64)
        self.graph = _block_graph(block)
        self.path = np.empty((_LONGEST_TOUR * len(self.graph.movable) + 8, 2), np.int64)
        starts = [start, *(_random_flow(block, rng) for _ in range(_CHAIN_COUNT - 1))]
        self.matchings = [_matching_from_flow(block, flow) for flow in starts]
        self.streams = rng.spawn(_CHAIN_COUNT)
        self.rounds = self._moves_per_sweep()

    def advance(self, sweeps: int, report_progress: Callable[[float], None] = lambda done: None) -> Floats:
        """Advance by some sweeps and return the score after each, by chain; ``report_progress`` gets the sweeps."""
        scores = np.empty((_CHAIN_COUNT, sweeps))
        together = max(1, _PROPOSALS_PER_CALL // (len(self.graph.movable) + 1))
        for start in range(0, sweeps, together):
            part = scores[:, start : start + together]
            for k, found in enumerate(part):
                how = tuple(self.graph), self.matchings[k], self.rounds, self.streams[k], self.path
                _chains.run_sweeps(*how, self.worth, self.counts, found)
                report_progress(start + part.shape[1] * (k + 1) / _CHAIN_COUNT)
        return scores

    def _moves_per_sweep(self) -> Ints:
        """The number of swaps, tours and reshuffles in a sweep. With m entries that have a choice, it has m/2 swaps (a
        swap moves two entries) or m/10 reshuffles, and tours of about m/2 steps in all. The number of tours is fixed
        for the whole walk, because it must not depend on the walk's path. If every class's candidates are a run of
        groups, swaps alone reach every matching (Dyer, Jerrum and Müller 2017) and work better without tours."""
        movable = len(self.graph.movable)
        if _has_equal_weights(self.block) and _has_adjacent_candidates(self.block):
            return np.array([movable // 2 + 1, 0, 0])
        made = zip(self.matchings, self.streams, strict=True)
        lengths = [_chains.mean_tour_length(tuple(self.graph), *one, self.path, _TRIAL_TOURS) for one in made]
        tours = round(movable / 2 / float(np.mean(lengths))) + 1
        return np.array(
            [movable // 2 + 1, tours, 0] if _has_equal_weights(self.block) else [0, tours, movable // 10 + 1]
        )

    def reset_counts(self) -> None:
        """Restart the counts, so that the burn-in does not enter the marginals."""
        self.counts[:] = 0

    def marginals(self) -> Floats:
        """The share of sweeps in which an entry of each edge's class had a given pseudonym of its group."""
        observed = self.counts.sum() / self.block.n
        found: Floats = self.counts[self.block.a, self.block.b] / observed * self.per_pair
        return found


class BlockGraph(NamedTuple):
    """A block as the kernels need it: the weights of classes by groups; the class of every entry and the group of every
    pseudonym; the candidates of every class as runs of pseudonyms; the entries that have a choice; which weights are
    positive; and the classes that share candidates with each (starts, classes, running total of their entries), with
    the first entry of every class. Kernels take it as a plain tuple: numba cannot load its cache after a rename.
    """

    weights: Floats
    of_entry: Ints
    of_slot: Ints
    runs: Floats
    movable: Ints
    allowed: Bools
    near_starts: Ints
    near: Ints
    near_upto: Ints
    begins: Ints


def _block_graph(block: Block) -> BlockGraph:
    """What the kernels need to know about the block; weights are scaled so that none is out of range."""
    weights = np.zeros((len(block.r), len(block.c)))
    weights[block.a, block.b] = 1.0
    near = np.zeros(len(block.r) + 1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    if not _has_equal_weights(block):
        scaled = scale_weights(block.a, block.b, block.weights, block.r, block.c)[2]
        weights[block.a, block.b] = np.maximum(scaled / (block.r[block.a] * block.c[block.b]), _LEAST_WEIGHT)
        near = _neighbouring_classes(block)
    of_entry, of_slot = np.repeat(np.arange(len(block.r)), block.r), np.repeat(np.arange(len(block.c)), block.c)
    degrees = np.bincount(block.a, block.c[block.b], len(block.r))
    movable = np.flatnonzero(degrees[of_entry] > 1)
    begins = np.cumsum(block.r) - block.r
    return BlockGraph(weights, of_entry, of_slot, _candidate_runs(block, weights), movable, weights > 0, *near, begins)


def _neighbouring_classes(block: Block) -> tuple[Ints, Ints, Ints]:
    """The classes that share candidates with each class: where each list begins, the classes, and the running total of
    their entries."""
    pairs = csr_array((np.ones(len(block.a)), (block.a, block.b)), shape=(len(block.r), len(block.c)))
    shared = (pairs @ pairs.T).tocsr()
    sizes = np.cumsum(block.r[shared.indices])
    before = np.append(0, sizes)[np.repeat(shared.indptr[:-1], np.diff(shared.indptr))]
    return shared.indptr.astype(np.int64), shared.indices.astype(np.int64), (sizes - before).astype(np.int64)


def _has_equal_weights(block: Block) -> bool:
    """Whether all candidates have the same weight."""
    return bool((block.weights == block.weights[0]).all())


def _has_adjacent_candidates(block: Block) -> bool:
    """Whether every class's candidates are adjacent groups."""
    first, last = np.full(len(block.r), len(block.c)), np.full(len(block.r), -1)
    np.minimum.at(first, block.a, block.b)
    np.maximum.at(last, block.a, block.b)
    return bool((last - first + 1 == np.bincount(block.a, minlength=len(block.r))).all())


def _candidate_runs(block: Block, weights: Floats) -> Floats:
    """For every class its candidates as runs of pseudonyms: the total weight before and up to the end of each, the
    inverse of the weight of one of its pseudonyms, the first and the last, and the total weight of the class without
    its last candidate. Adjacent groups of equal weight form one run."""
    order = np.lexsort((block.b, block.a))
    a, b = block.a[order], block.b[order]
    weight, starts = weights[a, b], np.cumsum(block.c) - block.c
    new = np.ones(len(a), bool)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1] + 1) | (weight[1:] != weight[:-1])
    begin = np.flatnonzero(new)
    of_class, unit, first = a[begin], weight[begin], starts[b[begin]]
    last = np.append(begin[1:], len(a)) - 1
    end = starts[b[last]] + block.c[b[last]] - 1
    rank = np.arange(len(begin)) - np.searchsorted(of_class, of_class)
    table = np.zeros((len(block.r), int(rank.max()) + 1, 6))
    table[of_class, rank, 1] = (end - first + 1) * unit
    table[:, :, 1] = np.cumsum(table[:, :, 1], axis=1)
    table[:, 1:, 0] = table[:, :-1, 1]
    table[of_class, rank, 2:5] = np.stack([1 / unit, first, end], axis=1)
    longest = np.bincount(of_class) - 1
    for k in range(1, table.shape[1]):  # pad with copies of the last run
        table[:, k] = np.where((k > longest)[:, None], table[:, k - 1], table[:, k])
    table[:, :, 5] = (table[:, -1, 1] - 1 / table[:, -1, 2])[:, None]
    return table


def _random_flow(block: Block, rng: np.random.Generator) -> Ints:
    """The flow of another matching, found by renumbering classes and groups at random."""
    classes, groups = rng.permutation(len(block.r)), rng.permutation(len(block.c))
    return flow_between(classes[block.a], groups[block.b], block.r[np.argsort(classes)], block.c[np.argsort(groups)])


def _matching_from_flow(block: Block, flow: Ints) -> tuple[Ints, Ints]:
    """A matching with this flow along the edges: the pseudonym of every entry, and the entry of every pseudonym."""
    held = np.empty(block.n, np.int64)
    entry, slot = np.cumsum(block.r) - block.r, np.cumsum(block.c) - block.c
    used = flow > 0
    for a, b, x in zip(block.a[used].tolist(), block.b[used].tolist(), flow[used].tolist(), strict=True):
        held[entry[a] : entry[a] + x] = np.arange(slot[b], slot[b] + x)
        entry[a] += x
        slot[b] += x
    return held, np.argsort(held)
