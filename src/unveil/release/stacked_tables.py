"""Tables, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from unveil.release.codes import cast_to_text
from unveil.release.table import Table, table_from_frame

__all__ = ["stack_tables"]


def stack_tables(tables: Sequence[Table], columns: Sequence[str]) -> Table:
    """These columns of all tables, under the name of the first. A column whose type is not the same in all of them
    becomes text; what is missing in it becomes an empty text, as in a file."""
    parts = [pa.Table.from_batches(table.batches()) for table in tables]
    stacked = {}
    for name in columns:
        own: list[pa.ChunkedArray] = [part.column(name) for part in parts]
        if any(column.type != own[0].type for column in own):
            own = [pc.fill_null(cast_to_text(column), "") for column in own]
        stacked[name] = pa.chunked_array([chunk for column in own for chunk in column.chunks], own[0].type)
    return table_from_frame(pa.table(stacked), engine=tables[0].engine, name=tables[0].name)
