"""k-neighbourhood anonymity: who knows how many friends a person has, and which of these are friends, finds k such
people at least.

The neighbourhood of each node, the graph of its neighbours, is to be the same as that of at least k − 1 others (B.
Zhou, J. Pei, *Preserving privacy in social networks against neighborhood attacks*, ICDE 2008). Edges are only added.
Finding the fewest is NP-hard; this is greedy, and for small networks.

**Giving components.** A neighbourhood falls into components. The rare one with the most neighbours goes first. Either
it gets single neighbours until it is of a kind that k have; or it forms a group with others, and all of them get what
any has more of. Members join one after another, always one for whom that takes the fewest edges. A component is built
of nodes that are three steps or more from each other and from the node that gets it, so that no other neighbourhoods
change but theirs. They are all of one kind, of which k are left. So those at the same place of a component are of one
kind again; to be k, there are k + 1 members where components with edges are built, since one has such a component.

**Making twins.** When there is no place to build, or ten steps have not made rare nodes fewer, the rest become twins
(:mod:`unveil.network.protections.twin_nodes`).

**Why it ends.** At the latest, every tenth step makes rare nodes fewer, and each new pair of twins the sets of twins.
If nothing else helps, the graph becomes complete.

**How large a network can be.** Time grows with the pairs of neighbours, Σ C(d(v), 2), which adding edges increases. Up
to a million are allowed, before and after: as many as in the complete graph of 126 nodes, so that up to there it is
always possible. Larger networks must have few connections.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from unveil.errors import UnveilError
from unveil.network.protections.neighbourhood_kinds import Component, GrowingGraph, Kind
from unveil.network.protections.twin_nodes import make_twins
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.wording import count_text, verb

__all__ = ["anonymise_neighbourhoods"]

_MOST_PAIRS = 1_000_000
_SOURCES = 6  # kinds of nodes that are tried to build components of
_PATIENCE = 10  # steps that may leave as many rare nodes as there were

Edges = list[tuple[int, int]]


def anonymise_neighbourhoods(graph: Graph, k: int, rng: np.random.Generator, run: Run) -> Graph:
    """A k-neighbourhood anonymous graph that contains the given one; nodes keep their positions.

    >>> path = Graph.from_edges([0, 1], [1, 2], nodes=3)
    >>> anonymise_neighbourhoods(path, 2, np.random.default_rng(0), Run()).degrees.tolist()
    [2, 2, 2]
    """
    _check_request(graph, k)
    grown = GrowingGraph(graph)
    _check_size(grown, "this network has")
    _give_components(grown, k, rng, run)
    for _ in make_twins(grown, k, run):
        _check_size(grown, f"k = {k} leads to")
    return grown.to_graph()


def _check_request(graph: Graph, k: int) -> None:
    if graph.directed:
        raise UnveilError(
            "edges of this network have directions; k-neighbourhood anonymity needs a network without them"
        )
    if k < 1:
        raise UnveilError("k must be at least 1")
    if graph.nodes < k:
        raise UnveilError(
            f"k is {k} but there {verb(graph.nodes, 'is', 'are')} only {count_text(graph.nodes, 'node')}; lower k"
        )


def _check_size(grown: GrowingGraph, why: str) -> None:
    if grown.pairs_of_neighbours() > _MOST_PAIRS:
        raise UnveilError(
            f"{why} more than {_MOST_PAIRS:,} pairs of neighbours, too many for k-neighbourhood anonymity; lower k, or "
            "choose another protection"
        )


# ---- giving components -----------------------------------------------------------------------------------------------


def _give_components(grown: GrowingGraph, k: int, rng: np.random.Generator, run: Run) -> None:
    """Add edges until no kind of neighbourhood is rare, there is no place left, or it does not help any more."""
    rare = grown.rare_nodes(k)
    fewest, vain = len(rare), 0
    while rare and vain < _PATIENCE:
        run.check()
        edges = _build_components(grown, _plan_kind(grown, grown.largest_of(rare), k), k, rng)
        if not edges:
            return
        grown.add_edges(edges)
        _check_size(grown, f"k = {k} leads to")
        rare = grown.rare_nodes(k)
        vain = 0 if len(rare) < fewest else vain + 1
        fewest = min(fewest, len(rare))


class _Plan(NamedTuple):
    """Nodes, and the components that they shall have."""

    members: list[int]
    goal: Counter[int]


def _plan_kind(grown: GrowingGraph, first: int, k: int) -> _Plan:
    """What takes the fewest edges for each rare node: to make a node one of a kind, or a group all of one."""
    group = _plan_group(grown, first, k)
    solved = sum(grown.counts[grown.kinds[node]] < k for node in group.members)
    cost = sum(grown.cost(_missing(grown, node, group.goal).elements()) for node in group.members)
    own, best = Counter(grown.kinds[first]), group
    for kind, count in grown.counts.items():
        missing = Counter(kind) - own
        is_above = count >= k and not own - Counter(kind) and all(grown.components[i].nodes == 1 for i in missing)
        if is_above and (missing.total() * solved <= cost or len(group.members) < k):
            best, cost = _Plan([first], Counter(kind)), missing.total() * solved
    return best


def _missing(grown: GrowingGraph, node: int, goal: Counter[int]) -> Counter[int]:
    """The components that a node lacks."""
    return goal - Counter(grown.kinds[node])


def _plan_group(grown: GrowingGraph, first: int, k: int) -> _Plan:
    """A group of k nodes, or k + 1 if components with edges have to be built; fewer if no others can be spared."""
    spare = _spare_nodes(grown, first, k)
    members, goal = [first], Counter(grown.kinds[first])
    while spare and len(members) < _group_size(grown, members, goal, k):
        kind = min(spare, key=lambda some: (_joining_cost(grown, goal, len(members), some, k), some))
        members.append(spare[kind].pop())
        if not spare[kind]:
            del spare[kind]
        goal |= Counter(kind)
    return _Plan(members, goal)


def _group_size(grown: GrowingGraph, members: list[int], goal: Counter[int], k: int) -> int:
    builds = any(grown.components[i].edges for node in members for i in _missing(grown, node, goal))
    return k + builds


def _spare_nodes(grown: GrowingGraph, first: int, k: int) -> dict[Kind, list[int]]:
    """Nodes of each kind that can become others: all of a rare kind, and those above k of the rest."""
    by_kind: dict[Kind, list[int]] = {}
    for node in range(len(grown.kinds) - 1, -1, -1):
        if node != first:
            by_kind.setdefault(grown.kinds[node], []).append(node)
    room = {kind: count if count < k else count - k for kind, count in grown.counts.items()}
    return {kind: nodes[-room[kind] :] for kind, nodes in by_kind.items() if room[kind] > 0}


def _joining_cost(grown: GrowingGraph, goal: Counter[int], members: int, kind: Kind, k: int) -> float:
    """How many more edges it takes if a node of this kind joins a group; of equals, rare ones first."""
    larger = goal | Counter(kind)
    all_of_it = grown.cost(larger.elements())
    more = (all_of_it - grown.cost(goal.elements())) * members + all_of_it - grown.cost(kind)
    return more + 0.5 * (grown.counts[kind] >= k)


def _build_components(grown: GrowingGraph, plan: _Plan, k: int, rng: np.random.Generator) -> Edges:
    """The edges that give all members what they lack; none if there is no place."""
    wanted = {node: [grown.components[i] for i in _missing(grown, node, plan.goal).elements()] for node in plan.members}
    total = sum(component.nodes for components in wanted.values() for component in components)
    sources: dict[Kind, list[int]] = {}
    for node, kind in enumerate(grown.kinds):
        if node not in wanted:
            sources.setdefault(kind, []).append(node)
    usable = [kind for kind, nodes in sources.items() if len(nodes) >= total + k]
    usable.sort(key=lambda kind: (not kind, grown.cost(kind), kind))  # nodes that know nobody last
    for kind in usable[:_SOURCES]:
        edges = _build_of(grown, wanted, rng.permutation(sources[kind]).tolist())
        if edges is not None:
            return edges
    return []


def _build_of(grown: GrowingGraph, wanted: dict[int, list[Component]], pool: list[int]) -> Edges | None:
    """The edges that build components for nodes from a pool of others; None if too few are far enough from them."""
    edges, used = Edges(), set[int]()
    for node, components in wanted.items():
        near = {node} | grown.neighbours[node]
        near.update(*(grown.neighbours[other] for other in grown.neighbours[node]))
        for component in sorted(components, reverse=True):
            chosen = _choose_apart(grown, component.nodes, pool, near | used)
            if chosen is None:
                return None
            used.update(chosen)
            near.update(*(grown.neighbours[other] for other in chosen))
            edges += [(node, other) for other in chosen]
            edges += [(chosen[one], chosen[other]) for one, other in component.edges]
    return edges


def _choose_apart(grown: GrowingGraph, count: int, pool: list[int], taken: set[int]) -> list[int] | None:
    """The first so many in a pool that are not taken, not connected, and have no neighbours in common."""
    chosen, around = list[int](), set[int]()
    for node in pool:
        if len(chosen) == count:
            break
        reach = grown.neighbours[node] | {node}
        if node not in taken and not reach & around:
            chosen.append(node)
            around |= reach
    return chosen if len(chosen) == count else None
