"""Scan the rows of a delimited text, byte by byte.

A lenient parser must not read a release. DuckDB's parser, even in strict mode and with its rejects stored, accepts rows
with extra empty values and ``"a" "b`` as one value, loses all rows of a file whose first line end is inside quotes,
stumbles over spaces before a quote, and miscounts lines after a value of several lines. So this module scans the bytes
first, by the rules of RFC 4180 with these additions:

- a line may end in LF, CRLF or CR;
- spaces around a quoted value are not part of it;
- a quote inside a value that does not begin with a quote is an ordinary character;
- an empty line is not a row, except in a table of one column, where it is an empty value.

Only text that passes goes to the parser, and there is only one way to read it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.arrays import Ints
from unveil.wording import count_text

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["RowScanner"]

_MAX_REPORTED = 3
_UNCLOSED, _STRAY = -1, -2  # problems of a row other than its number of values

# States: before a value, in spaces before one, in a plain one, inside quotes, after them, in spaces after them.
_BEGIN, _PADDING, _PLAIN, _QUOTED, _CLOSED, _PADDED = range(6)
# Columns of the two tables: any other byte, the delimiter, the quote, a space, LF, CR.
_NEXT_STATE = np.array(
    [
        [_PLAIN, _BEGIN, _QUOTED, _PADDING, _BEGIN, _BEGIN],
        [_PLAIN, _BEGIN, _QUOTED, _PADDING, _BEGIN, _BEGIN],
        [_PLAIN, _BEGIN, _PLAIN, _PLAIN, _BEGIN, _BEGIN],
        [_QUOTED, _QUOTED, _CLOSED, _QUOTED, _QUOTED, _QUOTED],
        [_PLAIN, _BEGIN, _QUOTED, _PADDED, _BEGIN, _BEGIN],
        [_PLAIN, _BEGIN, _PLAIN, _PADDED, _BEGIN, _BEGIN],
    ],
    np.int64,
)
# Actions: none, remember an opening quote, count a value, report a stray quote, count a line, end a row.
_OPEN, _VALUE, _COMPLAIN, _END_LINE, _END_ROW = 1, 2, 3, 4, 5
_ACTION = np.array(
    [
        [0, _VALUE, _OPEN, 0, _END_ROW, _END_ROW],
        [0, _VALUE, _OPEN, 0, _END_ROW, _END_ROW],
        [0, _VALUE, 0, 0, _END_ROW, _END_ROW],
        [0, 0, 0, 0, _END_LINE, _END_LINE],
        [_COMPLAIN, _VALUE, 0, 0, _END_ROW, _END_ROW],
        [_COMPLAIN, _VALUE, _COMPLAIN, 0, _END_ROW, _END_ROW],
    ],
    np.int64,
)
# Slots of the memory that lasts from chunk to chunk.
_PLACE, _LAST, _LINE, _START, _OPENED, _LENGTH, _VALUES, _WRONG = range(8)
_ROWS, _BAD, _UNIX, _WINDOWS, _MAC, _ODD, _INNER, _LONGEST, _PAD, _SLOTS = range(8, 18)


class RowScanner:
    """Scans a text chunk by chunk. The header is a row like any other.

    >>> rows = RowScanner(2, skip=1)
    >>> rows.feed(b'a,b\\r\\n"1\\n2",3\\n4')
    b'"1\\n2",3\\n4'
    >>> rows.close()
    b'\\n'
    >>> rows.row_count, rows.has_mixed_line_ends, rows.describe_problems()
    (3, True, 'line 4 has 1 value instead of 2')
    """

    def __init__(self, width: int, delimiter: str = ",", quote: str = '"', skip: int = 0) -> None:
        self._width, self._skip = width, skip
        self._meaning = np.zeros(256, np.int64)
        for meaning, byte in ((4, "\n"), (5, "\r"), (3, " "), (2, quote), (1, delimiter)):
            self._meaning[list(byte.encode())] = meaning
        self._memory = np.zeros(_SLOTS, np.int64)
        self._memory[[_LINE, _START]] = 1
        self._bad = np.zeros((_MAX_REPORTED, 2), np.int64)

    def feed(self, chunk: bytes) -> bytes:
        """Scan the next bytes. Returns the rows after the first ``skip``, each ended by a newline and without spaces
        around quotes."""
        text = np.frombuffer(chunk, np.uint8)
        kept = np.empty(len(chunk) + self._memory[_PAD], np.uint8)
        size = _compiled_scanner()(
            text, kept, self._memory, self._bad, self._meaning, _NEXT_STATE, _ACTION, self._width, self._skip
        )
        return kept[:size].tobytes()

    def close(self) -> bytes:
        """End the scan. Returns the rest."""
        if self._memory[_PLACE] == _QUOTED:
            if self._memory[_BAD] < _MAX_REPORTED:
                self._bad[self._memory[_BAD]] = self._memory[_OPENED], _UNCLOSED
            self._memory[[_BAD, _WRONG]] += 1
            self._memory[_PLACE] = _CLOSED
        ends = self._memory[[_UNIX, _WINDOWS, _MAC]]
        rest = self.feed(b"\n") if self._memory[_LENGTH] else b""
        self._memory[[_UNIX, _WINDOWS, _MAC]] = ends
        return rest

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return int(self._memory[_ROWS])

    @property
    def line_number(self) -> int:
        """The number of the current line."""
        return int(self._memory[_LINE])

    @property
    def longest_row(self) -> int:
        """The length of the longest row in bytes, complete or not."""
        return int(self._memory[[_LONGEST, _LENGTH]].max())

    @property
    def has_mixed_line_ends(self) -> bool:
        """Whether rows end in more than one way."""
        return int((self._memory[[_UNIX, _WINDOWS, _MAC]] > 0).sum()) > 1

    @property
    def has_odd_layout(self) -> bool:
        """Whether the first line end does not end the first row, or a quoted value has spaces around it."""
        return bool(self._memory[_ODD])

    @property
    def has_inner_newline(self) -> bool:
        """Whether some value contains a line end."""
        return bool(self._memory[_INNER])

    def describe_problems(self) -> str:
        """The first lines that are not rows of the table, and why; empty if all lines are."""
        said = [
            f"line {line:,} {self._describe_problem(code)}" for line, code in self._bad[: self._memory[_BAD]].tolist()
        ]
        return "; ".join(said) + (" and more" if self._memory[_BAD] > _MAX_REPORTED else "")

    def _describe_problem(self, code: int) -> str:
        if code == _UNCLOSED:
            return "has a quote that is not closed"
        if code == _STRAY:
            return "has text after a closing quote"
        return f"has {count_text(code, 'value')} instead of {self._width:,}"


@functools.cache
def _compiled_scanner() -> Any:
    from unveil.compilation import kernel

    return kernel(_scan_bytes)


def _scan_bytes(
    text: npt.NDArray[np.uint8],
    kept: npt.NDArray[np.uint8],
    memory: Ints,
    bad: Ints,
    meaning: Ints,
    following: Ints,
    doing: Ints,
    width: int,
    skip: int,
) -> int:
    """Run the state machine over a chunk. Returns the number of bytes kept."""
    place, values, line, pad = memory[_PLACE], memory[_VALUES], memory[_LINE], memory[_PAD]
    begin = -memory[_LENGTH]
    keep = memory[_ROWS] >= skip
    size = 0
    for i in range(len(text)):
        c = meaning[text[i]]
        was, place, do = place, following[place, c], doing[place, c]
        if was == _PADDING and place != _PADDING:
            if place == _QUOTED:
                memory[_ODD] = 1
            elif keep:
                kept[size : size + pad] = 32
                size += pad
            pad = 0
        if place == _PADDING:
            pad += 1
        elif place == _PADDED:
            memory[_ODD] = 1
        elif keep:
            kept[size] = text[i]
            size += 1
        if do == 0:
            continue
        if do == _VALUE:
            values += 1
        elif do == _OPEN:
            memory[_OPENED] = line
        else:
            complaint = 0
            blank = was == _BEGIN and values == 0
            last = memory[_LAST] if i == 0 else np.int64(text[i - 1])
            second = text[i] == 10 and last == 13  # the LF of a CRLF
            if do == _COMPLAIN:
                complaint = _STRAY
            elif not second:
                if line == 1 and (do == _END_LINE or blank):
                    memory[_ODD] = 1
                line += 1
            if do == _END_LINE:
                memory[_INNER] = 1
            if do == _END_ROW:
                if keep:
                    size -= 1
                if second:
                    memory[_MAC] -= 1
                    memory[_WINDOWS] += 1
                else:
                    memory[_UNIX if text[i] == 10 else _MAC] += 1
                    if not blank or (width == 1 and memory[_ROWS] > 0):
                        if values + 1 != width:
                            complaint = values + 1
                        memory[_LONGEST] = max(memory[_LONGEST], i - begin)
                        if keep:
                            kept[size] = 10
                            size += 1
                        memory[_ROWS] += 1
                        keep = memory[_ROWS] >= skip
                begin, values = i + 1, 0
            if complaint != 0 and memory[_WRONG] == 0:
                if memory[_BAD] < len(bad):
                    bad[memory[_BAD], 0] = memory[_START]
                    bad[memory[_BAD], 1] = complaint
                memory[_BAD] += 1
                memory[_WRONG] = 1
            if do == _END_ROW:
                memory[_START] = line
                memory[_WRONG] = 0
    if len(text) > 0:
        memory[_LAST] = text[-1]
    memory[_PLACE], memory[_VALUES], memory[_LINE], memory[_PAD] = place, values, line, pad
    memory[_LENGTH] = len(text) - begin
    return size
