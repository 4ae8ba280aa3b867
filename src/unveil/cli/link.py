"""``unveil link``: who of the people in a file is which row of a release."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from unveil.case import Case
from unveil.cli.options import sources_from, table_from, table_options, table_policy_from
from unveil.cli.output import assessed, check_targets, output_options
from unveil.cli.telling import note
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.release import Table
from unveil.run import Run
from unveil.wording import shown

if TYPE_CHECKING:
    import numpy as np

__all__ = ["command"]

_EPILOG = """\b
Exit code: 0 release, 1 protect first, 3 your call, 2 bad usage or bad data, 130 interrupted.

\b
Examples:
  unveil link release.csv --known voters.csv --columns sex,zip,birth --tolerance birth=30d
  unveil link release.csv --known voters.csv --columns sex,zip,birth --links truth.csv --report links.html
  unveil link release.csv --known voters.csv --columns sex,zip,birth --matches matches.csv
"""


@click.command("link", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.option(
    "--known", required=True, metavar="FILE", help="The people that the attacker knows, with the same columns."
)
@click.option("--columns", metavar="COLUMNS", help="What to compare, comma-separated; all common columns by default.")
@click.option(
    "--links",
    metavar="FILE",
    help="The truth, to measure against: columns known and row, the numbers of rows in the two files, from 1.",
)
@click.option(
    "--matches",
    metavar="FILE",
    help="Write there, as CSV, what the attacker makes of every person: best row, candidates, score, lead, "
    "probability. Never publish it.",
)
@table_options
@output_options
def command(file: str, known: str, columns: str | None, links: str | None, matches: str | None, **given: Any) -> int:
    """Look for the people of a file among the rows of FILE.

    Every person is compared with all rows, rare agreement counting more than common. What is known may be wrong or
    missing; labels such as 476**, 20-29, 1987-06 or * are read as they are written. --tolerance birth=30d lets values
    differ, as --compare birth=30d does.
    """
    near = tuple(text for text in given["tolerance"] if "." not in text.partition("=")[0] and "=" in text)
    said = {
        **given,
        "quasi": (columns,) if columns else given["quasi"],
        "compare": (*given["compare"], *near),  # how far values may be apart is a tolerance, too
        "tolerance": tuple(text for text in given["tolerance"] if text not in near),
    }
    policy = table_policy_from(said, note(given["quiet"]))
    if matches and Path(matches).suffix.lower() != ".csv":
        raise UnveilError(f"{shown(matches, 200)}: matches are written as .csv")
    check_targets([given["output"], given["report"], matches], [*sources_from(file, given, policy), known, links])

    def read() -> Case:
        release, people = (table_from(name, given) for name in (file, known))
        truth = _truth(table_from(links, given), people, release) if links else None
        return Case(release, truth=truth, holds=MappingProxyType({"known": people}))

    return assessed(read, policy, f"reading {shown(file)}", given, (matches, _matches) if matches else None, "linkage")


def _matches(case: Case, policy: Policy, run: Run, file: BinaryIO) -> None:
    import pyarrow.csv as arrow_csv

    from unveil.linkage.ask_link import matches

    arrow_csv.write_csv(matches(case, policy, run), file)


def _truth(links: Table, people: Table, release: Table) -> np.ndarray:
    """Which row of the release each known person is, −1 where none."""
    import numpy as np
    import pyarrow as pa

    name = shown(links.name)
    if not {"known", "row"} <= set(links.columns):
        raise UnveilError(f"{name}: true links have the columns known and row, numbers of rows from 1")
    whole = pa.Table.from_batches(links.batches())
    try:
        who, where = (np.asarray(whole.column(c).cast(pa.int64())) - 1 for c in ("known", "row"))
    except (pa.ArrowException, ValueError):
        raise UnveilError(f"{name}: true links are numbers of rows, from 1") from None
    for numbers, table in ((who, people), (where, release)):
        if len(numbers) and not (0 <= numbers.min() <= numbers.max() < table.rows):
            raise UnveilError(f"{name}: names a row that {shown(table.name)} does not have; it has {table.rows:,}")
    if len(np.unique(who)) < len(who):
        raise UnveilError(f"{name}: links somebody twice; keep one link of each")
    truth = np.full(people.rows, -1)
    truth[who] = where
    return truth
