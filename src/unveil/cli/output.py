"""Where results go: standard output, a file, a report; all of them or none."""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from unveil.cli.telling import note, progress
from unveil.errors import UnveilError
from unveil.wording import shown

if TYPE_CHECKING:
    from unveil.assessment import Assessment
    from unveil.case import Case
    from unveil.policy import Policy
    from unveil.run import Run

__all__ = ["assessed", "check_targets", "output_options", "rendered", "tell_notes", "telling_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OUTPUT = click.option("-o", "--output", metavar="FILE", help="Write the result there instead of to standard output.")
_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--format", "form", type=click.Choice(["text", "json", "html"]), default="text", show_default=True),
    click.option("--report", metavar="FILE", help="Also write the HTML report there."),
    click.option("--exposed", type=click.IntRange(min=0), default=10, show_default=True, help="How many to list."),
    click.option("--reveal", is_flag=True, help="Show names and values of exposed subjects. Do not pass that on."),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdict."),
    click.option("--quiet", is_flag=True, help="Say nothing on standard error but errors."),
)


def telling_options(command: _Command) -> _Command:
    """Add the options that say how an assessment is told."""
    made: _Command = functools.reduce(lambda so_far, option: option(so_far), reversed(_OPTIONS), command)
    return made


def output_options(command: _Command) -> _Command:
    """Add the options that say what becomes of an assessment."""
    return _OUTPUT(telling_options(command))


def check_targets(targets: list[str | None], sources: list[str | None]) -> None:
    """Results must not overwrite what they are made from, nor each other."""
    seen = [os.path.realpath(source) for source in sources if source]
    for target in filter(None, targets):
        if os.path.realpath(target) in seen:
            raise UnveilError(f"{shown(target, 200)}: would overwrite the input or another result; name another file")
        if not os.path.isdir(os.path.dirname(os.path.realpath(target))):
            raise UnveilError(f"{shown(target, 200)}: the directory does not exist; nothing was written")
        seen.append(os.path.realpath(target))


_Also = tuple[str, Callable[["Case", "Policy", "Run", BinaryIO], None]]


def assessed(
    read: Callable[[], Case],
    policy: Policy,
    doing: str,
    given: Mapping[str, Any],
    also: _Also | None = None,
    first: str | None = None,
) -> int:
    """Read a case, assess it, deliver what came out as the output options say, and return the exit code. ``also`` names
    a file for the owner's eyes only, and what writes it; ``first`` the question that was asked, which comes first."""
    from unveil.assess import assess, ready, run_for

    output, report, tell = given["output"], given["report"], note(given["quiet"])
    with progress(doing, given["quiet"]) as told:
        case = read()
        assessment = assess(case, policy, reveal=given["reveal"], exposed=given["exposed"], progress=told)
        told("writing", None)
        if first:
            findings = sorted(assessment.findings, key=lambda f: f.question != first)
            assessment = replace(assessment, findings=tuple(findings))
        text = rendered(assessment, given["form"], to_file=output is not None)
        page = assessment.to_html() if report else ""
        secret = io.BytesIO()
        if also:
            run = run_for(case, policy, progress=told)
            also[1](*ready(case, policy, run)[:2], run, secret)
    tell_notes(case, tell)
    _deliver(text, page, output, report, (also[0], secret.getvalue()) if also else None, tell)
    return 0 if given["exit_zero"] else assessment.verdict.exit_code


def tell_notes(case: Case, tell: Callable[[str], None]) -> None:
    """Say what was noticed when the files were read."""
    for held in (case.release, *case.holds.values()):
        for said in held.notes:
            tell(f"{shown(held.name)}: {said}")


def rendered(assessment: Assessment, form: str, to_file: bool) -> str:
    """The assessment in the form that was asked for."""
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


def _deliver(
    text: str,
    page: str,
    output: str | None,
    report: str | None,
    secret: tuple[str, bytes] | None,
    tell: Callable[[str], None],
) -> None:
    """Write the text, the report and what is for the owner only: either all files appear or none."""
    from unveil.release.target import atomic

    with ExitStack() as both:
        if report:
            both.enter_context(atomic(report)).write(page.encode())
        if output:
            both.enter_context(atomic(output)).write(text.encode())
        if secret:
            both.enter_context(atomic(secret[0], private=True)).write(secret[1])
    if secret:
        tell(f"{shown(secret[0], 200)} written, for your eyes only")
    if report:
        tell(f"report written to {shown(report, 200)}")
    if not output:
        click.echo(text, nl=False)
