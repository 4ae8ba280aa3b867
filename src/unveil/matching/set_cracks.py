"""The probability that a *set* of entries is cracked: its entries have exactly their own pseudonyms, in any order.

A set S is cracked if S and the rest are each matched within themselves, with probability perm(S) · perm(rest) /
perm(all). Blocks are independent, so this is a product over the blocks that the set touches. If a permanent is too
costly, the block is simulated, for any number of its sets at once: in every sweep of four chains, each set is cracked
or not.

A simulated number lies in its interval except with a given error rate. The interval is that of Student's t for the
means of batches of sweeps, wider by what can have escaped: with n effective draws, something that was never seen has a
probability of at most ln(1/error)/n. Chains that disagree, or give too few effective draws, say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.matching.blocks import Block, InfeasibleError, feasible_flow, independent_blocks
from unveil.matching.candidates import Candidates
from unveil.matching.chains import ChainWalk
from unveil.matching.diagnostics import effective_size, split_rhat
from unveil.matching.solver import Budget, check_bijection, solve
from unveil.run import Run

__all__ = [
    "CrackProbability",
    "set_crack_probabilities",
    "set_crack_probability",
    "simulate_marginals",
    "simulate_set_cracks",
]

_BURN_IN = 200
_BATCH_SWEEPS = 40
_BATCHES = 50  # batches in a round; a simulation that does not converge gets further rounds
_MOST_ROUNDS = 10
_CONVERGED_RHAT = 1.01
_LEAST_EFFECTIVE = 400  # effective draws below which the means of batches are not independent


@dataclass(frozen=True)
class CrackProbability:
    """A probability with its interval, of width 0 if exact."""

    value: float
    interval: tuple[float, float]
    exact: bool = True


def set_crack_probability(
    matrix: Candidates | npt.ArrayLike,
    members: Sequence[int],
    truth: Ints | None = None,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
) -> CrackProbability:
    """The probability that the entries ``members`` have exactly their own pseudonyms, in any order.

    >>> set_crack_probability([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 1, 1]], [0, 2]).value
    0.25
    """
    return set_crack_probabilities(matrix, [members], truth, run, budget=budget)[0]


def set_crack_probabilities(
    matrix: Candidates | npt.ArrayLike,
    sets: Sequence[Sequence[int]],
    truth: Ints | None = None,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
) -> list[CrackProbability]:
    """The probability of :func:`set_crack_probability` for each of some sets; simulated blocks are simulated once. Each
    interval holds with the confidence of the run."""
    candidates = matrix if isinstance(matrix, Candidates) else Candidates.from_matrix(matrix)
    run, budget, truth = run or Run(), budget or Budget(), check_bijection(truth, candidates.n)
    flow = feasible_flow(candidates, truth)
    blocks = list(independent_blocks(candidates, flow))
    permanents: dict[tuple[int, bytes, bytes], float | None] = {}
    factors, open_parts = np.ones((len(sets), 3)), dict[tuple[int, int], list[tuple[int, Ints, Ints]]]()
    for number, members in enumerate(sets):
        run.progress("inspecting sets", number / len(sets))
        run.check()
        for k, s, t in _parts_of_set(candidates, blocks, members, truth):
            log = (
                _exact_log_probability(k, blocks[k], s, t, permanents, run, budget) if s.sum() == t.sum() else -math.inf
            )
            if log is not None:
                factors[number] *= math.exp(log)
            elif factors[number].any():
                open_parts.setdefault((k, int(s.sum())), []).append((number, s, t))
    error = (1 - run.confidence) / len(blocks) if blocks else 1.0
    for (k, _), parts in open_parts.items():
        classes = np.stack([np.repeat(np.arange(len(s)), s) for _, s, _ in parts])
        groups = np.stack([np.repeat(np.arange(len(t)), t) for _, _, t in parts])
        ends = np.stack(simulate_set_cracks(blocks[k], flow, classes, groups, error, run), axis=1)
        np.multiply.at(factors, [number for number, _, _ in parts], ends)
    simulated = {number for parts in open_parts.values() for number, _, _ in parts}
    return [
        CrackProbability(value, (low, high), exact=number not in simulated or high == 0)
        for number, (value, low, high) in enumerate(factors.tolist())
    ]


def _parts_of_set(
    candidates: Candidates, blocks: list[Block], members: Sequence[int], truth: Ints
) -> Iterator[tuple[int, Ints, Ints]]:
    """The blocks that a set touches, with the number of its entries in each class and of its pseudonyms in each
    group."""
    chosen = np.unique(np.asarray(members, np.int64))
    if len(chosen) < len(members) or (len(chosen) and not 0 <= chosen[0] <= chosen[-1] < candidates.n):
        raise UnveilError(f"a set must name entries from 0 to {candidates.n - 1}, each at most once")
    entries = np.bincount(candidates.entry_class[chosen], minlength=len(candidates.class_sizes))
    slots = np.bincount(candidates.pseudonym_group[truth[chosen]], minlength=len(candidates.group_sizes))
    for k, block in enumerate(blocks):
        s, t = _count_members(candidates, block, entries, slots)
        if s.any() or t.any():
            yield k, s, t


def _count_members(candidates: Candidates, block: Block, entries: Ints, slots: Ints) -> tuple[Ints, Ints]:
    """The number of chosen entries and pseudonyms in each class and group of the block."""
    classes, first = np.unique(candidates.edge_class[block.edges], return_index=True)
    s = np.bincount(block.a[block.part[first]], entries[classes], len(block.r)).astype(np.int64)
    groups, first = np.unique(candidates.groups[block.edges], return_index=True)
    t = np.bincount(block.b[block.part[first]], slots[groups], len(block.c)).astype(np.int64)
    return s, t


def _exact_log_probability(
    k: int,
    block: Block,
    s: Ints,
    t: Ints,
    permanents: dict[tuple[int, bytes, bytes], float | None],
    run: Run,
    budget: Budget,
) -> float | None:
    """ln of the probability from three permanents, which are remembered; None if one of them is too costly."""
    logs = []
    for r, c in ((s, t), (block.r - s, block.c - t), (block.r, block.c)):
        key = k, r.tobytes(), c.tobytes()
        if key not in permanents:
            try:
                rest = block.with_sizes(r, c)
                solution = solve(rest, run=run, budget=budget, may_exclude_truth=True, simulate=False)
                permanents[key] = solution.log_permanent[0] if solution.exact else None
            except InfeasibleError:
                permanents[key] = -math.inf
        log = permanents[key]
        if log is None or log == -math.inf:
            return log
        logs.append(log)
    return min(0.0, logs[0] + logs[1] - logs[2])


class SimulatedMeans(NamedTuple):
    """Simulated numbers and the ends of their intervals."""

    value: Floats
    low: Floats
    high: Floats


def simulate_set_cracks(
    block: Block, flow: Ints, classes: Ints, groups: Ints, error: float, run: Run
) -> SimulatedMeans:
    """The probability that each of some sets of entries of a block is cracked.

    A row of ``classes`` and of ``groups`` holds the block's class of each entry of a set, and the group of each of
    their pseudonyms. ``flow`` is the number of entries along each edge of the candidates in some matching. ``error`` is
    the rate at which each interval may fail.
    """
    entries, slots = _distinct_members(block.r, classes), np.sort(_distinct_members(block.c, groups), axis=1)

    def crack_shares(walk: ChainWalk, sweeps: int) -> tuple[Floats, Floats]:
        scores, hits = np.empty((len(walk.matchings), sweeps)), np.zeros(len(entries))
        for sweep in range(sweeps):
            scores[:, sweep] = walk.advance(1)[:, 0]
            for chain, (held, _) in enumerate(walk.matchings):
                cracked = (np.sort(held[entries], axis=1) == slots).all(axis=1)
                hits += cracked
                scores[chain, sweep] += cracked.mean()
        return scores, hits / scores.size

    return _simulate_means(block, flow, crack_shares, np.ones(len(entries)), error, run)


def simulate_marginals(block: Block, flow: Ints, error: float, run: Run) -> SimulatedMeans:
    """The probability of each edge of a block; the arguments are those of :func:`simulate_set_cracks`."""

    def edge_shares(walk: ChainWalk, sweeps: int) -> tuple[Floats, Floats]:
        walk.reset_counts()
        return walk.advance(sweeps), walk.marginals()

    most = 1 / np.maximum(block.r[block.a], block.c[block.b])
    return _simulate_means(block, flow, edge_shares, most, error, run)


def _distinct_members(sizes: Ints, kinds: Ints) -> Ints:
    """For each row of classes or groups of these sizes, different members of them."""
    same = kinds[:, :, None] == kinds[:, None, :]
    earlier = np.tril(same, -1).sum(axis=2)
    members: Ints = (np.cumsum(sizes) - sizes)[kinds] + earlier
    return members


def _simulate_means(
    block: Block,
    flow: Ints,
    observe: Callable[[ChainWalk, int], tuple[Floats, Floats]],
    most: Floats,
    error: float,
    run: Run,
) -> SimulatedMeans:
    """The means of numbers between 0 and ``most``, of which ``observe`` gives the average over some sweeps, with the
    score of every chain and sweep."""
    start = np.bincount(block.part, flow[block.edges], len(block.a)).astype(np.int64)
    walk = ChainWalk(block, start, start.astype(np.float64), run.rng(f"matching.sets {block.edges[0]}"))
    walk.advance(_BURN_IN)
    scores, count, mean, squares = list[Floats](), 0, np.zeros(len(most)), np.zeros(len(most))
    for _ in range(_MOST_ROUNDS):
        for batch in range(_BATCHES):
            run.progress("simulating matchings", batch / _BATCHES)
            run.check()
            score, found = observe(walk, _BATCH_SWEEPS)
            scores.append(score)
            count += 1
            off = found - mean
            mean = mean + off / count
            squares += off * (found - mean)
        drawn = np.concatenate(scores, axis=1)
        drawn = (drawn - drawn[0, 0]).round(9)  # what only changes by rounding does not change
        effective = effective_size(drawn)
        if split_rhat(drawn) < _CONVERGED_RHAT and effective >= _LEAST_EFFECTIVE:
            half = stdtrit(count - 1, 1 - error / 2) * np.sqrt(squares / (count - 1) / count)
            half += most * math.log(2 / error) / effective
            return SimulatedMeans(mean, np.maximum(mean - half, 0.0), np.minimum(mean + half, most))
    return SimulatedMeans(mean, np.zeros(len(most)), most)
