"""Which nodes are the most important? Those that somebody visits most often who follows edges at random.

In each step they follow one of the edges of the node where they are, all equally likely, with probability .85, and else
begin again at any node; where no edge leads on, they begin again as well. **PageRank** is the share of time that they
spend at a node (S. Brin, L. Page, The anatomy of a large-scale hypertextual web search engine, WWW 1998). In an
undirected graph edges are followed both ways.

Of nodes with the same PageRank at the end of a list of the most important ones, each is counted as a part of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unveil.arrays import Floats
from unveil.release.graph import Graph
from unveil.run import Run

if TYPE_CHECKING:
    from unveil.network.compared_graphs import ComparedGraphs

__all__ = ["page_ranks", "shares_at_top", "top_overlap", "top_size"]

_FOLLOWED = 0.85
_STEPS = 200
_PRECISION = 1e-10
_DIGITS = 7  # significant ones; beyond, nodes count as equal
_SHARED_PLACES = 1e-9  # what sums of shares of places may be off by


def page_ranks(graph: Graph, run: Run | None = None) -> Floats:
    """The PageRank of every node; they add up to 1.

    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], nodes=4)
    >>> page_ranks(star).round(4).tolist()
    [0.4797, 0.1734, 0.1734, 0.1734]
    """
    from scipy.sparse import csr_array

    run, nodes, degrees = run or Run(), graph.nodes, graph.degrees
    edges = csr_array((np.ones(len(graph.neighbours)), graph.neighbours, graph.indptr), shape=(nodes, nodes))
    leads_on, back = degrees > 0, edges.T.tocsr()
    found = np.full(nodes, 1 / nodes)
    for _ in range(_STEPS):
        run.check()
        passed = np.divide(found, degrees, out=np.zeros(nodes), where=leads_on)
        restarts = 1 - _FOLLOWED * float(found[leads_on].sum())
        following = _FOLLOWED * (back @ passed) + restarts / nodes
        change, found = float(np.abs(following - found).sum()), following
        if change < _PRECISION:
            break
    return found


def top_size(nodes: int) -> int:
    """How many nodes count as the most important: 1% of them; in small graphs 10, but at most a tenth; at least one.

    >>> [top_size(nodes) for nodes in (1, 19, 50, 100, 999, 5_000)]
    [1, 1, 5, 10, 10, 50]
    """
    return max(1, min(max(nodes // 100, 10), nodes // 10))


def shares_at_top(ranks: Floats, size: int) -> Floats:
    """1 for each of the ``size`` nodes that rank highest, and 0 for the others. The last places are shared by those of
    equal rank.

    >>> shares_at_top(np.array([0.4, 0.1, 0.2, 0.2, 0.1]), 2).tolist()
    [1.0, 0.0, 0.5, 0.5, 0.0]
    """
    rounded = _round_to_digits(ranks)
    last = np.sort(rounded)[-size]
    above, level = rounded > last, rounded == last
    shares: Floats = above + level * ((size - above.sum()) / level.sum())
    return shares


def _round_to_digits(ranks: Floats) -> Floats:
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(ranks)))
    rounded: Floats = np.round(ranks * scale) / scale
    return rounded


def top_overlap(compared: ComparedGraphs, before: Floats, after: Floats, size: int) -> float:
    """The share of the ``size`` nodes that rank highest before that are among as many after; those left out are not."""
    was, now = shares_at_top(before, size), shares_at_top(after, size)
    kept = compared.place >= 0
    common = float(np.minimum(was[kept], now[compared.place[kept]]).sum())
    return 1.0 if np.isclose(common, size, rtol=0, atol=_SHARED_PLACES) else common / size
