"""Columns as integers.

Compiled code takes no strings. A column becomes one int32 per row: the position of its value in a sorted dictionary,
or −1 where the value is missing. The policy says which values count as missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unveil.errors import UnveilError
from unveil.wording import safe_text

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from unveil.arrays import Bools, Int32s, Ints

__all__ = [
    "Codes",
    "UnsortedCodes",
    "arrow_integers",
    "cast_to_text",
    "check_moments",
    "compress_column",
    "encode_column",
    "encode_without_sorting",
    "mark_missing",
    "numpy_integers",
    "plain_decimal",
    "rows_error",
]

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # since 1970: the years 1 to 9999
_LEAST = -(2**63)
_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


@dataclass(frozen=True, eq=False)
class Codes:
    """``values[codes[i]]`` is the value of row i; −1 is missing. ``values`` is sorted and distinct."""

    codes: Int32s
    values: pa.Array

    def rows_with(self, marked: Bools) -> Ints:
        """The rows, counted from 0, that have one of the values that are marked."""
        import numpy as np

        return np.flatnonzero(np.isin(self.codes, np.flatnonzero(marked)))


# Arrow's own conversions to and from Python would load pandas, if it is installed, at a cost of 50 MB.


def numpy_integers(numbers: pa.Array) -> npt.NDArray[Any]:
    """An Arrow array of whole numbers, none missing, as a numpy array."""
    import numpy as np

    return np.from_dlpack(numbers)


def _numpy_booleans(found: pa.Array) -> Bools:
    """An Arrow array of truth values, none missing, as a numpy array."""
    import numpy as np
    import pyarrow as pa

    return numpy_integers(found.cast(pa.uint8())).view(np.bool_)


def arrow_integers(numbers: npt.NDArray[Any]) -> pa.Array:
    """A numpy array of 32-bit or 64-bit integers as an Arrow array."""
    import numpy as np
    import pyarrow as pa

    kind = pa.int32() if numbers.dtype == np.int32 else pa.int64()
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def _arrow_strings(texts: Sequence[str], kind: pa.DataType) -> pa.Array:
    """Texts as an Arrow array, without those that are no valid text and so equal no value."""
    import numpy as np
    import pyarrow as pa

    parts = [text.encode() for text in texts if not any("\ud800" <= c <= "\udfff" for c in text)]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(parts), pa.py_buffer(ends), pa.py_buffer(b"".join(parts))).cast(kind)


def cast_to_text(values: pa.Array, column: str = "a column") -> pa.Array:
    """Values as text."""
    import pyarrow as pa

    try:
        return values.cast(pa.string())
    except MemoryError:
        raise
    except pa.ArrowException:
        raise UnveilError(f"{column} holds bytes that are not text; write it as text, or leave it out") from None


def plain_decimal(kind: pa.DataType) -> pa.DataType:
    """The type that every library knows for decimal numbers that few know: narrow ones, and whole hundreds or
    thousands. Any other type stays as it is."""
    import pyarrow as pa

    if not pa.types.is_decimal(kind) or pa.types.is_decimal256(kind):
        return kind
    return pa.decimal128(min(38, kind.precision - min(kind.scale, 0)), max(kind.scale, 0))


def check_moments(column: pa.ChunkedArray, table: str, name: str) -> None:
    """Refuse dates and times that no calendar and no clock has: Arrow holds any number as one."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not pa.types.is_temporal(kind) or pa.types.is_duration(kind):
        return
    values = column.cast(pa.date32() if pa.types.is_date(kind) else kind)
    numbers = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    per_day = 1 if pa.types.is_date(kind) else _PER_DAY[kind.unit]
    margin = int(getattr(kind, "tz", None) is not None)  # a time zone may be a day ahead or behind
    first, last = (0, 0) if pa.types.is_time(kind) else (_FIRST_DAY + margin, _LAST_DAY - margin)
    low, high = max(first * per_day, _LEAST), min((last + 1) * per_day - 1, -_LEAST - 1)
    wrong = pc.fill_null(pc.or_(pc.less(numbers, low), pc.greater(numbers, high)), False)
    if pc.any(wrong).as_py():
        what = f"a date or time in {safe_text(name)!r} that is too early or too late to be one"
        raise rows_error(table, np.flatnonzero(np.asarray(wrong)), what, "correct it")


def rows_error(table: str, rows: Ints, what: str, remedy: str) -> UnveilError:
    """The error that these rows of a table, counted from 0, have what they must not have."""
    first = f"row {rows[0] + 1:,} has {what}"
    said = first if len(rows) == 1 else f"{len(rows):,} rows have {what}, the first of them row {rows[0] + 1:,}"
    return UnveilError(f"{safe_text(table)}: {said}; {remedy}")


def compress_column(column: pa.Array) -> pa.Array:
    """A column with each distinct value stored once, if its type allows that."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind) or pa.types.is_dictionary(kind) or pa.types.is_floating(kind) or _is_view_type(kind):
        return column
    return column.dictionary_encode()


def _is_view_type(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def encode_column(column: pa.ChunkedArray) -> Codes:
    """Encode a column; nulls and NaN are missing.

    >>> import pyarrow as pa
    >>> encode_column(pa.chunked_array([["b", None, "a", "b"]])).codes.tolist()
    [1, -1, 0, 1]
    """
    import numpy as np

    found = encode_without_sorting(column)
    rank, values = found.sorted_ranks()
    return Codes(rank[np.concatenate(found.parts) if found.parts else np.empty(0, np.int32)], values)


@dataclass(frozen=True, eq=False)
class UnsortedCodes:
    """A column as integers, chunk by chunk, whose values are not yet sorted; −1 is missing."""

    parts: tuple[Int32s, ...]
    values: pa.Array

    def sorted_ranks(self) -> tuple[Int32s, pa.Array]:
        """The rank of each number, with −1 for −1, and the sorted values."""
        import numpy as np
        import pyarrow.compute as pc

        order = numpy_integers(pc.sort_indices(self.values))
        rank = np.empty(len(order) + 1, np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        rank[-1] = -1
        return rank, self.values.take(arrow_integers(order.astype(np.int64)))


def encode_without_sorting(column: pa.ChunkedArray) -> UnsortedCodes:
    """A column as integers in any order of its values; nulls and NaN are missing."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):
        return UnsortedCodes((np.full(len(column), -1, np.int32),), pa.nulls(0, column.type))
    if pa.types.is_dictionary(column.type) and not _has_plain_dictionary(column):
        column = column.cast(column.type.value_type)
    if _is_view_type(column.type):
        column = column.cast(pa.large_string() if pa.types.is_string_view(column.type) else pa.large_binary())
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    column = column.cast(plain_decimal(column.type))
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), pc.add(column, 0.0))  # −0.0 is 0.0
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    encoded = encoded.unify_dictionaries()
    found = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], encoded.type.value_type)
    nothing = arrow_integers(np.array([-1], np.int32))[0]
    found_at = (chunk.indices.cast(pa.int32()) for chunk in encoded.chunks)
    parts = [numpy_integers(pc.fill_null(indices, nothing) if indices.null_count else indices) for indices in found_at]
    return UnsortedCodes(tuple(parts), found)


def _has_plain_dictionary(column: pa.ChunkedArray) -> bool:
    """Whether the column's dictionaries hold distinct values, none missing, so that their numbers can be used. Users'
    own dictionaries need not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inner = column.type.value_type
    if pa.types.is_floating(inner) or pa.types.is_null(inner) or pa.types.is_dictionary(inner) or _is_view_type(inner):
        return False
    return all(
        chunk.dictionary.null_count == 0 and pc.count_distinct(chunk.dictionary).as_py() == len(chunk.dictionary)
        for chunk in column.chunks
    )


def mark_missing(column: Codes, missing: tuple[str, ...]) -> Codes:
    """The column with −1 for the values that stand for missing, whatever spaces surround them."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not missing or not (pa.types.is_string(column.values.type) or pa.types.is_large_string(column.values.type)):
        return column
    bare = pc.utf8_trim_whitespace(column.values)
    found = pc.is_in(bare, value_set=_arrow_strings(missing, column.values.type))
    gone = _numpy_booleans(found)
    if not gone.any():
        return column
    rank = np.append(np.where(gone, -1, np.cumsum(~gone) - 1), -1).astype(np.int32)
    return Codes(rank[column.codes], column.values.filter(pc.invert(found)))
