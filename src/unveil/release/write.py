"""Write a release in the format that its file name asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from unveil.errors import UnveilError
from unveil.release import Graph, Release, Table, edge_list, gml, matrix, transactions
from unveil.release.delivery import open_atomic
from unveil.release.kinds import KIND_SINGULARS
from unveil.wording import list_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["check_writable", "choose_writer", "write"]


def write(release: Release, path: str | Path) -> None:
    """Write ``release`` to ``path``, whole or not at all.

    Tables: ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``. Transactions: ``.dat``, ``.csv``, ``.jsonl``. Graphs:
    ``.edges``, ``.gml``. A written file reads back as the same release, except that text files hold every value as
    text and do not distinguish a missing value from an empty one.
    """
    import pyarrow as pa

    if not isinstance(release, Release):
        raise UnveilError(f"cannot write a {type(release).__name__}: give what unveil.read(...) returns")
    into = choose_writer(release.kind, path)
    try:
        with open_atomic(path) as file:
            into(release, file)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        ending = Path(path).suffix.lower()
        raise UnveilError(
            f"{safe_text(Path(path).name)}: a column holds values that {ending} cannot store; write another format"
        ) from None


def choose_writer(kind: str, path: str | Path) -> Callable[[Any, BinaryIO], None]:
    """The function that writes a kind of release in the format that the file name asks for."""
    writers = _WRITERS[kind]
    ending = Path(path).suffix.lower()
    if ending not in writers:
        name = safe_text(Path(path).name)
        raise UnveilError(f"{name}: {KIND_SINGULARS[kind]} can be written as {list_text(writers)}; rename the file")
    return writers[ending]


def check_writable(release: Release, path: str | Path) -> None:
    """Refuse a file name whose format cannot hold such a release, before any work is done."""
    if choose_writer(release.kind, path) is edge_list.write_edges:
        assert isinstance(release, Graph)
        edge_list.check_no_isolated_nodes(release)


def _text_writer(delimiter: str) -> Callable[[Table, BinaryIO], None]:
    def write_text(table: Table, file: BinaryIO) -> None:
        import pyarrow.csv as pc

        _write_batches(
            table, lambda schema: pc.CSVWriter(file, schema, write_options=pc.WriteOptions(delimiter=delimiter))
        )

    return write_text


def _write_parquet(table: Table, file: BinaryIO) -> None:
    import pyarrow.parquet as pq

    _write_batches(table, lambda schema: pq.ParquetWriter(file, schema), table.types)


def _write_arrow(table: Table, file: BinaryIO) -> None:
    import pyarrow as pa

    _write_batches(table, lambda schema: pa.ipc.new_file(file, schema), table.types)


def _write_batches(
    table: Table, opened: Callable[[pa.Schema], Any], types: Mapping[str, pa.DataType] = MappingProxyType({})
) -> None:
    """Write the rows, with these types of columns where the values are the same."""
    batches = table.batches()
    first = next(batches)
    schema = first.schema
    for place, name in enumerate(schema.names):
        if _holds_the_same(schema.field(name).type, types.get(name)):
            schema = schema.set(place, schema.field(name).with_type(types[name]))
    with opened(schema) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch.cast(schema))


def _holds_the_same(now: pa.DataType, before: pa.DataType | None) -> bool:
    """Whether values of one type are those of another, only stored differently: text, or moments."""
    import pyarrow as pa

    if before is None or now == before:
        return False
    if pa.types.is_dictionary(before):
        return _is_text(now) and _is_text(before.value_type)
    moments = pa.types.is_timestamp(now) and pa.types.is_timestamp(before) and now.tz == before.tz
    return moments or (_is_text(now) and _is_text(before))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


_WRITERS: dict[str, dict[str, Callable[[Any, BinaryIO], None]]] = {
    "table": {
        ".csv": _text_writer(","),
        ".tsv": _text_writer("\t"),
        ".parquet": _write_parquet,
        ".arrow": _write_arrow,
    },
    "transactions": {
        ".dat": transactions.write_fimi,
        ".csv": transactions.write_long,
        ".jsonl": transactions.write_jsonl,
    },
    "graph": {".edges": edge_list.write_edges, ".gml": gml.write_gml},
    "matrix": {".csv": matrix.write_matrix},
}
