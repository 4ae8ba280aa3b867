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

from unveil.crowds import Crowds
from unveil.release.table import Table
from unveil.run import Run

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from unveil.classes.grouping import Ints
    from unveil.classes.models import Classes

__all__ = ["ByValue", "SmallClass", "by_value", "class_sizes", "number_order", "smallest_classes", "values_of"]


def class_sizes(table: Table, quasi: Sequence[str], subject: str | None = None, run: Run | None = None) -> Crowds:
    """How many people stand in classes of each size, by one pass over the table."""
    sql = (
        f"SELECT size, count(*) * size AS people FROM (SELECT count(*) AS size FROM {_people(table, quasi, subject)}) "
        "AS classes GROUP BY size ORDER BY size"
    )
    found = table.query(sql, run, "counting classes")
    return Crowds(found["size"].to_numpy(), found["people"].to_numpy())


@dataclass(frozen=True, eq=False)
class ByValue:
    """How many people stand in classes of each size, and for every sensitive column its classes and, where its values
    are numbers, their order."""

    crowds: Crowds
    values: tuple[tuple[str, Classes, npt.NDArray[np.float64] | None], ...]


def by_value(
    table: Table, quasi: Sequence[str], sensitive: Sequence[str], subject: str | None = None, run: Run | None = None
) -> ByValue:
    """Class sizes and the sensitive values in the classes, by one pass over the table.

    A person with several rows has several values: each different one counts once.
    """
    import numpy as np

    from unveil.classes.grouping import packed, people
    from unveil.classes.models import classes_of
    from unveil.classes.tally import tally

    found = tally(table, (*quasi, *sensitive, *([subject] if subject else [])), run=run)
    columns, rows = found.columns, len(found)
    most = max(len(columns[c].values) for c in sensitive) + 2
    key, bound = packed(found.codes(quasi), rows, room=most)
    counts = found.counts
    who: Ints | None = None
    if subject is not None:
        _, ids = np.unique(key, return_inverse=True)
        of_person, who = people(ids, columns[subject].codes)
        key, bound, counts = of_person[who], int(of_person.max()) + 1, None
        sizes = np.bincount(of_person)
        crowds = Crowds(*_by_size(sizes))
    made = []
    for column in sensitive:
        codes = columns[column].codes
        if who is None:
            classes = classes_of(key, bound, codes, counts)
        else:
            once = np.unique(who * (len(columns[column].values) + 1) + codes + 1, return_index=True)[1]
            classes = classes_of(key[once], bound, codes[once])
        made.append((column, classes, number_order(columns[column].values)))
    if who is None:
        crowds = Crowds(*_by_size(made[0][1].size))
    return ByValue(crowds, tuple(made))


def _by_size(sizes: Ints) -> tuple[Ints, Ints]:
    import numpy as np

    values, classes = np.unique(sizes, return_counts=True)
    return values, values * classes


def number_order(values: pa.Array) -> npt.NDArray[np.float64] | None:
    """The values as numbers, if all of them are; they then have an order. A yes or no has none."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(values.type) or not len(values):
        return None
    try:
        numbers = np.asarray(pc.cast(values, pa.float64()), np.float64)
    except (pa.ArrowException, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


@dataclass(frozen=True)
class SmallClass:
    """A class by the number of its first row (1 is the first row of data) and its size."""

    row: int
    size: int


def smallest_classes(
    table: Table, quasi: Sequence[str], below: float, limit: int, subject: str | None = None, run: Run | None = None
) -> list[SmallClass]:
    """The smallest classes of fewer than ``below`` people, at most ``limit``, in order of size and row."""
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
