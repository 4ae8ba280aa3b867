"""Columns as integers.

Compiled code takes no strings. A column becomes one int32 per row, the position of its value in a sorted dictionary,
and −1 where the value is missing. Which values count as missing is the policy's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unveil.errors import UnveilError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

__all__ = ["Codes", "Numbered", "arrow_numbers", "as_text", "encode", "numbered", "plain", "smaller", "without"]


@dataclass(frozen=True, eq=False)
class Codes:
    """``values[codes[i]]`` is the value of row i; −1 is missing. ``values`` is sorted and free of repetitions."""

    codes: npt.NDArray[np.int32]
    values: pa.Array


# Arrow's own ways to and from Python would load pandas, if that is installed: 50 MB for nothing.


def plain(numbers: pa.Array) -> npt.NDArray[Any]:
    """Whole numbers, none missing, as numpy has them."""
    import numpy as np

    return np.from_dlpack(numbers)


def _truths(found: pa.Array) -> npt.NDArray[np.bool_]:
    """Truth values, none missing, as numpy has them."""
    import numpy as np
    import pyarrow as pa

    return plain(found.cast(pa.uint8())).view(np.bool_)


def arrow_numbers(numbers: npt.NDArray[Any]) -> pa.Array:
    """Whole numbers of 32 or 64 bits, as Arrow has them."""
    import numpy as np
    import pyarrow as pa

    kind = pa.int32() if numbers.dtype == np.int32 else pa.int64()
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def _texts(texts: Sequence[str], kind: pa.DataType) -> pa.Array:
    """Texts, as Arrow has them."""
    import numpy as np
    import pyarrow as pa

    parts = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(parts), pa.py_buffer(ends), pa.py_buffer(b"".join(parts))).cast(kind)


def as_text(values: pa.Array) -> pa.Array:
    """Values as they are written."""
    import pyarrow as pa

    try:
        return values.cast(pa.string())
    except pa.ArrowException:
        raise UnveilError("a column holds bytes that are no text; write them as text, or leave it out") from None


def smaller(column: pa.Array) -> pa.Array:
    """The same values, each different one stored once, where that is text or a number that can be told apart so."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind) or pa.types.is_dictionary(kind) or pa.types.is_floating(kind) or _is_view(kind):
        return column
    return column.dictionary_encode()


def _is_view(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def encode(column: pa.ChunkedArray) -> Codes:
    """Encode a column; nulls and NaN are missing.

    >>> import pyarrow as pa
    >>> encode(pa.chunked_array([["b", None, "a", "b"]])).codes.tolist()
    [1, -1, 0, 1]
    """
    import numpy as np

    found = numbered(column)
    rank, values = found.ranked()
    return Codes(rank[np.concatenate(found.parts) if found.parts else np.empty(0, np.int32)], values)


@dataclass(frozen=True, eq=False)
class Numbered:
    """A column as integers, chunk by chunk, in no order of the values yet; −1 is missing."""

    parts: tuple[npt.NDArray[np.int32], ...]
    values: pa.Array

    def ranked(self) -> tuple[npt.NDArray[np.int32], pa.Array]:
        """The place in order of each number, that of −1 being −1, and the values in order."""
        import numpy as np
        import pyarrow.compute as pc

        order = plain(pc.sort_indices(self.values))
        rank = np.empty(len(order) + 1, np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        rank[-1] = -1
        return rank, self.values.take(arrow_numbers(order.astype(np.int64)))


def numbered(column: pa.ChunkedArray) -> Numbered:
    """A column as integers; nulls and NaN are missing."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):
        return Numbered((np.full(len(column), -1, np.int32),), pa.nulls(0, column.type))
    if pa.types.is_dictionary(column.type) and not _plain(column):
        column = column.cast(column.type.value_type)
    if _is_view(column.type):
        column = column.cast(pa.large_string() if pa.types.is_string_view(column.type) else pa.large_binary())
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), pc.add(column, 0.0))  # −0.0 is 0.0
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    encoded = encoded.unify_dictionaries()
    found = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], encoded.type.value_type)
    nothing = arrow_numbers(np.array([-1], np.int32))[0]
    found_at = (chunk.indices.cast(pa.int32()) for chunk in encoded.chunks)
    parts = [plain(pc.fill_null(indices, nothing) if indices.null_count else indices) for indices in found_at]
    return Numbered(tuple(parts), found)


def _plain(column: pa.ChunkedArray) -> bool:
    """Whether dictionaries hold each value once, none of them missing, and none that is equal to another: then their
    numbers will do. Users' own dictionaries need not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inner = column.type.value_type
    if pa.types.is_floating(inner) or pa.types.is_null(inner) or pa.types.is_dictionary(inner) or _is_view(inner):
        return False
    return all(
        chunk.dictionary.null_count == 0 and pc.count_distinct(chunk.dictionary).as_py() == len(chunk.dictionary)
        for chunk in column.chunks
    )


def without(column: Codes, missing: tuple[str, ...]) -> Codes:
    """The same column with the values that stand for missing, spaces around them aside, taken out."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not missing or not (pa.types.is_string(column.values.type) or pa.types.is_large_string(column.values.type)):
        return column
    bare = pc.utf8_trim_whitespace(column.values)
    found = pc.is_in(bare, value_set=_texts(missing, column.values.type))
    gone = _truths(found)
    if not gone.any():
        return column
    rank = np.append(np.where(gone, -1, np.cumsum(~gone) - 1), -1).astype(np.int32)
    return Codes(rank[column.codes], column.values.filter(pc.invert(found)))
