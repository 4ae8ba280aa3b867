"""``unveil intersect``: what several releases of the same people give away together."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import click

from unveil.case import Case
from unveil.cli.options import sources_from, table_from, table_options, table_policy_from
from unveil.cli.output import assessed, check_targets, output_options
from unveil.cli.telling import note
from unveil.errors import UnveilError
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
@table_options
@output_options
def command(files: tuple[str, ...], on: str, people: str | None, **given: Any) -> int:
    """Lay FILES, releases of the same people, on top of each other.

    Each may be anonymous by itself. What is possible in all of them is what an attacker is left with who knows that a
    person is in all. Labels such as 476**, 20-29 or * are read as they are written.
    """
    if len(files) < 2:
        raise UnveilError("give two releases or more")
    policy = table_policy_from({**given, "quasi": (on,)}, note(given["quiet"]))
    read_too = [*files[1:], people]
    check_targets([given["output"], given["report"]], [*sources_from(files[0], given, policy), *read_too])

    def read() -> Case:
        first, *others = (table_from(file, given) for file in files)
        holds = {f"release {k}": table for k, table in enumerate(others, 2)}
        return Case(first, holds=MappingProxyType(holds | ({"people": table_from(people, given)} if people else {})))

    return assessed(read, policy, f"reading {shown(files[0])}", given)
