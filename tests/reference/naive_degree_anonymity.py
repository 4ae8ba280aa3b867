"""The fewest edges that must change for a graph to be k-degree anonymous, by looking at all graphs of that size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

__all__ = ["Edges", "all_graphs", "degrees_of", "fewest_changes", "fewest_changes_to_degrees", "is_anonymous"]

Edges = frozenset[tuple[int, int]]
"""Pairs of nodes, the lower one first."""


@cache
def all_graphs(nodes: int) -> tuple[Edges, ...]:
    pairs = list(combinations(range(nodes), 2))
    return tuple(
        frozenset(pair for i, pair in enumerate(pairs) if number >> i & 1) for number in range(1 << len(pairs))
    )


@cache
def degrees_of(edges: Edges, nodes: int) -> tuple[int, ...]:
    ends = Counter(end for pair in edges for end in pair)
    return tuple(ends[v] for v in range(nodes))


def is_anonymous(degrees: Sequence[int], k: int) -> bool:
    """Whether at least k nodes have each degree."""
    return all(count >= k for count in Counter(degrees).values())


@cache
def _anonymous_graphs(nodes: int, k: int) -> tuple[Edges, ...]:
    return tuple(other for other in all_graphs(nodes) if is_anonymous(degrees_of(other, nodes), k))


def fewest_changes(edges: Edges, nodes: int, k: int, additions_only: bool) -> int:
    return min(_differences(edges, _anonymous_graphs(nodes, k), additions_only))


def fewest_changes_to_degrees(edges: Edges, degrees: Sequence[int], additions_only: bool) -> int:
    """The same over all graphs that have these degrees."""
    some = (other for other in all_graphs(len(degrees)) if degrees_of(other, len(degrees)) == tuple(degrees))
    return min(_differences(edges, some, additions_only))


def _differences(edges: Edges, others: Iterable[Edges], additions_only: bool) -> Iterator[int]:
    for other in others:
        if edges <= other or not additions_only:
            yield len(edges ^ other)
