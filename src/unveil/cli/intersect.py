"""``unveil intersect``: what several releases of the same people give away together."""

from __future__ import annotations

import os
from typing import Any

import click

from unveil.case import Case
from unveil.cli.holdings import files_read, holding_options, read_holdings
from unveil.cli.messages import note_printer
from unveil.cli.output import EXIT_CODES, assess_and_deliver, check_output_files, check_secret_file, output_options
from unveil.cli.policy import make_policy, policy_options, renamed_option
from unveil.cli.reading import read_table, table_reading_options
from unveil.errors import UnveilError
from unveil.wording import list_text

__all__ = ["command"]

_EPILOG = f"""\b
{EXIT_CODES}
The verdict is about the releases together. If a file by itself has smaller classes than are tolerated, it is at best
your call.

\b
Examples:
  unveil intersect a.csv b.csv --quasi zip,age --sensitive diagnosis
  unveil intersect may.csv june.csv july.csv --quasi zip,age --sensitive diagnosis --people voters.csv
  unveil intersect a.csv b.csv --quasi zip,age --sensitive diagnosis --matches values_left.csv
"""


@click.command("intersect", epilog=_EPILOG)
@click.argument("files", type=click.Path(), nargs=-1, required=True)
@policy_options("classes", kind="table")
@holding_options("classes")
@click.option(
    "--matches",
    metavar="FILE",
    help="Write the values that are left for every person to FILE, as CSV. Never publish it.",
)
@table_reading_options
@output_options
@renamed_option("on", "quasi")
def command(files: tuple[str, ...], matches: str | None, **given: Any) -> int:
    """Combine FILES, releases of the same people, as an attacker would.

    Each may be anonymous by itself. An attacker who knows that a person is in all of them keeps only the values that
    are possible in every one. Labels such as 476**, 20-29 or * are read as they are written. The people are those of
    --people, by default those of the first file.
    """
    from unveil.classes.risks import INTERSECTION
    from unveil.release.ask import RISKS_OF_ANY_TABLE

    first, *others = files
    given["earlier"] = (*given["earlier"], *others)
    if not given["earlier"]:
        raise UnveilError("give two releases or more")
    policy = make_policy(given, note_printer(given["quiet"]))
    check_secret_file(matches)
    check_output_files([given["output"], given["report"], matches], files_read(first, given, policy))

    def read() -> Case:
        return read_holdings(Case(read_table(first, given)), given)

    return assess_and_deliver(
        read,
        policy,
        first,
        given,
        only=[INTERSECTION.id, *RISKS_OF_ANY_TABLE],
        purpose=INTERSECTION,
        secret=("values left", matches) if matches else None,
        name=f"{list_text([os.path.basename(file) for file in (first, *given['earlier'])])} together",
    )
