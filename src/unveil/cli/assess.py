"""``unveil assess``: attack a release and say whether it may be published."""

from __future__ import annotations

from typing import Any

import click

from unveil.cli.options import policy_from, policy_options, reading_options, release_from
from unveil.cli.output import check_targets, deliver, output_options, rendered
from unveil.cli.telling import note, progress
from unveil.wording import shown

__all__ = ["command"]

_EPILOG = """\b
Exit code: 0 release, 1 protect first, 3 your call, 2 bad usage or bad data, 130 interrupted.

\b
Examples:
  unveil assess patients.csv --quasi age,zip,sex --sensitive diagnosis --report report.html
  unveil assess baskets.dat --tolerance items.point_knowledge=0.2 --format json -o baskets.json
"""


@click.command("assess", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@policy_options
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
    check_targets([output, report], [file, given["policy_file"]])
    policy = policy_from(given, tell)
    with progress(f"reading {shown(file)}", quiet) as told:
        release = release_from(file, given)
        assessment = assess(release, policy, reveal=reveal, exposed=exposed, progress=told)
        told("writing", None)
        text = rendered(assessment, form, to_file=output is not None)
        page = assessment.to_html() if report else ""
    for said in release.notes:
        tell(f"{shown(release.name)}: {said}")
    deliver(text, page, output, report, tell)
    return 0 if exit_zero else assessment.verdict.exit_code
