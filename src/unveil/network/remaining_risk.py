"""Whom a protection does not protect from: what the owner is told first about every network that was changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from unveil.finding import Finding
from unveil.network import risks
from unveil.wording import percent_text

__all__ = ["describe_remaining_risk"]

_ATTACKERS = {
    risks.DEGREE_FOUND.id: "Someone who knows how many connections a person had, and nothing else, finds {} the nodes.",
    risks.SIGNATURE_FOUND.id: "Someone who knows how many connections each neighbour of a person had finds {} the "
    "nodes.",
    risks.PASSIVE.id: "Someone who holds part of the original's connections, with names, finds {} the nodes.",
    risks.ACTIVE.id: "Someone who created accounts in the original finds {} the people whom they linked with them.",
}
_ALL = tuple(_ATTACKERS)


def describe_remaining_risk(said: str, asked: Sequence[str] = _ALL) -> Callable[[Sequence[Finding]], str]:
    """A function from findings to a sentence on what a protection is for, and the shares of nodes that attackers still
    find, as far as they were measured."""
    return lambda findings: " ".join([said, *_shares_found(findings, asked)])


def _shares_found(findings: Sequence[Finding], asked: Sequence[str]) -> Iterator[str]:
    values = {f.id: f.value for f in findings if f.value is not None}
    for risk_id in asked:
        if risk_id in values:
            share = values[risk_id]
            yield _ATTACKERS[risk_id].format(f"{percent_text(share)} of" if share else "none of")
        elif risk_id == risks.PASSIVE.id:
            yield "What someone with an overlapping network finds was not measured."
