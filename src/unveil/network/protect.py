"""How graphs can be protected from someone who knows their structure, or the names of their nodes.

What changes edges is in :mod:`unveil.network.degree_offers` and :mod:`unveil.network.random_offers`.
:mod:`unveil.network.protections.relabel` gives nodes new names in a new order, which is the last step of every
protection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from unveil.case import Case
from unveil.network import risks
from unveil.network.changed_release import make_protection, unprotected_graph
from unveil.network.degree_offers import ADDED_NODES, DEGREES, NEIGHBOURHOODS
from unveil.network.published_offers import PUBLISHED
from unveil.network.random_offers import POSSIBLE_WORLD, RANDOM_CHANGES, SWITCHES
from unveil.network.settings import NetworkSettings
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.release.graph import Graph
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, verb

__all__ = ["PROTECTIONS", "protection_hints", "why_unprotectable"]

_STRUCTURE = "most methods make numbers of connections alike, but people are found by the rest of the structure"
_MEASURES = "publish measures of the network instead of its connections (unveil describe)"


def _relabel_nodes(case: Case, policy: Policy, run: Run, strictness: float) -> Protection:
    only = "Only names and order change, so findings about structure stay the same."
    return make_protection(case, unprotected_graph(case), only)


# ---- what is on offer ------------------------------------------------------------------------------------------------


def why_unprotectable(case: Case, policy: Policy) -> str:
    """Why none of the methods can change a network so that it is within tolerance; empty if one might."""
    graph = case.release
    assert isinstance(graph, Graph)
    if case.original is not None:
        return "this release is protected already; protect the original instead, with other goals"
    if graph.directed:
        return (
            "no protection changes a network with directions yet; remove the directions (for an edge list, leave out "
            f"{option_text('directed')}), or {_MEASURES}"
        )
    k = policy.tolerance_for(risks.DEGREE_K)
    if k is not None and k > graph.nodes:
        return (
            f"{count_text(int(k), 'node')} cannot share a number of connections where there "
            f"{verb(graph.nodes, 'is', 'are')} only {graph.nodes:,}; {_MEASURES}"
        )
    return ""


def protection_hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """What an owner can do if no protection reaches what is tolerated."""
    if not in_the_way:
        return
    if reason := why_unprotectable(case, policy):
        yield reason
        return
    others = set(in_the_way) - {risks.DEGREE_K.id, risks.DEGREE_UNIQUE.id}
    if risks.DEGREE_FOUND.id in others:
        yield (
            "people are found by how many connections they had; ask for more nodes with each number of connections (a "
            f"higher {risks.DEGREE_K.id}), or {_MEASURES}"
        )
    if others - {risks.DEGREE_FOUND.id}:
        yield f"{_STRUCTURE}; {_way_out(policy)}"


def _way_out(policy: Policy) -> str:
    """What to try where people are found by structure."""
    if policy.settings_for(NetworkSettings).additions_only:
        return f"leave out {option_text('additions_only')} for {option_text('method', 'worlds')}, or {_MEASURES}"
    return f"if {option_text('method', 'worlds')} was not tried, try it; else, {_MEASURES}"


PROTECTIONS = MappingProxyType(
    {
        "relabel": ProtectionOffer(
            "Rename nodes",
            "Number nodes at random, and put edges in random order.",
            _relabel_nodes,
            is_harmless=True,
            is_deterministic=True,
            caveat="People can be found by structure even without names: see docs/network.md.",
        ),
        "degrees": DEGREES,
        "worlds": POSSIBLE_WORLD,
        "random": RANDOM_CHANGES,
        "switch": SWITCHES,
        "nodes": ADDED_NODES,
        "neighbourhoods": NEIGHBOURHOODS,
        **PUBLISHED,
    }
)
