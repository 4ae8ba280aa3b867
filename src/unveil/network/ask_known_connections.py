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
    ways, has = "connections", "has" if compared.is_unchanged else "had in the original"
    if compared.original.directed:
        ways = "outgoing and incoming connections"
    everyone = count_text(people, "person")
    many = "as many of both" if compared.original.directed else "as many"
    for risk, share, what, alike in (
        (risks.DEGREE_FOUND, found.by_degree, f"how many {ways} a person {has}", many),
        (
            risks.SIGNATURE_FOUND,
            found.by_neighbours,
            f"how many {ways} each neighbour of a person {has}",
            f"neighbours that have {many}",
        ),
    ):
        yield risk.finding(
            policy,
            value=share,
            subjects=people,
            share=share,
            attacker=f"Knows {what}.",
            baseline=1 / people,
            sentence=f"Someone who knows {what}, and picks at random one of the released nodes with {alike}, finds "
            + (f"{percent_text(share)} of {everyone} on average." if share else f"none of {everyone}."),
            source=_HAY,
        )
