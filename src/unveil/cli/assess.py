"""``unveil assess``: attack a release and say whether it may be published."""

from __future__ import annotations

import io
import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.options import policy_from, policy_options, reading_options, release_from
from unveil.cli.telling import note, progress
from unveil.errors import UnveilError
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
    _check_targets([output, report], [file, given["policy_file"]])
    policy = policy_from(given, tell)
    with progress(f"reading {shown(file)}", quiet) as told:
        release = release_from(file, given)
        assessment = assess(release, policy, reveal=reveal, exposed=exposed, progress=told)
        told("writing", None)
        text = _rendered(assessment, form, to_file=output is not None)
        page = assessment.to_html() if report else ""
    for said in release.notes:
        tell(f"{shown(release.name)}: {said}")
    with ExitStack() as both:  # either all files appear or none
        if report:
            both.enter_context(atomic(report)).write(page.encode())
        if output:
            both.enter_context(atomic(output)).write(text.encode())
    if report:
        tell(f"report written to {shown(report, 200)}")
    if not output:
        click.echo(text, nl=False)
    return 0 if exit_zero else assessment.verdict.exit_code


def _check_targets(targets: list[str | None], sources: list[str | None]) -> None:
    """Results must not overwrite what they are made from, nor each other."""
    seen = [os.path.realpath(source) for source in sources if source]
    for target in filter(None, targets):
        if os.path.realpath(target) in seen:
            raise UnveilError(f"{shown(target, 200)}: would overwrite the input or another result; name another file")
        if not os.path.isdir(os.path.dirname(os.path.realpath(target))):
            raise UnveilError(f"{shown(target, 200)}: the directory does not exist; nothing was written")
        seen.append(os.path.realpath(target))


def _rendered(assessment: Assessment, form: str, to_file: bool) -> str:
    if form == "json":
        return assessment.to_json()
    if form == "html":
        return assessment.to_html()
    return assessment.to_text() if to_file or not sys.stdout.isatty() else _coloured(assessment)


def _coloured(assessment: Assessment) -> str:
    """Text as it looks best on this terminal."""
    from rich.console import Console

    from unveil.report.text import show

    text = io.StringIO()
    show(assessment, Console(file=text, force_terminal=True, width=Console().width))
    return text.getvalue()
