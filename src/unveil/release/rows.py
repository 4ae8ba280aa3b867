"""The rows of a delimited text, byte by byte.

A table must not be read by a lenient parser. DuckDB's, even in strict mode and with its rejects stored, lets pass rows
with empty values too many and ``"a" "b`` as one value, loses all rows of a file whose first line end stands within
quotes, stumbles over spaces before a quote, and counts lines wrongly after a value of several lines. So the bytes are
looked through here first, under the rules of RFC 4180 with these additions:

- a line may end in any of the three ways;
- spaces around a quoted value are not part of it;
- a quote within a value that does not begin with one is a character like any other;
- an empty line is no row, except in a table of one column, where it is an empty value.

Only what passes is handed on, and then there is one way to read it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.wording import counted

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Rows"]

_FEW = 3
_UNCLOSED, _STRAY = -1, -2  # what can be wrong with a row besides the number of its values

# Where the scan stands: before a value, in spaces before one, in a plain one, in quotes, after them, in spaces after.
_BEGIN, _PADDING, _PLAIN, _QUOTED, _CLOSED, _PADDED = range(6)
# What the columns of these two tables stand for: any other byte, the delimiter, the quote, a space, LF, CR.
_NEXT = np.array(
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
# What there is to do: nothing, count a value, remember a quote, complain about one, count a line, end a row.
_OPEN, _VALUE, _COMPLAIN, _END_LINE, _END_ROW = 1, 2, 3, 4, 5
_DO = np.array(
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
# What is remembered from chunk to chunk.
_PLACE, _LAST, _LINE, _START, _OPENED, _LENGTH, _VALUES, _WRONG = range(8)
_ROWS, _BAD, _UNIX, _WINDOWS, _MAC, _ODD, _INNER, _LONGEST, _PAD, _SLOTS = range(8, 18)


class Rows:
    """Looks through a text, chunk after chunk. The header is a row like any other.

    >>> rows = Rows(2, skip=1)
    >>> rows.feed(b'a,b\\r\\n"1\\n2",3\\n4')
    b'"1\\n2",3\\n4'
    >>> rows.close()
    b'\\n'
    >>> rows.count, rows.mixed, rows.wrong()
    (3, True, 'line 4 has 1 value instead of 2')
    """

    def __init__(self, width: int, delimiter: str = ",", quote: str = '"', skip: int = 0) -> None:
        self._width, self._skip = width, skip
        self._meaning = np.zeros(256, np.int64)
        for meaning, byte in ((4, "\n"), (5, "\r"), (3, " "), (2, quote), (1, delimiter)):
            self._meaning[list(byte.encode())] = meaning
        self._memory = np.zeros(_SLOTS, np.int64)
        self._memory[[_LINE, _START]] = 1
        self._bad = np.zeros((_FEW, 2), np.int64)

    def feed(self, chunk: bytes) -> bytes:
        """Look through the next bytes; returns those of rows after the first ``skip``, each ended by a newline and
        without spaces around quotes."""
        text = np.frombuffer(chunk, np.uint8)
        kept = np.empty(len(chunk) + self._memory[_PAD], np.uint8)
        size = _compiled()(text, kept, self._memory, self._bad, self._meaning, _NEXT, _DO, self._width, self._skip)
        return kept[:size].tobytes()

    def close(self) -> bytes:
        """There is no more; returns the rest."""
        if self._memory[_PLACE] == _QUOTED:
            if self._memory[_BAD] < _FEW:
                self._bad[self._memory[_BAD]] = self._memory[_OPENED], _UNCLOSED
            self._memory[[_BAD, _WRONG]] += 1
            self._memory[_PLACE] = _CLOSED
        ends = self._memory[[_UNIX, _WINDOWS, _MAC]]
        rest = self.feed(b"\n") if self._memory[_LENGTH] else b""
        self._memory[[_UNIX, _WINDOWS, _MAC]] = ends
        return rest

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self._memory[_ROWS])

    @property
    def line(self) -> int:
        """The number of the line that has been reached."""
        return int(self._memory[_LINE])

    @property
    def longest(self) -> int:
        """The number of bytes of the longest row, complete or not."""
        return int(self._memory[[_LONGEST, _LENGTH]].max())

    @property
    def mixed(self) -> bool:
        """Whether rows end in more than one way."""
        return int((self._memory[[_UNIX, _WINDOWS, _MAC]] > 0).sum()) > 1

    @property
    def odd(self) -> bool:
        """Whether the first line end of the text is not the end of its first row, or a quote has spaces around it."""
        return bool(self._memory[_ODD])

    @property
    def inner(self) -> bool:
        """Whether a value holds a line end."""
        return bool(self._memory[_INNER])

    def wrong(self) -> str:
        """The first lines that are not rows of the table, and why; empty if all are."""
        said = [f"line {line:,} {self._why(code)}" for line, code in self._bad[: self._memory[_BAD]].tolist()]
        return "; ".join(said) + (" and more" if self._memory[_BAD] > _FEW else "")

    def _why(self, code: int) -> str:
        if code == _UNCLOSED:
            return "has a quote that is not closed"
        if code == _STRAY:
            return "goes on after a closing quote"
        return f"has {counted(code, 'value')} instead of {self._width:,}"


@functools.cache
def _compiled() -> Any:
    from unveil.compiled import kernel

    return kernel(_look)


def _look(
    text: npt.NDArray[np.uint8],
    kept: npt.NDArray[np.uint8],
    memory: npt.NDArray[np.int64],
    bad: npt.NDArray[np.int64],
    meaning: npt.NDArray[np.int64],
    following: npt.NDArray[np.int64],
    doing: npt.NDArray[np.int64],
    width: int,
    skip: int,
) -> int:
    """One pass of the state machine; returns the number of bytes kept."""
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
            second = text[i] == 10 and last == 13  # the second half of a line end of two bytes
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
