"""The compiled inner loops of the readers of baskets and edges.

All of them take linear time. A line ends with ``\\n``, ``\\r\\n`` or ``\\r``; blank means space or tab.
The steps around them are in ``text_tokens.py``.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel

__all__ = [
    "MISSING",
    "OPEN",
    "TRAILING",
    "build_adjacency",
    "count_bounds",
    "count_rows",
    "drop_repeats",
    "group_by_row",
    "pack_edges",
    "parse_digits",
    "scan_rows",
    "split_first_fields",
    "tokenise_bytes",
    "unique_basket_items",
]

MISSING, OPEN, TRAILING = 1, 2, 3  # what can be wrong with a field

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE, _HASH, _PERCENT = (np.uint8(ord(c)) for c in '\t\n\r "#%')
_BLANK = np.zeros(256, np.bool_)
_BLANK[[_TAB, _NEWLINE, _RETURN, _SPACE]] = True


@helper
def _ends_line(c):
    return (c == _NEWLINE) | (c == _RETURN)


@helper
def _ends_token(c):
    return _BLANK[c]


@helper
def _starts_comment(c):
    return (c == _HASH) | (c == _PERCENT)


@helper
def _skip_line_end(data, i):
    """The first byte of the next line, from a byte that ends a line."""
    return i + 2 if data[i] == _RETURN and i + 1 < len(data) and data[i + 1] == _NEWLINE else i + 1


@kernel
def count_bounds(data):
    """Upper bounds on the numbers of tokens and of lines, simple enough for the compiler to vectorise."""
    separators, ends = 0, 0
    for c in data:
        separators += c <= _SPACE
        ends += _ends_line(c)
    return separators + 1, ends + 1


@kernel
def tokenise_bytes(data, comments, limit, compact, offsets, widths):
    """Copy tokens into ``compact``; fill where each ends, and the number of tokens in each line.

    Tokens are short, so a branch at each end of one would often be mispredicted. Instead every byte is written, and the
    position advances only if the byte is kept. Returns the numbers of tokens, bytes and lines.
    """
    line, width, kept, filled = 0, 0, 0, 0
    live, inside, before = True, False, _NEWLINE
    for c in data:
        part = not _ends_token(c)
        if comments and part and width == 0 and not inside and _starts_comment(c):
            live = False
        within_limit = width < limit
        closes = inside & (not part)
        compact[filled] = c
        offsets[kept + 1] = filled
        filled += part & within_limit & live
        kept += closes & within_limit
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


@helper
def _read_quoted_field(data, i, compact, filled):
    """Copy a quoted field from after its opening quote; returns the position after it, −1 if it is not closed, and the
    bytes filled."""
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


@helper
def _read_plain_field(data, i, delimiter, compact, filled):
    """Copy an unquoted field up to the delimiter or the end of the line, without trailing blanks."""
    n = len(data)
    last = filled
    while i < n and data[i] != delimiter and not _ends_line(data[i]):
        compact[filled] = data[i]
        filled += 1
        if not _ends_token(data[i]):
            last = filled
        i += 1
    return i, last


@helper
def _skip_blanks(data, i, delimiter):
    while i < len(data) and data[i] != delimiter and (data[i] == _SPACE or data[i] == _TAB):
        i += 1
    return i


@helper
def _read_field(data, i, delimiter, compact, filled):
    """Copy one field; returns where it ends, the bytes filled, and a problem or 0."""
    start = filled
    i = _skip_blanks(data, i, delimiter)
    if i < len(data) and data[i] == _QUOTE:
        i, filled = _read_quoted_field(data, i + 1, compact, filled)
        if i < 0:
            return i, filled, OPEN
        i = _skip_blanks(data, i, delimiter)
        if i < len(data) and data[i] != delimiter and not _ends_line(data[i]):
            return i, filled, TRAILING
    else:
        i, filled = _read_plain_field(data, i, delimiter, compact, filled)
    return i, filled, MISSING if filled == start else 0


@kernel
def split_first_fields(data, delimiter, compact, offsets):
    """Copy the first two fields of each line; stops at the first line with a problem."""
    i, n = 0, len(data)
    line, kept, filled, further = 1, 0, 0, False
    while i < n:
        i = _skip_blanks(data, i, delimiter)
        if i < n and not _ends_line(data[i]) and not _starts_comment(data[i]):
            i, filled, problem = _read_field(data, i, delimiter, compact, filled)
            if problem == 0 and (i >= n or data[i] != delimiter):
                problem = MISSING
            if problem:
                return kept, filled, further, line, problem
            kept += 1
            offsets[kept] = filled
            i, filled, problem = _read_field(data, i + 1, delimiter, compact, filled)
            if problem:
                return kept, filled, further, line, problem
            kept += 1
            offsets[kept] = filled
            further |= i < n and not _ends_line(data[i])
        while i < n and not _ends_line(data[i]):
            i += 1
        if i < n:
            i = _skip_line_end(data, i)
        line += 1
    return kept, filled, further, 0, 0


@kernel
def parse_digits(compact, offsets, values):
    """Fill ``values``, 0 at first, with the numbers of decimal tokens; returns the first token that is not a number, or
    −1."""
    for k in range(len(values)):
        if not 0 < offsets[k + 1] - offsets[k] <= 18:  # 18 digits always fit
            return k
        for i in range(offsets[k], offsets[k + 1]):
            digit = np.int64(compact[i]) - 48
            if digit < 0 or digit > 9:
                return k
            values[k] = 10 * values[k] + digit
    return -1


@kernel
def unique_basket_items(indptr, items, last):
    """Remove repeated items and empty baskets in place, preserving the order: what is kept never overtakes what is
    read.

    ``last[item]`` is the basket in which the item was last seen, −1 at first, so no basket is sorted or searched.
    Returns the numbers of baskets and of items kept.
    """
    filled, baskets, begin = 0, 0, indptr[0]
    for basket in range(len(indptr) - 1):
        end = indptr[basket + 1]
        for k in range(begin, end):
            item = items[k]
            if last[item] != basket:
                last[item] = basket
                items[filled] = item
                filled += 1
        if end > begin:
            baskets += 1
            indptr[baskets] = filled
        begin = end
    return baskets, filled


@kernel
def scan_rows(data, quotes, length, longest):
    """Count quotes and the bytes of the longest row, which ends at a line end outside quotes; both go on from the piece
    before, and so does the length of the row that is not ended yet."""
    for c in data:
        quotes += c == _QUOTE
        length += 1
        if _ends_line(c) and quotes % 2 == 0:
            longest = max(longest, length)
            length = 0
    return quotes, length, longest


@kernel
def count_rows(rows, indptr):
    """Fill where each row begins; returns whether the rows come one after another already."""
    rising, before = True, rows[0] if len(rows) > 0 else 0
    for row in rows:
        indptr[row + 1] += 1
        rising &= before <= row
        before = row
    for row in range(len(indptr) - 1):
        indptr[row + 1] += indptr[row]
    return rising


@kernel
def group_by_row(rows, values, indptr, gathered):
    """Group ``values`` by row, preserving the order within a row (counting sort)."""
    for k in range(len(rows)):
        gathered[indptr[rows[k]]] = values[k]
        indptr[rows[k]] += 1
    _shift_back(indptr)


@helper
def _shift_back(indptr):
    """Where each row begins, from where it ends."""
    for row in range(len(indptr) - 1, 0, -1):
        indptr[row] = indptr[row - 1]
    indptr[0] = 0


@kernel
def pack_edges(ends, edges, directed):
    """Replace the two ends of each edge by one number, in place and without loops; returns how many edges there are.
    An undirected edge begins at its lower end."""
    kept = 0
    for e in range(len(edges)):
        s, t = np.int64(ends[2 * e]), np.int64(ends[2 * e + 1])
        if s != t:
            if not directed and s > t:
                s, t = t, s
            edges[kept] = (s << 32) | t
            kept += 1
    return kept


@kernel
def drop_repeats(edges):
    """Remove repeated numbers from a sorted array, in place; returns how many remain."""
    kept = 0
    for e in range(len(edges)):
        if kept == 0 or edges[e] != edges[kept - 1]:
            edges[kept] = edges[e]
            kept += 1
    return kept


@kernel
def build_adjacency(edges, both, indptr, neighbours):
    """Fill rows of neighbours from sorted edges; with ``both``, each edge is stored in both rows.

    Each row is in rising order: of the edges of node v, those from lower nodes come first, by these nodes, and then
    those from v, by their other end. ``indptr`` is 0 at first, and becomes where each row begins.
    """
    low = np.int64(0xFFFFFFFF)
    for edge in edges:
        indptr[(edge >> 32) + 1] += 1
        if both:
            indptr[(edge & low) + 1] += 1
    for v in range(len(indptr) - 1):
        indptr[v + 1] += indptr[v]
    for edge in edges:
        s, t = edge >> 32, edge & low
        neighbours[indptr[s]] = t
        indptr[s] += 1
        if both:
            neighbours[indptr[t]] = s
            indptr[t] += 1
    _shift_back(indptr)
