"""``unveil lattice``: which values belong together, and what they follow from."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.output import check_output_files
from unveil.cli.policy import column_names
from unveil.cli.reading import read_release, reading_options, reading_text
from unveil.errors import UnveilError
from unveil.policy import Policy
from unveil.wording import count_text, list_text, safe_text, verb

if TYPE_CHECKING:
    from unveil.inference.closed_sets import ClosedSets
    from unveil.inference.relation import Relation

__all__ = ["command"]

_EPILOG = """\b
Examples:
  unveil lattice patients.csv --columns sex,zip,diagnosis
  unveil lattice patients.csv --columns sex,zip,diagnosis --reveal --format svg -o lattice.svg
  unveil lattice baskets.dat --format graphml -o lattice.graphml
"""
_MOST_LINES = 60
_MOST_FACES = 20_000


@click.command("lattice", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.option("--columns", metavar="COLUMNS", help="Tables: the columns to look at, all by default. Comma-separated.")
@click.option("--missing", multiple=True, metavar="TEXT", help="Text that stands for a missing value. Repeatable.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "graphml", "svg"]),
    default="text",
    show_default=True,
    help="json and graphml have all sets; svg draws up to 60.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the result to FILE instead of standard output.")
@click.option("--reveal", is_flag=True, help="Show values and items instead of numbers. Keep the result secret.")
@reading_options
@quiet_option
def command(
    file: str,
    columns: str | None,
    missing: tuple[str, ...],
    form: str,
    output: str | None,
    reveal: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Show what rows or baskets of a small FILE have in common: every set of values that some of them share, how many
    do, and the smallest sets that it follows from.

    A value appears as its column and a number, 1 for the most frequent; --reveal shows it. Numbers and dates
    with more than 20 different values are cut into ranges, and a missing value is a value of its own.
    """
    from unveil.inference.closed_sets import find_closed_sets
    from unveil.inference.named_attributes import name_attributes
    from unveil.release.delivery import OutputFile, deliver_files

    check_output_files([output], [file])
    with progress_bar(reading_text(file), quiet) as report:
        release = read_release(file, given)
        chosen = column_names(columns) if columns is not None else ()
        named = name_attributes(release, chosen, missing=missing or Policy().missing)
        report("looking for sets", None)
        names = tuple(name.text(reveal) for name in named.names)
        relation = replace(named.relation, names=names)
        try:
            found = find_closed_sets(relation)
        except UnveilError as error:
            raise UnveilError(f"{safe_text(release.name)}: {error}") from None
        render = {"text": _describe_sets, "json": _plain_lattice, "graphml": _graphml, "svg": _picture}[form]
        text = render(found, relation, reveal)
    tell = note_printer(quiet)
    for said in (*release.notes, *named.notes):
        tell(f"{safe_text(release.name)}: {said}")
    if output:
        deliver_files([OutputFile(output, text.encode(), private=reveal)])
        tell(f"{safe_text(output, 200)} written")
    else:
        click.echo(text, nl=False)


def _describe_sets(found: ClosedSets, relation: Relation, reveal: bool) -> str:
    """The sets in sentences, those that most rows share first."""
    noun, value = ("row", "value") if relation.columns is not None else ("basket", "item")
    rows = count_text(relation.people, noun)
    sets = sum(map(bool, found.sets))
    lines = [f"{count_text(sets, 'set')} of {value}s that some of {rows} have in common"]
    order = sorted(range(len(found.sets)), key=lambda k: (-found.people[k], k))
    lines += [f"- {_describe_set(found, k, noun, relation.people)}" for k in order[:_MOST_LINES]]
    if len(order) > _MOST_LINES:
        lines.append(f"… and {count_text(len(order) - _MOST_LINES, 'more set')}; --format json lists all of them")
    if (betti := _count_holes(relation)) is not None:
        lines.append(f"Betti numbers (pieces, holes, voids …): {', '.join(map(str, betti)) or 'none'}")
    return "".join(f"{line}\n" for line in lines)


def _describe_set(found: ClosedSets, k: int, noun: str, everybody: int) -> str:
    """Who has a set, and what it follows from."""
    one, people = found.sets[k], found.people[k]
    rows = f"All {count_text(people, noun)}" if people == everybody > 1 else count_text(people, noun)
    if not one:
        return f"{'No value' if noun == 'row' else 'No item'} is shared by all {count_text(everybody, noun)}."
    has = verb(people, "has", "have") if noun == "row" else verb(people, "contains", "contain")
    smaller = [_set_text(found, some) for some in found.generators[k] if some and some != one]
    either = ", or " if any(" and " in text for text in smaller) else " or "
    enough = f"; knowing {either.join(smaller)} is enough" if smaller else ""
    return f"{rows} {has} {_set_text(found, one)}{enough}."


def _set_text(found: ClosedSets, attributes: frozenset[int]) -> str:
    return list_text((found.names[a] for a in sorted(attributes)), limit=20, longest=130)


def _count_holes(relation: Relation) -> list[int] | None:
    """The Betti numbers of the sets of values that somebody has; None if there are too many sets."""
    from unveil.inference.closed_sets import betti_numbers, find_simplices

    try:
        return betti_numbers(find_simplices(relation)[0], _MOST_FACES)
    except UnveilError:
        return None


def _plain_lattice(found: ClosedSets, relation: Relation, reveal: bool) -> str:
    plain = {"rows": relation.people, "betti_numbers": _count_holes(relation), **found.as_plain()}
    return json.dumps(plain, indent=2) + "\n"


def _graphml(found: ClosedSets, relation: Relation, reveal: bool) -> str:
    """The sets as nodes; edges lead from each set to those directly below it."""
    from unveil.report.plot_data import label_text

    root = ET.Element("graphml", {"xmlns": "http://graphml.graphdrawing.org/xmlns"})
    for name, kind in (("label", "string"), ("people", "int"), ("follows_from", "string")):
        ET.SubElement(root, "key", {"id": name, "for": "node", "attr.name": name, "attr.type": kind})
    graph = ET.SubElement(root, "graph", {"edgedefault": "directed"})
    for k, one in enumerate(found.sets):
        node = ET.SubElement(graph, "node", {"id": f"n{k}"})
        follows = " or ".join(_set_text(found, some) or "∅" for some in found.generators[k])
        for name, text in (("label", _set_text(found, one) or "∅"), ("follows_from", follows)):
            ET.SubElement(node, "data", {"key": name}).text = label_text(text, 10_000)
        ET.SubElement(node, "data", {"key": "people"}).text = str(found.people[k])
    for upper, lower in found.edges:
        ET.SubElement(graph, "edge", {"source": f"n{upper}", "target": f"n{lower}"})
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _picture(found: ClosedSets, relation: Relation, reveal: bool) -> str:
    """The sets as a picture that stands alone."""
    from unveil.inference.lattice_chart import HIDDEN_VALUES, LATTICE_READING, MOST_DRAWN_SETS, draw_lattice
    from unveil.report.lattice_charts import lattice_svg

    if len(found.sets) > MOST_DRAWN_SETS:
        raise UnveilError(
            f"{len(found.sets):,} sets are too many for a picture of {MOST_DRAWN_SETS}; name fewer columns, or write "
            "--format graphml and let another program draw it"
        )
    reading = LATTICE_READING if reveal else f"{LATTICE_READING} {HIDDEN_VALUES}"
    drawing = lattice_svg(draw_lattice(found, reading), with_key=True)
    return drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" ', 1) + "\n"
