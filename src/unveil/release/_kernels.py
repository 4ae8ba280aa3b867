"""The compiled inner loops of the readers of baskets and edges.

All of them are linear in their input. A line ends with ``\\n``, ``\\r\\n`` or ``\\r``; blank means space or tab. The
steps around them stand in ``text.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.compiled import inlined, kernel

__all__ = [
    "MISSING",
    "OPEN",
    "TRAILING",
    "adjacency",
    "at_most",
    "digits",
    "first_two",
    "grouped",
    "tokenise",
    "unique_items",
]

MISSING, OPEN, TRAILING = 1, 2, 3  # what can be wrong with a field

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE, _HASH, _PERCENT = (np.uint8(ord(c)) for c in '\t\n\r "#%')
_BLANK = np.zeros(256, np.bool_)
_BLANK[[_TAB, _NEWLINE, _RETURN, _SPACE]] = True


@inlined
def _ends_line(c: Any) -> Any:
    return (c == _NEWLINE) | (c == _RETURN)


@inlined
def _ends_token(c: Any) -> Any:
    return _BLANK[c]


@inlined
def _starts_comment(c: Any) -> Any:
    return (c == _HASH) | (c == _PERCENT)


@inlined
def _past_line_end(data: Any, i: Any) -> Any:
    """The first byte of the next line, from a byte that ends a line."""
    return i + 2 if data[i] == _RETURN and i + 1 < len(data) and data[i + 1] == _NEWLINE else i + 1


@kernel
def at_most(data: Any) -> Any:
    """Bounds on the numbers of tokens and of lines, simple enough that the compiler makes it vector code."""
    separators, ends = 0, 0
    for c in data:
        separators += c <= _SPACE
        ends += _ends_line(c)
    return separators + 1, ends + 1


@kernel
def tokenise(data: Any, comments: Any, limit: Any, compact: Any, offsets: Any, widths: Any) -> Any:
    """Copy tokens into ``compact``, fill in where each ends and how many each line has.

    Tokens are short, so a branch at each end of one would be guessed wrong all the time: every byte is written and the
    place to write moves on only if the byte is to be kept. Returns the numbers of tokens, bytes and lines.
    """
    line, width, kept, filled = 0, 0, 0, 0
    live, inside, before = True, False, _NEWLINE
    for c in data:
        part = not _ends_token(c)
        if comments and part and width == 0 and not inside and _starts_comment(c):
            live = False
        wanted = width < limit
        closes = inside & (not part)
        compact[filled] = c
        offsets[kept + 1] = filled
        filled += part & wanted & live
        kept += closes & wanted
        width += closes
        inside = part & live
        if _ends_line(c):
            if c == _RETURN or before != _RETURN:
                widths[line] = width
                line += 1
            width, live = 0, True
        before = c
    if inside:
        offsets[kept + 1] = filled
        kept += width < limit
        width += 1
    if len(data) > 0 and not _ends_line(before):
        widths[line] = width
        line += 1
    return kept, filled, line


@kernel
def _quoted(data: Any, i: Any, compact: Any, filled: Any) -> Any:
    """Copy a quoted field from after its opening quote; returns the place after it, or −1 if it is not closed."""
    n = len(data)
    while i < n and not _ends_line(data[i]):
        if data[i] == _QUOTE:
            if i + 1 < n and data[i + 1] == _QUOTE:
                i += 1
            else:
                return i + 1, filled
        compact[filled] = data[i]
        filled += 1
        i += 1
    return -1, filled


@kernel
def _plain(data: Any, i: Any, delimiter: Any, compact: Any, filled: Any) -> Any:
    """Copy an unquoted field up to the delimiter or the line's end, without the blanks behind it."""
    n = len(data)
    last = filled
    while i < n and data[i] != delimiter and not _ends_line(data[i]):
        compact[filled] = data[i]
        filled += 1
        if not _ends_token(data[i]):
            last = filled
        i += 1
    return i, last


@kernel
def _past_blanks(data: Any, i: Any, delimiter: Any) -> Any:
    while i < len(data) and data[i] != delimiter and (data[i] == _SPACE or data[i] == _TAB):
        i += 1
    return i


@kernel
def _field(data: Any, i: Any, delimiter: Any, compact: Any, filled: Any) -> Any:
    """Copy one field; returns where it stops, the bytes filled, and a problem or 0."""
    start = filled
    i = _past_blanks(data, i, delimiter)
    if i < len(data) and data[i] == _QUOTE:
        i, filled = _quoted(data, i + 1, compact, filled)
        if i < 0:
            return i, filled, OPEN
        i = _past_blanks(data, i, delimiter)
        if i < len(data) and data[i] != delimiter and not _ends_line(data[i]):
            return i, filled, TRAILING
    else:
        i, filled = _plain(data, i, delimiter, compact, filled)
    return i, filled, MISSING if filled == start else 0


@kernel
def first_two(data: Any, delimiter: Any, compact: Any, offsets: Any) -> Any:
    """Copy the first two fields of each line; stops at the first line with a problem."""
    i, n = 0, len(data)
    line, kept, filled, further = 1, 0, 0, False
    while i < n:
        i = _past_blanks(data, i, delimiter)
        if i < n and not _ends_line(data[i]) and not _starts_comment(data[i]):
            i, filled, problem = _field(data, i, delimiter, compact, filled)
            if problem == 0 and (i >= n or data[i] != delimiter):
                problem = MISSING
            if problem:
                return kept, filled, further, line, problem
            kept += 1
            offsets[kept] = filled
            i, filled, problem = _field(data, i + 1, delimiter, compact, filled)
            if problem:
                return kept, filled, further, line, problem
            kept += 1
            offsets[kept] = filled
            further |= i < n and not _ends_line(data[i])
        while i < n and not _ends_line(data[i]):
            i += 1
        if i < n:
            i = _past_line_end(data, i)
        line += 1
    return kept, filled, further, 0, 0


@kernel
def digits(compact: Any, offsets: Any) -> Any:
    values = np.zeros(len(offsets) - 1, np.int64)
    for k in range(len(values)):
        if not 0 < offsets[k + 1] - offsets[k] <= 18:  # 18 digits always fit
            return values, k
        for i in range(offsets[k], offsets[k + 1]):
            digit = np.int64(compact[i]) - 48
            if digit < 0 or digit > 9:
                return values, k
            values[k] = 10 * values[k] + digit
    return values, -1


@kernel
def unique_items(indptr: Any, items: Any, distinct: Any) -> Any:
    """Baskets without repeated items and without empty baskets, order kept, in one pass.

    ``last[item]`` is the basket in which the item was seen last, so that no basket is sorted or searched. Returns
    ``indptr``, ``items``, and the numbers of repeated items and of empty baskets.
    """
    last = np.full(distinct, -1, np.int64)
    starts = np.zeros(len(indptr), np.int64)
    kept = np.empty(len(items), np.int32)
    filled, baskets = 0, 0
    for basket in range(len(indptr) - 1):
        for k in range(indptr[basket], indptr[basket + 1]):
            item = items[k]
            if last[item] != basket:
                last[item] = basket
                kept[filled] = item
                filled += 1
        if indptr[basket + 1] > indptr[basket]:
            baskets += 1
            starts[baskets] = filled
    return starts[: baskets + 1], kept[:filled], len(items) - filled, len(indptr) - 1 - baskets


@kernel
def grouped(rows: Any, values: Any, count: Any) -> Any:
    """``values`` gathered by row, order kept inside a row (counting sort): ``indptr`` and values."""
    indptr = np.zeros(count + 1, np.int64)
    for row in rows:
        indptr[row + 1] += 1
    indptr = np.cumsum(indptr)
    free = indptr[:-1].copy()
    gathered = np.empty(len(values), np.int32)
    for k in range(len(rows)):
        gathered[free[rows[k]]] = values[k]
        free[rows[k]] += 1
    return indptr, gathered


@kernel
def adjacency(sources: Any, targets: Any, nodes: Any, both: Any) -> Any:
    """Sorted rows of neighbours without loops and duplicates; ``both`` stores each edge in both rows.

    Two counting sorts: edges are gathered by target, then the targets are dealt out in rising order to their sources,
    so each row arrives sorted and a duplicate equals the row's last entry. Returns ``indptr``, ``neighbours`` and the
    number of loops.
    """
    into = np.zeros(nodes + 1, np.int64)
    out = np.zeros(nodes + 1, np.int64)
    loops = 0
    for e in range(len(sources)):
        s, t = sources[e], targets[e]
        if s == t:
            loops += 1
            continue
        into[t + 1] += 1
        out[s + 1] += 1
        if both:
            into[s + 1] += 1
            out[t + 1] += 1
    into, out = np.cumsum(into), np.cumsum(out)
    by_target = np.empty(into[-1], np.int32)
    free = into[:-1].copy()
    for e in range(len(sources)):
        s, t = sources[e], targets[e]
        if s != t:
            by_target[free[t]] = s
            free[t] += 1
            if both:
                by_target[free[s]] = t
                free[s] += 1
    rows = np.empty(len(by_target), np.int32)
    free = out[:-1].copy()
    for t in range(nodes):
        for k in range(into[t], into[t + 1]):
            s = by_target[k]
            if free[s] == out[s] or rows[free[s] - 1] != t:
                rows[free[s]] = t
                free[s] += 1
    indptr = np.zeros(nodes + 1, np.int64)
    filled = 0
    for s in range(nodes):  # close the gaps that duplicates left
        for k in range(out[s], free[s]):
            rows[filled] = rows[k]
            filled += 1
        indptr[s + 1] = filled
    return indptr, rows[:filled].copy(), loops
