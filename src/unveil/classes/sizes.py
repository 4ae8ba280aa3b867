"""Class sizes: how many people share their quasi-identifiers.

Two rows are in the same class when they agree on every quasi-identifier. A missing value is a value of its own here: it
agrees only with the same text, which makes classes smaller and never understates the risk.

Where a column says which rows are the same person, a class counts people, not rows: two people are in the same class
when their rows show the same *set* of quasi-identifiers. The released rows of a person are linked, and whoever knows
several of them can use them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unveil.classes.missing import Missing
from unveil.crowds import Crowds
from unveil.release.table import Table
from unveil.run import Run

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from unveil.classes.models import Classes

__all__ = [
    "ByValue",
    "SmallClass",
    "ValuesIn",
    "by_value",
    "class_sizes",
    "number_order",
    "smallest_classes",
    "values_of",
]


def class_sizes(table: Table, quasi: Sequence[str], subject: str | None = None, run: Run | None = None) -> Crowds:
    """How many people stand in classes of each size, by one pass over the table."""
    sql = (
        f"SELECT size, count(*) * size AS people FROM (SELECT count(*) AS size FROM {_people(table, quasi, subject)}) "
        "AS classes GROUP BY size ORDER BY size"
    )
    found = table.query(sql, run, "counting classes")
    return Crowds(found["size"].to_numpy(), found["people"].to_numpy())


@dataclass(frozen=True, eq=False)
class ValuesIn:
    """A sensitive column in the classes. ``texts`` are its values by code, ``rank`` their order where they are numbers.
    ``strict`` are the classes that someone sees who knows all other sensitive columns too; None if there are none."""

    column: str
    classes: Classes
    texts: pa.Array
    rank: npt.NDArray[np.float64] | None
    strict: Classes | None = None


@dataclass(frozen=True, eq=False)
class ByValue:
    """How many people stand in classes of each size, and the sensitive columns in these classes."""

    crowds: Crowds
    values: tuple[ValuesIn, ...]


def by_value(
    table: Table,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    subject: str | None = None,
    missing: Missing | None = None,
    run: Run | None = None,
) -> ByValue:
    """Class sizes and the sensitive values in the classes, by one pass over the table.

    A person with several rows has several values: each different one counts once.
    """
    from unveil.classes.rows import rows_of
    from unveil.classes.tally import tally
    from unveil.release.codes import without

    missing = missing or Missing()
    found = tally(table, (*quasi, *sensitive, *([subject] if subject else [])), run=run)
    room = max((len(found.columns[c].values) + 2 for c in sensitive), default=2)
    rows = rows_of(found, quasi, subject, missing, room, run)
    made = []
    for column in sensitive:
        own = without(found.columns[column], missing.texts)
        others = [found.columns[c].codes for c in sensitive if c != column]
        strict = rows.divided(others).classes(own.codes) if others else None
        made.append(ValuesIn(column, rows.classes(own.codes), own.values, number_order(own.values), strict))
    whole = next((v.classes for v in made if rows.simple and v.classes.people == table.rows), None)
    return ByValue(rows.crowds() if whole is None else Crowds.of_classes(whole.size), tuple(made))


def number_order(values: pa.Array) -> npt.NDArray[np.float64] | None:
    """The values as numbers, if all of them are; they then have an order. A yes or no has none."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(values.type) or not len(values):
        return None
    try:
        numbers = np.asarray(pc.cast(values, pa.float64(), safe=False), np.float64)
    except (pa.ArrowException, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


@dataclass(frozen=True)
class SmallClass:
    """A class by the number of its first row (1 is the first row of data) and its size."""

    row: int
    size: int


def smallest_classes(
    table: Table,
    quasi: Sequence[str],
    below: float,
    limit: int,
    subject: str | None = None,
    missing: Missing | None = None,
    run: Run | None = None,
) -> list[SmallClass]:
    """The smallest classes of fewer than ``below`` people, at most ``limit``, in order of size and row."""
    if missing is not None and not missing.plain:
        from unveil.classes.rows import rows_of
        from unveil.classes.tally import every_row

        each = every_row(table, (*quasi, *([subject] if subject else [])), run)
        rows = rows_of(each, quasi, subject, missing, run=run)
        return [SmallClass(row + 1, size) for row, size in rows.smallest(below, limit)]
    sql = (
        f"SELECT min(row_no) AS first_row, count(*) AS size FROM {_people(table, quasi, subject, numbered=True)} "
        f"HAVING count(*) < {below:g} ORDER BY size, first_row LIMIT {limit}"
    )
    found = table.query(sql, run, "finding the smallest classes").to_pylist()
    return [SmallClass(f["first_row"], f["size"]) for f in found]


def values_of(table: Table, rows: Sequence[int], columns: Sequence[str], run: Run | None = None) -> pa.Table:
    """The values of these columns in these rows, in the order of ``rows``."""
    picked = ", ".join(table.column(c) for c in columns)
    wanted = ", ".join(str(r) for r in rows)
    found = table.query(f"SELECT row_no, {picked} FROM {table.numbered} WHERE row_no IN ({wanted})", run)
    order = {row: i for i, row in enumerate(found["row_no"].to_pylist())}
    return found.take([order[r] for r in rows]).drop_columns("row_no").rename_columns(list(columns))


def _people(table: Table, quasi: Sequence[str], subject: str | None, numbered: bool = False) -> str:
    """People grouped into classes: ``… GROUP BY …`` after a FROM, with the first row of each person if numbered."""
    columns = ", ".join(table.column(c) for c in quasi)
    rows = table.numbered if numbered else table.relation
    if subject is None:
        return f"{rows} GROUP BY {columns}"
    first = ", min(row_no) AS row_no" if numbered else ""
    known = f"list_sort(list(DISTINCT struct_pack({', '.join(f'{c} := {c}' for c in map(table.column, quasi))})))"
    return f"(SELECT {known} AS known{first} FROM {rows} GROUP BY {table.column(subject)}) AS people GROUP BY known"
