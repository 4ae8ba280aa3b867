"""A slow transcription of the passive attack as printed: the thesis's Algorithm 10.1 and Listing 10.1.

A graph is a list of sets: for each node, those it points to; in an undirected graph every edge is in both sets. Crawled
nodes are those whose outgoing edges are known. Where the listing is silent, the rules are those that
``unveil.network.passive.published_attack`` states.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

__all__ = ["adjacency_sets", "cosine_similarity", "eccentricity", "node_similarity", "passive_attack"]

Sets = list[set[int]]


def adjacency_sets(nodes: int, edges: list[tuple[int, int]], directed: bool) -> Sets:
    out: Sets = [set() for _ in range(nodes)]
    for a, b in edges:
        if a != b:
            out[a].add(b)
            if not directed:
                out[b].add(a)
    return out


def _point_to(out: Sets) -> Sets:
    into: Sets = [set() for _ in out]
    for a, targets in enumerate(out):
        for b in targets:
            into[b].add(a)
    return into


def cosine_similarity(x: set[int], y: set[int]) -> float:
    """|X ∩ Y| / √(|X| |Y|), 0 if either is empty."""
    return len(x & y) / sqrt(len(x) * len(y)) if x and y else 0.0


def node_similarity(
    v_san: int,
    v_aux: int,
    san: Sets,
    aux: Sets,
    mapping: dict[int, int],
    c_san: set[int],
    c_aux: set[int],
    out_crawled_only: bool = True,
) -> float:
    """Algorithm 10.1. ``out_crawled_only``: lines 4 and 5 as printed; otherwise they leave out ∩ C."""
    in_san, in_aux = _point_to(san), _point_to(aux)
    image = {mapping[w] for w in mapping if w in c_san}
    n_san = {mapping[w] for w in in_san[v_san] if w in mapping} & c_aux
    n_aux = in_aux[v_aux] & image
    if v_san in c_san and v_aux in c_aux:
        out_san = {mapping[w] for w in san[v_san] if w in mapping}
        out_aux = aux[v_aux] & set(mapping.values())
        n_san |= out_san & c_aux if out_crawled_only else out_san
        n_aux |= out_aux & image if out_crawled_only else out_aux
    return cosine_similarity(n_san, n_aux)


def eccentricity(scores: list[float]) -> float:
    """(max − max₂)/σ, 0 if σ is 0."""
    deviation = float(np.std(scores))
    ordered = sorted(scores)
    return (ordered[-1] - ordered[-2]) / deviation if len(scores) > 1 and deviation > 0 else 0.0


def passive_attack(
    left: Sets,
    right: Sets,
    seeds: dict[int, int],
    theta: float,
    c_left: set[int],
    c_right: set[int],
    out_crawled_only: bool = True,
    sweeps: int = 100,
) -> dict[int, int]:
    """Listing 10.1."""
    mapping = dict(seeds)
    seen = [dict(mapping)]
    for _ in range(sweeps):
        changed = False
        for node in range(len(left)):
            inverse = {b: a for a, b in mapping.items()}
            scores = [
                node_similarity(node, r, left, right, mapping, c_left, c_right, out_crawled_only)
                for r in range(len(right))
            ]
            if max(scores) == 0 or eccentricity(scores) < theta:
                continue
            r = scores.index(max(scores))
            back = [
                node_similarity(r, other, right, left, inverse, c_right, c_left, out_crawled_only)
                for other in range(len(left))
            ]
            if eccentricity(back) < theta or back.index(max(back)) != node or mapping.get(node) == r:
                continue
            mapping.pop(inverse.get(r, -1), None)
            mapping[node] = r
            changed = True
        if not changed or mapping in seen:
            break
        seen.append(dict(mapping))
    return mapping
