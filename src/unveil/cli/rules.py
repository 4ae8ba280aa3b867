"""``unveil rules``: what a value follows from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.output import check_output_files
from unveil.cli.policy import column_names
from unveil.cli.reading import read_release, reading_options, reading_text
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.release import Release, Table
from unveil.wording import count_text, list_text, number_text, percent_text, plural_noun, safe_text, verb

if TYPE_CHECKING:
    from unveil.inference.implying_sets import Implication
    from unveil.inference.named_attributes import NamedAttributes

__all__ = ["command"]

_EPILOG = """The result shows values: keep it secret.

\b
Examples:
  unveil rules patients.csv --target diagnosis=flu
  unveil rules patients.csv --target diagnosis=flu --columns age,zip,job --least-support 5
  unveil rules baskets.dat --target bread --facts-known 2 --format json -o rules.json
"""
_MOST_LINES = 60
_WORDS = (("row", "value", "has", "have"), ("basket", "item", "contains", "contain"))  # of tables, of transactions


@click.command("rules", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.option("--target", required=True, metavar="TARGET", help="A value, as COLUMN=VALUE; of transactions, an item.")
@click.option(
    "--columns", metavar="COLUMNS", help="Tables: columns that a rule may use, comma-separated; all by default."
)
@click.option(
    "--facts-known",
    "most_known",
    type=click.IntRange(1, 9),
    default=3,
    show_default=True,
    help="The most values or items that a rule may name.",
)
@click.option(
    "--least-support",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="The fewest rows or baskets that must obey a rule.",
)
@click.option("--missing", multiple=True, metavar="TEXT", help="Text that stands for a missing value. Repeatable.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write the result to FILE instead of standard output.")
@reading_options
@quiet_option
def command(
    file: str,
    target: str,
    columns: str | None,
    most_known: int,
    least_support: int,
    missing: tuple[str, ...],
    form: str,
    output: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Find the smallest sets of values in FILE that imply a TARGET: whoever has them all has it as well.

    Those that most rows or baskets obey come first. Numbers and dates with more than 20 different values are cut into
    ranges. A missing value is a value of its own; in the column of the target it neither supports nor refutes a rule.
    """
    from unveil.inference.implying_sets import find_implying_sets
    from unveil.release.delivery import OutputFile, deliver_files
    from unveil.run import Run

    check_output_files([output], [file])
    with progress_bar(reading_text(file), quiet) as report:
        release = read_release(file, given)
        chosen = column_names(columns) if columns is not None else ()
        named, wanted = _find_target(release, target, chosen, missing or Policy().missing)
        report("looking for rules", None)
        try:
            rules = find_implying_sets(
                named.relation, wanted, most_known=most_known, least_support=least_support, run=Run(progress=report)
            )
        except UnveilError as error:
            raise UnveilError(f"{safe_text(release.name)}: {error}") from None
    rules.sort(key=lambda rule: (-rule.support, len(rule.known), rule.known))
    tell = note_printer(quiet)
    for said in (*release.notes, *named.notes):
        tell(f"{safe_text(release.name)}: {said}")
    if form == "json":
        text = json.dumps(_plain_rules(named, wanted, rules), indent=2) + "\n"
    else:
        text = "".join(f"{line}\n" for line in _describe_rules(named, wanted, rules, most_known, least_support))
    if output:
        deliver_files([OutputFile(output, text.encode(), private=True)])
        tell(f"{safe_text(output, 200)} written, for your eyes only")
    else:
        click.echo(text, nl=False)


def _find_target(
    release: Release, target: str, columns: tuple[str, ...], missing: tuple[str, ...]
) -> tuple[NamedAttributes, int]:
    """The attributes of a release, and the one that is the target."""
    from unveil.inference.named_attributes import name_attributes

    column, value = _split_target(release, target) if isinstance(release, Table) else (None, target)
    chosen = (*columns, column) if columns and column else columns
    named = name_attributes(release, chosen, missing=missing, target=column)
    found = named.find(column, value)
    if found is None:
        where = f"{safe_text(column)!r} has no such value" if column else "there is no such item"
        raise UnveilError(f"{safe_text(release.name)}: {where}; write --target as the file does, spaces included")
    return named, found


def _split_target(table: Table, target: str) -> tuple[str, str]:
    """The column and the value that ``COLUMN=VALUE`` names; either may contain further equals signs."""
    from unveil.release.roles import check_column

    places = [k for k, letter in enumerate(target) if letter == "="]
    if not places:
        raise UnveilError("--target: write COLUMN=VALUE, such as diagnosis=flu")
    at = next((k for k in places if target[:k] in table.columns), places[0])
    check_column(table, target[:at])
    return target[:at], target[at + 1 :]


def _describe_rules(
    named: NamedAttributes, target: int, rules: Sequence[Implication], most: int, support: int
) -> Iterator[str]:
    """What was found, and every rule in a sentence."""
    name, people = named.names[target], named.relation.people
    noun, value, has, have = _WORDS[name.column is None]
    having = int(named.relation.people_with([target]).sum())
    yield f"{number_text(having)} of {count_text(people, noun)} {verb(having, has, have)} {name.text()}."
    if not rules:
        enough = f" in at least {count_text(support, noun)}" if support > 1 else ""
        yield f"No set of at most {most} of the {value}s looked at implies it{enough}."
    for rule in rules[:_MOST_LINES]:
        yield f"- {_describe_rule(named, rule, having)}"
    if len(rules) > _MOST_LINES:
        yield f"… and {count_text(len(rules) - _MOST_LINES, 'more rule')}; --format json lists all of them"


def _describe_rule(named: NamedAttributes, rule: Implication, having: int) -> str:
    """A rule in a sentence, with the rows that obey it."""
    name = named.names[rule.target]
    noun, _, has, have = _WORDS[name.column is None]
    known = list_text((named.names[a].text() for a in rule.known), longest=200)
    with_known = f" with {known}" if known else ""
    all_of_them = {1: f"The one {noun}", 2: f"Both {plural_noun(noun)}"}.get(
        rule.support, f"All {count_text(rule.support, noun)}"
    )
    gaps = f" whose {safe_text(name.column)} is not missing" if rule.unknown else ""
    share = "" if rule.support == having else f", {percent_text(rule.support / having)} of all that do"
    return f"{all_of_them}{with_known}{gaps} {verb(rule.support, has, have)} {name.text()}{share}."


def _plain_rules(named: NamedAttributes, target: int, rules: Sequence[Implication]) -> dict[str, Any]:
    """The rules as JSON values."""
    return {
        "target": named.names[target].to_dict(),
        "rows": named.relation.people,
        "having": int(named.relation.people_with([target]).sum()),
        "rules": [
            {
                "known": [named.names[a].to_dict() for a in rule.known],
                "support": rule.support,
                "unknown": rule.unknown,
            }
            for rule in rules
        ],
    }
