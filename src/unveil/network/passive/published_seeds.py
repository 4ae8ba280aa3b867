"""The first pairs of two networks, as published: by cliques, and by matching the similarities of well-known nodes.

**Cliques** (A. Narayanan, V. Shmatikov, De-anonymizing social networks, S&P 2009). The attacker knows a clique of k
people who are in both networks, how many neighbours each has, and how many each two have in common. If exactly one
clique of the other network agrees with that, up to a relative ``tolerance``, its nodes are seeds. If one network is
denser by a factor f, numbers of neighbours are compared after multiplying by f, those of common ones by f².

**Similarities** (A. Narayanan, E. Shi, B. Rubinstein, Link prediction by de-anonymization, IJCNN 2011). The nodes to
which the most others point are mostly the same in both networks. Among these, the cosine similarity of the sets of
nodes that point to them, |X ∩ Y| / √(|X| |Y|), is computed for each two. The seeds are the mapping that makes the
similarities of both networks agree best, the sum of squared differences being least: a weighted graph matching problem,
solved approximately (J. T. Vogelstein et al., Fast approximate quadratic programming for graph matching, 2015).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from unveil.release.graph import Graph, edge_endpoints
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.arrays import Floats, Ints

__all__ = ["clique_seeds", "find_cliques_like", "in_neighbour_cosines", "similarity_seeds"]

_STEPS = 200_000  # nodes that may be tried for one clique


def _neighbour_sets(graph: Graph) -> list[set[int]]:
    """For each node, its neighbours in either direction."""
    sets: list[set[int]] = [set() for _ in range(graph.nodes)]
    for source, target in zip(*(ends.tolist() for ends in edge_endpoints(graph)), strict=True):
        sets[source].add(target)
        sets[target].add(source)
    return sets


def find_cliques_like(
    sets: list[set[int]], degrees: list[float], common: dict[tuple[int, int], float], tolerance: float, most: int = 2
) -> list[tuple[int, ...]] | None:
    """The cliques of a graph, given by neighbour sets, whose i-th node has about ``degrees[i]`` neighbours and whose
    nodes i < j have about ``common[i, j]`` in common: the first ones, at most so many; None if the search was given up.
    """

    def agrees(value: int, wanted: float) -> bool:
        return abs(value - wanted) <= tolerance * wanted + 1e-9

    found, steps = list[tuple[int, ...]](), 0
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        chosen = waiting.pop()
        k = len(chosen)
        if k == len(degrees):
            found.append(chosen)
            if len(found) == most:
                break
            continue
        nodes = set.intersection(*(sets[v] for v in chosen)) if chosen else range(len(sets))
        for v in sorted(nodes, reverse=True):
            steps += 1
            if agrees(len(sets[v]), degrees[k]) and all(
                agrees(len(sets[v] & sets[w]), common[i, k]) for i, w in enumerate(chosen)
            ):
                waiting.append((*chosen, v))
        if steps > _STEPS:
            return None
    return found


def clique_seeds(
    left: Graph, right: Graph, run: Run, size: int = 4, tolerance: float = 0.1, cliques: int = 20, top: int = 300
) -> Ints:
    """For each left node, the right node that a clique tells it to be, or −1.

    Tries cliques of the left graph among the ``top`` nodes with the most neighbours until so many were found again
    uniquely. Two cliques that contradict each other both lose their say on the node in question.
    """
    import numpy as np

    sets, others = _neighbour_sets(left), _neighbour_sets(right)
    scale = sum(map(len, others)) / len(others) / max(sum(map(len, sets)) / len(sets), 1e-9)
    said: dict[int, set[int]] = {}
    again = 0
    for clique in _some_cliques(sets, size, top):
        run.check()
        common = {(i, j): len(sets[clique[i]] & sets[clique[j]]) * scale**2 for i, j in combinations(range(size), 2)}
        found = find_cliques_like(others, [len(sets[v]) * scale for v in clique], common, tolerance)
        if found is not None and len(found) == 1:
            again += 1
            for v, w in zip(clique, found[0], strict=True):
                said.setdefault(v, set()).add(w)
        if again == cliques:
            break
    seeds = np.full(left.nodes, -1)
    agreed = {v: next(iter(images)) for v, images in said.items() if len(images) == 1}
    taken = list(agreed.values())
    for v, w in agreed.items():
        if taken.count(w) == 1:
            seeds[v] = w
    return seeds


def _some_cliques(sets: list[set[int]], size: int, top: int) -> Iterator[tuple[int, ...]]:
    """Cliques among the nodes with the most neighbours, one for each first node: greedily with those of its neighbours
    that have the most."""
    order = sorted(range(len(sets)), key=lambda v: (-len(sets[v]), v))[:top]
    rank = {v: k for k, v in enumerate(order)}
    for v in order:
        clique, inside = [v], {w for w in sets[v] if w in rank}
        while inside and len(clique) < size:
            best = min(inside, key=rank.__getitem__)
            clique.append(best)
            inside &= sets[best]
        if len(clique) == size:
            yield tuple(clique)


def in_neighbour_cosines(graph: Graph, nodes: Ints) -> Floats:
    """The cosine similarities of the sets of nodes that point to these nodes; 0 beside the diagonal if a set is empty.

    >>> g = Graph.from_edges([0, 1, 2, 1, 2, 3], [4, 4, 4, 5, 5, 5], nodes=6, directed=True)
    >>> round(float(in_neighbour_cosines(g, [4, 5])[0, 1]), 4)
    0.6667
    """
    import numpy as np
    from scipy.sparse import csr_array

    sources, targets = edge_endpoints(graph)
    if not graph.directed:
        sources, targets = np.append(sources, targets), np.append(targets, sources)
    into = csr_array((np.ones(len(sources)), (targets, sources)), shape=(graph.nodes, graph.nodes))[np.asarray(nodes)]
    together = (into @ into.T).toarray()
    sizes = np.sqrt(np.maximum(np.diag(together), 1))
    result: Floats = together / np.outer(sizes, sizes)
    return result


def similarity_seeds(left: Graph, right: Graph, run: Run, top: int = 100) -> Ints:
    """For each left node, the right node that it is mapped to, or −1: all of the ``top`` nodes to which the most others
    point."""
    import numpy as np
    from scipy.optimize import quadratic_assignment

    top = min(top, left.nodes, right.nodes)
    nodes = [np.argsort(-graph.in_degrees, kind="stable")[:top] for graph in (left, right)]
    cosines = [in_neighbour_cosines(graph, chosen) for graph, chosen in zip((left, right), nodes, strict=True)]
    run.check()
    for matrix in cosines:  # a constant changes no mapping's rank, but it would hide the differences
        matrix -= (matrix.sum() - top) / max(top * (top - 1), 1)
        np.fill_diagonal(matrix, 0)
    options = {"maximize": True, "P0": _similar_ranks(top), "rng": run.rng("network.passive similarities")}
    best = quadratic_assignment(*cosines, method="faq", options=options).col_ind
    seeds = np.full(left.nodes, -1)
    seeds[nodes[0]] = nodes[1][best]
    return seeds


def _similar_ranks(size: int) -> Floats:
    """Where the search begins: both lists have the same people at similar places. Rows and columns sum to 1."""
    import numpy as np

    places = np.arange(size)
    near: Floats = np.exp(-np.abs(places[:, None] - places) / (size / 10))
    for _ in range(100):
        near /= near.sum(axis=1, keepdims=True)
        near /= near.sum(axis=0, keepdims=True)
    return near
