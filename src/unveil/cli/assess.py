"""``unveil assess``: attack a release and say whether it may be published."""

from __future__ import annotations

from typing import Any

import click

from unveil.cli.holdings import files_read, holding_options, read_case
from unveil.cli.messages import note_printer
from unveil.cli.output import EXIT_CODES, assess_and_deliver, check_output_files, output_options
from unveil.cli.policy import make_policy, policy_options
from unveil.cli.reading import reading_options

__all__ = ["command"]

_EPILOG = f"""\b
{EXIT_CODES}

\b
Examples:
  unveil assess patients.csv --quasi age,zip,sex --sensitive diagnosis --report report.html
  unveil assess patients.csv --quasi age,zip,sex --only classes
  unveil assess - --quasi age,zip,sex < patients.csv
  unveil assess baskets.dat --tolerance items.expected_cracks=20% --similar competitor.dat
"""


@click.command("assess", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.option(
    "--only",
    metavar="QUESTIONS",
    help="Ask only these questions, comma-separated, such as classes, or classes.k for one finding. Checks that are "
    'left out keep the verdict from being "release".',
)
@policy_options()
@holding_options()
@reading_options
@output_options
def command(file: str, only: str | None, **given: Any) -> int:
    """Attack FILE as an attacker would and say whether it may be released.

    FILE is a table (CSV, TSV, Parquet, Arrow, Excel, SPSS, Stata, SAS), baskets of items (.dat, JSON lines,
    basket,item CSV) or a graph (edge list, GML, GraphML, Matrix Market); - is standard input. Without roles for the
    columns of a table, they are guessed, and the verdict is never "release".
    """
    policy = make_policy(given, note_printer(given["quiet"]))
    check_output_files([given["output"], given["report"]], files_read(file, given, policy))
    names = None if only is None else [name.strip() for name in only.split(",")]
    return assess_and_deliver(lambda: read_case(file, given), policy, file, given, only=names)
