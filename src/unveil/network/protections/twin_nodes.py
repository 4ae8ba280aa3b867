"""Twins: nodes that could change places because they know the same others.

Nodes become twins by getting all neighbours that any of them has; if two of them are connected, all get connected.
Exchanging two of them then maps the graph to itself, so that nothing about structure tells them apart, and their
neighbourhoods are the same. From then on they are treated as one: who gets connected with one of them is connected with
all. This takes many edges, but it is always possible.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unveil.network.protections.neighbourhood_kinds import GrowingGraph, neighbourhood_classes
from unveil.run import Run

__all__ = ["make_twins"]

Twins = frozenset[int]


def make_twins(grown: GrowingGraph, k: int, run: Run) -> Iterator[None]:
    """Add edges until each node has the same neighbourhood as k − 1 others, twins or not; yields after each step.

    A node merges with those, up to two steps away, for which it takes the fewest edges for each new twin, until k are
    twins. Each step leaves fewer sets of twins.
    """
    twins: list[Twins] = [frozenset([node]) for node in range(len(grown.neighbours))]
    while rare := _rare_without_twins(grown, twins, k, run):
        first = grown.largest_of(rare)
        while len(twins[first]) < k:
            run.check()
            members = twins[first] | _nearest_twins(grown, twins, first, k)
            grown.add_edges(_twin_edges(grown, members))
            for node in members:
                twins[node] = members
            yield


def _rare_without_twins(grown: GrowingGraph, twins: list[Twins], k: int, run: Run) -> list[int]:
    """The nodes whose neighbourhood is of a rare kind; if there are none, those of which fewer than k have the same."""
    rare = [node for node in grown.rare_nodes(k) if len(twins[node]) < k]
    if rare:
        return rare
    classes = neighbourhood_classes(grown.to_graph(), run)
    alike = np.bincount(classes)[classes]
    return [node for node in np.flatnonzero(alike < k).tolist() if len(twins[node]) < k]


def _nearest_twins(grown: GrowingGraph, twins: list[Twins], first: int, k: int) -> Twins:
    """Those with whom a node and its twins should merge; if nobody is near, anybody."""
    around, own = grown.neighbours[first], twins[first]
    near = around.union(*(grown.neighbours[node] for node in around)) - own
    others = {twins[node] for node in near} or set(twins) - {own}
    wanted = k - len(own)
    return min(others, key=lambda some: (_merging_cost(grown, own, some) / min(len(some), wanted), min(some)))


def _merging_cost(grown: GrowingGraph, one: Twins, other: Twins) -> int:
    """How many edges it takes to make twins of two sets of twins."""
    members = one | other
    outside = [(len(part), grown.neighbours[min(part)] - members) for part in (one, other)]
    whole = len(outside[0][1] | outside[1][1])
    inside = sum(len(grown.neighbours[node] & members) for node in members) // 2
    missing = len(members) * (len(members) - 1) // 2 - inside if inside else 0
    return missing + sum(size * (whole - len(row)) for size, row in outside)


def _twin_edges(grown: GrowingGraph, members: Twins) -> list[tuple[int, int]]:
    """The edges that make twins of some nodes; those that are there are among them."""
    around = set[int]().union(*(grown.neighbours[node] for node in members))
    if around & members:
        around |= members
    return [(node, other) for node in sorted(members) for other in sorted(around) if node != other]
