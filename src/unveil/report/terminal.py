"""An assessment as terminal text: the summary and the findings that decide, on one screen; with details, everything.

Without details the text has at most :data:`MOST_LINES` lines, whatever was assessed: what does not fit is counted, and
the option that shows it is named.

Everything that comes from data passes through :func:`~unveil.wording.safe_text` and becomes a :class:`rich.text.Text`,
which has no markup: a column called ``[red]``, or one full of escape codes, stays a name.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from unveil.assessment import Assessment
from unveil.finding import Curve, Finding
from unveil.report import phrases
from unveil.report.arrangement import (
    GROUP_TITLES,
    attacker_letters,
    count_by_group,
    findings_by_group,
    order_findings,
)
from unveil.report.folding import details_under
from unveil.report.next_steps import next_steps
from unveil.wording import capitalise_text, count_text, list_text, number_text, safe_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

__all__ = ["MOST_LINES", "TEXT_WIDTH", "new_table", "plain_text", "print_assessment", "render_plain"]

MOST_LINES = 60
"""How many lines the text has at most without details."""
TEXT_WIDTH = 100
"""How many characters a line of plain text has."""

_STATUS_STYLES = {"over": "bold red", "within": "green", "open": "yellow", "failed": "yellow"}
_VERDICT_STYLES = {"protect first": "bold red", "your call": "bold yellow", "release": "bold green"}
_BLOCK_CHARACTERS = "▁▂▃▄▅▆▇█"
_MAX_BLOCKS = 60
_MAX_TEXT = 20_000
_FEWEST_ROWS = 5
_MOST_PROTECTION_TEXT = 300  # characters about the chosen protection without details


class _Caps(NamedTuple):
    """How much of the summary is shown: attackers, what was not looked at, and characters of each text."""

    attackers: int
    unexamined: int
    characters: int


_EVERYTHING = _Caps(_MAX_TEXT, _MAX_TEXT, _MAX_TEXT)
_BRIEFER = (_Caps(8, 5, _MAX_TEXT), _Caps(6, 4, 500), _Caps(4, 3, 300), _Caps(3, 2, 200), _Caps(2, 1, 95))


def plain_text(assessment: Assessment, details: bool = False) -> str:
    """The assessment as plain text, 100 characters wide."""
    parts = _detailed_parts(assessment, True) if details else _brief_parts(assessment, TEXT_WIDTH)
    return render_plain(parts)


def render_plain(parts: Iterable[RenderableType], width: int = TEXT_WIDTH) -> str:
    """Parts of a text, one below the other, as plain text."""
    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=width,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,  # a notebook would display what is only to be captured
        legacy_windows=False,
    )
    with console.capture() as capture:
        _print_parts(parts, console)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()).rstrip() + "\n"


def print_assessment(assessment: Assessment, console: Console, details: bool = False) -> None:
    """Print the assessment."""
    can_draw = console.encoding.lower().startswith("utf")
    parts = _detailed_parts(assessment, can_draw) if details else _brief_parts(assessment, console.width)
    _print_parts(parts, console)


def _print_parts(parts: Iterable[RenderableType], console: Console) -> None:
    from rich.text import Text

    for part in parts:
        whole = isinstance(part, Text) and bool(part.no_wrap)
        console.print(part, markup=False, highlight=False, emoji=False, soft_wrap=whole)


def _brief_parts(assessment: Assessment, width: int) -> list[RenderableType]:
    """The summary, and as many findings as fit."""
    findings = order_findings(assessment.findings)
    parts: list[RenderableType] = []
    for caps in _BRIEFER:
        summary = list(_summary_parts(assessment, caps, details=False))
        room = MOST_LINES - _line_count(summary, width)
        rows = _rows_that_fit(assessment, findings, caps, room, width)
        parts = [*summary, *_brief_findings(assessment, findings, rows, caps)]
        if rows >= min(len(findings), _FEWEST_ROWS):
            break
    return parts


def _rows_that_fit(assessment: Assessment, findings: list[Finding], caps: _Caps, room: int, width: int) -> int:
    """How many findings fit into so many lines."""
    low, high = 0, len(findings)
    while low < high:
        rows = (low + high + 1) // 2
        if _line_count(_brief_findings(assessment, findings, rows, caps), width) <= room:
            low = rows
        else:
            high = rows - 1
    return low


def _line_count(parts: Iterable[RenderableType], width: int) -> int:
    """How many lines a terminal of that width shows."""
    lines = render_plain([*parts, _styled_text(".")], width).splitlines()[:-1]
    return sum(max(1, math.ceil(len(line) / width)) for line in lines)


def _detailed_parts(assessment: Assessment, can_draw_blocks: bool) -> Iterator[RenderableType]:
    """The summary and everything that was found."""
    yield from _summary_parts(assessment, _EVERYTHING, details=True)
    for note in assessment.release.notes:
        yield _styled_text(note, "dim")
    if assessment.findings:
        yield _findings_table(assessment, order_findings(assessment.findings), _EVERYTHING)
    yield from _finding_sentences(assessment)
    if can_draw_blocks:
        yield from _spark_line(assessment)
    yield from _exposed_tables(assessment)
    yield from _column_roles(assessment)


def _styled_text(value: object, style: str = "", limit: int = _MAX_TEXT) -> RenderableType:
    from rich.text import Text

    return Text(safe_text(value, limit), style=style)


def _indented_text(value: object, style: str = "", limit: int = _MAX_TEXT, first: str = "") -> RenderableType:
    """Text with an indent; ``first`` hangs before its first line."""
    from rich.table import Table

    if not first:
        from rich.padding import Padding

        return Padding(_styled_text(value, style, limit), (0, 0, 0, 2))
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    line.add_row(_styled_text(f"  {first}"), _styled_text(value, style, limit))
    return line


def _command_text(command: str) -> RenderableType:
    """A command on one line, however long, so that it can be copied."""
    from rich.text import Text

    return Text(f"     {safe_text(command, _MAX_TEXT)}", no_wrap=True)


# ---- the summary -----------------------------------------------------------------------------------------------------


def _summary_parts(assessment: Assessment, caps: _Caps, details: bool) -> Iterator[RenderableType]:
    if phrases.reveals_values(assessment):
        yield _styled_text("This shows values from the data. Treat it like the data itself.", "bold red")
    yield from _verdict_lines(assessment, caps, details)
    yield _styled_text("What to do next", "bold")
    for place, step in enumerate(next_steps(assessment), 1):
        yield _indented_text(step.sentence, limit=caps.characters, first=f"{place}.")
        if step.command:
            yield _command_text(step.command)
    yield _styled_text(phrases.UNEXAMINED_TITLE, "bold")
    unexamined = phrases.unexamined_sentences(assessment)
    for sentence in unexamined[: caps.unexamined]:
        yield _indented_text(sentence, limit=caps.characters, first="-")
    if len(unexamined) > caps.unexamined:
        yield _indented_text(f"{count_text(len(unexamined) - caps.unexamined, 'more point')}.", first="-")
    yield from _attacker_lines(assessment, caps)
    yield from _protections_table(assessment, details)
    yield from _use_table(assessment, details)


def _verdict_lines(assessment: Assessment, caps: _Caps, details: bool) -> Iterator[RenderableType]:
    decision = assessment.verdict.decision
    headline = f"{safe_text(assessment.release.name)}: {phrases.VERDICT_HEADLINES[decision]}"
    yield _styled_text(headline, _VERDICT_STYLES[decision])
    yield _styled_text(phrases.lead_sentence(assessment), limit=2 * caps.characters)
    if harm := phrases.largest_harm_sentence(assessment):
        yield _styled_text(harm, limit=2 * caps.characters)
    reasons = phrases.verdict_reasons(assessment)
    for place, reason in enumerate(reasons if details else reasons[: phrases.MOST_REASONS], 1):
        yield _indented_text(reason.text, limit=caps.characters, first=f"{place}.")
    if not details and (more := phrases.more_reasons_sentence(assessment)):
        yield _indented_text(more)
    yield _styled_text(f"Assessed: {phrases.size_text(assessment)}", "dim")


def _attacker_lines(assessment: Assessment, caps: _Caps) -> Iterator[RenderableType]:
    letters = attacker_letters(assessment)
    yield _styled_text("Who attacks", "bold")
    if not letters:
        yield _indented_text("No attack could be carried out.")
    for sentence, letter in list(letters.items())[: caps.attackers]:
        yield _indented_text(sentence, limit=caps.characters, first=letter)
    if len(letters) > caps.attackers:
        yield _indented_text(f"{count_text(len(letters) - caps.attackers, 'more attacker')}.")


def new_table(*headings: str) -> Table:
    """An empty table with these headings; single words are kept whole."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("Method", "Status", "Risk", "Attacker"))
    return table


def _findings_table(assessment: Assessment, findings: Sequence[Finding], caps: _Caps) -> RenderableType:
    from rich.padding import Padding

    letters = attacker_letters(assessment)
    table = new_table("Finding", "Measured", "Tolerated", "Attacker", "Method", "Status")
    for f in findings:
        status = _styled_text(phrases.status_text(f), _STATUS_STYLES.get(f.status or "", "dim"))
        tolerated = f.tolerance_text if f.tolerance is not None else "-"
        letter = letters.get(f.attacker, "-")
        cells = (phrases.short_title(f), phrases.measured_text(f), tolerated, letter, f.method or "failed")
        table.add_row(*(_styled_text(c, limit=min(200, caps.characters)) for c in cells), status)
    return Padding(table, (1, 0, 0, 0))


def _brief_findings(
    assessment: Assessment, findings: list[Finding], rows: int, caps: _Caps
) -> Iterator[RenderableType]:
    """The first findings as a table, how many of which group are left out, and how to see them."""
    if rows:
        yield _findings_table(assessment, findings[:rows], caps)
    names = {"fails": "that fail", "open": "left open", "within": "within tolerance", "informs": "for information"}
    left = [f"{n:,} {names[group]}" for group, n in count_by_group(findings[rows:]).items()]
    if left:
        yield _styled_text(f"Findings not shown here: {list_text(left)}.")
    yield _styled_text(
        "--details shows everything (in Python: to_text(details=True)), --report FILE writes it as a page.", "dim"
    )


def _protections_table(assessment: Assessment, details: bool) -> Iterator[RenderableType]:
    """The protections that were tried, with risk and usefulness side by side."""
    from rich.padding import Padding

    if not assessment.protections:
        return
    table = new_table("Protection", "Usefulness", "Harmed", "Verdict")
    for p in assessment.protections:
        cells = (p.title, *phrases.protection_cells(p))
        table.add_row(*(_styled_text(c, "bold" if p.chosen else "", limit=300) for c in cells))
    yield Padding(table, (1, 0, 0, 0))
    for p in assessment.protections:
        if details:
            yield _indented_text(f"{p.title}: {p.sentence} {p.comparison}".strip(), first="-")
        elif p.chosen or p.id == "none":
            yield _styled_text(f"{p.title}: {_first_sentences(p.sentence)}")


def _use_table(assessment: Assessment, details: bool) -> Iterator[RenderableType]:
    """What the data can still be used for: before and after each protection, or after the chosen one in a sentence."""
    from rich.padding import Padding

    protections = phrases.measured_protections(assessment)
    if not protections:
        return
    if not details:
        if summary := phrases.use_summary(assessment):
            yield _styled_text(summary)
        return
    table = new_table("Measure", "As it is", *(p.id for p in protections))
    for row in phrases.use_rows(assessment):
        table.add_row(*(_styled_text(text) for text in (row.title, *row.texts)))
    yield Padding(table, (1, 0, 0, 0))
    if note := phrases.use_note(assessment):
        yield _styled_text(f"{capitalise_text(note)}.", "dim")
    for sentence in phrases.use_sentences(assessment):
        yield _indented_text(sentence, first="-")


def _first_sentences(text: str) -> str:
    """As many whole sentences as fit; the first in any case."""
    first, *more = text.split(". ")
    for sentence in more:
        if len(first) + len(sentence) > _MOST_PROTECTION_TEXT:
            return f"{first}."
        first = f"{first}. {sentence}"
    return first


# ---- details ---------------------------------------------------------------------------------------------------------


def _finding_sentences(assessment: Assessment) -> Iterator[RenderableType]:
    """The sentences of the findings, those that fail first."""
    letters = attacker_letters(assessment)
    for group, findings in findings_by_group(assessment.findings).items():
        yield _styled_text("")
        yield _styled_text(GROUP_TITLES[group], "bold")
        for f in findings:
            by = f", attacker {letters[f.attacker]}" if f.attacker else ""
            guess = "" if f.baseline is None else f" {phrases.baseline_label(f)}: {f.text_in_unit(f.baseline)}."
            yield _indented_text(f"{phrases.short_title(f)}{by}: {f.sentence}{guess}", first="-")
            if details := details_under(f, assessment.findings):
                measures = "; ".join(f"{phrases.short_title(d)} {phrases.measured_text(d)}" for d in details)
                yield _indented_text(f"In detail: {measures}.", "dim", first=" ")
    yield _styled_text("")


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
        table = new_table("Subject", "Risk", "Because", *extra)
        for subjects, e in phrases.group_exposed(f.exposed):
            values = "; ".join(f"{safe_text(k)}: {safe_text(v)}" for k, v in (e.values or {}).items())
            cells = [subjects, phrases.risk_text(e, f), e.because]
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
