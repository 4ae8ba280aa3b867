"""Write a release, in the format that its file name asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from unveil.errors import UnveilError
from unveil.release import Release, Table, edges, gml, matrix, transactions
from unveil.release.target import atomic
from unveil.wording import listed, shown

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write", "writer"]


def write(release: Release, path: str | Path) -> None:
    """Write ``release`` to ``path``, whole or not at all.

    Tables: ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``. Transactions: ``.dat``, ``.csv``, ``.jsonl``. Graphs:
    ``.edges``, ``.gml``. What is written reads back as the same release, except that text files do not tell a missing
    value from an empty one, and hold every value as text.
    """
    import pyarrow as pa

    if not isinstance(release, Release):
        raise UnveilError(f"cannot write a {type(release).__name__}: give what unveil.read(...) returns")
    into = writer(release.kind, path)
    try:
        with atomic(path) as file:
            into(release, file)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        ending = Path(path).suffix.lower()
        raise UnveilError(
            f"{shown(Path(path).name)}: a column holds values that {ending} cannot hold; write another format"
        ) from None


def writer(kind: str, path: str | Path) -> Callable[[Any, BinaryIO], None]:
    """The function that writes a release of some kind in the format that a file name asks for."""
    writers = _WRITERS[kind]
    ending = Path(path).suffix.lower()
    if ending not in writers:
        raise UnveilError(f"{shown(Path(path).name)}: a {kind} can be written as {listed(writers)}")
    return writers[ending]


def _text(delimiter: str) -> Callable[[Table, BinaryIO], None]:
    def write_text(table: Table, file: BinaryIO) -> None:
        import pyarrow.csv as pc

        _batches(table, lambda schema: pc.CSVWriter(file, schema, write_options=pc.WriteOptions(delimiter=delimiter)))

    return write_text


def _parquet(table: Table, file: BinaryIO) -> None:
    import pyarrow.parquet as pq

    _batches(table, lambda schema: pq.ParquetWriter(file, schema))


def _arrow(table: Table, file: BinaryIO) -> None:
    import pyarrow as pa

    _batches(table, lambda schema: pa.ipc.new_file(file, schema))


def _batches(table: Table, opened: Callable[[pa.Schema], Any]) -> None:
    batches = table.batches()
    first = next(batches)
    with opened(first.schema) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)


_WRITERS: dict[str, dict[str, Callable[[Any, BinaryIO], None]]] = {
    "table": {".csv": _text(","), ".tsv": _text("\t"), ".parquet": _parquet, ".arrow": _arrow},
    "transactions": {
        ".dat": transactions.write_fimi,
        ".csv": transactions.write_long,
        ".jsonl": transactions.write_jsonl,
    },
    "graph": {".edges": edges.write_edges, ".gml": gml.write_gml},
    "matrix": {".csv": matrix.write_matrix},
}
