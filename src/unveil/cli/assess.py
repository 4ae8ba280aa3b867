"""``unveil assess``: attack a release and say whether it may be published."""

from __future__ import annotations

from typing import Any

import click

from unveil.cli.options import case_from, holding_options, policy_from, policy_options, reading_options, sources_from
from unveil.cli.output import check_targets, deliver, output_options, rendered
from unveil.cli.telling import note, progress
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
def command(
    file: str,
    form: str,
    output: str | None,
    report: str | None,
    exposed: int,
    reveal: bool,
    exit_zero: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Attack FILE as an attacker would and say whether it may be released.

    FILE is a table (CSV, TSV, Parquet, Arrow), baskets of items (.dat, JSON lines, basket,item CSV) or a graph (edge
    list, GML, GraphML, Matrix Market). Without roles for the columns of a table, they are guessed, and the verdict
    is never "release".
    """
    from unveil.assess import assess

    tell = note(quiet)
    check_targets([output, report], sources_from(file, given))
    policy = policy_from(given, tell)
    with progress(f"reading {shown(file)}", quiet) as told:
        case = case_from(file, given)
        assessment = assess(case, policy, reveal=reveal, exposed=exposed, progress=told)
        told("writing", None)
        text = rendered(assessment, form, to_file=output is not None)
        page = assessment.to_html() if report else ""
    for held in (case.release, *case.holds.values()):
        for said in held.notes:
            tell(f"{shown(held.name)}: {said}")
    deliver(text, page, output, report, tell)
    return 0 if exit_zero else assessment.verdict.exit_code
