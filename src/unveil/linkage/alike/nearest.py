"""Who is the most similar to everyone? Every record compared with every other.

How alike two records are is told in :mod:`unveil.linkage.alike.comparing`. Every record is compared with every other,
but for these:

- Equal records have Sim 1, and are found by sorting. Where values are alike or not, and alike is an equivalence, only
  one of them is compared with the rest. Records without attributes are like each other and nobody else.
- Sim(x, y) ≤ |x| / |y| if x has fewer attributes than y. Records are ordered by how many they have, and compared with
  blocks of others from their own on outwards; a block that cannot beat what was found is left out.

Many are compared at once (:mod:`unveil.linkage.alike.planes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.linkage.alike import _nearest
from unveil.linkage.alike.comparing import Sim, comparing
from unveil.linkage.alike.planes import arranged, laid_out
from unveil.linkage.copies import grouped
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.slices import THREADS, pieces, together

__all__ = ["Nearest", "asked_for", "nearest"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_DOING = "comparing records"
_TILE = 128  # records that go through the blocks together at most
_WORK = 50_000_000  # nanoseconds in a slice, roughly


@dataclass(frozen=True, eq=False)
class Nearest:
    """Of each record of ``rows`` the most similar other one, ``row`` (the first of several; −1 if there is no other).
    Their Sim is the fraction ``above`` / ``below`` in lowest terms."""

    rows: Ints
    row: Ints
    above: Ints
    below: Ints

    @cached_property
    def similarity(self) -> Floats:
        """The largest Sim of each record."""
        return self.above / self.below

    def only(self, some: npt.NDArray[np.bool_]) -> Nearest:
        """Some of them."""
        return Nearest(self.rows[some], self.row[some], self.above[some], self.below[some])


def nearest(
    records: Records, sim: Sim = "alike", least: float = 1.0, rows: npt.ArrayLike | None = None, run: Run | None = None
) -> Nearest:
    """The record that is the most similar to each, among all others, and how similar it is. ``least`` is the μ of
    (2.1). With ``rows`` only these are asked for, in that order.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_codes
    >>> from unveil.release.codes import encode
    >>> table = {"age": [30, 30, 41], "sex": ["f", "m", "m"], "job": ["cook", "cook", None]}
    >>> found = nearest(records_of_codes({name: encode(pa.chunked_array([v])) for name, v in table.items()}))
    >>> found.row.tolist(), found.above.tolist(), found.below.tolist()
    ([1, 0, 1], [2, 2, 1], [3, 3, 3])
    """
    chosen, run = asked_for(records.n, rows), run or Run()
    rules, kinds = comparing(records, sim, least)
    known = _nearest.Known(records.indptr, records.attribute, records.value)
    found = _begun(records, rules.unit)
    equivalence = bool((kinds.runs & ~kinds.ranged).all())
    compared, alone = _without_equals(records, rules, found, run) if equivalence else _all(records)
    asked = np.zeros(records.n, np.bool_)
    asked[chosen] = True
    wanted = alone[asked[alone]]
    if len(wanted) and len(compared) > 1:
        layout = laid_out(records, kinds, len(compared))
        others = arranged(records, known, rules, layout, compared, run)
        _search(known, rules, others, layout.starts, wanted, found, run)
    above, below, row = (part[chosen] for part in found)
    shared = np.gcd(above, below * rules.unit)
    return Nearest(chosen, row, above // shared, below * rules.unit // shared)


def asked_for(n: int, rows: npt.ArrayLike | None) -> Ints:
    """The rows asked for, or all of n."""
    if n == 0:
        raise UnveilError("there are no records to compare")
    if rows is None:
        return np.arange(n)
    chosen = np.asarray(rows, np.int64)
    if chosen.ndim != 1 or len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= n:
        raise UnveilError(f"rows to be compared are numbers from 0 to {n - 1:,}")
    if len(np.unique(chosen)) < len(chosen):
        raise UnveilError("some rows are given twice")
    return chosen


# ---- records that need no comparing ----------------------------------------------------------------------------------


class _Found(NamedTuple):
    """What was found of every record: the Sim ``above`` / ``below``, in units, and to which row."""

    above: Ints
    below: Ints
    row: Ints


def _begun(records: Records, unit: int) -> _Found:
    """Nobody is like anybody: Sim is 0, and the first of all other rows has it. But records without attributes are
    equal."""
    n = records.n
    found = _Found(np.zeros(n, np.int64), np.ones(n, np.int64), np.zeros(n, np.int64))
    found.row[0] = 1 if n > 1 else -1
    empty = np.flatnonzero(records.support == 0)
    if len(empty) > 1:
        found.above[empty] = unit
        found.row[empty] = empty[0]
        found.row[empty[0]] = empty[1]
    return found


def _all(records: Records) -> tuple[Ints, Ints]:
    """All records that have attributes are compared with all of them."""
    some = np.flatnonzero(records.support)
    return some, some


def _without_equals(records: Records, rules: _nearest.Rules, found: _Found, run: Run) -> tuple[Ints, Ints]:
    """Note what equal records are to each other. Returns one of each kind to compare others with, the first, and the
    records that are like no other."""
    order, fresh = grouped(records, _codes(records, rules, run), run)
    begins = np.flatnonzero(fresh)
    many = np.diff(np.append(begins, records.n))
    firsts = order[begins]
    twice = many > 1
    members = np.repeat(twice, many) & (records.support[order] > 0)
    equal, one = order[members], np.repeat(firsts, many)[members]
    found.above[equal] = found.below[equal] = records.support[equal]
    found.row[equal] = one
    found.row[firsts[twice]] = order[begins[twice] + 1]
    some = records.support[firsts] > 0
    return np.sort(firsts[some]), np.sort(firsts[some & ~twice])


def _codes(records: Records, rules: _nearest.Rules, run: Run) -> npt.NDArray[np.int32]:
    """The same code for values that are alike."""
    found = np.empty_like(records.value)
    for first, last in pieces(len(found), run):
        part = slice(first, last)
        found[part] = rules.code[rules.start[records.attribute[part]] + records.value[part]]
    return found


# ---- the search ------------------------------------------------------------------------------------------------------


def _search(
    known: _nearest.Known,
    rules: _nearest.Rules,
    others: _nearest.Others,
    starts: Ints,
    wanted: Ints,
    found: _Found,
    run: Run,
) -> None:
    """Raise what was found of the ``wanted`` records by comparing each with all others. Whatever goes on at the same
    time, each record has its own place, and the largest of fractions is the same in any order."""
    sizes = known.indptr[wanted + 1] - known.indptr[wanted]
    order = np.argsort(sizes, kind="stable")
    wanted, sizes = wanted[order], sizes[order]
    room, blocks = others.planes.shape[2], len(others.planes)
    step = min(_TILE, max(1, len(wanted) // THREADS))

    def sought(first: int, stop: Event) -> None:
        tile = wanted[first : first + step]
        middle = sizes[first + len(tile) // 2]
        own = min(int(np.searchsorted(others.size, middle)) // room, blocks - 1)
        turn = np.argsort(np.abs(np.arange(blocks) - own), kind="stable")
        parts = [part[tile] for part in found]
        state = np.zeros(2, np.int64)
        while state[0] < blocks:
            run.check()
            if stop.is_set():
                return
            _nearest.sought(known, rules, others, starts, tile, turn, state, _WORK, *parts)
        for part, told in zip(found, parts, strict=True):
            part[tile] = told

    together(range(0, len(wanted), step), sought, _DOING, run)
