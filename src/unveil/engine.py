"""The engine that counts: SQL, written once.

DuckDB runs the queries in this process and spills to disk when memory is short. The same SQL translates to Spark's
dialect for data that one machine cannot hold. Rooms query relations whose columns are called ``c0``, ``c1`` and so on,
so that no column name, however hostile, and no rule about upper and lower case can change what a query means.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.run import Run
from unveil.spill_directory import make_spill_directory

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["Engine", "default_engine", "sql_literal", "to_spark_sql"]

_POLL_SECONDS = 0.1
_BATCH_ROWS = 1 << 18
_SPILL_FILE = "duckdb_temp_"  # how DuckDB begins the names of its own files


def sql_literal(text: str) -> str:
    """``text`` as an SQL string literal.

    >>> sql_literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def to_spark_sql(sql: str) -> str:
    """Translate a query to Spark's dialect."""
    import sqlglot

    translated = sqlglot.transpile(sql, read="duckdb", write="spark")[0]
    # Spark has no default row order; its row ids follow the order of the file
    return translated.replace("ROW_NUMBER() OVER ()", "ROW_NUMBER() OVER (ORDER BY MONOTONICALLY_INCREASING_ID())")


class Engine:
    """DuckDB in this process.

    Parameters
    ----------
    memory_limit
        Such as ``"4GB"``. DuckDB's default is 80% of the machine's memory.
    spill
        Where to put what does not fit in memory: by default a private temporary directory, removed with the engine.

    ``log`` keeps the last thousand queries on tables, for tests and for the curious.
    """

    def __init__(self, memory_limit: str | None = None, spill: str | Path | None = None) -> None:
        import duckdb

        self.log: deque[str] = deque(maxlen=1000)
        self._dropped: deque[str] = deque()
        self._names = (f"t{i}" for i in itertools.count(1))
        self._lock = threading.Lock()
        self._spill = make_spill_directory(spill, self)
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(self._spill),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        if memory_limit:
            settings["memory_limit"] = memory_limit
        try:
            self._connection: duckdb.DuckDBPyConnection = duckdb.connect(config=settings)
        except (duckdb.Error, RuntimeError):  # the latter for bytes that are no text
            if not memory_limit:  # nothing else is given that could be wrong
                raise MemoryError from None
            raise UnveilError(f"memory limit {memory_limit!r} is not a size; write it as 4GB or 500MB") from None
        with contextlib.suppress(duckdb.InvalidInputException):  # a notebook without ipywidgets has no progress to show
            self._connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")

    def scratch_directory(self) -> Path:
        """A private directory, removed with the engine."""
        return self._spill

    def name(self) -> str:
        """A new relation name."""
        return next(self._names)

    def view(self, select: str) -> str:
        """Create a view of a query without running it; returns its name."""
        import duckdb

        name = self.name()
        try:
            self._connection.execute(f"CREATE VIEW {name} AS {select}")
        except duckdb.Error as error:
            raise _translate_error(error, self._spill) from None
        return name

    def drop(self, name: str) -> None:
        """Drop a relation before the next query. Safe to call at any moment, even during a query."""
        self._dropped.append(name)

    def _drop_pending(self) -> None:
        while self._dropped:
            name = self._dropped.popleft()
            self._connection.unregister(name)
            self._connection.execute(f"DROP VIEW IF EXISTS {name}")

    def register(self, table: pa.Table) -> str:
        """Register a table in memory as a relation; returns its name."""
        name = self.name()
        self._connection.register(name, table)
        return name

    def query_arrow(self, sql: str, run: Run | None = None, doing: str = "counting") -> pa.Table:
        """Run a query and return its result.

        The query runs in a thread of its own, so that progress is reported and Ctrl-C stops it at once.
        """
        run = run or Run()
        result: dict[str, pa.Table | BaseException] = {}
        done = threading.Event()

        def work() -> None:
            try:
                result["table"] = self._connection.sql(sql).to_arrow_table()
            except BaseException as error:  # raised again in the caller's thread
                result["error"] = error
            finally:
                done.set()

        with self._lock:
            self._drop_pending()
            worker = threading.Thread(target=work, daemon=True)
            worker.start()
            try:
                while not done.wait(_POLL_SECONDS):
                    fraction = self._connection.query_progress()
                    run.progress(doing, fraction / 100 if fraction >= 0 else None)
                    run.check()
            except BaseException:
                self._connection.interrupt()
                worker.join()
                raise
        error = result.get("error")
        if isinstance(error, BaseException):
            raise _translate_error(error, self._spill) from None
        table: pa.Table = result["table"]
        return table

    def batches(
        self, sql: str, run: Run | None = None, doing: str = "reading", rows: int = 0
    ) -> Iterator[pa.RecordBatch]:
        """Run a query and yield its result in batches, so that it is never in memory as a whole.

        ``rows``, the expected number of rows, is used for progress only.
        """
        run, done = run or Run(), 0
        with self._lock:
            self._drop_pending()
            try:
                for batch in self._connection.sql(sql).to_arrow_reader(_BATCH_ROWS):
                    yield batch
                    done += batch.num_rows
                    run.progress(doing, done / rows if rows else None)
                    run.check()
            except Exception as error:
                raise _translate_error(error, self._spill) from None


def _translate_error(error: BaseException, spill: Path) -> BaseException:
    """Replace an error of DuckDB by one of ours. DuckDB's own message may quote data, so it is dropped.

    When a spill file cannot be written, one of DuckDB's threads says so, and another that it has no memory: whichever
    is first."""
    import duckdb

    if isinstance(error, duckdb.InterruptException) or (
        isinstance(error, RuntimeError) and not isinstance(error, duckdb.Error) and "interrupted" in str(error)
    ):
        return KeyboardInterrupt()
    if isinstance(error, duckdb.OutOfMemoryException) or str(spill / _SPILL_FILE) in str(error):
        return UnveilError("not enough memory or spill space; raise --memory-limit or point --spill to a larger disk")
    defects = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
    broken = isinstance(error, OSError) and error.errno is None  # how Arrow hands on an error of DuckDB
    if broken or (isinstance(error, duckdb.Error) and not isinstance(error, defects)):
        return UnveilError(
            "the data could not be read to the end; the file is damaged or changed while it was being read"
        )
    return error


@functools.cache
def default_engine() -> Engine:
    """The engine for callers that give none."""
    return Engine()
