"""``unveil hierarchy``: show, build and check the hierarchy of a column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.messages import note_printer, progress_bar, quiet_option
from unveil.cli.output import check_output_files
from unveil.cli.reading import read_table, reading_text, table_reading_options
from unveil.errors import UnveilError
from unveil.policy import RULE_EXAMPLES, Policy
from unveil.wording import count_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.arrays import Ints
    from unveil.release.hierarchy import Hierarchy
    from unveil.release.table import Table

__all__ = ["command"]

_EPILOG = f"""A rule is {RULE_EXAMPLES}. Without one, the values decide which it is.

\b
Examples:
  unveil hierarchy patients.csv --column zip
  unveil hierarchy patients.csv --column age --rule quantiles:8,4,2 -o age.csv
  unveil hierarchy patients.csv --column job --rule jobs.csv --reveal
  unveil protect patients.csv --hierarchy age=age.csv --hierarchy job=jobs.csv -o safe.csv
"""
_MOST_LINES = 60


@click.command("hierarchy", epilog=_EPILOG)
@click.argument("file", type=click.Path())
@click.option("--column", required=True, metavar="COLUMN", help="The column whose values are put in a hierarchy.")
@click.option(
    "--rule",
    metavar="RULE",
    help="A rule, or a hierarchy file to be checked: in ARX's format, or nested lists as .json.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the hierarchy to FILE in ARX's format.")
@click.option("--missing", multiple=True, metavar="TEXT", help="Text that stands for a missing value. Repeatable.")
@click.option("--reveal", is_flag=True, help="Draw the values themselves as well. Keep the result secret.")
@table_reading_options
@quiet_option
def command(
    file: str,
    column: str,
    rule: str | None,
    output: str | None,
    missing: tuple[str, ...],
    reveal: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Show the hierarchy of a COLUMN of FILE as a tree, with the share of rows under each label; build it by a rule and
    write it in ARX's format, or check one that is given."""
    from unveil.release.delivery import OutputFile, deliver_files

    check_output_files([output], [file, *([rule] if rule else [])])
    with progress_bar(reading_text(file), quiet):
        table = read_table(file, given)
        hierarchy, rows = _build_hierarchy(table, column, rule, missing or Policy().missing)
    if output:
        deliver_files([OutputFile(output, _arx_file(hierarchy), private=True)])
        note_printer(quiet)(f"{safe_text(output, 200)} written")
    for line in _describe(hierarchy, column, rows):
        click.echo(line)
    drawn = list(_tree(hierarchy, rows, reveal))
    for line in drawn[:_MOST_LINES]:
        click.echo(line)
    if len(drawn) > _MOST_LINES:
        click.echo(f"… and {count_text(len(drawn) - _MOST_LINES, 'more label')}")


def _build_hierarchy(table: Table, column: str, rule: str | None, missing: tuple[str, ...]) -> tuple[Hierarchy, Ints]:
    """The hierarchy, and how many rows have each of its values."""
    import numpy as np

    from unveil.release.coarsening import default_rule
    from unveil.release.codes import cast_to_text
    from unveil.release.policy_hierarchies import load_hierarchies
    from unveil.release.roles import check_column

    check_column(table, column)
    codes = table.codes([column], missing)[column]
    texts = cast_to_text(codes.values).to_pylist()
    chosen = rule or default_rule(texts) or "frequency"
    policy = Policy(missing=missing, hierarchy={column: chosen})
    hierarchy = load_hierarchies({column: chosen}, [table], policy)[column]
    if rule is not None:
        hierarchy.check_column(codes, table.name, column)
    place = {text: at for at, text in enumerate(hierarchy.values.to_pylist())}
    rows = np.zeros(len(place), np.int64)
    for text, many in zip(
        texts, np.bincount(codes.codes[codes.codes >= 0], minlength=len(texts)).tolist(), strict=True
    ):
        if text in place:
            rows[place[text]] = many
    if not rows.sum():
        raise UnveilError(f"{safe_text(table.name)}: {safe_text(column)!r} has no value that the hierarchy contains")
    return hierarchy, rows


def _arx_file(hierarchy: Hierarchy) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(hierarchy.rows())
    return text.getvalue().encode()


def _describe(hierarchy: Hierarchy, column: str, rows: Ints) -> Iterator[str]:
    """How many labels each level has, and how many rows the rarest of them."""
    import numpy as np

    values, levels = count_text(len(hierarchy.values), "value"), count_text(hierarchy.height, "level")
    yield f"{safe_text(column)}: {values}, {levels} above them"
    for level in range(hierarchy.height + 1):
        codes = hierarchy.generalise(np.arange(len(rows), dtype=np.int32), level)
        under = np.bincount(codes, rows).astype(np.int64)
        some = under[under > 0]
        yield (
            f"  level {level}: {count_text(len(some), 'label')}, the rarest in {count_text(int(some.min()), 'row')}, "
            f"the most frequent in {number_text(int(some.max()))}"
        )


def _tree(hierarchy: Hierarchy, rows: Ints, reveal: bool) -> Iterator[str]:
    """The labels as a tree, from the root down to level 1, or to the values if they are revealed. A label that is a
    value itself is not shown otherwise."""
    from unveil.release.nested_lists import GROUP_SEPARATOR

    total, values = max(1, int(rows.sum())), set() if reveal else set(hierarchy.values.to_pylist())

    def draw(level: int, code: int, indent: str, last: bool) -> Iterator[str]:
        tree = hierarchy.leaves_under(level)
        leaves = tree.leaves[tree.indptr[code] : tree.indptr[code + 1]]
        text = hierarchy.labels(level)[code].as_py()
        label = safe_text(text)
        if values.issuperset(text.split(GROUP_SEPARATOR)):  # a group without a name is called by its values
            label = "a value" if text in values else "several values"
        branch = "" if level == hierarchy.height else ("└─ " if last else "├─ ")
        yield f"{indent}{branch}{label}  {percent_text(float(rows[leaves].sum() / total))}"
        if level <= (0 if reveal else 1):
            return
        below = list(dict.fromkeys(hierarchy.generalise(leaves, level - 1).tolist()))
        deeper = indent if level == hierarchy.height else indent + ("   " if last else "│  ")
        for at, child in enumerate(below):
            yield from draw(level - 1, child, deeper, at == len(below) - 1)

    yield from draw(hierarchy.height, 0, "", True)
