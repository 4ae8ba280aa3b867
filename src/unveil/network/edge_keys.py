"""A number for each edge of a graph, by which edges of several graphs on the same nodes are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unveil.arrays import Int32s, Ints

__all__ = ["edge_keys"]


def edge_keys(sources: Ints | Int32s, targets: Ints | Int32s, nodes: int, directed: bool = False) -> Ints:
    """A number for each edge between some of so many nodes, different for different edges. An undirected edge has the
    same number from either end.

    >>> edge_keys(np.array([0, 2, 2]), np.array([2, 0, 1]), nodes=3).tolist()
    [2, 2, 5]
    """
    ends = np.stack([sources, targets]).astype(np.int64)
    first, last = ends if directed else np.sort(ends, axis=0)
    keys: Ints = first * nodes + last
    return keys
