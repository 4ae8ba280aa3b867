"""The ladder: every block by the cheapest means that is exact, and only the rest by simulation.

1. Edges in no perfect matching are gone, blocks are apart, twins are merged (``blocks``).
2. Up to 24 entries: sets of columns (``subsets``).
3. Few classes open at a time: the frontier, within a budget of states (``frontier``).
4. Otherwise the swap chain (``chains``), with an interval; ln permanent then lies between the Bethe permanent and
   2^(n/2) times it (Gurvits 2011; Anari and Rezaei 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import gammaln, ndtri

from unveil.errors import UnveilError
from unveil.matching.blocks import Block, blocks, feasible_flow
from unveil.matching.candidates import Candidates, Floats, Ints
from unveil.matching.chains import simulate
from unveil.matching.frontier import frontier_marginals, plan
from unveil.matching.screening import bethe
from unveil.matching.subsets import LARGEST, matrix_marginals
from unveil.run import Run

__all__ = ["Budget", "Part", "Rung", "Solution", "bijection", "possible", "solve"]

Rung = Literal["forced", "subsets", "frontier", "simulation", "screening"]


@dataclass(frozen=True)
class Budget:
    """How much work a solution may take: entries whose sets of columns are gone through; for the frontier, states at
    once and transitions between them; for the chain, sweeps, and the half-width of the expected number of cracks, as a
    share of all entries, at which it may stop."""

    subsets: int = LARGEST
    states: int = 4_000_000
    transitions: int = 10_000_000_000
    sweeps: int = 20_000
    half_width: float = 0.001


@dataclass(frozen=True)
class Part:
    """How one block was solved: entries, rung, and for a simulation its diagnostics."""

    entries: int
    rung: Rung
    error: float = 0.0
    rhat: float = 1.0
    effective: float = math.inf
    enough: bool = True


@dataclass(frozen=True, eq=False)
class Solved:
    """What came out for one block: ln permanent as an interval, and the probability of every edge."""

    log_low: float
    log_high: float
    marginals: Floats
    part: Part


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Everything about a random matching that was asked for.

    ``marginals[e]`` is the probability that an entry of edge e's class has a given pseudonym of its group; ``crack``
    the probability for each entry that it has its true one. ``log_permanent`` is an interval, of width 0 where all is
    exact. ``parts`` says how each of the ``blocks`` was solved, and ``solved`` what came out.
    """

    candidates: Candidates
    truth: Ints
    log_permanent: tuple[float, float]
    marginals: Floats
    crack: Floats
    expected_cracks: float
    interval: tuple[float, float]
    parts: tuple[Part, ...]
    blocks: tuple[Block, ...]
    solved: tuple[Solved, ...]

    @property
    def exact(self) -> bool:
        """Whether no block was simulated or only screened."""
        return all(p.rung not in ("simulation", "screening") for p in self.parts)

    @property
    def method(self) -> Literal["exact", "simulation", "truncated"]:
        """How the expected cracks were obtained; truncated where a simulation ran out of sweeps."""
        if self.exact:
            return "exact"
        return "simulation" if all(p.enough for p in self.parts) else "truncated"

    @property
    def degree_of_anonymity(self) -> tuple[float, float]:
        """d = ln permanent / ln n! as an interval; 0 for a single entry (Edman, Sivrikaya and Yener 2007)."""
        n = self.candidates.n
        if n < 2:
            return 0.0, 0.0
        low, high = (x / float(gammaln(n + 1)) for x in self.log_permanent)
        return low, high

    def marginal(self, entry: int, pseudonym: int) -> float:
        """The probability that an entry has a pseudonym."""
        edge = int(self.candidates.edge_of(np.array([entry]), np.array([pseudonym]))[0])
        return float(self.marginals[edge]) if edge >= 0 else 0.0

    def matrix(self) -> Floats:
        """All n × n marginals."""
        small = np.zeros((len(self.candidates.class_sizes), len(self.candidates.group_sizes)))
        small[self.candidates.edge_class, self.candidates.groups] = self.marginals
        return small[np.ix_(self.candidates.entry_class, self.candidates.pseudonym_group)]

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"simulated, {self.interval[0]:.4g} to {self.interval[1]:.4g}"
        rungs = {p.rung: sum(q.rung == p.rung for q in self.parts) for p in self.parts}
        said = ", ".join(f"{count:,} by {rung}" for rung, count in rungs.items())
        return (
            f"Solution: {self.expected_cracks:.6g} of {self.candidates.n:,} entries cracked on average ({how})\n"
            f"  blocks: {said}"
        )


def solve(
    candidates: Candidates,
    truth: Ints | None = None,
    run: Run | None = None,
    *,
    budget: Budget | None = None,
    may_be_wrong: bool = False,
    simulate: bool = True,
    known: Solution | None = None,
) -> Solution:
    """How likely each entry is to be cracked.

    Parameters
    ----------
    candidates
        What the attacker considers possible.
    truth
        The pseudonym of every entry; entry i has pseudonym i if not given.
    may_be_wrong
        Allow a truth that the attacker excludes; such entries are never cracked.
    simulate
        Whether blocks that are out of reach are simulated; otherwise they only get the instant bounds and beliefs.
    known
        The solution of a similar problem, from which equal blocks are taken over.
    """
    run, budget = run or Run(), budget or Budget()
    truth = bijection(truth, candidates.n)
    edge = candidates.edge_of(np.arange(candidates.n), truth)
    flow = feasible_flow(candidates, truth)
    if not may_be_wrong:
        possible(candidates, truth)
    true_counts = np.bincount(edge[edge >= 0], minlength=len(candidates.groups))
    marginals = np.zeros(len(candidates.groups))
    log_low = log_high = variance = 0.0
    parts, solutions = list(blocks(candidates, flow)), []
    old = {} if known is None else {b.shape: s for b, s in zip(known.blocks, known.solved, strict=True)}
    for block in parts:
        run.check()
        solved = old.get(block.shape) if old else None
        if solved is None:
            solved = _block(block, flow, true_counts, run, budget, candidates.n if simulate else 0)
        marginals[block.edges] = solved.marginals[block.part]
        log_low, log_high = log_low + solved.log_low, log_high + solved.log_high
        variance += solved.part.error**2
        solutions.append(solved)
    crack = np.where(edge >= 0, marginals[edge], 0.0) if len(marginals) else np.zeros(candidates.n)
    mean = float(crack.sum())
    width = float(ndtri((1 + run.confidence) / 2)) * math.sqrt(variance)
    interval = (max(0.0, mean - width), min(float(candidates.n), mean + width))
    return Solution(
        candidates,
        truth,
        (log_low, log_high),
        marginals,
        crack,
        mean,
        interval,
        tuple(s.part for s in solutions),
        tuple(parts),
        tuple(solutions),
    )


def possible(candidates: Candidates, truth: Ints) -> None:
    """Refuse a truth that the attacker excludes."""
    edge = candidates.edge_of(np.arange(candidates.n), truth)
    if (edge < 0).any():
        raise UnveilError(
            f"the true pseudonym of entry {int((edge < 0).argmax()) + 1:,} is not among its candidates; give or "
            "mend the truth, or say that the attacker may be wrong"
        )


def bijection(truth: Ints | None, n: int) -> Ints:
    """The truth, checked; entry i has pseudonym i if there is none."""
    if truth is None:
        return np.arange(n)
    truth = np.asarray(truth)
    if truth.dtype.kind not in "iu" and not (truth.dtype.kind == "f" and (truth == np.floor(truth)).all()):
        raise UnveilError("the truth must be a list of pseudonyms' numbers")
    truth = truth.astype(np.int64)
    if truth.ndim != 1 or sorted(truth.tolist()) != list(range(n)):
        raise UnveilError(f"the truth must name every pseudonym 0 … {n - 1} once")
    return truth


def _block(block: Block, flow: Ints, true_counts: Ints, run: Run, budget: Budget, entries: int) -> Solved:
    """Solve one block on the lowest rung that carries it."""
    n = block.n
    if len(block.a) == 1:
        log = float(gammaln(n + 1)) + n * math.log(block.weights[0])
        return Solved(log, log, np.full(1, 1 / n), Part(n, "forced"))
    way = plan(block, budget.states)
    if n <= min(LARGEST, budget.subsets) and (way is None or way.work > n << (n - 2)):
        return _subsets(block)
    if way is not None and way.work <= budget.transitions:
        log, marginals = frontier_marginals(block, way, run)
        return Solved(log, log, marginals, Part(n, "frontier"))
    if not entries:
        quick = bethe(block, run=run)
        return Solved(quick.low, quick.high, quick.beliefs, Part(n, "screening"))
    return _simulated(block, flow, true_counts, run, budget, entries)


def _subsets(block: Block) -> Solved:
    of_entry, of_slot = np.repeat(np.arange(len(block.r)), block.r), np.repeat(np.arange(len(block.c)), block.c)
    log, edges = matrix_marginals(block.dense()[np.ix_(of_entry, of_slot)])
    first_entry, first_slot = np.cumsum(block.r) - block.r, np.cumsum(block.c) - block.c
    return Solved(log, log, edges[first_entry[block.a], first_slot[block.b]], Part(block.n, "subsets"))


def _simulated(block: Block, flow: Ints, true_counts: Ints, run: Run, budget: Budget, entries: int) -> Solved:
    start = np.bincount(block.part, flow[block.edges], len(block.a)).astype(np.int64)
    truth = np.bincount(block.part, true_counts[block.edges], len(block.a)).astype(np.float64)
    rng = run.rng(f"matching.chains {block.edges[0]}")
    half_width = budget.half_width * math.sqrt(entries * block.n)  # as much of the total error as the block has entries
    found = simulate(
        block, start, truth, rng, half_width=half_width, sweeps=budget.sweeps, confidence=run.confidence, run=run
    )
    bounds = bethe(block, run=run)
    enough = found.sweeps < budget.sweeps
    part = Part(block.n, "simulation", found.error, found.rhat, found.effective, enough)
    return Solved(bounds.low, bounds.high, found.marginals, part)
