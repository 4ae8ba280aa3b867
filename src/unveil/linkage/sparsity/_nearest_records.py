"""The compiled inner loops of ``nearest`` and ``planes``.

One record x is compared with a block of others at a time, all of whose sums lie side by side in ``sums``: for each of
them Σ sim in the low bits and, from bit ``COUNT_SHIFT`` on, how many attributes both have. Attributes that many records
have are compared by their bits, 64 at once; for all others the records that have them are listed, block by block.

Bits: attribute a is bit ``place[a]`` of the words. In block b, ``planes[b, p, j]`` is a word of plane p of the j-th
record: of every 64 attributes first a plane that says which of them it has, then as many as the codes of their values
have bits. Lists: attribute a is the ``listed[a]``-th, and the records of block b that have it are from
``begins[b · lists + listed[a]]`` to the next: which of the block (``slot``) and with which code (``value``).
"""

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
    "Room",
    "count_list_entries",
    "fill_blocks",
    "room_for",
    "search_blocks",
]

COUNT_SHIFT = 42
_SUM_MASK = (1 << COUNT_SHIFT) - 1
_ONE_SHARED = 1 << COUNT_SHIFT
RUN, TABLE, LINEAR = 0, 1, 2  # how the values of an attribute are compared
_SPARSE_RATIO = 4  # where less than one in so many records of a block is touched, only those are looked at


class RecordArrays(NamedTuple):
    """The records themselves."""

    indptr: Any
    attribute: Any
    value: Any


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
    """Those that records are compared with, by the number of their attributes (``size``); ``row`` says who they are."""

    row: Any
    size: Any
    place: Any
    listed: Any
    bits: Any
    ranged: Any
    planes: Any
    begins: Any
    slot: Any
    value: Any


# ---- planes and lists ------------------------------------------------------------------------------------------------


@kernel
def count_list_entries(known: Any, others: Any, room: Any, lists: Any, first: Any, last: Any, counts: Any) -> None:
    """Count the entries of every list, one place later than it begins."""
    for k in range(first, last):
        r, b = others.row[k], k // room
        for p in range(known.indptr[r], known.indptr[r + 1]):
            t = others.listed[known.attribute[p]]
            if t >= 0:
                counts[b * lists + t + 1] += 1


@kernel
def fill_blocks(known: Any, rules: Any, others: Any, lists: Any, starts: Any, first: Any, last: Any, ends: Any) -> None:
    """Fill planes and lists. ``starts[w]`` is the plane with which word w begins; ``ends`` where lists go on."""
    room = others.planes.shape[2]
    for k in range(first, last):
        r, b, j = others.row[k], k // room, k % room
        for p in range(known.indptr[r], known.indptr[r + 1]):
            a = known.attribute[p]
            code = rules.code[rules.start[a] + known.value[p]]
            t = others.listed[a]
            if t >= 0:
                q = ends[b * lists + t]
                others.slot[q], others.value[q] = j, code
                ends[b * lists + t] = q + 1
            else:
                plane, bit = starts[others.place[a] >> 6], np.uint64(others.place[a] & 63)
                others.planes[b, plane, j] |= np.uint64(1) << bit
                for i in range(others.bits[others.place[a] >> 6]):
                    others.planes[b, plane + 1 + i, j] |= np.uint64((code >> i) & 1) << bit


@helper
def _load_record_planes(known: Any, rules: Any, others: Any, starts: Any, r: Any, low: Any, high: Any) -> None:
    """Set the planes of one record: the least and the largest code that is alike, for every attribute."""
    for p in range(known.indptr[r], known.indptr[r + 1]):
        a = known.attribute[p]
        if others.place[a] >= 0:
            k = rules.start[a] + known.value[p]
            plane, bit = starts[others.place[a] >> 6], np.uint64(others.place[a] & 63)
            low[plane] |= np.uint64(1) << bit
            for i in range(others.bits[others.place[a] >> 6]):
                low[plane + 1 + i] |= np.uint64((rules.low[k] >> i) & 1) << bit
                high[plane + 1 + i] |= np.uint64((rules.high[k] >> i) & 1) << bit


# ---- the search ------------------------------------------------------------------------------------------------------


class Room(NamedTuple):
    """Room to work in: the planes of the wanted records, and numbers and words for those of a block."""

    low: Any
    high: Any
    sums: Any
    spare: Any
    over: Any


def room_for(others: RecordBlocks, wanted: int) -> Room:
    """Room to compare so many records with blocks of others."""
    planes, room = others.planes.shape[1:]
    return Room(*(*np.zeros((2, wanted, planes), np.uint64), np.zeros(room, np.int64), *np.empty((2, room), np.uint64)))


@kernel
def search_blocks(
    known: Any, rules: Any, others: Any, starts: Any, wanted: Any, turn: Any, state: Any, work: Any,
    above: Any, below: Any, nearest: Any, room: Any,
) -> None:  # fmt: skip
    """Of each ``wanted`` record the largest Sim = above / below to any of the others, and to which, the smallest row.

    Blocks are gone through in ``turn``. ``state`` is the block and the record to go on with; stops after so much
    ``work``, about as many nanoseconds. What was found so far is given and raised.

    A block is left out where it cannot hold what is asked for: if x has fewer attributes than y, Sim ≤ |x| / |y|.
    """
    low, high, sums, spare, over = room
    planes, many, blocks = others.planes.shape[1], len(sums), len(others.planes)
    lists = (len(others.begins) - 1) // blocks
    if state[0] == 0 and state[1] == 0:
        for t in range(len(wanted)):
            _load_record_planes(known, rules, others, starts, wanted[t], low[t], high[t])
    done = 0
    while state[0] < len(turn):
        b = turn[state[0]]
        first, last = b * many, min((b + 1) * many, len(others.row))
        row, size = others.row[first:last], others.size[first:last]
        while state[1] < len(wanted):
            if done >= work:
                return
            t = state[1]
            state[1] += 1
            r = wanted[t]
            own = known.indptr[r + 1] - known.indptr[r]
            fewer, more = min(own, size[-1]), max(own, size[0])
            done += 1
            if fewer < more and rules.unit * fewer * below[t] < above[t] * more:
                continue
            if planes > 0:
                _compare_planes(low[t], high[t], others, b, rules.unit, sums, spare, over)
            touched = _add_lists(known, rules, others, b * lists, r, sums)
            if planes == 0 and _SPARSE_RATIO * touched < last - first:
                best = _best_in_lists(known, others, b * lists, r, own, row, size, sums, above[t], below[t], nearest[t])
            else:
                best = above[t], below[t], nearest[t]
                if _has_better(own, row, size, sums, best[0], best[1], best[2]):
                    best = _best_in_block(r, own, row, size, sums, best[0], best[1], best[2])
                if planes == 0:
                    for j in range(many):
                        sums[j] = 0
                done += many // 4
            above[t], below[t], nearest[t] = best
            done += planes * many // 8 + touched
        state[0] += 1
        state[1] = 0


@helper
def _compare_planes(low: Any, high: Any, others: Any, b: Any, unit: Any, sums: Any, spare: Any, over: Any) -> None:
    """Compare the bits of a record with those of a block. Every loop is so simple that several run at once.

    Codes are alike where no bit differs or, with a range, where c < low and c > high are both wrong. Those are found as
    in subtracting: from the lowest bit on, c is less if its bit is less, and else as much as it was.
    """
    p = 0
    for j in range(len(sums)):
        sums[j] = 0
    for w in range(len(others.bits)):
        last = p + others.bits[w]
        has, own = others.planes[b, p], low[p]
        if last == p:
            _add_shared(has, own, sums)
        elif others.ranged[w]:
            for j in range(len(spare)):
                spare[j] = over[j] = 0
            for k in range(p + 1, last + 1):
                _mark_outside_range(others.planes[b, k], low[k], high[k], spare, over)
            _add_inside_range(has, own, spare, over, sums)
        elif last == p + 1:
            _add_equal(has, own, others.planes[b, last], low[last], sums)
        else:
            _mark_differences(others.planes[b, p + 1], low[p + 1], others.planes[b, p + 2], low[p + 2], spare)
            k = p + 3
            while k < last:
                _mark_more_differences(others.planes[b, k], low[k], others.planes[b, k + 1], low[k + 1], spare)
                k += 2
            if k == last:
                _mark_more_differences(others.planes[b, k], low[k], others.planes[b, k], low[k], spare)
            _add_agreements(has, own, spare, sums)
        p = last + 1
    if unit > 1:
        for j in range(len(sums)):
            sums[j] += (sums[j] & _SUM_MASK) * (unit - 1)


@helper
def _add_shared(has: Any, own: Any, sums: Any) -> None:
    for j in range(len(sums)):
        sums[j] += np.int64(bit_count(has[j] & own)) * (_ONE_SHARED + 1)


@helper
def _add_equal(has: Any, own: Any, plane: Any, bits: Any, sums: Any) -> None:
    for j in range(len(sums)):
        both = has[j] & own
        sums[j] += np.int64((bit_count(both) << np.uint64(COUNT_SHIFT)) + bit_count(both & ~(plane[j] ^ bits)))


@helper
def _mark_differences(one: Any, bits: Any, other: Any, more: Any, spare: Any) -> None:
    for j in range(len(spare)):
        spare[j] = (one[j] ^ bits) | (other[j] ^ more)


@helper
def _mark_more_differences(one: Any, bits: Any, other: Any, more: Any, spare: Any) -> None:
    for j in range(len(spare)):
        spare[j] |= (one[j] ^ bits) | (other[j] ^ more)


@helper
def _add_agreements(has: Any, own: Any, spare: Any, sums: Any) -> None:
    for j in range(len(sums)):
        both = has[j] & own
        sums[j] += np.int64((bit_count(both) << np.uint64(COUNT_SHIFT)) + bit_count(both & ~spare[j]))


@helper
def _mark_outside_range(plane: Any, low: Any, high: Any, under: Any, over: Any) -> None:
    for j in range(len(under)):
        under[j] = (~plane[j] & low) | (~(plane[j] ^ low) & under[j])
        over[j] = (plane[j] & ~high) | (~(plane[j] ^ high) & over[j])


@helper
def _add_inside_range(has: Any, own: Any, under: Any, over: Any, sums: Any) -> None:
    for j in range(len(sums)):
        both = has[j] & own
        sums[j] += np.int64((bit_count(both) << np.uint64(COUNT_SHIFT)) + bit_count(both & ~(under[j] | over[j])))


@helper
def _add_lists(known: Any, rules: Any, others: Any, block: Any, r: Any, sums: Any) -> Any:
    """Add what the lists of a block say; returns how many entries they have. No record is in a list twice."""
    touched = 0
    for p in range(known.indptr[r], known.indptr[r + 1]):
        a = known.attribute[p]
        t = others.listed[a]
        if t < 0:
            continue
        first, last = others.begins[block + t], others.begins[block + t + 1]
        if first == last:
            continue
        touched += last - first
        slot, value = others.slot[first:last], others.value[first:last]
        k = rules.start[a] + known.value[p]
        if rules.kind[a] == RUN:
            low, high, one = rules.low[k], rules.high[k], rules.unit
            for q in range(last - first):
                sums[slot[q]] += _ONE_SHARED + one * ((value[q] >= low) & (value[q] <= high))  # without a branch
        elif rules.kind[a] == TABLE:
            table = rules.table[rules.base[k] :]
            for q in range(last - first):
                sums[slot[q]] += _ONE_SHARED + table[value[q]]
        else:
            number, own, scale = rules.number[rules.start[a] :], rules.number[k], rules.scale[a]
            for q in range(last - first):
                near = max(1.0 - abs(number[value[q]] - own) / scale, 0.0)
                sums[slot[q]] += _ONE_SHARED + np.int64(np.rint(near * rules.unit))
    return touched


@helper
def _has_better(own: Any, row: Any, size: Any, sums: Any, above: Any, below: Any, nearest: Any) -> Any:
    """Whether any of a block is more alike than above / below, or as much and an earlier row."""
    found = 0
    for j in range(len(row)):
        gain = (sums[j] & _SUM_MASK) * below - above * (own + size[j] - (sums[j] >> COUNT_SHIFT))
        found |= (gain > 0) | ((gain == 0) & (row[j] < nearest))
    return found != 0


@helper
def _best_in_block(r: Any, own: Any, row: Any, size: Any, sums: Any, above: Any, below: Any, nearest: Any) -> Any:
    """The most alike of a block, but for the record itself."""
    for j in range(len(row)):
        alike, either = sums[j] & _SUM_MASK, own + size[j] - (sums[j] >> COUNT_SHIFT)
        gain = alike * below - above * either
        if (gain > 0 or (gain == 0 and row[j] < nearest)) and row[j] != r:
            above, below, nearest = alike, either, row[j]
    return above, below, nearest


@helper
def _best_in_lists(
    known: Any, others: Any, block: Any, r: Any, own: Any, row: Any, size: Any, sums: Any,
    above: Any, below: Any, nearest: Any,
) -> Any:  # fmt: skip
    """The same among those that are in a list of the record's, whose sums are 0 again afterwards."""
    for p in range(known.indptr[r], known.indptr[r + 1]):
        t = others.listed[known.attribute[p]]
        if t < 0:
            continue
        for q in range(others.begins[block + t], others.begins[block + t + 1]):
            j = others.slot[q]
            if sums[j] == 0:
                continue
            alike, either = sums[j] & _SUM_MASK, own + size[j] - (sums[j] >> COUNT_SHIFT)
            sums[j] = 0
            gain = alike * below - above * either
            if (gain > 0 or (gain == 0 and row[j] < nearest)) and row[j] != r:
                above, below, nearest = alike, either, row[j]
    return above, below, nearest
