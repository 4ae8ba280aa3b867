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
    "group_by_row",
    "parse_digits",
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
def unique_basket_items(indptr, items, last, starts, kept):
    """Remove repeated items and empty baskets, preserving the order, in one pass.

    ``last[item]`` is the basket in which the item was last seen, −1 at first, so no basket is sorted or searched. Fills
    ``starts``, 0 at first, and ``kept``; returns the numbers of baskets and of items kept.
    """
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
    return baskets, filled


@kernel
def group_by_row(rows, values, free, gathered):
    """Group ``values`` by row, preserving the order within a row (counting sort). ``free`` is where each row begins."""
    for k in range(len(rows)):
        gathered[free[rows[k]]] = values[k]
        free[rows[k]] += 1


@kernel
def build_adjacency(sources, targets, both, into, out, free, by_target, rows):
    """Build sorted rows of neighbours without loops and duplicates; with ``both``, each edge is stored in both rows.

    Two counting sorts: edges are grouped by target, then the targets are distributed to their sources in ascending
    order, so each row is sorted and a duplicate equals the last entry of its row. ``into`` and ``out`` are where the
    edges into and out of each node begin, without loops; ``free`` is a copy of ``into``. Fills ``rows``, and replaces
    ``into`` by where each row begins.
    """
    nodes = len(into) - 1
    for e in range(len(sources)):
        s, t = sources[e], targets[e]
        if s != t:
            by_target[free[t]] = s
            free[t] += 1
            if both:
                by_target[free[s]] = t
                free[s] += 1
    for s in range(nodes):
        free[s] = out[s]
    for t in range(nodes):
        for k in range(into[t], into[t + 1]):
            s = by_target[k]
            if free[s] == out[s] or rows[free[s] - 1] != t:
                rows[free[s]] = t
                free[s] += 1
    filled = 0
    for s in range(nodes):  # close the gaps that duplicates left
        for k in range(out[s], free[s]):
            rows[filled] = rows[k]
            filled += 1
        into[s + 1] = filled
