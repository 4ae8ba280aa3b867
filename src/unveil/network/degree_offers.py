"""What makes nodes alike for those who know numbers of connections, or a little more: changed edges, added nodes.

All of these promise something about the release that can be checked in it: how many nodes share each number of
connections, or each neighbourhood.
"""

from __future__ import annotations

from unveil.case import Case
from unveil.network import risks
from unveil.network.changed_release import (
    always,
    change_text,
    count_changes,
    if_enough_nodes,
    is_undirected,
    make_protection,
    nobody_shares_degrees,
)
from unveil.network.remaining_risk import describe_remaining_risk
from unveil.network.settings import NetworkSettings
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.wording import count_text, verb

__all__ = ["ADDED_NODES", "DEGREES", "NEIGHBOURHOODS", "describe_degree_risk", "describe_shared_degrees"]

describe_degree_risk = describe_remaining_risk(
    "This protects only from people who know how many connections somebody has, and nothing else.",
    (risks.PASSIVE.id, risks.ACTIVE.id),
)


@if_enough_nodes
def _share_degrees(case: Case, policy: Policy, graph: Graph, k: int, run: Run) -> Protection | None:
    """A graph in which at least k nodes have each degree, with few changed edges."""
    from unveil.network.protections.degree_completion import anonymise_graph

    if nobody_shares_degrees(policy):
        nothing = "No connection had to change, since nobody has to share a number of connections."
        return make_protection(case, graph, nothing)
    additions_only = policy.settings_for(NetworkSettings).additions_only
    how = "added" if additions_only else "added or removed"
    made = anonymise_graph(graph, k, run, additions_only)
    least = (
        f" At least {count_text(made.bounds.half_distance, 'connection')} must be {how}, whatever the method."
        if made.changes
        else ""
    )
    return describe_shared_degrees(case, k, graph, made.graph, least)


def describe_shared_degrees(case: Case, k: int, before: Graph, after: Graph, more: str = "") -> Protection:
    """What releases a graph in which at least k nodes have each degree, and what the owner is told about it."""
    share = f"at least {count_text(k, 'node')}"
    what = (
        f"{change_text(before, after)}; afterwards, {share} share each number of connections."
        if any(count_changes(before, after))
        else f"No connection had to change: {share} already share each number of connections."
    )
    return make_protection(case, after, f"{what}{more}")


# ---- nodes and neighbourhoods ----------------------------------------------------------------------------------------


@if_enough_nodes
def _add_nodes(case: Case, policy: Policy, graph: Graph, k: int, run: Run) -> Protection | None:
    """A graph in which at least k nodes have each degree; all edges between its own nodes stay as they are."""
    from unveil.network.protections.added_nodes import add_nodes
    from unveil.secret_order import secret_generator

    changed = add_nodes(graph, k, secret_generator())
    new, edges = changed.nodes - graph.nodes, changed.edges - graph.edges
    share = f"at least {count_text(k, 'node')}"
    what = (
        f"{count_text(new, 'node')} {verb(new, 'is', 'are')} added, with {count_text(edges, 'connection')}, and those "
        f"between other nodes stay as they are; afterwards, {share} share each number of connections, those added "
        "included."
        if new
        else f"No node had to be added: {share} already share each number of connections."
    )
    return make_protection(case, changed, what)


@if_enough_nodes
def _share_neighbourhoods(case: Case, policy: Policy, graph: Graph, k: int, run: Run) -> Protection | None:
    """A graph in which at least k nodes have each neighbourhood, with edges added."""
    from unveil.network.protections.neighbourhoods import anonymise_neighbourhoods
    from unveil.secret_order import secret_generator

    run.progress("making neighbourhoods alike", None)
    changed = anonymise_neighbourhoods(graph, k, secret_generator(), run)
    share = f"at least {count_text(k, 'node')}"
    what = (
        f"{change_text(graph, changed)}; afterwards, {share} share each neighbourhood"
        if any(count_changes(graph, changed))
        else f"No connection had to change: {share} already share each neighbourhood"
    )
    meaning = "how many connections a node has, and which of its neighbours are connected"
    return make_protection(case, changed, f"{what} ({meaning}).")


# ---- what is on offer ------------------------------------------------------------------------------------------------

DEGREES = ProtectionOffer(
    "Make numbers of connections alike",
    "Add and remove a few edges, until k nodes share each degree.",
    _share_degrees,
    is_deterministic=True,
    applies_to=is_undirected,
    describe_remaining_risk=describe_degree_risk,
)
ADDED_NODES = ProtectionOffer(
    "Add nodes until numbers of connections are alike",
    "Add nodes, not edges between people; easy to spot; only if named.",
    _add_nodes,
    applies_to=is_undirected,
    only_if_named=always,
    describe_remaining_risk=describe_remaining_risk(
        "This protects only from people who know how many connections somebody has, and nothing else. Whoever tells "
        "which nodes were added has the whole network.",
        (risks.PASSIVE.id, risks.ACTIVE.id),
    ),
)
NEIGHBOURHOODS = ProtectionOffer(
    "Make neighbourhoods alike",
    "For small networks: add edges; needs many; only if named.",
    _share_neighbourhoods,
    applies_to=is_undirected,
    only_if_named=always,
    describe_remaining_risk=describe_remaining_risk(
        "This protects only from people who know how many connections somebody has and which of their neighbours are "
        "connected, and nothing else.",
        (risks.SIGNATURE_FOUND.id, risks.PASSIVE.id, risks.ACTIVE.id),
    ),
)
