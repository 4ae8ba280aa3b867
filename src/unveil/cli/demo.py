"""``unveil demo``: four examples, assessed end to end, and one of them protected and assessed again."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.protect import rename_assessment, write_release
from unveil.errors import UnveilError
from unveil.wording import safe_text

if TYPE_CHECKING:
    from unveil.assessment import Assessment
    from unveil.policy import Policy
    from unveil.release import Release
    from unveil.run import Progress

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
    """Write a hospital's patients, a grocer's baskets, a film club's ratings and a network of friends to DIRECTORY,
    each with its policy, assess all four, protect the baskets, assess them again and write the report."""
    from unveil.assess import assess
    from unveil.demo.examples import EXAMPLES
    from unveil.policy import Policy
    from unveil.release.atomic_file import open_atomic
    from unveil.release.read import read
    from unveil.report.html import render_page

    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise UnveilError(f"{safe_text(directory, 200)}: cannot be made; name another directory") from None
    assessments, tell = [], note_printer(quiet)
    with progress_bar("making examples", quiet) as report_progress:
        for example in EXAMPLES:
            file, toml = example.write(directory, seed)
            release, policy = read(file), Policy.from_toml(toml)
            assessments.append(assess(release, policy, progress=report_progress))
            _tell_verdict(assessments[-1], tell)
            if example.protection:
                to_protect = (release, policy, example.protection, file)
        protected, caveats = _protect_example(*to_protect, report_progress)
        assessments.append(protected)
        _tell_verdict(protected, tell)
        for caveat in caveats:
            tell(caveat)
        report_progress("writing the report", None)
        report = directory / "report.html"
        with open_atomic(report) as written:
            written.write(render_page(assessments).encode())
    click.echo(report)


def _tell_verdict(assessment: Assessment, tell: Callable[[str], None]) -> None:
    tell(f"{assessment.release.name}: {assessment.verdict.decision}. {assessment.verdict.sentence}")


def _protect_example(
    release: Release, policy: Policy, method: str, file: Path, progress: Progress
) -> tuple[Assessment, tuple[str, ...]]:
    """Protect an example as ``unveil protect`` would and write the result beside it. Returns its assessment, and what
    an owner should know about it."""
    from unveil.protect import protect
    from unveil.release.write import choose_writer

    output, mapping = (
        str(file.with_name(f"{file.stem}-protected{ending}")) for ending in (file.suffix, ".mapping.csv")
    )
    made = protect(release, policy, method=method, progress=progress)
    held = io.BytesIO()
    choose_writer(made.release.kind, output)(made.release, held)
    Path(mapping).unlink(missing_ok=True)  # a mapping is never overwritten, but the one of an earlier demo is nobody's
    write_release(made.mapping(), held.getvalue(), "", output, mapping, None)
    return rename_assessment(made, output, held.getvalue()), made.caveats
