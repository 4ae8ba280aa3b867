"""What a changed graph can still be used for, by definition: edges as sets of pairs of original nodes, one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product

import networkx as nx

Node = int | tuple[str, int]
Edge = tuple[Node, Node] | frozenset[Node]


def edges_by_original(graph: nx.Graph, names: dict[int, Node]) -> set[Edge]:
    """The edges by what their ends were in the original; the direction counts only if the graph has one."""
    pairs = ((names[u], names[v]) for u, v in graph.edges)
    return {pair if graph.is_directed() else frozenset(pair) for pair in pairs}


def original_names(released: nx.Graph, truth: Sequence[int]) -> dict[int, Node]:
    """What each released node was, or a name of its own if it was added."""
    found: dict[int, Node] = {v: ("added", v) for v in released}
    return found | {place: v for v, place in enumerate(truth) if place >= 0}


def edge_sets(original: nx.Graph, released: nx.Graph, truth: Sequence[int]) -> tuple[set[Edge], set[Edge]]:
    """The edges of both graphs."""
    return (
        edges_by_original(original, {v: v for v in original}),
        edges_by_original(released, original_names(released, truth)),
    )


def jaccard(was: set[Edge], now: set[Edge]) -> float:
    """|E ∩ Ê| / |E ∪ Ê|."""
    return len(was & now) / len(was | now) if was | now else 1.0


def half_degree_change(original: nx.Graph, released: nx.Graph, truth: Sequence[int]) -> float:
    """½ Σ |d̂(v) − d(v)|, over both directions if there are any, with 0 for a node that is not there."""
    names = original_names(released, truth)
    kinds = ("in_degree", "out_degree") if original.is_directed() else ("degree",)
    total = 0
    for kind in kinds:
        was = dict(getattr(original, kind))
        now = {names[v]: degree for v, degree in getattr(released, kind)}
        total += sum(abs(now.get(v, 0) - was.get(v, 0)) for v in was.keys() | now.keys())
    return total / 2


def rand_index(first: Sequence[int], second: Sequence[int]) -> float:
    """The adjusted Rand index, by looking at every pair of nodes."""
    pairs = list(combinations(range(len(first)), 2))
    same = [(first[i] == first[j], second[i] == second[j]) for i, j in pairs]
    both, a, b = sum(x and y for x, y in same), sum(x for x, _ in same), sum(y for _, y in same)
    expected = a * b / len(pairs) if pairs else 0
    highest = (a + b) / 2
    return 1.0 if highest == expected else (both - expected) / (highest - expected)


def auc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """How often one of the first is higher, ties half, by comparing all with all."""
    wins = sum((x > y) + (x == y) / 2 for x, y in product(higher, lower))
    return wins / (len(higher) * len(lower))


def excess(graph: nx.Graph, u: int, v: int) -> float:
    """log((c + 1) / (e + 1)) for shared neighbours and those expected, without the edge between u and v."""
    ends = 2 * graph.number_of_edges()
    turns = sum(d * (d - 1) for _, d in graph.degree)
    shared = len(set(graph[u]) & set(graph[v]))
    a, b = len(set(graph[u]) - {v}), len(set(graph[v]) - {u})
    return math.log((shared + 1) / ((a * b * turns / ends**2 if ends else 0) + 1))


def adamic_adar(graph: nx.Graph, u: int, v: int) -> float:
    """Σ 1 / log d(w) over the shared neighbours."""
    return sum(1 / math.log(graph.degree[w]) for w in sorted(set(graph[u]) & set(graph[v])))
