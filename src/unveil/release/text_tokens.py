"""Turn the tokens of a text file into numbers.

A release of baskets or edges is a text file of *tokens*. Reading it finds the tokens, gives each distinct token an
integer code, and stores the codes row by row (compressed sparse rows: ``indptr[r] : indptr[r + 1]`` are the entries of
row ``r``). This takes time linear in the size of the file and creates no Python object per line or token. The file is
read in pieces, so that only the codes and the distinct tokens are ever in memory as a whole:

1. :func:`text_pieces` loads some lines at a time and checks that they are text;
2. :func:`split_tokens` or :func:`first_fields` copies the tokens one after another, which is how Arrow stores strings;
3. a :class:`~unveil.release.label_table.LabelTable` numbers the distinct tokens, which stay text: "01" is not "1";
4. the kernels arrange the codes by row.

A line ends with ``\\n``, ``\\r\\n`` or ``\\r``. Blank means space or tab, nothing else.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.arrays import Int32s, Ints
from unveil.errors import UnveilError
from unveil.release import _kernels, source_file
from unveil.release.label_table import GrowingArray, LabelTable, sort_labels, string_array
from unveil.wording import safe_text

__all__ = [
    "Fields",
    "TextPiece",
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
    "text_pieces",
]

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\n|\r\n|\r(?!\Z)")
_BLOCK = 1 << 20


class TextPiece(NamedTuple):
    """Part of a file, how many lines end before it, and whether its last line goes on in the next piece."""

    data: bytes
    lines_before: int
    goes_on: bool = False


def text_pieces(path: Path, cut_lines: bool = False) -> Iterator[TextPiece]:
    """The file without byte order mark, less than a megabyte of whole lines at a time, checked to be UTF-8 and free of
    NUL; an error names the line. There is at least one piece. With ``cut_lines``, a long line may be cut at a blank."""
    lines, mark, name = 0, _BOM, safe_text(path.name)
    for data in _cut_pieces(source_file.stream_bytes(path), cut_lines):
        if b"\0" in data:
            raise UnveilError(f"{name}: contains NUL bytes, so it is not a text file; save it as UTF-8 text")
        if (place := _first_invalid_utf8(data)) is not None:
            line = lines + line_number_at(data, place)
            raise UnveilError(f"{name}: line {line:,} is not UTF-8 text; save the file as UTF-8")
        found = [TextPiece(data.removeprefix(mark), lines, not data.endswith((b"\n", b"\r")))]
        lines, mark = lines + line_number_at(data, len(data)) - 1, b""
        del data
        yield found.pop()  # so that a large piece, which is no longer needed, is not held here


def _cut_pieces(chunks: Iterable[bytes], cut_lines: bool) -> Iterator[bytes]:
    """The same bytes, in pieces that end where a line ends, but for the last. A short file is one piece, and so is a
    line longer than a chunk."""
    waiting, last = io.BytesIO(), b""  # what is to be cut comes one chunk later: a last CR may be half of a CRLF
    for chunk in chunks:
        if waiting.tell() > len(last) and (found := _LINE_END.search(last)):
            waiting.write(last[: found.end()])
            yield _take_bytes(waiting)
            last = last[found.end() :]
        cut = last.rfind(b"\n") + 1 or last.rfind(b"\r", 0, -1) + 1
        if not cut and cut_lines:
            cut = max(last.rfind(b" "), last.rfind(b"\t")) + 1
        if cut:
            waiting.write(last[:cut])
            yield _take_bytes(waiting)
        waiting.write(last[cut:])
        last = chunk
    waiting.write(last)
    yield _take_bytes(waiting)


def _take_bytes(buffer: io.BytesIO) -> bytes:
    """The content of a buffer, which is empty then."""
    data = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return data


def read_text(path: Path) -> bytes:
    """The whole file as :func:`text_pieces` has it."""
    return b"".join(piece.data for piece in text_pieces(path))


def _first_invalid_utf8(data: bytes) -> int | None:
    """The position of the first byte that is not UTF-8."""
    if data.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _BLOCK):  # decoded text may take four times as much memory
        end = min(start + _BLOCK, len(data))
        try:
            decoder.decode(data[start:end], final=end == len(data))
        except UnicodeDecodeError as error:
            return end - len(error.object) + error.start
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
    return Tokens(string_array(compact[:filled], offsets[: kept + 1]), widths[:lines])


def first_fields(data: bytes, delimiter: str, name: str, lines_before: int = 0) -> Fields:
    """The first two fields of each line of delimited text, without quotes and surrounding blanks.

    Lines that are blank or begin with ``#`` or ``%`` are skipped.
    """
    raw = np.frombuffer(data, np.uint8)
    lines = _kernels.count_bounds(raw)[1]
    offsets = _empty_offsets(len(raw), 2 * lines, None)
    compact = np.empty(len(raw), np.uint8)
    kept, filled, further, line, problem = _kernels.split_first_fields(raw, np.uint8(ord(delimiter)), compact, offsets)
    if problem:
        raise UnveilError(f"{name}: line {lines_before + line:,} {_FIELD_PROBLEMS[problem]}")
    return Fields(string_array(compact[:filled], offsets[: kept + 1]), bool(further))


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


def encode_texts(pieces: Iterable[pa.Array], by_appearance: bool = False) -> tuple[Int32s, pa.Array]:
    """A code for each text, and the distinct texts in the order of their codes: sorted as by :func:`sort_labels`, or in
    order of first appearance."""
    table, found = LabelTable(), GrowingArray()
    for texts in pieces:
        found.extend(table.encode(texts))
    codes, labels = found.take(), table.take_labels()
    return codes, labels if by_appearance else sort_labels(labels, codes)


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
