"""``unveil budget``: the ledger of private answers, made, shown, and bound to new data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.reading import read_table, reading_text, table_reading_options
from unveil.errors import UnveilError
from unveil.wording import count_text, number_text, safe_text

if TYPE_CHECKING:
    from unveil.dp.declarations import CategoryColumn, DeclaredTable, NumberColumn
    from unveil.ledger import Ledger

__all__ = ["command"]

_EPILOG = """\b
Examples:
  unveil budget init patients.csv --ledger patients.ledger --epsilon 3 --number age=0:120
  unveil budget show patients.ledger
"""
_INIT_EPILOG = """\b
Examples:
  unveil budget init patients.csv --ledger patients.ledger --epsilon 3 \\
      --number age=0:120 --cuts age=18,65 --categories sex=f,m --categories diagnosis=@codes.txt
  unveil budget init visits.csv --ledger visits.ledger --epsilon 2 --subject patient --rows-per-person 5 \\
      --number cost=0:10000:0.01
"""
_REBIND_EPILOG = """\b
Example:
  unveil budget rebind patients-2027.csv --ledger patients.ledger
"""
_SHOW_EPILOG = """\b
Examples:
  unveil budget show patients.ledger
  unveil budget show patients.ledger --format json
"""
_MOST_LIST_BYTES = 10_000_000

_LEDGER = click.option("--ledger", required=True, metavar="FILE", help="The ledger.")
_ANOTHER = click.option(
    "--another-budget",
    is_flag=True,
    help="Allow it although another ledger is about the same data or people, who then bear the loss of both.",
)


@click.group("budget", epilog=_EPILOG)
def command() -> None:
    """Make, show and rebind the ledger of private answers.

    A ledger says what may be known of a table without looking at it, how much privacy all answers together may cost,
    and what was answered so far. unveil query answers nothing without one.
    """


@command.command("init", epilog=_INIT_EPILOG, short_help="Make the ledger of a table.")
@click.argument("file", type=click.Path())
@click.option("--ledger", required=True, metavar="FILE", help="Where to make it; no existing file is overwritten.")
@click.option("--epsilon", required=True, metavar="NUMBER", help="What all answers together may cost.")
@click.option(
    "--number",
    multiple=True,
    metavar="COLUMN=FROM:TO[:STEP]",
    help="A column of numbers with public bounds; numbers are clamped to them and rounded to the step (1 by default). "
    "Repeatable.",
)
@click.option(
    "--cuts",
    multiple=True,
    metavar="COLUMN=CUT,CUT",
    help="Where the intervals of a histogram begin, in rising order; the first begins at the lower bound. Repeatable, "
    "for other columns.",
)
@click.option(
    "--categories",
    multiple=True,
    metavar="COLUMN=TEXT,TEXT",
    help="A column of categories with its public values, or COLUMN=@FILE with a value on each line; others are counted "
    "together. Repeatable.",
)
@click.option("--subject", metavar="COLUMN", help="Which person a row is about; by default, each row is a person.")
@click.option(
    "--rows-per-person",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="How many rows of each person count; noise grows with it. 1 by default.",
)
@click.option("--missing", multiple=True, metavar="TEXT", help="Text that stands for a missing value. Repeatable.")
@_ANOTHER
@table_reading_options
@quiet_option
def init(
    file: str,
    ledger: str,
    epsilon: str,
    number: tuple[str, ...],
    cuts: tuple[str, ...],
    categories: tuple[str, ...],
    subject: str | None,
    rows_per_person: int | None,
    missing: tuple[str, ...],
    another_budget: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Make the ledger of FILE, and declare what may be known of it.

    Bounds, categories and cuts must not be taken from the data: whoever sees them learns them. What is declared, and
    the total, never change.
    """
    from unveil.dp.curator import make_ledger, repeated_people_note

    declared = _declare_table(number, cuts, categories, subject, rows_per_person, missing)
    with progress_bar(reading_text(file), quiet) as progress:
        table = read_table(file, given)
        made = make_ledger(ledger, table, declared, epsilon, another_budget=another_budget, progress=progress)
        doubt = repeated_people_note(table, declared)
    tell = note_printer(quiet)
    for note in [*made.notes, *([doubt] if doubt else [])]:
        tell(note)
    tell(f"{safe_text(ledger, 200)} written, with {made.total.text(made.unit)} to spend; keep it, and keep it secret")


def _declare_table(
    numbers: Sequence[str],
    cuts: Sequence[str],
    categories: Sequence[str],
    subject: str | None,
    rows_per_person: int | None,
    missing: Sequence[str],
) -> DeclaredTable:
    from unveil.dp.declarations import DeclaredTable, parse_decimal
    from unveil.policy import Policy

    cut_at: dict[str, tuple[Any, ...]] = {}
    for column, text in (_split_option(each, "--cuts") for each in cuts):
        if column in cut_at:
            raise UnveilError(f"--cuts {safe_text(column)} is given twice; write all its cuts in one")
        cut_at[column] = tuple(parse_decimal(cut.strip(), "--cuts") for cut in text.split(","))
    columns: list[NumberColumn | CategoryColumn] = [
        _declare_number(column, text, cut_at.pop(column, ()))
        for column, text in (_split_option(each, "--number") for each in numbers)
    ]
    for undeclared in cut_at:
        raise UnveilError(f"--cuts {safe_text(undeclared)}: declare its bounds as well, with --number")
    columns += [_declare_categories(*_split_option(each, "--categories")) for each in categories]
    if rows_per_person is not None and subject is None:
        raise UnveilError("--rows-per-person needs --subject; without it, each row is a person")
    return DeclaredTable(tuple(columns), subject, rows_per_person or 1, tuple(missing) or Policy().missing)


def _split_option(text: str, option: str) -> tuple[str, str]:
    column, sign, value = text.partition("=")
    if not (column.strip() and sign and value.strip()):
        raise UnveilError(f"{option} {safe_text(text)}: write COLUMN=…, as in the examples of --help")
    return column.strip(), value


def _declare_number(column: str, text: str, cuts: tuple[Any, ...]) -> NumberColumn:
    from decimal import Decimal

    from unveil.dp.declarations import NumberColumn, parse_decimal

    parts = text.split(":")
    if len(parts) not in (2, 3):
        raise UnveilError(f"--number {safe_text(column)}: write its bounds as FROM:TO, or FROM:TO:STEP")
    lower, upper, *step = (parse_decimal(part.strip(), f"--number {safe_text(column)}") for part in parts)
    return NumberColumn(column, lower, upper, step[0] if step else Decimal(1), cuts)


def _declare_categories(column: str, text: str) -> CategoryColumn:
    from unveil.dp.declarations import CategoryColumn

    values = _read_lines(text[1:]) if text.startswith("@") else text.split(",")
    return CategoryColumn(column, tuple(value.strip() for value in values if value.strip()))


def _read_lines(file: str) -> list[str]:
    try:
        with open(file, "rb") as opened:
            data = opened.read(_MOST_LIST_BYTES + 1)
    except OSError as error:
        raise UnveilError(f"{safe_text(file, 200)}: cannot be read ({error.strerror})") from None
    if len(data) > _MOST_LIST_BYTES:
        raise UnveilError(f"{safe_text(file, 200)}: is longer than {_MOST_LIST_BYTES:,} bytes; list fewer categories")
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise UnveilError(f"{safe_text(file, 200)}: is not UTF-8 text; save it as UTF-8") from None


@command.command("rebind", epilog=_REBIND_EPILOG, short_help="Bind a ledger to a new version of its table.")
@click.argument("file", type=click.Path())
@_LEDGER
@_ANOTHER
@table_reading_options
@quiet_option
def rebind(file: str, ledger: str, another_budget: bool, quiet: bool, **given: Any) -> None:
    """Bind a ledger to FILE, a new version of its table. What was spent stays spent, as many people are in both."""
    from unveil.dp.curator import rebind_ledger
    from unveil.ledger import Ledger

    opened = Ledger.open(ledger)
    with progress_bar(reading_text(file), quiet) as progress:
        rebind_ledger(opened, read_table(file, given), another_budget=another_budget, progress=progress)
    tell = note_printer(quiet)
    for note in opened.notes:
        tell(note)
    tell(f"{safe_text(ledger, 200)} is about {safe_text(file, 200)} now; {opened.left().text(opened.unit)} is left")


@command.command("show", epilog=_SHOW_EPILOG, short_help="Say what was asked, what it cost, and what is left.")
@click.argument("ledger", type=click.Path())
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@quiet_option
def show(ledger: str, form: str, quiet: bool) -> None:
    """Say what was asked of the table of a LEDGER, what it cost, and how much more can be asked."""
    from unveil.ledger import Ledger

    opened = Ledger.open(ledger)
    tell = note_printer(quiet)
    for note in opened.notes:
        tell(note)
    if form == "json":
        click.echo(json.dumps(_ledger_json(opened), indent=2))
    else:
        _print_ledger(opened)


def _ledger_json(ledger: Ledger) -> dict[str, Any]:
    from unveil.dp.curator import answer_from_entry
    from unveil.dp.declarations import DeclaredTable
    from unveil.ledger.privacy_cost import exact_text

    declared = DeclaredTable.from_json(ledger.terms)
    return {
        "ledger": ledger.id,
        "declared": dict(ledger.terms),
        "total": exact_text(ledger.total.loss),
        "spent": exact_text(ledger.spent().loss),
        "left": exact_text(ledger.left().loss),
        "versions": [{"since": v.since.isoformat(), "other_ledgers": list(v.beside)} for v in ledger.versions()],
        "answers": [
            {"when": e.when.isoformat(), "version": e.version, **answer_from_entry(e, declared).to_json()}
            for e in ledger.entries()
        ],
    }


def _print_ledger(ledger: Ledger) -> None:
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    from unveil.dp.curator import other_ledgers
    from unveil.dp.declarations import DeclaredTable
    from unveil.ledger.privacy_cost import exact_text

    console = Console()
    declared, entries = DeclaredTable.from_json(ledger.terms), ledger.entries()
    spent, left = ledger.spent(), ledger.left()
    console.print(
        f"ledger {ledger.id}, made {ledger.versions()[0].since:%Y-%m-%d}: {spent.text(ledger.unit)} spent of "
        f"{ledger.total.text(ledger.unit)}, {left.text(ledger.unit)} left",
        highlight=False,
    )
    for line in _declared_lines(declared):
        console.print(Text(f"  {line}"))
    if beside := other_ledgers(ledger):
        console.print(
            Text(f"  {count_text(len(beside), 'other ledger is', 'other ledgers are')} about the same data or people")
        )
    if not entries:
        console.print("Nothing was asked yet.")
        return
    grid = Grid("when", "question", "answer", "ε")
    for entry in entries:
        grid.add_row(
            f"{entry.when:%Y-%m-%d %H:%M}",
            Text(safe_text(entry.details["question"], 200)),
            Text(safe_text(_answer_text(entry.answer), 200)),
            exact_text(entry.cost.loss),
        )
    console.print(grid)
    mean = sum((entry.cost.loss for entry in entries), Fraction(0)) / len(entries)
    more = count_text(int(left.loss / mean), "more answer")
    console.print(
        f"An answer cost ε = {number_text(float(mean))} on average; at that price, {more} can be given.",
        highlight=False,
        soft_wrap=True,
    )


def _answer_text(answer: Mapping[str, Any]) -> str:
    """What came out, with the value if that is a text."""
    values = answer["values"]
    if len(values) == 1 and isinstance(values[0][1], str):
        return f"{values[0][1]}. {answer['sentence']}"
    return str(answer["sentence"])


def _declared_lines(declared: DeclaredTable) -> list[str]:
    from unveil.dp.declarations import NumberColumn, plain_text

    lines = []
    for column in declared.columns:
        if isinstance(column, NumberColumn):
            cuts = f", cut at {', '.join(map(plain_text, column.cuts))}" if column.cuts else ""
            lines.append(
                f"{safe_text(column.name)}: {plain_text(column.lower)} to {plain_text(column.upper)} in steps of "
                f"{plain_text(column.step)}{cuts}"
            )
        else:
            lines.append(f"{safe_text(column.name)}: {count_text(len(column.values), 'category', 'categories')}")
    if declared.person_column is None:
        return [*lines, "each row is a person"]
    rows = count_text(declared.rows_per_person, "row")
    return [*lines, f"{safe_text(declared.person_column)} says who a row is about; {rows} of each person count"]
