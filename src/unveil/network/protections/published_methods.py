"""The published ways to a k-degree anonymous graph, where each node has as many neighbours as at least k − 1 others.

- **SuperGraph** adds edges only: it anonymises the degrees by raising them, and looks for a supergraph that has them.
- **Relaxed** builds a new graph with the same degrees, and swaps edges until it resembles the original.
- **SimultaneousSwap** does the same with degrees that may also be lowered, at the same price.

If that fails, they probe (:mod:`unveil.network.protections.published_probing`).

Algorithms: K. Liu, E. Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008; M. Vanhoef, *Privacy in
databases*, 2012, Algorithms 9.4, 9.7 and 9.8. They are here to be measured: they draw from a given generator, so
that whoever knows its seed can repeat what they did. Graphs are undirected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from unveil.arrays import Ints
from unveil.network.protections.degree_sequences import anonymise_degrees
from unveil.network.protections.published_construction import build_supergraph, construct_graph
from unveil.network.protections.published_probing import ProbedGraph, ProbingScheme, probe_degrees
from unveil.network.protections.published_swaps import resemble_by_swaps
from unveil.release.graph import Graph
from unveil.run import Run

__all__ = ["relaxed_graph", "simultaneous_swap_graph", "supergraph"]

_MOST_PROBES = 100_000
_PATIENCE = 1_000  # samples without a gain after which swapping ends


def supergraph(
    graph: Graph,
    k: int,
    rng: np.random.Generator,
    scheme: ProbingScheme = 4,
    most_probes: int = _MOST_PROBES,
    run: Run | None = None,
) -> ProbedGraph:
    """A k-degree anonymous graph with all edges of this one (Algorithm 9.4).

    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=4)
    >>> supergraph(path, 4, np.random.default_rng(0)).graph.degrees.tolist()
    [2, 2, 2, 2]
    """
    return probe_degrees(
        graph.degrees,
        lambda degrees: anonymise_degrees(degrees, k),
        lambda target: build_supergraph(graph, target, rng),
        scheme,
        rng,
        most_probes,
        run or Run(),
    )


def relaxed_graph(
    graph: Graph,
    k: int,
    rng: np.random.Generator,
    scheme: ProbingScheme = 4,
    most_probes: int = _MOST_PROBES,
    patience: int = _PATIENCE,
    run: Run | None = None,
) -> ProbedGraph:
    """A k-degree anonymous graph with at least as many edges, most of them those of this one (Algorithm 9.7)."""
    return _swap_constructed(graph, partial(anonymise_degrees, k=k), rng, scheme, most_probes, patience, run)


def simultaneous_swap_graph(
    graph: Graph,
    k: int,
    rng: np.random.Generator,
    scheme: ProbingScheme = 4,
    most_probes: int = _MOST_PROBES,
    patience: int = _PATIENCE,
    run: Run | None = None,
) -> ProbedGraph:
    """A k-degree anonymous graph with about as many edges, most of them those of this one (Algorithm 9.8)."""
    anonymise = partial(anonymise_degrees, k=k, lowering_price=1.0)
    return _swap_constructed(graph, anonymise, rng, scheme, most_probes, patience, run)


def _swap_constructed(
    graph: Graph,
    anonymise: Callable[[Ints], Ints],
    rng: np.random.Generator,
    scheme: ProbingScheme,
    most_probes: int,
    patience: int,
    run: Run | None,
) -> ProbedGraph:
    run = run or Run()
    found = probe_degrees(
        graph.degrees, anonymise, lambda target: construct_graph(target, rng), scheme, rng, most_probes, run
    )
    if found.graph is None:
        return found
    return replace(found, graph=resemble_by_swaps(found.graph, graph, rng, patience, run))
