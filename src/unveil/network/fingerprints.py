"""What somebody may know about a person's place in a network, and whom that singles out.

Removing names leaves the structure. A *fingerprint* is what can be known of it about one node; nodes with the same
fingerprint are a class, and whoever is alone in theirs is found by it. From little to much:

- **degree**: the number of connections (a pair of numbers, out and in, if edges have directions);
- **neighbours**: the degrees of all neighbours, as a multiset: what somebody knows who knows the person's friends;
- **two steps**: the same of every neighbour, in addition: their neighbours' degrees;
- **ego network**: for every neighbour, the number of neighbours it shares with the person;
- **refinement**: the classes H₁, H₂, … of Hay et al. (Resisting structural re-identification in anonymized social
  networks, VLDB 2008): H₁ is the degree, and Hᵢ₊₁ the multiset of the neighbours' Hᵢ. H₂ are the neighbours, H₃ the two
  steps. Classes only divide, and at some point nothing changes any more: then nothing that can be told of a node's
  surroundings by counting divides them further.

Two nodes in a class of the last kind may still differ. What nobody can tell apart are nodes that an automorphism maps
to each other (:mod:`unveil.network.automorphisms`).

A multiset is represented by the sum of a random number of 64 bits for each member, so two different ones are taken for
equal with a probability below 2⁻⁶⁴ for each pair; the numbers are fixed, so that results do not depend on chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Ints
from unveil.network.degrees import degree_classes
from unveil.release.graph import Graph
from unveil.run import Run

__all__ = ["Refinement", "edge_classes", "ego_classes", "refine_classes", "refine_to_the_end"]

_MOST_WORK = 30_000_000  # edges × rounds, beyond the first
_FEWEST_ROUNDS = 12

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Refinement:
    """The classes by degree and those at the end, and how many nodes are alone in their class of H₁, H₂, …
    ``is_complete``: one more step divides nothing; otherwise it would have taken too long to go on."""

    by_degree: Ints
    classes: Ints
    alone: tuple[int, ...]
    is_complete: bool


def refine_to_the_end(graph: Graph, run: Run | None = None) -> Refinement:
    """Refine until nothing changes, or it takes too long."""
    run, first = run or Run(), degree_classes(graph)
    classes, alone, work = first, [_count_alone(first)], 0
    while work <= _MOST_WORK or len(alone) < _FEWEST_ROUNDS:
        run.check()
        run.progress("telling nodes apart by their surroundings", None)
        finer = refine_classes(graph, classes)
        if int(finer.max(initial=-1)) == int(classes.max(initial=-1)):
            return Refinement(first, classes, tuple(alone), True)
        classes, work = finer, work + len(graph.neighbours) + graph.nodes
        alone.append(_count_alone(classes))
    return Refinement(first, classes, tuple(alone), False)


def _count_alone(classes: Ints) -> int:
    return int((np.bincount(classes) == 1).sum())


def refine_classes(graph: Graph, classes: Ints) -> Ints:
    """Divide classes by the classes of the neighbours, each way along edges if they have directions."""
    numbers = _random_numbers(int(classes.max(initial=-1)) + 1)[classes]
    parts = [classes, *_sum_over_neighbours(numbers, graph.indptr, graph.neighbours)]
    if graph.directed:
        order = np.argsort(graph.neighbours, kind="stable")
        sources = np.repeat(np.arange(graph.nodes), graph.degrees)[order]
        begins = np.append(0, np.cumsum(graph.in_degrees))
        parts += _sum_over_neighbours(numbers, begins, sources)
    return _number_rows(parts)


def _random_numbers(count: int) -> Words:
    return np.random.default_rng(0).integers(1 << 64, size=(count, 2), dtype=np.uint64)


def _sum_over_neighbours(numbers: Words, indptr: Ints, neighbours: npt.NDArray[np.integer]) -> list[Words]:
    """For each node, the sums of two numbers of its neighbours."""
    found = []
    for own in numbers.T:
        total = np.append(np.uint64(0), np.cumsum(own[neighbours], dtype=np.uint64))
        found.append(total[indptr[1:]] - total[indptr[:-1]])
    return found


def _number_rows(parts: Sequence[npt.NDArray[np.integer]]) -> Ints:
    """The number of each different row of several columns, in order of their contents."""
    ids = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        values, rank = np.unique(part, return_inverse=True)
        ids = np.unique(ids * len(values) + rank, return_inverse=True)[1].astype(np.int64)
    return ids


def ego_classes(graph: Graph, run: Run | None = None) -> Ints:
    """The class of each node by the number of neighbours it shares with each of its neighbours."""
    from unveil.network.measures.graph_measures import shared_neighbours, undirected_graph

    whole = undirected_graph(graph)
    found = shared_neighbours(whole, run)
    numbers = _random_numbers(int(found.shared.max(initial=0)) + 1)
    sums = np.zeros((2, whole.nodes), np.uint64)
    for ends in (found.sources, found.targets):
        for own, number in zip(sums, numbers.T, strict=True):
            np.add.at(own, ends, number[found.shared])
    return _number_rows([whole.degrees, *sums])


def edge_classes(graph: Graph, classes: Ints) -> Bools:
    """For each edge as stored, whether it follows from knowing the classes of both ends: all nodes of one class are
    connected to all of the other (Fig. 7.2 of Vanhoef, *Privacy in databases*, 2012)."""
    sources = np.repeat(np.arange(graph.nodes), graph.degrees)
    sizes = np.bincount(classes)
    count = len(sizes)
    kinds, kind, edges = np.unique(
        classes[sources] * count + classes[graph.neighbours], return_inverse=True, return_counts=True
    )
    one, other = kinds // count, kinds % count
    possible = sizes[one] * np.where(one == other, sizes[other] - 1, sizes[other])
    found: Bools = (edges == possible)[kind]
    return found
