"""Which nodes can nobody tell apart? Those that an automorphism maps to each other.

An *automorphism* renames nodes so that every edge is still an edge. Nodes that one maps to each other form an *orbit*:
whatever is known about the structure of the network, it fits all of them. So the nodes that are alone in their orbit
are those that somebody could find who knows everything, and no attacker without names does better.

Orbits are found exactly where that is affordable:

1. Classes are refined until nothing changes (:mod:`unveil.network.fingerprints`). Orbits lie within classes, so a node
   alone in its class is alone.
2. Within a class, and between two, either all edges may be there, or none: that divides nothing, and such edges are
   left out. A class of the refinement has the same number of neighbours in every other class, so edges to nodes that
   are alone are always of this kind. What remains falls apart into components, mostly very small ones.
3. Components whose nodes have the same classes are compared by trying to map one to the other, class by class.

Components of more than a few hundred nodes, or with too many ways to try, are left undecided: their nodes are then
in an orbit by themselves or in one as large as their class, and both ends are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import Bools, Ints
from unveil.network.fingerprints import Refinement, edge_classes
from unveil.release.graph import Graph
from unveil.run import Run

__all__ = ["Orbits", "find_orbits"]

_LARGEST_COMPONENT = 300
_MOST_STEPS = 2_000_000


@dataclass(frozen=True, eq=False)
class Orbits:
    """The orbit of each node, and whether that is certain. Where it is not, nodes may belong to an orbit together with
    others of their class (``classes``)."""

    orbit: Ints
    is_certain: Bools
    classes: Ints

    @property
    def smallest_sizes(self) -> Ints:
        """For each node, the least number of nodes that nobody can tell from it, itself included."""
        return np.where(self.is_certain, np.bincount(self.orbit)[self.orbit], 1)

    @property
    def largest_sizes(self) -> Ints:
        """For each node, the largest number of nodes that nobody can tell from it."""
        of_class = np.bincount(self.classes)[self.classes]
        return np.where(self.is_certain, np.bincount(self.orbit)[self.orbit], of_class)


def find_orbits(graph: Graph, refinement: Refinement, run: Run | None = None) -> Orbits:
    """The orbits of a graph. If refinement did not come to its end, only nodes alone in their class are certain."""
    run, classes = run or Run(), refinement.classes
    is_certain = np.bincount(classes)[classes] == 1
    if not refinement.is_complete:
        return Orbits(np.arange(graph.nodes), is_certain, classes)
    rest = _Remainder.from_graph(graph, classes)
    budget = _Budget(_MOST_STEPS)
    groups: dict[tuple[int, ...], list[list[int]]] = {}
    undecided = set[int]()
    for nodes in rest.components():
        key = tuple(sorted(classes[nodes].tolist()))
        if len(nodes) > _LARGEST_COMPONENT:
            undecided.update(key)
        groups.setdefault(key, []).append(nodes)
    union = _Union(graph.nodes)
    for key, members in groups.items():
        run.check()
        if undecided.intersection(key) or not _join_component_orbits(members, classes, rest, union, budget):
            undecided.update(key)
    open_nodes = np.isin(classes, sorted(undecided))
    return Orbits(np.unique(union.roots(), return_inverse=True)[1].astype(np.int64), is_certain | ~open_nodes, classes)


def _join_component_orbits(
    members: Sequence[list[int]], classes: Ints, rest: _Remainder, union: _Union, budget: _Budget
) -> bool:
    """Join the nodes that some isomorphism between these components maps to each other; false if it took too long.

    Components fall into kinds that are isomorphic to each other; comparing with one of each kind is enough. Within one
    of each kind, its own automorphisms are looked for.
    """
    kinds: list[list[int]] = []
    for nodes in members:
        for first in kinds:
            mapping = _find_mapping(first, nodes, classes, rest, {}, budget)
            if budget.is_spent:
                return False
            if mapping is not None:
                for one, other in mapping.items():
                    union.join(one, other)
                break
        else:
            kinds.append(nodes)
    return all(_join_own_orbits(first, classes, rest, union, budget) for first in kinds)


def _join_own_orbits(nodes: list[int], classes: Ints, rest: _Remainder, union: _Union, budget: _Budget) -> bool:
    """Join the nodes of a component that one of its automorphisms maps to each other."""
    for place, one in enumerate(nodes):
        for other in nodes[place + 1 :]:
            if classes[one] != classes[other] or union.root(one) == union.root(other):
                continue
            mapping = _find_mapping(nodes, nodes, classes, rest, {one: other}, budget)
            if budget.is_spent:
                return False
            if mapping is not None:
                for left, right in mapping.items():
                    union.join(left, right)
    return True


def _find_mapping(
    left: list[int], right: list[int], classes: Ints, rest: _Remainder, fixed: dict[int, int], budget: _Budget
) -> dict[int, int] | None:
    """A mapping of one component to another that keeps classes and edges, or None."""
    order = _connected_order(left, rest, [*fixed])
    by_class: dict[int, list[int]] = {}
    for node in right:
        by_class.setdefault(int(classes[node]), []).append(node)
    mapping: dict[int, int] = {}
    taken = set[int]()

    def fits(one: int, other: int) -> bool:
        for way in (rest.out, rest.into):
            there = way[other]
            mapped = [mapping[n] for n in way[one] if n in mapping]
            if not all(n in there for n in mapped) or len(mapped) != sum(n in taken for n in there):
                return False
        return True

    def candidates(one: int) -> list[int]:
        if one in fixed:
            return [fixed[one]]
        before = next((n for n in rest.neighbours[one] if n in mapping), None)
        some = by_class.get(int(classes[one]), []) if before is None else rest.neighbours[mapping[before]]
        return [n for n in some if classes[n] == classes[one] and n not in taken]

    stack = [iter(candidates(order[0]))]
    while stack:
        budget.steps -= 1
        if budget.is_spent:
            return None
        one = order[len(stack) - 1]
        if one in mapping:
            taken.discard(mapping.pop(one))
        other = next((n for n in stack[-1] if n not in taken and fits(one, n)), None)
        if other is None:
            stack.pop()
            continue
        mapping[one] = other
        taken.add(other)
        if len(stack) == len(order):
            return mapping
        stack.append(iter(candidates(order[len(stack)])))
    return None


def _connected_order(nodes: list[int], rest: _Remainder, first: list[int]) -> list[int]:
    """The nodes of a component in an order in which each has a neighbour among those before."""
    order, seen = list[int](), set[int]()
    queue = first or nodes[:1]
    while queue:
        node = queue.pop(0)
        if node not in seen:
            seen.add(node)
            order.append(node)
            queue += sorted(rest.neighbours[node])
    return order


class _Budget:
    """How many more steps may be taken."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    @property
    def is_spent(self) -> bool:
        return self.steps <= 0


class _Union:
    """Sets of nodes that are joined one by one."""

    def __init__(self, nodes: int) -> None:
        self.parent = np.arange(nodes)

    def root(self, node: int) -> int:
        while self.parent[node] != node:
            self.parent[node] = self.parent[self.parent[node]]
            node = int(self.parent[node])
        return node

    def join(self, one: int, other: int) -> None:
        a, b = self.root(one), self.root(other)
        self.parent[max(a, b)] = min(a, b)

    def roots(self) -> Ints:
        return np.array([self.root(node) for node in range(len(self.parent))], np.int64)


@dataclass(frozen=True, eq=False)
class _Remainder:
    """The nodes that are not alone in their class, with the edges that divide something. Between two classes, or in
    one, where all edges are there, none matters."""

    nodes: list[int]
    out: dict[int, set[int]]
    into: dict[int, set[int]]
    neighbours: dict[int, set[int]]

    @classmethod
    def from_graph(cls, graph: Graph, classes: Ints) -> _Remainder:
        sizes = np.bincount(classes)
        sources = np.repeat(np.arange(graph.nodes), graph.degrees)
        matters = ~edge_classes(graph, classes)
        nodes = np.flatnonzero(sizes[classes] > 1).tolist()
        out: dict[int, set[int]] = {node: set() for node in nodes}
        into: dict[int, set[int]] = {node: set() for node in nodes}
        for one, other in zip(sources[matters].tolist(), graph.neighbours[matters].tolist(), strict=True):
            out[one].add(other)
            into[other].add(one)
        return cls(nodes, out, into, {node: out[node] | into[node] for node in nodes})

    def components(self) -> list[list[int]]:
        """The nodes of each component."""
        seen, found = set[int](), list[list[int]]()
        for node in self.nodes:
            if node in seen:
                continue
            seen.add(node)
            part, at = [node], 0
            while at < len(part):
                for other in self.neighbours[part[at]]:
                    if other not in seen:
                        seen.add(other)
                        part.append(other)
                at += 1
            found.append(part)
        return found
