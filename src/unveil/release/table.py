"""A table as it would be published: rows that belong to people, columns that say something about them.

The rows stay where they are (a file on disk, a frame in memory) and are streamed through the engine; values are kept
as they are written. What the engine sees has columns ``c0``, ``c1`` … in order; :meth:`Table.column` translates.
"""

from __future__ import annotations

import hashlib
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unveil.engine import Engine, default_engine, literal
from unveil.errors import UnveilError
from unveil.release.codes import Codes, encode, smaller, without
from unveil.release.dialect import Dialect, checked_names, inspect, utf8
from unveil.release.source import Origin, compression, digest
from unveil.run import Run
from unveil.wording import counted, listed, shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Table", "read_arrow", "read_csv", "read_parquet", "table_of"]

_LONG = 1 << 21
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an index that has no name


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows and named columns behind an engine. Made by :func:`unveil.read`."""

    engine: Engine
    relation: str
    columns: tuple[str, ...]
    rows: int
    name: str
    digest: str
    notes: tuple[str, ...] = ()
    origin: Origin | None = None
    parquet: bool = False
    kind: ClassVar[str] = "table"
    _codes: dict[str, Codes] = field(default_factory=dict, init=False)

    @property
    def size(self) -> Mapping[str, int]:
        """How much there is."""
        return {"rows": self.rows, "columns": len(self.columns)}

    def column(self, name: str) -> str:
        """What a column is called in SQL."""
        return f"c{self.columns.index(name)}"

    @property
    def numbered(self) -> str:
        """The table with the number of each row, from 1, as ``row_no``; to stand after FROM."""
        return f"(SELECT *, row_number() OVER () AS row_no FROM {self.relation}) AS numbered"

    def query(self, sql: str, run: Run | None = None, doing: str = "counting") -> pa.Table:
        """Run SQL on the engine, where the table is called :attr:`relation`."""
        if self.origin:
            self.origin.check()
        self.engine.log.append(sql)
        return _answer(self.engine, sql, self.name, run, doing)

    def codes(self, columns: Iterable[str], missing: tuple[str, ...] = (), run: Run | None = None) -> dict[str, Codes]:
        """Each column as integers, −1 for missing; see :mod:`unveil.release.codes`. The file is parsed once for all
        columns that were not asked for before."""
        columns = tuple(columns)
        new = [c for c in columns if c not in self._codes]
        if new:
            self._codes.update(zip(new, self._encoded(new, run), strict=True))
        return {c: without(self._codes[c], missing) for c in columns}

    @property
    def stored(self) -> bool:
        """Whether columns can be had one by one, text as numbers and a dictionary."""
        return self.parquet and self.origin is not None

    def dictionaries(self, columns: Sequence[str]) -> Iterator[pa.ChunkedArray]:
        """Columns of a file that stores them one by one."""
        assert self.origin is not None
        self.origin.check()
        return _dictionaries(self.origin.path, [self.columns.index(c) for c in columns])

    def _encoded(self, columns: list[str], run: Run | None) -> list[Codes]:
        """Columns as integers, without ever holding all their text: bit by bit, or by the dictionaries of the file."""
        import pyarrow as pa

        if self.stored:
            return [encode(column) for column in self.dictionaries(columns)]
        sql = f"SELECT {', '.join(self.column(c) for c in columns)} FROM {self.relation}"
        if self.origin:
            self.origin.check()
        self.engine.log.append(sql)
        parts: list[list[pa.Array]] = [[] for _ in columns]
        try:
            for batch in self.engine.batches(sql, run, "encoding columns", self.rows):
                for part, column in zip(parts, batch.columns, strict=True):
                    part.append(smaller(column))
        except UnveilError as error:
            raise UnveilError(f"{shown(self.name)}: {error}") from None
        return [encode(pa.chunked_array(part)) for part in parts]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows under their own column names, batch after batch."""
        table = self.query(f"SELECT * FROM {self.relation}", doing="reading rows")
        yield from table.rename_columns(list(self.columns)).to_batches(max_chunksize=1 << 16)

    def __repr__(self) -> str:
        return (
            f"Table {shown(self.name)}: {counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}\n"
            f"  {listed(self.columns)}"
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
    """A delimited text file, streamed from disk; every value stays the text it is."""
    engine = engine or default_engine()
    origin, sha256 = Origin.of(path), digest(path)
    dialect = inspect(path, encoding=encoding, delimiter=delimiter, quote=quote, header=header)
    file, parsed = path, dialect
    if dialect.rewrite:
        file, parsed = _rewritten(path, dialect, engine), replace(dialect, header=True)
    value = "trim({0}) AS {0}" if strip else "{0}"
    selected = ", ".join(value.format(f"c{i}") for i in range(len(dialect.names)))
    relation = engine.view(f"SELECT {selected} FROM {_scan(file, parsed)}")
    _check_rows(path.name, relation, dialect.rows, engine)
    origin.check()
    notes = () if strip else dialect.notes
    return _made(
        engine, relation, dialect.names, dialect.rows, path.name, sha256, notes, None if dialect.rewrite else origin
    )


def read_parquet(path: Path, *, engine: Engine | None = None) -> Table:
    """A Parquet file, streamed from disk."""
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    engine = engine or default_engine()
    origin, sha256 = Origin.of(path), digest(path)
    try:
        with open(path, "rb") as opened:
            file = pq.ParquetFile(opened)
            schema, rows = file.schema_arrow, file.metadata.num_rows
        names = _names(path.name, schema)
        aliases = ", ".join(f"c{i}" for i in range(len(names)))
        selected = ", ".join(_number_or_null(f"c{i}", kind) for i, kind in enumerate(schema.types))
        read = f"read_parquet({_path(path)}, hive_partitioning = false)"
        relation = engine.view(f"SELECT {selected} FROM {read} AS t({aliases})")
    except (pa.ArrowException, OSError, UnicodeError, duckdb.Error):
        raise _unreadable(path, "Parquet") from None
    return _made(engine, relation, names, rows, path.name, sha256, origin=origin, parquet=True)


def _number_or_null(column: str, kind: pa.DataType) -> str:
    """A column in SQL; what is not a number is missing, as nothing is."""
    import pyarrow as pa

    return (
        f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END AS {column}" if pa.types.is_floating(kind) else column
    )


def _dictionaries(path: Path, columns: list[int]) -> Iterator[pa.ChunkedArray]:
    """Columns of a Parquet file, text as it is stored there: numbers and a dictionary."""
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
                column.validate(full=True)  # a damaged file may hold numbers that are not in the dictionary
                yield column
    except (pa.ArrowException, OSError, UnicodeError):
        raise _unreadable(path, "Parquet") from None


def read_arrow(path: Path, *, engine: Engine | None = None) -> Table:
    """An Arrow file (IPC or Feather), mapped into memory."""
    import pyarrow as pa

    origin, sha256 = Origin.of(path), digest(path)
    try:
        with pa.memory_map(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
        table.validate(full=True)
        return _registered(table, path.name, sha256, engine, origin)
    except (pa.ArrowException, OSError, UnicodeError):
        raise _unreadable(path, "Arrow") from None


def _unreadable(path: Path, kind: str) -> UnveilError:
    return UnveilError(f"{shown(path.name)}: not a readable {kind} file; write it again or export it as CSV")


def table_of(frame: Any, *, engine: Engine | None = None, name: str = "table in memory") -> Table:
    """A pandas, polars, pyarrow … frame: anything with an Arrow or DataFrame interface. An index of pandas that has a
    name is a column; one without is not."""
    import pyarrow as pa

    if isinstance(getattr(frame, "columns", None), Iterable) and not isinstance(frame, (pa.Table, pa.RecordBatch)):
        checked_names(name, tuple(str(n) for n in frame.columns))  # pandas' own error would not say which
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
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        raise UnveilError(
            f"{shown(name)}: not a frame that Arrow can hold; give one whose columns each hold one type of value"
        ) from None
    unnamed = [n for n in table.column_names if _INDEX.fullmatch(n)]
    table = table.drop_columns(unnamed).replace_schema_metadata() if unnamed else table
    hasher = hashlib.sha256(str(table.schema).encode())
    for batch in table.to_batches():
        hasher.update(batch.serialize())
    return _registered(table, name, hasher.hexdigest(), engine)


def _registered(table: pa.Table, name: str, sha256: str, engine: Engine | None, origin: Origin | None = None) -> Table:
    import pyarrow as pa

    engine = engine or default_engine()
    names = _names(name, table.schema)
    plain = pa.schema([(f"c{i}", _plain(kind)) for i, kind in enumerate(table.schema.types)])
    relation = engine.register(_numbers_or_nulls(table.rename_columns(plain.names).cast(plain)))
    return _made(engine, relation, names, table.num_rows, name, sha256, origin=origin)


def _numbers_or_nulls(table: pa.Table) -> pa.Table:
    """What is not a number is missing, as nothing is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, column in enumerate(table.columns):
        if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
            numbers = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
            table = table.set_column(i, table.schema.field(i).with_nullable(True), numbers)
    return table


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type that the engine takes instead of one that it does not know."""
    import pyarrow as pa

    if pa.types.is_float16(kind):
        return pa.float32()
    return pa.int64() if pa.types.is_duration(kind) else kind


def _made(
    engine: Engine,
    relation: str,
    names: tuple[str, ...],
    rows: int,
    name: str,
    sha256: str,
    notes: tuple[str, ...] = (),
    origin: Origin | None = None,
    parquet: bool = False,
) -> Table:
    if not rows:
        raise UnveilError(f"{shown(name)}: there are no rows, only column names")
    if origin:
        origin.check()
    table = Table(engine, relation, names, rows, name, sha256, notes, origin, parquet)
    weakref.finalize(table, engine.drop, relation).atexit = False
    return table


def _names(file: str, schema: pa.Schema) -> tuple[str, ...]:
    names = checked_names(file, tuple(n.strip() for n in schema.names))
    for place, column in enumerate(schema, 1):
        if not _flat(column.type):
            raise UnveilError(
                f"{shown(file)}: column {place} ({shown(names[place - 1])!r}) holds lists or other values that cannot "
                "be compared; turn them into text or leave the column out"
            )
    return names


def _flat(kind: pa.DataType) -> bool:
    """Whether values of this type can be compared and sorted."""
    import pyarrow as pa

    while inner := getattr(kind, "storage_type", None) or getattr(kind, "value_type", None):
        if pa.types.is_nested(kind) and not pa.types.is_run_end_encoded(kind):
            break
        kind = inner
    return not (pa.types.is_nested(kind) or pa.types.is_interval(kind) or pa.types.is_decimal256(kind))


def _scan(file: Path, dialect: Dialect) -> str:
    """The call that reads the file, with everything said and nothing left to detection."""
    columns = [f"c{i}" for i in range(len(dialect.names))]
    longest = max(dialect.longest + 2, _LONG)
    said = {
        "columns": "{" + ", ".join(f"{c}: 'VARCHAR'" for c in columns) + "}",
        "auto_detect": "false",
        "hive_partitioning": "false",
        "header": str(dialect.header).lower(),
        "delim": literal(dialect.delimiter),
        "quote": literal(dialect.quote),
        "escape": literal(dialect.quote),
        "strict_mode": "true",
        "null_padding": "false",
        "force_not_null": "[" + ", ".join(literal(c) for c in columns) + "]",
        "parallel": str(not dialect.inner).lower(),  # its threads take a line in quotes for a row
        "max_line_size": str(longest),
        "buffer_size": str(4 * longest),
        "compression": literal(compression(file) or "none"),
    }
    return f"read_csv({_path(file)}, {', '.join(f'{k} = {v}' for k, v in said.items())})"


def _path(file: Path) -> str:
    """A file name as SQL text, its wildcard characters made harmless."""
    return literal("".join(f"[{c}]" if c in "*?[" else c for c in str(file.resolve())))


def _answer(engine: Engine, sql: str, name: str, run: Run | None = None, doing: str = "counting") -> pa.Table:
    """Ask the engine; what goes wrong is told with the name of the file."""
    try:
        return engine.arrow(sql, run, doing)
    except UnveilError as error:
        raise UnveilError(f"{shown(name)}: {error}") from None
    except UnicodeError:
        raise UnveilError(f"{shown(name)}: the file is damaged; write it again or export it as CSV") from None


def _check_rows(name: str, relation: str, rows: int, engine: Engine) -> None:
    """Parse the whole file once: the engine must see the rows that were counted in the text."""
    sql = f"SELECT count(*) AS rows FROM {relation}"
    found = _answer(engine, sql, name, doing="reading the file")["rows"][0].as_py()
    if found != rows:
        raise UnveilError(f"{shown(name)}: its rows are not told apart for certain; write it again, all values quoted")


def _rewritten(path: Path, dialect: Dialect, engine: Engine) -> Path:
    """A private copy in UTF-8 with one kind of line end between rows, under a plain header."""
    from unveil.release.rows import Rows

    copy = engine.scratch() / f"{engine.name()}.csv"
    rows = Rows(len(dialect.names), dialect.delimiter, dialect.quote, skip=int(dialect.header))
    try:
        with open(copy, "wb") as out:
            out.write(dialect.delimiter.join(f"c{i}" for i in range(len(dialect.names))).encode() + b"\n")
            out.writelines(rows.feed(chunk) for chunk in utf8(path, dialect.encoding))
            out.write(rows.close())
    except OSError as error:
        copy.unlink(missing_ok=True)
        raise UnveilError(
            f"{shown(path.name)}: no copy could be made in the temporary directory ({error.strerror}); "
            "point --spill to a larger disk"
        ) from None
    return copy
