"""Distinct rows as words, in the form in which :mod:`unveil.inference.generator_search` goes through them.

What can be known is divided into columns, of which a row has at most one attribute. They come in the order of search:
the likeliest first, and of equally likely ones, those that divide people into the smallest groups.

- **Sets of attributes**: every attribute is a column of its own, one bit wide. The closure is the intersection of words
  with a bit for each dangerous attribute; for a column of a table with missing values another bit says that a row has
  no value there, as in :mod:`unveil.inference.subset_lattice`.
- **Tables**: every column is a lane of 8, 16 or 32 bits with the code + 1, and 0 where a value is missing. A column
  belongs to the closure if the AND of its lanes, missing ones being all ones, equals the OR.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.arrays import BitWords, Bools, Floats, Int32s, Ints
from unveil.inference.relation import Relation, pack_bits, unpack_bits

__all__ = ["PackedRows", "pack_attributes", "pack_columns"]

Places = npt.NDArray[np.int64]
"""Of every column: the word, the lowest bit, and a mask for its width."""


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows, ready to be searched. Code v > 0 of column c is the attribute ``firsts[c] + v − 1``, which has a likelihood
    (``like``) and a danger in units. The closure of rows is formed from ``sharing`` and ``joining``, either as bits or
    as lanes. ``own`` is the danger of all that a row has, ``ceiling`` the most that could follow about it. Rows with
    equal ``roots`` have everything in common that can be added to what is known at no cost."""

    has_gaps: bool
    uses_bits: bool
    known: BitWords
    codes: Int32s
    places: Places
    firsts: Ints
    like: Floats
    danger: Ints
    sharing: BitWords
    joining: BitWords
    lanes: Places
    lane_firsts: Ints
    lane_danger: Ints
    own: Ints
    ceiling: Ints
    roots: Ints

    def __len__(self) -> int:
        return len(self.known)

    @property
    def largest_code(self) -> int:
        """The largest code of any column."""
        return int(max(np.diff(self.firsts).max(initial=1), np.diff(self.lane_firsts).max(initial=1)))


def pack_attributes(relation: Relation) -> PackedRows:
    """Rows with one bit per attribute."""
    rows, attributes = relation.rows, relation.attributes
    marks = unpack_bits(rows.has, attributes)
    support = marks.sum(axis=0)
    order = np.lexsort((support, -relation.likelihood))
    order = order[(relation.likelihood[order] > 0) & (support[order] > 0)]
    dangerous = np.flatnonzero(relation.danger_units)
    empty, empty_units = _empty_columns(relation, marks)
    sharing = pack_bits(np.hstack([unpack_bits(rows.may, attributes)[:, dangerous], empty]))
    units = np.zeros(64 * sharing.shape[1], np.int64)
    units[: len(dangerous) + len(empty_units)] = np.concatenate([relation.danger_units[dangerous], empty_units])
    own = marks @ relation.danger_units
    width = np.arange(len(order))
    return PackedRows(
        bool(relation.columns_with_gaps), True, pack_bits(marks[:, order]), np.zeros((0, 0), np.int32),
        np.stack([width >> 6, width & 63, np.ones_like(width)], axis=1),
        np.arange(len(order) + 1), relation.likelihood[order], relation.danger_units[order], sharing, sharing,
        np.zeros((0, 3), np.int64), np.zeros(0, np.int64), units, own, own + empty @ _largest_danger(relation),
        np.zeros(len(rows.has), np.int64),
    )  # fmt: skip


def _empty_columns(relation: Relation, marks: Bools) -> tuple[Bools, Ints]:
    """For each column with missing values: who has none there, and minus the danger of all of its attributes."""
    gaps = [relation.values_of(c) for c in relation.columns_with_gaps]
    empty = np.stack([~marks[:, v].any(axis=1) for v in gaps], axis=1) if gaps else np.zeros((len(marks), 0), np.bool_)
    return empty, np.array([-relation.danger_units[v].sum() for v in gaps], np.int64)


def _largest_danger(relation: Relation) -> Ints:
    """For each column with missing values: the danger of the most dangerous attribute."""
    units = relation.danger_units
    return np.array([units[relation.values_of(c)].max(initial=0) for c in relation.columns_with_gaps], np.int64)


def pack_columns(relation: Relation, may_know_all: bool = True) -> PackedRows:
    """Rows of a table with one lane per column. If sets may be of any size (``may_know_all``), columns that are
    certainly known and not dangerous are known from the start, for knowing more of these never infers less."""
    codes, first = relation.rows.codes, relation.first_attribute
    assert codes is not None and first is not None
    width, gaps = codes.shape[1], {*relation.columns_with_gaps}
    values = [relation.values_of(c) for c in range(width)]
    inferable = [c for c in range(width) if relation.danger_units[values[c]].any()]
    can_be_free = may_know_all and not gaps.intersection(inferable)
    free = [c for c in range(width) if can_be_free and c not in gaps and c not in inferable
            and (relation.likelihood[values[c]] == 1).all()]  # fmt: skip
    likeliest = [float(relation.likelihood[v].max(initial=0)) for v in values]
    order = sorted(
        (c for c in range(width) if likeliest[c] > 0 and c not in free),
        key=lambda c: (-likeliest[c], _pairs_alike(codes[:, c])),
    )
    sizes = [v.stop - v.start for v in values]
    lanes, known, sharing = _pack_lanes(codes, sizes)
    firsts, like, danger = _join_tables(relation, [values[c] for c in order])
    lane_firsts, _, lane_danger = _join_tables(relation, [values[c] for c in inferable])
    own, most = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    refuted = (
        _refuted_values(relation, [*free, *order], [c for c in inferable if c not in order]) if may_know_all else {}
    )
    for c in inferable:
        units = relation.danger_units[values[c]]
        own += np.where(codes[:, c] < 0, 0, units[codes[:, c]])
        possible = np.where(codes[:, c] < 0, units.max(), units[codes[:, c]])
        most += np.where(refuted[c], 0, possible) if c in refuted else possible
    roots = relation.classes_of_rows(free)
    return PackedRows(
        bool(gaps), False, known, np.ascontiguousarray(codes[:, order].T + 1),
        lanes[order], firsts, like, danger, sharing, known, lanes[inferable], lane_firsts, lane_danger,
        own, most, roots,
    )  # fmt: skip


def _refuted_values(relation: Relation, known: list[int], unknown: list[int]) -> dict[int, Bools]:
    """For each column that cannot be known: the rows whose value never follows, because others who have everything in
    common with them that can be known have another one."""
    codes = relation.rows.codes
    assert codes is not None
    if not unknown or not known:
        return {}
    classes = relation.classes_of_rows(known)
    order = np.argsort(classes, kind="stable")
    begins = np.flatnonzero(np.diff(classes[order], prepend=-1))
    found = {}
    for c in unknown:
        own = codes[order, c]
        largest = np.maximum.reduceat(own, begins)
        least = np.minimum.reduceat(np.where(own < 0, np.iinfo(np.int32).max, own), begins)
        found[c] = (least < largest)[classes]
    return found


def _pairs_alike(codes: Int32s) -> int:
    """How many pairs of rows have the same value: few if the column divides people well."""
    return int((np.bincount(codes + 1).astype(np.int64) ** 2)[1:].sum())


def _join_tables(relation: Relation, values: list[slice]) -> tuple[Ints, Floats, Ints]:
    """Where the values of each column begin in one list of likelihoods and dangers, and these."""
    places = np.concatenate([np.zeros(0, np.int64), *(np.arange(v.start, v.stop) for v in values)])
    firsts = np.append(0, np.cumsum([v.stop - v.start for v in values], dtype=np.int64))
    return firsts, relation.likelihood[places], relation.danger_units[places]


def _pack_lanes(codes: Int32s, sizes: list[int]) -> tuple[Places, BitWords, BitWords]:
    """Codes + 1 in lanes as narrow as their values allow, and the same with all ones where a value is missing."""
    widths = [8 if size < 255 else 16 if size < 65_535 else 32 for size in sizes]
    lanes = np.zeros((len(sizes), 3), np.int64)
    at = 0
    for c in sorted(range(len(sizes)), key=lambda c: -widths[c]):  # wide ones first: no lane crosses a word
        lanes[c] = at >> 6, at & 63, (1 << widths[c]) - 1
        at += widths[c]
    known = np.zeros((len(codes), max(1, -(-at // 64))), np.uint64)
    for c, (word, bit, _) in enumerate(lanes.tolist()):
        known[:, word] |= (codes[:, c] + 1).astype(np.uint64) << np.uint64(bit)
    if not (codes < 0).any():
        return lanes, known, known
    sharing = known.copy()
    for c, (word, bit, mask) in enumerate(lanes.tolist()):
        sharing[:, word] |= np.where(codes[:, c] < 0, np.uint64(mask << bit), np.uint64(0))
    return lanes, known, sharing
