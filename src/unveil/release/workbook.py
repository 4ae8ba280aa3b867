"""Workbooks of Excel: one sheet of them is a table.

Of formulas, the values that Excel last calculated are read. Rows and columns without any value are not part of the
table.
"""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from unveil.engine import Engine
from unveil.errors import UnveilError
from unveil.release.dialect import check_column_names, check_header
from unveil.release.foreign_columns import import_format_library, read_foreign_file, typed_column
from unveil.release.source_file import Origin, check_unpacked_size, file_digest
from unveil.release.table import Table, register_table
from unveil.settings import option_text
from unveil.wording import count_text, did_you_mean, safe_text, verb

__all__ = ["is_workbook", "read_workbook"]

_HEADER_ROWS = 200  # that show whether the first one is a header
_Row = list[Any]


def is_workbook(path: Path) -> bool:
    """Whether a zip archive is a workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError):  # damaged, or of a version nobody writes
        return False


def read_workbook(
    path: Path, *, engine: Engine | None = None, header: bool | None = None, sheet: str | None = None
) -> Table:
    """A sheet of a workbook: the first, or the one of this name."""
    import pyarrow as pa

    library = import_format_library("openpyxl", path, "Excel files")
    origin, sha256 = Origin.of_file(path), file_digest(path)
    damaged = (zipfile.BadZipFile, NotImplementedError)  # refused below
    with contextlib.suppress(*damaged), zipfile.ZipFile(path) as archive:
        check_unpacked_size(path, sum(part.file_size for part in archive.infolist()))  # never more than this is read
    chosen, others, rows = read_foreign_file(path, "Excel", lambda: _read_sheet(library, path, sheet))
    origin.check_unchanged()
    filled = [row for row in rows if any(v is not None for v in row)]
    if not filled:
        raise UnveilError(f"{safe_text(path.name)}: the sheet {safe_text(chosen)!r} is empty")
    names, columns = _name_columns(path.name, filled, header)
    table = pa.Table.from_arrays([typed_column(column) for column in columns], list(names))
    notes = tuple(_sheet_notes(chosen, others, len(rows) - len(filled)))
    return register_table(table, path.name, sha256, engine, notes=notes, reading=repr((chosen, header)))


def _name_columns(file: str, rows: list[_Row], header: bool | None) -> tuple[tuple[str, ...], list[_Row]]:
    """The names and the values of all columns that have a name or a value."""
    first, body = rows[0], rows[1:]
    if not check_header(file, [["" if v is None else str(v) for v in row] for row in rows[:_HEADER_ROWS]], header):
        first, body = [f"column {i}" for i in range(1, len(first) + 1)], rows
    columns = [list(column) for column in zip(*body, strict=True)] or [[] for _ in first]
    kept = [i for i, column in enumerate(columns) if first[i] is not None or any(v is not None for v in column)]
    names = tuple("" if first[i] is None else str(first[i]).strip() for i in kept)
    return check_column_names(file, names), [columns[i] for i in kept]


def _sheet_notes(chosen: str, others: int, blank: int) -> Iterator[str]:
    if others:
        yield (
            f"the sheet {safe_text(chosen)!r} was read; {count_text(others, 'other sheet')} of the file "
            f"{verb(others, 'was', 'were')} not ({option_text('sheet', 'NAME')} reads another)"
        )
    else:
        yield f"the sheet {safe_text(chosen)!r} was read"
    if blank:
        yield f"{count_text(blank, 'blank row')} {verb(blank, 'was', 'were')} left out"


def _read_sheet(library: Any, path: Path, name: str | None) -> tuple[str, int, list[_Row]]:
    """The name of the sheet, how many others there are, and its rows."""
    with open(path, "rb") as file:
        workbook = library.load_workbook(file, read_only=True, data_only=True)
        sheets = {sheet.title: sheet for sheet in workbook.worksheets}
        if not sheets:
            raise UnveilError(f"{safe_text(path.name)}: there is no sheet with cells in it")
        chosen = next(iter(sheets)) if name is None else name
        if chosen not in sheets:
            hint = did_you_mean(chosen, sheets)
            raise UnveilError(f"{safe_text(path.name)}: no sheet is called {safe_text(chosen)!r}{hint}")
        rows = _sheet_rows(sheets[chosen])
        if any(v is None for row in rows for v in row):
            _check_calculated(library.load_workbook(file, read_only=True)[chosen], rows, path)
        return chosen, len(workbook.sheetnames) - 1, _trim_rows(rows)


def _sheet_rows(sheet: Any) -> list[_Row]:
    sheet.reset_dimensions()  # some programs write wrong ones
    return [list(row) for row in sheet.iter_rows(values_only=True)]


def _trim_rows(rows: list[_Row]) -> list[_Row]:
    """The rows up to the last one and the last column with a value, all of the same length."""
    width = max((i for row in rows for i, v in enumerate(row, 1) if v is not None), default=0)
    height = max((i for i, row in enumerate(rows, 1) if any(v is not None for v in row)), default=0)
    return [(row + [None] * width)[:width] for row in rows[:height]]


def _check_calculated(sheet: Any, rows: list[_Row], path: Path) -> None:
    """Refuse formulas without a value: their program never calculated them, and they would pass for missing."""
    missing = sum(
        value is None and formula is not None
        for row, written in zip_longest(rows, _sheet_rows(sheet), fillvalue=())
        for value, formula in zip_longest(row, written)
    )
    if missing:
        cells = f"{count_text(missing, 'cell')} {verb(missing, 'holds', 'hold')}"
        raise UnveilError(
            f"{safe_text(path.name)}: {cells} a formula that was never calculated; open the file in Excel and save it"
        )
