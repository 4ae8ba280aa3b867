"""The passive attack as published: propagation by cosine similarity and eccentricity.

Algorithm: A. Narayanan, V. Shmatikov, De-anonymizing social networks, S&P 2009; A. Narayanan, E. Shi, B. Rubinstein,
Link prediction by de-anonymization, IJCNN 2011. The similarity of a left and a right node is the cosine of their sets
of mapped neighbours, |X ∩ Y| / √(|X| |Y|), with nodes that are mapped to each other counted as the same. A node is
matched with the most similar one if the *eccentricity*, (max − max₂)/σ of its similarities to all nodes, is at least θ,
and if the same holds the other way round. All nodes are visited in their order, mapped ones too, again and again until
nothing changes.

**Crawled** nodes are those whose outgoing edges are known. Neighbours that point to a node count if their partner is
crawled too; those that it points to count only if both nodes are crawled, and, with ``out_crawled_only``, as printed,
only those whose partner is crawled.

Where the publication is silent, these rules hold. A node that gets a partner of another takes it away: the other is
unmapped. Among equally similar nodes the first is meant; its eccentricity is 0 then. With deviation 0 the eccentricity
is 0, and a node without any similar one is not matched. Propagation ends also when a mapping returns that was there
before, or after ``sweeps``. Seeds are visited like all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.network.passive.compared_graph import ComparedGraph, check_mapping
from unveil.release.graph import Graph
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.arrays import Bools, Ints

__all__ = ["published_attack"]

_SLICE = 500  # nodes between two looks at whether the run was cancelled


def published_attack(
    left: Graph,
    right: Graph,
    seeds: Ints,
    run: Run,
    theta: float = 0.5,
    left_crawled: Bools | None = None,
    right_crawled: Bools | None = None,
    out_crawled_only: bool = True,
    sweeps: int = 100,
) -> Ints:
    """For each left node, the right node that it is mapped to, or −1."""
    import numpy as np

    from unveil.network.passive import _kernels

    sides = ComparedGraph(left, left_crawled), ComparedGraph(right, right_crawled)
    marks = sides[0].crawled, sides[1].crawled
    arrays = sides[0].arrays, sides[1].arrays
    mapping = check_mapping(seeds, left, right).copy()
    inverse = np.full(right.nodes, -1)
    inverse[mapping[mapping >= 0]] = np.flatnonzero(mapping >= 0)
    counts = np.zeros((2, left.nodes), np.int64), np.zeros((2, right.nodes), np.int64)
    _kernels.count_mapped(*arrays, mapping, *marks, counts, out_crawled_only)
    work = np.zeros(left.nodes), np.zeros(right.nodes)
    touched = np.empty(max(left.nodes, right.nodes), np.int64)
    seen = {mapping.tobytes()}
    for _ in range(sweeps):
        changes = 0
        for first in range(0, left.nodes, _SLICE):
            run.check()
            changes += _kernels.propagate_once(
                first, _SLICE, *arrays, mapping, inverse, *marks, counts, out_crawled_only, theta, work, touched
            )
        if not changes or mapping.tobytes() in seen:
            break
        seen.add(mapping.tobytes())
    return mapping
