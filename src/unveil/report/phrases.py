"""The phrases of the report: verdicts, statuses, methods, roles and questions in words for a non-expert.

The terminal text and the page share them, so that whoever has read one understands the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from unveil.assessment import Assessment, ProtectionResult
from unveil.finding import Drawing, ExposedSubject, Finding, GraphChart, LatticeChart, LinkChart
from unveil.policy import Role
from unveil.usefulness.use_measure import UseMeasure
from unveil.verdict import Decision
from unveil.wording import count_text, list_text, number_text, percent_text, safe_text, unit_noun

__all__ = [
    "METHOD_MEANINGS",
    "MOST_REASONS",
    "ORIGIN_NAMES",
    "ROLE_MEANINGS",
    "ROLE_NAMES",
    "TERM_MEANINGS",
    "UNEXAMINED_TITLE",
    "VERDICT_HEADLINES",
    "Reason",
    "baseline_label",
    "chart_table",
    "group_exposed",
    "harm_text",
    "interval_text",
    "is_share_axis",
    "largest_harm_sentence",
    "lead_sentence",
    "measured_text",
    "meter_position",
    "more_reasons_sentence",
    "no_decision_reason",
    "protection_cells",
    "question_title",
    "reveals_values",
    "risk_text",
    "short_title",
    "shows_unit",
    "size_text",
    "status_text",
    "tolerance_text",
    "unexamined_sentences",
    "verdict_reasons",
]

UNEXAMINED_TITLE = "In doubt, or not looked at"
"""What stands above :func:`unexamined_sentences`."""

MOST_REASONS = 3
"""How many reasons a summary gives."""

VERDICT_HEADLINES: Mapping[Decision, str] = MappingProxyType(
    {
        "release": "Within tolerance against these attackers",
        "protect first": "Protect first",
        "your call": "Your call",
    }
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
        "knowing nothing": "What is left to someone who knows nothing about a person: all rows, or all values.",
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


def baseline_label(finding: Finding) -> str:
    """What the baseline of a finding is: what guessing achieves, the crowd that someone who knows nothing faces, or
    what the risk says."""
    from unveil.questions import all_risks

    risk = all_risks().get(finding.id)
    if risk is not None and risk.baseline_name:
        return risk.baseline_name
    return "Guessing alone" if finding.direction == "lower" else "Knowing nothing"


def status_text(finding: Finding) -> str:
    """Where the finding stands against its tolerance, in words; with the reason if it fails and does not decide."""
    if finding.status == "over" and not finding.decides:
        return f"over, {no_decision_reason(finding)}"
    return {
        "over": "fails",
        "within": "within tolerance",
        "open": "open",
        "failed": "not measured",
        None: "for information",
    }[finding.status]


def no_decision_reason(finding: Finding) -> str:
    """Why a finding with a tolerance does not decide, in a few words."""
    if finding.method in ("estimate", "bound"):
        return "only an estimate" if finding.method == "estimate" else "only a bound"
    return "role is a guess" if finding.column is not None else "for information"


def tolerance_text(finding: Finding) -> str:
    """The tolerance, and which direction is better.

    ``at least 5 (higher is better)``
    """
    return f"{finding.tolerance_text} ({finding.direction} is better)"


def shows_unit(finding: Finding) -> bool:
    """Whether a unit follows the number; a share is written in percent and needs none."""
    return finding.value is not None and finding.unit not in ("", "share")


def measured_text(finding: Finding) -> str:
    """The value with its interval and its unit."""
    return f"{finding.value_text} {safe_text(finding.unit_text)}" if shows_unit(finding) else finding.value_text


def short_title(finding: Finding) -> str:
    """The title without what the attacker knows, for places that name the attacker.

    ``Smallest class (k)`` instead of ``Smallest class (k), knowing age and zip``
    """
    return finding.title.removesuffix(f", knowing {list_text(finding.known or (), 3)}")


def size_text(assessment: Assessment) -> str:
    """What was assessed: the kind of release and its size."""
    sizes = (f"{n:,} {unit_noun(f'{n:,}', safe_text(key))}" for key, n in assessment.release.size.items())
    return ", ".join([safe_text(assessment.release.kind), *sizes])


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


_COARSE_VALUES = "a coarse value is read as any of the values that it covers, all equally likely"


class UseRow(NamedTuple):
    """One measure of use: its title, and a text for the release as it was and for each protection."""

    title: str
    texts: tuple[str, ...]


def measured_protections(assessment: Assessment) -> list[ProtectionResult]:
    """The protections of which it was measured what the data can still be used for, the chosen one first."""
    return sorted((p for p in assessment.protections if p.use), key=lambda p: not p.chosen)


def use_rows(assessment: Assessment) -> list[UseRow]:
    """Every measure of use, before and after each protection."""
    protections = measured_protections(assessment)
    titles = {measure.id: measure for p in reversed(protections) for measure in p.use}
    return [
        UseRow(m.title, (use_text(m, m.before), *(_use_after(p, m.id) for p in protections))) for m in titles.values()
    ]


def _use_after(protection: ProtectionResult, measure_id: str) -> str:
    return next((use_text(m, m.after) for m in protection.use if m.id == measure_id), "–")


def use_text(measure: UseMeasure, number: float | None) -> str:
    """A number of a measure, as text."""
    if number is None:
        return "–"
    return percent_text(number) if measure.is_share else number_text(number)


def use_note(assessment: Assessment) -> str:
    """How the measures of use read the release, if there is a choice."""
    return _COARSE_VALUES if assessment.release.kind == "table" else ""


def use_summary(assessment: Assessment) -> str:
    """What the release can still be used for after the protection that was chosen, in a line; empty if that was not
    measured."""
    measures = [m for p in assessment.protections if p.chosen for m in p.use]
    known = [m for m in measures if (m.before, m.after) != (None, None)]
    if not known:
        return ""
    missing = (
        f" {count_text(len(measures) - len(known), 'measure')} not compared." if len(known) < len(measures) else ""
    )
    if all(m.before == m.after for m in known):
        return f"Still usable as before, by {count_text(len(known), 'measure')}.{missing}"
    each = (f"{m.title[0].lower()}{m.title[1:]} {use_text(m, m.after)}{_before_text(m)}" for m in known)
    return f"Still usable: {'; '.join(each)}.{missing}"


def _before_text(measure: UseMeasure) -> str:
    """The number before protection, if there was one, it is another, and it is not that of any data without a
    change."""
    before = use_text(measure, measure.before)
    is_told = measure.before is not None and not measure.is_comparison and before != use_text(measure, measure.after)
    return f" (was {before})" if is_told else ""


def use_sentences(assessment: Assessment) -> list[str]:
    """What the release can still be used for after the protection that was chosen."""
    return [measure.sentence for p in assessment.protections if p.chosen for measure in p.use]


def risk_text(exposed: ExposedSubject, finding: Finding) -> str:
    """The risk of one exposed subject: a share, unless the finding is a plain number, such as a score."""
    is_share = 0 <= exposed.risk <= 1 and not (finding.unit == "" and finding.direction == "lower")
    return percent_text(exposed.risk) if is_share else number_text(exposed.risk)


class Reason(NamedTuple):
    """A reason for the verdict, and the finding that it is about, if it is about one."""

    text: str
    finding: Finding | None


def verdict_reasons(assessment: Assessment) -> list[Reason]:
    """All reasons for the verdict, the one that decided it first."""
    deciding = [f for f in assessment.findings if f.decides]
    return [
        Reason(text, next((f for f in deciding if text.startswith(f"{f.title}: ")), None))
        for text in assessment.verdict.reasons
    ]


def more_reasons_sentence(assessment: Assessment) -> str:
    """How many reasons a summary leaves out; empty if it gives all."""
    more = len(assessment.verdict.reasons) - MOST_REASONS
    if more <= 0:
        return ""
    if assessment.verdict.decision == "protect first":
        return f"{count_text(more, 'more check fails', 'more checks fail')}."
    return f"{count_text(more, 'more point has', 'more points have')} to be decided."


def lead_sentence(assessment: Assessment) -> str:
    """The sentence under the verdict, which does not repeat the reasons."""
    verdict = assessment.verdict
    if verdict.decision != "your call":
        return verdict.sentence
    points = "this point" if len(verdict.reasons) == 1 else "these points"
    return f"No deciding finding fails, but someone has to decide {points}."


def largest_harm_sentence(assessment: Assessment) -> str:
    """The largest harm of a release that is within tolerance; empty for other verdicts and without any harm."""
    worst = assessment.deciding_finding
    if worst is None or assessment.verdict.decision != "release":
        return ""
    limit = "" if worst.tolerance is None else f", must be {worst.tolerance_text}"
    harmed = ""
    if worst.share is not None and worst.unit != "share":
        low, high = map(percent_text, worst.share)
        harmed = f" ({low if low == high else f'{low} to {high}'} harmed)"
    return f"The largest harm measured: {worst.title}: {measured_text(worst)}{limit}{harmed}."


def unexamined_sentences(assessment: Assessment) -> list[str]:
    """What the verdict does not cover: doubts that it does not give as reasons, what was not asked, other attackers."""
    verdict = assessment.verdict
    sentences = [doubt for doubt in assessment.doubts if doubt not in verdict.reasons]
    if assessment.not_asked:
        sentences.append(f"Not asked: {list_text(assessment.not_asked, 12)}. unveil assess asks everything.")
    return [*sentences, "Attackers who know more than those described here were not tried."]


def reveals_values(assessment: Assessment) -> bool:
    """Whether the assessment shows values from the data, so that it must be treated like the data."""
    findings = assessment.findings
    truth = any(isinstance(c, LinkChart) and c.true is not None for f in findings for c in f.curves)
    return truth or any(e.values for f in findings for e in f.exposed)


def group_exposed(exposed: Iterable[ExposedSubject]) -> list[tuple[str, ExposedSubject]]:
    """Consecutive exposed subjects with equal risk, reason and values, as one row: their names, and one of them."""
    groups = (list(group) for _, group in groupby(exposed, key=lambda e: (e.risk, e.because, e.learns, e.values)))
    return [(list_text((e.subject for e in group), limit=20), group[0]) for group in groups]


def is_share_axis(label: str, values: Iterable[float]) -> bool:
    """Whether an axis shows shares: its label says so, and every value lies between 0 and 1."""
    return bool(_SHARE_WORDS.search(label)) and all(0 <= v <= 1 for v in values)


def chart_table(curve: Drawing) -> tuple[list[str], list[list[str]]]:
    """The data of a chart as a table: headings and rows, in the number format of the axes."""
    if isinstance(curve, LinkChart):
        return _links_table(curve)
    if isinstance(curve, LatticeChart):
        return _lattice_table(curve)
    if isinstance(curve, GraphChart):
        return _graph_table(curve)
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


def _lattice_table(lattice: LatticeChart) -> tuple[list[str], list[list[str]]]:
    """Every set by the number that it has in the picture, how many have it, and what it follows from."""
    rows = [
        [str(number), number_text(people), set_text(one), "; or ".join(map(set_text, follows))]
        for number, (one, people, follows) in enumerate(
            zip(lattice.sets, lattice.people, lattice.follows_from, strict=True), 1
        )
    ]
    return ["set", "shared by", "what belongs together", "follows from"], rows


def _graph_table(graph: GraphChart) -> tuple[list[str], list[list[str]]]:
    """Every node, called by its kind and a number, with those that it is linked with."""
    names = [
        f"{label} {number}"
        for label, count in ((graph.inner_label, graph.inner), (graph.outer_label, graph.outer))
        for number in range(1, count + 1)
    ]
    linked: list[list[int]] = [[] for _ in names]
    for one, other in graph.edges:
        linked[one].append(other)
        linked[other].append(one)
    rows = [
        [name, list_text((names[other] for other in sorted(others)), len(names)) or "–"]
        for name, others in zip(names, linked, strict=True)
    ]
    return ["node", "linked with"], rows


def set_text(names: Sequence[str]) -> str:
    """Attributes that belong together."""
    return list_text(names, limit=20) or "nothing"


def _axis_texts(label: str, values: Sequence[float | str]) -> list[str]:
    numbers = [v for v in values if not isinstance(v, str)]
    write = percent_text if is_share_axis(label, numbers) else number_text
    return [v if isinstance(v, str) else write(v) for v in values]
