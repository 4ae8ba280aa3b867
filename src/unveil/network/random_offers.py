"""What makes it uncertain whether a connection of the release is one of the original: changes that are drawn at random.

None of these makes nodes alike. Where numbers of connections have to be shared, edges are changed once more until they
are; nodes are put in a secret random order before, so that what is added says nothing about the order of the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.network import risks
from unveil.network.changed_release import (
    always,
    change_text,
    count_changes,
    degree_class_to_aim_at,
    if_enough_nodes,
    is_undirected,
    make_protection,
    nobody_shares_degrees,
    refuse_additions_only,
    unprotected_graph,
)
from unveil.network.remaining_risk import describe_remaining_risk
from unveil.network.settings import NetworkSettings
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, safe_text, verb

if TYPE_CHECKING:
    from unveil.arrays import Ints

__all__ = ["POSSIBLE_WORLD", "RANDOM_CHANGES", "SWITCHES"]

_NOT_FROM_DEGREES = (risks.SIGNATURE_FOUND, risks.PASSIVE, risks.ACTIVE)
"""What making numbers of connections alike is not for."""


def _change_at_random(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    """Delete a share of the edges, and add as many that were not there."""
    from unveil.network.protections.random_changes import change_edges_at_random
    from unveil.secret_order import secret_generator

    refuse_additions_only(policy, "random")
    graph = unprotected_graph(case)
    changed = change_edges_at_random(graph, _share_to_change(policy, strictness), secret_generator())
    removed = count_changes(graph, changed).removed
    _refuse_no_change(graph, removed, "random")
    what = (
        f"{removed:,} of {count_text(graph.edges, 'connection')}, drawn at random, {verb(removed, 'is', 'are')} "
        "replaced by as many between random pairs of nodes that were not connected."
    )
    return _protect_and_share_degrees(case, policy, changed, what, run)


def _switch(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    """Switch the ends of edges, which leaves all degrees as they are."""
    from unveil.network.protections.random_changes import switch_edges
    from unveil.secret_order import secret_generator

    refuse_additions_only(policy, "switch")
    graph = unprotected_graph(case)
    changed = switch_edges(graph, _share_to_change(policy, strictness), secret_generator())
    removed = count_changes(graph, changed).removed
    _refuse_no_change(graph, removed, "switch")
    what = (
        "Pairs of connections, drawn at random, exchange ends, so that each node keeps its number of them; "
        f"{removed:,} of {count_text(graph.edges, 'connection')} {verb(removed, 'is', 'are')} replaced."
    )
    return _protect_and_share_degrees(case, policy, changed, what, run)


def _refuse_no_change(graph: Graph, removed: int, method: str) -> None:
    """Refuse a release in which no connection was replaced: nothing would be uncertain."""
    if not removed:
        raise UnveilError(
            f"{safe_text(graph.name)}: {method} could not replace any of {count_text(graph.edges, 'connection')}; "
            f"raise {option_text('changed_edges')}, or try {option_text('method', 'degrees')}"
        )


def _share_to_change(policy: Policy, strictness: float) -> float:
    return min(1.0, policy.settings_for(NetworkSettings).changed_edges / strictness)


@if_enough_nodes
def _draw_world(case: Case, policy: Policy, graph: Graph, k: int, run: Run) -> Protection | None:
    """A graph with as many edges within and between groups of k nodes."""
    from unveil.network.protections.super_nodes import draw_possible_world, group_nodes
    from unveil.secret_order import secret_generator

    refuse_additions_only(policy, "worlds")
    groups = group_nodes(graph, k, run)
    changed = draw_possible_world(graph, groups, secret_generator())
    count = int(groups.max()) + 1
    what = (
        f"Nodes are put into {count_text(count, 'group')} of {k:,} or more, similar ones together; the "
        "connections within and between groups are drawn anew at random, with their numbers unchanged. Someone who "
        f"knows the whole original and all groups finds a node with a probability of 1 in {k:,} at most."
    )
    return _protect_and_share_degrees(case, policy, changed, what, run)


def _protect_and_share_degrees(case: Case, policy: Policy, changed: Graph, what: str, run: Run) -> Protection | None:
    """The protection, with edges changed until numbers of connections are shared, if they have to be."""
    graph = unprotected_graph(case)
    made = changed
    if not nobody_shares_degrees(policy):
        k = degree_class_to_aim_at(policy, 1)
        if k > graph.nodes:
            return None
        made = _share_degrees(changed, k, run)
        more = sum(count_changes(changed, made))
        if more:
            what += (
                f" Then {count_text(more, 'connection')} {verb(more, 'is', 'are')} added or removed, until at least "
                f"{count_text(k, 'node')} share each number of connections."
            )
    return make_protection(case, made, f"{what} In all, {change_text(graph, made)}.")


def _share_degrees(graph: Graph, k: int, run: Run) -> Graph:
    """The nearest graph in which at least k nodes have each degree; nodes keep their positions."""
    import numpy as np

    from unveil.network.protections.degree_completion import anonymise_graph
    from unveil.secret_order import secret_permutation

    place = secret_permutation(graph.nodes)
    return _move_nodes(anonymise_graph(_move_nodes(graph, place), k, run).graph, np.argsort(place))


def _move_nodes(graph: Graph, place: Ints) -> Graph:
    """The graph with its nodes in another order."""
    import numpy as np

    from unveil.release.graph import edge_endpoints, simple_graph

    ends = np.stack([place[nodes] for nodes in edge_endpoints(graph)], axis=1).astype(np.int32)
    return simple_graph(ends.reshape(-1), graph.labels.take(np.argsort(place)), False, graph.name, None)


def _world_is_no_help(case: Case, policy: Policy) -> bool:
    """Whether nothing is asked for that numbers of connections have nothing to do with, or no edge may be removed."""
    additions_only = policy.settings_for(NetworkSettings).additions_only
    return additions_only or all(policy.tolerance_for(risk) is None for risk in _NOT_FROM_DEGREES)


# ---- what is on offer ------------------------------------------------------------------------------------------------

_NO_PROMISE = "This makes it uncertain whether a connection is real, and promises nothing to any single person."

RANDOM_CHANGES = ProtectionOffer(
    "Change connections at random",
    "Replace a share of the edges; promises nothing; only if named.",
    _change_at_random,
    applies_to=is_undirected,
    only_if_named=always,
    describe_remaining_risk=describe_remaining_risk(_NO_PROMISE),
)
SWITCHES = ProtectionOffer(
    "Switch connections at random",
    "Exchange ends of edges, keep degrees; only if named.",
    _switch,
    applies_to=is_undirected,
    only_if_named=always,
    describe_remaining_risk=describe_remaining_risk(_NO_PROMISE),
)
POSSIBLE_WORLD = ProtectionOffer(
    "Draw connections between groups anew",
    "Redraw edges; tried with goal passive, active or signature_found.",
    _draw_world,
    applies_to=is_undirected,
    only_if_named=_world_is_no_help,
    describe_remaining_risk=describe_remaining_risk(
        "This hides who is who within groups of similar nodes, but not how groups are connected: where two groups are "
        "connected wholly or not at all, so are their members."
    ),
)
