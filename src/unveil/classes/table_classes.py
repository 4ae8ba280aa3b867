"""Classes of a table: people who share their quasi-identifiers.

Two rows are in the same class if they agree on every quasi-identifier. A missing value is a value of its own here.

If a column says which rows belong to the same person, a class counts people, not rows: two people are in the same class
if their rows show the same *set* of quasi-identifiers. The release links a person's rows, and an attacker who knows
several of them can use them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.class_sizes import ClassSizes
from unveil.classes.missing_values import MissingValues
from unveil.release.table import Table
from unveil.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Floats
    from unveil.classes.diversity import SensitiveClasses

__all__ = ["SmallClass", "classes_with_values", "count_class_sizes", "smallest_classes"]


def count_class_sizes(
    table: Table, quasi: Sequence[str], subject: str | None = None, run: Run | None = None
) -> ClassSizes:
    """Count the people in classes of each size, in one pass over the table."""
    sql = (
        "SELECT size, count(*) * size AS people FROM (SELECT count(*) AS size FROM "
        f"{_people_by_class_sql(table, quasi, subject)}) AS classes GROUP BY size ORDER BY size"
    )
    found = table.query(sql, run, "counting classes")
    return ClassSizes(found["size"].to_numpy(), found["people"].to_numpy())


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column and its classes. ``texts`` are its values by code, ``rank`` their order if they are numbers.
    ``classes_if_others_known`` are the classes for an attacker who also knows all other sensitive columns; None if
    there are none."""

    column: str
    classes: SensitiveClasses
    texts: pa.Array
    rank: Floats | None
    classes_if_others_known: SensitiveClasses | None = None


@dataclass(frozen=True, eq=False)
class ClassesWithValues:
    """The number of people in classes of each size, and the sensitive columns of these classes."""

    class_sizes: ClassSizes
    values: tuple[SensitiveColumn, ...]


def classes_with_values(
    table: Table,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    subject: str | None = None,
    missing: MissingValues | None = None,
    run: Run | None = None,
) -> ClassesWithValues:
    """Class sizes and the sensitive values in the classes, in one pass over the table.

    A person with several rows has several values; each different value counts once.
    """
    from unveil.classes.known_rows import select_known_rows
    from unveil.classes.tally import tally_rows
    from unveil.release.codes import mark_missing

    missing = missing or MissingValues()
    found = tally_rows(table, (*quasi, *sensitive, *([subject] if subject else [])), run=run)
    max_sensitive_values = max((len(found.columns[c].values) + 2 for c in sensitive), default=2)
    rows = select_known_rows(found, quasi, subject, missing, max_sensitive_values, run)
    made = []
    for column in sensitive:
        own = mark_missing(found.columns[column], missing.texts)
        others = [found.columns[c].codes for c in sensitive if c != column]
        stricter = rows.with_known_columns(others).classes(own.codes) if others else None
        made.append(SensitiveColumn(column, rows.classes(own.codes), own.values, numeric_order(own.values), stricter))
    is_simple = not rows.has_wildcards and rows.person is None and rows.where is None  # each row is in one class
    whole = next((v.classes for v in made if is_simple and v.classes.people == table.rows), None)
    return ClassesWithValues(rows.class_sizes() if whole is None else ClassSizes.from_classes(whole.size), tuple(made))


def numeric_order(values: pa.Array) -> Floats | None:
    """The values as numbers, which gives them an order; None if any is not a number, or for booleans."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(values.type) or not len(values):
        return None
    try:
        numbers = np.asarray(pc.cast(values, pa.float64(), safe=False), np.float64)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


@dataclass(frozen=True)
class SmallClass:
    """A class, given by the number of its first row (1 is the first row of data) and its size."""

    row: int
    size: int


def smallest_classes(
    table: Table,
    quasi: Sequence[str],
    below: float,
    limit: int,
    subject: str | None = None,
    missing: MissingValues | None = None,
    run: Run | None = None,
) -> list[SmallClass]:
    """The smallest classes of fewer than ``below`` people, at most ``limit``, ordered by size and row."""
    if missing is not None and not missing.is_own_value:
        from unveil.classes.known_rows import select_known_rows
        from unveil.classes.tally import tally_every_row

        each = tally_every_row(table, (*quasi, *([subject] if subject else [])), run)
        rows = select_known_rows(each, quasi, subject, missing, run=run)
        return [SmallClass(row + 1, size) for row, size in rows.smallest_classes(below, limit)]
    sql = (
        "SELECT min(row_no) AS first_row, count(*) AS size FROM "
        f"{_people_by_class_sql(table, quasi, subject, numbered=True)} HAVING count(*) < {below:g} ORDER BY size, "
        f"first_row LIMIT {limit}"
    )
    found = table.query(sql, run, "finding the smallest classes").to_pylist()
    return [SmallClass(f["first_row"], f["size"]) for f in found]


def read_row_values(table: Table, rows: Sequence[int], columns: Sequence[str], run: Run | None = None) -> pa.Table:
    """The values of these columns in these rows, in the order of ``rows``."""
    picked = ", ".join(["row_no", *(table.column(c) for c in columns)])
    row_list = ", ".join(str(r) for r in rows)
    found = table.query(f"SELECT {picked} FROM {table.numbered_relation} WHERE row_no IN ({row_list})", run)
    order = {row: i for i, row in enumerate(found["row_no"].to_pylist())}
    return found.take([order[r] for r in rows]).drop_columns("row_no").rename_columns(list(columns))


def _people_by_class_sql(table: Table, quasi: Sequence[str], subject: str | None, numbered: bool = False) -> str:
    """SQL to follow FROM: people grouped into classes, with the first row of each person if numbered."""
    columns = ", ".join(table.column(c) for c in quasi)
    rows = table.numbered_relation if numbered else table.relation
    if subject is None:
        return f"{rows} GROUP BY {columns}"
    first = ", min(row_no) AS row_no" if numbered else ""
    known = f"list_sort(list(DISTINCT struct_pack({', '.join(f'{c} := {c}' for c in map(table.column, quasi))})))"
    return f"(SELECT {known} AS known{first} FROM {rows} GROUP BY {table.column(subject)}) AS people GROUP BY known"
