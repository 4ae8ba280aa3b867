"""An assessment as Markdown, short enough for a comment on a pull request.

Everything that comes from data is escaped: no name can start a heading, a link, an image, markup, a mention of somebody
or a reference to an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from unveil.assessment import Assessment
from unveil.finding import Finding
from unveil.report import phrases
from unveil.report.arrangement import attacker_letters, findings_by_group
from unveil.report.next_steps import next_steps
from unveil.wording import count_text, safe_text

__all__ = ["code_block", "escape_markdown", "markdown_table", "render_markdown"]

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&$]|:(?=[\w+/])|(?<=www)\.)", re.IGNORECASE)
_LINE_START = re.compile(r"^(\d*)([-+=.)])(?!\d)")  # a list, or an underlined heading
_REFERENCE = re.compile(r"(@|\\#)(?=\w)")  # @somebody and #1 would become links
_MAX_TEXT = 2_000


def render_markdown(assessment: Assessment) -> str:
    """The verdict, its reasons, what to do next and the findings as Markdown."""
    return "\n".join(_markdown_lines(assessment)) + "\n"


def escape_markdown(text: object, limit: int = _MAX_TEXT) -> str:
    r"""Text that Markdown shows as it is.

    >>> print(escape_markdown("a|b *c* <b> @ann"))
    a\|b \*c\* \<b\> @<!-- -->ann
    """
    escaped = _LINE_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", safe_text(text, limit).strip()))
    return _REFERENCE.sub(r"\1<!-- -->", escaped)


def code_block(command: str) -> list[str]:
    """A command as a block, whatever backticks it contains."""
    longest = max((len(run) for run in re.findall("`+", command)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}sh", safe_text(command, _MAX_TEXT), fence]


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table; cells are escaped."""
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    return [*lines, *(f"| {' | '.join(escape_markdown(cell, 300) or ' ' for cell in row)} |" for row in rows)]


def _markdown_lines(assessment: Assessment) -> Iterator[str]:
    yield f"## {escape_markdown(assessment.release.name, 60)}: {phrases.VERDICT_HEADLINES[assessment.verdict.decision]}"
    if phrases.reveals_values(assessment):
        yield from ("", "**This comes from an assessment that shows values from the data.**")
    yield from ("", escape_markdown(phrases.lead_sentence(assessment)))
    if harm := phrases.largest_harm_sentence(assessment):
        yield from ("", escape_markdown(harm))
    yield from _reason_lines(assessment)
    yield from ("", "### What to do next", "")
    for place, step in enumerate(next_steps(assessment), 1):
        yield f"{place}. {escape_markdown(step.sentence)}"
        if step.command:
            yield from ("", *(f"   {line}" for line in code_block(step.command)), "")
    yield from ("", f"### {phrases.UNEXAMINED_TITLE}", "")
    yield from (f"- {escape_markdown(sentence)}" for sentence in phrases.unexamined_sentences(assessment))
    letters = attacker_letters(assessment)
    if letters:
        yield from ("", "### Who attacks", "")
        yield from (f"- **{letter}**: {escape_markdown(sentence)}" for sentence, letter in letters.items())
    yield from _finding_lines(assessment)
    yield from ("", f"Assessed: {escape_markdown(phrases.size_text(assessment))}.")


def _reason_lines(assessment: Assessment) -> Iterator[str]:
    reasons = phrases.verdict_reasons(assessment)
    if reasons:
        yield ""
        shown = reasons if assessment.verdict.decision == "your call" else reasons[: phrases.MOST_REASONS]
        yield from (f"{place}. {escape_markdown(reason.text)}" for place, reason in enumerate(shown, 1))
        if len(shown) < len(reasons):
            yield from ("", escape_markdown(phrases.more_reasons_sentence(assessment)))


def _finding_lines(assessment: Assessment) -> Iterator[str]:
    """What decides as a table; what is for information folded away below it."""
    letters = attacker_letters(assessment)
    groups = findings_by_group(assessment.findings)
    headings = ("Finding", "Measured", "Tolerated", "Attacker", "Method", "Status")

    def cells(f: Finding) -> tuple[str, ...]:
        tolerated = "–" if f.tolerance is None else f.tolerance_text
        letter = letters.get(f.attacker, "–")
        measured, status = phrases.measured_text(f), phrases.status_text(f)
        return phrases.short_title(f), measured, tolerated, letter, f.method or "failed", status

    deciding = [f for group, findings in groups.items() if group != "informs" for f in findings]
    if deciding:
        yield from ("", "### Findings", "", *markdown_table(headings, map(cells, deciding)))
    if informing := groups.get("informs"):
        title = count_text(len(informing), "finding for information", "findings for information")
        yield from ("", f"<details><summary>{title}</summary>", "")
        yield from (*markdown_table(headings, map(cells, informing)), "", "</details>")
