"""The phrases of the report: verdicts, statuses, methods, roles and questions in words for a non-expert.

The terminal text and the page share them, so that whoever has read one understands the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from unveil.assessment import Assessment, ProtectionResult
from unveil.finding import Curve, ExposedSubject, Finding, LinkChart
from unveil.policy import Role
from unveil.verdict import Decision
from unveil.wording import count_text, list_text, number_text, percent_text, safe_text

__all__ = [
    "DECIDED_BY",
    "METHOD_MEANINGS",
    "ORIGIN_NAMES",
    "ROLE_MEANINGS",
    "ROLE_NAMES",
    "TERM_MEANINGS",
    "VERDICT_HEADLINES",
    "VERDICT_MEANINGS",
    "chart_table",
    "checks_off_sentence",
    "findings_by_attacker",
    "findings_by_question",
    "group_exposed",
    "harm_text",
    "interval_text",
    "is_share_axis",
    "lead_sentence",
    "meter_position",
    "not_asked_sentence",
    "other_reasons",
    "protection_cells",
    "question_title",
    "reveals_values",
    "risk_text",
    "shows_unit",
    "status_text",
    "tolerance_text",
    "verdict_meaning",
]

VERDICT_HEADLINES: Mapping[Decision, str] = MappingProxyType(
    {
        "release": "Within tolerance against these attackers",
        "protect first": "Protect first",
        "your call": "Your call",
    }
)

VERDICT_MEANINGS: Mapping[Decision, str] = MappingProxyType(
    {
        "release": "Attackers who know more than this report describes were not tried.",
        "protect first": "Do not release this version. Protect it, then assess it again.",
        "your call": "No deciding finding fails, but someone has to decide these points.",
    }
)

DECIDED_BY: Mapping[Decision, str] = MappingProxyType(
    {"release": "The largest harm measured:", "protect first": "Decided by", "your call": "It depends on"}
)

METHOD_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "exact": "Counted or computed in full.",
        "bound": "The true value lies between the two limits given; nothing tighter was proved.",
        "simulation": "The attack was simulated many times. The interval shows how far chance may have moved the "
        "number, at the stated confidence.",
        "estimate": "A good guess without a guaranteed interval. It is for information only and never decides.",
        "truncated": "The work allowed for this question ran out before the answer was complete.",
        "failed": "The question could not be answered; the sentence says why.",
    }
)

TERM_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "tolerance": "The most, or for some findings the least, that the owner of the data accepts.",
        "fails": "Even the most favourable value in the interval violates the tolerance.",
        "within tolerance": "Even the least favourable value in the interval meets the tolerance.",
        "open": "The interval lies on both sides of the tolerance.",
        "for information": "No tolerance is set, so the number decides nothing.",
        "guessing alone": "What someone would achieve by guessing, without the release.",
        "usefulness": "How useful the data remains after a protection; 100% is as useful as before. For baskets: how "
        "far the counts of the most frequent pairs before and after overlap.",
        "subject": "Who or what is to stay hidden: a person, an item, a node of a network.",
    }
)

ROLE_MEANINGS: Mapping[Role, str] = MappingProxyType(
    {
        "identifier": "A column that identifies a person on its own.",
        "quasi": "A column that an attacker may know; combined with others it can point to one person.",
        "sensitive": "A column with facts that nobody should learn about a person.",
        "insensitive": "A column that is assumed to tell an attacker nothing.",
    }
)

ROLE_NAMES: Mapping[Role, str] = MappingProxyType(
    {
        "identifier": "identifier",
        "quasi": "quasi-identifier",
        "sensitive": "sensitive",
        "insensitive": "insensitive",
    }
)

ORIGIN_NAMES: Mapping[str, str] = MappingProxyType(
    {"given": "given by you", "assumed": "assumed", "guessed": "guessed, please check"}
)

_SHARE_WORDS = re.compile(r"\b(share|probability|chance|fraction|risk)\b", re.IGNORECASE)


def question_title(name: str) -> str:
    """What a question asks; its name if this version of unveil does not know it."""
    from unveil.questions import QUESTIONS

    return next((q.title for q in QUESTIONS if q.name == name), name)


def status_text(finding: Finding) -> str:
    """Where the finding stands against its tolerance, in words; with the reason if it fails and does not decide."""
    if finding.status == "over" and not finding.decides:
        return "over, only an estimate" if finding.method == "estimate" else "over, for information"
    return {
        "over": "fails",
        "within": "within tolerance",
        "open": "open",
        "failed": "not measured",
        None: "for information",
    }[finding.status]


def tolerance_text(finding: Finding) -> str:
    """The tolerance, and which direction is better.

    ``at least 5 (higher is better)``
    """
    return f"{finding.tolerance_text} ({finding.direction} is better)"


def shows_unit(finding: Finding) -> bool:
    """Whether a unit follows the number; a share is written in percent and needs none."""
    return finding.value is not None and finding.unit not in ("", "share")


def interval_text(finding: Finding) -> str:
    """The interval of a finding; empty if it reads the same as the value."""
    if finding.value is None or finding.interval is None:
        return ""
    low, high = (finding.text_in_unit(x) for x in finding.interval)
    return "" if low == high == finding.text_in_unit(finding.value) else f"{low} to {high}"


def meter_position(share: float, most: float = 100) -> str:
    """A share as a position on a line of length 100."""
    return f"{min(100 * share, most):.2f}"


def harm_text(finding: Finding) -> str:
    """How many subjects are harmed; empty if the finding does not say."""
    if finding.share is None:
        return ""
    low, high = (percent_text(x) for x in finding.share)
    share = low if low == high else f"{low} to {high}"
    return f"{share} of {count_text(finding.subjects, 'subject')}"


def protection_cells(protection: ProtectionResult) -> tuple[str, str, str]:
    """How useful a protection leaves the data, how many it still harms, and the verdict after it."""
    p = protection
    useful = "–" if p.usefulness is None else percent_text(p.usefulness)
    harmed = "–" if p.harmed is None else " to ".join(dict.fromkeys(percent_text(x) for x in p.harmed))
    decision = "cannot meet the tolerance" if p.decision is None else p.decision
    return useful, harmed, f"{decision}, chosen" if p.chosen else decision


def risk_text(risk: float) -> str:
    """The risk of one exposed subject."""
    return percent_text(risk) if 0 <= risk <= 1 else number_text(risk)


def lead_sentence(assessment: Assessment) -> str:
    """The sentence under the verdict; what the verdict means if the sentence would only repeat the reasons."""
    verdict = assessment.verdict
    return verdict_meaning(assessment) if verdict.sentence == " ".join(verdict.reasons) else verdict.sentence


def verdict_meaning(assessment: Assessment) -> str:
    """What to do about the verdict."""
    decided = assessment.deciding_finding
    if decided is not None and decided.status == "over" and decided.is_unreachable:
        return "Do not release this version. Decide first whether a tolerance below what guessing reaches is meant."
    return VERDICT_MEANINGS[assessment.verdict.decision]


def other_reasons(assessment: Assessment) -> tuple[str, ...]:
    """The reasons other than the deciding finding, which ``protect first`` lists first."""
    reasons = assessment.verdict.reasons
    return reasons[1:] if assessment.verdict.decision == "protect first" else reasons


def reveals_values(assessment: Assessment) -> bool:
    """Whether the assessment shows values from the data, so that it must be treated like the data."""
    findings = assessment.findings
    truth = any(isinstance(c, LinkChart) and c.true is not None for f in findings for c in f.curves)
    return truth or any(e.values for f in findings for e in f.exposed)


def not_asked_sentence(assessment: Assessment) -> str:
    """What was left out on request, and how to ask it."""
    return f"Not asked: {list_text(assessment.not_asked, 12)}. unveil assess asks everything."


def checks_off_sentence(assessment: Assessment) -> str:
    """Which checks the policy turns off, where the verdict does not give them as a reason; empty if there are none."""
    if not assessment.checks_off or assessment.verdict.decision != "protect first":
        return ""
    return f"Checks that the policy turns off: {list_text(assessment.checks_off, 12)}."


def findings_by_question(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings by question, in the order they came."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.question, []).append(finding)
    return groups


def group_exposed(exposed: Iterable[ExposedSubject]) -> list[tuple[str, ExposedSubject]]:
    """Consecutive exposed subjects with equal risk, reason and values, as one row: their names, and one of them."""
    groups = (list(group) for _, group in groupby(exposed, key=lambda e: (e.risk, e.because, e.learns, e.values)))
    return [(list_text((e.subject for e in group), limit=20), group[0]) for group in groups]


def findings_by_attacker(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings by the attacker they describe."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.attacker:
            groups.setdefault(finding.attacker, []).append(finding)
    return groups


def is_share_axis(label: str, values: Iterable[float]) -> bool:
    """Whether an axis shows shares: its label says so, and every value lies between 0 and 1."""
    return bool(_SHARE_WORDS.search(label)) and all(0 <= v <= 1 for v in values)


def chart_table(curve: Curve | LinkChart) -> tuple[list[str], list[list[str]]]:
    """The data of a chart as a table: headings and rows, in the number format of the axes."""
    if isinstance(curve, LinkChart):
        return _links_table(curve)
    x, y = curve.x_label, curve.y_label
    columns: list[tuple[str, str, Sequence[float | str] | None]] = [
        ("line", "", curve.series),
        (x, x, curve.x),
        (y, y, curve.y),
        ("from", y, curve.low),
        ("to", y, curve.high),
    ]
    present = [(heading, _axis_texts(axis, values)) for heading, axis, values in columns if values is not None]
    return [heading for heading, _ in present], [list(row) for row in zip(*(t for _, t in present), strict=True)]


def _links_table(links: LinkChart) -> tuple[list[str], list[list[str]]]:
    """The number of candidates and the risk of each entry, highest risk first."""
    candidates = Counter(i for i, _, _ in links.pairs)
    true: dict[int, list[str]] = {}
    for i, j in links.true or ():
        true.setdefault(i, []).append(links.right[j])
    rows = []
    for i in sorted(range(len(links.left)), key=lambda i: -links.risk[i]):
        row = [safe_text(links.left[i]), number_text(candidates[i]), percent_text(links.risk[i])]
        rows.append(row if links.true is None else [*row, list_text(true.get(i, ())) or "–"])
    truth = [] if links.true is None else [f"true {links.right_label}"]
    return [links.left_label, "candidates", "risk", *truth], rows


def _axis_texts(label: str, values: Sequence[float | str]) -> list[str]:
    numbers = [v for v in values if not isinstance(v, str)]
    write = percent_text if is_share_axis(label, numbers) else number_text
    return [v if isinstance(v, str) else write(v) for v in values]
