"""``unveil protect``: make a release safer, and say what that costs."""

from __future__ import annotations

import hashlib
import io
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.options import case_from, holding_options, policy_from, policy_options, reading_options, sources_from
from unveil.cli.output import check_targets, rendered, tell_notes, telling_options
from unveil.cli.telling import note, progress
from unveil.errors import UnveilError
from unveil.wording import shown

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.protect import Protected

__all__ = ["command"]

_EPILOG = """\b
Exit code: 0 the new file may be released, 3 your call, 1 no protection reaches the tolerance and nothing was written,
2 bad usage or bad data, 130 interrupted.

\b
Examples:
  unveil protect baskets.dat --tolerance .1 -o safe.dat
  unveil protect baskets.dat -o safe.dat --method merge --categories aisles.csv --report safe.html
  unveil assess safe.dat --original baskets.dat --mapping safe.mapping.csv
"""


@click.command("protect", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.option("-o", "--output", metavar="FILE", required=True, help="Write the safer release there.")
@click.option(
    "--mapping",
    "mapping_file",
    metavar="FILE",
    help="Write there what each item became; by default beside the release, as NAME.mapping.csv. Never publish it.",
)
@click.option(
    "--method",
    type=click.Choice(["rename", "suppress", "merge", "recount"]),
    help="The only protection to try; by default the most useful that holds.",
)
@click.option("--categories", metavar="FILE", help="What items may be replaced by: columns item, category.")
@policy_options
@holding_options
@reading_options
@telling_options
def command(
    file: str,
    output: str,
    mapping_file: str | None,
    method: str | None,
    categories: str | None,
    form: str,
    report: str | None,
    exposed: int,
    reveal: bool,
    exit_zero: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Write a safer version of FILE, baskets of items, to be released instead.

    Items are left out, put into categories, or added to and taken out of random baskets, no more than it takes. Every
    result is attacked as FILE is, by someone who knows what was done, and the most useful one within tolerance is
    written. Items get random numbers for names; what was what stays with you, in the mapping.
    """
    from unveil.protect import protect
    from unveil.release.write import writer

    if mapping_file and Path(mapping_file).suffix.lower() != ".csv":
        raise UnveilError(f"{shown(mapping_file, 200)}: a mapping is written as .csv")

    tell = note(quiet)
    mapping = mapping_file or str(Path(output).with_name(f"{Path(output).stem}.mapping.csv"))
    policy = policy_from(given, tell)
    check_targets([output, mapping, report], sources_from(file, {**given, "categories": categories}, policy))
    with progress(f"reading {shown(file)}", quiet) as told:
        case = case_from(file, {**given, "categories": categories})
        write = writer(case.release.kind, output)
        made = protect(case, policy, method=method, reveal=reveal, exposed=exposed, progress=told)
        told("writing", None)
        held = io.BytesIO()
        if made.case is not None:
            write(made.release, held)
        assessment = made.assessment if made.case is None else _named(made, output, held.getvalue())
        text = rendered(assessment, form, to_file=False)
        page = assessment.to_html() if report else ""
    tell_notes(case, tell)
    if made.case is not None:
        _deliver(made.mapping(), held.getvalue(), page, output, mapping, report)
        tell(f"{shown(output, 200)} written; {shown(mapping, 200)} says what was what, for your eyes only")
        if report:
            tell(f"report written to {shown(report, 200)}")
    click.echo(text, nl=False)
    if made.case is None:
        tell("no protection that was tried reaches the tolerance; nothing was written")
        return 0 if exit_zero else 1
    tell("whoever holds counts of pairs with the items' names may still tell them apart: see docs/protect.md")
    return 0 if exit_zero else assessment.verdict.exit_code


def _named(made: Protected, output: str, data: bytes) -> Any:
    """The assessment under the name and the hash of the file that is written."""
    a = made.assessment
    digest = hashlib.sha256(data).hexdigest()
    return replace(
        a,
        release=replace(a.release, name=Path(output).name),
        provenance=replace(a.provenance, sha256=digest),
    )


def _deliver(mapping: pa.Table, data: bytes, page: str, output: str, mapping_file: str, report: str | None) -> None:
    """The release, its mapping and the report: either all of them appear or none."""
    import pyarrow.csv as arrow_csv

    from unveil.release.target import atomic

    with ExitStack() as all_of_them:  # they appear in reverse order: the release only when its mapping is safe
        all_of_them.enter_context(atomic(output)).write(data)
        arrow_csv.write_csv(mapping, all_of_them.enter_context(atomic(mapping_file, private=True)))
        if report:
            all_of_them.enter_context(atomic(report)).write(page.encode())
