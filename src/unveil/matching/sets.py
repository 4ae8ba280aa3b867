"""The probability that a *set* of entries is cracked as a set: it has just its own pseudonyms, in whatever order.

A set S is cracked when it and the rest are each matched within themselves, so that the probability is
perm(S) · perm(rest) / perm(all). Blocks do not influence each other: the probability is the product over the blocks
that the set touches, and no block can take what another gives. Where a permanent is out of reach, the block is
simulated. A simulated matching is scored by the share of all ways to tell twins apart under which the set is cracked,
not by whether it is this time (Rao–Blackwell).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from unveil.errors import UnveilError
from unveil.matching.blocks import Block, InfeasibleError, blocks, feasible_flow
from unveil.matching.candidates import Candidates, Ints
from unveil.matching.chains import Walk
from unveil.matching.diagnostics import effective_size, standard_error
from unveil.matching.ladder import Budget, bijection, solve
from unveil.run import Run

__all__ = ["Chance", "set_cracked"]

_SWEEPS = 2000
_WIDE = 5000.0  # ways to share out a set over the groups of its pseudonyms, at most


@dataclass(frozen=True)
class Chance:
    """A probability with its interval, of width 0 where it is exact."""

    value: float
    interval: tuple[float, float]
    exact: bool = True


def set_cracked(
    matrix: Candidates | npt.ArrayLike,
    members: Sequence[int],
    truth: Ints | None = None,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
) -> Chance:
    """The probability that the entries ``members`` have, in whatever order, just their own pseudonyms.

    >>> set_cracked([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 1, 1]], [0, 2]).value
    0.25
    """
    candidates = matrix if isinstance(matrix, Candidates) else Candidates.from_matrix(matrix)
    run, budget, truth = run or Run(), budget or Budget(), bijection(truth, candidates.n)
    chosen = np.unique(np.asarray(members, np.int64))
    if len(chosen) < len(members) or (len(chosen) and not 0 <= chosen[0] <= chosen[-1] < candidates.n):
        raise UnveilError(f"a set names entries 0 … {candidates.n - 1}, each once")
    entries = np.bincount(candidates.entry_class[chosen], minlength=len(candidates.class_sizes))
    slots = np.bincount(candidates.pseudonym_group[truth[chosen]], minlength=len(candidates.group_sizes))
    flow = feasible_flow(candidates, truth)
    log, spread = 0.0, list[tuple[float, float]]()
    for block in blocks(candidates, flow):
        s, t = _within(candidates, block, entries, slots)
        if not s.any() and not t.any():
            continue
        if s.sum() != t.sum():
            return Chance(0.0, (0.0, 0.0))
        exact = _exactly(block, s, t, run, budget)
        if exact == -math.inf:
            return Chance(0.0, (0.0, 0.0))
        if exact is not None:
            log += exact
        else:
            start = np.bincount(block.part, flow[block.edges], len(block.a)).astype(np.int64)
            spread.append(_simulated(block, start, s, t, run))
    return _chance(math.exp(log), spread, run.confidence)


def _within(candidates: Candidates, block: Block, entries: Ints, slots: Ints) -> tuple[Ints, Ints]:
    """How many of the chosen entries and pseudonyms each class and group of the block has."""
    classes, first = np.unique(candidates.edge_class[block.edges], return_index=True)
    s = np.bincount(block.a[block.part[first]], entries[classes], len(block.r)).astype(np.int64)
    groups, first = np.unique(candidates.groups[block.edges], return_index=True)
    t = np.bincount(block.b[block.part[first]], slots[groups], len(block.c)).astype(np.int64)
    return s, t


def _exactly(block: Block, s: Ints, t: Ints, run: Run, budget: Budget) -> float | None:
    """ln of the probability by three permanents; None where one of them is out of reach."""
    logs = []
    for r, c in ((s, t), (block.r - s, block.c - t), (block.r, block.c)):
        try:
            solution = solve(_sized(block, r, c), run=run, budget=budget, may_be_wrong=True, simulate=False)
        except InfeasibleError:
            return -math.inf
        if not solution.exact:
            return None
        logs.append(solution.log_permanent[0])
    return min(0.0, logs[0] + logs[1] - logs[2])


def _sized(block: Block, r: Ints, c: Ints) -> Candidates:
    """The block's candidates with other numbers of entries and pseudonyms."""
    kept = (r[block.a] > 0) & (c[block.b] > 0)
    classes, groups = np.cumsum(r > 0) - 1, np.cumsum(c > 0) - 1
    return Candidates.from_classes(
        np.repeat(np.arange((r > 0).sum()), r[r > 0]),
        np.repeat(np.arange((c > 0).sum()), c[c > 0]),
        classes[block.a[kept]],
        groups[block.b[kept]],
        block.weights[kept],
    )


def _simulated(block: Block, start: Ints, s: Ints, t: Ints, run: Run) -> tuple[float, float]:
    """The probability by simulation, and its standard error."""
    walk = Walk(block, start, start.astype(np.float64), run.rng(f"matching.sets {block.edges[0]}"))
    walk.advance(_SWEEPS // 10)
    classes, groups = np.flatnonzero(s), np.flatnonzero(t)
    if np.prod(t[groups] + 1.0) > _WIDE:
        raise UnveilError("a set over so many groups of pseudonyms is out of reach; ask for a smaller one")
    ways = _log_choose(block.r, s) + _log_choose(block.c, t)
    chances, scores = np.empty((2, len(walk.matchings), _SWEEPS))
    for k in range(_SWEEPS):
        scores[:, k] = walk.advance(1)[:, 0]
        for chain, counts in enumerate(walk.counted(classes, groups)):
            chances[chain, k] = _edge_sets(counts, s[classes], t[groups]) * math.exp(-ways)
        run.progress("simulating matchings", k / _SWEEPS)
        run.check()
    seen = standard_error(chances) if chances.any() else 0.0
    return float(chances.mean()), seen or 1.6 / effective_size(scores)  # what never changed may do so once in all draws


def _log_choose(n: Ints, k: Ints) -> float:
    return sum(math.log(math.comb(a, b)) for a, b in zip(n.tolist(), k.tolist(), strict=True))


def _edge_sets(counts: Ints, s: Ints, t: Ints) -> float:
    """In how many ways edges can be chosen, s of each class and t of each group, when so many lead from class to
    group: cell by cell, with what the groups and the class still need."""
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


def _chance(exact: float, spread: list[tuple[float, float]], confidence: float) -> Chance:
    """The product, between the products of the factors' lower and upper ends, all of which hold together."""
    if not spread:
        return Chance(exact, (exact, exact))
    z = float(ndtri(1 - (1 - confidence) / 2 / len(spread)))
    low = exact * math.prod(max(0.0, p - z * e) for p, e in spread)
    high = exact * math.prod(min(1.0, p + z * e) for p, e in spread)
    return Chance(exact * math.prod(p for p, _ in spread), (low, high), exact=False)
