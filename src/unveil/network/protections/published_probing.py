"""The probing scheme: change the degrees a little, anonymise them again, and see whether a graph can now be made.

Anonymous degrees may not be realisable, or no supergraph that has them may be found. Then some node's degree is raised,
the raised degrees are made anonymous, and construction is tried again, until it succeeds. Four ways are published of
whose degree is raised, and by how much:

1. any node's, by 1 … 10, up to n − 1;
2. any node's, by 1 if the sum of the degrees is odd, otherwise by an even number up to 10;
3. the last one's of the falling sequence, by 1;
4. that of any node in the second half of the falling sequence, by 1.

Algorithm: M. Vanhoef, *Privacy in databases*, 2012, Algorithms 9.4 and 9.5 and section 9.7.2, after K. Liu, E. Terzi,
*Towards identity anonymization on graphs*, SIGMOD 2008. It ends, because all degrees become n − 1 at last. On social
networks that may take thousands of probes, so here it gives up after a number of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil.arrays import Ints
from unveil.network.protections.published_construction import NoSupergraph
from unveil.release.graph import Graph
from unveil.run import Run

__all__ = ["ProbedGraph", "ProbingScheme", "add_degree_noise", "probe_degrees"]

ProbingScheme = Literal[1, 2, 3, 4]
"""Whose degree is raised, and by how much."""

_MOST_ADDED = 10  # maxDelta in Algorithm 9.5


@dataclass(frozen=True, eq=False)
class ProbedGraph:
    """What came of probing: the graph, or None if it failed within the number of probes that was allowed."""

    graph: Graph | None
    probes: int
    """How often degrees were changed; 0 if construction succeeded at once."""
    nearest: Ints
    """The anonymous degrees nearest to those of the graph: what was tried first."""


def probe_degrees(
    degrees: Ints,
    anonymise: Callable[[Ints], Ints],
    construct: Callable[[Ints], Graph | NoSupergraph | None],
    scheme: ProbingScheme,
    rng: np.random.Generator,
    most_probes: int,
    run: Run,
) -> ProbedGraph:
    """Construct a graph with anonymous degrees; change the degrees until that succeeds, at most ``most_probes`` times.

    >>> from unveil.network.protections.published_construction import construct_graph
    >>> rng = np.random.default_rng(0)
    >>> odd = np.array([3, 3, 3, 3, 3])
    >>> found = probe_degrees(odd, lambda degrees: degrees, lambda d: construct_graph(d, rng), 3, rng, 5, Run())
    >>> found.probes, found.graph.degrees.tolist()
    (1, [3, 3, 3, 3, 4])
    """
    noisy, nearest = degrees, anonymise(degrees)
    for probes in range(most_probes + 1):
        run.check()
        if probes:
            noisy = add_degree_noise(noisy, scheme, rng)
        found = construct(anonymise(noisy) if probes else nearest)
        if isinstance(found, Graph):
            return ProbedGraph(found, probes, nearest)
    return ProbedGraph(None, most_probes, nearest)


def add_degree_noise(degrees: Ints, scheme: ProbingScheme, rng: np.random.Generator) -> Ints:
    """The degrees with one of them raised, in the order given. Nodes with equal degrees stand in that order, too.

    >>> add_degree_noise(np.array([1, 2, 3, 1]), 3, np.random.default_rng(0)).tolist()
    [1, 2, 3, 2]
    """
    nodes = len(degrees)
    place, added = int(rng.integers(nodes)), 1
    if scheme == 1:
        added = int(rng.integers(1, _MOST_ADDED + 1))
    elif scheme == 2 and degrees.sum() % 2 == 0:
        added = 2 * int(rng.integers(1, _MOST_ADDED // 2 + 1))
    elif scheme == 3:
        place = int(np.argsort(-degrees, kind="stable")[-1])
    elif scheme == 4:
        place = int(np.argsort(-degrees, kind="stable")[rng.integers(nodes // 2, nodes)])
    raised = degrees.copy()
    raised[place] = min(nodes - 1, raised[place] + added)
    return raised
