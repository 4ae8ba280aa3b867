"""What makes nodes alike for those who know numbers of connections, or a little more: changed edges, added nodes.

All of these promise something about the release that can be checked in it: how many nodes share each number of
connections, or each neighbourhood.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.network import risks
from unveil.network.changed_release import (
    always,
    change_text,
    count_changes,
    degree_class_to_aim_at,
    is_undirected,
    make_protection,
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
    from unveil.network.protections.published_probing import ProbedGraph

    PublishedMethod = Callable[..., ProbedGraph]
    """From a graph, k and randomness to what came of probing."""

__all__ = ["ADDED_NODES", "DEGREES", "NEIGHBOURHOODS", "published_offer"]

_MOST_PROBES = 2_000
_describe_degree_risk = describe_remaining_risk(
    "This protects only from people who know how many connections somebody has, and nothing else.",
    (risks.PASSIVE.id, risks.ACTIVE.id),
)


def _share_degrees(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    """A graph in which at least k nodes have each degree, with few changed edges."""
    from unveil.network.protections.degree_completion import anonymise_graph

    graph, k = unprotected_graph(case), degree_class_to_aim_at(policy, strictness)
    if k > graph.nodes:
        return None
    additions_only = policy.settings_for(NetworkSettings).additions_only
    how = "added" if additions_only else "added or removed"
    made = anonymise_graph(graph, k, run, additions_only)
    least = (
        f" At least {count_text(made.bounds.half_distance, 'connection')} must be {how}, whatever the method."
        if made.changes
        else ""
    )
    return _describe_shared_degrees(case, k, graph, made.graph, least)


def _describe_shared_degrees(case: Case, k: int, before: Graph, after: Graph, more: str = "") -> Protection:
    share = f"at least {count_text(k, 'node')}"
    what = (
        f"{change_text(before, after)}; afterwards, {share} share each number of connections."
        if any(count_changes(before, after))
        else f"No connection had to change: {share} already share each number of connections."
    )
    return make_protection(case, after, f"{what}{more}")


# ---- published methods -----------------------------------------------------------------------------------------------


def published_offer(name: str, title: str, summary: str) -> ProtectionOffer:
    """A published method, which is tried only if it is asked for: it may find nothing."""

    def fit(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
        from unveil.secret_order import secret_generator

        graph, k = unprotected_graph(case), degree_class_to_aim_at(policy, strictness)
        if k > graph.nodes:
            return None
        if name != "supergraph":
            refuse_additions_only(policy, name)
        run.progress(f"probing degrees, at most {_MOST_PROBES:,} times", None)
        found = _published_method(name)(graph, k, secret_generator(), most_probes=_MOST_PROBES, run=run)
        if found.graph is None:
            raise UnveilError(
                f"{safe_text(graph.name)}: {name} found no network in {_MOST_PROBES:,} attempts; try "
                f"{option_text('method', 'degrees')}"
            )
        tried = f" {count_text(found.probes, 'attempt')} failed first." if found.probes else ""
        return _describe_shared_degrees(case, k, graph, found.graph, tried)

    return ProtectionOffer(
        title,
        summary,
        fit,
        applies_to=is_undirected,
        only_if_named=always,
        describe_remaining_risk=_describe_degree_risk,
    )


def _published_method(name: str) -> PublishedMethod:
    from unveil.network.protections.published_methods import relaxed_graph, simultaneous_swap_graph, supergraph

    methods: dict[str, PublishedMethod] = {
        "supergraph": supergraph,
        "relaxed": relaxed_graph,
        "simultaneous": simultaneous_swap_graph,
    }
    return methods[name]


# ---- nodes and neighbourhoods ----------------------------------------------------------------------------------------


def _add_nodes(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    """A graph in which at least k nodes have each degree; all edges between its own nodes stay as they are."""
    from unveil.network.protections.added_nodes import add_nodes
    from unveil.secret_order import secret_generator

    graph, k = unprotected_graph(case), degree_class_to_aim_at(policy, strictness)
    if k > graph.nodes:
        return None
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


def _share_neighbourhoods(case: Case, policy: Policy, run: Run, strictness: float) -> Protection | None:
    """A graph in which at least k nodes have each neighbourhood, with edges added."""
    from unveil.network.protections.neighbourhoods import anonymise_neighbourhoods
    from unveil.secret_order import secret_generator

    graph, k = unprotected_graph(case), degree_class_to_aim_at(policy, strictness)
    if k > graph.nodes:
        return None
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
    "Add and remove few edges, until k nodes share each degree.",
    _share_degrees,
    is_deterministic=True,
    applies_to=is_undirected,
    describe_remaining_risk=_describe_degree_risk,
)
ADDED_NODES = ProtectionOffer(
    "Add nodes until numbers of connections are alike",
    "Add nodes instead; easily told from people; only if named.",
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
    "For small networks: add edges; takes many; only if named.",
    _share_neighbourhoods,
    applies_to=is_undirected,
    only_if_named=always,
    describe_remaining_risk=describe_remaining_risk(
        "This protects only from people who know how many connections somebody has and which of their neighbours are "
        "connected, and nothing else.",
        (risks.SIGNATURE_FOUND.id, risks.PASSIVE.id, risks.ACTIVE.id),
    ),
)
