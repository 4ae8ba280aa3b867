"""``unveil assess``: attack a release and say whether it may be published."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.options import policy_from, policy_options, reading_options, release_from
from unveil.cli.telling import note, progress
from unveil.wording import shown

if TYPE_CHECKING:
    from unveil.assessment import Assessment

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
@click.option("--format", "form", type=click.Choice(["text", "json", "html"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the result there instead of to standard output.")
@click.option("--report", metavar="FILE", help="Also write the HTML report there.")
@click.option("--exposed", type=click.IntRange(min=0), default=10, show_default=True, help="How many subjects to list.")
@click.option("--reveal", is_flag=True, help="Show names and values of exposed subjects. Do not pass that on.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdict.")
@click.option("--quiet", is_flag=True, help="Say nothing on standard error but errors.")
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
    from unveil.release.target import atomic

    tell = note(quiet)
    policy = policy_from(given, tell)
    with progress(f"reading {shown(file)}", quiet) as told:
        release = release_from(file, given)
        assessment = assess(release, policy, reveal=reveal, exposed=exposed, progress=told)
        told("writing", None)
        text = None if form == "text" and output is None else _rendered(assessment, form)
        page = assessment.to_html() if report else None
    for said in release.notes:
        tell(f"{shown(release.name)}: {said}")
    if page is not None and report is not None:
        with atomic(report) as written:
            written.write(page.encode())
        tell(f"report written to {shown(report, 200)}")
    if output is not None and text is not None:
        with atomic(output) as written:
            written.write(text.encode())
    elif text is not None:
        click.echo(text, nl=False)
    else:
        _print(assessment)
    return 0 if exit_zero else assessment.verdict.exit_code


def _rendered(assessment: Assessment, form: str) -> str:
    return {"text": assessment.to_text, "json": assessment.to_json, "html": assessment.to_html}[form]()


def _print(assessment: Assessment) -> None:
    from rich.console import Console

    from unveil.report.text import show

    show(assessment, Console(file=sys.stdout, width=None if sys.stdout.isatty() else 100))
