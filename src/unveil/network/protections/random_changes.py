"""Change edges at random, so that what somebody knows of a person's connections need not be true of the release.

**Delete and add** (M. Hay, G. Miklau, D. Jensen, P. Weis, S. Srivastava, *Anonymizing social networks*, 2007): a share
of the edges, drawn at random, is deleted, and as many pairs of nodes that were not connected become edges. All sets of
edges to delete, and all sets to add, are equally likely. The number of edges stays as it is; if fewer pairs were
unconnected than edges should go, only so many edges go.

**Switch** (X. Ying, X. Wu, *Randomizing social networks: a spectrum preserving approach*, 2008): two edges a–b and c–d
become a–d and c–b, if these four are different nodes and neither of the two is an edge yet. Every degree stays as it
is. An edge may be switched several times, and by chance back to where it was.

**Where nothing can be switched.** A graph is a *threshold graph* if taking away nodes that are connected with nobody or
with everybody, one after another, takes away all of it: an empty graph, a star, a complete graph. In these, and in no
others, there is no valid switch (V. Chvátal, P. Hammer, *Aggregation of inequalities in integer programming*, 1977).
Degrees alone tell a threshold graph, and a switch keeps them, so that there is either always a valid switch or never.
In a graph that is nearly of this kind, valid switches may be so rare that few are found: the search ends after
64 random pairs of edges for each switch, and 2²² more.
"""

from __future__ import annotations

import numpy as np

from unveil.arrays import Bools, Ints
from unveil.errors import UnveilError
from unveil.network.edge_keys import edge_keys
from unveil.network.protections.distinct_draws import draw_subsets, pairs_by_rank
from unveil.release.graph import Graph, edge_endpoints, simple_graph

__all__ = ["change_edges_at_random", "is_threshold_graph", "switch_edges"]

_TRIES, _MORE_TRIES = 64, 1 << 22
_FEWEST, _MOST = 1 << 6, 1 << 20  # pairs of edges that are looked at together


def change_edges_at_random(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """Delete a share of the edges, rounded, and add as many that were not there; nodes keep their positions.

    >>> path = Graph.from_edges([0, 1], [1, 2], nodes=3)
    >>> edge_endpoints(change_edges_at_random(path, 0.5, np.random.default_rng(0)))
    (array([0, 0], dtype=int32), array([1, 2], dtype=int32))
    """
    _check_request(graph, share)
    ranks = _edge_ranks(graph)
    pairs = graph.nodes * (graph.nodes - 1) // 2
    count = min(round(share * graph.edges), pairs - graph.edges)
    sizes, counts = np.array([graph.edges, pairs - graph.edges]), np.array([count, count])
    drawn = draw_subsets(sizes, counts, rng)[1]
    unconnected = ranks - np.arange(len(ranks))  # how many pairs before each edge are none
    added = drawn[count:] + np.searchsorted(unconnected, drawn[count:], side="right")
    kept = np.concatenate([np.delete(ranks, drawn[:count]), added])
    return _replace_edges(graph, *pairs_by_rank(kept))


def _check_request(graph: Graph, share: float) -> None:
    if graph.directed:
        raise UnveilError("edges of this network have directions; changing them at random needs a network without them")
    if not 0 <= share <= 1:
        raise UnveilError("the share of edges to change must lie between 0 and 1")


def _edge_ranks(graph: Graph) -> Ints:
    """The places of all edges in the list of pairs (0, 1), (0, 2), (1, 2), (0, 3) …, in rising order."""
    high = np.repeat(np.arange(graph.nodes), graph.degrees)
    once = graph.neighbours < high
    high = high[once]
    ranks: Ints = high * (high - 1) // 2 + graph.neighbours[once]
    return ranks


def _replace_edges(graph: Graph, sources: Ints, targets: Ints) -> Graph:
    """A graph on the same nodes with these edges."""
    ends = np.stack([sources, targets], axis=1).astype(np.int32)
    return simple_graph(ends.reshape(-1), graph.labels, False, graph.name, None)


# ---- switches --------------------------------------------------------------------------------------------------------


def switch_edges(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """Switch edges, share × edges times, rounded; nodes keep their positions and degrees.

    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=4)
    >>> edge_endpoints(switch_edges(path, 1 / 3, np.random.default_rng(0)))
    (array([0, 1, 1], dtype=int32), array([2, 2, 3], dtype=int32))
    """
    _check_request(graph, share)
    wanted = round(share * graph.edges)
    if is_threshold_graph(graph.degrees):
        wanted = 0
    ends = np.stack(edge_endpoints(graph), axis=1).astype(np.int64)
    tries = _TRIES * wanted + _MORE_TRIES
    while wanted > 0 and tries > 0:
        looked = max(_FEWEST, min(2 * wanted, len(ends) // 4, _MOST))
        tries -= looked
        wanted -= _switch_some(ends, looked, wanted, rng)
    return _replace_edges(graph, ends[:, 0], ends[:, 1])


def is_threshold_graph(degrees: Ints) -> bool:
    """Whether nodes that are connected with nobody or everybody can be taken away one after another until none is left.

    >>> is_threshold_graph(np.array([3, 1, 1, 1])), is_threshold_graph(np.array([1, 2, 2, 1]))
    (True, False)
    """
    falling = np.sort(degrees)[::-1].tolist()
    first, last = 0, len(falling) - 1  # those that are left; each of those before was connected with all of them
    while first <= last:
        if falling[last] == first:
            last -= 1
        elif falling[first] - first == last - first:
            first += 1
        else:
            return False
    return True


def _switch_some(ends: Ints, looked: int, wanted: int, rng: np.random.Generator) -> int:
    """Look at so many random pairs of edges, and switch those that do not get in each other's way, as many as wanted
    at most; return how many."""
    nodes = int(ends.max()) + 1
    chosen = rng.integers(0, len(ends), (looked, 2))
    one, other = ends[chosen[:, 0]], ends[chosen[:, 1]]
    turned = rng.random(looked) < 0.5
    other[turned] = other[turned, ::-1]
    made = np.stack([one, other], axis=1)
    made[:, :, 1] = made[:, ::-1, 1]
    keys = edge_keys(made[..., 0].reshape(-1), made[..., 1].reshape(-1), nodes).reshape(-1, 2)
    valid = (one[:, :, None] != other[:, None, :]).all(axis=(1, 2))
    valid[valid] = ~_contains(np.sort(edge_keys(ends[:, 0], ends[:, 1], nodes)), keys[valid]).any(axis=1)
    valid[valid] = _first_of_all(chosen[valid]) & _first_of_all(keys[valid])
    switched = np.flatnonzero(valid)[:wanted]
    ends[chosen[switched]] = made[switched]
    return len(switched)


def _contains(rising: Ints, values: Ints) -> Bools:
    """Which values occur among others, which are in rising order."""
    places = np.minimum(np.searchsorted(rising, values), len(rising) - 1)
    return np.equal(rising[places], values)


def _first_of_all(rows: Ints) -> Bools:
    """Which rows consist of values that no earlier row has."""
    is_first = np.zeros(rows.size, np.bool_)
    is_first[np.unique(rows, return_index=True)[1]] = True
    firsts: Bools = is_first.reshape(rows.shape).sum(axis=1) == rows.shape[1]
    return firsts
