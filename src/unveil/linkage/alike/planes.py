"""How are many records compared at once? Planes of bits, and lists.

Attributes that many records have are compared by *planes of bits*: a word says of 64 attributes which ones a record
has, and as many words as codes have bits say with which value. Values are equal where no bit differs; with a tolerance
they lie between two codes, which bitwise subtraction tells. Counting bits then counts attributes. For every other
attribute the records that have it are listed, and each entry adds its sim to the sum of its record.

Those that records are compared with lie in blocks, by how many attributes they have, so that whole blocks can be left
out. Which attributes have planes is a matter of what is faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.linkage.alike import _nearest
from unveil.linkage.alike.comparing import Kinds
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.slices import pieces

__all__ = ["Layout", "arranged", "laid_out"]

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_PLANE, _ENTRY, _LOOK = 0.11, 1.0, 0.25  # ns to compare a word of a plane, to add an entry, to look at a sum
_PLANES = 1 << 31  # bytes of planes at most
_NEAR = 1 << 19  # bytes of planes of a block that stay near the processor
_ROOM = 512  # records of a block at least
_MOST = 1 << 13, 1 << 16  # and at most: where it may be chosen, and where lists would be too short


class Layout(NamedTuple):
    """Which attributes are compared by planes of bits, and as which bit of a row of words (``place``), and which are
    ``listed``, and as which list; −1 for the others. Word w begins with plane ``starts[w]`` and has codes of so many
    ``bits``, ``ranged`` if they have a tolerance."""

    place: Small
    listed: Small
    bits: Ints
    ranged: npt.NDArray[np.bool_]
    starts: Ints
    planes: int


def laid_out(records: Records, kinds: Kinds, others: int) -> Layout:
    """What is faster: n² pairs compared by planes, or as many entries added as pairs of records have the attribute.
    With planes every sum has to be looked at; with short lists only those that are not 0."""
    pairs = (records.popularity / records.n) ** 2
    runs, ranged, bits = kinds
    cost = (bits + 1) * (1 + ranged) * _PLANE / 64
    chosen = np.flatnonzero(runs & (_ENTRY * pairs > cost))
    chosen = chosen[np.argsort(-pairs[chosen] / cost[chosen], kind="stable")]
    chosen = chosen[np.cumsum(bits[chosen] + 1) * others <= 8 * _PLANES]
    chosen = chosen[np.lexsort((-bits[chosen], ranged[chosen]))]
    words = _words(bits[chosen], ranged[chosen])
    lists = _ENTRY * (pairs.sum() - pairs[chosen].sum())
    if _ENTRY * pairs[chosen].sum() < _PLANE * (words.bits + 1).sum() + _LOOK * (lists < _LOOK):
        chosen, words = chosen[:0], _words(bits[:0], ranged[:0])
    place, listed = np.full(records.c, -1, np.int32), np.full(records.c, -1, np.int32)
    place[chosen] = words.place
    rest = np.flatnonzero((place < 0) & (records.popularity > 0))
    listed[rest] = np.arange(len(rest))
    ends = np.cumsum(words.bits + 1)
    return Layout(place, listed, words.bits, words.ranged, ends - words.bits - 1, int(ends.max(initial=0)))


class _Words(NamedTuple):
    """The places of attributes, and of which kind each word is."""

    place: Ints
    bits: Ints
    ranged: npt.NDArray[np.bool_]


def _words(bits: Ints, ranged: npt.NDArray[np.bool_]) -> _Words:
    """Attributes in words of 64, those with and without a tolerance apart; given in this order, and by falling bits."""
    plain = int((~ranged).sum())
    before = -(-plain // 64)  # words
    place = np.arange(len(bits)) + np.where(ranged, 64 * before - plain, 0)
    firsts = np.flatnonzero(place % 64 == 0)
    return _Words(place, bits[firsts], ranged[firsts])


def arranged(
    records: Records, known: _nearest.Known, rules: _nearest.Rules, layout: Layout, compared: Ints, run: Run
) -> _nearest.Others:
    """The records to compare with, by how many attributes they have."""
    row = compared[np.argsort(records.support[compared], kind="stable")]
    size = records.support[row]
    lists, room = int(layout.listed.max(initial=-1)) + 1, _room(len(row), layout, len(records.value))
    blocks = -(-len(row) // room)
    begins = np.zeros(blocks * lists + 1, np.int64)
    planes = np.zeros((blocks, layout.planes, room), np.uint64)
    parts = row, size, layout.place, layout.listed, layout.bits, layout.ranged, planes
    entries = np.append(0, np.cumsum(size))
    empty = _nearest.Others(*parts, begins, np.empty(0, np.uint16), np.empty(0, np.int32))
    for first, last in pieces(entries, run):
        _nearest.counted(known, empty, room, lists, first, last, begins)
    np.cumsum(begins, out=begins)
    slot = np.empty(int(begins[-1]), np.uint16)
    others, ends = _nearest.Others(*parts, begins, slot, np.empty(len(slot), np.int32)), begins[:-1].copy()
    for first, last in pieces(entries, run):
        _nearest.filled(known, rules, others, lists, layout.starts, first, last, ends)
    return others


def _room(others: int, layout: Layout, entries: int) -> int:
    """How many records make a block: few, so that many blocks can be left out and planes stay near the processor, but
    not so few that lists become short."""
    room, lists = min(_ROOM, others), int(layout.listed.max(initial=-1)) + 1
    while 2 * room <= _MOST[0] and 10 * room <= others and 16 * room * layout.planes <= _NEAR:
        room *= 2
    while 2 * room <= _MOST[1] and 4 * lists * (others // room) > entries:
        room *= 2
    return room
