"""A comparison of two assessments as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unveil.comparison import ComparedFinding, Comparison
from unveil.finding import Finding
from unveil.report import phrases
from unveil.report.markdown import escape_markdown, markdown_table
from unveil.report.terminal import new_table, render_plain
from unveil.wording import list_text, safe_text

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["comparison_markdown", "comparison_text"]

_HEADINGS = ("Finding", "Before", "After", "Tolerated", "Change")
_CHANGE_ORDER = ("worse", "better", "not distinguishable", "unchanged", "not comparable", "only after", "only before")


def comparison_text(comparison: Comparison) -> str:
    """Both verdicts, what differs beside the data, and every finding before and after."""
    return render_plain(_text_parts(comparison))


def comparison_markdown(comparison: Comparison) -> str:
    """Both verdicts, what differs beside the data, and every finding before and after."""
    lines = [f"## {escape_markdown(_headline(comparison))}", "", escape_markdown(_tally(comparison))]
    lines += ["", *(f"- {escape_markdown(caveat)}" for caveat in comparison.caveats)] if comparison.caveats else []
    if comparison.findings:
        lines += ["", *markdown_table(_HEADINGS, map(_cells, _ordered(comparison)))]
    return "\n".join(lines) + "\n"


def _text_parts(comparison: Comparison) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    yield Text(safe_text(_headline(comparison), 300))
    yield Text(_tally(comparison))
    for caveat in comparison.caveats:
        yield Text(safe_text(f"Note: {caveat}", 1_000))
    table = new_table(*_HEADINGS)
    for compared in _ordered(comparison):
        table.add_row(*(Text(safe_text(cell, 200)) for cell in _cells(compared)))
    if comparison.findings:
        yield Padding(table, (1, 0, 0, 0))


def _headline(comparison: Comparison) -> str:
    before, after = comparison.before, comparison.after
    names = list(dict.fromkeys(safe_text(a.release.name) for a in (before, after)))
    was, now = before.verdict.decision, after.verdict.decision
    verdict = f"{now}, as before" if was == now else f"{was} before, {now} after"
    return f"{' and '.join(names)}: {verdict}"


def _tally(comparison: Comparison) -> str:
    """How many findings changed in which way."""
    counts = {change: sum(c.change == change for c in comparison.findings) for change in _CHANGE_ORDER}
    return f"Findings: {list_text([f'{n:,} {change}' for change, n in counts.items() if n]) or 'none'}."


def _ordered(comparison: Comparison) -> Sequence[ComparedFinding]:
    """What decides first, and among that what became worse."""
    return sorted(comparison.findings, key=lambda c: (not c.finding.decides, _CHANGE_ORDER.index(c.change)))


def _cells(compared: ComparedFinding) -> tuple[str, ...]:
    before, after = (_side_text(f) for f in (compared.before, compared.after))
    return compared.finding.title, before, after, _tolerance_text(compared), compared.change


def _side_text(finding: Finding | None) -> str:
    if finding is None:
        return "–"
    status = f", {phrases.status_text(finding)}" if finding.tolerance is not None or finding.value is None else ""
    return f"{phrases.measured_text(finding)}{status}" if finding.value is not None else phrases.status_text(finding)


def _tolerance_text(compared: ComparedFinding) -> str:
    sides = [f for f in (compared.before, compared.after) if f is not None]
    texts = dict.fromkeys("–" if f.tolerance is None else f.tolerance_text for f in sides)
    return ", then ".join(texts)
