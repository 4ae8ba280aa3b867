"""``unveil intersect``: what several releases of the same people give away together."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import click

from unveil.case import Case
from unveil.cli.options import policy_from, policy_options, reading_options, release_from
from unveil.cli.output import check_targets, deliver, output_options, rendered
from unveil.cli.telling import note, progress
from unveil.errors import UnveilError
from unveil.release import Release, Table
from unveil.wording import shown

__all__ = ["command"]

_EPILOG = """\b
Exit code: 0 release, 1 protect first, 3 your call, 2 bad usage or bad data, 130 interrupted.

\b
Examples:
  unveil intersect a.csv b.csv --on zip,age --sensitive diagnosis
  unveil intersect may.csv june.csv july.csv --on zip,age --sensitive diagnosis --people voters.csv
"""


@click.command("intersect", epilog=_EPILOG)
@click.argument("files", type=click.Path(), nargs=-1, required=True)
@click.option("--on", required=True, metavar="COLUMNS", help="What the attacker knows of people, comma-separated.")
@click.option("--people", metavar="FILE", help="The people that are known; by default the first file.")
@policy_options
@reading_options
@output_options
def command(
    files: tuple[str, ...],
    on: str,
    people: str | None,
    form: str,
    output: str | None,
    report: str | None,
    exposed: int,
    reveal: bool,
    exit_zero: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Lay FILES, releases of the same people, on top of each other.

    Each may be anonymous by itself. What is possible in all of them is what an attacker is left with who knows that a
    person is in all. Labels such as 476**, 20-29 or * are read as they are written.
    """
    from unveil.assess import assess

    tell = note(quiet)
    if len(files) < 2:
        raise UnveilError("give two releases or more")
    check_targets([output, report], [*files, people, given["policy_file"]])
    policy = policy_from({**given, "quasi": (on,), "itemsets": None}, tell)
    with progress(f"reading {shown(files[0])}", quiet) as told:
        tables: list[Release] = [release_from(file, given) for file in files]
        for table in tables:
            if not isinstance(table, Table):
                raise UnveilError(f"{shown(table.name)}: was read as {table.kind}; releases of people are tables")
        holds = {f"release {k}": table for k, table in enumerate(tables[1:], 2)}
        if people:
            holds["people"] = release_from(people, given)
        case = Case(tables[0], holds=MappingProxyType(holds))
        assessment = assess(case, policy, reveal=reveal, exposed=exposed, progress=told)
        told("writing", None)
        text = rendered(assessment, form, to_file=output is not None)
        page = assessment.to_html() if report else ""
    for table in (*tables, *([holds["people"]] if people else [])):
        for said in table.notes:
            tell(f"{shown(table.name)}: {said}")
    deliver(text, page, output, report, tell)
    return 0 if exit_zero else assessment.verdict.exit_code
