"""Blocks with an order, exactly: dynamic programming along a frontier.

Groups of pseudonyms are taken one after the other. A state is what is left of every class of entries that has begun and
not ended. Many ways lead to the same state, and their weights are added up. Where each class's candidates are a run of
neighbouring groups (intervals of frequencies), few classes are open at a time and the states stay few, however many
entries there are. What can be left of a class is bounded from both sides, by the pseudonyms it has passed and by those
still ahead, which keeps most dead ends out.

A group of few pseudonyms is taken pseudonym by pseudonym: each picks one entry of one of the classes. A larger one is
taken class by class, those that end first: x entries of the class go there, with weight wˣ/x!. The permanent is
∏ r! ∏ c! times the total weight; a pass backwards over the same states gives the mean number of entries along every
edge, hence all marginals. Weights are balanced first, so that what matters has values near 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.special import gammaln

from unveil.matching import _frontier
from unveil.matching.blocks import Block
from unveil.matching.candidates import Floats, Ints
from unveil.matching.scaling import tamed
from unveil.run import Run

__all__ = ["Plan", "frontier_marginals", "plan"]

_SINGLY = 3  # pseudonyms of a group that are still taken one by one
_LEAST = 1e-290  # a weight that is smaller beside the others counts as nothing
_KEPT = 1 << 24  # states whose values are kept between the passes: 128 MB
_SLICE = 1 << 26  # transitions of one call: well under a fifth of a second


@dataclass(frozen=True, eq=False)
class Plan:
    """A way through the groups: what the kernels need, the block's edges by group, which groups are taken pseudonym by
    pseudonym, and how many states there are before each step and transitions in it."""

    way: tuple[Ints, ...]
    edges: Ints
    single: npt.NDArray[np.bool_]
    levels: Ints
    transitions: Ints

    @property
    def states(self) -> int:
        """The most states at once."""
        return int(self.levels.max())

    @property
    def work(self) -> int:
        """How many transitions there are, at most, in one direction."""
        return int(self.transitions.sum())


def plan(block: Block, most_states: int) -> Plan | None:
    """The better of two orders of the groups: as they come, and one that keeps neighbours together; None if both need
    more states than is allowed. The first is taken at once if it is little work."""
    as_they_come = _plan(block, np.arange(len(block.c)), most_states)
    if as_they_come is not None and as_they_come.work <= _SLICE:
        return as_they_come
    together = _plan(block, _neighbours_together(block), most_states)
    made = [p for p in (as_they_come, together) if p is not None]
    return min(made, key=lambda p: p.work, default=None)


def _neighbours_together(block: Block) -> Ints:
    classes, groups = len(block.r), len(block.c)
    ones = np.ones(len(block.a), np.int8)
    graph = csr_array((ones, (block.a, block.b + classes)), shape=(classes + groups, classes + groups))
    order = np.asarray(reverse_cuthill_mckee((graph + graph.T).tocsr(), symmetric_mode=True), np.int64)
    return order[order >= classes] - classes


def _plan(block: Block, order: Ints, most_states: int) -> Plan | None:
    place = np.argsort(order)[block.b]
    first, last = np.full(len(block.r), len(order)), np.full(len(block.r), -1)
    np.minimum.at(first, block.a, place)
    np.maximum.at(last, block.a, place)
    edges = np.lexsort((block.a, last[block.a] != place, place))  # at each group, classes that end come first
    sizes, starts = block.c[order], _starts(place, len(order))
    single = sizes <= _SINGLY
    open_starts, open_classes = _open(first, last)
    reach = np.bincount(block.a, block.c[block.b], len(block.r)).astype(np.int64)
    opened = np.cumsum(np.bincount(first, block.r, len(order))).astype(np.int64)
    steps = _steps(sizes, starts, single, opened)
    way = (block.r, reach, first * 0, open_starts, open_classes, starts, block.a[edges], *steps)
    levels = _frontier.level_sizes(way, most_states)
    if not len(levels):
        return None
    way = (*way[:2], _halves(block.r, first, last), *way[3:])
    if not _frontier.half_sizes(way, most_states // 4):
        return None
    group, edge = steps[0], steps[1]
    taken = np.minimum(block.r[block.a[edges]], sizes[place[edges]]) + 1
    taken[last[block.a[edges]] == place[edges]] = 1
    choices = np.where(edge < 0, np.diff(starts)[group], taken[edge])
    return Plan(way, edges, single[place], levels.astype(np.int64), (levels[:-1] * choices).astype(np.int64))


def _open(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The classes that are open at each group, always in the same order: where each group's begin, and the classes."""
    begun = np.argsort(first, kind="stable")
    spans = (last - first + 1)[begun]
    group = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans - first[begun], spans)
    return _starts(group, int(last.max()) + 1), np.repeat(begun, spans)[np.argsort(group, kind="stable")]


def _steps(sizes: Ints, starts: Ints, single: npt.NDArray[np.bool_], opened: Ints) -> tuple[Ints, ...]:
    """Group, edge (−1: any) and pseudonyms passed of every step, and the least and largest total left
    before and after it."""
    degrees = np.diff(starts)
    count = np.where(single, sizes, degrees)
    group = np.repeat(np.arange(len(sizes)), count)
    within = np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)
    edge = np.where(single[group], -1, starts[group] + within)
    length = np.where(single[group], 1, sizes[group])
    begin = (opened - np.cumsum(sizes) + sizes)[group]  # left before the group
    end = begin - sizes[group]
    most = np.where(single[group], begin - within, begin)
    least = np.where(single[group], most, np.where(within == 0, begin, end))
    after = np.where(single[group], most - 1, end)
    most_after = np.where(single[group], after, np.where(within == degrees[group] - 1, end, begin))
    return group, edge, length, least, most, after, most_after


def _starts(index: Ints, count: int) -> Ints:
    return np.append(0, np.cumsum(np.bincount(index, minlength=count)))


def _halves(sizes: Ints, first: Ints, last: Ints) -> Ints:
    """Deal the classes into two halves, so that those open together make about as many combinations in each."""
    half = np.zeros(len(sizes), np.int64)
    held: tuple[list[int], list[int]] = ([], [])
    wide = np.log2(sizes + 1)
    for a in np.argsort(first, kind="stable").tolist():
        for one in held:
            one[:] = [b for b in one if last[b] > first[a]]
        half[a] = int(wide[held[1]].sum() < wide[held[0]].sum())
        held[half[a]].append(a)
    return half


def frontier_marginals(block: Block, plan: Plan, run: Run | None = None) -> tuple[float, Floats]:
    """ln permanent of the block, and the probability of each of its edges for one entry and one pseudonym."""
    u, v, mean = tamed(block.a, block.b, block.weights, block.r, block.c)
    mean = np.maximum(mean, _LEAST)
    sizes = block.c[block.b]
    weights = np.where(plan.single, mean / sizes, mean)[plan.edges]
    tell = _Telling(run, 3 * plan.work)
    segments = _segments(plan.levels)
    logs = np.empty(len(plan.transitions))
    passed, kept = np.zeros(len(block.r), np.int64), [np.ones(1)]
    for first, last in segments:
        levels, places = _forward(plan, weights, first, last, passed, kept[-1], logs, tell)
        kept.append(levels[places[-2] : places[-1]].copy())
    flow, behind = np.zeros(len(weights)), np.ones(1)
    for at in range(len(segments) - 1, -1, -1):
        first, last = segments[at]
        if at < len(segments) - 1:
            levels, places = _forward(plan, weights, first, last, _passed(plan, first), kept[at], logs, tell)
        for start, stop in reversed(_slices(plan, first, last)):
            behind = _frontier.backward(
                plan.way, weights, start, stop, passed, levels, places[start - first :], behind, flow
            )
            tell(plan.transitions[start:stop].sum())
    scale = float(gammaln(block.r + 1).sum() - (block.r * u).sum() - (block.c * v).sum())
    marginals = np.empty(len(flow))
    marginals[plan.edges] = flow
    return float(logs.sum()) + scale + _group_factors(block, plan, mean), marginals / (block.r[block.a] * sizes)


def _group_factors(block: Block, plan: Plan, mean: Floats) -> float:
    """ln of what the steps leave out: cᶜ for a group taken singly, c! and the e⁻ʷ of its edges for another."""
    singly = np.zeros(len(block.c), bool)
    singly[block.b] = plan.single
    factors = np.where(singly, block.c * np.log(block.c), gammaln(block.c + 1))
    return float(factors.sum() + mean[~plan.single].sum())


def _passed(plan: Plan, step: int) -> Ints:
    """How many pseudonyms each class has passed before a step."""
    passed = np.zeros(len(plan.way[0]), np.int64)
    group, edge, length = (x[:step] for x in plan.way[7:10])
    starts, classes = plan.way[5], plan.way[6]
    one = edge >= 0
    np.add.at(passed, classes[edge[one]], length[one])
    for g in group[~one].tolist():
        passed[classes[starts[g] : starts[g + 1]]] += 1
    return passed


def _segments(levels: Ints) -> list[tuple[int, int]]:
    """Stretches of steps whose states can be kept at once; the states before each are kept all along."""
    stops, kept = [0], 0
    for t in range(1, len(levels)):
        kept += int(levels[t])
        if kept > _KEPT and stops[-1] < t - 1:
            stops.append(t - 1)
            kept = int(levels[t])
    return list(zip(stops, [*stops[1:], len(levels) - 1], strict=True))


def _slices(plan: Plan, first: int, last: int) -> list[tuple[int, int]]:
    """Stretches that are short enough for one call."""
    done = np.cumsum(plan.transitions[first:last]) // _SLICE
    stops = first + np.flatnonzero(np.diff(done)) + 1
    return list(zip([first, *stops.tolist()], [*stops.tolist(), last], strict=True))


def _forward(
    plan: Plan, weights: Floats, first: int, last: int, passed: Ints, start: Floats, logs: Floats, tell: _Telling
) -> tuple[Floats, Ints]:
    """The values of all states from before the first pick to after the last, and where each level begins."""
    places = np.append(0, np.cumsum(plan.levels[first : last + 1]))
    levels = np.empty(places[-1])
    levels[: places[1]] = start
    for begin, stop in _slices(plan, first, last):
        _frontier.forward(plan.way, weights, begin, stop, passed, levels, places[begin - first :], logs)
        tell(plan.transitions[begin:stop].sum())
    return levels, places


class _Telling:
    """Progress by work done, and a place to stop."""

    def __init__(self, run: Run | None, work: int) -> None:
        self.run, self.work, self.done = run, work, 0

    def __call__(self, transitions: int) -> None:
        """So many transitions more are done."""
        self.done += int(transitions)
        if self.run is not None:
            self.run.progress("counting matchings", min(1.0, self.done / max(self.work, 1)))
            self.run.check()
