"""How are many records compared at once? With bit planes and with lists.

Attributes that many records have are compared by *bit planes*. One word says which of 64 attributes a record has, and
one more word per bit of the codes says with which values. Two values are equal if no bit differs. With a tolerance they
must lie between two codes, which bitwise subtraction decides. Counting bits then counts attributes. For every other
attribute the records that have it are listed, and each entry adds its sim to the sum of its record.

Records are arranged in blocks by their number of attributes, so that whole blocks can be skipped. An attribute gets
planes or a list, whichever is faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unveil.arrays import BitWords, Bools, Int32s, Ints
from unveil.linkage.records import Records
from unveil.linkage.sparsity import _nearest_records
from unveil.linkage.sparsity.record_similarity import AttributeKinds
from unveil.run import Run
from unveil.slices import chunks

__all__ = ["PlaneLayout", "arrange_blocks", "choose_layout", "record_planes"]


_PLANE_COST, _ENTRY_COST, _LOOK_COST = 0.11, 1.0, 0.25  # nanoseconds to compare a word, to add an entry, to read a sum
_MAX_PLANE_BYTES = 1 << 31  # bytes of all planes, at most
_CACHE_BYTES = 1 << 19  # bytes of the planes of one block, so that they stay in the cache
_MIN_BLOCK = 512  # records per block, at least
_BLOCK_LIMITS = 1 << 13, 1 << 16  # at most: as a rule, and if lists would otherwise be too short


class PlaneLayout(NamedTuple):
    """Which attributes are compared by bit planes, with their bit ``place``, and which are ``listed``, with their list
    number; −1 otherwise. Word w begins with plane ``starts[w]``, has codes of ``bits`` bits, and is ``ranged`` if its
    codes have a tolerance."""

    place: Int32s
    listed: Int32s
    bits: Ints
    ranged: Bools
    starts: Ints
    planes: int


def choose_layout(records: Records, kinds: AttributeKinds, others: int) -> PlaneLayout:
    """Choose the faster way for each attribute: planes cost n² comparisons, lists one addition for every pair of
    records that have the attribute. With planes every sum must be read; with short lists only the nonzero ones."""
    pairs = (records.popularity / records.n) ** 2
    runs, ranged, bits = kinds
    cost = (bits + 1) * (1 + ranged) * _PLANE_COST / 64
    chosen = np.flatnonzero(runs & (_ENTRY_COST * pairs > cost))
    chosen = chosen[np.argsort(-pairs[chosen] / cost[chosen], kind="stable")]
    chosen = chosen[np.cumsum(bits[chosen] + 1) * others <= 8 * _MAX_PLANE_BYTES]
    chosen = chosen[np.lexsort((-bits[chosen], ranged[chosen]))]
    words = _pack_words(bits[chosen], ranged[chosen])
    lists = _ENTRY_COST * (pairs.sum() - pairs[chosen].sum())
    if _ENTRY_COST * pairs[chosen].sum() < _PLANE_COST * (words.bits + 1).sum() + _LOOK_COST * (lists < _LOOK_COST):
        chosen, words = chosen[:0], _pack_words(bits[:0], ranged[:0])
    place, listed = np.full(records.c, -1, np.int32), np.full(records.c, -1, np.int32)
    place[chosen] = words.place
    rest = np.flatnonzero((place < 0) & (records.popularity > 0))
    listed[rest] = np.arange(len(rest))
    ends = np.cumsum(words.bits + 1)
    return PlaneLayout(place, listed, words.bits, words.ranged, ends - words.bits - 1, int(ends.max(initial=0)))


class _WordLayout(NamedTuple):
    """The places of attributes, and the kind of each word."""

    place: Ints
    bits: Ints
    ranged: Bools


def _pack_words(bits: Ints, ranged: Bools) -> _WordLayout:
    """Pack attributes into words of 64, those without a tolerance first. They come in this order and by falling number
    of bits."""
    plain = int((~ranged).sum())
    before = -(-plain // 64)  # words
    place = np.arange(len(bits)) + np.where(ranged, 64 * before - plain, 0)
    firsts = np.flatnonzero(place % 64 == 0)
    return _WordLayout(place, bits[firsts], ranged[firsts])


def arrange_blocks(
    records: Records, rules: _nearest_records.ComparisonRules, layout: PlaneLayout, compared: Ints, run: Run
) -> tuple[_nearest_records.RecordBlocks, _nearest_records.RecordLists]:
    """The records to compare with, in blocks by number of attributes."""
    many = _block_size(len(compared), layout, len(records.value))
    row = np.full(-(-len(compared) // many) * many, records.n)
    row[: len(compared)] = compared[np.argsort(records.support[compared], kind="stable")]
    row = np.sort(row.reshape(-1, many))  # inside a block, in the order in which lists name them
    blocks, size = len(row), np.append(records.support, records.support[compared].max())[row]
    planes = np.zeros((blocks * layout.planes, many), np.uint64)
    for first, last in chunks(np.append(0, np.cumsum(size))[: len(compared) + 1], run):
        _fill_planes(records, rules, rules.code, layout, row.ravel(), first, last, planes)
    others = _nearest_records.RecordBlocks(
        row, size, size.min(axis=1), size.max(axis=1), planes, layout.bits, layout.ranged
    )
    return others, _list_holders(records, rules, layout, row, run)


def record_planes(
    records: Records, rules: _nearest_records.ComparisonRules, code: Int32s, layout: PlaneLayout, rows: Ints
) -> BitWords:
    """The planes of some rows, with a code for every value."""
    planes = np.zeros((layout.planes, len(rows)), np.uint64)
    _fill_planes(records, rules, code, layout, rows, 0, len(rows), planes)
    return np.ascontiguousarray(planes.T)


def _fill_planes(
    records: Records, rules: _nearest_records.ComparisonRules, code: Int32s, layout: PlaneLayout, rows: Ints,
    first: int, last: int, planes: BitWords,
) -> None:  # fmt: skip
    if layout.planes:
        _nearest_records.fill_planes(
            records.indptr, records.attribute, records.value, rules.start, code, layout.place, layout.bits,
            layout.starts, layout.planes, rows, first, last, planes,
        )  # fmt: skip


def _list_holders(
    records: Records, rules: _nearest_records.ComparisonRules, layout: PlaneLayout, row: Ints, run: Run
) -> _nearest_records.RecordLists:
    """The holders of listed attributes. Transposing a sparse matrix sorts those of a block, in one pass."""
    lists = int(layout.listed.max(initial=-1)) + 1
    begins, slots, codes = [np.zeros(1, np.int64)], [np.empty(0, np.uint16)], [np.empty(0, np.int32)]
    for rows in row if lists else row[:0]:
        run.check()
        block = records.select(rows[rows < records.n])
        listed = layout.listed[block.attribute]
        kept = np.flatnonzero(listed >= 0)
        code = rules.code[rules.start[block.attribute[kept]] + block.value[kept]]
        entries = (code, listed[kept], np.searchsorted(kept, block.indptr).astype(np.int32))
        found = csr_array(entries, shape=(block.n, lists)).tocsc()
        begins.append(begins[-1][-1] + found.indptr[1:])
        slots.append(found.indices.astype(np.uint16))
        codes.append(found.data)
    return _nearest_records.RecordLists(layout.listed, *(np.concatenate(part) for part in (begins, slots, codes)))


def _block_size(others: int, layout: PlaneLayout, entries: int) -> int:
    """Records per block: few, so that many blocks can be skipped and planes stay in the cache, but not so few that
    lists become short."""
    size, lists = min(_MIN_BLOCK, others), int(layout.listed.max(initial=-1)) + 1
    while 2 * size <= _BLOCK_LIMITS[0] and 10 * size <= others and 16 * size * layout.planes <= _CACHE_BYTES:
        size *= 2
    while 2 * size <= _BLOCK_LIMITS[1] and 4 * lists * (others // size) > entries:
        size *= 2
    return size
