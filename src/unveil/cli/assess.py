"""``unveil assess``: attack a release and say whether it may be published."""

from __future__ import annotations

from typing import Any

import click

from unveil.cli.options import case_from, holding_options, policy_from, policy_options, reading_options, sources_from
from unveil.cli.output import assessed, check_targets, output_options
from unveil.cli.telling import note
from unveil.wording import shown

__all__ = ["command"]

_EPILOG = """\b
Exit code: 0 release, 1 protect first, 3 your call, 2 bad usage or bad data, 130 interrupted.

\b
Examples:
  unveil assess patients.csv --quasi age,zip,sex --sensitive diagnosis --report report.html
  unveil assess baskets.dat --tolerance 0.2 --similar competitor.dat --report baskets.html
"""


@click.command("assess", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@policy_options
@holding_options
@click.option("--original", metavar="FILE", help="The baskets that FILE was made from by unveil protect.")
@click.option("--mapping", metavar="FILE", help="What each item of the original became: columns item, pseudonym.")
@reading_options
@output_options
def command(file: str, **given: Any) -> int:
    """Attack FILE as an attacker would and say whether it may be released.

    FILE is a table (CSV, TSV, Parquet, Arrow), baskets of items (.dat, JSON lines, basket,item CSV) or a graph (edge
    list, GML, GraphML, Matrix Market). Without roles for the columns of a table, they are guessed, and the verdict
    is never "release".
    """
    policy = policy_from(given, note(given["quiet"]))
    check_targets([given["output"], given["report"]], sources_from(file, given, policy))
    return assessed(lambda: case_from(file, given), policy, f"reading {shown(file)}", given)
