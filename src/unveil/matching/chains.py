"""Blocks that are too wide to solve: simulated, with error bars.

The chain walks over perfect matchings by *local* changes. In a **swap** an entry draws one of its own candidates and
swaps with the holder if that can take what it gives up; almost every proposal is sensible, unlike those of the
published chain, which picks two entries at random. Where candidates weigh differently, a **reshuffle** takes the place
of swaps: five entries deal out what they hold by the exact conditional distribution.

Neither reaches every matching: three entries whose candidates form a ring cannot swap, and on sparse graphs such chains
settle on wrong numbers without a sign of it. So every sweep also has **tours**: one entry lets go of its pseudonym and
draws a candidate by weight, whoever is displaced draws in turn, until the free pseudonym is drawn. A tour backwards is
a tour of the same length, and the ratio of their probabilities is that of the two matchings' weights, so that the
distribution is kept; a tour that grows too long is undone.

Twins are exchangeable, so that a matching is scored by how many entries of each class stand in each group, not by who
they are (Rao–Blackwell). Four chains from different starts; split R̂ and the effective sample size say whether they have
met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import ndtri

from unveil.matching import _chains
from unveil.matching.blocks import Block, flow_between
from unveil.matching.candidates import Floats, Ints
from unveil.matching.diagnostics import effective_size, split_rhat, standard_error
from unveil.matching.scaling import tamed
from unveil.run import Run

__all__ = ["Simulated", "Walk", "simulate"]

_CHAINS = 4
_ROUND = 250
_MET = 1.01
_LEAST = 1e-290  # a candidate of smaller weight beside the others is as good as never drawn
_TRIED = 5  # tours from which their usual length is learned
_LONGEST = 4  # a tour may be so many times as long as there are entries
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
    walk = Walk(block, start, truth, rng)
    walk.advance(_ROUND, partial(_tell, run, 0, sweeps + _ROUND))  # burn-in
    walk.forget()
    rounds, made = list[Floats](), 0
    while True:
        rounds.append(walk.advance(_ROUND, partial(_tell, run, made + _ROUND, sweeps + _ROUND)))
        made += _ROUND
        kept = np.concatenate(rounds, axis=1)
        error, rhat = standard_error(kept), split_rhat(kept)
        good = rhat < _MET and float(ndtri((1 + confidence) / 2)) * error <= half_width
        if good or made >= sweeps:
            if error == 0:  # what was never seen to change may still do so once in as many sweeps
                error = 1.6 * block.n / kept.size
            return Simulated(walk.marginals(), float(kept.mean()), error, rhat, effective_size(kept), made)


def _tell(run: Run | None, before: float, of: float, done: float) -> None:
    if run is not None:
        run.progress("simulating matchings", (before + done) / of)
        run.check()


class Walk:
    """Four matchings of a block on their way."""

    def __init__(self, block: Block, start: Ints, truth: Floats, rng: np.random.Generator) -> None:
        self.block = block
        self.per_pair = 1.0 / (block.r[block.a] * block.c[block.b])
        self.worth = np.zeros((len(block.r), len(block.c)))
        self.worth[block.a, block.b] = truth * self.per_pair
        self.counts = np.zeros(self.worth.shape, np.int64)
        self.graph = _graph(block)
        self.path = np.empty((_LONGEST * len(self.graph[4]) + 8, 2), np.int64)
        starts = [start, *(_another(block, rng) for _ in range(_CHAINS - 1))]
        self.matchings = [_matching(block, flow) for flow in starts]
        self.streams = rng.spawn(_CHAINS)
        self.rounds = self._rounds()

    def advance(self, sweeps: int, told: Callable[[float], None] = lambda done: None) -> Floats:
        """Go on by some sweeps; the score after each of them, by chain. ``told`` hears how many are done."""
        scores = np.empty((_CHAINS, sweeps))
        together = max(1, _PROPOSALS // (len(self.graph[4]) + 1))
        for start in range(0, sweeps, together):
            part = scores[:, start : start + together]
            for k, found in enumerate(part):
                how = self.graph, self.matchings[k], self.rounds, self.streams[k], self.path
                _chains.sweeps(*how, self.worth, self.counts, found)
                told(start + part.shape[1] * (k + 1) / _CHAINS)
        return scores

    def _rounds(self) -> Ints:
        """How many swaps, tours and reshuffles make up a sweep: half as many swaps as entries have a choice (a swap
        moves two), or a tenth as many reshuffles, and tours of about half as many steps. The number of tours is settled
        here, for all of the walk, since it must not depend on where the walk goes. Where every class's candidates are a
        run of groups, swaps reach every matching (Dyer, Jerrum and Müller 2017) and do better alone."""
        movable = len(self.graph[4])
        if _even(self.block) and _convex(self.block):
            return np.array([movable // 2 + 1, 0, 0])
        made = zip(self.matchings, self.streams, strict=True)
        lengths = [_chains.tour_length(self.graph, *one, self.path, _TRIED) for one in made]
        tours = round(movable / 2 / float(np.mean(lengths))) + 1
        return np.array([movable // 2 + 1, tours, 0] if _even(self.block) else [0, tours, movable // 10 + 1])

    def counted(self, classes: Ints, groups: Ints) -> Iterator[Ints]:
        """For each chain, how many of these classes hold one of these groups now."""
        of_entry, of_slot = self.graph[1], self.graph[2]
        row, column = np.full(len(self.block.r), -1), np.full(len(self.block.c), -1)
        row[classes], column[groups] = np.arange(len(classes)), np.arange(len(groups))
        for held, _ in self.matchings:
            a, b = row[of_entry], column[of_slot[held]]
            inside = (a >= 0) & (b >= 0)
            found = np.bincount(a[inside] * len(groups) + b[inside], minlength=len(classes) * len(groups))
            yield found.reshape(len(classes), len(groups))

    def forget(self) -> None:
        """Count from here on."""
        self.counts[:] = 0

    def marginals(self) -> Floats:
        """How often an entry of each edge's class had a given pseudonym of its group."""
        observed = self.counts.sum() / self.block.n
        found: Floats = self.counts[self.block.a, self.block.b] / observed * self.per_pair
        return found


def _graph(block: Block) -> tuple[npt.NDArray[Any], ...]:
    """What the kernels need to know of the block; weights are scaled so that none is out of reach."""
    weights = np.zeros((len(block.r), len(block.c)))
    weights[block.a, block.b] = 1.0
    near = np.zeros(len(block.r) + 1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    if not _even(block):
        scaled = tamed(block.a, block.b, block.weights, block.r, block.c)[2]
        weights[block.a, block.b] = np.maximum(scaled / (block.r[block.a] * block.c[block.b]), _LEAST)
        near = _near(block)
    of_entry, of_slot = np.repeat(np.arange(len(block.r)), block.r), np.repeat(np.arange(len(block.c)), block.c)
    degrees = np.bincount(block.a, block.c[block.b], len(block.r))
    movable = np.flatnonzero(degrees[of_entry] > 1)
    begins = np.cumsum(block.r) - block.r
    return weights, of_entry, of_slot, _runs(block, weights), movable, weights > 0, *near, begins


def _near(block: Block) -> tuple[Ints, Ints, Ints]:
    """The classes that share candidates with each class: where they begin, which they are, and the running number of
    their entries."""
    pairs = csr_array((np.ones(len(block.a)), (block.a, block.b)), shape=(len(block.r), len(block.c)))
    shared = (pairs @ pairs.T).tocsr()
    sizes = np.cumsum(block.r[shared.indices])
    before = np.append(0, sizes)[np.repeat(shared.indptr[:-1], np.diff(shared.indptr))]
    return shared.indptr.astype(np.int64), shared.indices.astype(np.int64), (sizes - before).astype(np.int64)


def _even(block: Block) -> bool:
    """Whether all candidates weigh the same."""
    return bool((block.weights == block.weights[0]).all())


def _convex(block: Block) -> bool:
    """Whether every class's candidates are neighbouring groups."""
    first, last = np.full(len(block.r), len(block.c)), np.full(len(block.r), -1)
    np.minimum.at(first, block.a, block.b)
    np.maximum.at(last, block.a, block.b)
    return bool((last - first + 1 == np.bincount(block.a, minlength=len(block.r))).all())


def _runs(block: Block, weights: Floats) -> Floats:
    """For every class its candidates as runs of pseudonyms: the total weight before and up to the end of each, the
    inverse of the weight of one of its pseudonyms, the first and the last, and the total weight of the class without
    its last candidate. Groups side by side of equal weight make one run."""
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
    for k in range(1, table.shape[1]):  # what is behind the last run repeats it
        table[:, k] = np.where((k > longest)[:, None], table[:, k - 1], table[:, k])
    table[:, :, 5] = (table[:, -1, 1] - 1 / table[:, -1, 2])[:, None]
    return table


def _another(block: Block, rng: np.random.Generator) -> Ints:
    """The numbers along the edges in some other matching: the one a flow finds when everything is renumbered."""
    classes, groups = rng.permutation(len(block.r)), rng.permutation(len(block.c))
    return flow_between(classes[block.a], groups[block.b], block.r[np.argsort(classes)], block.c[np.argsort(groups)])


def _matching(block: Block, flow: Ints) -> tuple[Ints, Ints]:
    """A matching with these numbers along the edges: the pseudonym of every entry, and the entry of every pseudonym."""
    held = np.empty(block.n, np.int64)
    entry, slot = np.cumsum(block.r) - block.r, np.cumsum(block.c) - block.c
    used = flow > 0
    for a, b, x in zip(block.a[used].tolist(), block.b[used].tolist(), flow[used].tolist(), strict=True):
        held[entry[a] : entry[a] + x] = np.arange(slot[b], slot[b] + x)
        entry[a] += x
        slot[b] += x
    return held, np.argsort(held)
