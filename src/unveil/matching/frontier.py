"""Ordered blocks, exactly: dynamic programming along a frontier.

Groups of pseudonyms are taken one after another. A state records how many entries are left in every class that has
begun and not ended. Many paths lead to the same state, and their weights are summed. If each class's candidates are a
run of neighbouring groups (intervals of frequencies), few classes are open at a time and there are few states, however
many entries there are. What can be left of a class is bounded both by the pseudonyms it has passed and by those still
ahead, which excludes most dead ends.

A small group is taken pseudonym by pseudonym: each picks one entry of one of the classes. A larger group is taken class
by class, those that end first: x entries of the class go there, with weight wˣ/x!. The permanent is ∏ r! ∏ c! times the
total weight. A backward pass over the same states gives the mean number of entries along every edge, hence all
marginals. Weights are balanced first, so that the relevant values are near 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.special import gammaln

from unveil.arrays import Bools, Floats, Ints
from unveil.matching import _frontier
from unveil.matching._frontier import FrontierLayout, FrontierMoves, FrontierSlots, count_states, list_starts
from unveil.matching.blocks import Block
from unveil.matching.scaling import scale_weights
from unveil.run import Run

__all__ = ["FrontierPlan", "count_states", "frontier_marginals", "kept_segments", "neighbour_order", "plan_frontier"]

_MOST_TAKEN_SINGLY = 3  # the largest group that is taken pseudonym by pseudonym
_LEAST_WEIGHT = 1e-290  # smaller relative weights count as zero
_MOST_KEPT_STATES = 1 << 24  # states whose values are kept between the passes: 128 MB
_TRANSITIONS_PER_CALL = 1 << 26  # transitions of one call: well under a fifth of a second
_CELLS_PER_CALL = 1 << 17  # combinations in the tables of one call, unless one step has more
_MOST_KEPT_CELLS = 1 << 22  # combinations in tables that are kept for the way back
_SLOTS_PER_COUNT = 1 << 16  # open classes of all steps between two looks at the number of states
_NOTHING = np.empty(0)  # there is no way back yet


@dataclass(frozen=True, eq=False)
class FrontierPlan:
    """A way through the groups: its steps (``layout``), the block's edges by group, which of them lead to groups that
    are taken pseudonym by pseudonym, how many states there are before each step and at the end, and how many
    transitions and combinations in tables each step has."""

    layout: FrontierLayout
    edges: Ints
    is_single: Bools
    levels: Ints
    transitions: Ints
    cells: Ints

    @property
    def states(self) -> int:
        """The most states before any step."""
        return int(self.levels.max())

    @property
    def work(self) -> int:
        """An upper bound on the number of transitions in one direction."""
        return int(self.transitions.sum())


def plan_frontier(block: Block, most_states: int) -> FrontierPlan | None:
    """The better of two orders of the groups: the given one, and one that keeps neighbours together. None if both need
    too many states. The given order is taken at once if it is little work."""
    as_they_come = _plan_in_order(block, np.arange(len(block.c)), most_states)
    if as_they_come is not None and as_they_come.work <= _TRANSITIONS_PER_CALL:
        return as_they_come
    together = _plan_in_order(block, neighbour_order(block), most_states)
    made = [p for p in (as_they_come, together) if p is not None]
    return min(made, key=lambda p: p.work, default=None)


def neighbour_order(block: Block) -> Ints:
    """An order of the groups in which those with the same classes are near each other."""
    classes, groups = len(block.r), len(block.c)
    ones = np.ones(len(block.a), np.int8)
    graph = csr_array((ones, (block.a, block.b + classes)), shape=(classes + groups, classes + groups))
    order = np.asarray(reverse_cuthill_mckee((graph + graph.T).tocsr(), symmetric_mode=True), np.int64)
    return order[order >= classes] - classes


def _plan_in_order(block: Block, order: Ints, most_states: int) -> FrontierPlan | None:
    place = np.argsort(order)[block.b]
    first, last = np.full(len(block.r), len(order)), np.full(len(block.r), -1)
    np.minimum.at(first, block.a, place)
    np.maximum.at(last, block.a, place)
    edges = np.lexsort((block.a, last[block.a] != place, place))  # at each group, classes that end there come first
    is_single = block.c[block.b] <= _MOST_TAKEN_SINGLY
    begun = np.argsort(first, kind="stable")  # from here on, classes are numbered as they begin
    a, place = np.argsort(begun)[block.a[edges]], place[edges]
    sizes, r, first, last = block.c[order], block.r[begun], first[begun], last[begun]
    opened = np.bincount(first, r, len(sizes)).astype(np.int64)
    steps, starts = _list_steps(sizes, np.bincount(place), sizes <= _MOST_TAKEN_SINGLY, opened)
    reach = np.bincount(a, sizes[place]).astype(np.int64)
    counted = _count_levels(steps, _Classes(r, reach, starts[first], starts[last + 1]), a, most_states)
    if counted is None:
        return None
    slots, moves, totals, levels = counted
    half = _split_classes(r, first, last)
    in_half = half[slots.owner] * len(levels) + slots.step
    tables = np.rint(np.exp2(np.bincount(in_half, np.log2(slots.room + 1), 2 * len(levels))))
    if tables.max() > most_states // 4:
        return None
    tables *= 1 + np.bincount(in_half[moves.slot], ~steps.is_shared[moves.step], 2 * len(levels))
    most_taken = np.minimum(r[a], sizes[place])
    choices = np.where(last[a] == place, 1, most_taken + 1)[steps.edge]
    return FrontierPlan(
        FrontierLayout(half, steps.is_shared, most_taken[steps.edge], totals, slots, moves),
        edges,
        is_single,
        levels,
        levels[:-1] * np.where(steps.is_shared, choices, steps.degree),
        tables.reshape(2, -1).sum(axis=0)[:-1].astype(np.int64),
    )


class _Steps(NamedTuple):
    """Of every step: whether several pseudonyms share the entries of a class, its first edge and how many it has, how
    many pseudonyms it passes, and the least and the largest total of the open classes before and after it."""

    is_shared: Bools
    edge: Ints
    degree: Ints
    length: Ints
    least: Ints
    most: Ints
    least_after: Ints
    most_after: Ints


def _list_steps(sizes: Ints, degrees: Ints, single: Bools, opened: Ints) -> tuple[_Steps, Ints]:
    """All steps, and where those of each group begin, given the sizes and degrees of groups and how many entries their
    new classes have."""
    count = np.where(single, sizes, degrees)
    group, starts = np.repeat(np.arange(len(sizes)), count), list_starts(count)
    within = np.arange(len(group)) - starts[group]
    singly, length, degree = single[group], sizes[group], degrees[group]
    begin = np.cumsum(opened - sizes)[group] + length  # entries left before the group
    end = begin - length
    edge = list_starts(degrees)[group]
    most = np.where(singly, begin - within, begin)
    least = np.where(singly, most, np.where(within == 0, begin, end))
    least_after = np.where(singly, most - 1, end)
    most_after = np.where(singly, least_after, np.where(within == degree - 1, end, begin))
    edge, degree, length = np.where(singly, (edge, degree, 1 + 0 * edge), (edge + within, 1 + 0 * edge, length))
    return _Steps(~singly, edge, degree, length, least, most, least_after, most_after), starts


class _Classes(NamedTuple):
    """Of every class: how many entries it has, how many pseudonyms they can have, and in which steps it is open."""

    size: Ints
    reach: Ints
    begin: Ints
    end: Ints


def _count_levels(
    steps: _Steps, classes: _Classes, a: Ints, most_states: int
) -> tuple[FrontierSlots, FrontierMoves, Ints, Ints] | None:
    """The slots and moves of all steps, bounds of what is left in all, and how many states there are before each step
    and at the end; None if there are ever too many. ``a`` is the class of each edge."""
    count = len(steps.edge)
    changes = np.bincount(classes.begin, minlength=count + 1) - np.bincount(classes.end, minlength=count + 1)
    passed, ways = np.zeros(len(classes.size), np.int64), np.zeros(int(steps.most.max()) + 1)
    totals, levels = np.zeros((4, count + 1), np.int64), np.ones(count + 1)
    slots, moves, listed = [], [], 0
    for first, last in _slice_steps(np.cumsum(changes)[:-1] / _SLOTS_PER_COUNT):
        some, along, floor = _list_slots(steps, classes, a, passed, first, last)
        totals[:, first:last] = np.stack(steps[4:])[:, first:last] - floor
        starts, (least, most) = np.searchsorted(some.step, np.arange(first, last + 1)), totals[:2, first:last]
        if not count_states(starts, some.room, least, most, most_states, ways, levels[first:last]):
            return None
        slots.append(some)
        moves.append(along._replace(slot=along.slot + listed))
        listed += len(some.step)
    all_slots, all_moves = (map(np.concatenate, zip(*parts, strict=True)) for parts in (slots, moves))
    return FrontierSlots(*all_slots), FrontierMoves(*all_moves), totals, levels.astype(np.int64)


def _list_slots(
    steps: _Steps, classes: _Classes, a: Ints, passed: Ints, first: int, last: int
) -> tuple[FrontierSlots, FrontierMoves, Ints]:
    """The slots and moves of the steps from first to last − 1, and the least that can be left of all open classes
    before each step. ``passed`` is how many pseudonyms each class has passed, and is kept up to date."""
    degree = steps.degree[first:last]
    step = np.repeat(np.arange(first, last), degree)
    edge = np.arange(len(step)) + np.repeat(steps.edge[first:last] - np.cumsum(degree) + degree, degree)
    begin = np.clip(classes.begin, first, last)
    starts = list_starts(np.clip(classes.end, first, last) - begin)  # slots by class first, and then by step
    shift = starts[:-1] - begin
    owner = np.repeat(np.arange(len(begin)), np.diff(starts))
    passing = np.zeros(len(owner), np.int64)
    passing[shift[a[edge]] + step] = steps.length[step]
    through = list_starts(passing)
    before = through[:-1] + (passed - through[starts[:-1]])[owner]
    passed += np.diff(through[starts])
    size, reach, before = classes.size[owner], classes.reach[owner], np.stack([before, before + passing])
    least = np.maximum(0, size - before)
    room, room_after = np.minimum(size, reach - before) - least
    at = np.arange(len(owner)) - shift[owner]
    kept = np.flatnonzero((room > 0) | (passing > 0))
    kept = kept[np.argsort(at[kept], kind="stable")]
    number = np.empty(len(owner), np.int64)
    number[kept] = np.arange(len(kept))
    slots = FrontierSlots(at[kept], owner[kept], room[kept], (least[0] - least[1])[kept], room_after[kept])
    floor = np.bincount(at - first, least[0], last - first).astype(np.int64)
    return slots, FrontierMoves(step, edge, number[shift[a[edge]] + step]), floor


def _slice_steps(work: Floats) -> list[tuple[int, int]]:
    """Ranges of steps with about 1 unit of work each, or of one step that has more."""
    if work.sum() < 1:
        return [(0, len(work))]
    stops = np.flatnonzero(np.diff(np.floor(np.cumsum(work)))) + 1
    return list(zip([0, *stops.tolist()], [*stops.tolist(), len(work)], strict=True))


def _split_classes(sizes: Ints, first: Ints, last: Ints) -> Ints:
    """Split the classes, numbered as they begin, into halves of which the open classes have about equally many
    combinations."""
    half = np.zeros(len(sizes), np.int64)
    held: tuple[list[int], list[int]] = ([], [])
    wide = np.log2(sizes + 1)
    for a in range(len(sizes)):
        for one in held:
            one[:] = [b for b in one if last[b] > first[a]]
        half[a] = int(wide[held[1]].sum() < wide[held[0]].sum())
        held[half[a]].append(a)
    return half


def frontier_marginals(block: Block, plan: FrontierPlan, run: Run | None = None) -> tuple[float, Floats]:
    """ln permanent of the block, and the probability of each edge for one entry and one pseudonym."""
    u, v, mean = scale_weights(block.a, block.b, block.weights, block.r, block.c)
    mean = np.maximum(mean, _LEAST_WEIGHT)
    sizes = block.c[block.b]
    weights = np.where(plan.is_single, mean / sizes, mean)[plan.edges]
    walk = _Walk(plan, weights, run)
    segments, kept = kept_segments(plan.levels), [np.ones(1)]
    for first, last in segments:
        levels, places = walk.run_forward(first, last, kept[-1])
        kept.append(levels[places[-2] : places[-1]].copy())
    for at in range(len(segments) - 1, -1, -1):
        if at < len(segments) - 1:
            levels, places = walk.run_forward(*segments[at], kept[at])
        walk.run_back(*segments[at], levels, places)
    scale = float(gammaln(block.r + 1).sum() - (block.r * u).sum() - (block.c * v).sum())
    marginals = np.empty(len(weights))
    marginals[plan.edges] = walk.flow
    factors = float(np.log(walk.scales).sum()) + _group_factors(block, plan, mean)
    return factors + scale, marginals / (block.r[block.a] * sizes)


def _group_factors(block: Block, plan: FrontierPlan, mean: Floats) -> float:
    """ln of the factors that the steps omit: cᶜ for a group taken singly; c! and the eʷ of its edges otherwise."""
    singly = np.zeros(len(block.c), bool)
    singly[block.b] = plan.is_single
    factors = np.where(singly, block.c * np.log(block.c), gammaln(block.c + 1))
    return float(factors.sum() + mean[~plan.is_single].sum())


def kept_segments(levels: Ints) -> list[tuple[int, int]]:
    """Ranges of steps whose states fit in memory; the states before each range are always kept."""
    stops, kept = [0], 0
    for t in range(1, len(levels)):
        kept += int(levels[t])
        if kept > _MOST_KEPT_STATES and stops[-1] < t - 1:
            stops.append(t - 1)
            kept = int(levels[t])
    return list(zip(stops, [*stops[1:], len(levels) - 1], strict=True))


class _Walk:
    """Passes over the states of a plan, forward and back. ``scales`` are the factors by which each level was scaled
    down, ``flow`` the mean number of entries along each edge."""

    def __init__(self, plan: FrontierPlan, weights: Floats, run: Run | None) -> None:
        self.plan, self.run, self.done = plan, run, 0
        self.scales, self.flow = np.empty(len(plan.transitions)), np.zeros(len(weights))
        self.behind, self.turn = np.ones(2 * plan.states), 0
        most_kept = max(1, _MOST_KEPT_CELLS // int(max(_CELLS_PER_CALL, plan.cells.max())))
        self.tables = lru_cache(most_kept)(partial(_frontier.build_tables, plan.layout, weights))

    def run_forward(self, first: int, last: int, start: Floats) -> tuple[Floats, Ints]:
        """The values of all states from before the first step to after the last, and where each level begins."""
        places = list_starts(self.plan.levels[first : last + 1])
        levels = np.empty(places[-1])
        levels[: places[1]] = start
        for begin, end in self._slices(first, last):
            _frontier.walk_steps(
                *self.tables(begin, end), places[begin - first :], levels, _NOTHING, 0, False, self.scales[begin:end],
                _NOTHING,
            )  # fmt: skip
            self._report(begin, end)
        return levels, places

    def run_back(self, first: int, last: int, levels: Floats, places: Ints) -> None:
        """Add to the flow along the edges of these steps, given the values of their states."""
        layout = self.plan.layout
        for begin, end in reversed(self._slices(first, last)):
            some = slice(*np.searchsorted(layout.moves.step, [begin, end]))
            step, edge = layout.moves.step[some], layout.moves.edge[some]
            through = np.zeros(len(step))
            self.turn = _frontier.walk_steps(
                *self.tables(begin, end), places[begin - first :], levels, self.behind, self.turn, True, _NOTHING,
                through,
            )  # fmt: skip
            whole = np.where(layout.is_shared[begin:end], 1.0, np.bincount(step - begin, through))
            self.flow += np.bincount(edge, through / whole[step - begin], len(self.flow))
            self._report(begin, end)

    def _slices(self, first: int, last: int) -> list[tuple[int, int]]:
        """Ranges of steps that are short enough for one call."""
        transitions, cells = self.plan.transitions[first:last], self.plan.cells[first:last]
        slices = _slice_steps(transitions / _TRANSITIONS_PER_CALL + cells / _CELLS_PER_CALL)
        return [(first + begin, first + end) for begin, end in slices]

    def _report(self, begin: int, end: int) -> None:
        """Report progress by work done, and stop if the run is cancelled."""
        self.done += int(self.plan.transitions[begin:end].sum())
        if self.run is not None:
            self.run.progress("counting matchings", min(1.0, self.done / max(3 * self.plan.work, 1)))
            self.run.check()
