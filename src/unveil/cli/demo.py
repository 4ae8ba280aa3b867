"""``unveil demo``: examples, assessed end to end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.errors import UnveilError
from unveil.wording import safe_text

if TYPE_CHECKING:
    from unveil.assessment import Assessment

__all__ = ["command"]

_EPILOG = """\b
Examples:
  unveil demo
  unveil demo examples --seed 7
"""


@click.command("demo", epilog=_EPILOG)
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), default="unveil-demo")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the examples.")
@quiet_option
def command(directory: Path, seed: int, quiet: bool) -> None:
    """Write a hospital's patients, a grocer's baskets, a film club's ratings, a network of friends and a town's survey
    to DIRECTORY, each with its policy, assess all of them, make a version of the patients that may be released, and
    write the report."""
    from unveil.assess import assess
    from unveil.demo.examples import EXAMPLES
    from unveil.policy import Policy
    from unveil.protect import protect
    from unveil.release.delivery import open_atomic
    from unveil.release.read import read
    from unveil.release.write import write
    from unveil.report.html import render_page

    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise UnveilError(f"{safe_text(directory, 200)}: cannot be made; name another directory") from None
    assessments, protected, tell = [], [], note_printer(quiet)
    with progress_bar("making examples", quiet) as report_progress:
        for example in EXAMPLES:
            file, policy = example.write(directory, seed)
            if example.protected_file:
                made = protect(read(file), Policy.from_toml(policy), progress=report_progress)
                write(made.release, safer := directory / example.protected_file)
                protected.append(made.assessment_of_file(safer.name, safer.read_bytes()))
                assessment = made.before
            else:
                assessment = assess(read(file), Policy.from_toml(policy), progress=report_progress)
            tell(_verdict_line(assessment))
            assessments.append(assessment)
        for assessment in protected:
            tell(_verdict_line(assessment))
        report_progress("writing the report", None)
        report = directory / "report.html"
        with open_atomic(report) as written:
            written.write(render_page([*assessments, *protected]).encode())
    click.echo(report)


def _verdict_line(assessment: Assessment) -> str:
    return f"{assessment.release.name}: {assessment.verdict.decision}. {assessment.verdict.sentence}"
