"""The settings of the question ``network``."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.settings import setting

__all__ = ["NetworkSettings"]


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """What attackers of a network have done or hold, and how a network is protected."""

    planted_nodes: int = setting(
        7,
        kind="whole number",
        at_least=2,
        at_most=60,
        metavar="NUMBER",
        help="How many accounts an attacker created in the network before its release.",
    )
    known_edges: float = setting(
        0.8,
        kind="share",
        greater_than=0,
        metavar="SHARE",
        help="The share of the edges, with names, that someone holds who matches their network with the release.",
    )
    additions_only: bool = setting(
        False,
        kind="flag",
        release_kinds=("graph",),
        protecting=True,
        help="Protect by adding edges only, so that every edge of the original is released.",
    )
    changed_edges: float = setting(
        0.05,
        kind="share",
        greater_than=0,
        release_kinds=("graph",),
        protecting=True,
        metavar="SHARE",
        help="Method random: the share of edges to replace. Method switch: how many pairs of edges exchange ends, as a "
        "share of all edges, so that up to twice as many edges change. protect raises it up to 2.5 times while the "
        "result fails.",
    )
