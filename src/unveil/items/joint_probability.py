"""The joint probability of several edges, which the marginals of single items do not determine.

An itemset is cracked if it has exactly its own pseudonyms, in any order. Blocks are independent, so its probability is
a product over blocks. Within a block it is perm(X) · perm(rest) / perm(all), and the marginals of single items bound it
at no cost. Given that one item has one pseudonym, the marginals of the others are those of the block without the two.

What is too costly can be simulated (``matching.set_cracks``): the marginals of a block that cannot be solved, and the
sets that stay undecided. All simulated bounds hold together, except with a given error rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unveil.arrays import Bools, Floats, Ints
from unveil.items.degree_estimates import edges_within
from unveil.matching.blocks import InfeasibleError, feasible_flow, independent_blocks
from unveil.matching.candidates import Candidates
from unveil.matching.set_cracks import simulate_marginals, simulate_set_cracks
from unveil.matching.solver import Budget, Solution, solve
from unveil.run import Run

__all__ = ["JointProbability", "SetBounds"]


@dataclass(frozen=True, eq=False)
class SetBounds:
    """An itemset's parts, each with its block, the classes of its items and the groups of their pseudonyms, and bounds
    on the probability that each part is cracked, which are narrowed in place."""

    parts: list[tuple[int, Ints, Ints]]
    bounds: list[tuple[float, float]]

    @property
    def low(self) -> float:
        """A lower bound on the probability that the itemset is cracked."""
        return math.prod(low for low, _ in self.bounds)

    @property
    def high(self) -> float:
        """An upper bound on that probability."""
        return math.prod(high for _, high in self.bounds)

    def is_open(self, threshold: float) -> bool:
        """Whether the bounds do not tell on which side of the threshold it lies."""
        return self.low < threshold <= self.high


class JointProbability:
    """Joint probabilities from blocks, marginals of single items, and a limited number of permanents.

    In a block that is too large to solve, a marginal lies between 0 and 1/t, where t is the number of twins, or in its
    simulated interval. ``error`` is the error rate that all simulated bounds may have together; with 0, nothing is
    simulated. ``simulated`` becomes true once something was.
    """

    def __init__(
        self,
        candidates: Candidates,
        run: Run,
        budget: Budget,
        solves: int,
        solution: Solution | None = None,
        error: float = 0.0,
    ) -> None:
        self.candidates = candidates
        self.run, self.budget, self.solves_left = run, budget, solves
        self.error, self.simulated = error, False
        if solution is None or not solution.exact:
            solution = solve(candidates, run=run, budget=budget, may_exclude_truth=True, simulate=False)
        self.flow = feasible_flow(candidates, solution.truth)
        same = solution.candidates is candidates
        self.blocks = list(solution.blocks if same else independent_blocks(candidates, self.flow))
        self.is_solved = [part.method != "screening" for part in solution.parts]
        self.low, self.high = solution.marginals.copy(), solution.marginals.copy()
        self.class_block, self.class_local = np.full((2, len(candidates.class_sizes)), -1)
        self.group_block, self.group_local = np.full((2, len(candidates.group_sizes)), -2)
        self.log_permanents: dict[tuple[int, bytes, bytes], float] = {}
        for k, block in enumerate(self.blocks):
            classes, groups = candidates.edge_class[block.edges], candidates.groups[block.edges]
            self.class_block[classes], self.class_local[classes] = k, block.a[block.part]
            self.group_block[groups], self.group_local[groups] = k, block.b[block.part]
            if not self.is_solved[k]:
                self.low[block.edges] = 0.0
                self.high[block.edges] = (1 / np.maximum(block.r[block.a], block.c[block.b]))[block.part]
        self.class_twins = np.array(
            [self.blocks[k].r[a] for k, a in zip(self.class_block, self.class_local, strict=True)]
        )
        self.group_twins = np.array(
            [self.blocks[k].c[b] for k, b in zip(self.group_block, self.group_local, strict=True)]
        )

        self._simulate_unsolved()

    def _simulate_unsolved(self) -> None:
        """Narrow the marginals in blocks that could not be solved, with half of the error rate."""
        unsolved = [block for block, done in zip(self.blocks, self.is_solved, strict=True) if not done]
        if not self.error or not unsolved:
            return
        self.simulated = True
        each = self.error / 2 / sum(len(block.a) for block in unsolved)
        for block in unsolved:
            found = simulate_marginals(block, self.flow, each, self.run)
            self.low[block.edges], self.high[block.edges] = found.low[block.part], found.high[block.part]

    def simulate_sets(self, k: int, classes: Ints, groups: Ints, tests: int) -> tuple[Floats, Floats]:
        """Bounds on the probability that sets in a block are cracked, one of ``tests`` in all, with the other half of
        the error rate: rows of the classes of their items, and of the groups of their pseudonyms."""
        self.simulated = True
        where = self.class_local[classes], self.group_local[groups]
        found = simulate_set_cracks(self.blocks[k], self.flow, *where, self.error / 2 / tests, self.run)
        return found.low, found.high

    def marginal(self, a: int, b: int) -> float:
        """The probability of the edge from a class to a group."""
        at = slice(self.candidates.indptr[a], self.candidates.indptr[a + 1])
        return float(self.low[at][self.candidates.groups[at] == b].sum())

    def conditional_marginals(self, a: int, b: int, others: Ints, groups: Ints) -> Floats | None:
        """The probabilities of edges in the same block, given that one entry of class a has one pseudonym of group b;
        None if the block cannot be solved."""
        k = int(self.class_block[a])
        block = self.blocks[k]
        r, c = block.r.copy(), block.c.copy()
        r[self.class_local[a]] -= 1
        c[self.group_local[b]] -= 1
        found = self._solve_with_sizes(k, r, c)
        if found is None:
            return None
        solution, kept = found
        values = np.zeros(len(block.a))
        values[kept] = solution.marginals
        keys = block.a * len(block.c) + block.b
        edge_keys = self.class_local[others] * len(block.c) + self.group_local[groups]
        at = np.minimum(np.searchsorted(keys, edge_keys), len(keys) - 1)
        inside = (keys[at] == edge_keys) & (self.group_block[groups] == k)
        return np.where(inside, values[at], 0.0)

    def _solve_with_sizes(self, k: int, r: Ints, c: Ints) -> tuple[Solution, Bools] | None:
        """The solution of a block with other numbers of entries and pseudonyms, and which of its edges remain."""
        if self.solves_left <= 0 or not self.is_solved[k]:
            return None
        self.solves_left -= 1
        block = self.blocks[k]
        kept = block.remaining_edges(r, c)
        solution = solve(
            block.with_sizes(r, c), run=self.run, budget=self.budget, may_exclude_truth=True, simulate=False
        )
        return (solution, kept) if solution.exact else None

    def upper_bounds(self, sets: Ints, onto: Ints | None = None) -> Floats:
        """A quick upper bound: every item and every pseudonym must stay within the itemset. If ``onto`` is given, the
        pseudonyms are those of these items instead."""
        if not sets.shape[1] or not len(self.high):
            return np.ones(len(sets))
        edges = edges_within(self.candidates, sets, onto)
        inside = np.where(edges >= 0, self.high[edges], 0.0)
        found: Floats = np.minimum(inside.sum(axis=1).min(axis=1), inside.sum(axis=2).min(axis=1))
        return found

    def chance_bounds(self, members: Ints, threshold: float | None = None, onto: Ints | None = None) -> SetBounds:
        """Bounds on the probability that an itemset is cracked or, if ``onto`` is given, that it has exactly the
        pseudonyms of these items. With a ``threshold``, the computation stops once it is clear on which side the
        probability lies."""
        onto = members if onto is None else onto
        a, b = self.candidates.entry_class[members], self.candidates.pseudonym_group[onto]
        if not np.array_equal(np.sort(self.class_block[a]), np.sort(self.group_block[b])):
            return SetBounds([], [(0.0, 0.0)])
        parts = [
            (int(k), a[self.class_block[a] == k], b[self.group_block[b] == k]) for k in np.unique(self.class_block[a])
        ]
        found = SetBounds(parts, [self._marginal_bounds(x, y) for _, x, y in parts])
        for at, (k, x, y) in enumerate(parts):
            if found.low == found.high or (threshold is not None and not found.is_open(threshold)):
                return found
            if len(x) > 1 and (log := self._log_chance(k, x, y)) is not None:
                found.bounds[at] = math.exp(log), math.exp(log)
        return found

    def simulate_bounds(self, sets: list[SetBounds]) -> None:
        """Narrow the bounds of itemsets by simulating their parts within blocks."""
        by_shape: dict[tuple[int, int], list[tuple[SetBounds, int]]] = {}
        for each in sets:
            for at, ((k, x, _), (low, high)) in enumerate(zip(each.parts, each.bounds, strict=True)):
                if len(x) > 1 and low < high:
                    by_shape.setdefault((k, len(x)), []).append((each, at))
        tests = sum(map(len, by_shape.values()))
        for (k, _), members in by_shape.items():
            classes, groups = (np.stack([each.parts[at][side] for each, at in members]) for side in (1, 2))
            ends = zip(*self.simulate_sets(k, classes, groups, tests), strict=True)
            for (each, at), (least, most) in zip(members, ends, strict=True):
                low, high = each.bounds[at]
                each.bounds[at] = max(low, float(least)), min(high, float(most))

    def _marginal_bounds(self, classes: Ints, groups: Ints) -> tuple[float, float]:
        """Bounds for the part of an itemset in one block, from the row and column sums of the marginals."""
        low, high = np.zeros((2, len(classes), len(groups)))
        for i, a in enumerate(classes):
            at = slice(self.candidates.indptr[a], self.candidates.indptr[a + 1])
            place = np.minimum(np.searchsorted(self.candidates.groups[at], groups), at.stop - at.start - 1)
            inside = self.candidates.groups[at][place] == groups
            low[i], high[i] = (np.where(inside, x[at][place], 0.0) for x in (self.low, self.high))
        if len(classes) == 1:
            return float(low[0, 0]), float(high[0, 0])
        rows, columns = low.sum(axis=1), low.sum(axis=0)
        least = max(0.0, 1 - float((1 - rows).sum()), 1 - float((1 - columns).sum()))
        most = min(1.0, float(high.sum(axis=1).min()), float(high.sum(axis=0).min()))
        return min(least, most), most

    def _log_chance(self, k: int, classes: Ints, groups: Ints) -> float | None:
        """ln perm(X) + ln perm(rest) − ln perm(all) in a block; None if one of them cannot be computed."""
        block = self.blocks[k]
        s = np.bincount(self.class_local[classes], minlength=len(block.r))
        t = np.bincount(self.group_local[groups], minlength=len(block.c))
        whole = self._log_permanent(k, block.r, block.c)
        inside = self._log_permanent(k, s, t)
        if whole is None or inside is None or inside == -math.inf:
            return inside
        rest = self._log_permanent(k, block.r - s, block.c - t)
        return None if rest is None else min(0.0, inside + rest - whole)

    def _log_permanent(self, k: int, r: Ints, c: Ints) -> float | None:
        if not r.any():
            return 0.0
        if not self.blocks[k].remaining_edges(r, c).any():
            return -math.inf
        key = k, r.tobytes(), c.tobytes()
        if key not in self.log_permanents:
            try:
                found = self._solve_with_sizes(k, r, c)
            except InfeasibleError:
                self.log_permanents[key] = -math.inf
                return -math.inf
            if found is None:
                return None
            self.log_permanents[key] = found[0].log_permanent[0]
        return self.log_permanents[key]
