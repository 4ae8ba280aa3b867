"""The privacy score by a depth-first search through the sets that people really have.

A node is a set K together with the distinct rows that have it. Adding an attribute keeps the rows that have that one as
well, so each K that somebody has is visited at most once, and every row is asked only for sets it has.

- If a single row is left, everything about it follows: a larger K only costs likelihood and learns less.
- If all rows have an attribute, adding it tells nothing new.
- For row i, no set beyond K weighs more than lk(K) · l · dg(D_i − d(K)), where l is the largest likelihood that is
  still to come, and D_i the danger of all that could follow about i. Rows that cannot improve remain only to
  contradict; a node without others is left.

The search is repeated for larger and larger sets. After all sets of at most s attributes, priv(i) lies between the best
of them and what s + 1 attributes could weigh at best: the likeliest s + 1 of the row, and the least dangerous. Rows
whose bounds meet are done. So a search that ends early has still proven an interval for everybody. If a budget ends it,
some larger sets are tried for the others: those of each row's likeliest attributes.

With a ``goal``, the search only finds out who reaches it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, nextafter
from typing import Any

import numpy as np

from unveil.arrays import Bools, Floats, Ints
from unveil.errors import Termination
from unveil.inference import _generator_search
from unveil.inference.packed_rows import PackedRows
from unveil.inference.relation import Relation
from unveil.run import Run

__all__ = ["SearchedScores", "search_generators"]

_SLICE = 1 << 23
_LAST_WORK = 1 << 30
_NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class SearchedScores:
    """Between which bounds priv of each distinct row lies, and how many sets were looked at."""

    lower: Floats
    upper: Floats
    nodes: int


def search_generators(
    relation: Relation,
    rows: PackedRows,
    run: Run,
    budget: int | None = None,
    most_known: int | None = None,
    goal: float | None = None,
) -> SearchedScores:
    """priv of each row, or an interval for it if more than ``budget`` sets would have to be looked at or the user
    interrupts. Of a ``goal``, only whether a row reaches it is certain."""
    search = _Search(relation, rows, inf if goal is None else goal)
    try:
        search.run_all(run, _NO_LIMIT if budget is None else budget, most_known)
    except KeyboardInterrupt as stop:
        if isinstance(stop, Termination):
            raise
        run.cancelled.clear()
        run.progress("going on with the bounds found so far", None)
    return SearchedScores(search.best, np.maximum(search.best, search.upper), int(search.state[1]))


class _Search:
    """The state of a search: ``best`` is proven to be reached, and nothing above ``upper`` is."""

    def __init__(self, relation: Relation, rows: PackedRows, goal: float) -> None:
        self.rows, self.unit, self.offset, self.goal = rows, relation.danger_unit, relation.danger_offset, goal
        self.best = np.zeros(len(rows))
        self.state = np.zeros(3, np.int64)
        self.upper = self.bound_sets_of(0)
        self.after = _best_after(rows)
        self.searched = -1

    def run_all(self, run: Run, node_limit: int, most_known: int | None) -> None:
        columns = len(self.rows.places)
        most = columns if most_known is None else min(most_known, columns)
        for largest in _growing_sizes(most):
            active = self.is_open(self.upper)
            if not active.any():
                return
            run.progress(f"privacy score, sets of at most {largest}", None)
            if not self.search_up_to(largest, active, run, node_limit):
                self.raise_lower_bounds(active, most, run)
                return
            self.searched = largest
            self.note_searched(self.bound_sets_of(largest + 1) if largest < most else np.zeros(len(self.best)))

    def note_searched(self, larger: Floats) -> None:
        """Sets up to some size were looked at, and larger ones weigh at most so much. With a goal, only those were
        looked at that could reach it, and only until one did."""
        upper = np.minimum(self.upper, larger)
        if self.goal < inf:
            anything = self.bound_sets_of(0)
            missed = np.where(self.is_open(upper), upper, np.minimum(anything, nextafter(self.goal, 0.0)))
            upper = np.where(self.best >= self.goal, anything, missed)
        self.upper = upper  # at once: the user may interrupt at any moment

    def is_open(self, upper: Floats) -> Bools:
        """Rows about which there is more to find out, given an upper bound."""
        below_goal: Bools = (self.best < self.goal) & (upper > self.best)
        return below_goal if self.goal == inf else below_goal & (upper >= self.goal)

    def bound_sets_of(self, size: int) -> Floats:
        """The most that a set of this size or more could weigh for each row."""
        bounds, rows = np.empty(len(self.rows)), self.rows
        _generator_search.bound_larger_sets(
            rows.known, rows.places, rows.firsts, rows.like, rows.danger, rows.ceiling, size, self.unit, self.offset,
            np.empty(size + 1), np.empty(size + 1, np.int64), bounds,
        )  # fmt: skip
        return bounds

    def search_up_to(self, largest: int, active: Bools, run: Run, node_limit: int) -> bool:
        """Look at all sets of at most so many attributes; false if the limit was reached before."""
        arguments = self.kernel_arguments(largest, active)
        while True:
            run.check()
            if not _generator_search.search_sets(*arguments, self.state[2] + _SLICE, node_limit):
                return True
            if self.state[1] >= node_limit:
                return False

    def raise_lower_bounds(self, active: Bools, most: int, run: Run) -> None:
        """For rows whose scores remain open, weigh larger sets of the likeliest attributes."""
        rows, work = self.rows, 0
        others, words = np.empty(len(rows), np.int32), rows.sharing.shape[1]
        for row in np.flatnonzero(active).tolist():
            work += len(rows)
            if work > _LAST_WORK:
                return
            run.check()
            _generator_search.follow_likeliest(
                row, most, others, rows.uses_bits, rows.known, rows.places, rows.firsts, rows.like, rows.danger,
                rows.sharing, rows.joining, rows.lanes, rows.lane_firsts, rows.lane_danger, self.best,
                np.zeros(words, np.uint64), np.zeros(words, np.uint64), self.unit, self.offset,
            )  # fmt: skip

    def kernel_arguments(self, largest: int, active: Bools) -> tuple[Any, ...]:
        rows, levels = self.rows, min(largest, len(self.rows.places)) + 2
        lists = np.empty((levels, 4 * len(rows) + 3), np.int32)
        stack, likelihoods = np.zeros((levels, 7), np.int64), np.ones(levels)
        stack[0, 4], stack[0, 6] = -1, _list_roots(rows.roots, active, lists[0])
        by_code = [np.zeros(rows.largest_code + 2, np.int64) for _ in range(4)]
        words = rows.sharing.shape[1]
        self.state[0] = 0
        floor = 0.0 if self.goal == inf else self.goal * (1 - 1e-12)  # bounds are rounded
        return (
            self.state, stack, likelihoods, lists, rows.has_gaps, rows.uses_bits, rows.known, rows.codes, rows.places,
            rows.firsts, rows.like, rows.danger, *self.after, rows.sharing, rows.joining, rows.lanes,
            rows.lane_firsts, rows.lane_danger,
            rows.own, rows.ceiling, self.best, *by_code, np.zeros((levels, rows.known.shape[1]), np.uint64),
            np.zeros(words, np.uint64), np.zeros(words, np.uint64), self.unit, self.offset, floor, self.goal,
            self.searched + 1, largest,
        )  # fmt: skip


def _growing_sizes(most: int) -> Iterator[int]:
    """1, 2, 3, 5, 8 … up to the largest size: what is repeated takes little of the time."""
    last, size = 1, min(1, most)
    while size < most:
        yield size
        last, size = size, min(last + size if size > 1 else 2, most)
    yield size


def _best_after(rows: PackedRows) -> tuple[Floats, Ints]:
    """From each column on, the largest likelihood and the least danger of an attribute that can be known."""
    columns = len(rows.places)
    like, least = np.zeros(columns + 1), np.full(columns + 1, _NO_LIMIT >> 1)
    for c in reversed(range(columns)):
        some = slice(rows.firsts[c], rows.firsts[c + 1])
        can_know = rows.like[some] > 0
        like[c] = max(like[c + 1], rows.like[some].max(initial=0))
        least[c] = min(least[c + 1], rows.danger[some][can_know].min(initial=_NO_LIMIT >> 1))
    return like, least


def _list_roots(roots: Ints, active: Bools, into: Any) -> int:
    """Write the first nodes, one for each root with an active row, and return how long the list is."""
    order = np.lexsort((~active, roots))
    begins = np.flatnonzero(np.diff(roots[order], prepend=-1))
    sizes, actives = np.diff(begins, append=len(order)), np.add.reduceat(active[order].astype(np.int64), begins)
    some = actives > 0
    owner = np.repeat(np.arange(len(begins)), sizes)
    head = np.cumsum(np.where(some, sizes + 3, 0)) - np.where(some, sizes + 3, 0)
    into[head[some]], into[head[some] + 1], into[head[some] + 2] = 0, sizes[some], actives[some]
    kept = some[owner]
    place = head[owner] + 3 + np.arange(len(order)) - begins[owner]
    into[place[kept]] = order[kept]
    return int((sizes[some] + 3).sum())
