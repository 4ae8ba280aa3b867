"""Where results go: standard output, a file, a report; all of them or none."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.reading import reading_text
from unveil.cli.typed_command import remember_command
from unveil.errors import UnveilError
from unveil.owner_key import load_owner_key
from unveil.release.standard_input import STANDARD_INPUT
from unveil.wording import safe_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.assessment import Assessment
    from unveil.case import Case
    from unveil.policy import Policy
    from unveil.risk import Risk

__all__ = [
    "EXIT_CODES",
    "assess_and_deliver",
    "check_output_files",
    "check_secret_file",
    "output_options",
    "print_notes",
    "render_assessment",
    "report_options",
]

EXIT_CODES = """Exit code: 0 release, 1 protect first, 3 your call, 2 bad usage or bad data, 130 interrupted (143 by
SIGTERM, 129 by SIGHUP)."""

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OUTPUT_OPTION = click.option(
    "-o", "--output", metavar="FILE", help="Write the result to FILE instead of standard output."
)
_REPORT_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json", "html", "markdown", "junit"]),
        default="text",
        show_default=True,
        help="markdown suits a comment on a pull request, junit continuous integration.",
    ),
    click.option("--details", is_flag=True, help="Text: show every finding, sentence, exposed subject and column."),
    click.option("--report", metavar="FILE", help="Also write an HTML report to FILE."),
    click.option(
        "--exposed",
        type=click.IntRange(min=0),
        default=10,
        show_default=True,
        help="How many exposed subjects to list for each finding.",
    ),
    click.option(
        "--reveal",
        is_flag=True,
        help="Show names and values of exposed subjects, and all details. Keep the result secret.",
    ),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdict."),
    quiet_option,
)


def report_options(command: _Command) -> _Command:
    """Add the options that say how an assessment is reported."""
    made: _Command = functools.reduce(lambda so_far, option: option(so_far), reversed(_REPORT_OPTIONS), command)
    return made


def output_options(command: _Command) -> _Command:
    """Add the options that say what becomes of an assessment."""
    return _OUTPUT_OPTION(report_options(command))


def check_output_files(targets: list[str | None], sources: list[str | None]) -> None:
    """Results must not overwrite what they are made from, nor each other, by whatever name."""
    seen = {_file_identity(source) for source in filter(None, sources)}
    for target in filter(None, targets):
        if _file_identity(target) in seen:
            raise UnveilError(
                f"{safe_text(target, 200)}: would overwrite the input or another result; name another file"
            )
        if not os.path.isdir(os.path.dirname(os.path.realpath(target))):
            raise UnveilError(f"{safe_text(target, 200)}: the directory does not exist; nothing was written")
        seen.add(_file_identity(target))
    _finish_interrupted_runs([*filter(None, targets), *(s for s in sources if s and s != STANDARD_INPUT)])


def _file_identity(file: str) -> tuple[object, ...]:
    """What all names of a file have in common, links and mounted directories included: its device and inode or, if
    there is no such file yet, those of its directory, and its name."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # there is no such file, or no standard input
        found = os.stat(sys.stdin.fileno() if file == STANDARD_INPUT else file)
        return found.st_dev, found.st_ino
    directory, name = os.path.split(os.path.realpath(file))
    with contextlib.suppress(OSError):
        found = os.stat(directory)
        return found.st_dev, found.st_ino, name
    return directory, name


def _finish_interrupted_runs(files: Iterable[str]) -> None:
    """What a killed process began to write beside these files is finished before they are read or written."""
    from unveil.release.delivery import finish_deliveries

    tell = note_printer(bool(click.get_current_context().params.get("quiet")))
    for note in finish_deliveries(os.path.dirname(os.path.realpath(file)) for file in files):
        tell(note)


def check_secret_file(target: str | None) -> None:
    """What is for the owner's eyes only is written as CSV."""
    if target and os.path.splitext(target)[1].lower() != ".csv":
        raise UnveilError(f"{safe_text(target, 200)}: matches are written as .csv")


def assess_and_deliver(
    read: Callable[[], Case],
    policy: Policy,
    file: str,
    given: Mapping[str, Any],
    *,
    only: Sequence[str] | None = None,
    purpose: Risk | None = None,
    secret: tuple[str, str] | None = None,
    name: str | None = None,
) -> int:
    """Read the case of a file, assess it, deliver the result as the output options say, and return the exit code.

    ``only`` are the questions asked, ``purpose`` is the risk that the command exists for, which decides without the
    checks that are not asked. ``secret`` names an artefact of the assessment and the file, for the owner's eyes only,
    that it is written to. ``name`` is what the result is about, if not the release alone.
    """
    from unveil.assess import assess_resolved, check_input, make_run, resolve
    from unveil.release.secret_csv import secret_csv

    output, report, tell = given["output"], given["report"], note_printer(given["quiet"])
    with progress_bar(reading_text(file), given["quiet"]) as report_progress:
        case, policy = check_input(read(), policy)
        run = make_run(
            case, policy, only=only, reveal=given["reveal"], exposed=given["exposed"], progress=report_progress
        )
        assessment = assess_resolved(resolve(case, policy, run), run, purpose=purpose)
        assessment = replace(assessment, typed=remember_command(file, given.get("earlier") or ()))
        if name is not None:
            assessment = replace(assessment, release=replace(assessment.release, name=name))
        report_progress("writing", None)
        shown = {name: given[name] for name in ("details", "reveal")}
        text = render_assessment(assessment, given["form"], **shown, to_file=output is not None)
        page = assessment.to_html() if report else ""
        private = secret and (secret[1], secret_csv(_find_artefact(assessment, *secret)()))
    print_notes(case, tell)
    _write_results(text, page, given, private, tell)
    return 0 if given["exit_zero"] else assessment.verdict.exit_code


def _find_artefact(assessment: Assessment, name: str, target: str) -> Callable[[], pa.Table]:
    if name not in assessment.artefacts:
        why = next((f.sentence for f in assessment.findings if f.status == "failed"), "There is nothing to write.")
        raise UnveilError(f"{safe_text(target, 200)}: was not written. {why.removesuffix('.')}")
    return assessment.artefacts[name]


def print_notes(case: Case, tell: Callable[[str], None]) -> None:
    """Say what was noticed when the files, and the key of their hashes, were read."""
    for said in load_owner_key().notes:
        tell(said)
    for held in (case.release, *case.holds.values()):
        for said in held.notes:
            tell(f"{safe_text(held.name)}: {said}")


def render_assessment(assessment: Assessment, form: str, *, details: bool, reveal: bool, to_file: bool) -> str:
    """The assessment in the form that was asked for. Text that shows values shows them in its details."""
    if form != "text":
        render = {
            "json": assessment.to_json,
            "html": assessment.to_html,
            "markdown": assessment.to_markdown,
            "junit": assessment.to_junit,
        }
        return render[form]()
    details = details or reveal
    if to_file or not sys.stdout.isatty():
        return assessment.to_text(details)
    return _coloured_text(assessment, details)


def _coloured_text(assessment: Assessment, details: bool) -> str:
    """Text as it looks best on this terminal."""
    from rich.console import Console

    from unveil.report.terminal import print_assessment

    text = io.StringIO()
    print_assessment(assessment, Console(file=text, force_terminal=True, width=Console().width), details)
    return text.getvalue()


def _write_results(
    text: str, page: str, given: Mapping[str, Any], secret: tuple[str, bytes] | None, tell: Callable[[str], None]
) -> None:
    """Write the text, the report and what is for the owner only: either all files appear or none."""
    from unveil.release.delivery import OutputFile, deliver_files

    output, report = given["output"], given["report"]
    shown = [(path, content) for path, content in ((report, page), (output, text)) if path]
    files = [OutputFile(path, content.encode(), private=given["reveal"]) for path, content in shown]
    deliver_files([*files, OutputFile(*secret, private=True)] if secret else files)
    if secret:
        tell(f"{safe_text(secret[0], 200)} written, for your eyes only")
    if report:
        tell(f"report written to {safe_text(report, 200)}")
    if not output:  # a page says itself that it is UTF-8
        click.echo(text.encode() if text.startswith("<!doctype html>") else text, nl=False)
