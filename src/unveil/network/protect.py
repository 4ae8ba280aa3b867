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
from unveil.network.changed_release import is_undirected, make_protection, unprotected_graph
from unveil.network.degree_offers import ADDED_NODES, DEGREES, NEIGHBOURHOODS, published_offer
from unveil.network.random_offers import POSSIBLE_WORLD, RANDOM_CHANGES, SWITCHES
from unveil.policy import Policy
from unveil.protection import Protection, ProtectionOffer
from unveil.run import Run
from unveil.settings import option_text

__all__ = ["PROTECTIONS", "protection_hints"]


def _relabel_nodes(case: Case, policy: Policy, run: Run, strictness: float) -> Protection:
    only = "Only names and order change, so no finding about structure does."
    return make_protection(case, unprotected_graph(case), only)


# ---- what is on offer ------------------------------------------------------------------------------------------------


def protection_hints(case: Case, policy: Policy, in_the_way: Sequence[str], run: Run) -> Iterator[str]:
    """What an owner can do if no protection reaches what is tolerated."""
    if not in_the_way:
        return
    if not is_undirected(case, policy):
        yield (
            "no protection changes a network with directions yet; remove the directions (for an edge list, leave out "
            f"{option_text('directed')}), or publish measures of the network instead"
        )
    elif set(in_the_way) - {risks.DEGREE_K.id, risks.DEGREE_UNIQUE.id}:
        yield (
            "the methods for networks make numbers of connections alike, but people are found by the rest of the "
            "structure; publish measures of the network instead of its connections"
        )


PROTECTIONS = MappingProxyType(
    {
        "relabel": ProtectionOffer(
            "Rename nodes",
            "Number nodes at random, and put edges in random order.",
            _relabel_nodes,
            is_harmless=True,
            caveat="People can be found by structure even without names: see docs/network.md.",
        ),
        "degrees": DEGREES,
        "worlds": POSSIBLE_WORLD,
        "random": RANDOM_CHANGES,
        "switch": SWITCHES,
        "nodes": ADDED_NODES,
        "neighbourhoods": NEIGHBOURHOODS,
        "supergraph": published_offer(
            "supergraph",
            "SuperGraph, as published",
            "Add edges at random (Liu, Terzi); may fail; only if named.",
        ),
        "relaxed": published_offer(
            "relaxed",
            "Relaxed, as published",
            "Build a network, swap its edges; may fail; only if named.",
        ),
        "simultaneous": published_offer(
            "simultaneous",
            "SimulSwap, as published",
            "As relaxed, but degrees may fall; may fail; only if named.",
        ),
    }
)
