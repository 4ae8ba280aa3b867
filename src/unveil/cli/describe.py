"""``unveil describe``: what was read."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.options import reading_options, release_from
from unveil.cli.telling import progress
from unveil.policy import Policy
from unveil.release import Graph, Release, Table, Transactions
from unveil.wording import number, percent, shown

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
@click.option("--missing", multiple=True, metavar="TEXT", help='Text that stands for "missing"; repeatable.')
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--quiet", is_flag=True, help="Say nothing on standard error but errors.")
def command(file: str, missing: tuple[str, ...], form: str, quiet: bool, **given: Any) -> None:
    """Say what FILE holds: kind, size, columns with suggested roles, missing values. Shows no values."""
    with progress(f"reading {shown(file)}", quiet):
        release = release_from(file, given)
        facts = _facts(release)
        columns = _columns(release, missing or Policy().missing) if isinstance(release, Table) else []
    if form == "json":
        said = {"kind": release.kind, "name": release.name, **facts, "notes": list(release.notes)}
        click.echo(json.dumps(said | ({"columns": columns} if columns else {}), indent=2))
        return
    from rich.console import Console

    _print(release, facts, columns, Console(file=sys.stdout, width=None if sys.stdout.isatty() else 100))


def _facts(release: Release) -> dict[str, float | bool]:
    """Sizes and a few statistics."""
    facts: dict[str, float | bool] = dict(release.size)
    if isinstance(release, Transactions):
        facts["items per basket"] = len(release.items) / release.baskets
        facts |= _frequencies(release)
    if isinstance(release, Graph):
        facts["directed"] = release.directed
        facts["largest degree"] = int(release.degrees.max())
        facts["nodes without edges"] = (
            int((release.degrees == 0).sum())
            if not release.directed
            else int(((release.degrees == 0) & (release.in_degrees == 0)).sum())
        )
    return facts


def _frequencies(release: Transactions) -> dict[str, float]:
    """Frequency groups and the gaps between them, as shares of the baskets (Figure 10 of Lakshmanan and others)."""
    from unveil.items.groups import Groups

    groups = Groups.of(release.counts)
    facts: dict[str, float] = {"frequency groups": len(groups.values), "groups of a single item": groups.singletons}
    if len(groups.gaps):
        gaps = {"smallest": groups.gaps.min(), "median": groups.median_gap, "mean": groups.mean_gap}
        gaps["largest"] = groups.gaps.max()
        facts |= {f"{name} gap": float(gap) / release.baskets for name, gap in gaps.items()}
    return facts


def _columns(table: Table, missing: tuple[str, ...]) -> list[dict[str, Any]]:
    from unveil.release.profile import profile
    from unveil.release.roles import suggest

    roles = suggest(table, missing)
    return [
        {
            "name": p.name,
            "type": p.type,
            "distinct": p.distinct,
            "missing": p.missing,
            "suggested_role": roles[name].role,
            "why": roles[name].why,
        }
        for name, p in profile(table, missing).items()
    ]


def _print(release: Release, facts: dict[str, Any], columns: list[dict[str, Any]], console: Console) -> None:
    from rich.table import Table as Grid
    from rich.text import Text

    console.print(Text(f"{shown(release.name)}: {release.kind}", style="bold"))
    for name, value in facts.items():
        console.print(
            f"  {name}: {('no', 'yes')[value] if isinstance(value, bool) else number(value)}", highlight=False
        )
    for said in release.notes:
        console.print(Text(f"  note: {said}"))
    if not columns:
        return
    grid = Grid("column", "type", "different values", "missing", "role (guess)", "because")
    for c in columns:
        gone = f"{c['missing']:,} ({percent(c['missing'] / facts['rows'])})" if c["missing"] else "–"
        cells = (shown(c["name"]), c["type"], f"{c['distinct']:,}", gone, c["suggested_role"], c["why"])
        grid.add_row(*(Text(cell) for cell in cells))
    console.print(grid)
