"""The findings about people who are looked for by the connections that they had in the original."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.finding import Finding
from unveil.network import risks
from unveil.policy import Policy
from unveil.wording import count_text, percent_text

if TYPE_CHECKING:
    from unveil.network.compared_graphs import ComparedGraphs

__all__ = ["known_connection_findings"]

_HAY = "M. Hay, G. Miklau, D. Jensen, P. Weis, S. Srivastava, Anonymizing social networks, 2007 (candidate sets)"


def known_connection_findings(compared: ComparedGraphs, policy: Policy) -> Iterator[Finding]:
    """Who is found by their own number of connections, and by those of their neighbours."""
    from unveil.network.known_connections import found_by_connections

    found, people = found_by_connections(compared), compared.original.nodes
    degree = (
        "number of connections" if not compared.original.directed else "numbers of outgoing and incoming connections"
    )
    where = "" if compared.is_unchanged else " in the original"
    known = f"the {degree} that a person has{where}"
    nodes = count_text(people, "node")
    for risk, share, what in (
        (risks.DEGREE_FOUND, found.by_degree, known),
        (risks.SIGNATURE_FOUND, found.by_neighbours, f"the {degree} that each neighbour of a person has{where}"),
    ):
        yield risk.finding(
            policy,
            value=share,
            subjects=people,
            share=share,
            attacker=f"Knows {what}.",
            baseline=1 / people,
            sentence=f"Someone who knows {what}, and picks at random one of the nodes of which the same is true in the "
            f"release, finds " + (f"{percent_text(share)} of {nodes} on average." if share else f"none of {nodes}."),
            source=_HAY,
        )
