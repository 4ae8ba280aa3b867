"""``unveil link``: which of the people in a file is which row of a release."""

from __future__ import annotations

from typing import Any

import click

from unveil.case import Case
from unveil.cli.holdings import files_read, holding_options, read_holdings
from unveil.cli.messages import note_printer
from unveil.cli.output import EXIT_CODES, assess_and_deliver, check_output_files, check_secret_file, output_options
from unveil.cli.policy import make_policy, policy_options, renamed_option
from unveil.cli.reading import read_table, table_reading_options
from unveil.errors import UnveilError

__all__ = ["command"]

_EPILOG = f"""\b
{EXIT_CODES}
The verdict is about the people that are linked and about identifiers in FILE; unveil assess asks everything else.

\b
Examples:
  unveil link release.csv --people voters.csv --quasi sex,zip,birth --compare birth=30d
  unveil link release.csv --people voters.csv --quasi sex,zip,birth --true-links truth.csv --report links.html
  unveil link release.csv --people voters.csv --quasi sex,zip,birth --matches matches.csv
"""


@click.command("link", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@policy_options("linkage", kind="table")
@holding_options("linkage")
@click.option(
    "--matches",
    metavar="FILE",
    help="Write what the attacker makes of every person to FILE, as CSV: best row, candidates, score, lead, "
    "probability. Never publish it.",
)
@table_reading_options
@output_options
@renamed_option("columns", "quasi")
def command(file: str, matches: str | None, **given: Any) -> int:
    """Look for the people in a file (--people) among the rows of FILE.

    Every person is compared with all rows, and rare agreement counts more than common. The columns compared are those
    of --quasi, by default all that the two files share. What is known may be wrong or missing; labels such as 476**,
    20-29, 1987-06 or * are read as they are written.
    """
    if not given["people"]:
        raise UnveilError("name the people to look for: --people FILE")
    from unveil.linkage.risks import MATCHED
    from unveil.release.ask import RISKS_OF_ANY_TABLE

    policy = make_policy(given, note_printer(given["quiet"]))
    check_secret_file(matches)
    check_output_files([given["output"], given["report"], matches], files_read(file, given, policy))

    def read() -> Case:
        return read_holdings(Case(read_table(file, given)), given)

    return assess_and_deliver(
        read,
        policy,
        file,
        given,
        only=[MATCHED.id, *RISKS_OF_ANY_TABLE],
        purpose=MATCHED,
        secret=("matches", matches) if matches else None,
    )
