"""What the owner of a network changed before its release, done again to a network with planted nodes.

An attacker plants nodes before the owner protects the network, so that a protected release is attacked by planting into
the original. Between nodes of the original, the release is taken as it is. What the owner would have done to the
attacker's own nodes is not known: each of their links is lost as often as one of the original was, at random, and each
link that they do not have is added as often as one was. Nodes that are not in the release lose all links; nodes that
are only there stay.

Directions of edges are dropped first.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release.graph import Graph, edge_endpoints
from unveil.wording import safe_text

if TYPE_CHECKING:
    import numpy as np

    from unveil.arrays import Bools, Ints

__all__ = ["OwnerChanges", "compare_with_original"]


@dataclass(frozen=True, eq=False)
class OwnerChanges:
    """How a release differs from the original, whose nodes are sorted by label.

    ``released`` is the release, with the nodes of ``original`` in their places and those that are only in the release
    behind them. ``present`` says which nodes of the original are in the release. ``lost`` edges of the original are not
    in the release, ``lost_share`` is that of edges between nodes that are; ``added`` edges are only in the release,
    ``added_share`` is that of pairs that were not linked.
    """

    original: Graph
    released: Graph
    present: Bools
    lost: int
    added: int
    lost_share: float
    added_share: float

    def publish(self, grown: Graph, rng: np.random.Generator) -> Graph:
        """Change the original with nodes planted behind its own ones. All of these keep their positions."""
        import numpy as np

        nodes = self.original.nodes
        planted = grown.nodes - nodes
        ends = [np.where(end >= nodes, end + planted, end) for end in edge_endpoints(self.released)]
        one, other = edge_endpoints(grown)  # the later one is planted if any is
        stays = np.append(self.present, np.ones(planted, np.bool_))
        kept = (other >= nodes) & stays[one] & (rng.random(len(one)) >= self.lost_share)
        parts = [ends, [one[kept], other[kept]]]
        others = np.append(np.flatnonzero(self.present), np.arange(grown.nodes, self.released.nodes + planted))
        for node in range(nodes, grown.nodes):
            linked = grown.neighbours[grown.indptr[node] : grown.indptr[node + 1]]
            free = np.setdiff1d(np.append(others, np.arange(node + 1, grown.nodes)), linked)
            new = rng.choice(free, rng.binomial(len(free), self.added_share), replace=False)
            parts.append([np.full(len(new), node), new])
        sources, targets = (np.concatenate([part[k] for part in parts]) for k in range(2))
        return Graph.from_edges(sources, targets, nodes=self.released.nodes + planted, name=grown.name)


def compare_with_original(release: Graph, original: Graph, truth: Ints | None = None) -> OwnerChanges:
    """What was changed. ``truth`` is, for each node of the original, its position in the release or −1; without it,
    nodes with the same label are the same node.

    >>> original = Graph.from_edges(["ann", "bob", "cay"], ["bob", "cay", "dan"])
    >>> release = Graph.from_edges(["ann", "bob", "ann"], ["bob", "eve", "cay"])
    >>> changes = compare_with_original(release, original)
    >>> changes.lost, changes.added, changes.present.tolist()
    (2, 2, [True, True, True, False])
    """
    import numpy as np

    from unveil.network.edge_keys import edge_keys
    from unveil.network.measures.graph_measures import undirected_graph
    from unveil.network.node_order import sort_nodes, sorted_places
    from unveil.network.original_order import same_labels

    given = same_labels(original, release) if truth is None else np.asarray(truth)
    _check_partners(given, original, release)
    truth = np.empty(original.nodes, np.int64)
    truth[sorted_places(original)] = np.where(given >= 0, sorted_places(release)[given], -1)
    release, original = (undirected_graph(sort_nodes(graph)) for graph in (release, original))
    present = truth >= 0
    place = np.full(release.nodes, -1)
    place[truth[present]] = np.flatnonzero(present)
    only_here = np.flatnonzero(place < 0)
    place[only_here] = original.nodes + np.arange(len(only_here))
    sources, targets = (place[end] for end in edge_endpoints(release))
    released = Graph.from_edges(sources, targets, nodes=original.nodes + len(only_here), name=release.name)
    before, after = (edge_keys(*edge_endpoints(graph), released.nodes) for graph in (original, released))
    common = int(np.isin(before, after).sum())
    still_possible = int(np.all([present[end] for end in edge_endpoints(original)], axis=0).sum())
    unlinked = comb(release.nodes, 2) - still_possible
    added = len(after) - common
    return OwnerChanges(
        original=original,
        released=released,
        present=present,
        lost=len(before) - common,
        added=added,
        lost_share=1 - common / still_possible if still_possible else 0.0,
        added_share=added / unlinked if unlinked else 0.0,
    )


def _check_partners(truth: Ints, original: Graph, release: Graph) -> None:
    """Refuse a truth that does not say of each node of the original which one of the release it is."""
    import numpy as np

    if len(truth) != original.nodes or not -1 <= truth.min() <= truth.max() < release.nodes:
        raise UnveilError("the truth must have a node of the release, or −1, for each node of the original")
    found = truth[truth >= 0]
    if len(np.unique(found)) < len(found):
        raise UnveilError(
            f"{safe_text(original.name)}: several nodes became one node of the release; leave out the original"
        )
    if not len(found):
        raise UnveilError(
            f"{safe_text(original.name)}: no node has the label of a node of the release; add the mapping of its "
            "nodes, or leave out the original"
        )
