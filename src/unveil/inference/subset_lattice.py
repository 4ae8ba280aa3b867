"""The privacy score by going through all sets of the attributes that somebody could know.

With p attributes of positive likelihood there are 2ᵖ sets K, and two passes over a table of that size answer
everything, whatever the number of individuals:

1. Every individual is entered at the set of known attributes they have. From there, entries are intersected with all
   entries of larger sets, one attribute after the other: afterwards the entry of K is the closure of K.
2. Each entry is replaced by w(K), and becomes the maximum over all of its subsets: then the entry of Att_i is priv(i).

Each takes p · 2ᵖ⁻¹ steps. Closures are stored for the dangerous attributes only, 64 at a time. For each column with
missing values another bit says that nobody who has K has a value there: its danger is minus that of all the column's
attributes, none of which has been contradicted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from unveil.arrays import BitWords, Floats, Ints
from unveil.inference import _subset_lattice
from unveil.inference.relation import Relation, unpack_bits
from unveil.run import Run

__all__ = ["MOST_KNOWABLE", "known_attributes", "score_by_lattice"]

MOST_KNOWABLE = 26
_CACHED_BITS = 15  # a part of the table with so many bits fits into a processor's cache
_SLICE = 1 << 24


def known_attributes(relation: Relation) -> Ints:
    """The attributes that somebody could know, the likeliest first."""
    order = np.argsort(-relation.likelihood, kind="stable")
    return order[relation.likelihood[order] > 0]


def score_by_lattice(relation: Relation, has: BitWords, may: BitWords, most_known: int | None, run: Run) -> Floats:
    """priv of each row of bits, which must be all rows of the relation."""
    known = known_attributes(relation)
    places = _select(has, _pieces(known.tolist(), has.shape[1]))
    size = 1 << len(known)
    sums = np.zeros(size, np.int64)
    table = np.empty(size, np.uint64)
    for values, pieces in _dangerous_words(relation, has, may):
        table.fill(np.iinfo(np.uint64).max)
        _subset_lattice.meet_rows(places, values, table)
        _over_all_bits(_subset_lattice.intersect_supersets, table, len(known), False, run)
        for first in range(0, size, _SLICE):
            run.check()
            _subset_lattice.sum_dangers(table, first, min(first + _SLICE, size), pieces, sums)
    weights = table.view(np.float64)
    split = len(known) // 2
    low, low_danger = _products(relation, known[:split])
    high, high_danger = _products(relation, known[split:])
    limit = len(known) if most_known is None else most_known
    for first in range(0, size, _SLICE):
        run.check()
        _subset_lattice.weigh_sets(
            sums, first, min(first + _SLICE, size), split, low, high, low_danger, high_danger,
            relation.danger_unit, relation.danger_offset, limit, weights,
        )  # fmt: skip
    _over_all_bits(_subset_lattice.maximise_over_subsets, weights, len(known), True, run)
    return weights[places]


def _over_all_bits(
    transform: Callable[..., None], table: npt.NDArray[np.generic], bits: int, upwards: bool, run: Run
) -> None:
    """Transform a table for each bit: low bits in parts that fit into the cache, high bits over everything."""
    cached = min(bits, _CACHED_BITS)
    steps = [(bit, min(bit + 2, bits)) for bit in range(cached, bits, 2)]

    def over_parts() -> None:
        for first in range(0, len(table), 1 << cached):
            if first & (_SLICE - 1) == 0:
                run.check()
            transform(table, first, first + (1 << cached), 0, cached)

    if upwards:
        over_parts()
    for low, high in steps:
        run.check()
        transform(table, 0, len(table), low, high)
    if not upwards:
        over_parts()


def _select(words: BitWords, pieces: BitWords) -> BitWords:
    found = np.empty(len(words), np.uint64)
    _subset_lattice.select_bits(np.ascontiguousarray(words), pieces, found)
    return found


def _pieces(attributes: list[int], words: int) -> BitWords:
    """What each value of each byte contributes when bit k of the result is the bit of ``attributes[k]``."""
    pieces = np.zeros((8 * words, 256), np.uint64)
    values = np.arange(256)
    for k, a in enumerate(attributes):
        pieces[a >> 3] |= ((values >> (a & 7)) & 1).astype(np.uint64) << np.uint64(k)
    return pieces


def _dangerous_words(relation: Relation, has: BitWords, may: BitWords) -> list[tuple[BitWords, Ints]]:
    """For each word of up to 64 dangerous attributes: its bits in every row, and the danger of each byte's values."""
    chosen = np.flatnonzero(relation.danger_units).tolist()
    parts = [(chosen[k : k + 64], may) for k in range(0, len(chosen), 64)]
    found = [(_select(bits, _pieces(part, bits.shape[1])), _danger_pieces(relation.danger_units[part]))
             for part, bits in parts]  # fmt: skip
    gaps = [c for c in relation.columns_with_gaps if relation.danger_units[relation.values_of(c)].any()]
    for k in range(0, len(gaps), 64):
        some = gaps[k : k + 64]
        empty = np.zeros(len(has), np.uint64)
        for bit, c in enumerate(some):
            filled = unpack_bits(has, relation.attributes)[:, relation.values_of(c)].any(axis=1)
            empty |= (~filled).astype(np.uint64) << np.uint64(bit)
        units = np.array([-relation.danger_units[relation.values_of(c)].sum() for c in some], np.int64)
        found.append((empty, _danger_pieces(units)))
    return found


def _danger_pieces(units: Ints) -> Ints:
    """The danger of each value of each byte."""
    pieces = np.zeros((-(-len(units) // 8), 256), np.int64)
    values = np.arange(256)
    for k, danger in enumerate(units.tolist()):
        pieces[k >> 3] += danger * ((values >> (k & 7)) & 1)
    return pieces


def _products(relation: Relation, attributes: Ints) -> tuple[Floats, Ints]:
    """Likelihood and danger of every set of some attributes."""
    likelihood, danger = np.ones(1), np.zeros(1, np.int64)
    for a in attributes.tolist():
        likelihood = np.concatenate([likelihood, likelihood * relation.likelihood[a]])
        danger = np.concatenate([danger, danger + relation.danger_units[a]])
    return likelihood, danger
