"""k-degree anonymity by adding nodes: all that was in the network stays as it was.

Edges between people are not invented. New nodes are added instead, and edges that end at them, until each degree that
occurs, those of new nodes included, occurs at least k times (S. Chester, B. Kapron, G. Ramesh, G. Srivastava, A. Thomo,
S. Venkatesh, *Why Waldo befriended the dummy? k-anonymization of social networks with pseudo-nodes*, 2013).

**What the old nodes get.** The nearest k-anonymous degrees without lowering any
(:mod:`unveil.network.protections.degree_sequences`) say what each node lacks, a(v). It gets a(v) edges to different new
nodes, always to those that have the fewest so far, so that new nodes end up with b or b + 1 of them.

**What the new nodes get.** All of them shall have the same degree x. What they lack, x − b or x − b − 1, they get from
edges among themselves. Numbers that differ by one at most are the degrees of some graph on m nodes if their sum is even
and none exceeds m − 1, and drawing an edge from the one that lacks most to those that lack most after it finds one (V.
Havel, S. Hakimi). The degree x must be one that old nodes have, or any if there are k new nodes.

**How many.** At least max a(v) nodes have to be added for these degrees. From there on m is raised until there is such
an x, and the smallest is taken. For odd m ≥ k there always is one: with D = Σ a(v), one of ⌈D/m⌉ and ⌈D/m⌉ + 1 has the
parity of D.

**What it does not do.** The old nodes keep all their edges and get no others among themselves: whoever can tell the new
nodes deletes them and has the network. They all have one degree. Where they are many, it stands out.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from unveil.arrays import Ints
from unveil.errors import UnveilError
from unveil.network.protections.degree_sequences import anonymise_degrees
from unveil.network.protections.relabel import fresh_labels
from unveil.release.graph import Graph, edge_endpoints, simple_graph

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["add_nodes"]


def add_nodes(graph: Graph, k: int, rng: np.random.Generator) -> Graph:
    """A k-degree anonymous graph that contains the given one and new nodes, at the last positions.

    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], nodes=4)
    >>> found = add_nodes(star, 2, np.random.default_rng(0))
    >>> found.degrees.tolist()
    [3, 3, 1, 1, 1, 1]
    """
    if graph.directed:
        raise UnveilError("edges of this network have directions; k-degree anonymity needs a network without them")
    targets = anonymise_degrees(graph.degrees, k)
    lacking = targets - graph.degrees
    if not lacking.any():
        return graph
    nodes, degree = _choose_new_nodes(lacking, np.unique(targets), k)
    old, new = _connect_old_nodes(lacking, nodes, rng)
    among = _connect_new_nodes(degree - np.bincount(new, minlength=nodes), rng)
    added = np.stack([old, graph.nodes + new], axis=1), graph.nodes + among
    ends = np.concatenate([np.stack(edge_endpoints(graph), axis=1), *added]).astype(np.int32)
    return simple_graph(ends.reshape(-1), _more_labels(graph.labels, nodes), False, graph.name, None)


def _choose_new_nodes(lacking: Ints, degrees: Ints, k: int) -> tuple[int, int]:
    """The smallest number of new nodes from max a(v) on for which there is a degree for all of them, and the smallest
    such degree."""
    total = int(lacking.sum())
    for nodes in count(int(lacking.max())):
        fewest, most = -(-total // nodes), total // nodes + nodes - 1
        possible = np.arange(fewest, fewest + 2) if nodes >= k else degrees
        fits = (fewest <= possible) & (possible <= most) & ((possible * nodes - total) % 2 == 0)
        if fits.any():
            return nodes, int(possible[fits.argmax()])
    raise AssertionError


def _connect_old_nodes(lacking: Ints, nodes: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Edges from old nodes to the new ones that have the fewest so far, drawing lots among equals."""
    load, chosen = np.zeros(nodes), [np.empty(0, np.int64)]
    old = rng.permutation(np.flatnonzero(lacking))
    for wanted in lacking[old].tolist():
        fewest = np.argpartition(load + rng.random(nodes), wanted - 1)[:wanted]
        load[fewest] += 1
        chosen.append(fewest)
    return np.repeat(old, lacking[old]), np.concatenate(chosen)


def _connect_new_nodes(lacking: Ints, rng: np.random.Generator) -> Ints:
    """Edges, one per row, that give each node as many as it lacks: from the one that lacks most to those after it."""
    left, edges = lacking.copy(), [np.empty((0, 2), np.int64)]
    while left.any():
        order = np.lexsort((rng.random(len(left)), -left))
        first, others = order[0], order[1 : 1 + left[order[0]]]
        left[first] = 0
        left[others] -= 1
        edges.append(np.stack([np.full(len(others), first), others], axis=1))
    return np.concatenate(edges)


def _more_labels(labels: pa.Array, count: int) -> pa.Array:
    """The labels, and new ones for so many more nodes, which are fewer than twice as many."""
    import pyarrow as pa

    labels = labels.cast(pa.string())
    return pa.concat_arrays([labels, fresh_labels(pa.concat_arrays([labels, labels]))[:count]])
