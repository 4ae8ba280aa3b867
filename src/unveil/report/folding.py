"""Which findings the report folds away: details stand under the finding that they detail.

A risk may be declared as a detail of another (α of ℓ-diversity, say). Its finding is folded under the finding of that
risk about the same column and attacker, unless it has a tolerance: what decides is never hidden.
"""

from __future__ import annotations

from collections.abc import Sequence

from unveil.assessment import Assessment
from unveil.finding import Finding
from unveil.questions import all_risks

__all__ = ["details_under", "finding_anchor", "main_findings"]


def main_findings(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that stand by themselves, in their order."""
    return [f for f in findings if _main_finding_of(f, findings) is None]


def details_under(main: Finding, findings: Sequence[Finding]) -> list[Finding]:
    """The findings folded under a main one, in their order."""
    return [f for f in findings if _main_finding_of(f, findings) is main]


def finding_anchor(assessment: Assessment, finding: Finding) -> str:
    """A name for links to a finding, unique within its assessment."""
    same = [f for f in assessment.findings if f.id == finding.id]
    place = next(i for i, f in enumerate(same, 1) if f is finding)
    return finding.id.replace(".", "-") + (f"-{place}" if place > 1 else "")


def _main_finding_of(finding: Finding, findings: Sequence[Finding]) -> Finding | None:
    risk = all_risks().get(finding.id)
    if risk is None or risk.detail_of is None or finding.tolerance is not None or finding.value is None:
        return None
    main = risk.detail_of.id
    fitting = [f for f in findings if f.id == main]
    same = [f for f in fitting if (f.column, f.known) == (finding.column, finding.known)]
    return same[0] if same else fitting[0] if len(fitting) == 1 else None
