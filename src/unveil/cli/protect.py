"""``unveil protect``: make a release safer, and say what that costs."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.options import case_from, holding_options, policy_from, policy_options, reading_options, sources_from
from unveil.cli.output import check_targets, rendered, tell_notes, telling_options
from unveil.cli.telling import note, progress
from unveil.errors import UnveilError
from unveil.wording import listed, shown

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.case import Case
    from unveil.policy import Policy
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
  unveil protect people.csv --quasi age,sex,zip,job --tolerance linkage.success=.2 --tolerance classes.k=off -o safe.csv
  unveil protect people.csv --quasi age,sex,zip,job --hierarchy job=job.csv --method columns -o safe.parquet
  unveil protect films.csv --ratings user,film,stars,date --things-known 2 --tolerance linkage.success=.2 -o safe.csv
"""

_BASKETS = ("rename", "suppress", "merge", "recount")
_TABLES = ("columns", "mixed", "values", "rows")
_RATINGS = ("items", "people")


@click.command("protect", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.option("-o", "--output", metavar="FILE", required=True, help="Write the safer release there.")
@click.option(
    "--mapping",
    "mapping_file",
    metavar="FILE",
    help="Baskets: write there what each item became; by default beside the release, as NAME.mapping.csv. "
    "Never publish it.",
)
@click.option(
    "--method",
    type=click.Choice([*_BASKETS, *_TABLES, *_RATINGS]),
    help="The only protection to try; by default the most useful that holds. The first four are for baskets, the "
    "others for tables: values and rows for one row per person, items and people for ratings.",
)
@click.option("--categories", metavar="FILE", help="Baskets: what items may be replaced by: columns item, category.")
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
    """Write a safer version of FILE, baskets of items or a table of people, to be released instead.

    In baskets, items are left out, put into categories, or added to and taken out of random baskets. They get random
    numbers for names; what was what stays with you, in the mapping.

    In a table with one row per person, columns are coarsened or left out, rare values put together, or rows left out,
    so that someone who knows a few random columns of a person finds the row no more often than is tolerated
    (linkage.success; or linkage.own_row, for which finding an equal row does not count). All other columns stay as they
    are.

    In ratings (--ratings person,item,value,date), values and dates are coarsened or left out, rare items left out, or
    people left out, so that someone who knows a few random ratings finds the person no more often than is tolerated.

    No more is done than it takes. Every result is attacked as FILE is, by someone who knows what was done, and the most
    useful one within tolerance is written.
    """
    from unveil.protect import protect
    from unveil.release import Transactions
    from unveil.release.target import atomic
    from unveil.release.write import writer

    if mapping_file and Path(mapping_file).suffix.lower() != ".csv":
        raise UnveilError(f"{shown(mapping_file, 200)}: a mapping is written as .csv")

    tell = note(quiet)
    policy = policy_from(given, tell)
    sources = sources_from(file, {**given, "categories": categories}, policy)
    check_targets([output, mapping_file, report], sources)
    with progress(f"reading {shown(file)}", quiet) as told:
        case = case_from(file, {**given, "categories": categories})
        mapping = _mapping_file(case, mapping_file, output)
        check_targets([output, mapping, report], sources)
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
        _deliver(made.mapping() if mapping else None, held.getvalue(), page, output, mapping, report)
        what = f"; {shown(mapping, 200)} says what was what, for your eyes only" if mapping else ""
        tell(f"{shown(output, 200)} written{what}")
        if report:
            tell(f"report written to {shown(report, 200)}")
    click.echo(text, nl=False)
    if made.case is None:
        written = "nothing was written"
        if report:
            with atomic(report) as target:
                target.write(page.encode())
            written = f"no release was written, and what was tried is in {shown(report, 200)}"
        tell(f"no protection that was tried reaches the tolerance; {written}")
        for hint in _hints(made, case, policy):
            tell(hint)
        return 0 if exit_zero else 1
    if isinstance(case.release, Transactions):
        tell("whoever holds counts of pairs with the items' names may still tell them apart: see docs/protect.md")
    return 0 if exit_zero else assessment.verdict.exit_code


def _mapping_file(case: Case, given: str | None, output: str) -> str | None:
    """Where it is written what each item became; tables have no items."""
    from unveil.release import Transactions

    if isinstance(case.release, Transactions):
        return given or str(Path(output).with_name(f"{Path(output).stem}.mapping.csv"))
    if given:
        name = shown(case.release.name)
        raise UnveilError(f"--mapping is for baskets of items; {name} was read as {case.release.kind}")
    return None


def _hints(made: Protected, case: Case, policy: Policy) -> Iterator[str]:
    """What stands in the way, and what to do about it."""
    from unveil.release import Table

    over = [f.id for f in made.before.findings if f.decides and f.status == "over"]
    names = list(dict.fromkeys(".".join(name.split(".")[:2]) for name in made.in_the_way or over))
    if made.closest is not None:
        stand = "stands" if len(names) == 1 else "stand"
        yield f"{listed(names)} {stand} in the way: not within tolerance even after {made.closest}"
    elif names:
        yield f"beyond what is tolerated as it is: {listed(names)}; nothing that was tried reaches its aim"
    if not isinstance(case.release, Table):
        return
    if not_aimed_at := [name for name in names if not name.startswith("linkage.")]:
        off = " ".join(f"--tolerance {name}=off" for name in not_aimed_at)
        they = "it" if len(not_aimed_at) == 1 else "they"
        yield (
            f"protections of tables do not aim at {listed(not_aimed_at)}: with {off} {they} would only inform; or try "
            "another --method, or a lower tolerance for linkage.success"
        )
    elif "linkage.success" in names and not policy.ratings:
        yield (
            "rows that become equal in everything released count as found: with --tolerance linkage.success=off "
            "--tolerance linkage.own_row=.05, say, only the own row counts"
        )
    elif policy.ratings:
        yield (
            "where people have many ratings, a few tell who it is, whatever is coarsened: publish figures about many "
            "people instead, or tolerate more"
        )


def _named(made: Protected, output: str, data: bytes) -> Any:
    """The assessment under the name and the hash of the file that is written."""
    a = made.assessment
    digest = hashlib.sha256(data).hexdigest()
    return replace(
        a,
        release=replace(a.release, name=Path(output).name),
        provenance=replace(a.provenance, sha256=digest),
    )


def _deliver(
    mapping: pa.Table | None, data: bytes, page: str, output: str, mapping_file: str | None, report: str | None
) -> None:
    """The release, its mapping if it has one, and the report: either all of them appear or none."""
    import pyarrow.csv as arrow_csv

    from unveil.release.target import atomic

    with ExitStack() as all_of_them:  # they appear in reverse order: the release only when its mapping is safe
        all_of_them.enter_context(atomic(output)).write(data)
        if mapping is not None and mapping_file is not None:
            arrow_csv.write_csv(mapping, all_of_them.enter_context(atomic(mapping_file, private=True)))
        if report:
            all_of_them.enter_context(atomic(report)).write(page.encode())
