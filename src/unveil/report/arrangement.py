"""In which order a report tells its findings, and by which letter it calls their attackers.

What fails comes first, then what is left open, then what is within tolerance, then what is for information only. Each
attacker is described once, in the summary, under a letter; findings refer to the letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from unveil.assessment import Assessment
from unveil.finding import Finding
from unveil.report.folding import details_under, main_findings

__all__ = ["GROUP_TITLES", "attacker_letters", "count_by_group", "findings_by_group", "order_findings"]

GROUP_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "fails": "What fails",
        "open": "What is left open",
        "within": "What is within tolerance",
        "informs": "For information",
    }
)


def order_findings(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that stand by themselves: those that fail first, those that only inform last."""
    ranks = list(GROUP_TITLES)
    return sorted(main_findings(findings), key=lambda f: (ranks.index(_group_of(f)), *_harm_if_failing(f)))


def findings_by_group(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """The findings that stand by themselves, by group; only groups that have any."""
    groups: dict[str, list[Finding]] = {}
    for finding in order_findings(findings):
        groups.setdefault(_group_of(finding), []).append(finding)
    return groups


def count_by_group(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings each group has, in the order of the groups; only groups that have any."""
    found = [_group_of(f) for f in findings]
    return {group: found.count(group) for group in GROUP_TITLES if group in found}


def attacker_letters(assessment: Assessment) -> dict[str, str]:
    """Every attacker's description and its letter: A is the attacker of the first finding that is told."""
    told = [
        f for main in order_findings(assessment.findings) for f in (main, *details_under(main, assessment.findings))
    ]
    attackers = dict.fromkeys(f.attacker for f in told if f.attacker)
    return {attacker: _letter(place) for place, attacker in enumerate(attackers)}


def _letter(place: int) -> str:
    """A, B … Z, AA, AB …"""
    before, last = divmod(place, 26)
    return (_letter(before - 1) if before else "") + chr(ord("A") + last)


def _group_of(finding: Finding) -> str:
    if not finding.decides:
        return "informs"
    if finding.status == "over":
        return "fails"
    return "within" if finding.status == "within" and finding.method != "truncated" else "open"


def _harm_if_failing(finding: Finding) -> tuple[float]:
    """The order of the reasons for ``protect first``: the largest harm first."""
    return (-finding.harmed_share if _group_of(finding) == "fails" else 0.0,)
