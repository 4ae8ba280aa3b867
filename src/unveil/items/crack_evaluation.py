"""Evaluate the expected cracks of many similar beliefs, solving once what they have in common.

The frequency axis splits into segments that no interval bridges. Each segment is solved by itself and remembered by its
shape, so that after a change of one item only the segments that it touches are solved again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unveil.arrays import Floats, Ints
from unveil.items.beliefs import Beliefs
from unveil.matching.blocks import InfeasibleError
from unveil.matching.solver import Budget, solve
from unveil.run import Run

__all__ = ["CrackEvaluator", "Segment"]


@dataclass(frozen=True, eq=False)
class Segment:
    """Items whose pseudonyms no interval joins with others: their codes and crack probabilities."""

    items: Ints
    crack: Floats

    @property
    def cracks(self) -> float:
        """The expected cracks among these items."""
        return float(self.crack.sum())


class CrackEvaluator:
    """Evaluates beliefs by their expected cracks. ``exact`` becomes false once a segment could only be estimated
    (Bethe). Beliefs without a consistent mapping prove nothing about safety and count as infinitely many cracks."""

    def __init__(self, run: Run, budget: Budget | None = None) -> None:
        self.run, self.budget = run, budget or Budget(states=200_000, transitions=200_000_000)
        self.exact = True
        self.work_spent = 0  # evaluated items; one that had to be solved counts as a hundred
        self.solved_segments: dict[bytes, Floats] = {}

    def evaluate_cracks(self, beliefs: Beliefs) -> float:
        """The expected cracks; infinite if no mapping is consistent."""
        parts = self.solve_segments(beliefs)
        return math.inf if parts is None else sum(part.cracks for part in parts)

    def solve_segments(self, beliefs: Beliefs) -> list[Segment] | None:
        """All segments; None if no mapping is consistent."""
        self.run.check()
        self.work_spent += beliefs.n
        found = []
        for items in _split_segments(beliefs):
            crack = self._solve_segment(beliefs.select(items))
            if crack is None:
                return None
            found.append(Segment(items, crack))
        return found

    def _solve_segment(self, beliefs: Beliefs) -> Floats | None:
        if beliefs.n == 1:
            return np.ones(1) if beliefs.compliant[0] else None
        key = _segment_key(beliefs)
        if key not in self.solved_segments:
            self.work_spent += 100 * beliefs.n
            try:
                solution = solve(
                    beliefs.candidates, run=self.run, budget=self.budget, may_exclude_truth=True, simulate=False
                )
            except InfeasibleError:
                return None
            self.exact &= solution.exact
            self.solved_segments[key] = solution.crack
        return self.solved_segments[key]


def _segment_key(beliefs: Beliefs) -> bytes:
    """What is equal for segments with the same cracks, wherever they lie."""
    first, ends = beliefs.counts.min(), [beliefs.low, beliefs.high, beliefs.counts]
    parts = [(np.stack(ends) - first).round(6)]
    if beliefs.ranges is not None:
        parts += [beliefs.ranges.low - first, beliefs.ranges.high - first, beliefs.ranges.weight]
    return b"|".join(part.tobytes() for part in parts)


def _split_segments(beliefs: Beliefs) -> list[Ints]:
    """The items of each segment. An item believed to be in one segment, with its pseudonym in another, joins the two.
    Items are sorted, so that equal segments look alike; an item that fits no pseudonym stands alone."""
    values, group = np.unique(beliefs.counts, return_inverse=True)
    first, last = beliefs.covered_range(values)
    bridges = np.zeros(len(values) + 1, np.int64)
    fits = first <= last
    np.add.at(bridges, first[fits], 1)
    np.add.at(bridges, last[fits], -1)
    part = np.append(0, np.cumsum(np.cumsum(bridges[: len(values) - 1]) == 0))
    ends = part[np.where(fits, first, group)], part[group]
    if not np.array_equal(*ends):
        size = part[-1] + 1
        part = connected_components(coo_array((np.ones(beliefs.n), ends), (size, size)), directed=False)[1][part]
    of_item = part[group]
    order = np.lexsort((beliefs.high, beliefs.low, beliefs.counts, of_item))
    return np.split(order, np.flatnonzero(np.diff(of_item[order])) + 1)
