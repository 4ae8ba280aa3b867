"""Different rows and how often each occurs: all that the questions about classes need to know of a table.

The engine counts equal rows and only the different ones are turned into codes, unless there are few rows or nearly all
of them differ: then there is little to gain from counting, and the columns are turned into codes at once. Whether they
differ is told from the first rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unveil.classes.grouping import Ints
from unveil.release.codes import Codes, encode, plain, without
from unveil.release.table import Table
from unveil.run import Run

__all__ = ["Tally", "every_row", "tally"]

_FEW = 100_000  # rows up to which all are turned into codes
_SMALL = 1_000_000  # rows up to which the engine counts otherwise
_HEAD = 20_000
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


def tally(table: Table, columns: Sequence[str], missing: tuple[str, ...] = (), run: Run | None = None) -> Tally:
    """The different rows of these columns. What stands for missing becomes −1, and is a value of its own."""
    columns = tuple(dict.fromkeys(columns))
    if not columns:
        return Tally({}, np.array([table.rows]), table.rows)
    if table.rows <= _FEW or _mostly_different(table, columns, run):
        return Tally(table.codes(columns, missing, run), None, table.rows)
    by = ", ".join(table.column(c) for c in columns)
    found = table.query(f"SELECT {by}, count(*) AS many FROM {table.relation} GROUP BY {by}", run, "counting rows")
    coded = {c: without(encode(found.column(i)), missing) for i, c in enumerate(columns)}
    return Tally(coded, plain(found["many"].combine_chunks().cast(pa.int64())), table.rows)


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
