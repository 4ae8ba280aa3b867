"""The distinct rows of a table and how often each occurs: all that the class questions need.

A file of up to a million rows that stores its columns as numbers and dictionaries is read column by column: each row
becomes one number in mixed radix, equal numbers are counted, and only distinct numbers are taken apart again. Otherwise
the engine counts equal rows, and the distinct ones are encoded. If there are few rows, or nearly all of them differ,
counting gains little, so all rows are encoded at once. The first rows show whether most rows differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import Int32s, Ints
from unveil.release.codes import Codes, arrow_integers, encode_column, encode_without_sorting, numpy_integers
from unveil.release.table import Table
from unveil.run import Run

__all__ = ["Tally", "tally_every_row", "tally_rows"]

_FEW_ROWS = 100_000  # up to this many rows, all are encoded
_MOST_COUNTED_ROWS = 1_000_000  # up to this many rows, they are always counted, in memory if possible
_HEAD_ROWS = 20_000
_LARGEST_KEY = 1 << 62
_MOSTLY_DIFFERENT_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class Tally:
    """Rows by their codes, column by column. ``counts`` is how often each occurs; None if every row stands for itself,
    in the order of the table."""

    columns: dict[str, Codes]
    counts: Ints | None
    people: int

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())).codes) if self.columns else min(1, self.people)

    def codes(self, names: Sequence[str]) -> list[Int32s]:
        """The codes of some columns."""
        return [self.columns[name].codes for name in names]


def tally_rows(table: Table, columns: Sequence[str], run: Run | None = None) -> Tally:
    """Count the distinct rows of these columns. −1 is missing, a value of its own."""
    columns = tuple(dict.fromkeys(columns))
    if not columns:
        return Tally({}, np.array([table.rows]), table.rows)
    if (table.rows <= _FEW_ROWS and not table.is_columnar_file) or _rows_mostly_differ(table, columns, run):
        return Tally(table.codes(columns, (), run), None, table.rows)
    counted = (
        _count_in_memory(table, columns, run or Run())
        if table.is_columnar_file and table.rows <= _MOST_COUNTED_ROWS
        else None
    )
    if counted is not None:
        return counted
    by = ", ".join(table.column(c) for c in columns)
    found = table.query(f"SELECT {by}, count(*) AS many FROM {table.relation} GROUP BY {by}", run, "counting rows")
    coded = {c: encode_column(found.column(i)) for i, c in enumerate(columns)}
    return Tally(coded, numpy_integers(found["many"].combine_chunks().cast(pa.int64())), table.rows)


def _count_in_memory(table: Table, columns: Sequence[str], run: Run) -> Tally | None:
    """The distinct rows of a file that stores its columns; None if a row does not fit into one number."""
    key, bound, shift = np.zeros(table.rows, np.int64), 1, 0
    bases, ranked = list[int](), list[tuple[Int32s, pa.Array]]()
    for column in map(encode_without_sorting, table.dictionary_columns(columns)):
        run.check()
        base = len(column.values) + 1
        bound, shift = bound * base, shift * base + 1
        if bound > _LARGEST_KEY:
            return None
        key *= base
        begin = 0
        for part in column.parts:  # codes start at −1; adding shift at the end makes them start at 0
            key[begin : begin + len(part)] += part
            begin += len(part)
        bases.append(base)
        ranked.append(column.sorted_ranks())
    found = pc.value_counts(arrow_integers(key))
    left, coded = numpy_integers(found.field(0)) + shift, dict[str, Codes]()
    for name, base, (rank, values) in reversed(list(zip(columns, bases, ranked, strict=True))):
        left, digit = np.divmod(left, base)
        coded[name] = Codes(rank[digit - 1], values)
    return Tally({name: coded[name] for name in columns}, numpy_integers(found.field(1)), table.rows)


def tally_every_row(table: Table, columns: Sequence[str], run: Run | None = None) -> Tally:
    """Every row on its own, in the order of the table."""
    return Tally(table.codes(columns, (), run), None, table.rows)


def _rows_mostly_differ(table: Table, columns: Sequence[str], run: Run | None) -> bool:
    """Whether most of the first rows differ."""
    if table.rows <= _MOST_COUNTED_ROWS:
        return False
    by = ", ".join(table.column(c) for c in columns)
    head = f"(SELECT {by} FROM {table.relation} LIMIT {_HEAD_ROWS})"
    found = table.query(f"SELECT count(*) AS many FROM (SELECT DISTINCT {by} FROM {head} AS head) AS rows_", run)
    return bool(found["many"][0].as_py() > _MOSTLY_DIFFERENT_SHARE * _HEAD_ROWS)
