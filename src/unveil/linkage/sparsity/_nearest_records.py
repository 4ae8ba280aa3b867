"""The compiled inner loops of ``nearest_records`` and ``bit_planes``.

One record at a time is compared with a block of others. ``sums`` has a number for each of these: Σ sim in the low bits
and, from bit ``COUNT_SHIFT`` on, the number of attributes that both records have. Frequent attributes are compared bit
by bit, 64 attributes at once; for the others, the records that have them are listed by block.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil._bits import bit_count
from unveil.compilation import helper, kernel

__all__ = [
    "COUNT_SHIFT",
    "LINEAR",
    "RUN",
    "TABLE",
    "ComparisonRules",
    "RecordArrays",
    "RecordBlocks",
    "RecordLists",
    "fill_planes",
    "search_blocks",
]

COUNT_SHIFT = 42
_SUM_MASK = (1 << COUNT_SHIFT) - 1
_ONE_SHARED = 1 << COUNT_SHIFT
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LARGEST = (1 << 63) - 1  # x & _LARGEST tells the compiler that an index is not negative, which saves a check
RUN, TABLE, LINEAR = 0, 1, 2  # how the values of an attribute are compared
_SPARSE_RATIO = 4  # if fewer than one in so many records of a block are touched, only these are visited


class ComparisonRules(NamedTuple):
    """How values are compared. Code v of attribute a has index k = ``start[a]`` + v.

    RUN: 1 for values with a ``code`` from ``low[k]`` to ``high[k]``, otherwise 0. TABLE: ``table[base[k] + code]``.
    LINEAR: max(0, 1 − d / ``scale[a]``), where d is the difference of the values' ``number``. Similarities are
    multiples of 1 / ``unit``.
    """

    kind: Any
    start: Any
    code: Any
    low: Any
    high: Any
    base: Any
    table: Any
    number: Any
    scale: Any
    unit: Any


class RecordBlocks(NamedTuple):
    """The records to compare with, in blocks by ``size``, their number of attributes, which is from ``least`` to
    ``most`` in each block. ``row`` is the row of every record; the last block is padded with row n, which is no record.

    Row b · P + p of ``planes`` has a word for every record of block b. Every 64 attributes have one plane that says
    which of them a record has, then one plane for each of the ``bits`` of their codes. ``ranged`` marks words whose
    codes are compared with a tolerance.
    """

    row: Any
    size: Any
    least: Any
    most: Any
    planes: Any
    bits: Any
    ranged: Any


class RecordLists(NamedTuple):
    """The records that have an attribute. Attribute a has list t = ``listed[a]``; its records in block b lie from
    ``begins[b · lists + t]`` to the next begin: their position in the block (``slot``) and their code (``value``)."""

    listed: Any
    begins: Any
    slot: Any
    value: Any


class RecordArrays(NamedTuple):
    """The records themselves."""

    indptr: Any
    attribute: Any
    value: Any


@kernel
def fill_planes(
    indptr, attribute, value, start, code, place, bits, starts, height,
    rows, first, last, planes,
):  # fmt: skip
    """Fill the planes of some rows, ``height`` planes for every block. The attribute with number ``place`` is a bit of
    the word whose planes begin at ``starts[place >> 6]``."""
    for k in range(first, last):
        r, block, j = rows[k], k // planes.shape[1] * height, k % planes.shape[1]
        for e in range(indptr[r], indptr[r + 1]):
            a = attribute[e]
            if place[a] >= 0:
                word, bit = place[a] >> 6, np.uint64(place[a] & 63)
                number = (
                    2 * np.int64(code[start[a] + value[e]]) + 1
                )  # the lowest bit says that the record has the attribute
                for i in range(bits[word] + 1):
                    planes[block + starts[word] + i, j] |= np.uint64((number >> i) & 1) << bit


@kernel
def search_blocks(
    known, rules, others, lists, targets, low, high, turn, first,
    last, work, above, below, nearest, sums, under, over,
):  # fmt: skip
    """For each of the ``targets``, raise the largest Sim = above / below to any other record, and store the first row
    that reaches it. The planes of a target are a row of ``low`` and one of ``high``: the least and the greatest code
    that matches.

    With T targets, pair q is target q % T with block ``turn[q // T]``. Processes the pairs from ``first`` to ``last``,
    or as many as ``work`` allows, in about as many nanoseconds; returns the next pair. A block is skipped if no record
    in it can be similar enough: Sim ≤ |x| / |y| if x has fewer attributes than y.

    ``sums`` is 0 for every slot of a block, before and after; ``under`` and ``over`` are workspace.
    """
    many, height, records, unit = len(sums), low.shape[1], len(targets), rules.unit
    width, done = (len(lists.begins) - 1) // len(others.row), 0
    for q in range(first, last):
        if done >= work:
            return q
        b, t = turn[q // records], q % records
        r = targets[t]
        row, size, own = others.row[b], others.size[b], known.indptr[r + 1] - known.indptr[r]
        best = above[t], below[t], nearest[t]
        done += 1
        if unit * own * best[1] < best[0] * others.least[b] or unit * others.most[b] * best[1] < best[0] * own:
            continue
        if height:
            _compare_planes(
                low[t], high[t], others.planes, b * height, others.bits, others.ranged, unit, under, over, sums
            )
        touched = _add_lists(known, rules, lists, b * width, r, sums)
        done += height * many // 8 + touched
        if height == 0 and _SPARSE_RATIO * touched < many:
            best = _best_in_lists(known, lists, b * width, r, own, row, size, sums, best)
        else:
            if _has_better(own, row, size, sums, best):
                best = _best_in_block(r, own, row, size, sums, best)
            for j in range(many):
                sums[j] = 0
            done += many // 4
        above[t], below[t], nearest[t] = best
    return last


@helper
def _compare_planes(
    low, high, planes, block, bits, ranged, unit, under, over, sums
):  # fmt: skip
    """Compare the planes of a record with those of a block, in loops simple enough for the compiler to vectorise.

    Codes match if no bit differs or, with a tolerance, if neither c < low nor c > high. These are computed as in
    subtraction: from the lowest bit on, c < low if the bit of c is lower, or if it is equal and c < low so far.
    """
    p = 0
    for w in range(len(bits)):
        last, k, plane, mask, marked = p + bits[w], p + 1, under, np.uint64(0), np.uint64(0)
        has, own = planes[block + p], low[p]
        if ranged[w]:
            while k <= last:
                plane, least, most = planes[block + k], low[k], high[k]
                for j in range(len(sums)):
                    under[j] = (~plane[j] & least) | (~(plane[j] ^ least) & under[j] & marked)
                    over[j] = (plane[j] & ~most) | (~(plane[j] ^ most) & over[j] & marked)
                marked, k = _ALL, k + 1
            plane = under
        else:
            while k < last:
                i = k + (k + 1 < last)  # two planes at a time, except the last
                plane, other, mask, more = planes[block + k], planes[block + i], low[k], low[i]
                for j in range(len(sums)):
                    over[j] = (plane[j] ^ mask) | (other[j] ^ more) | (over[j] & marked)
                marked, k = _ALL, i + 1
            plane, mask = planes[block + last], low[last]
        for j in range(len(sums)):
            both = has[j] & own
            alike = bit_count(both & ~((plane[j] ^ mask) | (over[j] & marked)))
            sums[j] += np.int64((bit_count(both) << np.uint64(COUNT_SHIFT)) + alike)
        p = last + 1
    if unit > 1:
        for j in range(len(sums)):
            sums[j] += (sums[j] & _SUM_MASK) * (unit - 1)


@helper
def _add_lists(known, rules, lists, block, r, sums):
    """Add the similarities of listed attributes in a block; returns the number of entries visited. No record is in a
    list twice."""
    begins, table, touched = lists.begins, rules.table, 0
    for e in range(known.indptr[r], known.indptr[r + 1]):
        a = known.attribute[e]
        t = lists.listed[a]
        if t < 0:
            continue
        begin, end = begins[block + t], begins[block + t + 1]
        if begin == end:
            continue
        touched += end - begin
        slot, value = lists.slot[begin:end], lists.value[begin:end]
        k = rules.start[a] + known.value[e]
        if rules.kind[a] == RUN:
            low, high, one = rules.low[k], rules.high[k], rules.unit
            for q in range(end - begin):
                sums[slot[q]] += _ONE_SHARED + one * ((value[q] >= low) & (value[q] <= high))  # without a branch
        elif rules.kind[a] == TABLE:
            first = rules.base[k]
            for q in range(end - begin):
                sums[slot[q]] += _ONE_SHARED + table[(first + value[q]) & _LARGEST]
        else:
            first, number, scale = rules.start[a], rules.number[k], rules.scale[a]
            for q in range(end - begin):
                near = max(1.0 - abs(rules.number[first + value[q]] - number) / scale, 0.0)
                sums[slot[q]] += _ONE_SHARED + np.int64(np.rint(near * rules.unit))
    return touched


@helper
def _has_better(own, row, size, sums, best):
    """Whether any record of a block has Sim > above / below, or an equal Sim and an earlier row."""
    above, below, nearest = best
    found = 0
    for j in range(len(row)):
        gain = (sums[j] & _SUM_MASK) * below - above * (own + size[j] - (sums[j] >> COUNT_SHIFT))
        found |= (gain > 0) | ((gain == 0) & (row[j] < nearest))
    return found != 0


@helper
def _best_in_block(r, own, row, size, sums, best):
    """The most similar record of a block, except the record itself."""
    above, below, nearest = best
    for j in range(len(row)):
        alike, either = sums[j] & _SUM_MASK, own + size[j] - (sums[j] >> COUNT_SHIFT)
        gain = alike * below - above * either
        if (gain > 0 or (gain == 0 and row[j] < nearest)) and row[j] != r:
            above, below, nearest = alike, either, row[j]
    return above, below, nearest


@helper
def _best_in_lists(
    known, lists, block, r, own, row, size, sums, best
):  # fmt: skip
    """The most similar record of a block among those in one of the record's lists, except the record itself. Resets
    their sums to 0."""
    above, below, nearest = best
    for e in range(known.indptr[r], known.indptr[r + 1]):
        t = lists.listed[known.attribute[e]]
        if t < 0:
            continue
        for q in range(lists.begins[block + t], lists.begins[block + t + 1]):
            j = lists.slot[q]
            alike, either = sums[j] & _SUM_MASK, own + size[j] - (sums[j] >> COUNT_SHIFT)
            sums[j] = 0
            gain = alike * below - above * either
            if (gain > 0 or (gain == 0 and row[j] < nearest)) and row[j] != r:
                above, below, nearest = alike, either, row[j]
    return above, below, nearest
