"""A graph while its edges are changed.

Rows stay as they were; edges that were removed or added are in two hash tables, so that a change and the question
whether two nodes are connected cost about the same whatever the size of the graph. Memory grows with the number of
changes, and so does the time to find the degrees, until all changes are applied at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import Int32s, Ints
from unveil.network.protections import _edge_kernels
from unveil.release.graph import Graph, edge_endpoints, simple_graph

__all__ = [
    "ChangedGraph",
    "apply_changes",
    "changed_degrees",
    "count_changes",
    "edges_in",
    "make_room",
    "start_changes",
]


class ChangedGraph(NamedTuple):
    """The rows of a graph, and tables of the edges that were removed and added (``_edge_kernels.py``)."""

    starts: Ints
    neighbours: Int32s
    removed: Ints
    added: Ints


def start_changes(graph: Graph) -> ChangedGraph:
    """A graph without changes."""
    return ChangedGraph(graph.indptr, graph.neighbours, _empty_table(0), _empty_table(0))


def make_room(changed: ChangedGraph, removals: int, additions: int) -> ChangedGraph:
    """The same changes in tables with room for more."""
    removed, added = _enlarge(changed.removed, removals), _enlarge(changed.added, additions)
    return ChangedGraph(changed.starts, changed.neighbours, removed, added)


def _enlarge(table: Ints, more: int) -> Ints:
    larger = _empty_table(int((table > 0).sum()) + more)
    _edge_kernels.copy_edges(table, larger)
    return larger


def _empty_table(edges: int) -> Ints:
    return np.zeros(1 << (2 * edges + 1).bit_length(), np.int64)


def edges_in(table: Ints) -> Int32s:
    """The edges in a table in rising order: two columns, the lower node first."""
    packed = np.sort(table[table > 0]) - 1
    return np.stack([packed >> 32, packed & 0xFFFFFFFF], axis=1).astype(np.int32)


def count_changes(changed: ChangedGraph) -> int:
    """How many edges are removed or added."""
    return int((changed.removed > 0).sum() + (changed.added > 0).sum())


def changed_degrees(changed: ChangedGraph) -> Ints:
    """The degrees after all changes."""
    nodes = len(changed.starts) - 1
    gone, come = (np.bincount(edges_in(table).reshape(-1), minlength=nodes) for table in changed[2:])
    return np.diff(changed.starts) - gone + come


def apply_changes(graph: Graph, changed: ChangedGraph) -> Graph:
    """The graph with its changes, and with its nodes where they were."""
    ends = np.stack(edge_endpoints(graph), axis=1)
    removed = edges_in(changed.removed)
    ends = np.delete(ends, np.searchsorted(_pack(ends), _pack(removed)), axis=0)  # both are in rising order
    ends = np.concatenate([ends, edges_in(changed.added)])
    return simple_graph(ends.reshape(-1), graph.labels, False, graph.name, None)


def _pack(ends: Int32s) -> Ints:
    return ends[:, 0].astype(np.int64) << 32 | ends[:, 1]
