"""Turn the tokens of a text file into numbers.

A release of baskets or edges is a text file of *tokens*. Reading it finds the tokens, gives each distinct token an
integer code, and stores the codes row by row (compressed sparse rows: ``indptr[r] : indptr[r + 1]`` are the entries of
row ``r``). This takes time linear in the size of the file and creates no Python object per line or token:

1. :func:`read_text` loads the bytes and checks that they are text;
2. :func:`split_tokens` or :func:`first_fields` copies the tokens one after another, which is how Arrow stores strings;
3. :func:`encode_texts` has Arrow number the distinct tokens, which stay text: "01" is not "1";
4. the kernels arrange the codes by row.

A line ends with ``\\n``, ``\\r\\n`` or ``\\r``. Blank means space or tab, nothing else.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.arrays import Int32s, Ints
from unveil.errors import UnveilError
from unveil.release import _kernels, source_file
from unveil.wording import safe_text

__all__ = [
    "Fields",
    "Tokens",
    "content_digest",
    "encode_texts",
    "first_fields",
    "freeze_array",
    "label_array",
    "line_number_at",
    "parse_whole_numbers",
    "read_text",
    "split_tokens",
]

_BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 22


def read_text(path: Path) -> bytes:
    """The file's bytes without byte order mark, checked to be UTF-8 and free of NUL; an error names the line."""
    data = source_file.load_bytes(path)
    name = safe_text(path.name)
    if b"\0" in data:
        raise UnveilError(f"{name}: contains NUL bytes, so it is not a text file; save it as UTF-8 text")
    if not data.isascii() and (place := _first_invalid_utf8(data)) is not None:
        raise UnveilError(f"{name}: line {line_number_at(data, place):,} is not UTF-8 text; save the file as UTF-8")
    return data.removeprefix(_BOM)


def _first_invalid_utf8(data: bytes) -> int | None:
    """The position of the first byte that is not UTF-8. Decodes piece by piece, so that the file is not copied."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _CHUNK):
        piece = data[start : start + _CHUNK]
        try:
            decoder.decode(piece, final=start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            carried = len(error.object) - len(piece)  # bytes of a character that began in the previous piece
            return start - carried + error.start
    return None


def line_number_at(data: bytes, place: int) -> int:
    """The number of the line, from 1, that contains byte ``place``."""
    return 1 + data.count(b"\n", 0, place) + data.count(b"\r", 0, place) - data.count(b"\r\n", 0, place)


class Tokens(NamedTuple):
    """Tokens in file order, and the number of tokens on each line."""

    texts: pa.Array
    widths: Int32s


class Fields(NamedTuple):
    """The first two fields of each line; ``has_more_fields`` says whether any line has more."""

    texts: pa.Array
    has_more_fields: bool


def split_tokens(
    data: bytes | memoryview, *, comments: bool = False, limit: int = 0, wide: bool | None = None
) -> Tokens:
    """The blank-separated tokens of ``data``.

    ``comments`` skips lines that begin with ``#`` or ``%``. A positive ``limit`` keeps only the first tokens of a line;
    ``widths`` still counts all of them. From 2 GiB on, ``wide`` offsets are needed.
    """
    raw = np.frombuffer(data, np.uint8)
    count, lines = _kernels.count_bounds(raw)
    offsets = _empty_offsets(len(raw), count, wide)
    compact = np.empty(len(raw), np.uint8)
    widths = np.empty(lines, np.int32)
    kept, filled, lines = _kernels.tokenise_bytes(raw, comments, limit or len(raw), compact, offsets, widths)
    return Tokens(_string_array(compact[:filled], offsets[: kept + 1]), widths[:lines])


def first_fields(data: bytes, delimiter: str, name: str) -> Fields:
    """The first two fields of each line of delimited text, without quotes and surrounding blanks.

    Lines that are blank or begin with ``#`` or ``%`` are skipped.
    """
    raw = np.frombuffer(data, np.uint8)
    lines = _kernels.count_bounds(raw)[1]
    offsets = _empty_offsets(len(raw), 2 * lines, None)
    compact = np.empty(len(raw), np.uint8)
    kept, filled, further, line, problem = _kernels.split_first_fields(raw, np.uint8(ord(delimiter)), compact, offsets)
    if problem:
        raise UnveilError(f"{name}: line {line:,} {_FIELD_PROBLEMS[problem]}")
    return Fields(_string_array(compact[:filled], offsets[: kept + 1]), bool(further))


_FIELD_PROBLEMS = {
    _kernels.MISSING: "lacks one of the two nodes of an edge; complete or remove it",
    _kernels.OPEN: "has a quote that is not closed; close it or double it",
    _kernels.TRAILING: "has text after a closing quote; double the quotes inside a value",
}


def _empty_offsets(size: int, count: int, wide: bool | None) -> NDArray[Any]:
    wide = size >= 2**31 if wide is None else wide
    offsets: NDArray[Any] = np.empty(count + 2, np.int64 if wide else np.int32)
    offsets[0] = 0
    return offsets


def _string_array(compact: NDArray[np.uint8], offsets: NDArray[Any]) -> pa.Array:
    """An Arrow string array over these bytes, without a copy."""
    kind = pa.string() if offsets.dtype == np.int32 else pa.large_string()
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(compact)])


def encode_texts(texts: pa.Array) -> tuple[Int32s, pa.Array]:
    """A code for each text, in order of first appearance, and the distinct texts."""
    dictionary = texts.dictionary_encode()
    labels = dictionary.dictionary
    if pa.types.is_large_string(labels.type) and labels.nbytes < 2**31:
        labels = labels.cast(pa.string())
    return dictionary.indices.to_numpy(zero_copy_only=True), labels


def label_array(texts: Sequence[str], name: str) -> pa.Array:
    """Labels as an Arrow array."""
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:  # half of a surrogate pair
        raise UnveilError(f"{name}: a label is not valid Unicode text; rename it") from None


def parse_whole_numbers(texts: pa.Array) -> tuple[Ints, int]:
    """Tokens of decimal digits as numbers, and the position of the first other token, or −1."""
    wide = texts.cast(pa.large_string())
    offsets = np.frombuffer(wide.buffers()[1], np.int64)[wide.offset : wide.offset + len(wide) + 1]
    values = np.zeros(len(offsets) - 1, np.int64)
    raw = np.frombuffer(wide.buffers()[2] or b"", np.uint8)
    return values, int(_kernels.parse_digits(raw, freeze_array(offsets, np.int64), values))


def freeze_array(array: Any, dtype: type[np.generic]) -> NDArray[Any]:
    """A contiguous, read-only view of ``dtype``: with one array type, kernels compile once."""
    view = np.ascontiguousarray(array, dtype).view()
    view.flags.writeable = False
    return view


def content_digest(labels: pa.Array, *arrays: NDArray[Any]) -> str:
    """SHA-256 of a release that did not come from a file."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(f"{array.dtype.str} {len(array)} ".encode())
        sha.update(array.tobytes())
    sha.update(json.dumps(labels.to_pylist()).encode())
    return sha.hexdigest()
