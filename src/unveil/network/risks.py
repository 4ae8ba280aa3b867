"""What the question ``network`` can find."""

from __future__ import annotations

from functools import partial

from unveil.risk import Risk

__all__ = [
    "ACTIVE",
    "AUTOMORPHISM",
    "DEGREE_FOUND",
    "DEGREE_K",
    "DEGREE_UNIQUE",
    "EDGES_DISCLOSED",
    "PASSIVE",
    "RISKS",
    "SIGNATURE_FOUND",
    "SIGNATURE_UNIQUE",
    "UNMASKED",
]

_share_risk = partial(Risk, unit="share", safer="lower")

DEGREE_K = Risk(
    "network.degree_k",
    title="Smallest class of nodes with the same number of connections (k)",
    unit="count",
    safer="higher",
    tolerance=5,
    summary="The smallest number of nodes with the same number of connections.",
)
DEGREE_UNIQUE = _share_risk(
    "network.degree_unique",
    title="Nodes with a unique number of connections",
    summary="The share of nodes with a number of connections that no other node has.",
)
DEGREE_FOUND = _share_risk(
    "network.degree_found",
    title="People found by how many connections they had",
    summary="The share of people found by someone who knows how many connections they had before anything was changed, "
    "and picks a node with as many at random.",
)
SIGNATURE_UNIQUE = _share_risk(
    "network.signature_unique",
    title="Nodes singled out by their neighbours' connections",
    summary="The share of nodes whose neighbours' numbers of connections no other node's neighbours have.",
)
SIGNATURE_FOUND = _share_risk(
    "network.signature_found",
    title="People found by how many connections their neighbours had",
    summary="The share of people found by someone who knows how many connections each of their neighbours had before "
    "anything was changed, and picks a node of which the same is true at random.",
)
AUTOMORPHISM = _share_risk(
    "network.automorphism",
    title="Nodes singled out by the whole structure",
    summary="The share of nodes that no other node can be exchanged with, which nobody without names can exceed.",
)
EDGES_DISCLOSED = _share_risk(
    "network.edges_disclosed",
    title="Connections that follow from numbers of connections",
    summary="The share of edges that are certain to someone who knows the number of connections of both ends.",
)

ACTIVE = _share_risk(
    "network.active",
    title="People found by someone who created a few accounts",
    summary="The share of people found by someone who created accounts linked with them before the release.",
    sampled=True,
)

PASSIVE = _share_risk(
    "network.passive",
    title="People found by someone who holds an overlapping network",
    summary="The share of people found by someone who holds part of the edges with names, knows no pair to begin with, "
    "and names as many as they can with at least 95% of the names right.",
    sampled=True,
    baseline_name="By rank of degree alone, however many are named wrongly",
)

UNMASKED = _share_risk(
    "network.unmasked",
    needs="known_network",
    title="Nodes named by someone who holds another network",
    summary="The share of nodes that someone names rightly who holds another network with names, in a file.",
)

RISKS = (
    DEGREE_K,
    DEGREE_UNIQUE,
    DEGREE_FOUND,
    SIGNATURE_UNIQUE,
    SIGNATURE_FOUND,
    AUTOMORPHISM,
    EDGES_DISCLOSED,
    ACTIVE,
    PASSIVE,
    UNMASKED,
)
