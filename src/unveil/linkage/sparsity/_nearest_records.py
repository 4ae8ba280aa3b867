"""The compiled inner loops of ``nearest_records`` and ``bit_planes``.

One record is compared with a block of others at a time, all of whose sums lie side by side in ``sums``: for each of
them Σ sim in the low bits and, from bit ``COUNT_SHIFT`` on, how many attributes both have. Attributes that many records
have are compared by their bits, 64 at once; for all others the records that have them are listed, block by block.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil.compilation import helper, kernel
from unveil.linkage._bits import bit_count

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
_LARGEST = (1 << 63) - 1  # x & _LARGEST is x, and known not to be negative: so indices need not be checked for that
RUN, TABLE, LINEAR = 0, 1, 2  # how the values of an attribute are compared
_SPARSE_RATIO = 4  # where less than one in so many records of a block is touched, only those are looked at


class ComparisonRules(NamedTuple):
    """How values are compared. That of attribute a with code v has number k = ``start[a]`` + v in what follows.

    RUN: 1 for the values with ``code`` from ``low[k]`` to ``high[k]``. TABLE: ``table[base[k] + code]``. LINEAR:
    falling with the difference of their ``number`` and 0 from ``scale[a]`` on. A similarity of 1 is ``unit``.
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
    """The records to compare with, in blocks by ``size``, the number of their attributes, which is from ``least`` to
    ``most`` in each block; ``row`` says who they are. The last block is filled up with nobody, of row n.

    Row b · P + p of ``planes`` has a word for every record of block b: of every 64 attributes, first a plane that says
    which of them a record has, then as many as the codes of their values have ``bits``. ``ranged`` marks words whose
    codes have a tolerance.
    """

    row: Any
    size: Any
    least: Any
    most: Any
    planes: Any
    bits: Any
    ranged: Any


class RecordLists(NamedTuple):
    """The records that have an attribute: attribute a has list t = ``listed[a]``, and the records of block b in it are
    from ``begins[b · lists + t]`` to the next: which of the block (``slot``) and with which code (``value``)."""

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
    """Fill the planes of some rows, ``height`` of them for every block. The attribute at ``place`` is a bit of the
    word that begins with plane ``starts[place >> 6]``."""
    for k in range(first, last):
        r, block, j = rows[k], k // planes.shape[1] * height, k % planes.shape[1]
        for e in range(indptr[r], indptr[r + 1]):
            a = attribute[e]
            if place[a] >= 0:
                word, bit = place[a] >> 6, np.uint64(place[a] & 63)
                number = 2 * np.int64(code[start[a] + value[e]]) + 1  # the lowest bit: that it has the attribute
                for i in range(bits[word] + 1):
                    planes[block + starts[word] + i, j] |= np.uint64((number >> i) & 1) << bit


@kernel
def search_blocks(
    known, rules, others, lists, wanted, low, high, turn, first,
    last, work, above, below, nearest, sums, under, over,
):  # fmt: skip
    """Raise, for each ``wanted`` record, the largest Sim = above / below to any of the others, and to which, the
    smallest row. Its planes are a row of ``low`` and ``high``: the least and the largest code that is alike.

    Pair q is of record q % T with block ``turn[q // T]``, where T records are wanted. Goes through pairs from ``first``
    to ``last``, or as far as ``work`` allows, about as many nanoseconds; returns the pair to go on with. A block is
    left out where it cannot hold what is asked for: if x has fewer attributes than y, Sim ≤ |x| / |y|.

    ``sums`` are 0 for every slot of a block, and ``under`` and ``over`` are space to work in.
    """
    many, height, records, unit = len(sums), low.shape[1], len(wanted), rules.unit
    width, done = (len(lists.begins) - 1) // len(others.row), 0
    for q in range(first, last):
        if done >= work:
            return q
        b, t = turn[q // records], q % records
        r = wanted[t]
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
    """Compare the bits of a record with those of a block. Every loop is so simple that several run at once.

    Codes are alike where no bit differs or, with a range, where c < low and c > high are both wrong. Those are found as
    in subtracting: from the lowest bit on, c is less if its bit is less, and else as much as it was.
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
                i = k + (k + 1 < last)  # two planes at a time, but for the last one
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
    """Add what the lists of a block say; returns how many entries they have. No record is in a list twice."""
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
    """Whether any of a block is more alike than above / below, or as much and an earlier row."""
    above, below, nearest = best
    found = 0
    for j in range(len(row)):
        gain = (sums[j] & _SUM_MASK) * below - above * (own + size[j] - (sums[j] >> COUNT_SHIFT))
        found |= (gain > 0) | ((gain == 0) & (row[j] < nearest))
    return found != 0


@helper
def _best_in_block(r, own, row, size, sums, best):
    """The most alike of a block, but for the record itself."""
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
    """The same among those that are in a list of the record's, whose sums are 0 again afterwards."""
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
