"""Whom a protection does not protect from: what the owner is told first about every network that was changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from unveil.finding import Finding
from unveil.network import risks
from unveil.wording import ends_text, percent_text

__all__ = ["describe_remaining_risk"]

_ATTACKERS = {
    risks.DEGREE_FOUND.id: "Someone who knows how many connections a person had, and nothing else, finds {} the "
    "nodes{}.",
    risks.SIGNATURE_FOUND.id: "Someone who knows how many connections each neighbour of a person had finds {} the "
    "nodes{}.",
    risks.PASSIVE.id: "Someone who holds part of the original's connections, with names, finds {} the nodes{}.",
    risks.ACTIVE.id: "Someone who created accounts in the original finds {} the people whom they linked with them{}.",
}
_ALL = tuple(_ATTACKERS)


def describe_remaining_risk(said: str, asked: Sequence[str] = _ALL) -> Callable[[Sequence[Finding]], str]:
    """A function from findings to a sentence on what a protection is for, and the shares of nodes that attackers still
    find, as far as they were measured."""
    return lambda findings: " ".join([said, *_shares_found(findings, asked)])


def _shares_found(findings: Sequence[Finding], asked: Sequence[str]) -> Iterator[str]:
    found = {f.id: f for f in findings if f.value is not None}
    for risk_id in asked:
        if risk_id in found:
            yield _ATTACKERS[risk_id].format(*_share_texts(found[risk_id]))
        elif risk_id == risks.PASSIVE.id:
            yield "What someone with an overlapping network finds was not measured."


def _share_texts(f: Finding) -> tuple[str, str]:
    """The share of whom, and its interval in brackets, if it has one. Only an exact number can say that it is none."""
    assert f.value is not None
    share = "none of" if f.method == "exact" and not f.value else f"{percent_text(f.value)} of"
    return share, "" if f.interval is None else f" ({ends_text(*f.interval)})"
