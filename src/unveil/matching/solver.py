"""Solving a matching problem: each block by the cheapest exact method, and by simulation only if none is feasible.

1. Remove edges that lie in no perfect matching, separate blocks, merge twins (``independent_blocks``).
2. Up to 24 entries: sum over sets of columns (``column_subsets``).
3. Few classes open at a time: the frontier, within a budget of states (``frontier``).
4. Otherwise the swap chain (``chains``), with an interval; ln permanent then lies between the Bethe permanent and
   2^(n/2) times it (Gurvits 2011; Anari and Rezaei 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import gammaln

from unveil.arrays import Floats, Ints
from unveil.errors import UnveilError
from unveil.intervals import normal_interval
from unveil.matching.blocks import Block, feasible_flow, independent_blocks
from unveil.matching.candidates import Candidates
from unveil.matching.chains import simulate_block
from unveil.matching.column_subsets import LARGEST_MATRIX, matrix_marginals
from unveil.matching.frontier import frontier_marginals, plan_frontier
from unveil.matching.screening import bethe_estimate
from unveil.run import Run
from unveil.wording import ordinal_text

__all__ = [
    "BlockMethod",
    "BlockReport",
    "Budget",
    "Solution",
    "check_bijection",
    "check_truth_possible",
    "solve",
    "solve_by_simulation",
]

BlockMethod = Literal["forced", "subsets", "frontier", "simulation", "screening"]


@dataclass(frozen=True)
class Budget:
    """How much work a solution may take: the most entries for sums over sets of columns; for the frontier, states at
    once and transitions between them; for the chain, sweeps, and the half-width of the expected number of cracks, as a
    share of all entries, at which it may stop."""

    subsets: int = LARGEST_MATRIX
    states: int = 4_000_000
    transitions: int = 10_000_000_000
    sweeps: int = 20_000
    half_width: float = 0.001


@dataclass(frozen=True)
class BlockReport:
    """How one block was solved: its entries, the method, and the diagnostics of a simulation."""

    entries: int
    method: BlockMethod
    error: float = 0.0
    rhat: float = 1.0
    effective_size: float = math.inf
    enough: bool = True


@dataclass(frozen=True, eq=False)
class SolvedBlock:
    """The result for one block: ln permanent as an interval, and the probability of every edge."""

    log_low: float
    log_high: float
    marginals: Floats
    part: BlockReport


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The probabilities of a random matching.

    ``marginals[e]`` is the probability that an entry of edge e's class has a given pseudonym of its group; ``crack`` is
    the probability that each entry has its true pseudonym. ``log_permanent`` is an interval, of width 0 if exact.
    ``parts`` says how each of the ``independent_blocks`` was solved, and ``solved_blocks`` holds the results.
    """

    candidates: Candidates
    truth: Ints
    log_permanent: tuple[float, float]
    marginals: Floats
    crack: Floats
    expected_cracks: float
    interval: tuple[float, float]
    parts: tuple[BlockReport, ...]
    blocks: tuple[Block, ...]
    solved_blocks: tuple[SolvedBlock, ...]

    @property
    def exact(self) -> bool:
        """Whether every block was solved exactly."""
        return all(p.method not in ("simulation", "screening") for p in self.parts)

    @property
    def method(self) -> Literal["exact", "simulation", "truncated"]:
        """How the expected cracks were obtained; truncated if a simulation ran out of sweeps."""
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

    @property
    def best_guess(self) -> Floats:
        """The probability of each entry's likeliest pseudonym, which the candidates tell without the truth."""
        best = np.zeros(len(self.candidates.class_sizes))
        np.maximum.at(best, self.candidates.edge_class, self.marginals)
        return np.asarray(best[self.candidates.entry_class])

    def shown_risk(self, is_truth_secret: bool) -> Floats:
        """What may be said about each entry: how likely it is cracked or, if the truth is a secret, how likely the best
        guess is right. Otherwise whoever holds the candidates would see which of an entry's pseudonyms has just that
        probability: the true one."""
        return self.best_guess if is_truth_secret else self.crack

    def marginal(self, entry: int, pseudonym: int) -> float:
        """The probability that an entry has a pseudonym."""
        edge = int(self.candidates.find_edges(np.array([entry]), np.array([pseudonym]))[0])
        return float(self.marginals[edge]) if edge >= 0 else 0.0

    def matrix(self) -> Floats:
        """The n × n matrix of marginals."""
        return replace(self.candidates, weights=self.marginals).to_matrix()

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"simulated, {self.interval[0]:.4g} to {self.interval[1]:.4g}"
        rungs = {p.method: sum(q.method == p.method for q in self.parts) for p in self.parts}
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
    may_exclude_truth: bool = False,
    simulate: bool = True,
    known: Solution | None = None,
) -> Solution:
    """Find how likely each entry is to be cracked.

    Parameters
    ----------
    candidates
        What the attacker considers possible.
    truth
        The pseudonym of every entry; by default entry i has pseudonym i.
    may_exclude_truth
        Allow a truth that the attacker excludes. Entries whose true pseudonym is excluded are never cracked.
    simulate
        Whether to simulate blocks that cannot be solved exactly; otherwise they only get instant bounds and beliefs.
    known
        The solution of a similar problem, from which results for equal blocks are reused.
    """
    run, budget = run or Run(), budget or Budget()
    truth = check_bijection(truth, candidates.n)
    edge = candidates.find_edges(np.arange(candidates.n), truth)
    flow = feasible_flow(candidates, truth)
    if not may_exclude_truth:
        check_truth_possible(candidates, truth)
    true_counts = np.bincount(edge[edge >= 0], minlength=len(candidates.groups))
    marginals = np.zeros(len(candidates.groups))
    log_low = log_high = variance = 0.0
    parts, solutions = list(independent_blocks(candidates, flow)), []
    old = {} if known is None else {b.shape: s for b, s in zip(known.blocks, known.solved_blocks, strict=True)}
    for block in parts:
        run.check()
        solved = old.get(block.shape) if old else None
        if solved is None:
            solved = _solve_block(block, flow, true_counts, run, budget, candidates.n if simulate else 0)
        marginals[block.edges] = solved.marginals[block.part]
        log_low, log_high = log_low + solved.log_low, log_high + solved.log_high
        variance += solved.part.error**2
        solutions.append(solved)
    crack = np.where(edge >= 0, marginals[edge], 0.0) if len(marginals) else np.zeros(candidates.n)
    mean = float(crack.sum())
    interval = normal_interval(mean, math.sqrt(variance), float(candidates.n), run.confidence)
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


def check_truth_possible(
    candidates: Candidates, truth: Ints, otherwise: str = "allow it with may_exclude_truth"
) -> None:
    """Raise an error if the attacker excludes the truth; ``otherwise`` says how to allow that."""
    edge = candidates.find_edges(np.arange(candidates.n), truth)
    if (edge < 0).any():
        raise UnveilError(
            f"the true pseudonym of the {ordinal_text(int((edge < 0).argmax()) + 1)} entry is not among its "
            f"candidates; give or correct the truth, or {otherwise}"
        )


def check_bijection(truth: Ints | None, n: int) -> Ints:
    """Check the truth; without one, entry i has pseudonym i."""
    if truth is None:
        return np.arange(n)
    truth = np.asarray(truth)
    if truth.dtype.kind not in "iu" and not (truth.dtype.kind == "f" and (truth == np.floor(truth)).all()):
        raise UnveilError("the truth must be a list of pseudonym numbers")
    truth = truth.astype(np.int64)
    if truth.ndim != 1 or sorted(truth.tolist()) != list(range(n)):
        raise UnveilError(f"the truth must name every pseudonym 0 … {n - 1} once")
    return truth


def _solve_block(block: Block, flow: Ints, true_counts: Ints, run: Run, budget: Budget, entries: int) -> SolvedBlock:
    """Solve one block by the cheapest method that suits it."""
    n = block.n
    if len(block.a) == 1:
        log = float(gammaln(n + 1)) + n * math.log(block.weights[0])
        return SolvedBlock(log, log, np.full(1, 1 / n), BlockReport(n, "forced"))
    plan = plan_frontier(block, budget.states)
    if n <= min(LARGEST_MATRIX, budget.subsets) and (plan is None or plan.work > n << (n - 2)):
        return _solve_by_subsets(block)
    if plan is not None and plan.work <= budget.transitions:
        log, marginals = frontier_marginals(block, plan, run)
        return SolvedBlock(log, log, marginals, BlockReport(n, "frontier"))
    if not entries:
        quick = bethe_estimate(block, run=run)
        return SolvedBlock(quick.low, quick.high, quick.beliefs, BlockReport(n, "screening"))
    return solve_by_simulation(block, flow, true_counts, run, budget, entries)


def _solve_by_subsets(block: Block) -> SolvedBlock:
    log, edges = matrix_marginals(block.to_matrix())
    first_entry, first_slot = np.cumsum(block.r) - block.r, np.cumsum(block.c) - block.c
    return SolvedBlock(log, log, edges[first_entry[block.a], first_slot[block.b]], BlockReport(block.n, "subsets"))


def solve_by_simulation(
    block: Block, flow: Ints, true_counts: Ints, run: Run, budget: Budget, entries: int
) -> SolvedBlock:
    """One block, simulated: its marginals, and bounds for ln permanent. ``entries`` counts those of all blocks."""
    start = np.bincount(block.part, flow[block.edges], len(block.a)).astype(np.int64)
    truth = np.bincount(block.part, true_counts[block.edges], len(block.a)).astype(np.float64)
    rng = run.rng(f"matching.chains {block.edges[0]}")
    half_width = budget.half_width * math.sqrt(entries * block.n)  # the block's part of the total error, by its entries
    found = simulate_block(
        block, start, truth, rng, half_width=half_width, sweeps=budget.sweeps, confidence=run.confidence, run=run
    )
    bounds = bethe_estimate(block, run=run)
    enough = found.sweeps < budget.sweeps
    part = BlockReport(block.n, "simulation", found.error, found.rhat, found.effective_size, enough)
    return SolvedBlock(bounds.low, bounds.high, found.marginals, part)
