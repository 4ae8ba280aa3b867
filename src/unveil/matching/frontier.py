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

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.special import gammaln

from unveil.arrays import Bools, Floats, Ints
from unveil.matching import _frontier
from unveil.matching.blocks import Block
from unveil.matching.scaling import scale_weights
from unveil.run import Run

__all__ = ["FrontierPlan", "frontier_marginals", "plan_frontier"]

_MOST_TAKEN_SINGLY = 3  # the largest group that is taken pseudonym by pseudonym
_LEAST_WEIGHT = 1e-290  # smaller relative weights count as zero
_MOST_KEPT_STATES = 1 << 24  # states whose values are kept between the passes: 128 MB
_TRANSITIONS_PER_CALL = 1 << 26  # transitions of one call: well under a fifth of a second
_NOTHING = np.empty((2, 0))  # there is no way back yet


@dataclass(frozen=True, eq=False)
class FrontierPlan:
    """A way through the groups: what the kernels need (``layout``, and how large their ``tables`` get), the block's
    edges by group, which groups are taken pseudonym by pseudonym, and how many states there are before each
    step and transitions in it."""

    layout: _frontier.FrontierLayout
    tables: Ints
    edges: Ints
    is_single: Bools
    levels: Ints
    transitions: Ints

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
    together = _plan_in_order(block, _neighbour_order(block), most_states)
    made = [p for p in (as_they_come, together) if p is not None]
    return min(made, key=lambda p: p.work, default=None)


def _neighbour_order(block: Block) -> Ints:
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
    sizes, starts = block.c[order], _list_starts(place, len(order))
    single = sizes <= _MOST_TAKEN_SINGLY
    open_starts, open_classes = _open_classes(first, last)
    reach = np.bincount(block.a, block.c[block.b], len(block.r)).astype(np.int64)
    opened = np.cumsum(np.bincount(first, block.r, len(order))).astype(np.int64)
    steps = _list_steps(sizes, starts, single, opened)
    classes, levels = np.stack([block.r, reach, first * 0]), np.ones(steps.shape[1] + 1)
    way = _frontier.FrontierLayout(classes, open_starts, open_classes, starts, block.a[edges], steps)
    passed, least, most = np.zeros((3, len(block.r)), np.int64)
    ways = np.empty(int(opened.max()) + 1)
    if not _frontier.level_sizes(way, most_states, passed, least, most, ways, levels):
        return None
    classes[2], passed[:], tables = _split_classes(block.r, first, last), 0, np.zeros(4, np.int64)
    if not _frontier.half_sizes(way, most_states // 4, passed, tables):
        return None
    group, edge = steps[0], steps[1]
    taken = np.minimum(block.r[block.a[edges]], sizes[place[edges]]) + 1
    taken[last[block.a[edges]] == place[edges]] = 1
    choices = np.where(edge < 0, np.diff(starts)[group], taken[edge])
    return FrontierPlan(
        way, tables, edges, single[place], levels.astype(np.int64), (levels[:-1] * choices).astype(np.int64)
    )


def _open_classes(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The open classes of each group, always in the same order: where each list begins, and the classes."""
    begun = np.argsort(first, kind="stable")
    spans = (last - first + 1)[begun]
    group = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans - first[begun], spans)
    return _list_starts(group, int(last.max()) + 1), np.repeat(begun, spans)[np.argsort(group, kind="stable")]


def _list_steps(sizes: Ints, starts: Ints, single: Bools, opened: Ints) -> Ints:
    """Group, edge (−1: any) and pseudonyms passed of every step, and the least and largest total left
    before and after it."""
    degrees = np.diff(starts)
    count = np.where(single, sizes, degrees)
    group = np.repeat(np.arange(len(sizes)), count)
    within = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    edge = np.where(single[group], -1, starts[group] + within)
    length = np.where(single[group], 1, sizes[group])
    begin = (opened - np.cumsum(sizes) + sizes)[group]  # entries left before the group
    end = begin - sizes[group]
    most = np.where(single[group], begin - within, begin)
    least = np.where(single[group], most, np.where(within == 0, begin, end))
    after = np.where(single[group], most - 1, end)
    most_after = np.where(single[group], after, np.where(within == degrees[group] - 1, end, begin))
    return np.stack([group, edge, length, least, most, after, most_after])


def _list_starts(index: Ints, count: int) -> Ints:
    return np.append(0, np.cumsum(np.bincount(index, minlength=count)))


def _split_classes(sizes: Ints, first: Ints, last: Ints) -> Ints:
    """Split the classes into halves in which those open together have about equally many combinations."""
    half = np.zeros(len(sizes), np.int64)
    held: tuple[list[int], list[int]] = ([], [])
    wide = np.log2(sizes + 1)
    for a in np.argsort(first, kind="stable").tolist():
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
    tell, room = _WorkProgress(run, 3 * plan.work), _frontier.allocate_room(plan.layout, plan.tables)
    segments = _kept_segments(plan.levels)
    logs = np.empty(len(plan.transitions))
    passed, kept = np.zeros(len(block.r), np.int64), [np.ones(1)]
    for first, last in segments:
        levels, places = _run_forward(plan, weights, first, last, passed, kept[-1], logs, room, tell)
        kept.append(levels[places[-2] : places[-1]].copy())
    flow, behind, turn = np.zeros(len(weights)), np.ones((2, plan.states)), 0
    for at in range(len(segments) - 1, -1, -1):
        first, last = segments[at]
        if at < len(segments) - 1:
            levels, places = _run_forward(
                plan, weights, first, last, _pseudonyms_passed(plan, first), kept[at], logs, room, tell
            )
        for start, stop in reversed(_call_slices(plan, first, last)):
            turn = _frontier.walk_steps(
                plan.layout, weights, start, stop, passed, levels, places[start - first :], logs, True, behind, turn,
                flow,
                room,
            )  # fmt: skip
            tell(plan.transitions[start:stop].sum())
    scale = float(gammaln(block.r + 1).sum() - (block.r * u).sum() - (block.c * v).sum())
    marginals = np.empty(len(flow))
    marginals[plan.edges] = flow
    return float(logs.sum()) + scale + _group_factors(block, plan, mean), marginals / (block.r[block.a] * sizes)


def _group_factors(block: Block, plan: FrontierPlan, mean: Floats) -> float:
    """ln of the factors that the steps omit: cᶜ for a group taken singly; c! and the eʷ of its edges otherwise."""
    singly = np.zeros(len(block.c), bool)
    singly[block.b] = plan.is_single
    factors = np.where(singly, block.c * np.log(block.c), gammaln(block.c + 1))
    return float(factors.sum() + mean[~plan.is_single].sum())


def _pseudonyms_passed(plan: FrontierPlan, step: int) -> Ints:
    """How many pseudonyms each class has passed before a step."""
    passed = np.zeros(plan.layout.classes.shape[1], np.int64)
    group, edge, length = plan.layout.steps[:3, :step]
    starts, classes = plan.layout.edge_starts, plan.layout.edge_classes
    one = edge >= 0
    np.add.at(passed, classes[edge[one]], length[one])
    for g in group[~one].tolist():
        passed[classes[starts[g] : starts[g + 1]]] += 1
    return passed


def _kept_segments(levels: Ints) -> list[tuple[int, int]]:
    """Ranges of steps whose states fit in memory; the states before each range are always kept."""
    stops, kept = [0], 0
    for t in range(1, len(levels)):
        kept += int(levels[t])
        if kept > _MOST_KEPT_STATES and stops[-1] < t - 1:
            stops.append(t - 1)
            kept = int(levels[t])
    return list(zip(stops, [*stops[1:], len(levels) - 1], strict=True))


def _call_slices(plan: FrontierPlan, first: int, last: int) -> list[tuple[int, int]]:
    """Ranges of steps that are short enough for one call."""
    done = np.cumsum(plan.transitions[first:last]) // _TRANSITIONS_PER_CALL
    stops = first + np.flatnonzero(np.diff(done)) + 1
    return list(zip([first, *stops.tolist()], [*stops.tolist(), last], strict=True))


def _run_forward(
    plan: FrontierPlan,
    weights: Floats,
    first: int,
    last: int,
    passed: Ints,
    start: Floats,
    logs: Floats,
    room: _frontier.FrontierRoom,
    tell: _WorkProgress,
) -> tuple[Floats, Ints]:
    """The values of all states from before the first pick to after the last, and where each level begins."""
    places = np.append(0, np.cumsum(plan.levels[first : last + 1]))
    levels = np.empty(places[-1])
    levels[: places[1]] = start
    for begin, stop in _call_slices(plan, first, last):
        _frontier.walk_steps(
            plan.layout, weights, begin, stop, passed, levels, places[begin - first :], logs, False, _NOTHING, 0,
            _NOTHING[0], room,
        )  # fmt: skip
        tell(plan.transitions[begin:stop].sum())
    return levels, places


class _WorkProgress:
    """Reports progress by work done, and stops if the run is cancelled."""

    def __init__(self, run: Run | None, work: int) -> None:
        self.run, self.work, self.done = run, work, 0

    def __call__(self, transitions: int) -> None:
        """Record that this many more transitions are done."""
        self.done += int(transitions)
        if self.run is not None:
            self.run.progress("counting matchings", min(1.0, self.done / max(self.work, 1)))
            self.run.check()
