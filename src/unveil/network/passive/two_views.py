"""Two views of one network, with the truth kept: how well would an attack do that holds an overlapping network?

A network was released without names, and an attacker holds another one that shows many of the same people. How many of
them the attacker finds is measured on two *views* of one known graph, for which it is known who is who.

**Overlap** is that of A. Narayanan, V. Shmatikov (De-anonymizing social networks, S&P 2009): of the nodes in either
view, the share in both (``node_overlap``); of the edges between common nodes that are in either view, the share in
both (``edge_overlap``). Each view keeps an edge with probability 2α/(1 + α) for overlap α, so that both views lose
edges independently; ``density_ratio`` makes the left view denser than the right one at the same overlap.

**Noise.** ``added_edges`` are false ones, as a share of the edges of each view. With ``correlation`` c, a share c of
the loss of edges strikes whole neighbourhoods: nodes are grouped around random centres, and a view misses all edges of
a group at once. ``crawled`` is the share of nodes of a directed graph whose outgoing edges a view knows; of the others
it knows incoming edges only.

**Measures.** *Recall* is the share of nodes in both views that were matched with themselves; *precision* the share of
matches that are right. A *near miss* is a match with a neighbour of the true node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.intervals import Estimate, estimate_mean
from unveil.release.graph import Graph, edge_endpoints

if TYPE_CHECKING:
    import numpy as np

    from unveil.arrays import Bools, Ints

__all__ = [
    "MatchQuality",
    "RepeatedQuality",
    "TwoViews",
    "draw_seeds",
    "held_part",
    "match_by_degree",
    "match_quality",
    "random_recall",
    "recall_by_degree",
    "repeat_attack",
    "two_views",
]


@dataclass(frozen=True, eq=False)
class TwoViews:
    """Two views of one graph. ``truth`` is, for each node of the left view, the same node of the right one, or −1;
    the marks say of which nodes a view knows the outgoing edges (of all in an undirected graph)."""

    left: Graph
    right: Graph
    truth: Ints
    left_crawled: Bools
    right_crawled: Bools

    def common_nodes(self) -> Ints:
        """The nodes of the left view that are in the right one."""
        import numpy as np

        return np.flatnonzero(self.truth >= 0)


def two_views(
    graph: Graph,
    node_overlap: float,
    edge_overlap: float,
    rng: np.random.Generator,
    *,
    density_ratio: float = 1.0,
    added_edges: float = 0.0,
    correlation: float = 0.0,
    group_size: int = 50,
    crawled: float = 1.0,
) -> TwoViews:
    """Draw two views of a graph; both number their nodes at random."""
    keeps = _kept_shares(edge_overlap, density_ratio)
    if not 0 < node_overlap <= 1:
        raise UnveilError("a node overlap must lie above 0 and be at most 1")
    if not (0 <= correlation <= 1 and 0 < crawled <= 1 and added_edges >= 0):
        raise UnveilError("a correlation and a crawled share lie between 0 and 1, a share of added edges is at least 0")
    order = rng.permutation(graph.nodes)
    common = round(node_overlap * graph.nodes)
    middle = common + (graph.nodes - common) // 2
    members = order[:middle], rng.permutation([*order[:common], *order[middle:]])
    groups = _node_groups(graph, group_size, rng) if correlation else None
    drawn = [
        _draw_view(graph, nodes, keep, added_edges, correlation, groups, crawled, rng)
        for nodes, keep in zip(members, keeps, strict=True)
    ]
    (left, left_nodes, left_marks), (right, right_nodes, right_marks) = drawn
    return TwoViews(left, right, _common_positions(left_nodes, right_nodes, graph.nodes), left_marks, right_marks)


def held_part(original: Graph, released: Graph, place: Ints, share: float, rng: np.random.Generator) -> TwoViews:
    """A random part of the edges of a graph, which somebody holds, beside what was released of it. ``place`` is what
    each node of the original became, or −1. Both views number their nodes at random."""
    import numpy as np

    held, held_nodes, marks = _draw_view(original, np.arange(original.nodes), share, 0.0, 0.0, None, 1.0, rng)
    seen, seen_nodes, seen_marks = _draw_view(released, np.arange(released.nodes), 1.0, 0.0, 0.0, None, 1.0, rng)
    position = np.append(np.argsort(seen_nodes), -1)
    return TwoViews(held, seen, position[place[held_nodes]], marks, seen_marks)


def _kept_shares(edge_overlap: float, density_ratio: float) -> tuple[float, float]:
    """The shares of edges that the left and the right view keep: a/b = density ratio, ab/(a + b − ab) = overlap."""
    if not 0 < edge_overlap <= 1 or density_ratio <= 0:
        raise UnveilError("an edge overlap must lie above 0 and be at most 1, and a density ratio be positive")
    left = edge_overlap * (1 + density_ratio) / (1 + edge_overlap)
    if max(left, left / density_ratio) > 1 + 1e-9:
        raise UnveilError("so different densities cannot overlap so much; lower the edge overlap")
    return left, left / density_ratio


def _common_positions(left_nodes: Ints, right_nodes: Ints, nodes: int) -> Ints:
    import numpy as np

    place = np.full(nodes, -1)
    place[right_nodes] = np.arange(len(right_nodes))
    return place[left_nodes]


def _draw_view(
    graph: Graph,
    nodes: Ints,
    keep: float,
    added: float,
    correlation: float,
    groups: Ints | None,
    crawled: float,
    rng: np.random.Generator,
) -> tuple[Graph, Ints, Bools]:
    """One view: the graph, its nodes in the order of their new numbers, and which of them are crawled."""
    import numpy as np

    nodes = rng.permutation(nodes)
    place = np.full(graph.nodes, -1)
    place[nodes] = np.arange(len(nodes))
    sources, targets = (place[ends] for ends in edge_endpoints(graph))
    kept = (sources >= 0) & (targets >= 0)
    if groups is not None:
        lost = correlation * (1 - keep)
        kept &= _edges_outside_lost_groups(graph, groups, lost, rng)
        keep /= 1 - lost
    kept &= rng.random(len(kept)) < keep
    marks = np.ones(len(nodes), np.bool_)
    if graph.directed and crawled < 1:
        marks = rng.random(len(nodes)) < crawled
        kept &= marks[sources]
    sources, targets = sources[kept], targets[kept]
    if added:
        false = rng.integers(0, len(nodes), (2, round(added * len(sources))))
        false = false[:, marks[false[0]]]
        sources, targets = np.append(sources, false[0]), np.append(targets, false[1])
    view = Graph.from_edges(sources, targets, nodes=len(nodes), directed=graph.directed, name="view")
    return view, nodes, marks


def _edges_outside_lost_groups(graph: Graph, groups: Ints, lost: float, rng: np.random.Generator) -> Bools:
    """Marks of edges; an edge belongs to the group of one of its ends, drawn at random for each view."""
    import numpy as np

    sources, targets = edge_endpoints(graph)
    end = np.where(rng.random(len(sources)) < 0.5, sources, targets)
    outside: Bools = (rng.random(int(groups.max()) + 1) >= lost)[groups[end]]
    return outside


def _node_groups(graph: Graph, size: int, rng: np.random.Generator) -> Ints:
    """Groups of neighbouring nodes of about this size: each node joins the random centre that reaches it first."""
    import numpy as np

    sources, targets = edge_endpoints(graph)
    ends, others = np.append(sources, targets), np.append(targets, sources)
    group = np.full(graph.nodes, -1)
    centres = rng.choice(graph.nodes, max(1, graph.nodes // size), replace=False)
    group[centres] = np.arange(len(centres))
    while True:
        reached = np.flatnonzero((group[ends] >= 0) & (group[others] < 0))
        if len(reached) == 0:
            break
        reached = rng.permutation(reached)
        group[others[reached]] = group[ends[reached]]
    alone = group < 0
    group[alone] = rng.integers(0, len(centres), int(alone.sum()))
    return group


# ---- how well an attack did ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MatchQuality:
    """How well nodes were matched: of ``common`` nodes in both views, ``matched`` pairs were stated, of which ``right``
    are right and ``near`` are neighbours of the true node."""

    common: int
    matched: int
    right: int
    near: int

    @property
    def recall(self) -> float:
        """The share of nodes in both views that were found; NaN if there are none."""
        return self.right / self.common if self.common else float("nan")

    @property
    def precision(self) -> float:
        """The share of stated matches that are right; NaN if none was stated."""
        return self.right / self.matched if self.matched else float("nan")


def match_quality(views: TwoViews, mapping: Ints) -> MatchQuality:
    """Compare a mapping of left to right nodes with the truth."""
    import numpy as np

    matched = np.flatnonzero(mapping >= 0)
    right = mapping[matched] == views.truth[matched]
    missed = matched[~right & (views.truth[matched] >= 0)]
    near = _are_adjacent(views.right, mapping[missed], views.truth[missed])
    return MatchQuality(len(views.common_nodes()), len(matched), int(right.sum()), int(near.sum()))


def _are_adjacent(graph: Graph, ends: Ints, others: Ints) -> Bools:
    """Whether there is an edge, in either direction, between each two nodes."""
    import numpy as np

    from unveil.network.edge_keys import edge_keys

    return np.isin(edge_keys(ends, others, graph.nodes), edge_keys(*edge_endpoints(graph), graph.nodes))


def recall_by_degree(
    views: TwoViews, mapping: Ints, edges: Sequence[int] = (0, 1, 2, 5, 10, 20, 50, 100)
) -> list[tuple[int, int, int]]:
    """For each class of degrees in the left view, from each edge to the next: (least degree, common nodes, found)."""
    import numpy as np

    common = views.common_nodes()
    degrees = views.left.degrees + (views.left.in_degrees if views.left.directed else 0)
    group = np.searchsorted(edges, degrees[common], side="right") - 1
    found = mapping[common] == views.truth[common]
    return [(least, int((group == k).sum()), int(found[group == k].sum())) for k, least in enumerate(edges)]


def random_recall(views: TwoViews) -> float:
    """The recall of matching every left node with a random right node: 1/n for each common node."""
    return 1 / views.right.nodes


def match_by_degree(views: TwoViews) -> Ints:
    """The degree-only baseline: the left node with the k-th most neighbours is matched with the k-th of the right."""
    import numpy as np

    orders = [
        np.argsort(-(graph.degrees + (graph.in_degrees if graph.directed else 0)), kind="stable")
        for graph in (views.left, views.right)
    ]
    mapping, both = np.full(views.left.nodes, -1), min(map(len, orders))
    mapping[orders[0][:both]] = orders[1][:both]
    return mapping


def draw_seeds(views: TwoViews, seeds: int, wrong: float, rng: np.random.Generator, by_degree: bool = False) -> Ints:
    """Seeds from the truth, of which a share is wrong: those change partners among themselves, in a ring. Drawn at
    random, or the nodes with the most neighbours."""
    import numpy as np

    common = rng.permutation(views.common_nodes())
    if by_degree:
        common = common[np.argsort(-views.left.degrees[common], kind="stable")]
    chosen = rng.permutation(common[:seeds])
    mapping = np.full(views.left.nodes, -1)
    mapping[chosen] = views.truth[chosen]
    mistaken = chosen[: round(wrong * len(chosen))]
    mapping[mistaken] = np.roll(mapping[mistaken], 1)
    return mapping


@dataclass(frozen=True)
class RepeatedQuality:
    """Recall and precision over several pairs of views: their means, with intervals over the pairs of views, and what
    came out of each. Precision is over those in which a match was stated."""

    recall: Estimate
    precision: Estimate
    each: tuple[MatchQuality, ...]


def repeat_attack(
    draw: Callable[[np.random.Generator], TwoViews],
    attack: Callable[[TwoViews], Ints],
    times: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> RepeatedQuality:
    """Draw views and attack them several times."""
    if times < 1:
        raise UnveilError("an experiment must be made at least once")
    each = []
    for _ in range(times):
        views = draw(rng)
        each.append(match_quality(views, attack(views)))
    recall, precision = ([getattr(one, name) for one in each] for name in ("recall", "precision"))
    stated = [value for value in precision if value == value]
    return RepeatedQuality(estimate_mean(recall, confidence), estimate_mean(stated, confidence), tuple(each))
