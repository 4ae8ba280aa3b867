"""The privacy score by a depth-first search through the sets that people really have.

A node is a set K together with the distinct rows that have it. Adding an attribute keeps the rows that have that one as
well, so each K that somebody has is visited at most once, and every row is asked only for sets it has.

- If a single row is left, everything about it follows: a larger K only costs likelihood and learns less.
- If all rows have an attribute, adding it tells nothing new.
- For row i, no set beyond K weighs more than lk(K) · l · dg(D_i − d(K)), where l is the largest likelihood that is
  still to come, and D_i the danger of all that could follow about i. Rows that cannot improve remain only to
  contradict; a node without others is left.

The search is repeated with a lower and lower *floor*: only sets are visited that could weigh more. So the likeliest
sets come first, whatever their size, and rows are done as soon as what the floor ruled out for them could not weigh
more than their best set. A search that ends early has proven an interval for everybody. If a budget ends it, some more
sets are tried for the others: those of each row's likeliest attributes.

With a ``goal``, the search only finds out who reaches it.
"""

from __future__ import annotations

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
_FIRST_WORK = 1 << 18  # what is found out so quickly needs no floor
_FIRST_STEP = 0.7  # the first floor is so much of what anybody could score
_STEPS = ((1, 4.0), (4, 2.0), (16, 1.0), (inf, 0.7))  # if a search took less than so many times the work of the last
_LEAST_FLOOR = 1e-6
_FRAMES = 8
_MOST_WORDS = 1 << 24  # of the lines of all frames
_ROUNDING = 1e-12  # bounds are rounded
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
        self.best, self.cut = np.zeros(len(rows)), np.zeros(len(rows))
        self.ceiling = rows.ceiling.copy()
        self.state = np.zeros(6, np.int64)
        most = rows.ceiling * self.unit
        self.upper = most / (self.offset + most)

    def run_all(self, run: Run, node_limit: int, most_known: int | None) -> None:
        columns = len(self.rows.places)
        most = columns if most_known is None else min(most_known, columns)
        arguments, least = self.kernel_arguments(most), 0.0 if self.goal == inf else self.goal * (1 - _ROUNDING)
        if self.search_above(least, self.find_open(least), arguments, run, node_limit, _FIRST_WORK):
            return
        step, before = _FIRST_STEP, 0
        while (active := self.find_open(least)).any():
            floor = max(least, step * float(self.upper[active].max()))
            floor = floor if floor > _LEAST_FLOOR else 0.0
            run.progress(f"privacy score, sets that could weigh more than {floor:.2g}", None)
            begun = int(self.state[2])
            if not self.search_above(floor, active, arguments, run, node_limit, _NO_LIMIT >> 1):
                self.raise_lower_bounds(active, most, run)
                return
            work = int(self.state[2]) - begun
            growth = work / max(before, 1)
            step **= next(power for most_growth, power in _STEPS if growth < most_growth)
            before = work

    def find_open(self, least: float) -> Bools:
        """Rows about which there is more to find out."""
        return (self.upper > self.best) & (self.best < self.goal) & (self.upper >= least)

    def search_above(
        self, floor: float, active: Bools, arguments: tuple[Any, ...], run: Run, node_limit: int, work: int
    ) -> bool:
        """Look at all sets that could weigh more than a floor; false if a limit was reached before."""
        self.ceiling[~active] = 0
        self.cut[:] = 0.0
        stack, work_limit = arguments[1], int(self.state[2]) + work
        stack[0, 4:7] = -1, 0, self.roots
        self.state[[0, 3, 5]] = 0
        while True:
            run.check()
            until = min(int(self.state[2]) + _SLICE, work_limit)
            if not _generator_search.search_sets(*arguments, floor, until, node_limit):
                break
            if self.state[1] >= node_limit or self.state[2] >= work_limit:
                return False
        bound = np.minimum(self.cut * (1 + _ROUNDING), self.upper)
        if self.goal < inf:  # where it was reached, the rest was not looked at; elsewhere it is not reached
            missed = nextafter(self.goal, 0.0)
            bound = np.where(
                self.best >= self.goal, self.upper, np.minimum(bound, missed) if floor <= missed else bound
            )
        self.upper = np.where(active, np.maximum(bound, self.best), self.upper)  # at once: the user may interrupt
        return True

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

    def kernel_arguments(self, largest: int) -> tuple[Any, ...]:
        rows = self.rows
        levels = 1 if _line_words(rows) <= _MOST_WORDS else min(largest, len(rows.places)) + 2  # or lines suffice
        lists = np.empty((levels, 4 * len(rows) + 3), np.int32)
        self.roots = _list_roots(rows.roots, lists[0])
        stack, likelihoods = np.zeros((levels, 8), np.int64), np.ones((levels, 2))
        by_code = [np.zeros(rows.largest_code + 2, np.int64) for _ in range(4)]
        words = rows.sharing.shape[1]
        return (
            self.state, stack, likelihoods, lists, rows.has_gaps, rows.uses_bits, rows.known, rows.codes, rows.places,
            rows.firsts, rows.like, rows.danger, *_best_after(rows), rows.sharing, rows.joining, rows.lanes,
            rows.lane_firsts, rows.lane_danger, rows.own, self.ceiling, self.best, self.cut, *by_code,
            np.zeros((levels, rows.known.shape[1]), np.uint64), np.zeros(words, np.uint64), np.zeros(words, np.uint64),
            *_frame_space(rows), self.unit, self.offset, largest, self.goal,
        )  # fmt: skip


def _line_words(rows: PackedRows) -> int:
    """The room that lines of all rows need."""
    return (len(rows.like) + 2 * len(rows.places) + 4) * -(-len(rows) // 64)


def _frame_space(rows: PackedRows) -> tuple[Any, ...]:
    """Work space for frames."""
    columns, choices = len(rows.places), _FRAMES * (len(rows.like) + 1)
    levels = _FRAMES * (columns + 2)
    return (
        np.zeros(64, np.uint64), np.zeros((_FRAMES, 9), np.int64),
        np.empty(min(2 * _line_words(rows), _MOST_WORDS), np.uint64),
        np.empty(2 * len(rows), np.int32), np.empty((choices, 3), np.int64), np.empty(choices), np.empty(choices),
        np.empty(choices, np.int64), np.empty((levels, 7), np.int64), np.empty((levels, 4)),
    )  # fmt: skip


def _best_after(rows: PackedRows) -> tuple[Floats, Ints]:
    """From each column on, the largest likelihood and the least danger of an attribute that can be known."""
    begins, can_know = rows.firsts[:-1], rows.like > 0
    like = np.append(np.maximum.reduceat(rows.like, begins) if len(begins) else [], 0.0)
    danger = np.where(can_know, rows.danger, _NO_LIMIT >> 1)
    least = np.append(np.minimum.reduceat(danger, begins) if len(begins) else [], _NO_LIMIT >> 1).astype(np.int64)
    return np.maximum.accumulate(like[::-1])[::-1].copy(), np.minimum.accumulate(least[::-1])[::-1].copy()


def _list_roots(roots: Ints, into: Any) -> int:
    """Write the first nodes, one for each root, and return how long the list is."""
    if not roots.any():
        into[:3], into[3 : len(roots) + 3] = (0, len(roots), len(roots)), np.arange(len(roots))
        return len(roots) + 3
    order = np.argsort(roots, kind="stable")
    begins = np.flatnonzero(np.diff(roots[order], prepend=-1))
    sizes = np.diff(begins, append=len(order))
    head = begins + 3 * np.arange(len(begins))
    into[head], into[head + 1], into[head + 2] = 0, sizes, sizes
    into[np.arange(len(order)) + 3 * np.repeat(np.arange(1, len(begins) + 1), sizes)] = order
    return len(order) + 3 * len(begins)
