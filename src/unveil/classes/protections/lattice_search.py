"""Which levels lose least, of all that are safe enough? The optimum over the lattice of levels, with its proof.

A node of the lattice has a level for every column; a node is below another if none of its levels is higher. Two facts
make the search short:

- Every node has a bound: neither it nor any node above it loses less. Nodes are visited in the order of their bounds,
  and once the bound is no lower than the least loss found, that is the optimum.
- A node can be *hopeless*: neither it nor any node below it is safe enough. From the node that is visited, a chain of
  nodes is followed upwards, each time to the neighbour with the lowest bound, and bisection finds where hope begins.
  Nodes below a hopeless one are not looked at.

Each node has one way by which it is reached: columns are raised from the first to the last. So none is visited twice,
and none has to be remembered.

If the work ends before the proof, the bound of the next node says how much less any other node could lose at best.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import NamedTuple, TypeAlias

import numpy as np

from unveil.arrays import Int32s
from unveil.errors import Termination
from unveil.run import Run

__all__ = ["CheckedNode", "LatticeOptimum", "Levels", "search_lattice"]

Levels: TypeAlias = tuple[int, ...]

_NOISE = 1e-12  # what sums of floating-point numbers may be off by


class CheckedNode(NamedTuple):
    """What a node loses, infinite if it is not safe enough, and whether it is hopeless. No node above it loses less
    than ``bound``."""

    loss: float
    is_hopeless: bool
    bound: float = 0.0


@dataclass(frozen=True)
class LatticeOptimum:
    """The levels that lose least of those that were found; None if none is safe enough. No node that is safe enough
    loses less than ``bound``. ``checked`` of ``nodes`` nodes were looked at."""

    levels: Levels | None
    loss: float
    bound: float
    checked: int
    nodes: int

    @property
    def is_proven(self) -> bool:
        """Whether nothing better exists."""
        return self.bound >= self.loss


def search_lattice(
    heights: Sequence[int],
    bound_of: Callable[[Levels], float],
    check: Callable[[Levels], CheckedNode],
    run: Run,
    max_checked: int,
    max_visited: int = 5_000_000,
) -> LatticeOptimum:
    """The node that loses least; of several, one below which no other loses as little.

    ``heights`` are the highest levels. ``bound_of`` must not fall from a node to one above it. At most ``max_checked``
    nodes are checked and ``max_visited`` visited. Ctrl-C ends the search if it has found something.
    """
    search = _Search(tuple(heights), bound_of, check, run)
    try:
        search.run_until(max_checked, max_visited)
        search.lower_levels()
    except KeyboardInterrupt as stop:
        if search.levels is None or isinstance(stop, Termination):
            raise
        run.cancelled.clear()
        run.progress("going on with the best levels so far", None)
    return search.optimum()


class _Search:
    """The state of a search."""

    def __init__(
        self, heights: Levels, bound_of: Callable[[Levels], float], check: Callable[[Levels], CheckedNode], run: Run
    ) -> None:
        self.heights, self.bound_of, self.check_node, self.run = heights, bound_of, check, run
        self.levels: Levels | None = None
        self.loss = inf
        self.known: dict[Levels, CheckedNode] = {}
        self.hopeless = np.empty((0, len(heights)), np.int32)
        bottom = (0,) * len(heights)
        self.waiting: list[tuple[float, Levels, int]] = [(bound_of(bottom), bottom, 0)]

    def run_until(self, max_checked: int, max_visited: int) -> None:
        visited = 0
        while self.waiting and self.waiting[0][0] < self.loss and visited < max_visited:
            if len(self.known) >= max_checked:
                return
            bound, node, column = self.waiting[0]
            self.run.check()
            if not self.is_hopeless(node) and node not in self.known:
                self.follow_chain(node)
                self.report()
            heapq.heappop(self.waiting)
            visited += 1
            bound = max(bound, self.known[node].bound) if node in self.known else bound
            for c in range(column, len(node)):
                if node[c] < self.heights[c]:
                    above = _raise_level(node, c)
                    heapq.heappush(self.waiting, (max(bound, self.bound_of(above)), above, c))

    def follow_chain(self, node: Levels) -> None:
        """Check nodes above this one, up to where hope begins, and the node itself."""
        chain = [node]
        while above := [_raise_level(chain[-1], c) for c, top in enumerate(self.heights) if chain[-1][c] < top]:
            best = min(above, key=self.bound_of)
            if self.bound_of(best) >= self.loss:
                break
            chain.append(best)
        low, high = 0, len(chain)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.check(chain[middle]).is_hopeless else (low, middle)
        self.check(node)

    def lower_levels(self) -> None:
        """Go down from the best node as long as that loses no more: of a column that never varies, say."""
        column = 0
        while self.levels is not None and column < len(self.levels):
            node = self.levels
            below = (*node[:column], node[column] - 1, *node[column + 1 :])
            if node[column] and self.check(below).loss <= self.loss + _NOISE:
                self.loss, self.levels = min(self.loss, self.known[below].loss), below
            else:
                column += 1

    def check(self, node: Levels) -> CheckedNode:
        if self.is_hopeless(node):
            return CheckedNode(inf, True)
        if node not in self.known:
            self.run.check()
            found = self.known[node] = self.check_node(node)
            if found.is_hopeless:
                others = self.hopeless[~(self.hopeless <= np.array(node)).all(axis=1)]
                self.hopeless = np.vstack([others, np.array([node], np.int32)])
            if found.loss < self.loss:
                self.loss, self.levels = found.loss, node
        return self.known[node]

    def is_hopeless(self, node: Levels) -> bool:
        at: Int32s = np.array(node, np.int32)
        return bool((self.hopeless >= at).all(axis=1).any())

    def report(self) -> None:
        count = f"{len(self.known):,} of {prod(h + 1 for h in self.heights):,} ways checked"
        self.run.progress(f"choosing levels, {count}", None)

    def optimum(self) -> LatticeOptimum:
        bound = min(self.loss, self.waiting[0][0]) if self.waiting else self.loss
        nodes = prod(h + 1 for h in self.heights)
        return LatticeOptimum(self.levels, self.loss, bound, len(self.known), nodes)


def _raise_level(node: Levels, column: int) -> Levels:
    return (*node[:column], node[column] + 1, *node[column + 1 :])
