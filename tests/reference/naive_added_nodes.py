"""The fewest nodes to add for k-degree anonymity, by trying all edges that end at them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, count

from reference.naive_degree_anonymity import Edges, degrees_of, is_anonymous

__all__ = ["fewest_added_nodes", "smallest_spread"]


def fewest_added_nodes(edges: Edges, nodes: int, k: int) -> int:
    """The smallest number of nodes whose edges, with old nodes or each other, can make a graph k-degree anonymous."""
    return next(m for m in count() if _suffice(edges, nodes, m, k))


def _suffice(edges: Edges, nodes: int, added: int, k: int) -> bool:
    pairs = [pair for pair in combinations(range(nodes + added), 2) if pair[1] >= nodes]
    return any(
        is_anonymous(degrees_of(edges | {pair for i, pair in enumerate(pairs) if number >> i & 1}, nodes + added), k)
        for number in range(1 << len(pairs))
    )


def smallest_spread(degrees: Sequence[int], k: int) -> int:
    """The least spread of degrees within a group, if all groups have k members or more. Someone in some group lacks so
    much, and needs as many different new nodes."""
    falling = sorted(degrees, reverse=True)
    return next(spread for spread in count() if _can_be_cut(falling, k, spread))


def _can_be_cut(falling: Sequence[int], k: int, spread: int) -> bool:
    can = [True] + [False] * len(falling)
    for end in range(k, len(falling) + 1):
        can[end] = any(can[begin] and falling[begin] - falling[end - 1] <= spread for begin in range(end - k + 1))
    return can[-1]
