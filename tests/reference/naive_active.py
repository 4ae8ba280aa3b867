"""The active attack, slowly: every sequence of nodes is tried. And ways to change a graph before its release."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

import numpy as np

from unveil.network.active.search import EXACT, KnownSubgraph, Tolerance
from unveil.release.graph import Graph, edge_endpoints

__all__ = ["all_copies", "anonymise_degrees", "change_edges", "edge_set", "symmetries", "target_of_copy"]


@lru_cache(maxsize=4)  # it is asked for again and again, for the same graph
def edge_set(graph: Graph) -> frozenset[tuple[int, int]]:
    """All edges, in both directions."""
    sources, ends = (each.tolist() for each in edge_endpoints(graph))
    return frozenset({*zip(sources, ends, strict=True), *zip(ends, sources, strict=True)})


def all_copies(graph: Graph, known: KnownSubgraph, tolerance: Tolerance = EXACT) -> dict[tuple[int, ...], int]:
    """Every sequence of nodes whose degrees and links differ little enough, with the sum of all differences."""
    edges, degrees, k = edge_set(graph), graph.degrees.tolist(), len(known.links)
    found = {}
    for nodes in permutations(range(graph.nodes), k):
        off = [abs(degrees[v] - int(d)) for v, d in zip(nodes, known.degrees, strict=True)]
        wrong = sum(
            ((nodes[i], nodes[j]) in edges) != bool(known.links[i] >> j & 1) for i in range(k) for j in range(i)
        )
        if max(off) <= tolerance.degree and wrong <= tolerance.links:
            found[nodes] = sum(off) + wrong
    return found


def symmetries(links: list[int], degrees: list[int]) -> int:
    """The number of permutations that keep all links and degrees."""
    k = len(links)
    return sum(
        all(degrees[p[i]] == degrees[i] for i in range(k))
        and all((links[p[i]] >> p[j] & 1) == (links[i] >> j & 1) for i in range(k) for j in range(k))
        for p in permutations(range(k))
    )


def target_of_copy(graph: Graph, copy: list[int], wanted: int, wrong: int = 0) -> int:
    """The node outside the copy that is linked with the wanted members; −1 if there is none, or more than one is
    nearest."""
    edges = edge_set(graph)
    distance = {}
    for node in set(range(graph.nodes)) - set(copy):
        bits = sum(1 << i for i, member in enumerate(copy) if (node, member) in edges)
        if bits & wanted:
            distance[node] = (bits ^ wanted).bit_count()
    near = min(distance.values(), default=wrong + 1)
    nearest = [node for node, far in distance.items() if far == near]
    return nearest[0] if near <= wrong and len(nearest) == 1 else -1


def change_edges(graph: Graph, removed: float, added: float, rng: np.random.Generator) -> Graph:
    """A graph without a share of its edges, and with a share of new ones between random nodes."""
    sources, ends = edge_endpoints(graph)
    kept = rng.random(len(sources)) >= removed
    new = rng.integers(0, graph.nodes, (2, round(added * graph.edges)))
    new = new[:, new[0] != new[1]]
    return Graph.from_edges(
        np.concatenate([sources[kept], new[0]]), np.concatenate([ends[kept], new[1]]), nodes=graph.nodes
    )


def anonymise_degrees(graph: Graph, k: int, rng: np.random.Generator) -> Graph:
    """Add edges until almost every degree is shared by k nodes.

    In the order of their degrees, every k nodes are to reach the degree of the first; nodes that lack links are then
    linked with each other at random. Some may still lack a few: a simplification of Liu and Terzi (2008).
    """
    order = np.argsort(-graph.degrees, kind="stable")
    wanted = graph.degrees[order][np.minimum(np.arange(graph.nodes) // k * k, (graph.nodes // k - 1) * k)]
    lacking = np.zeros(graph.nodes, np.int64)
    lacking[order] = np.maximum(0, wanted - graph.degrees[order])
    edges, new = edge_set(graph), list[tuple[int, int]]()
    for _ in range(20):
        stubs = np.repeat(np.arange(graph.nodes), lacking)
        rng.shuffle(stubs)
        for a, b in zip(stubs[::2].tolist(), stubs[1::2].tolist(), strict=False):
            if a != b and (a, b) not in edges:
                edges |= {(a, b), (b, a)}
                new.append((a, b))
                lacking[[a, b]] -= 1
    sources, ends = edge_endpoints(graph)
    added = np.array(new, np.int64).reshape(-1, 2).T
    return Graph.from_edges(np.concatenate([sources, added[0]]), np.concatenate([ends, added[1]]), nodes=graph.nodes)
