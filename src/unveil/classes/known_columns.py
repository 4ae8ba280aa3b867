"""How much must an attacker know? Re-identification risk by the columns they know.

An attacker who knows some columns of a person sees the class of people who agree on them. For a set S of columns

    risk(S) = classes(S)/people, the average over people of 1/(size of their class), and
    unique(S) = (people alone in their class)/people.

Adding a column never lowers either. Three functions build on them:

- :func:`risk_by_columns_known`: the least, mean and greatest of both over all sets of m columns, for every m;
- :func:`find_identifying_sets`: the smallest sets that single out a given share of the people, whether or not anyone
  thought of them as quasi-identifiers (Motwani and Xu 2008);
- :func:`shapley_values`: each column's fair contribution (Shapley 1953). With c columns

      φᵢ = Σ over sets S without i: |S|! (c − |S| − 1)!/c! · (v(S + i) − v(S)),

  the mean gain from column i when columns become known in random order. The φᵢ sum to v(all) − v(none).

**Computation.** Only distinct rows matter. The classes of a set are those of the set without one column, divided by
that column. A row that is alone in its class is dropped. Consecutive sets share most of their columns, and columns with
many values come first because they isolate the most rows. Counts stay integers until the last division, so the order of
rows changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, sqrt
from typing import NamedTuple

import numpy as np

from unveil.arrays import Bools, Floats, Int32s, Ints
from unveil.classes import _minimal_uniques
from unveil.errors import UnveilError
from unveil.grouping import pack_columns
from unveil.intervals import bounded_mean_interval
from unveil.run import Run

__all__ = [
    "ColumnContributions",
    "IdentifyingSet",
    "IdentifyingSets",
    "KnownColumns",
    "ShapleyValues",
    "ShareBand",
    "find_identifying_sets",
    "risk_by_columns_known",
    "shapley_values",
]

Columns = Sequence[Int32s]

_MOST_SETS = 2_000
_SAMPLED_ORDERS = 1_000
_FEWEST_ORDERS = 30
_MOST_EXACT_COLUMNS = 12
_WORK_LIMIT = 1_000_000_000
_LEAST_ROW_COST = 5_000


class RowPartition(NamedTuple):
    """Distinct rows divided into classes. ``order`` omits the ``single_row_classes``. ``unique`` people are alone
    in their class; ``newly_unique`` lists the rows of those whom the last column singled out."""

    order: Int32s
    starts: Int32s
    single_row_classes: int
    unique: int
    newly_unique: Int32s

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.starts) - 1 + self.single_row_classes


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows. ``codes`` holds their columns, coded from 0, those with most values first; ``names[i]`` is the
    caller's number of column i. Each row stands for ``weights`` people and is row ``first_row`` of the ``given_rows``.
    The last three arrays are workspace of the kernel."""

    codes: tuple[Int32s, ...]
    names: tuple[int, ...]
    weights: Ints
    first_row: Ints
    given_rows: int
    people: int
    is_one_person: Bools
    value_counts: Int32s
    value_places: Int32s
    seen_values: Int32s

    def __len__(self) -> int:
        return len(self.first_row)

    def single_class(self) -> RowPartition:
        """All rows in one class: what an attacker sees who knows nothing."""
        rows = np.arange(len(self), dtype=np.int32)
        starts = np.array([0, len(rows)] if len(rows) else [0], np.int32)
        return RowPartition(rows, starts, 0, int(self.people == 1), rows[:0])

    def divide_by(self, split: RowPartition, column: int) -> RowPartition:
        """The classes once one more column is known."""
        rows = len(split.order)
        order, singles = np.empty(rows, np.int32), np.empty(rows + 1, np.int32)
        starts = np.empty(rows // 2 + 2, np.int32)
        left, classes, apart, found = _minimal_uniques.divide_classes(
            split.order, split.starts, len(split.starts) - 1, self.codes[column], self.is_one_person, self.value_counts,
            self.value_places,
            self.seen_values, order, starts, singles,
        )  # fmt: skip
        before = split.unique if split.single_row_classes else 0  # otherwise a single person would be counted twice
        return RowPartition(
            order[:left], starts[: classes + 1], split.single_row_classes + apart, before + found, singles[:found]
        )

    def original_columns(self, columns: Iterable[int]) -> tuple[int, ...]:
        """A set of columns by the caller's numbers."""
        return tuple(sorted(self.names[c] for c in columns))

    def estimate_work(self, sets: int) -> int:
        """Roughly the most rows visited for this many sets; a tiny table costs as much as a small one."""
        return sets * max(len(self), _LEAST_ROW_COST)


def distinct_rows(columns: Columns, counts: Ints | None = None) -> DistinctRows:
    """The distinct rows of these columns, where −1 is a value of its own. Each row stands for ``counts`` people, or for
    one by default."""
    rows = len(columns[0]) if columns else 0 if counts is None else len(counts)
    weight = np.ones(rows, np.int64) if counts is None else counts
    if any(len(column) != rows for column in columns) or len(weight) != rows:
        raise UnveilError("columns and counts must have the same length")
    if (weight < 0).any():
        raise UnveilError("counts must not be negative")
    some = np.flatnonzero(weight)
    coded = [_renumber_codes(column[some]) for column in columns]
    values = [int(codes.max(initial=-1)) + 1 for codes in coded]
    names = sorted(range(len(columns)), key=lambda c: (-values[c], c))
    key = pack_columns([coded[c] for c in names], len(some))[0]  # in this order, rows of one class are neighbours
    _, first, ids = np.unique(key, return_index=True, return_inverse=True)
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, ids, weight[some])
    tally, place = np.zeros(max(values, default=0), np.int32), np.empty(max(values, default=0), np.int32)
    codes, inside = tuple(coded[c][first] for c in names), np.empty(len(first), np.int32)
    people, lone = int(weights.sum()), weights == 1
    return DistinctRows(codes, tuple(names), weights, some[first], rows, people, lone, tally, place, inside)


def _renumber_codes(codes: Int32s) -> Int32s:
    """Renumber the values from 0 without gaps."""
    most = int(codes.max(initial=-1)) + 2
    if most > 4 * len(codes) + 1_000:
        return np.unique(codes, return_inverse=True)[1].astype(np.int32)
    seen = np.zeros(most, np.bool_)
    seen[codes + 1] = True
    return (np.cumsum(seen, dtype=np.int32) - 1)[codes + 1]


def _partitions_along(
    rows: DistinctRows, paths: Sequence[tuple[int, ...]], run: Run
) -> Iterator[tuple[int, list[RowPartition]]]:
    """For every path of columns, in any order: its number, and the partitions after 0, 1, 2 … of its columns."""
    stack, on = [rows.single_class()], list[int]()
    for done, k in enumerate(sorted(range(len(paths)), key=paths.__getitem__)):
        path, same = paths[k], 0
        while same < min(len(on), len(path)) and on[same] == path[same]:
            same += 1
        del stack[same + 1 :], on[same:]
        for column in path[same:]:
            run.progress("going through sets of columns", done / len(paths))
            run.check()
            stack.append(rows.divide_by(stack[-1], column))
            on.append(column)
        yield k, stack


def _measure_sets(rows: DistinctRows, sets: Sequence[tuple[int, ...]], run: Run) -> Ints:
    """The number of unique people (column 0) and of classes (column 1) for each set of columns."""
    found = np.empty((len(sets), 2), np.int64)
    for k, stack in _partitions_along(rows, sets, run):
        found[k] = stack[-1].unique, stack[-1].classes
    return found


def _measure_random_orders(
    rows: DistinctRows, rng: np.random.Generator, orders: int, run: Run
) -> tuple[list[tuple[int, ...]], Ints]:
    """Random orders of the columns, and both counts for the first 0, 1, 2 … columns of each order."""
    paths = [tuple(rng.permutation(len(rows.codes)).tolist()) for _ in range(orders)]
    found = np.empty((orders, len(rows.codes) + 1, 2), np.int64)
    for k, stack in _partitions_along(rows, paths, run):
        found[k] = [(split.unique, split.classes) for split in stack]
    return paths, found


def _affordable_orders(rows: DistinctRows, sample: int, left: int) -> int:
    """The number of random orders that the remaining work allows."""
    if sample < 2:
        raise UnveilError("the sample must be 2 or more")
    return min(sample, max(_FEWEST_ORDERS, left // max(1, rows.estimate_work(len(rows.codes)))))


@dataclass(frozen=True)
class ShareBand:
    """The least, mean and greatest share over sets of equally many columns, and a set that attains the greatest.

    If only a sample of the sets was measured, the true least is at most ``low``, the true greatest at least ``high``,
    and the true mean lies in ``interval`` with the requested confidence (Maurer and Pontil 2009, Theorem 4, valid for
    any distribution). ``interval`` is None if all sets were measured."""

    low: float
    mean: float
    high: float
    worst_set: tuple[int, ...]
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class KnownColumns:
    """What an attacker achieves who knows ``known`` columns: the share of unique people, and the average risk of
    re-identification. ``sets`` is how many sets of columns were measured: all of them if exhaustive, otherwise random
    ones, possibly with repeats."""

    known: int
    sets: int
    is_exhaustive: bool
    unique: ShareBand
    risk: ShareBand


def risk_by_columns_known(
    columns: Columns,
    counts: Ints | None,
    rng: np.random.Generator,
    *,
    most: int = _MOST_SETS,
    sample: int = _SAMPLED_ORDERS,
    work: int = _WORK_LIMIT,
    confidence: float = 0.95,
    run: Run | None = None,
) -> tuple[KnownColumns, ...]:
    """For every number of known columns, what an attacker achieves with the worst, average and best choice of columns.

    All sets of a given size are measured if there are at most ``most`` and ``work`` (rows visited) allows. Otherwise
    the first columns of ``sample`` random orders are. One order serves all sizes, which keeps the curve smooth, but
    each size has its own confidence.

    >>> table, rng = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 0], np.int32)], np.random.default_rng(0)
    >>> [(k.known, k.unique.low, k.unique.mean, k.unique.high, k.unique.worst_set) for k in risk_by_columns_known(table,
    ...     None, rng)]
    [(0, 0.0, 0.0, 0.0, ()), (1, 0.0, 0.125, 0.25, (1,)), (2, 0.5, 0.5, 0.5, (0, 1))]
    """
    rows, c, run = distinct_rows(columns, counts), len(columns), run or Run()
    seen, used = [], 0
    for m in sorted(range(c + 1), key=lambda m: (comb(c, m), m)):
        cost = rows.estimate_work(comb(c + 1, m))  # the sets have this many distinct prefixes
        if comb(c, m) == 1 or (comb(c, m) <= most and used + cost <= work):
            seen.append(m)
            used += cost
    sets = [s for m in seen for s in combinations(range(c), m)]
    values = _measure_sets(rows, sets, run)
    sizes = np.array([len(s) for s in sets])
    found = {}
    for m in seen:
        some = np.flatnonzero(sizes == m)
        found[m] = _summarise_sets(rows, [sets[k] for k in some], values[some], None)
    if len(found) <= c:
        paths, values = _measure_random_orders(rows, rng, _affordable_orders(rows, sample, work - used), run)
        ends = values[0, [0, c]] / max(1, rows.people)
        for m in sorted(set(range(c + 1)) - set(found)):
            found[m] = _summarise_sets(rows, [path[:m] for path in paths], values[:, m], (ends, confidence))
    return tuple(found[m] for m in range(c + 1))


def _summarise_sets(
    rows: DistinctRows, sets: Sequence[tuple[int, ...]], values: Ints, drawn: tuple[Floats, float] | None
) -> KnownColumns:
    bands = []
    for which in range(2):
        counted = values[:, which]
        shares = counted / max(1, rows.people)
        best = min(rows.original_columns(sets[k]) for k in np.flatnonzero(counted == counted.max()).tolist())
        mean = int(counted.sum()) / max(1, len(sets) * rows.people)
        interval = None if drawn is None else bounded_mean_interval(shares, mean, drawn[0][:, which].tolist(), drawn[1])
        bands.append(ShareBand(float(shares.min()), mean, float(shares.max()), best, interval))
    return KnownColumns(len(sets[0]), len(sets), drawn is None, *bands)


@dataclass(frozen=True)
class IdentifyingSet:
    """A set of columns with the share of people it singles out."""

    columns: tuple[int, ...]
    unique: float


@dataclass(frozen=True)
class IdentifyingSets:
    """The sets found: smaller ones first, then those that single out more. The list is complete up to ``size`` columns;
    ``truncated`` if the work ran out before the requested size."""

    sets: tuple[IdentifyingSet, ...]
    size: int
    truncated: bool


def find_identifying_sets(
    columns: Columns,
    counts: Ints | None,
    share: float,
    most_size: int,
    *,
    work: int = _WORK_LIMIT,
    run: Run | None = None,
) -> IdentifyingSets:
    """Find the minimal sets of at most ``most_size`` columns that single out at least ``share`` of the people.

    Adding a column never singles out fewer people. The search therefore skips every set with a sufficient subset, and
    every set that lacks an indispensable column.

    >>> table = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32), np.array([0, 1, 2, 2], np.int32)]
    >>> [(s.columns, s.unique) for s in find_identifying_sets(table, None, 1.0, 3).sets]
    [((0, 1), 1.0), ((1, 2), 1.0)]
    """
    if not 0 < share <= 1:
        raise UnveilError("the share of people must be greater than 0 and at most 1")
    rows, c, run = distinct_rows(columns, counts), len(columns), run or Run()
    most_size = min(most_size, c)
    every = tuple(range(c))
    tried = [every, *(every[:i] + every[i + 1 :] for i in every)]
    enough = _measure_sets(rows, tried, run)[:, 0] / max(1, rows.people) >= share
    if not enough[0]:
        return IdentifyingSets((), most_size, False)
    needed = [i for i in every if not enough[i + 1]]
    others = [i for i in every if enough[i + 1]]
    found: list[IdentifyingSet] = []
    too_large: set[tuple[int, ...]] = set()
    for size in range(len(needed), most_size + 1):
        work -= rows.estimate_work(comb(len(others), size - len(needed)))
        if work < 0:
            return IdentifyingSets(_sort_sets(found), size - 1, True)
        sets = [tuple(sorted((*needed, *some))) for some in combinations(others, size - len(needed))]
        covered = {s for s in sets if any(s[:i] + s[i + 1 :] in too_large for i in range(size))}
        left = [s for s in sets if s not in covered]
        if not left:
            break
        for k, stack in _partitions_along(rows, left, run):
            unique = stack[-1].unique / rows.people
            if unique >= share:
                found.append(IdentifyingSet(rows.original_columns(left[k]), unique))
                covered.add(left[k])
        too_large = covered
    return IdentifyingSets(_sort_sets(found), most_size, False)


def _sort_sets(found: Iterable[IdentifyingSet]) -> tuple[IdentifyingSet, ...]:
    return tuple(sorted(found, key=lambda one: (len(one.columns), -one.unique, one.columns)))


@dataclass(frozen=True, eq=False)
class ColumnContributions:
    """Each column's contribution to a total, in the caller's order, with standard errors: 0 where exact."""

    values: Floats
    errors: Floats
    total: float


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """The columns' contributions to the share of unique people and to the average risk: exact, or the mean over
    ``orders`` random orders of the columns."""

    unique: ColumnContributions
    risk: ColumnContributions
    exact: bool
    orders: int


def shapley_values(
    columns: Columns,
    counts: Ints | None,
    rng: np.random.Generator,
    *,
    most: int = _MOST_EXACT_COLUMNS,
    sample: int = _SAMPLED_ORDERS,
    work: int = _WORK_LIMIT,
    run: Run | None = None,
) -> ShapleyValues:
    """Each column's contribution to re-identification. It is computed over all sets of columns if there are at most
    ``most`` columns and ``work`` (rows visited) allows, otherwise over random orders.

    >>> table = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32), np.zeros(4, np.int32)]
    >>> shapley_values(table, None, np.random.default_rng(0)).unique.values.tolist()
    [0.5, 0.5, 0.0]
    """
    rows, c, run = distinct_rows(columns, counts), len(columns), run or Run()
    if c <= most and rows.estimate_work(2**c) <= work:
        sets = [tuple(i for i in range(c) if mask >> i & 1) for mask in range(2**c)]
        values = _measure_sets(rows, sets, run)
        return ShapleyValues(
            _exact_contributions(rows, values[:, 0]), _exact_contributions(rows, values[:, 1]), True, 0
        )
    paths, drawn = _measure_random_orders(rows, rng, _affordable_orders(rows, sample, work), run)
    unique, risk = (_sampled_contributions(rows, paths, drawn[..., which]) for which in range(2))
    return ShapleyValues(unique, risk, False, len(paths))


def _exact_contributions(rows: DistinctRows, values: Ints) -> ColumnContributions:
    """Contributions from the value of every set; bit i of a position says whether the set has column i."""
    c = len(rows.codes)
    masks = np.arange(2**c)
    sizes = np.bitwise_count(masks)
    found = np.zeros(c)
    for i, name in enumerate(rows.names):
        without = masks[masks >> i & 1 == 0]
        gains = np.zeros(c, np.int64)
        np.add.at(gains, sizes[without], values[without | 1 << i] - values[without])
        found[name] = sum(int(g) / (c * comb(c - 1, s)) for s, g in enumerate(gains)) / max(1, rows.people)
    return ColumnContributions(found, np.zeros(c), int(values[-1] - values[0]) / max(1, rows.people))


def _sampled_contributions(rows: DistinctRows, paths: Sequence[tuple[int, ...]], values: Ints) -> ColumnContributions:
    """Contributions from the values of the first 0, 1, 2 … columns of random orders."""
    gains = np.empty((len(paths), len(rows.codes)))
    at = np.array(rows.names)[np.array(paths)]
    np.put_along_axis(gains, at, np.diff(values, axis=1) / max(1, rows.people), axis=1)
    errors = gains.std(axis=0, ddof=1) / sqrt(len(paths))
    return ColumnContributions(gains.mean(axis=0), errors, int(values[0, -1] - values[0, 0]) / max(1, rows.people))
