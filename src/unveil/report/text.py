"""An assessment becomes terminal text: the verdict first, then what was measured, last what is still to be settled.

Everything that comes from data passes through :func:`~unveil.wording.shown` and is set as
:class:`rich.text.Text`, which knows no markup: a column called ``[red]`` or one full of escape codes stays a name.
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
from unveil.report import words
from unveil.wording import listed, number, shown

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

__all__ = ["plain", "show"]

_STYLES = {"over": "bold red", "within": "green", "open": "yellow", "failed": "yellow"}
_VERDICTS = {"protect first": "bold red", "your call": "bold yellow", "release": "bold green"}
_BLOCKS = "▁▂▃▄▅▆▇█"
_WIDTH = 100
_SPARKS = 60
_LONGEST = 20_000


def plain(assessment: Assessment) -> str:
    """The assessment as plain text, 100 characters wide."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        show(assessment, console)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()).rstrip() + "\n"


def show(assessment: Assessment, console: Console) -> None:
    """Print the assessment."""
    for part in _parts(assessment, console):
        console.print(part, markup=False, highlight=False, emoji=False)
    if assessment.suggestion:
        console.print()
        _say(console, "Make these guesses yours (correct them where they are wrong):", "bold")
        _say(console, assessment.suggestion, soft_wrap=True)


def _parts(assessment: Assessment, console: Console) -> Iterator[RenderableType]:
    if words.reveals(assessment):
        yield _text("This shows values from the data. Treat it like the data itself.", "bold red")
    yield from _verdict(assessment)
    yield from _protections(assessment)
    if assessment.findings:
        yield _findings(assessment)
    yield from _sentences(assessment)
    if _draws(console):
        yield from _spark(assessment)
    yield from _exposed(assessment)
    yield from _columns(assessment)


def _say(console: Console, text: str, style: str = "", soft_wrap: bool = False) -> None:
    console.print(_text(text, style), markup=False, highlight=False, emoji=False, soft_wrap=soft_wrap)


def _text(value: object, style: str = "", limit: int = _LONGEST) -> RenderableType:
    from rich.text import Text

    return Text(shown(value, limit), style=style)


def _indented(value: object, style: str = "") -> RenderableType:
    from rich.padding import Padding

    return Padding(_text(value, style), (0, 0, 0, 2))


def _verdict(assessment: Assessment) -> Iterator[RenderableType]:
    verdict, decided = assessment.verdict, assessment.decided_by
    yield _text(f"{shown(assessment.release.name)}: {words.HEADLINES[verdict.decision]}", _VERDICTS[verdict.decision])
    yield _text(words.lead(assessment))
    if decided:
        tolerated = f", tolerated {decided.tolerance_text}" if decided.tolerance is not None else ""
        yield _text(f"{words.DECIDED[verdict.decision]} {decided.title}: {_measured(decided)}{tolerated}.")
    others = words.other_reasons(assessment)
    if others and verdict.decision == "protect first":
        yield _text("Also beyond what is tolerated:")
    for reason in others:
        yield _indented(f"- {reason}")
    if words.lead(assessment) != words.MEANINGS[verdict.decision]:
        yield _text(words.MEANINGS[verdict.decision])
    sizes = ", ".join(f"{count:,} {shown(key)}" for key, count in assessment.release.size.items())
    yield _text(f"Assessed: {shown(assessment.release.kind)}, {sizes}", "dim")
    for note in assessment.release.notes:
        yield _text(note, "dim")


def _measured(finding: Finding) -> str:
    return f"{finding.value_text} {shown(words.unit_text(finding))}" if words.has_unit(finding) else finding.value_text


def _table(*headings: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("Method", "Status", "Risk"))
    return table


def _findings(assessment: Assessment) -> RenderableType:
    from rich.padding import Padding

    table = _table("Finding", "Measured", "Tolerated", "Method", "Status")
    for f in assessment.findings:
        status = _text(words.status_text(f), _STYLES.get(f.status or "", "dim"))
        cells = (f.title, _measured(f), f.tolerance_text, f.method or "failed")
        table.add_row(*(_text(c, limit=200) for c in cells), status)
    return Padding(table, (1, 0))


def _protections(assessment: Assessment) -> Iterator[RenderableType]:
    """What was tried to make the release safer: risk and usefulness side by side."""
    from rich.padding import Padding

    if not assessment.protections:
        return
    table = _table("Protection", "Useful", "Harmed", "Verdict", "What it does")
    for p in assessment.protections:
        cells = (p.title, *words.weighed(p), p.sentence)
        table.add_row(*(_text(c, "bold" if p.chosen else "", limit=300) for c in cells))
    yield Padding(table, (1, 0, 0, 0))


def _sentences(assessment: Assessment) -> Iterator[RenderableType]:
    """The sentences by question, each attacker named once."""
    for question, findings in words.grouped(assessment.findings).items():
        yield _text(words.question_title(question), "bold")
        attacker = ""
        for f in findings:
            if f.attacker and f.attacker != attacker:
                attacker = f.attacker
                yield _indented(f"Attacker: {attacker}", "dim")
            guess = "" if f.baseline is None else f" Guessing alone: {f.in_unit(f.baseline)}."
            yield _indented(f"- {f.sentence}{guess}")
    yield _text("")


def _draws(console: Console) -> bool:
    return console.encoding.lower().startswith("utf")


def _spark(assessment: Assessment) -> Iterator[RenderableType]:
    """The first curve of the deciding finding, or of any, as one line of blocks; of several lines the first."""
    decided = assessment.decided_by
    ordered = [*([decided] if decided else []), *assessment.findings]
    curve = next((c for f in ordered for c in f.curves if isinstance(c, Curve) and c.y), None)
    if curve is None:
        return
    yield _text(curve.title, "bold")
    line = "" if curve.series is None else f"; line: {shown(curve.series[0])}"
    curve = _first_line(curve)
    ends = " to ".join(dict.fromkeys((_end(curve, 0), _end(curve, -1))))
    yield _indented(f"{_blocks(curve.y)}  {ends}: {curve.x_label}{line}")
    yield _text("")


def _first_line(curve: Curve) -> Curve:
    if curve.series is None:
        return curve
    n = curve.series.count(curve.series[0])
    return replace(curve, x=curve.x[:n], y=curve.y[:n], low=None, high=None, series=None)


def _end(curve: Curve, at: int) -> str:
    x = curve.x[at]
    return shown(x) if isinstance(x, str) else number(x)


def _blocks(values: Sequence[float]) -> str:
    """One block per value, as tall as its part of the largest; a dot where there is nothing."""
    step = math.ceil(len(values) / _SPARKS)
    tallest = [max(values[i : i + step]) for i in range(0, len(values), step)]
    top = max(tallest)
    return "".join(_BLOCKS[math.ceil(v / top * len(_BLOCKS)) - 1] if v > 0 else "·" for v in tallest)


def _exposed(assessment: Assessment) -> Iterator[RenderableType]:
    from rich.padding import Padding

    for f in assessment.findings:
        if not f.exposed:
            continue
        learned, revealed = any(e.learns for e in f.exposed), any(e.values for e in f.exposed)
        extra = ["Would learn"] * learned + ["Values"] * revealed
        table = _table("Subject", "Risk", "Because", *extra)
        for subjects, e in words.alike(f.exposed):
            values = "; ".join(f"{shown(k)}: {shown(v)}" for k, v in (e.values or {}).items())
            cells = [subjects, words.risk_text(e.risk), e.because]
            cells += [listed(e.learns)] * learned + [values] * revealed
            table.add_row(*(_text(c, limit=300) for c in cells))
        yield _text(f"Most exposed: {f.title}", "bold")
        yield Padding(table, (0, 0, 1, 2))


def _columns(assessment: Assessment) -> Iterator[RenderableType]:
    if not assessment.columns:
        return
    yield _text("Columns", "bold")
    ranked = sorted(assessment.columns, key=lambda c: (list(words.ROLES).index(c.role), c.origin))
    for (role, origin), group in groupby(ranked, key=lambda c: (c.role, c.origin)):
        names = listed((c.name for c in group), limit=12)
        yield _indented(f"{words.ROLE_NAMES[role]} ({words.ORIGINS[origin]}): {names}")
