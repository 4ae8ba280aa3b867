"""The probability that a *set* of entries is cracked: its entries have exactly their own pseudonyms, in any order.

A set S is cracked if S and the rest are each matched within themselves, with probability perm(S) · perm(rest) /
perm(all). Blocks are independent, so this is a product over the blocks that the set touches. If a permanent is too
costly, the block is simulated. A simulated matching scores the share of assignments of twins under which the set is
cracked, not whether it is cracked in this draw (Rao–Blackwell).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from unveil.arrays import Ints
from unveil.errors import UnveilError
from unveil.matching.blocks import Block, InfeasibleError, feasible_flow, independent_blocks
from unveil.matching.candidates import Candidates
from unveil.matching.chains import ChainWalk
from unveil.matching.diagnostics import effective_size, standard_error
from unveil.matching.solver import Budget, check_bijection, solve
from unveil.run import Run

__all__ = ["CrackProbability", "set_crack_probability"]

_SIMULATED_SWEEPS = 2000
_MOST_SHARINGS = 5000.0  # the most ways to divide a set among the groups of its pseudonyms


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
    candidates = matrix if isinstance(matrix, Candidates) else Candidates.from_matrix(matrix)
    run, budget, truth = run or Run(), budget or Budget(), check_bijection(truth, candidates.n)
    chosen = np.unique(np.asarray(members, np.int64))
    if len(chosen) < len(members) or (len(chosen) and not 0 <= chosen[0] <= chosen[-1] < candidates.n):
        raise UnveilError(f"a set must name entries from 0 to {candidates.n - 1}, each at most once")
    entries = np.bincount(candidates.entry_class[chosen], minlength=len(candidates.class_sizes))
    slots = np.bincount(candidates.pseudonym_group[truth[chosen]], minlength=len(candidates.group_sizes))
    flow = feasible_flow(candidates, truth)
    log, spread = 0.0, list[tuple[float, float]]()
    for block in independent_blocks(candidates, flow):
        s, t = _count_members(candidates, block, entries, slots)
        if not s.any() and not t.any():
            continue
        if s.sum() != t.sum():
            return CrackProbability(0.0, (0.0, 0.0))
        exact = _exact_log_probability(block, s, t, run, budget)
        if exact == -math.inf:
            return CrackProbability(0.0, (0.0, 0.0))
        if exact is not None:
            log += exact
        else:
            start = np.bincount(block.part, flow[block.edges], len(block.a)).astype(np.int64)
            spread.append(_simulate_probability(block, start, s, t, run))
    return _combine_probabilities(math.exp(log), spread, run.confidence)


def _count_members(candidates: Candidates, block: Block, entries: Ints, slots: Ints) -> tuple[Ints, Ints]:
    """The number of chosen entries and pseudonyms in each class and group of the block."""
    classes, first = np.unique(candidates.edge_class[block.edges], return_index=True)
    s = np.bincount(block.a[block.part[first]], entries[classes], len(block.r)).astype(np.int64)
    groups, first = np.unique(candidates.groups[block.edges], return_index=True)
    t = np.bincount(block.b[block.part[first]], slots[groups], len(block.c)).astype(np.int64)
    return s, t


def _exact_log_probability(block: Block, s: Ints, t: Ints, run: Run, budget: Budget) -> float | None:
    """ln of the probability from three permanents; None if one of them is too costly."""
    logs = []
    for r, c in ((s, t), (block.r - s, block.c - t), (block.r, block.c)):
        try:
            solution = solve(block.with_sizes(r, c), run=run, budget=budget, may_exclude_truth=True, simulate=False)
        except InfeasibleError:
            return -math.inf
        if not solution.exact:
            return None
        logs.append(solution.log_permanent[0])
    return min(0.0, logs[0] + logs[1] - logs[2])


def _simulate_probability(block: Block, start: Ints, s: Ints, t: Ints, run: Run) -> tuple[float, float]:
    """The simulated probability and its standard error."""
    walk = ChainWalk(block, start, start.astype(np.float64), run.rng(f"matching.sets {block.edges[0]}"))
    walk.advance(_SIMULATED_SWEEPS // 10)
    classes, groups = np.flatnonzero(s), np.flatnonzero(t)
    if np.prod(t[groups] + 1.0) > _MOST_SHARINGS:
        raise UnveilError("the set spans too many groups of pseudonyms; choose a smaller set")
    ways = _log_choose(block.r, s) + _log_choose(block.c, t)
    chances, scores = np.empty((2, len(walk.matchings), _SIMULATED_SWEEPS))
    for k in range(_SIMULATED_SWEEPS):
        scores[:, k] = walk.advance(1)[:, 0]
        for chain, counts in enumerate(walk.count_groups(classes, groups)):
            chances[chain, k] = _count_edge_sets(counts, s[classes], t[groups]) * math.exp(-ways)
        run.progress("simulating matchings", k / _SIMULATED_SWEEPS)
        run.check()
    seen = standard_error(chances) if chances.any() else 0.0
    return float(chances.mean()), seen or 1.6 / effective_size(
        scores
    )  # what never changed may change once in all draws


def _log_choose(n: Ints, k: Ints) -> float:
    return sum(math.log(math.comb(a, b)) for a, b in zip(n.tolist(), k.tolist(), strict=True))


def _count_edge_sets(counts: Ints, s: Ints, t: Ints) -> float:
    """The number of ways to choose s edges of each class and t of each group, when ``counts`` edges lead from class to
    group. Goes cell by cell, tracking what the class and the groups still need."""
    ways = {tuple(t.tolist()): 1.0}
    for row, need in zip(counts.tolist(), s.tolist(), strict=True):
        open_ways = {(need, left): w for left, w in ways.items()}
        for b, room in enumerate(row):
            found: dict[tuple[int, tuple[int, ...]], float] = {}
            for (rest, left), w in open_ways.items():
                for x in range(min(rest, left[b], room) + 1):
                    key = rest - x, (*left[:b], left[b] - x, *left[b + 1 :])
                    found[key] = found.get(key, 0.0) + w * math.comb(room, x)
            open_ways = found
        ways = {left: w for (rest, left), w in open_ways.items() if rest == 0}
    return ways.get((0,) * len(t), 0.0)


def _combine_probabilities(exact: float, spread: list[tuple[float, float]], confidence: float) -> CrackProbability:
    """The product of all factors; its interval multiplies the ends of theirs, which hold simultaneously."""
    if not spread:
        return CrackProbability(exact, (exact, exact))
    z = float(ndtri(1 - (1 - confidence) / 2 / len(spread)))
    low = exact * math.prod(max(0.0, p - z * e) for p, e in spread)
    high = exact * math.prod(min(1.0, p + z * e) for p, e in spread)
    return CrackProbability(exact * math.prod(p for p, _ in spread), (low, high), exact=False)
