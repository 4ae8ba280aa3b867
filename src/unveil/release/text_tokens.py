"""Turn the tokens of a text file into numbers.

A release of baskets or edges is a text file of *tokens*. Reading it finds the tokens, gives each distinct token an
integer code, and stores the codes row by row (compressed sparse rows: ``indptr[r] : indptr[r + 1]`` are the entries of
row ``r``). This takes time linear in the size of the file and creates no Python object per line or token. The file is
read in pieces, so that only the codes and the distinct tokens are ever in memory as a whole:

1. :func:`text_pieces` loads some lines at a time and checks that they are text;
2. :func:`split_tokens` or :func:`first_fields` copies the tokens one after another, which is how Arrow stores strings;
3. :func:`encode_texts` has Arrow number the distinct tokens, which stay text: "01" is not "1";
4. the kernels arrange the codes by row.

A line ends with ``\\n``, ``\\r\\n`` or ``\\r``. Blank means space or tab, nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.arrays import Int32s, Ints
from unveil.errors import UnveilError
from unveil.release import _kernels, source_file
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
_WHOLE_NUMBER = r"^(0|[1-9][0-9]{0,17})$"  # 18 digits always fit


class TextPiece(NamedTuple):
    """Whole lines of a file, and how many lines precede them."""

    data: bytes
    lines_before: int


def text_pieces(path: Path) -> Iterator[TextPiece]:
    """The file without byte order mark, a few megabytes of whole lines at a time, checked to be UTF-8 and free of NUL;
    an error names the line. There is at least one piece."""
    lines, name = 0, safe_text(path.name)
    for data in _whole_lines(source_file.stream_bytes(path)):
        if b"\0" in data:
            raise UnveilError(f"{name}: contains NUL bytes, so it is not a text file; save it as UTF-8 text")
        if (place := _first_invalid_utf8(data)) is not None:
            line = lines + line_number_at(data, place)
            raise UnveilError(f"{name}: line {line:,} is not UTF-8 text; save the file as UTF-8")
        yield TextPiece(data if lines else data.removeprefix(_BOM), lines)
        lines += line_number_at(data, len(data)) - 1


def _whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, in pieces that end where a line ends, but for the last. A short file is one piece."""
    parts = [b""]
    for chunk in chunks:
        last = parts[-1]
        if cut := last.rfind(b"\n") + 1 or last.rfind(b"\r", 0, -1) + 1:  # a last CR may be half of a CRLF
            yield b"".join([*parts[:-1], last[:cut]])
            parts = [last[cut:]]
        parts.append(chunk)
    yield b"".join(parts)


def read_text(path: Path) -> bytes:
    """The whole file as :func:`text_pieces` has it."""
    return b"".join(piece.data for piece in text_pieces(path))


def _first_invalid_utf8(data: bytes) -> int | None:
    """The position of the first byte that is not UTF-8."""
    try:
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError as error:
        return error.start
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


def encode_texts(pieces: Iterable[pa.Array], by_appearance: bool = False) -> tuple[Int32s, pa.Array]:
    """A code for each text, and the distinct texts in the order of their codes: numbers by size if all texts are whole
    numbers without leading zeros, otherwise by text, character by character (10 before 9); or in order of first
    appearance. Each piece is encoded by itself, so that no table of all texts is needed."""
    parts, found = list[Int32s](), list[pa.Array]()
    for texts in pieces:
        encoded = texts.dictionary_encode()
        parts.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32))
        found.append(encoded.dictionary)
    starts = np.append(0, np.cumsum([len(labels) for labels in found])).tolist()
    ranks, labels = _unify_labels(found, by_appearance)
    codes, place = np.empty(sum(map(len, parts)), np.int32), 0
    for k, part in enumerate(parts):
        codes[place : place + len(part)] = ranks[starts[k] : starts[k + 1]][part]
        place += len(part)
        parts[k] = part[:0].copy()  # lets go of the memory
    return codes, labels


def _unify_labels(found: list[pa.Array], by_appearance: bool) -> tuple[Int32s, pa.Array]:
    """The distinct labels, and the place of each given label among them. Empties the list."""
    wide = sum(labels.nbytes for labels in found) >= 2**31
    whole = pa.concat_arrays([labels.cast(pa.large_string()) for labels in found] or [pa.array([], pa.large_string())])
    found.clear()
    if not wide:
        whole = whole.cast(pa.string())
    order = pc.sort_indices(whole)
    labels, order = whole.take(order), order.to_numpy()
    del whole
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = pc.not_equal(labels.slice(1), labels.slice(0, max(0, len(labels) - 1))).to_numpy(zero_copy_only=False)
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.cumsum(fresh) - 1
    if not fresh.all():
        labels = labels.filter(pa.array(fresh))
    if pa.types.is_large_string(labels.type) and labels.nbytes < 2**31:
        labels = labels.cast(pa.string())
    if by_appearance:
        first = np.empty(len(labels), np.int64)
        first[ranks[::-1]] = np.arange(len(ranks) - 1, -1, -1)  # the last assignment wins
        better = np.argsort(first)
    elif len(labels) and pc.all(pc.match_substring_regex(labels, _WHOLE_NUMBER)).as_py():
        better = pc.sort_indices(labels.cast(pa.int64())).to_numpy().astype(np.int64)
    else:
        return ranks, labels
    moved = np.empty(len(labels), np.int32)
    moved[better] = np.arange(len(labels), dtype=np.int32)
    return moved[ranks], labels.take(pa.array(better))


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
