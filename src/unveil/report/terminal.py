"""An assessment as terminal text: the verdict, then the findings, then the column roles that still need checking.

Everything that comes from data passes through :func:`~unveil.wording.safe_text` and becomes a :class:`rich.text.Text`,
which has no markup: a column called ``[red]``, or one full of escape codes, stays a name.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from unveil.assessment import Assessment
from unveil.finding import Curve, Finding
from unveil.report import phrases
from unveil.report.folding import details_under, main_findings
from unveil.wording import list_text, number_text, safe_text, unit_noun

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

__all__ = ["plain_text", "print_assessment"]

_STATUS_STYLES = {"over": "bold red", "within": "green", "open": "yellow", "failed": "yellow"}
_VERDICT_STYLES = {"protect first": "bold red", "your call": "bold yellow", "release": "bold green"}
_BLOCK_CHARACTERS = "▁▂▃▄▅▆▇█"
_TEXT_WIDTH = 100
_MAX_BLOCKS = 60
_MAX_TEXT = 20_000


def plain_text(assessment: Assessment) -> str:
    """The assessment as plain text, 100 characters wide."""
    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=_TEXT_WIDTH,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,  # a notebook would display what is only to be captured
        legacy_windows=False,
    )
    with console.capture() as capture:
        print_assessment(assessment, console)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()).rstrip() + "\n"


def print_assessment(assessment: Assessment, console: Console) -> None:
    """Print the assessment."""
    for part in _render_parts(assessment, console):
        console.print(part, markup=False, highlight=False, emoji=False)
    if assessment.suggestion:
        console.print()
        _print_line(console, "Some roles are guesses. Correct any that are wrong, then pass them explicitly:", "bold")
        _print_line(console, assessment.suggestion, soft_wrap=True)


def _render_parts(assessment: Assessment, console: Console) -> Iterator[RenderableType]:
    if phrases.reveals_values(assessment):
        yield _styled_text("This shows values from the data. Treat it like the data itself.", "bold red")
    yield from _verdict_lines(assessment)
    yield from _protections_table(assessment)
    if assessment.findings:
        yield _findings_table(assessment)
    yield from _finding_sentences(assessment)
    if _can_draw_blocks(console):
        yield from _spark_line(assessment)
    yield from _exposed_tables(assessment)
    yield from _column_roles(assessment)


def _print_line(console: Console, text: str, style: str = "", soft_wrap: bool = False) -> None:
    console.print(_styled_text(text, style), markup=False, highlight=False, emoji=False, soft_wrap=soft_wrap)


def _styled_text(value: object, style: str = "", limit: int = _MAX_TEXT) -> RenderableType:
    from rich.text import Text

    return Text(safe_text(value, limit), style=style)


def _indented_text(value: object, style: str = "") -> RenderableType:
    from rich.padding import Padding

    return Padding(_styled_text(value, style), (0, 0, 0, 2))


def _verdict_lines(assessment: Assessment) -> Iterator[RenderableType]:
    verdict, decided = assessment.verdict, assessment.deciding_finding
    yield _styled_text(
        f"{safe_text(assessment.release.name)}: {phrases.VERDICT_HEADLINES[verdict.decision]}",
        _VERDICT_STYLES[verdict.decision],
    )
    if off := phrases.checks_off_sentence(assessment):
        yield _styled_text(off, "bold")
    yield _styled_text(phrases.lead_sentence(assessment))
    if decided:
        tolerated = f", must be {decided.tolerance_text}" if decided.tolerance is not None else ""
        yield _styled_text(
            f"{phrases.DECIDED_BY[verdict.decision]} {decided.title}: {_measured_text(decided)}{tolerated}."
        )
    others = phrases.other_reasons(assessment)
    if others and verdict.decision == "protect first":
        yield _styled_text("These fail as well:")
    for reason in others:
        yield _indented_text(f"- {reason}")
    if phrases.lead_sentence(assessment) != phrases.verdict_meaning(assessment):
        yield _styled_text(phrases.verdict_meaning(assessment))
    sizes = ", ".join(f"{n:,} {unit_noun(f'{n:,}', safe_text(key))}" for key, n in assessment.release.size.items())
    yield _styled_text(f"Assessed: {safe_text(assessment.release.kind)}, {sizes}", "dim")
    for note in assessment.release.notes:
        yield _styled_text(note, "dim")
    if assessment.not_asked:
        yield _styled_text(phrases.not_asked_sentence(assessment), "dim")


def _measured_text(finding: Finding) -> str:
    return f"{finding.value_text} {safe_text(finding.unit_text)}" if phrases.shows_unit(finding) else finding.value_text


def _new_table(*headings: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("Method", "Status", "Risk"))
    return table


def _findings_table(assessment: Assessment) -> RenderableType:
    from rich.padding import Padding

    table = _new_table("Finding", "Measured", "Tolerated", "Method", "Status")
    for f in main_findings(assessment.findings):
        status = _styled_text(phrases.status_text(f), _STATUS_STYLES.get(f.status or "", "dim"))
        cells = (f.title, _measured_text(f), f.tolerance_text, f.method or "failed")
        table.add_row(*(_styled_text(c, limit=200) for c in cells), status)
    return Padding(table, (1, 0))


def _protections_table(assessment: Assessment) -> Iterator[RenderableType]:
    """The protections that were tried, with risk and usefulness side by side."""
    from rich.padding import Padding

    if not assessment.protections:
        return
    table = _new_table("Protection", "Usefulness", "Harmed", "Verdict", "What it does")
    for p in assessment.protections:
        cells = (p.title, *phrases.protection_cells(p), p.sentence)
        table.add_row(*(_styled_text(c, "bold" if p.chosen else "", limit=300) for c in cells))
    yield Padding(table, (1, 0, 0, 0))


def _finding_sentences(assessment: Assessment) -> Iterator[RenderableType]:
    """The sentences of the findings by question; each attacker is described once."""
    for question, findings in phrases.findings_by_question(main_findings(assessment.findings)).items():
        yield _styled_text(phrases.question_title(question), "bold")
        attacker = ""
        for f in findings:
            if f.attacker and f.attacker != attacker:
                attacker = f.attacker
                yield _indented_text(f"Attacker: {attacker}", "dim")
            guess = "" if f.baseline is None else f" Guessing alone: {f.text_in_unit(f.baseline)}."
            yield _indented_text(f"- {f.sentence}{guess}")
            if details := details_under(f, assessment.findings):
                measures = "; ".join(f"{d.title} {_measured_text(d)}" for d in details)
                yield _indented_text(f"  In detail: {measures}.", "dim")
    yield _styled_text("")


def _can_draw_blocks(console: Console) -> bool:
    return console.encoding.lower().startswith("utf")


def _spark_line(assessment: Assessment) -> Iterator[RenderableType]:
    """The first curve of the deciding finding, else of any finding, drawn as one line of blocks.

    A curve with several series shows the first.
    """
    decided = assessment.deciding_finding
    ordered = [*([decided] if decided else []), *assessment.findings]
    curve = next((c for f in ordered for c in f.curves if isinstance(c, Curve) and c.y), None)
    if curve is None:
        return
    yield _styled_text(curve.title, "bold")
    line = "" if curve.series is None else f"; line: {safe_text(curve.series[0])}"
    curve = _first_series(curve)
    ends = " to ".join(dict.fromkeys((_axis_end_text(curve, 0), _axis_end_text(curve, -1))))
    yield _indented_text(f"{_draw_blocks(curve.y)}  {ends}: {curve.x_label}{line}")
    yield _styled_text("")


def _first_series(curve: Curve) -> Curve:
    if curve.series is None:
        return curve
    n = curve.series.count(curve.series[0])
    return replace(curve, x=curve.x[:n], y=curve.y[:n], low=None, high=None, series=None)


def _axis_end_text(curve: Curve, at: int) -> str:
    x = curve.x[at]
    return safe_text(x) if isinstance(x, str) else number_text(x)


def _draw_blocks(values: Sequence[float]) -> str:
    """One block per value, its height relative to the largest value; a dot for 0."""
    step = math.ceil(len(values) / _MAX_BLOCKS)
    tallest = [max(values[i : i + step]) for i in range(0, len(values), step)]
    top = max(tallest)
    return "".join(
        _BLOCK_CHARACTERS[math.ceil(v / top * len(_BLOCK_CHARACTERS)) - 1] if v > 0 else "·" for v in tallest
    )


def _exposed_tables(assessment: Assessment) -> Iterator[RenderableType]:
    from rich.padding import Padding

    for f in assessment.findings:
        if not f.exposed:
            continue
        learned, revealed = any(e.learns for e in f.exposed), any(e.values for e in f.exposed)
        extra = ["Would learn"] * learned + ["Values"] * revealed
        table = _new_table("Subject", "Risk", "Because", *extra)
        for subjects, e in phrases.group_exposed(f.exposed):
            values = "; ".join(f"{safe_text(k)}: {safe_text(v)}" for k, v in (e.values or {}).items())
            cells = [subjects, phrases.risk_text(e.risk), e.because]
            cells += [list_text(e.learns)] * learned + [values] * revealed
            table.add_row(*(_styled_text(c, limit=300) for c in cells))
        yield _styled_text(f"Most exposed: {f.title}", "bold")
        yield Padding(table, (0, 0, 1, 2))


def _column_roles(assessment: Assessment) -> Iterator[RenderableType]:
    if not assessment.columns:
        return
    yield _styled_text("Columns", "bold")
    ranked = sorted(assessment.columns, key=lambda c: (list(phrases.ROLE_MEANINGS).index(c.role), c.origin))
    for (role, origin), group in groupby(ranked, key=lambda c: (c.role, c.origin)):
        names = list_text((c.name for c in group), limit=12)
        yield _indented_text(f"{phrases.ROLE_NAMES[role]} ({phrases.ORIGIN_NAMES[origin]}): {names}")
