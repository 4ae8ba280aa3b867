"""What is said about protections that were weighed against each other, on the page and in the terminal."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from unveil import questions
from unveil.report.next_steps import protected_name
from unveil.risk import Risk
from unveil.usefulness.repeated_measure import RepeatedMeasure
from unveil.weighed_protections import WeighedProtection, WeighedProtections
from unveil.wording import count_text, list_text, number_text, percent_text, range_text, safe_text

__all__ = [
    "ATTACK_READING",
    "COMMAND_INTRODUCTION",
    "FRONTIER_READING",
    "HEADINGS",
    "MEASURE_NOTE",
    "USE_READING",
    "drawn_measures",
    "failure_sentences",
    "follow_up_command",
    "headline",
    "lead_sentences",
    "limit_text",
    "measure_tables",
    "measure_title",
    "number_cell",
    "overview_rows",
    "unchanged_sentence",
]

HEADINGS = ("Protection", "Goal", "Reached", "Kept", "Found", "Unbeaten")
"""Above :func:`overview_rows`."""

MEASURE_NOTE = (
    "Where several releases were measured, a number is their mean, and their variance follows in brackets; otherwise, "
    "the 95% interval does if the number was sampled."
)

COMMAND_INTRODUCTION = (
    "This makes a release in the same way (drawn anew if the method draws at random, and held to all tolerances of "
    "your policy):"
)
"""Before :func:`follow_up_command`."""

FRONTIER_READING = (
    "The further right, the more is kept; the lower, the fewer are found. Each point is a protection at the goal "
    "beside it, in brackets if the goal was not reached; goals that do not fit are only in the table. Upright lines "
    "are 95% intervals, cut off at the edge; where they overlap, the order may be due to chance. Filled points are "
    "unbeaten: no other is as good in both respects and better in one, going by the upper ends of these intervals. "
    "Axes need not begin at 0."
)
ATTACK_READING = (
    "Each picture shows one number for each goal, a line for each protection, and the number for the release as it is "
    "as a dashed line. Bands are 95% intervals. Axes need not begin at 0."
)
USE_READING = (
    "Each picture shows one number for each goal, a line for each protection, and the number for the release as it is "
    "as a dashed line. Where several releases were made, the line is their mean, and the band reaches one standard "
    "deviation of single releases up and down. Axes need not begin at 0."
)


def headline(weighed: WeighedProtections) -> str:
    """What was weighed."""
    methods, goals = (count_text(len(found), noun) for found, noun in _counts(weighed))
    return f"{safe_text(weighed.release.name)}: {methods} at {goals}"


def _counts(weighed: WeighedProtections) -> tuple[tuple[Sequence[object], str], ...]:
    return (list(weighed.methods), "protection"), (weighed.limits, "goal")


def lead_sentences(weighed: WeighedProtections) -> list[str]:
    """What the numbers are, and what the strictest release of each protection leaves."""
    first = (
        f"Goals are for {weighed.goal}: {_lower_first(weighed.goal_title)}. “Kept” is the share of all connections, "
        f"before or after, that are in both. “Found” stands for: {_lower_first(weighed.risk_title)}. Nothing was "
        "released."
    )
    return [first, *_strictest_sentences(weighed)]


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _strictest_sentences(weighed: WeighedProtections) -> Iterator[str]:
    for method, title in weighed.methods.items():
        made = [p for p in weighed.protections if p.method == method and p.remaining_risk and p.reached]
        if made:
            p = (max if _goal(weighed).safer == "higher" else min)(made, key=lambda p: p.limit)
            first = "" if p.releases == 1 else f", the first of {count_text(p.releases, 'release')}"
            yield f"{title} ({method}) at {limit_text(weighed, p.limit)}{first}: {p.remaining_risk}"


def limit_text(weighed: WeighedProtections, limit: float) -> str:
    """A goal, as the number that is tolerated."""
    return _goal(weighed).limit_text(limit)


def _goal(weighed: WeighedProtections) -> Risk:
    return questions.all_risks()[weighed.goal]


def overview_rows(weighed: WeighedProtections) -> list[tuple[str, ...]]:
    """A row for the release as it is, and one for each protection at each goal; below :data:`HEADINGS`."""
    was = next((m for m in weighed.before if m.id == weighed.risk), None)
    first = ("as it is", "–", "–", "–", number_cell(was), "")
    return [first, *(_overview_row(weighed, p) for p in weighed.protections)]


def _overview_row(weighed: WeighedProtections, p: WeighedProtection) -> tuple[str, ...]:
    goal = limit_text(weighed, p.limit)
    if p.failure:
        return p.method, goal, "no release", "–", "–", ""
    kept = "–" if p.usefulness is None else percent_text(p.usefulness)
    found = "–" if p.harmed is None else range_text(_found(weighed, p), p.harmed, percent_text)
    return p.method, goal, "yes" if p.reached else "no", kept, found, "yes" if p.is_unbeaten else ""


def _found(weighed: WeighedProtections, p: WeighedProtection) -> float:
    found = p.find(weighed.risk)
    return math.inf if found is None else found.mean


def number_cell(measure: RepeatedMeasure | None) -> str:
    """A measure with its variance or its interval; a dash if there is none."""
    if measure is None:
        return "–"
    write = percent_text if measure.is_share else number_text
    if measure.variance is not None:
        return f"{write(measure.mean)} ({_variance_text(measure.variance)})"
    return range_text(measure.mean, measure.interval, write) if measure.interval else write(measure.mean)


def _variance_text(variance: float) -> str:
    """A variance to two digits. What rounding leaves of none is none."""
    return "0" if variance < 1e-20 else f"{variance:.2g}"


def measure_title(measure: RepeatedMeasure) -> str:
    """What a row of numbers is about, with the number before."""
    if measure.before is None:
        return measure.title
    return f"{measure.title} (as it is: {(percent_text if measure.is_share else number_text)(measure.before)})"


def drawn_measures(weighed: WeighedProtections, of_attackers: bool) -> list[RepeatedMeasure]:
    """The measures of what attackers find, or else of use, that some release has and that some protection changes."""
    ids = {m.id for m in weighed.before}
    found = {m.id: m for p in weighed.protections for m in p.measures}
    found.pop(weighed.goal, None)  # which is what was asked for
    return [m for m in found.values() if (m.id in ids) == of_attackers and not _is_unchanged(weighed, m.id)]


def _is_unchanged(weighed: WeighedProtections, measure_id: str) -> bool:
    numbers = [m for p in weighed.protections if (m := p.find(measure_id)) is not None]
    return all(m.before == m.mean and not m.variance for m in numbers)


def unchanged_sentence(weighed: WeighedProtections) -> str:
    """Which measures no protection changes; empty if there are none."""
    titles = dict.fromkeys(m.title for p in weighed.protections for m in p.measures if _is_unchanged(weighed, m.id))
    return f"As before, whatever the protection and the goal: {list_text(titles, 30)}." if titles else ""


def follow_up_command(weighed: WeighedProtections) -> str:
    """The command that writes one of the releases: of those that reach their goal and are unbeaten, one with the
    fewest found. Empty if there is none, or if nothing was typed."""
    best = [p for p in weighed.protections if p.reached and p.is_unbeaten]
    if weighed.typed is None or not best:
        return ""
    p, typed = min(best, key=lambda p: _found(weighed, p)), weighed.typed
    options = [text for texts in typed.options.values() for text in texts]
    file = str(PurePath(typed.file).with_suffix(".gml")) if weighed.release.kind == "graph" else typed.file
    output = shlex.quote(protected_name(file, weighed.release.kind))  # an edge list cannot hold nodes without edges
    kind = [] if typed.file.endswith((".edges", ".gml")) else ["--kind graph"]
    words = ["unveil protect", shlex.quote(typed.file), *kind, *typed.reading, *options]
    return " ".join([*words, f"--goal {weighed.goal}={p.limit:g}", f"--method {p.method}", f"-o {output}"])


def failure_sentences(weighed: WeighedProtections) -> list[str]:
    """Why some protections made no release: a sentence for each reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for p in weighed.protections:
        if p.failure:
            reasons.setdefault((p.method, p.failure), []).append(limit_text(weighed, p.limit))
    return [f"{method} at {list_text(at, 12)}: {why}" for (method, why), at in reasons.items()]


def measure_tables(weighed: WeighedProtections) -> list[tuple[str, list[str], list[list[str]]]]:
    """For each measure a title, headings, and a row for each protection: its numbers at each goal."""
    head = ["Protection", *(limit_text(weighed, limit) for limit in weighed.limits)]
    return [
        (
            measure_title(measure),
            head,
            [
                [method, *(number_cell(weighed.find(method, limit).find(measure.id)) for limit in weighed.limits)]
                for method in weighed.methods
            ],
        )
        for measure in weighed.measures()
    ]
