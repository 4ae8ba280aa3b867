"""How a text table is written: encoding, delimiter, quotes, header.

Nothing is left to a parser's guess. This module reads and checks the header, scans the whole file once for what a
lenient parser would let pass (NUL bytes, bytes that are not text, malformed rows: see
:mod:`unveil.release.row_scanner`), and then tells the parser exactly what to expect. A doubtful file is refused with
the line and the remedy.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release.source_file import format_ending, peek_bytes, stream_bytes
from unveil.settings import option_text
from unveil.wording import count_text, safe_text

if TYPE_CHECKING:
    from unveil.release.row_scanner import RowScanner

__all__ = ["Dialect", "check_column_names", "check_header", "inspect_dialect", "stream_utf8"]

_DELIMITERS = (",", ";", "\t", "|")
_DELIMITER_NAMES = {
    ",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", ":": "colons", "^": "carets", "~": "tildes",
    " ": "spaces",
}  # fmt: skip
_SAMPLE_BYTES = 1 << 20
_MAX_ROW_BYTES = 1 << 24
_MAX_COLUMNS = 10_000
_HEADER_CHECK_ROWS = 200
_DATA_PATTERNS = (
    re.compile(r"[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?"),
    re.compile(r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}([ T].*)?"),
    re.compile(r"[^@\s]+@[^@\s]+"),
)
_SKIP_ALL_ROWS = 1 << 62
_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class Dialect:
    """How to read one file.

    ``needs_rewrite``: the file must become plain UTF-8 with one kind of line end before a parser can be trusted with
    it. ``has_inner_newline``: some value contains a line end. ``rows`` does not count the header.
    """

    names: tuple[str, ...]
    rows: int
    longest_row: int
    has_inner_newline: bool
    encoding: str
    delimiter: str
    quote: str
    header: bool
    needs_rewrite: bool
    notes: tuple[str, ...] = ()


def inspect_dialect(
    path: Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str = '"',
    header: bool | None = None,
    strip: bool = False,
) -> Dialect:
    """Find out how a text table is written, and refuse a file that is not one.

    ``header`` says whether the first row names the columns. If it is None, the first row must not look like data,
    because reports show column names and must not show data. ``strip`` says that spaces around values are dropped,
    which then need no note.
    """
    from unveil.release.row_scanner import RowScanner

    _check_delimiter_and_quote(delimiter, quote)
    encoding = _detect_encoding(path, encoding)
    sample = _read_sample(path, encoding, quote)
    delimiter = delimiter or _detect_delimiter(sample, quote, prefer="\t" if format_ending(path) == ".tsv" else ",")
    first = _split_sample(sample, delimiter, quote)
    names = tuple(n.strip() for n in first[0]) if first else ()
    rows = _scan_rows(path, encoding, RowScanner(len(names), delimiter, quote, skip=_SKIP_ALL_ROWS))
    if not names:
        raise UnveilError(f"{safe_text(path.name)}: the file is empty")
    header = check_header(path.name, first, header)
    if not header:
        names = tuple(f"column {i + 1}" for i in range(len(names)))
    as_written = _split_sample(sample, delimiter, quote, padding=False)
    notes = [*_reading_notes(as_written, rows.has_mixed_line_ends, strip), *_delimiter_notes(sample, delimiter, quote)]
    return Dialect(
        names=check_column_names(path.name, names),
        rows=rows.row_count - header,
        longest_row=rows.longest_row,
        has_inner_newline=rows.has_inner_newline,
        encoding=encoding,
        delimiter=delimiter,
        quote=quote,
        header=header,
        needs_rewrite=rows.has_mixed_line_ends
        or rows.has_odd_layout
        or encoding != "utf-8"
        or _has_bom_before_quote(path, quote),
        notes=tuple(notes),
    )


def _has_bom_before_quote(path: Path, quote: str) -> bool:
    """Whether a byte order mark precedes a quoted header, which DuckDB then misreads as an unquoted one."""
    return bool(quote) and peek_bytes(path, 4).startswith(codecs.BOM_UTF8 + quote.encode())


def _check_delimiter_and_quote(delimiter: str | None, quote: str) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not _is_plain_mark(delimiter)):
        raise UnveilError("the delimiter must be one plain character, such as a comma, a semicolon or a tab")
    if len(quote) > 1 or not _is_plain_mark(quote) or quote in (" ", delimiter):
        raise UnveilError("the quote must be one plain character other than the delimiter, or empty for no quoting")


def _is_plain_mark(text: str) -> bool:
    return text.isascii() and not text.isalnum() and text not in ("\0", "\r", "\n")


def _detect_encoding(path: Path, given: str | None) -> str:
    if given is None:
        head = peek_bytes(path, 4)
        return next((name for bom, name in _BOMS.items() if head.startswith(bom)), "utf-8")
    try:
        name = codecs.lookup(given).name
        codecs.getincrementaldecoder(name)
        "a".encode(name)
    except (LookupError, TypeError, ValueError):
        raise UnveilError(f"unknown encoding {safe_text(given)!r}; try utf-8, latin-1, cp1252 or utf-16") from None
    return "utf-8" if name == "utf-8-sig" else name


def stream_utf8(path: Path, encoding: str) -> Iterator[bytes]:
    """The text of a file as UTF-8 without byte order mark, in chunks. At the first byte that is not text, yields
    everything before it and raises UnicodeError."""
    decoder = codecs.getincrementaldecoder(encoding)()
    begun = False
    for chunk, final in _mark_last_chunk(stream_bytes(path)):
        try:
            text, error = decoder.decode(chunk, final), None
        except UnicodeDecodeError as e:
            good = chunk[: max(e.start - len(e.object) + len(chunk), 0)]
            text, error = decoder.decode(good), e
        if text:
            yield (text if begun else text.removeprefix("\ufeff")).encode()
            begun = True
        if error:
            raise error


def _mark_last_chunk(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    for chunk in chunks:
        yield chunk, False
    yield b"", True


def _scan_rows(path: Path, encoding: str, rows: RowScanner) -> RowScanner:
    name = safe_text(path.name)
    try:
        for chunk in stream_utf8(path, encoding):
            text, nul, _ = chunk.partition(b"\0")
            rows.feed(text)
            if nul:
                raise UnveilError(
                    f"{name}: line {rows.line_number:,} holds a NUL byte, so this is not a text table; "
                    f"if it is UTF-16, pass {option_text('encoding')}"
                )
            if rows.longest_row > _MAX_ROW_BYTES:
                raise UnveilError(
                    f"{name}: a row is longer than {_MAX_ROW_BYTES:,} bytes, near line {rows.line_number:,}; close its "
                    "quote, or check that this is a text table"
                )
    except UnicodeError:
        raise UnveilError(
            f"{name}: line {rows.line_number:,} is not {encoding} text; "
            f"pass its encoding with {option_text('encoding')} (latin-1, cp1252, utf-16)"
        ) from None
    rows.close()
    if wrong := rows.describe_problems():
        options = f"{option_text('delimiter')} or {option_text('quote')}"
        raise UnveilError(f"{name}: {wrong}; correct the file, or pass its {options}")
    return rows


def _read_sample(path: Path, encoding: str, quote: str) -> str:
    """Whole lines from the top of the file, at least the header."""
    text, size = b"", _SAMPLE_BYTES
    with contextlib.suppress(UnicodeError):  # the scan reports bytes that are not text, with their line
        for chunk in stream_utf8(path, encoding):
            text += chunk
            while size <= min(len(text), _MAX_ROW_BYTES):
                lines = text[: max(text.rfind(b"\n", 0, size), text.rfind(b"\r", 0, size)) + 1].decode()
                if len(_split_sample(lines, ",", quote)) > 1:
                    return lines
                size *= 4
            if len(text) > _MAX_ROW_BYTES:
                break
    return text[:_MAX_ROW_BYTES].decode(errors="ignore")


def _split_sample(text: str, delimiter: str, quote: str, padding: bool = True) -> list[list[str]]:
    """The rows of the sample, the last of which may be cut within quotes. With ``padding``, spaces before a value are
    not part of it."""
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        skipinitialspace=padding and delimiter != " ",
    )
    return [r for r in rows if r]


def _detect_delimiter(text: str, quote: str, prefer: str) -> str:
    """The delimiter under which most rows agree with the header. More columns win a tie, then the preferred one."""

    def score(delimiter: str) -> tuple[float, int, bool]:
        rows = _split_sample(text, delimiter, quote)
        width = len(rows[0]) if rows else 0
        if width < 2:
            return 0.0, 0, delimiter == prefer
        agree = sum(len(r) == width for r in rows) / len(rows)
        return round(agree, 1), width, delimiter == prefer

    return max((d for d in _DELIMITERS if d != quote), key=score)


def check_column_names(file: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Column names, each present and unique, or an error that says which is not."""
    file = safe_text(file)
    if not names:
        raise UnveilError(f"{file}: there are no columns; give it a header")
    if len(names) > _MAX_COLUMNS:
        raise UnveilError(f"{file}: {len(names):,} columns are too many; keep at most {_MAX_COLUMNS:,}")
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name:
            raise UnveilError(f"{file}: column {place} has no name; give it one")
        if name in seen:
            raise UnveilError(f"{file}: columns {seen[name]} and {place} have the same name; rename one")
        seen[name] = place
    return names


def check_header(file: str, rows: list[list[str]], given: bool | None) -> bool:
    """Whether the first row names the columns. If nobody says so, it must not look like data."""
    if given is None and _looks_like_data(rows):
        raise UnveilError(
            f"{safe_text(file)}: line 1 looks like data; pass {option_text('no_header')} if it is, "
            f"{option_text('header')} if it names the columns"
        )
    return given is not False


def _looks_like_data(rows: list[list[str]]) -> bool:
    """Whether a cell of the first row looks like a value of its column: it recurs below, or it is a number, date or
    address like most values below it."""
    for cell, *below in itertools.zip_longest(*rows[:_HEADER_CHECK_ROWS], fillvalue=""):
        values = [v.strip() for v in below if v.strip()]
        if cell.strip() in values:
            return True
        pattern = next((p for p in _DATA_PATTERNS if p.fullmatch(cell.strip())), None)
        if pattern and sum(bool(pattern.fullmatch(v)) for v in values) * 2 > len(values):
            return True
    return False


def _delimiter_notes(text: str, delimiter: str, quote: str) -> Iterator[str]:
    """Say that a single column seems to be several with another delimiter, which divides all its lines alike."""
    if any(len(row) > 1 for row in _split_sample(text, delimiter, quote)):
        return
    for other, name in _DELIMITER_NAMES.items():
        rows = _split_sample(text, other, quote)[:_HEADER_CHECK_ROWS] if other not in (delimiter, quote) else []
        widths = {len(row) for row in rows}
        if len(widths) == 1 and max(widths) > 1:
            passed = option_text("delimiter", r'"\t"' if other == "\t" else f'"{other}"')
            yield (
                f"read as a single column, but {name} divide each of the first {count_text(len(rows), 'line')} into "
                f"{max(widths)} values; pass {passed} if they should"
            )
            return


def _reading_notes(rows: list[list[str]], mixed: bool, strip: bool) -> list[str]:
    notes = []
    if mixed:
        notes.append("lines end in different ways; all were read as line ends")
    if not strip and any(v != v.strip() for row in rows[1:] for v in row):
        notes.append(f"some values begin or end with spaces, which are kept; pass {option_text('strip')} to drop them")
    return notes
