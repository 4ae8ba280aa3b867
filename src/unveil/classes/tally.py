"""Different rows and how often each occurs: all that the questions about classes need to know of a table.

Up to a million rows, a file that stores its columns as numbers and dictionaries is read column by column, and each row
becomes one number in mixed radix: equal numbers are counted, and only the different ones are taken apart again. In
general the engine counts equal rows, and the different ones are turned into codes. Where there are few rows, or nearly
all of them differ, there is little to gain from counting, and all rows are turned into codes at once. Whether they
differ is told from the first rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unveil.grouping import Ints
from unveil.release.codes import Codes, arrow_numbers, encode, numbered, plain
from unveil.release.table import Table
from unveil.run import Run

__all__ = ["Tally", "every_row", "tally"]

_FEW = 100_000  # rows up to which all are turned into codes
_SMALL = 1_000_000  # rows up to which they are counted in any case, in memory if they can be
_HEAD = 20_000
_MOST = 1 << 62
_DIFFER = 0.8


@dataclass(frozen=True, eq=False)
class Tally:
    """Rows by their codes, column by column; ``counts`` is how often each occurs, None where every row stands for
    itself (then in the order of the table)."""

    columns: dict[str, Codes]
    counts: Ints | None
    people: int

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())).codes) if self.columns else min(1, self.people)

    def codes(self, names: Sequence[str]) -> list[npt.NDArray[np.int32]]:
        """The codes of some columns."""
        return [self.columns[name].codes for name in names]


def tally(table: Table, columns: Sequence[str], run: Run | None = None) -> Tally:
    """The different rows of these columns. −1 is missing, and a value of its own."""
    columns = tuple(dict.fromkeys(columns))
    if not columns:
        return Tally({}, np.array([table.rows]), table.rows)
    if (table.rows <= _FEW and not table.stored) or _mostly_different(table, columns, run):
        return Tally(table.codes(columns, (), run), None, table.rows)
    counted = _counted(table, columns, run) if table.stored and table.rows <= _SMALL else None
    if counted is not None:
        return counted
    by = ", ".join(table.column(c) for c in columns)
    found = table.query(f"SELECT {by}, count(*) AS many FROM {table.relation} GROUP BY {by}", run, "counting rows")
    coded = {c: encode(found.column(i)) for i, c in enumerate(columns)}
    return Tally(coded, plain(found["many"].combine_chunks().cast(pa.int64())), table.rows)


def _counted(table: Table, columns: Sequence[str], run: Run | None) -> Tally | None:
    """The different rows of a file that stores its columns; None if a row would not fit into one number."""
    key, bound, shift = np.zeros(table.rows, np.int64), 1, 0
    bases, ranked = list[int](), list[tuple[npt.NDArray[np.int32], pa.Array]]()
    for column in map(numbered, table.dictionaries(columns)):
        if run is not None:
            run.check()
        base = len(column.values) + 1
        bound, shift = bound * base, shift * base + 1
        if bound > _MOST:
            return None
        key *= base
        begin = 0
        for part in column.parts:  # numbers from −1 on; that they should be from 0 on is made good at the end
            key[begin : begin + len(part)] += part
            begin += len(part)
        bases.append(base)
        ranked.append(column.ranked())
    found = pc.value_counts(arrow_numbers(key))
    left, coded = plain(found.field(0)) + shift, dict[str, Codes]()
    for name, base, (rank, values) in reversed(list(zip(columns, bases, ranked, strict=True))):
        left, digit = np.divmod(left, base)
        coded[name] = Codes(rank[digit - 1], values)
    return Tally({name: coded[name] for name in columns}, plain(found.field(1)), table.rows)


def every_row(table: Table, columns: Sequence[str], run: Run | None = None) -> Tally:
    """Every row for itself, in the order of the table."""
    return Tally(table.codes(columns, (), run), None, table.rows)


def _mostly_different(table: Table, columns: Sequence[str], run: Run | None) -> bool:
    """Whether most of the first rows differ."""
    if table.rows <= _SMALL:
        return False
    by = ", ".join(table.column(c) for c in columns)
    head = f"(SELECT {by} FROM {table.relation} LIMIT {_HEAD})"
    found = table.query(f"SELECT count(*) AS many FROM (SELECT DISTINCT {by} FROM {head} AS head) AS rows_", run)
    return bool(found["many"][0].as_py() > _DIFFER * _HEAD)
