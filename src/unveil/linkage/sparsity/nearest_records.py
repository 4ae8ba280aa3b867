"""Which other record is the most similar to each record?

:mod:`unveil.linkage.sparsity.record_similarity` defines the similarity. Every record is compared with every other,
except where the answer is already known:

- Equal records have Sim 1 and are found by sorting. If sim is only 0 or 1 and being similar is an equivalence, one
  record stands for all of its copies. Records without attributes are similar to each other and to nobody else.
- Sim(x, y) ≤ |x| / |y| if x has fewer attributes than y. Records are sorted by their number of attributes and compared
  in blocks, nearest blocks first; blocks that cannot beat the best found so far are skipped.

:mod:`unveil.linkage.sparsity.bit_planes` compares many records at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.linkage.equal_records import group_equal_records
from unveil.linkage.records import Records
from unveil.linkage.sparsity import _nearest_records
from unveil.linkage.sparsity.bit_planes import PlaneLayout, arrange_blocks, choose_layout, record_planes
from unveil.linkage.sparsity.record_similarity import RecordSimilarity, comparison_rules
from unveil.run import Run
from unveil.slices import MAX_THREADS, chunks, run_tasks

__all__ = ["NearestRecords", "nearest_records", "requested_rows"]


_PROGRESS_LABEL = "comparing records"
_TILE_RECORDS = 128  # records at most that go through the blocks together
_SLICE_NANOSECONDS = 50_000_000  # roughly nanoseconds per slice


@dataclass(frozen=True, eq=False)
class NearestRecords:
    """For each record in ``rows``, the most similar other record, ``row``: the first among equals, −1 if there is no
    other. Their Sim is the fraction ``above`` / ``below`` in lowest terms."""

    rows: Ints
    row: Ints
    above: Ints
    below: Ints

    @cached_property
    def similarity(self) -> Floats:
        """The largest Sim of each record to another."""
        return self.above / self.below

    def select(self, some: npt.NDArray[np.bool_]) -> NearestRecords:
        """The part marked in ``some``."""
        return NearestRecords(self.rows[some], self.row[some], self.above[some], self.below[some])


def nearest_records(
    records: Records,
    sim: RecordSimilarity = "alike",
    least: float = 1.0,
    rows: npt.ArrayLike | None = None,
    run: Run | None = None,
) -> NearestRecords:
    """Find the most similar other record for each record, and how similar it is. ``least`` is the μ of (2.1). With
    ``rows``, only these records are looked up, in this order.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_from_codes
    >>> from unveil.release.codes import encode_column
    >>> table = {"age": [30, 30, 41], "sex": ["f", "m", "m"], "job": ["cook", "cook", None]}
    >>> found = nearest_records(records_from_codes({name: encode_column(pa.chunked_array([v])) for name,
    ...     v in table.items()}))
    >>> found.row.tolist(), found.above.tolist(), found.below.tolist()
    ([1, 0, 1], [2, 2, 1], [3, 3, 3])
    """
    chosen, run = requested_rows(records.n, rows), run or Run()
    rules, kinds = comparison_rules(records, sim, least)
    found = _initial_best(records, rules.unit)
    equivalence = bool((kinds.runs & ~kinds.ranged).all())
    compared = alone = np.flatnonzero(records.support)
    if equivalence:
        compared, alone = _resolve_equal_records(records, rules, found, run)
    asked = np.zeros(records.n, np.bool_)
    asked[chosen] = True
    targets = alone[asked[alone]]
    if len(targets) and len(compared) > 1:
        layout = choose_layout(records, kinds, len(compared))
        others, lists = arrange_blocks(records, rules, layout, compared, run)
        _search_all_blocks(records, rules, layout, others, lists, targets, found, run)
    above, below, row = (part[chosen] for part in found)
    shared = np.gcd(above, below * rules.unit)
    return NearestRecords(chosen, row, above // shared, below * rules.unit // shared)


def requested_rows(n: int, rows: npt.ArrayLike | None) -> Ints:
    """The requested rows, by default all n."""
    if n == 0:
        raise UnveilError("there are no records to compare")
    if rows is None:
        return np.arange(n)
    chosen = np.asarray(rows, np.int64)
    if chosen.ndim != 1 or len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= n:
        raise UnveilError(f"rows to compare must be numbers from 0 to {n - 1:,}")
    if len(np.unique(chosen)) < len(chosen):
        raise UnveilError("some rows are listed twice")
    return chosen


# ---- records that need no comparison --------------------------------------------------------------------------------


class _BestSoFar(NamedTuple):
    """The best so far for every record: Sim = ``above`` / ``below``, in units, and the row it belongs to."""

    above: Ints
    below: Ints
    row: Ints


def _initial_best(records: Records, unit: int) -> _BestSoFar:
    """Start with Sim 0, which the first other row has. Records without attributes are equal to each other."""
    n = records.n
    found = _BestSoFar(np.zeros(n, np.int64), np.ones(n, np.int64), np.zeros(n, np.int64))
    found.row[0] = 1 if n > 1 else -1
    empty = np.flatnonzero(records.support == 0)
    if len(empty) > 1:
        found.above[empty] = unit
        found.row[empty] = empty[0]
        found.row[empty[0]] = empty[1]
    return found


def _resolve_equal_records(
    records: Records, rules: _nearest_records.ComparisonRules, found: _BestSoFar, run: Run
) -> tuple[Ints, Ints]:
    """Note the nearest record of every record that has copies. Returns the first record of each kind, to compare others
    with, and the records without copies."""
    order, fresh = group_equal_records(records, _similarity_codes(records, rules, run), run)
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


def _similarity_codes(records: Records, rules: _nearest_records.ComparisonRules, run: Run) -> Int32s:
    """Codes that are equal for similar values."""
    found = np.empty_like(records.value)
    for first, last in chunks(len(found), run):
        part = slice(first, last)
        found[part] = rules.code[rules.start[records.attribute[part]] + records.value[part]]
    return found


# ---- the search ------------------------------------------------------------------------------------------------------


def _search_all_blocks(
    records: Records,
    rules: _nearest_records.ComparisonRules,
    layout: PlaneLayout,
    others: _nearest_records.RecordBlocks,
    lists: _nearest_records.RecordLists,
    targets: Ints,
    found: _BestSoFar,
    run: Run,
) -> None:
    """Improve the best so far for the ``targets`` by comparing each with all others. Threads do not interfere: each
    record has its own slot, and a maximum does not depend on the order."""
    targets = targets[np.argsort(records.support[targets], kind="stable")]
    known = _nearest_records.RecordArrays(records.indptr, records.attribute, records.value)
    blocks, many = others.row.shape
    planes, place = others.planes.reshape(blocks, layout.planes, many), np.empty(records.n + 1, np.int64)
    place[others.row.ravel()] = np.arange(others.row.size)
    step = min(_TILE_RECORDS, max(1, len(targets) // MAX_THREADS))

    def search_tile(first: int, stop: Event) -> None:
        tile = targets[first : first + step]
        own = np.searchsorted(others.most[:-1], records.support[tile[len(tile) // 2]])
        turn = np.argsort(np.abs(np.arange(blocks) - own), kind="stable")
        if layout.ranged.any():
            low, high = (record_planes(records, rules, code, layout, tile) for code in (rules.low, rules.high))
        else:  # what is alike has the same code
            low = high = planes[place[tile] // many, :, place[tile] % many]
        parts = [part[tile] for part in found]
        space = np.zeros(many, np.int64), *np.zeros((2, many), np.uint64)
        pair, pairs = 0, blocks * len(tile)
        while pair < pairs:
            run.check()
            if stop.is_set():
                return
            pair = _nearest_records.search_blocks(
                known, rules, others, lists, tile, low, high, turn, pair, pairs, _SLICE_NANOSECONDS, *parts, *space
            )
        for part, own in zip(found, parts, strict=True):
            part[tile] = own

    run_tasks(range(0, len(targets), step), search_tile, _PROGRESS_LABEL, run)
