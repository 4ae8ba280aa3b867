"""How a text table is written: encoding, delimiter, quotes, header.

Nothing is left to a parser's guess. The header is read and checked here, the whole file is looked through once for
what a lenient parser would let pass (NUL bytes, bytes that are not text, rows that are none: see
:mod:`unveil.release.rows`), and the parser is then told exactly what to expect. A doubtful file is refused with the
line and the remedy.
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
from unveil.release.source import peek, stem, stream
from unveil.wording import shown

if TYPE_CHECKING:
    from unveil.release.rows import Rows

__all__ = ["Dialect", "checked_names", "inspect", "utf8"]

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 1 << 20
_LONGEST = 1 << 24
_MOST_COLUMNS = 10_000
_GLANCE = 200
_DATA = (
    re.compile(r"[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?"),
    re.compile(r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}([ T].*)?"),
    re.compile(r"[^@\s]+@[^@\s]+"),
)
_NEVER = 1 << 62
_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class Dialect:
    """How to read one file. ``rewrite`` says that it has to be turned into plain UTF-8 with one kind of line end
    before a parser can be trusted with it; ``inner``, that a value holds a line end; ``rows`` leaves out the header."""

    names: tuple[str, ...]
    rows: int
    longest: int
    inner: bool
    encoding: str
    delimiter: str
    quote: str
    header: bool
    rewrite: bool
    notes: tuple[str, ...] = ()


def inspect(
    path: Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str = '"',
    header: bool | None = None,
) -> Dialect:
    """Find out how a text table is written, and refuse it if it is not one.

    ``header`` says whether the first row names the columns; if that is not said, it must not look like data, for names
    of columns are shown and data is not.
    """
    from unveil.release.rows import Rows

    _check_marks(delimiter, quote)
    encoding = _encoding(path, encoding)
    sample = _sample(path, encoding, quote)
    delimiter = delimiter or _delimiter(sample, quote, prefer="\t" if stem(path) == ".tsv" else ",")
    first = _split(sample, delimiter, quote)
    names = tuple(n.strip() for n in first[0]) if first else ()
    rows = _looked_through(path, encoding, Rows(len(names), delimiter, quote, skip=_NEVER))
    if not names:
        raise UnveilError(f"{shown(path.name)}: the file is empty")
    if header is None and _looks_like_data(first):
        raise UnveilError(
            f"{shown(path.name)}: line 1 looks like data; pass --no-header if it is, --header if it names the columns"
        )
    header = header is not False
    if not header:
        names = tuple(f"column {i + 1}" for i in range(len(names)))
    return Dialect(
        names=checked_names(path.name, names),
        rows=rows.count - header,
        longest=rows.longest,
        inner=rows.inner,
        encoding=encoding,
        delimiter=delimiter,
        quote=quote,
        header=header,
        rewrite=rows.mixed or rows.odd or encoding != "utf-8" or _mark_before_quote(path, quote),
        notes=tuple(_notes(_split(sample, delimiter, quote, padding=False), rows.mixed)),
    )


def _mark_before_quote(path: Path, quote: str) -> bool:
    """Whether a byte order mark stands before a quoted header, which DuckDB then takes for a plain one."""
    return bool(quote) and peek(path, 4).startswith(codecs.BOM_UTF8 + quote.encode())


def _check_marks(delimiter: str | None, quote: str) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not _mark(delimiter)):
        raise UnveilError("the delimiter must be one plain character, such as , or ; or a tab")
    if len(quote) > 1 or not _mark(quote) or quote in (" ", delimiter):
        raise UnveilError("the quote must be one plain character other than the delimiter, or empty for none")


def _mark(text: str) -> bool:
    return text.isascii() and not text.isalnum() and text not in ("\0", "\r", "\n")


def _encoding(path: Path, given: str | None) -> str:
    if given is None:
        head = peek(path, 4)
        return next((name for bom, name in _BOMS.items() if head.startswith(bom)), "utf-8")
    try:
        name = codecs.lookup(given).name
        codecs.getincrementaldecoder(name)
        "a".encode(name)
    except (LookupError, TypeError, ValueError):
        raise UnveilError(f"unknown encoding {shown(given)!r}; try utf-8, latin-1, cp1252 or utf-16") from None
    return "utf-8" if name == "utf-8-sig" else name


def utf8(path: Path, encoding: str) -> Iterator[bytes]:
    """The text of a file as UTF-8 without byte order mark, in chunks. Raises UnicodeError at the first byte that is
    not text, after everything before it."""
    decoder = codecs.getincrementaldecoder(encoding)()
    begun = False
    for chunk, final in _with_end(stream(path)):
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


def _with_end(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    for chunk in chunks:
        yield chunk, False
    yield b"", True


def _looked_through(path: Path, encoding: str, rows: Rows) -> Rows:
    name = shown(path.name)
    try:
        for chunk in utf8(path, encoding):
            text, nul, _ = chunk.partition(b"\0")
            rows.feed(text)
            if nul:
                raise UnveilError(
                    f"{name}: line {rows.line:,} holds a NUL byte: not a text table (or UTF-16: try --encoding)"
                )
            if rows.longest > _LONGEST:
                raise UnveilError(
                    f"{name}: a row is longer than {_LONGEST:,} bytes: not a text table, or a quote is not closed"
                )
    except UnicodeError:
        raise UnveilError(
            f"{name}: line {rows.line:,} is not {encoding} text; "
            "name the right one with --encoding (latin-1, cp1252, utf-16)"
        ) from None
    rows.close()
    if wrong := rows.wrong():
        raise UnveilError(f"{name}: {wrong}; mend the file, or name its --delimiter or --quote")
    return rows


def _sample(path: Path, encoding: str, quote: str) -> str:
    """Whole lines from the top of the file, at least the header's."""
    text, size = b"", _SAMPLE
    with contextlib.suppress(UnicodeError):  # whatever is not text is found later, with its line
        for chunk in utf8(path, encoding):
            text += chunk
            while size <= min(len(text), _LONGEST):
                lines = text[: max(text.rfind(b"\n", 0, size), text.rfind(b"\r", 0, size)) + 1].decode()
                if len(_split(lines, ",", quote)) > 1:
                    return lines
                size *= 4
    return text[:_LONGEST].decode(errors="ignore")


def _split(text: str, delimiter: str, quote: str, padding: bool = True) -> list[list[str]]:
    """The sample's rows; the last one may be cut within quotes and is not counted on. ``padding``: spaces before a
    value are not part of it."""
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        skipinitialspace=padding and delimiter != " ",
    )
    return [r for r in rows if r]


def _delimiter(text: str, quote: str, prefer: str) -> str:
    """The delimiter under which most rows agree with the header; more columns, then the preferred one, win ties."""

    def score(delimiter: str) -> tuple[float, int, bool]:
        rows = _split(text, delimiter, quote)
        width = len(rows[0]) if rows else 0
        if width < 2:
            return 0.0, 0, delimiter == prefer
        agree = sum(len(r) == width for r in rows) / len(rows)
        return round(agree, 1), width, delimiter == prefer

    return max((d for d in _DELIMITERS if d != quote), key=score)


def checked_names(file: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Column names that can be told apart, or an error that says which cannot."""
    file = shown(file)
    if not names:
        raise UnveilError(f"{file}: there are no columns")
    if len(names) > _MOST_COLUMNS:
        raise UnveilError(f"{file}: {len(names):,} columns; at most {_MOST_COLUMNS:,} are read: leave some out")
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name:
            raise UnveilError(f"{file}: column {place} has no name; give it one")
        if name in seen:
            raise UnveilError(f"{file}: columns {seen[name]} and {place} have the same name; rename one")
        seen[name] = place
    return names


def _looks_like_data(rows: list[list[str]]) -> bool:
    """Whether a cell of the first row is a value of its column: the same text, or a number, date or address like most
    values below it."""
    for cell, *below in itertools.zip_longest(*rows[:_GLANCE], fillvalue=""):
        values = [v.strip() for v in below if v.strip()]
        if cell.strip() in values:
            return True
        pattern = next((p for p in _DATA if p.fullmatch(cell.strip())), None)
        if pattern and sum(bool(pattern.fullmatch(v)) for v in values) * 2 > len(values):
            return True
    return False


def _notes(rows: list[list[str]], mixed: bool) -> list[str]:
    notes = []
    if mixed:
        notes.append("line ends were mixed; they were read as one kind")
    if any(v != v.strip() for row in rows[1:] for v in row):
        notes.append("some values begin or end with spaces; they are kept (--strip drops them)")
    return notes
