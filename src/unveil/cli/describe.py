"""``unveil describe``: what was read."""

from __future__ import annotations

import io
import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.output import check_output_files
from unveil.cli.reading import read_release, reading_options, reading_text
from unveil.policy import Policy
from unveil.release import Release, Table
from unveil.wording import number_text, percent_text, safe_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["command"]

_EPILOG = """\b
Examples:
  unveil describe patients.csv
  unveil describe friends.edges --directed --format json -o measures.json
"""


@click.command("describe", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@reading_options
@click.option("--missing", multiple=True, metavar="TEXT", help="Text that stands for a missing value. Repeatable.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the description to FILE instead of standard output.")
@quiet_option
def command(file: str, missing: tuple[str, ...], form: str, output: str | None, quiet: bool, **given: Any) -> None:
    """Say what FILE holds: kind, size, columns with suggested roles, missing values. Shows no values."""
    from unveil.release.delivery import OutputFile, deliver_files

    check_output_files([output], [file])
    with progress_bar(reading_text(file), quiet):
        release = read_release(file, given)
        facts = _release_facts(release)
        columns = _column_facts(release, missing or Policy().missing) if isinstance(release, Table) else []
    text = _to_json(release, facts, columns) if form == "json" else _to_text(release, facts, columns)
    if output:
        deliver_files([OutputFile(output, text.encode())])
        note_printer(quiet)(f"{safe_text(output, 200)} written")
    else:
        click.echo(text, nl=False)


def _to_json(release: Release, facts: dict[str, float | bool], columns: list[dict[str, Any]]) -> str:
    said = {"kind": release.kind, "name": release.name, **facts, "notes": list(release.notes)}
    return json.dumps(said | ({"columns": columns} if columns else {}), indent=2) + "\n"


def _to_text(release: Release, facts: dict[str, float | bool], columns: list[dict[str, Any]]) -> str:
    from rich.console import Console

    written = io.StringIO()
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else 100
    _print_description(release, facts, columns, Console(file=written, width=width, force_terminal=terminal))
    return written.getvalue()


def _release_facts(release: Release) -> dict[str, float | bool]:
    """Sizes and a few statistics."""
    from unveil.questions import questions_about

    facts: dict[str, float | bool] = dict(release.size)
    for question in questions_about(release.kind):
        facts |= question.facts(release)
    return facts


def _column_facts(table: Table, missing: tuple[str, ...]) -> list[dict[str, Any]]:
    from unveil.release.column_profile import profile_columns
    from unveil.release.roles import suggest_roles

    roles = suggest_roles(table, missing)
    return [
        {
            "name": p.name,
            "type": p.type,
            "distinct": p.distinct,
            "missing": p.missing,
            "suggested_role": roles[name].role,
            "why": roles[name].why,
        }
        for name, p in profile_columns(table, missing).items()
    ]


def _print_description(
    release: Release, facts: dict[str, Any], columns: list[dict[str, Any]], console: Console
) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    console.print(Text(f"{safe_text(release.name)}: {release.kind}", style="bold"))
    for name, value in facts.items():
        console.print(
            f"  {name}: {('no', 'yes')[value] if isinstance(value, bool) else number_text(value)}", highlight=False
        )
    for said in release.notes:
        console.print(Text(f"  note: {said}"))
    if not columns:
        return
    grid = Grid("column", "type", "different values", "missing", "role (guess)", "because")
    for c in columns:
        gone = f"{c['missing']:,} ({percent_text(c['missing'] / facts['rows'])})" if c["missing"] else "–"
        cells = (safe_text(c["name"]), c["type"], f"{c['distinct']:,}", gone, c["suggested_role"], c["why"])
        grid.add_row(*(Text(cell) for cell in cells))
    console.print(grid)
