"""The file of a ledger: an SQLite database that no crash can halve.

* A transaction is entered with a rollback journal beside the file, never with a write-ahead log: whoever copies a
  database without its log loses what was entered last.
* Journal, database and directory are flushed to the disk before a transaction counts as done (``synchronous=EXTRA``).
* Each transaction has a connection of its own, so that no lock and no handle survives it or a fork.
* No other code in this process may open the file: closing it would release SQLite's locks (POSIX locks belong to the
  process, not to the handle).

Every failure is said in one line, and nothing leaves that was not committed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unveil.errors import UnveilError
from unveil.ledger.patience import Patience
from unveil.wording import safe_text

__all__ = ["DAMAGED", "EDITED", "LedgerFile", "Transaction"]

_APPLICATION = int.from_bytes(b"unvl", "big")
_VERSION = 1
_OLDEST_SQLITE = (3, 37)  # the first with strict tables
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

_SCHEMA = (
    """CREATE TABLE records (
  number INTEGER PRIMARY KEY CHECK (number >= 0),
  kind TEXT NOT NULL CHECK (kind IN ('made', 'rebound', 'answer')),
  version INTEGER NOT NULL CHECK (version >= 0),
  query TEXT CHECK ((query IS NULL) = (kind <> 'answer')),
  loss TEXT CHECK ((loss IS NULL) = (kind = 'rebound') AND loss GLOB '[0-9]*/[1-9]*' AND NOT loss GLOB '*[^0-9/]*'),
  delta TEXT CHECK ((delta IS NULL) = (loss IS NULL) AND delta GLOB '[0-9]*/[1-9]*' AND NOT delta GLOB '*[^0-9/]*'),
  "partition" TEXT CHECK ("partition" IS NULL OR kind = 'answer'),
  part TEXT CHECK ((part IS NULL) = ("partition" IS NULL)),
  content TEXT NOT NULL,
  written TEXT NOT NULL,
  seal TEXT NOT NULL CHECK (length(seal) = 64)
) STRICT""",
    "CREATE UNIQUE INDEX asked_once ON records (version, query) WHERE kind = 'answer'",
    """CREATE TRIGGER records_follow_each_other BEFORE INSERT ON records
WHEN NEW.number IS NOT (SELECT coalesce(max(number) + 1, 0) FROM records)
BEGIN SELECT RAISE(ABORT, 'records follow each other'); END""",
    """CREATE TRIGGER records_never_change BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'records never change'); END""",
    """CREATE TRIGGER records_are_never_removed BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are never removed'); END""",
)

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

DAMAGED = "is damaged; use its newest copy that is whole"
EDITED = "was changed by something other than unveil; use its newest copy that is whole"
_FOREIGN = "is not a ledger of unveil; name another file"
_OTHER_VERSION = "has a format that this version of unveil does not know; use the version that made it"
_WITH_LOG = (
    "was switched to a write-ahead log, which copies leave behind; switch it back with sqlite3 and PRAGMA "
    "journal_mode=DELETE"
)


class Transaction:
    """A connection in a transaction; what is not committed is undone at its end."""

    def __init__(self, connection: sqlite3.Connection, file: LedgerFile) -> None:
        self._connection, self._file = connection, file

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._file.explained_errors():
            return self._connection.execute(sql, values).fetchall()

    def append(self, record: Sequence[object]) -> None:
        """Enter a record."""
        with self._file.explained_errors():
            _insert(self._connection, record)

    def commit(self) -> None:
        """Return once everything is on the disk. After an error, the transaction may be on the disk or not."""
        with self._file.explained_errors():
            _execute(self._connection, "COMMIT", self._file.pauses())

    def is_whole(self) -> bool:
        """Whether SQLite finds nothing wrong with the file."""
        return self.rows("PRAGMA integrity_check(1)") == [("ok",)]


class LedgerFile:
    """Where a ledger is, and how long to wait for other processes."""

    def __init__(self, path: Path, patience: Patience) -> None:
        self.path, self._patience = path, patience

    def create(self, first: Sequence[object]) -> None:
        """Make a new file with its first record. It gets its name in one step, complete, and only if the name is
        free."""
        _check_library()
        with self.explained_errors("; no ledger was made"):
            handle, part = tempfile.mkstemp(dir=self.path.parent, prefix=".ledger.")  # only its owner can read it
            os.close(handle)
            try:
                with contextlib.closing(sqlite3.connect(part, isolation_level=None)) as connection:
                    _set_up(connection, self.pauses())
                    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                    connection.execute(f"PRAGMA user_version = {_VERSION}")
                    connection.execute("BEGIN IMMEDIATE")
                    for statement in _SCHEMA:
                        connection.execute(statement)
                    _insert(connection, first)
                    connection.execute("COMMIT")
                _give_name(part, self.path)
            finally:
                for left in (part, f"{part}-journal"):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(left)
        with self.explained_errors("; the ledger was made, but may be lost if the power fails now"):
            _flush_folder(self.path.parent)

    def is_open_to_others(self) -> bool:
        """Whether others than the owner may read or change the file."""
        return bool(self.path.stat().st_mode & _OTHERS)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that sees one state of the ledger and changes nothing."""
        with self._transaction("BEGIN") as transaction:
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction during which nobody else can write."""
        with self._transaction("BEGIN IMMEDIATE") as transaction:
            yield transaction

    def pauses(self) -> Callable[[], None]:
        """What to call while other processes use the file."""
        return self._patience.pauses_for(self._name)

    @property
    def _name(self) -> str:
        return safe_text(self.path, 200)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        with contextlib.ExitStack() as stack:
            with self.explained_errors():
                connection = stack.enter_context(contextlib.closing(self._connect()))
                pause = self.pauses()
                _execute(connection, "PRAGMA application_id", pause, _APPLICATION, self.error(_FOREIGN))
                _execute(connection, "PRAGMA user_version", pause, _VERSION, self.error(_OTHER_VERSION))
                _execute(connection, "PRAGMA journal_mode", pause, "delete", self.error(_WITH_LOG))
                _set_up(connection, pause)
                _execute(connection, begin, pause)
                stack.callback(_undo, connection)
                if _schema_of(connection, pause) != {*_SCHEMA}:
                    raise self.error(EDITED)
            yield Transaction(connection, self)

    def _connect(self) -> sqlite3.Connection:
        """A connection to what is there, unless SQLite would wait for it, take it for an empty database, or open it
        with a log."""
        _check_library()
        try:
            found = self.path.stat()
        except FileNotFoundError:
            raise self.error("there is no ledger of this name; make one with unveil budget init") from None
        if stat.S_ISDIR(found.st_mode):
            raise self.error("is a directory; name a file")
        if not stat.S_ISREG(found.st_mode) or found.st_size == 0:
            raise self.error(_FOREIGN)
        if os.path.lexists(f"{self.path}-wal"):
            raise self.error(_WITH_LOG)
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)

    def error(self, what: str) -> UnveilError:
        """What is wrong with this file, in one line."""
        return UnveilError(f"{self._name}: {what}")

    @contextmanager
    def explained_errors(self, outcome: str = "; nothing was answered") -> Iterator[None]:
        """Say in one line why the file cannot be read or written."""
        try:
            yield
        except sqlite3.Error as error:
            raise self.error(f"{_describe_sqlite_error(error)}{outcome}") from None
        except FileExistsError:
            raise self.error("there is already a file of this name; name another") from None
        except OSError as error:
            raise self.error(f"{_describe_os_error(error)}{outcome}") from None


def _check_library() -> None:
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        oldest = ".".join(map(str, _OLDEST_SQLITE))
        raise UnveilError(f"a ledger needs SQLite {oldest} or newer, and this Python has {sqlite3.sqlite_version}")


def _set_up(connection: sqlite3.Connection, pause: Callable[[], None]) -> None:
    """Whatever the library was compiled with: flush everything, trust nothing that the file brings along."""
    for setting in ("synchronous = EXTRA", "fullfsync = ON", "trusted_schema = OFF", "cell_size_check = ON"):
        _execute(connection, f"PRAGMA {setting}", pause)
    for setting in ("mmap_size = 0", "temp_store = MEMORY", "foreign_keys = ON"):
        _execute(connection, f"PRAGMA {setting}", pause)


def _execute(
    connection: sqlite3.Connection,
    sql: str,
    pause: Callable[[], None],
    expected: object = None,
    otherwise: UnveilError | None = None,
) -> None:
    """Execute a statement as soon as no other process is in its way; raise if it returns something unexpected."""
    while True:
        try:
            found = connection.execute(sql).fetchone()
            break
        except sqlite3.OperationalError as error:
            if _error_code(error) not in _BUSY:
                raise
        pause()
    if otherwise is not None and found != (expected,):
        raise otherwise


def _schema_of(connection: sqlite3.Connection, pause: Callable[[], None]) -> set[str]:
    """The definitions of everything in a database. The first read of a transaction takes a lock."""
    _execute(connection, "SELECT count(*) FROM sqlite_schema", pause)
    return {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema")}


def _insert(connection: sqlite3.Connection, record: Sequence[object]) -> None:
    connection.execute(f"INSERT INTO records VALUES ({', '.join('?' * len(record))})", record)


def _undo(connection: sqlite3.Connection) -> None:
    """End a transaction without its changes, if it is not over; closing the connection would do so as well."""
    with contextlib.suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _give_name(part: str, path: Path) -> None:
    """Give a complete file its name."""
    try:
        os.link(part, path)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        raise UnveilError(
            f"{safe_text(path, 200)}: this disk cannot name a file in one step; put the ledger on another disk"
        ) from None


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _error_code(error: sqlite3.Error) -> int:
    """What kind of error this is; 0 if it is Python's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _describe_sqlite_error(error: sqlite3.Error) -> str:
    match _error_code(error):
        case sqlite3.SQLITE_FULL:
            return "the disk is full"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
            return "cannot be written to; check the permissions of the file and of its directory"
        case sqlite3.SQLITE_NOTADB:
            return _FOREIGN
        case sqlite3.SQLITE_CORRUPT:
            return DAMAGED
        case sqlite3.SQLITE_IOERR:
            return "cannot be read or written to its end: the disk is full or broken"
        case _:
            return f"SQLite cannot use it ({getattr(error, 'sqlite_errorname', type(error).__name__)})"


def _describe_os_error(error: OSError) -> str:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return "the directory does not exist"
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return "the disk is full"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return "no permission"
        case _:
            return f"cannot be used: {error.strerror or 'input/output error'}"
