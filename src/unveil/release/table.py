"""A table as it would be published: rows that belong to people, columns that say something about them.

The rows stay where they are (a file on disk, a frame in memory) and stream through the engine; values stay as written.
The engine sees columns ``c0``, ``c1`` … in order; :meth:`Table.column` translates.
"""

from __future__ import annotations

import hashlib
import os
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unveil.engine import Engine, default_engine, sql_literal
from unveil.errors import UnveilError
from unveil.release.codes import Codes, check_moments, compress_column, encode_column, mark_missing, plain_decimal
from unveil.release.dialect import Dialect, check_column_names, inspect_dialect, stream_utf8
from unveil.release.source_file import Origin, detect_compression, file_digest
from unveil.run import Run
from unveil.settings import option_text
from unveil.wording import count_text, list_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Table", "read_arrow", "read_csv", "read_parquet", "register_table", "table_from_frame"]

_MIN_LINE_BUFFER = 1 << 21
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an unnamed index


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows and named columns behind an engine. Made by :func:`unveil.read`. ``types`` are those that columns had in
    their source, of which the engine may know others for the same values. ``reading`` says how the source was read,
    where that could be done in several ways."""

    engine: Engine
    relation: str
    columns: tuple[str, ...]
    rows: int
    name: str
    digest: str
    notes: tuple[str, ...] = ()
    origin: Origin | None = None
    parquet: bool = False
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    reading: str = ""
    kind: ClassVar[str] = "table"
    _codes: dict[str, Codes] = field(default_factory=dict, init=False)

    @property
    def size(self) -> Mapping[str, int]:
        """How much there is."""
        return {"rows": self.rows, "columns": len(self.columns)}

    def column(self, name: str) -> str:
        """The name of a column in SQL."""
        return f"c{self.columns.index(name)}"

    @property
    def numbered_relation(self) -> str:
        """SQL for FROM: the table with the number of each row, from 1, as ``row_no``."""
        return f"(SELECT *, row_number() OVER () AS row_no FROM {self.relation}) AS numbered"

    def query(self, sql: str, run: Run | None = None, doing: str = "counting") -> pa.Table:
        """Run SQL on the engine, where the table is called :attr:`relation`."""
        if self.origin:
            self.origin.check_unchanged()
        self.engine.log.append(sql)
        return _run_query(self.engine, sql, self.name, run, doing)

    def codes(self, columns: Iterable[str], missing: tuple[str, ...] = (), run: Run | None = None) -> dict[str, Codes]:
        """Each column as integers, −1 for missing; see :mod:`unveil.release.codes`. Columns that
        are not yet encoded are parsed together, in one pass."""
        columns = tuple(columns)
        new = [c for c in columns if c not in self._codes]
        if new:
            self._codes.update(zip(new, self._encode_columns(new, run), strict=True))
        return {c: mark_missing(self._codes[c], missing) for c in columns}

    @property
    def is_columnar_file(self) -> bool:
        """Whether columns can be read one by one, with text stored as numbers and a dictionary."""
        return self.parquet and self.origin is not None

    def dictionary_columns(self, columns: Sequence[str]) -> Iterator[pa.ChunkedArray]:
        """Columns of a file that stores each column by itself."""
        assert self.origin is not None
        self.origin.check_unchanged()
        return _read_dictionary_columns(self.origin.path, [self.columns.index(c) for c in columns])

    def _encode_columns(self, columns: list[str], run: Run | None) -> list[Codes]:
        """Columns as integers. Their text is never all in memory: it comes in batches or as stored dictionaries."""
        import pyarrow as pa

        if self.is_columnar_file:
            return [encode_column(column) for column in self.dictionary_columns(columns)]
        sql = f"SELECT {', '.join(self.column(c) for c in columns)} FROM {self.relation}"
        if self.origin:
            self.origin.check_unchanged()
        self.engine.log.append(sql)
        parts: list[list[pa.Array]] = [[] for _ in columns]
        try:
            for batch in self.engine.batches(sql, run, "encoding columns", self.rows):
                for part, column in zip(parts, batch.columns, strict=True):
                    part.append(compress_column(column))
        except UnveilError as error:
            raise UnveilError(f"{safe_text(self.name)}: {error}") from None
        return [encode_column(pa.chunked_array(part)) for part in parts]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows under their own column names, batch after batch."""
        table = self.query(f"SELECT * FROM {self.relation}", doing="reading rows")
        yield from table.rename_columns(list(self.columns)).to_batches(max_chunksize=1 << 16)

    def __repr__(self) -> str:
        return (
            f"Table {safe_text(self.name)}: {count_text(self.rows, 'row')}, {count_text(len(self.columns), 'column')}\n"
            f"  {list_text(self.columns)}"
        )


def read_csv(
    path: Path,
    *,
    engine: Engine | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str = '"',
    header: bool | None = None,
    strip: bool = False,
) -> Table:
    """A delimited text file, streamed from disk; every value stays text."""
    engine = engine or default_engine()
    origin, sha256 = Origin.of_file(path), file_digest(path)
    dialect = inspect_dialect(path, encoding=encoding, delimiter=delimiter, quote=quote, header=header, strip=strip)
    file, parsed = path, dialect
    if dialect.needs_rewrite:
        file, parsed = _rewrite_as_utf8(path, dialect, engine), replace(dialect, header=True)
    value = "trim({0}) AS {0}" if strip else "{0}"
    selected = ", ".join(value.format(f"c{i}") for i in range(len(dialect.names)))
    relation = engine.view(f"SELECT {selected} FROM {_csv_scan_sql(file, parsed)}")
    _check_row_count(path.name, relation, dialect.rows, engine)
    origin.check_unchanged()
    return _make_table(
        engine,
        relation,
        dialect.names,
        dialect.rows,
        path.name,
        sha256,
        dialect.notes,
        None if dialect.needs_rewrite else origin,
        reading=repr((dialect.encoding, dialect.delimiter, dialect.quote, dialect.header, strip)),
    )


def read_parquet(path: Path, *, engine: Engine | None = None) -> Table:
    """A Parquet file, streamed from disk."""
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    engine = engine or default_engine()
    origin, sha256 = Origin.of_file(path), file_digest(path)
    try:
        with open(path, "rb") as opened:
            file = pq.ParquetFile(opened)
            schema, rows = file.schema_arrow, file.metadata.num_rows
        names = _check_schema(path.name, schema)
        aliases = ", ".join(f"c{i}" for i in range(len(names)))
        selected = ", ".join(_nan_to_null_sql(f"c{i}", kind) for i, kind in enumerate(schema.types))
        read = f"read_parquet({_path_literal(path)}, hive_partitioning = false)"
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeError):
        raise _unreadable_error(path, "Parquet") from None
    try:
        relation = engine.view(f"SELECT {selected} FROM {read} AS t({aliases})")
    except (UnveilError, duckdb.Error):
        raise _unreadable_error(path, "Parquet") from None
    moments = [
        place for place, kind in enumerate(schema.types) if pa.types.is_temporal(kind) or pa.types.is_dictionary(kind)
    ]
    for place, column in zip(moments, _read_dictionary_columns(path, moments), strict=True):
        check_moments(column, path.name, names[place])
    plain = not any(isinstance(kind, pa.BaseExtensionType) for kind in schema.types)  # only the engine knows such types
    types = dict(zip(names, schema.types, strict=True))
    return _make_table(engine, relation, names, rows, path.name, sha256, origin=origin, parquet=plain, types=types)


def _nan_to_null_sql(column: str, kind: pa.DataType) -> str:
    """SQL for a column in which NaN is missing, like null."""
    import pyarrow as pa

    return (
        f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END AS {column}" if pa.types.is_floating(kind) else column
    )


def _read_dictionary_columns(path: Path, columns: list[int]) -> Iterator[pa.ChunkedArray]:
    """Columns of a Parquet file, with text as it is stored there: numbers and a dictionary."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open(path, "rb") as opened:
            schema = pq.read_schema(opened)
            names = [schema.names[i] for i in columns]
            text = [n for n in names if pa.types.is_string(schema.field(n).type)]
            opened.seek(0)
            file = pq.ParquetFile(opened, read_dictionary=text)
            for name in names:
                column = file.read([name], use_threads=False).column(0)
                column.validate(full=True)  # numbers in a damaged file may lie outside the dictionary
                yield column
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeError):
        raise _unreadable_error(path, "Parquet") from None


def read_arrow(path: Path, *, engine: Engine | None = None) -> Table:
    """An Arrow file (IPC or Feather), mapped into memory."""
    import pyarrow as pa

    origin, sha256 = Origin.of_file(path), file_digest(path)
    try:
        with pa.memory_map(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
        table.validate(full=True)
        return register_table(table, path.name, sha256, engine, origin)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeError):
        raise _unreadable_error(path, "Arrow") from None


def _unreadable_error(path: Path, kind: str) -> UnveilError:
    return UnveilError(f"{safe_text(path.name)}: not a readable {kind} file; write it again, or export it as CSV")


def table_from_frame(
    frame: Any,
    *,
    engine: Engine | None = None,
    name: str = "table in memory",
    types: Mapping[str, pa.DataType] | None = None,
) -> Table:
    """A table from a pandas, polars or pyarrow frame: anything with an Arrow or DataFrame interface. A named pandas
    index becomes a column; an unnamed one does not. ``types``: those that columns had before, if not the frame's."""
    import pyarrow as pa

    if isinstance(getattr(frame, "columns", None), Iterable) and not isinstance(frame, (pa.Table, pa.RecordBatch)):
        check_column_names(name, tuple(str(n) for n in frame.columns))  # pandas' own error would not say which column
    try:
        if "Object" in map(str, getattr(frame, "dtypes", ())):
            raise TypeError  # polars would hand over memory addresses
        if isinstance(frame, pa.RecordBatch):
            table = pa.Table.from_batches([frame])
        elif hasattr(frame, "__arrow_c_stream__"):
            table = pa.table(frame)
        else:
            from pyarrow.interchange import from_dataframe

            table = from_dataframe(frame)
    except MemoryError:
        raise
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        which = list_text(_unheld_columns(frame)) or "this frame"
        raise UnveilError(
            f"{safe_text(name)}: Arrow cannot hold {which}; give each column a single type of value, such as text"
        ) from None
    unnamed = [n for n in table.column_names if _PANDAS_INDEX.fullmatch(n)]
    table = table.drop_columns(unnamed).replace_schema_metadata() if unnamed else table
    hasher = hashlib.sha256(str(table.schema).encode())
    for batch in table.to_batches():
        hasher.update(batch.serialize())
    return register_table(table, name, hasher.hexdigest(), engine, types=types)


def _unheld_columns(frame: Any) -> list[str]:
    """The columns of a frame that Arrow cannot hold."""
    import pyarrow as pa

    found = []
    for column in getattr(frame, "columns", ()):
        try:
            pa.table(frame[[column]])
        except MemoryError:
            raise
        except Exception:  # whatever the library of the frame raises
            found.append(str(column))
    return found


def register_table(
    table: pa.Table,
    name: str,
    sha256: str,
    engine: Engine | None,
    origin: Origin | None = None,
    notes: tuple[str, ...] = (),
    types: Mapping[str, pa.DataType] | None = None,
    reading: str = "",
) -> Table:
    """A table whose rows are in memory."""
    import pyarrow as pa

    engine = engine or default_engine()
    names = _check_schema(name, table.schema)
    for place, column in enumerate(table.columns):
        check_moments(column, name, names[place])
    plain = pa.schema([(f"c{i}", _engine_type(kind)) for i, kind in enumerate(table.schema.types)])
    relation = engine.register(_nan_to_null(table.rename_columns(plain.names).cast(plain)))
    own = dict(zip(names, table.schema.types, strict=True))
    return _make_table(
        engine,
        relation,
        names,
        table.num_rows,
        name,
        sha256,
        notes,
        origin,
        types={**own, **(types or {})},
        reading=reading,
    )


def _nan_to_null(table: pa.Table) -> pa.Table:
    """The table with NaN as null: both are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, column in enumerate(table.columns):
        if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
            numbers = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
            table = table.set_column(i, table.schema.field(i).with_nullable(True), numbers)
    return table


def _engine_type(kind: pa.DataType) -> pa.DataType:
    """The type to hand to the engine in place of one that it does not know."""
    import pyarrow as pa

    if pa.types.is_float16(kind):
        return pa.float32()
    return pa.int64() if pa.types.is_duration(kind) else plain_decimal(kind)


def _make_table(
    engine: Engine,
    relation: str,
    names: tuple[str, ...],
    rows: int,
    name: str,
    sha256: str,
    notes: tuple[str, ...] = (),
    origin: Origin | None = None,
    parquet: bool = False,
    types: Mapping[str, pa.DataType] | None = None,
    reading: str = "",
) -> Table:
    if not rows:
        raise UnveilError(f"{safe_text(name)}: there are no rows, only column names; add the data")
    if origin:
        origin.check_unchanged()
    table = Table(engine, relation, names, rows, name, sha256, notes, origin, parquet, types or {}, reading)
    weakref.finalize(table, engine.drop, relation).atexit = False
    return table


def _check_schema(file: str, schema: pa.Schema) -> tuple[str, ...]:
    names = check_column_names(file, tuple(n.strip() for n in schema.names))
    for place, column in enumerate(schema, 1):
        if not _is_comparable(column.type):
            raise UnveilError(
                f"{safe_text(file)}: column {place} ({safe_text(names[place - 1])!r}) holds lists or other values that "
                "cannot be compared; turn them into text or leave the column out"
            )
        if not _has_known_time_zone(column.type):
            raise UnveilError(
                f"{safe_text(file)}: column {place} ({safe_text(names[place - 1])!r}) has an unknown time zone; "
                "write its times in UTC"
            )
    return names


def _is_comparable(kind: pa.DataType) -> bool:
    """Whether values of this type can be compared and sorted."""
    import pyarrow as pa

    while inner := getattr(kind, "storage_type", None) or getattr(kind, "value_type", None):
        if pa.types.is_nested(kind) and not pa.types.is_run_end_encoded(kind):
            break
        kind = inner
    too_wide = pa.types.is_decimal256(kind) or (pa.types.is_decimal(kind) and kind.precision - kind.scale > 38)
    return not (pa.types.is_nested(kind) or pa.types.is_interval(kind) or too_wide)


def _has_known_time_zone(kind: pa.DataType) -> bool:
    import pyarrow as pa

    try:
        return not pa.types.is_timestamp(kind) or bool(pa.array([0], kind).cast(pa.string()))
    except pa.ArrowInvalid:
        return False


def _csv_scan_sql(file: Path, dialect: Dialect) -> str:
    """The SQL call that reads the file; it spells out everything, so that nothing is left to detection."""
    columns = [f"c{i}" for i in range(len(dialect.names))]
    longest = max(dialect.longest_row + 2, _MIN_LINE_BUFFER)
    said = {
        "columns": "{" + ", ".join(f"{c}: 'VARCHAR'" for c in columns) + "}",
        "auto_detect": "false",
        "hive_partitioning": "false",
        "header": str(dialect.header).lower(),
        "delim": sql_literal(dialect.delimiter),
        "quote": sql_literal(dialect.quote),
        "escape": sql_literal(dialect.quote),
        "strict_mode": "true",
        "null_padding": "false",
        "force_not_null": "[" + ", ".join(sql_literal(c) for c in columns) + "]",
        "parallel": str(
            not dialect.has_inner_newline
        ).lower(),  # DuckDB's threads would take a line inside quotes for a row
        "max_line_size": str(longest),
        "buffer_size": str(4 * longest),
        "compression": sql_literal(detect_compression(file) or "none"),
    }
    return f"read_csv({_path_literal(file)}, {', '.join(f'{k} = {v}' for k, v in said.items())})"


def _path_literal(file: Path) -> str:
    """A file name as an SQL literal, with its wildcard characters escaped."""
    return sql_literal("".join(f"[{c}]" if c in "*?[" else c for c in str(file.resolve())))


def _run_query(engine: Engine, sql: str, name: str, run: Run | None = None, doing: str = "counting") -> pa.Table:
    """Run a query; errors name the file."""
    try:
        return engine.query_arrow(sql, run, doing)
    except UnveilError as error:
        raise UnveilError(f"{safe_text(name)}: {error}") from None
    except UnicodeError:
        raise UnveilError(f"{safe_text(name)}: the file is damaged; write it again, or export it as CSV") from None


def _check_row_count(name: str, relation: str, rows: int, engine: Engine) -> None:
    """Parse the whole file once: the engine must see as many rows as the scan counted."""
    sql = f"SELECT count(*) AS rows FROM {relation}"
    found = _run_query(engine, sql, name, doing="reading the file")["rows"][0].as_py()
    if found != rows:
        raise UnveilError(
            f"{safe_text(name)}: its rows cannot be separated reliably; write it again with all values quoted"
        )


def _rewrite_as_utf8(path: Path, dialect: Dialect, engine: Engine) -> Path:
    """A private copy of the file in UTF-8, with one kind of line end and a plain header."""
    from unveil.release.row_scanner import RowScanner

    copy = engine.scratch_directory() / f"{engine.name()}.csv"
    rows = RowScanner(len(dialect.names), dialect.delimiter, dialect.quote, skip=int(dialect.header))
    try:
        with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(dialect.delimiter.join(f"c{i}" for i in range(len(dialect.names))).encode() + b"\n")
            out.writelines(rows.feed(chunk) for chunk in stream_utf8(path, dialect.encoding))
            out.write(rows.close())
    except OSError as error:
        copy.unlink(missing_ok=True)
        raise UnveilError(
            f"{safe_text(path.name)}: cannot make a copy in the temporary directory ({error.strerror}); "
            f"pass {option_text('spill')} with a directory on a larger disk"
        ) from None
    return copy
