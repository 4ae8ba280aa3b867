"""The words of the report: verdicts, statuses, methods, roles and questions as a non-expert reads them.

The text and the page take them from here, so that a person who has read one understands the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from unveil.assessment import Assessment, Weighed
from unveil.finding import Curve, Exposed, Finding, Links
from unveil.policy import Role
from unveil.verdict import Decision
from unveil.wording import counted, listed, number, percent, shown

__all__ = [
    "DECIDED",
    "HEADLINES",
    "MEANINGS",
    "METHODS",
    "ORIGINS",
    "ROLES",
    "ROLE_NAMES",
    "TERMS",
    "alike",
    "attackers",
    "grouped",
    "harm_text",
    "has_unit",
    "hundredth",
    "is_share",
    "lead",
    "other_reasons",
    "question_title",
    "reveals",
    "risk_text",
    "status_text",
    "table",
    "tolerance_text",
    "unit_text",
    "weighed",
]

HEADLINES: Mapping[Decision, str] = MappingProxyType(
    {
        "release": "Within tolerance against these attackers",
        "protect first": "Protect first",
        "your call": "Your call",
    }
)

MEANINGS: Mapping[Decision, str] = MappingProxyType(
    {
        "release": "Attackers who know more than is described here were not tried.",
        "protect first": "Do not release this version: protect it, then assess it again.",
        "your call": "Nothing that decides is over its tolerance, but these points are for a person to settle.",
    }
)

DECIDED: Mapping[Decision, str] = MappingProxyType(
    {"release": "The largest harm measured:", "protect first": "Decided by", "your call": "It turns on"}
)

METHODS: Mapping[str, str] = MappingProxyType(
    {
        "exact": "Counted or computed in full. The number is the number.",
        "bound": "The true value lies between the two ends given; nothing finer was proved.",
        "simulation": "The attack was played many times at random. The interval says how far chance may have moved "
        "the number, at the stated confidence.",
        "estimate": "A good guess without a guaranteed interval. It informs and never decides.",
        "truncated": "The work allowed for this question ran out before the answer was complete.",
        "failed": "The question could not be answered; the reason is given.",
    }
)

TERMS: Mapping[str, str] = MappingProxyType(
    {
        "tolerance": "What the owner of the data accepts. At most, where lower is better; at least, where higher is.",
        "over, below": "Every value the measurement allows is beyond the tolerance.",
        "within": "No value the measurement allows is beyond the tolerance.",
        "open": "Some of the values the measurement allows are beyond the tolerance and some are not.",
        "informs": "Nobody set a tolerance; the number is there to be known.",
        "guessing alone": "What someone would achieve without the release, by guessing.",
        "useful": "How much of what the data is used for is still there after a protection; 100% is all of it. For "
        "baskets, how far the most frequent pairs before and after agree (Jaccard index).",
        "subject": "Who or what is to stay hidden: a person, an item, a node of a network.",
    }
)

ROLES: Mapping[Role, str] = MappingProxyType(
    {
        "identifier": "A column that names a person by itself.",
        "quasi": "A column that an attacker may know; together with others it can point to one person.",
        "sensitive": "A column that holds what must not be learned about a person.",
        "insensitive": "A column that is taken to tell an attacker nothing.",
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

ORIGINS: Mapping[str, str] = MappingProxyType(
    {"given": "given by you", "assumed": "assumed", "guessed": "guessed: please check"}
)

_ONE = {"people": "person", "classes": "class"}
_SHARE = re.compile(r"\b(share|probability|chance|fraction|risk)\b", re.IGNORECASE)


def question_title(name: str) -> str:
    """What the question asks; its bare name if this unveil does not know it."""
    from unveil.assess import QUESTIONS

    return next((q.title for q in QUESTIONS if q.name == name), name)


def status_text(finding: Finding) -> str:
    """Where the finding stands, in words: a k that is too low is *below* what is tolerated, not over it."""
    if finding.status == "over":
        return "over tolerance" if finding.direction == "lower" else "below tolerance"
    return {"within": "within tolerance", "open": "open", "failed": "not measured", None: "informs"}[finding.status]


def tolerance_text(finding: Finding) -> str:
    """The tolerance and which way is better.

    ``at least 5 (higher is better)``
    """
    return f"{finding.tolerance_text} ({finding.direction} is better)"


def has_unit(finding: Finding) -> bool:
    """Whether the number needs its unit beside it; a share is written in percent."""
    return finding.value is not None and finding.unit not in ("", "share")


def unit_text(finding: Finding) -> str:
    """The unit of the value: ``1 person``, ``3 people``."""
    one = finding.value == 1 and finding.interval is None and " " not in finding.unit
    return _ONE.get(finding.unit, finding.unit.removesuffix("s")) if one else finding.unit


def hundredth(share: float, most: float = 100) -> str:
    """A share as a place on a line of length 100."""
    return f"{min(100 * share, most):.2f}"


def harm_text(finding: Finding) -> str:
    """How many subjects are harmed; empty where the finding does not say."""
    if finding.share is None:
        return ""
    low, high = (percent(x) for x in finding.share)
    share = low if low == high else f"{low} to {high}"
    return f"{share} of {counted(finding.subjects, 'subject')}"


def weighed(protection: Weighed) -> tuple[str, str, str]:
    """What a protection leaves of usefulness, how many it still harms, and the verdict after it."""
    p = protection
    useful = "–" if p.usefulness is None else percent(p.usefulness)
    harmed = "–" if p.harmed is None else " to ".join(dict.fromkeys(percent(x) for x in p.harmed))
    decision = "out of reach" if p.decision is None else p.decision
    return useful, harmed, f"{decision}, chosen" if p.chosen else decision


def risk_text(risk: float) -> str:
    """The risk of one exposed subject."""
    return percent(risk) if 0 <= risk <= 1 else number(risk)


def lead(assessment: Assessment) -> str:
    """The sentence under the verdict. A sentence that only repeats the reasons gives way to what the verdict means."""
    verdict = assessment.verdict
    return MEANINGS[verdict.decision] if verdict.sentence == " ".join(verdict.reasons) else verdict.sentence


def other_reasons(assessment: Assessment) -> tuple[str, ...]:
    """The reasons that the deciding finding does not already give: ``protect first`` names it first."""
    reasons = assessment.verdict.reasons
    return reasons[1:] if assessment.verdict.decision == "protect first" else reasons


def reveals(assessment: Assessment) -> bool:
    """Whether the assessment shows values from the data, and has to be treated like the data."""
    findings = assessment.findings
    truth = any(isinstance(c, Links) and c.true is not None for f in findings for c in f.curves)
    return truth or any(e.values for f in findings for e in f.exposed)


def grouped(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings by question, in the order they came."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.question, []).append(finding)
    return groups


def alike(exposed: Iterable[Exposed]) -> list[tuple[str, Exposed]]:
    """Neighbouring exposed subjects that differ in nothing else, told together: who, and what is true of all."""
    groups = (list(group) for _, group in groupby(exposed, key=lambda e: (e.risk, e.because, e.learns, e.values)))
    return [(listed((e.subject for e in group), limit=20), group[0]) for group in groups]


def attackers(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Each attacker, in words, with the findings that measured them."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.attacker:
            groups.setdefault(finding.attacker, []).append(finding)
    return groups


def is_share(label: str, values: Iterable[float]) -> bool:
    """Whether an axis shows shares: its label says so and every value lies between 0 and 1."""
    return bool(_SHARE.search(label)) and all(0 <= v <= 1 for v in values)


def table(curve: Curve | Links) -> tuple[list[str], list[list[str]]]:
    """A chart's data for the table beside it: the headings and the rows, written as the axes write them."""
    if isinstance(curve, Links):
        return _links_table(curve)
    x, y = curve.x_label, curve.y_label
    columns: list[tuple[str, str, Sequence[float | str] | None]] = [
        ("line", "", curve.series),
        (x, x, curve.x),
        (y, y, curve.y),
        ("from", y, curve.low),
        ("to", y, curve.high),
    ]
    present = [(heading, _texts(axis, values)) for heading, axis, values in columns if values is not None]
    return [heading for heading, _ in present], [list(row) for row in zip(*(t for _, t in present), strict=True)]


def _links_table(links: Links) -> tuple[list[str], list[list[str]]]:
    """How many candidates each entry has and how likely it is cracked, the likeliest first."""
    candidates = Counter(i for i, _, _ in links.pairs)
    true: dict[int, list[str]] = {}
    for i, j in links.true or ():
        true.setdefault(i, []).append(links.right[j])
    rows = []
    for i in sorted(range(len(links.left)), key=lambda i: -links.risk[i]):
        row = [shown(links.left[i]), number(candidates[i]), percent(links.risk[i])]
        rows.append(row if links.true is None else [*row, listed(true.get(i, ())) or "–"])
    truth = [] if links.true is None else [f"true {links.right_label}"]
    return [links.left_label, "candidates", "risk", *truth], rows


def _texts(label: str, values: Sequence[float | str]) -> list[str]:
    numbers = [v for v in values if not isinstance(v, str)]
    write = percent if is_share(label, numbers) else number
    return [v if isinstance(v, str) else write(v) for v in values]
