"""Plant nodes in a network, so that they can be found again when it is released without names.

Before the release, the attacker creates k nodes (accounts). Each is linked with a number of others drawn from a
*window* [d₀, d₁]. Each target is linked with its own set of at least two planted nodes, N₁, N₂ …, and nobody else is
linked with just the nodes of one of these sets. Among themselves, the planted nodes are linked along a path
x₁ – x₂ – … – x_k, and any other two with probability ½ (Backstrom, Dwork and Kleinberg 2007, the walk-based attack).

Everything is drawn again until no two planted nodes could change places: until only the identity keeps all links among
them and all degrees. Degrees count because the search compares them too; graphs of two to five nodes always have
another symmetry if degrees are left out.

**How many?** The published theorem asks for k ≥ (2 + δ) log₂ n, see :func:`planted_nodes_in_theory`. Its simplest part
bounds the chance that the rest of the network contains a copy by accident: at most nᵏ sequences of nodes follow a path,
and each has the right other links with probability 2^−C(k−1, 2), see :func:`accidental_copy_bound`. The bound ignores
degrees, so far fewer nodes do in practice.

**The window.** The planted nodes should not stand out, so the default window reaches from the median degree of the
network to the 95% quantile, see :func:`choose_degree_window`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, log2
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.network.active.search import MAX_KNOWN_NODES, KnownSubgraph, has_symmetry
from unveil.release.graph import Graph
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    import numpy as np

    from unveil.arrays import Ints

__all__ = [
    "AttackedGraph",
    "accidental_copy_bound",
    "choose_degree_window",
    "plant_nodes",
    "planted_nodes_for_bound",
    "planted_nodes_in_theory",
]

_TARGETS = 10  # by default, if there are so many sets
_DRAWS = 300  # before giving up
_SPREAD = 3  # the default window is at least so wide: equal degrees would make few nodes hard to tell apart


@dataclass(frozen=True, eq=False)
class AttackedGraph:
    """A graph that contains the attacker's nodes, what the attacker knows of them, and where they and the targets
    really are.

    The attacker gets ``graph`` and ``known``; ``nodes`` and ``targets`` serve to check the result. The nodes of the
    original graph keep their positions, which the search does not use.
    """

    graph: Graph
    known: KnownSubgraph
    nodes: Ints
    targets: Ints


def accidental_copy_bound(nodes: int, k: int) -> float:
    """An upper bound on the chance that a graph contains a copy of k planted nodes that has none of them:
    nᵏ · 2^−C(k−1, 2), at most 1.

    >>> round(accidental_copy_bound(769, 23), 6), accidental_copy_bound(769, 22)
    (0.000689, 1.0)
    """
    return float(2 ** min(0.0, k * log2(nodes) - comb(k - 1, 2)))


def planted_nodes_for_bound(nodes: int, bound: float = 0.01) -> int:
    """The smallest k from which on an accidental copy is at most this likely by :func:`accidental_copy_bound`.

    >>> planted_nodes_for_bound(769)
    23
    """
    if not 0 < bound < 1:
        raise UnveilError("the bound on the chance of an accidental copy must lie between 0 and 1")
    k = 2
    while accidental_copy_bound(nodes, k) > bound:
        k += 1
    return k


def planted_nodes_in_theory(nodes: int, delta: float = 0.1) -> int:
    """(2 + δ) log₂ n, rounded up, at least 2: the k that the published theorem asks for in a graph of n nodes.

    >>> planted_nodes_in_theory(769)
    21
    """
    if delta <= 0:
        raise UnveilError("delta must be greater than 0")
    return max(2, ceil((2 + delta) * log2(nodes)))


def choose_degree_window(graph: Graph, k: int) -> tuple[int, int]:
    """The fewest and the most links of a planted node with others: from the median degree to the 95% quantile, at least
    3 apart where there are enough nodes. Never more than half of the nodes, or a quarter with up to four planted ones:
    otherwise other nodes would be linked with the same planted nodes as a target is.

    >>> complete = Graph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3], nodes=4)
    >>> choose_degree_window(complete, 7)
    (1, 2)
    """
    import numpy as np

    most = min(graph.nodes, max(2, graph.nodes // (2 if k > 4 else 4)))
    low, high = np.quantile(graph.degrees, [0.5, 0.95], method="lower").tolist()
    low = max(1, min(low, most - _SPREAD))
    return low, min(most, max(high, low + _SPREAD))


def plant_nodes(
    graph: Graph,
    k: int,
    rng: np.random.Generator,
    window: tuple[int, int] | None = None,
    targets: int | Sequence[int] | None = None,
) -> AttackedGraph:
    """Add k planted nodes to an undirected graph; they get the last positions.

    ``targets`` are positions of nodes, or how many to draw; by default 10, or fewer if there are not enough sets or
    links for that.
    """
    import numpy as np

    window = _check_window(graph, k, window)
    chosen = _choose_targets(graph, k, window, targets, rng)
    for _ in range(_DRAWS):
        outside = rng.integers(window[0], window[1] + 1, k)
        links = _draw_links(k, rng)
        degrees = outside + np.bitwise_count(links)
        if has_symmetry(links, degrees):
            continue
        sets = _draw_target_sets(outside, len(chosen), rng)
        linked_with = None if sets is None else _link_others(graph.nodes, outside, chosen, sets, rng)
        if sets is not None and linked_with is not None:
            grown = _grow_graph(graph, links, linked_with)
            known = KnownSubgraph(links, degrees, sets)
            return AttackedGraph(grown, known, np.arange(graph.nodes, graph.nodes + k), chosen)
    raise UnveilError(
        f"{safe_text(graph.name)}: no way was found to plant {k} nodes with {window[0]} to {window[1]} links and "
        f"{count_text(len(chosen), 'target')}; widen the window, plant more nodes or choose fewer targets"
    )


def _check_window(graph: Graph, k: int, window: tuple[int, int] | None) -> tuple[int, int]:
    name = safe_text(graph.name)
    if graph.directed:
        raise UnveilError(f"{name}: the edges have directions; drop them before this attack")
    if not 2 <= k <= MAX_KNOWN_NODES:
        raise UnveilError(f"the number of planted nodes must be 2 to {MAX_KNOWN_NODES}")
    if graph.nodes < 2:
        raise UnveilError(f"{name}: there is 1 node; planted nodes need at least 2 to be linked with")
    low, high = window or choose_degree_window(graph, k)
    if not 1 <= low <= high <= graph.nodes:
        raise UnveilError(
            f"{name}: the window of links must lie within 1 to {graph.nodes:,}, the number of nodes, lowest first"
        )
    return low, high


def _choose_targets(
    graph: Graph, k: int, window: tuple[int, int], targets: int | Sequence[int] | None, rng: np.random.Generator
) -> Ints:
    """The positions of the targets, if there are enough sets and links for them."""
    import numpy as np

    sets, room = 2**k - 1 - k, k * window[1] // 2
    if targets is None:
        targets = max(1, min(_TARGETS, sets * 3 // 4, k * sum(window) // 6, graph.nodes // 2))
    count = targets if isinstance(targets, int) else len(targets)
    if not 0 <= count <= graph.nodes:
        raise UnveilError(f"{safe_text(graph.name)}: there can be 0 to {graph.nodes:,} targets, one for each node")
    if count > sets:
        raise UnveilError(
            f"{k} planted nodes can mark at most {count_text(sets, 'target')}, because each needs a set of two or more "
            "of its own; plant more nodes or choose fewer targets"
        )
    if count > room:
        raise UnveilError(
            f"{k} planted nodes with at most {count_text(window[1], 'link')} each can mark at most "
            f"{count_text(room, 'target')}; widen the window, plant more nodes or choose fewer targets"
        )
    if isinstance(targets, int):
        return rng.choice(graph.nodes, count, replace=False).astype(np.int64)
    chosen = np.asarray(targets, np.int64)
    if len(np.unique(chosen)) < count or (count and not 0 <= chosen.min() <= chosen.max() < graph.nodes):
        raise UnveilError(f"the targets must be different positions from 0 to {graph.nodes - 1:,}")
    return chosen


def _draw_links(k: int, rng: np.random.Generator) -> Ints:
    """A path through all nodes, and every other link with probability ½; bit j of row i is the link of i and j."""
    import numpy as np

    upper = np.triu(rng.random((k, k)) < 0.5, 2) | np.eye(k, k=1, dtype=np.bool_)
    links: Ints = ((upper | upper.T).astype(np.int64) << np.arange(k)).sum(axis=1)
    return links


def _draw_target_sets(outside: Ints, count: int, rng: np.random.Generator) -> Ints | None:
    """Different sets of two or three planted nodes, or more if those are used up; node i is in at most ``outside[i]``
    of them. None if that failed."""
    import numpy as np

    k, room, sets = len(outside), outside.astype(np.float64), list[int]()
    for attempt in range(100 * count):
        if len(sets) == count:
            break
        most = min(3 + attempt // (20 * count), int((room > 0).sum()))
        if most < 2:
            return None
        members = rng.choice(k, int(rng.integers(2, most + 1)), replace=False, p=room / room.sum())
        bits = sum(1 << i for i in members.tolist())
        if bits not in sets:
            sets.append(bits)
            room[members] -= 1
    return np.array(sets, np.int64) if len(sets) == count else None


def _link_others(
    nodes: int, outside: Ints, targets: Ints, sets: Ints, rng: np.random.Generator
) -> dict[int, int] | None:
    """The planted nodes that each node is linked with, as bits.

    Links that the targets leave over go to other nodes at random. Where such a node ends up with the set of a target,
    one of its links moves to another node. None if that failed.
    """
    import numpy as np

    linked_with = dict(zip(targets.tolist(), sets.tolist(), strict=True))
    others = np.delete(np.arange(nodes), targets)
    for i, links in enumerate(outside.tolist()):
        left = links - int((sets >> i & 1).sum())
        if left > len(others):
            return None
        for node in others[rng.choice(len(others), left, replace=False)].tolist():
            linked_with[node] = linked_with.get(node, 0) | 1 << i
    taken, aims = set(sets.tolist()), set(targets.tolist())
    for _ in range(50):
        clashes = [node for node, bits in linked_with.items() if bits in taken and node not in aims]
        if not clashes:
            return {node: bits for node, bits in linked_with.items() if bits}
        for node in clashes:
            members = [i for i in range(len(outside)) if linked_with[node] >> i & 1]
            bit = 1 << int(rng.choice(members))
            other = int(others[rng.integers(len(others))])
            if not linked_with.get(other, 0) & bit:
                linked_with[node] ^= bit
                linked_with[other] = linked_with.get(other, 0) | bit
    return None


def _grow_graph(graph: Graph, links: Ints, linked_with: dict[int, int]) -> Graph:
    """The graph with planted nodes at its last positions. Rows stay sorted, because those are appended. Labels are
    positions, as in a release without names."""
    import numpy as np
    import pyarrow as pa

    k, n = len(links), graph.nodes
    old = np.array(sorted(linked_with), np.int64)
    bits = np.array([linked_with[node] for node in old.tolist()], np.int64)
    which, planted = np.nonzero((bits[:, None] >> np.arange(k)) & 1)
    neighbours = np.insert(graph.neighbours, graph.indptr[old[which] + 1], planted + n)
    rows, inside = np.nonzero((links[:, None] >> np.arange(k)) & 1)
    owners, ends = np.concatenate([planted, rows]), np.concatenate([old[which], inside + n])
    order = np.lexsort((ends, owners))
    degrees = np.concatenate([graph.degrees + np.bincount(old[which], minlength=n), np.bincount(owners, minlength=k)])
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    labels = pa.array(np.arange(n + k)).cast(pa.string())
    return Graph(indptr, np.concatenate([neighbours, ends[order]]), False, labels, graph.name, graph.digest)
