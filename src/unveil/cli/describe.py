"""``unveil describe``: what was read."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.messages import progress_bar, quiet_option
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
  unveil describe friends.edges --directed --format json
"""


@click.command("describe", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@reading_options
@click.option("--missing", multiple=True, metavar="TEXT", help="Text that stands for a missing value. Repeatable.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@quiet_option
def command(file: str, missing: tuple[str, ...], form: str, quiet: bool, **given: Any) -> None:
    """Say what FILE holds: kind, size, columns with suggested roles, missing values. Shows no values."""
    with progress_bar(reading_text(file), quiet):
        release = read_release(file, given)
        facts = _release_facts(release)
        columns = _column_facts(release, missing or Policy().missing) if isinstance(release, Table) else []
    if form == "json":
        said = {"kind": release.kind, "name": release.name, **facts, "notes": list(release.notes)}
        click.echo(json.dumps(said | ({"columns": columns} if columns else {}), indent=2))
        return
    from rich.console import Console

    _print_description(release, facts, columns, Console(file=sys.stdout, width=None if sys.stdout.isatty() else 100))


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
