"""Protections that were weighed against each other, as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unveil.report import weighed_words as words
from unveil.report.terminal import new_table, render_plain
from unveil.weighed_protections import WeighedProtections
from unveil.wording import safe_text

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["weighed_text"]

_MAX_TEXT = 2_000


def weighed_text(weighed: WeighedProtections, details: bool) -> str:
    """A line for each protection and goal; with details, all measures."""
    return render_plain(_parts(weighed, details))


def _parts(weighed: WeighedProtections, details: bool) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    def text(said: str, no_wrap: bool = False) -> Text:
        return Text(safe_text(said, _MAX_TEXT), no_wrap=no_wrap)

    yield text(words.headline(weighed))
    for sentence in words.lead_sentences(weighed):
        yield text(sentence)
    table = new_table(*words.HEADINGS)
    for row in words.overview_rows(weighed):
        table.add_row(*map(text, row))
    yield Padding(table, (1, 0, 1, 0))
    for sentence in (*words.failure_sentences(weighed), *weighed.not_measured):
        yield text(sentence)
    if details:
        yield text(words.MEASURE_NOTE)
        for title, head, rows in words.measure_tables(weighed):
            yield Padding(text(title), (1, 0, 0, 0))
            table = new_table(*head)
            for cells in rows:
                table.add_row(*map(text, cells))
            yield table
    else:
        yield text("--details shows all measures (in Python: to_text(details=True)), --report FILE draws them.")
    if command := words.follow_up_command(weighed):
        yield text(words.COMMAND_INTRODUCTION)
        yield text(f"  {command}", no_wrap=True)
