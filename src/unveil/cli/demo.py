"""``unveil demo``: examples, assessed end to end."""

from __future__ import annotations

from pathlib import Path

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.errors import UnveilError
from unveil.wording import safe_text

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
    to DIRECTORY, each with its policy, assess all of them and write the report."""
    from unveil.assess import assess
    from unveil.demo.examples import EXAMPLES
    from unveil.policy import Policy
    from unveil.release.delivery import open_atomic
    from unveil.release.read import read
    from unveil.report.html import render_page

    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise UnveilError(f"{safe_text(directory, 200)}: cannot be made; name another directory") from None
    assessments, tell = [], note_printer(quiet)
    with progress_bar("making examples", quiet) as report_progress:
        for example in EXAMPLES:
            file, policy = example.write(directory, seed)
            assessment = assess(read(file), Policy.from_toml(policy), progress=report_progress)
            tell(f"{assessment.release.name}: {assessment.verdict.decision}. {assessment.verdict.sentence}")
            assessments.append(assessment)
        report_progress("writing the report", None)
        report = directory / "report.html"
        with open_atomic(report) as written:
            written.write(render_page(assessments).encode())
    click.echo(report)
