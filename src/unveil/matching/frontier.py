"""Blocks with an order, exactly: dynamic programming along a frontier.

Groups of pseudonyms are taken one after the other, and at each group its classes of entries: x of the entries that are
left in a class go into the room that is left in the group, with weight wˣ/x!. A state is what is left: of every class
that has begun and not ended, and of the current group. Many ways lead to the same state, and their weights are added
up. Where each class's candidates are a run of neighbouring groups (intervals of frequencies), few classes are open at a
time and the states stay few, however many entries there are. States that cannot end well are dropped at once.

The permanent is ∏ r! ∏ c! times the total weight; a pass backwards over the same states gives the mean number of
entries along every edge, hence all marginals. Weights are balanced first, so that what matters has values near 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.special import gammaln

from unveil.matching import _kernels
from unveil.matching.blocks import Block
from unveil.matching.candidates import Floats, Ints
from unveil.matching.scaling import balanced
from unveil.run import Run

__all__ = ["Plan", "StatesError", "frontier_marginals", "plan"]

_BITS = 64


class StatesError(Exception):
    """The block needs more states than the budget allows."""


@dataclass(frozen=True, eq=False)
class _Group:
    """One group: its edges, a step for each (see the kernels), whether it is a single pseudonym, and the classes that
    are open behind it with the room they have."""

    edges: Ints
    steps: Ints
    single: bool
    open_classes: Ints


@dataclass(frozen=True, eq=False)
class Plan:
    """The groups in order. ``bits``: the open classes have at most 2^bits states."""

    groups: list[_Group]
    bits: float


def plan(block: Block) -> Plan | None:
    """The better of two orders of the groups: as they come, and one that keeps neighbours together; None if a state
    does not fit into 64 bits."""
    orders = [np.arange(len(block.c)), _neighbours_together(block)]
    made = [p for p in (_plan(block, order) for order in orders) if p is not None]
    return min(made, key=lambda p: p.bits, default=None)


def _neighbours_together(block: Block) -> Ints:
    classes, groups = len(block.r), len(block.c)
    ones = np.ones(len(block.a), np.int8)
    graph = csr_array((ones, (block.a, block.b + classes)), shape=(classes + groups, classes + groups))
    order = np.asarray(reverse_cuthill_mckee((graph + graph.T).tocsr(), symmetric_mode=True), np.int64)
    return order[order >= classes] - classes


def _plan(block: Block, order: Ints) -> Plan | None:
    """Give every open class, and the room of the current group, a place in the state while it is needed."""
    place = np.argsort(order)[block.b]
    first = np.full(len(block.r), len(order))
    last = np.full(len(block.r), -1)
    np.minimum.at(first, block.a, place)
    np.maximum.at(last, block.a, place)
    edges = np.lexsort((block.a, last[block.a] != place, place))  # at each group, classes that close come first
    room_until = np.cumsum(block.c[order])
    unopened = np.bincount(last, block.r, len(order)).astype(np.int64)
    free, held = _Places(), dict[int, tuple[int, int]]()
    groups, largest = [], 0.0
    for members in np.split(edges, np.flatnonzero(np.diff(place[edges])) + 1):
        here = int(place[members[0]])
        size = int(block.c[order[here]])
        room = (0, 0) if size == 1 else free.take(size)
        opening = [a for a in block.a[members].tolist() if first[a] == here]
        for a in opening:
            found = free.take(int(block.r[a]))
            if found is None or room is None:
                return None
            held[a] = found
            unopened[last[a]] -= block.r[a]
        if room is None:
            return None
        largest = max(largest, sum(math.log2(block.r[a] + 1) for a in held))
        steps = np.array([_step(block, a, held[a], first[a] == here, last[a] == here, room) for a in block.a[members]])
        steps[0, 6], steps[-1, 7] = size, 1
        for a in [a for a in held if last[a] == here]:
            free.give(held.pop(a))
        if size > 1:
            free.give(room)
        waiting = sorted(held, key=lambda a: last[a])
        ahead = np.cumsum(unopened[here + 1 :])
        rows = [(*_mask(held[a]), room_until[last[a]] - room_until[here] - ahead[last[a] - here - 1]) for a in waiting]
        groups.append(_Group(members, steps, size == 1, np.array(rows, np.int64).reshape(-1, 3)))
    return Plan(groups, largest)


def _step(block: Block, a: int, at: tuple[int, int], opens: bool, closes: bool, room: tuple[int, int]) -> list[int]:
    return [*_mask(at), int(block.r[a]) if opens else 0, int(closes), *_mask(room), 0, 0]


def _mask(place: tuple[int, int]) -> tuple[int, int]:
    return place[0], (1 << place[1]) - 1


class _Places:
    """Free bits of a 64-bit state, handed out first fit."""

    def __init__(self) -> None:
        self.used = 0

    def take(self, largest: int) -> tuple[int, int] | None:
        """A place for a number up to ``largest``: shift and width, or None if there is no room."""
        width = largest.bit_length()
        wanted = (1 << width) - 1
        for shift in range(_BITS - 1 - width):
            if not self.used & (wanted << shift):
                self.used |= wanted << shift
                return shift, width
        return None

    def give(self, place: tuple[int, int]) -> None:
        """Take a place back."""
        self.used &= ~(((1 << place[1]) - 1) << place[0])


@dataclass(frozen=True, eq=False)
class _States:
    """Keys and values, scaled so that the largest is 1."""

    keys: npt.NDArray[np.uint64]
    values: Floats


def frontier_marginals(block: Block, plan: Plan, budget: int, run: Run | None = None) -> tuple[float, Floats]:
    """ln permanent of the block, and the probability of each of its edges for one entry and one pseudonym.

    Raises :class:`StatesError` when more than ``budget`` states are needed at once.
    """
    u, v, weights = balanced(block.a, block.b, block.weights, block.r, block.c, sweeps=200, tolerance=1e-6)
    most = np.minimum(block.r[block.a], block.c[block.b])
    kept, log_total = _forward(plan, weights, most, budget, run)
    flow = _backward(plan, weights, most, kept, budget, run)
    sizes = gammaln(block.r + 1).sum() + gammaln(block.c + 1).sum()
    log_permanent = float(log_total + sizes - (block.r * u).sum() - (block.c * v).sum())
    return log_permanent, flow / (block.r[block.a] * block.c[block.b])


def _powers(weight: float, most: int) -> Floats:
    """wˣ/x! · e⁻ʷ for x = 0 … most: Poisson probabilities, so that none is too large."""
    x = np.arange(most + 1)
    powers: Floats = np.exp(x * math.log(weight) - gammaln(x + 1) - weight)
    return powers


def _forward(plan: Plan, weights: Floats, most: Ints, budget: int, run: Run | None) -> tuple[list[_States], float]:
    """The states before each group, and ln of the total weight."""
    states = _States(np.zeros(1, np.uint64), np.ones(1))
    kept, log_total = [states], 0.0
    for done, group in enumerate(plan.groups, 1):
        if group.single:
            states, scale = _picked(states, group, weights, budget)
            log_total += scale
        else:
            for k, e in enumerate(group.edges.tolist()):
                states, scale = _shared(states, group.steps[k], weights[e], most[e], budget)
                log_total += scale + weights[e]
        keys, values = _kernels.alive(states.keys, states.values, group.open_classes)
        states = _States(keys, values)
        kept.append(states)
        _tell(run, done / len(plan.groups) / 2)
    return kept, log_total + math.log(states.values[0])


def _picked(states: _States, group: _Group, weights: Floats, budget: int) -> tuple[_States, float]:
    return _stepped(_kernels.pick_forward, states, group.steps, weights[group.edges], budget)


def _shared(states: _States, step: Ints, weight: float, most: int, budget: int) -> tuple[_States, float]:
    return _stepped(_kernels.share_forward, states, step, _powers(weight, most), budget)


def _stepped(
    step_forward: Callable[..., int], states: _States, step: Ints, weights: Floats, budget: int
) -> tuple[_States, float]:
    """The states after a step, with as much room as it turns out to need, and ln of their scale."""
    room = 2 * len(states.keys) + 64
    while True:
        keys, values = np.empty(room, np.uint64), np.empty(room)
        count = step_forward(states.keys, states.values, step, weights, keys, values)
        if count >= 0:
            break
        if room > budget:
            raise StatesError
        room *= 4
    if count > budget:
        raise StatesError
    top = float(values[:count].max())
    return _States(keys[:count].copy(), values[:count] / top), math.log(top)


def _backward(plan: Plan, weights: Floats, most: Ints, kept: list[_States], budget: int, run: Run | None) -> Floats:
    """The mean number of entries along each edge, group by group from the end; what is inside a group is made anew."""
    flow = np.empty(len(weights))
    behind = np.ones(1)
    for done, g in enumerate(range(len(plan.groups) - 1, -1, -1), 1):
        group, before, after = plan.groups[g], kept[g], kept[g + 1]
        if group.single:
            behind, flow[group.edges] = _kernels.pick_backward(
                before.keys, before.values, group.steps, weights[group.edges], after.keys, behind
            )
        else:
            behind = _share_backward(group, before, after, weights, most, behind, flow, budget)
        behind /= behind.max()
        kept.pop()
        _tell(run, 0.5 + done / len(plan.groups) / 2)
    return flow


def _share_backward(
    group: _Group,
    before: _States,
    after: _States,
    weights: Floats,
    most: Ints,
    behind: Floats,
    flow: Floats,
    budget: int,
) -> Floats:
    edges = group.edges.tolist()
    levels = [before]
    for k, e in enumerate(edges[:-1]):
        levels.append(_shared(levels[-1], group.steps[k], weights[e], most[e], budget)[0])
    levels.append(after)
    for k in range(len(edges) - 1, -1, -1):
        here, there = levels[k], levels[k + 1]
        powers = _powers(weights[edges[k]], most[edges[k]])
        behind, flow[edges[k]] = _kernels.share_backward(
            here.keys, here.values, group.steps[k], powers, there.keys, behind
        )
        behind /= behind.max()
    return behind


def _tell(run: Run | None, fraction: float) -> None:
    if run is not None:
        run.progress("counting matchings", fraction)
        run.check()
