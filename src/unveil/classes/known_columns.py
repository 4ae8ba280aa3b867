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

How classes are found is in :mod:`unveil.classes.column_partitions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, sqrt

import numpy as np

from unveil.arrays import Floats, Int32s, Ints
from unveil.classes.column_partitions import (
    Columns,
    DivisiblePeople,
    divisible_people,
    measure_sets,
    original_columns,
    partitions_along,
)
from unveil.errors import UnveilError
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

_MOST_SETS = 2_000
_SAMPLED_ORDERS = 1_000
_FEWEST_ORDERS = 30
_MOST_EXACT_COLUMNS = 12
_WORK_LIMIT = 1_000_000_000


def _measure_random_orders(
    rows: DivisiblePeople, rng: np.random.Generator, orders: int, run: Run
) -> tuple[list[tuple[int, ...]], Ints]:
    """Random orders of the columns, and both counts for the first 0, 1, 2 … columns of each order."""
    paths = [tuple(rng.permutation(len(rows.codes)).tolist()) for _ in range(orders)]
    found = np.empty((orders, len(rows.codes) + 1, 2), np.int64)
    for k, stack in partitions_along(rows, paths, run):
        found[k] = [(split.unique, split.classes) for split in stack]
    return paths, found


def _affordable_orders(rows: DivisiblePeople, sample: int, left: int) -> int:
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
    person: Int32s | None = None,
    also: Iterable[tuple[int, ...]] = (),
    most: int = _MOST_SETS,
    sample: int = _SAMPLED_ORDERS,
    work: int = _WORK_LIMIT,
    confidence: float = 0.95,
    run: Run | None = None,
) -> tuple[KnownColumns, ...]:
    """For every number of known columns, what an attacker achieves with the worst, average and best choice of columns.

    All sets of a given size are measured if there are at most ``most`` and ``work`` (rows visited) allows. Otherwise
    the first columns of ``sample`` random orders are, and to find what helps most, the best set of one column less with
    every other column, and the sets in ``also``. One order serves all sizes, which keeps the curve smooth, but each
    size has its own confidence. ``person`` says whose each row is.

    >>> table, rng = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 0], np.int32)], np.random.default_rng(0)
    >>> [(k.known, k.unique.low, k.unique.mean, k.unique.high, k.unique.worst_set) for k in risk_by_columns_known(table,
    ...     None, rng)]
    [(0, 0.0, 0.0, 0.0, ()), (1, 0.0, 0.125, 0.25, (1,)), (2, 0.5, 0.5, 0.5, (0, 1))]
    """
    rows, c, run = divisible_people(columns, counts, person), len(columns), run or Run()
    seen, used = [], 0
    for m in sorted(range(c + 1), key=lambda m: (comb(c, m), m)):
        cost = rows.estimate_work(comb(c + 1, m))  # the sets have this many distinct prefixes
        if comb(c, m) == 1 or (comb(c, m) <= most and used + cost <= work):
            seen.append(m)
            used += cost
    sets = [s for m in seen for s in combinations(range(c), m)]
    values = measure_sets(rows, sets, run)
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
        _search_higher_risks(rows, found, [s for s in also if not found[len(s)].is_exhaustive], work, run)
    return tuple(found[m] for m in range(c + 1))


def _search_higher_risks(
    rows: DivisiblePeople, found: dict[int, KnownColumns], also: Iterable[tuple[int, ...]], work: int, run: Run
) -> None:
    """Raise the greatest shares of sizes of which only a sample was measured. A set is never worse than one that it
    contains, so they rise with the number of columns even where there is no work left to measure more."""
    place = {name: i for i, name in enumerate(rows.names)}
    given = [tuple(place[name] for name in s) for s in also]
    for m in (m for m in sorted(found) if not found[m].is_exhaustive):
        before = found[m - 1]
        bases = {tuple(place[name] for name in band.worst_set) for band in (before.unique, before.risk)}
        tried = {(*base, column) for base in bases for column in range(len(rows.codes)) if column not in base}
        work -= rows.estimate_work(len(tried))
        sets = [s for s in given if len(s) == m] + (sorted(tried) if work >= 0 else [])
        values = measure_sets(rows, sets, run)
        unique, risk = (
            _raise_band(band, smaller, rows, sets, values[:, which])
            for which, (band, smaller) in enumerate(
                ((found[m].unique, before.unique), (found[m].risk, before.risk)),
            )
        )
        found[m] = replace(found[m], unique=unique, risk=risk)


def _raise_band(
    band: ShareBand, smaller: ShareBand, rows: DivisiblePeople, sets: Sequence[tuple[int, ...]], counted: Ints
) -> ShareBand:
    """A band whose greatest share is at least that of these sets, and of the worst set of one column less."""
    missing = next(c for c in range(len(rows.names)) if c not in smaller.worst_set)
    candidates = [(band.high, band.worst_set), (smaller.high, tuple(sorted((*smaller.worst_set, missing))))]
    candidates += [
        (count / max(1, rows.people), original_columns(rows, s))
        for s, count in zip(sets, counted.tolist(), strict=True)
    ]
    high = max(share for share, _ in candidates)
    return replace(band, high=high, worst_set=min(s for share, s in candidates if share == high))


def _summarise_sets(
    rows: DivisiblePeople, sets: Sequence[tuple[int, ...]], values: Ints, drawn: tuple[Floats, float] | None
) -> KnownColumns:
    bands = []
    for which in range(2):
        counted = values[:, which]
        shares = counted / max(1, rows.people)
        best = min(original_columns(rows, sets[k]) for k in np.flatnonzero(counted == counted.max()).tolist())
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
    ``truncated`` if the work ran out before the requested size. Larger sets are then examples."""

    sets: tuple[IdentifyingSet, ...]
    size: int
    truncated: bool


def find_identifying_sets(
    columns: Columns,
    counts: Ints | None,
    share: float,
    most_size: int,
    *,
    person: Int32s | None = None,
    work: int = _WORK_LIMIT,
    run: Run | None = None,
) -> IdentifyingSets:
    """Find the minimal sets of at most ``most_size`` columns that single out at least ``share`` of the people.

    Adding a column never singles out fewer people. The search therefore skips every set with a sufficient subset, and
    every set that lacks an indispensable column. If the work runs out, one larger set is looked for by adding the best
    column again and again.

    >>> table = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32), np.array([0, 1, 2, 2], np.int32)]
    >>> [(s.columns, s.unique) for s in find_identifying_sets(table, None, 1.0, 3).sets]
    [((0, 1), 1.0), ((1, 2), 1.0)]
    """
    if not 0 < share <= 1:
        raise UnveilError("the share of people must be greater than 0 and at most 1")
    rows, c, run = divisible_people(columns, counts, person), len(columns), run or Run()
    most_size = min(most_size, c)
    every = tuple(range(c))
    tried = [every, *(every[:i] + every[i + 1 :] for i in every)]
    enough = measure_sets(rows, tried, run)[:, 0] / max(1, rows.people) >= share
    if not enough[0]:
        return IdentifyingSets((), most_size, False)
    needed = [i for i in every if not enough[i + 1]]
    others = [i for i in every if enough[i + 1]]
    found: list[IdentifyingSet] = []
    too_large: set[tuple[int, ...]] = set()
    for size in range(len(needed), most_size + 1):
        work -= rows.estimate_work(comb(len(others), size - len(needed)))
        if work < 0:
            larger = [] if found else _greedy_identifying_set(rows, share, most_size, run)
            return IdentifyingSets(_sort_sets([*found, *larger]), size - 1, True)
        sets = [tuple(sorted((*needed, *some))) for some in combinations(others, size - len(needed))]
        covered = {s for s in sets if any(s[:i] + s[i + 1 :] in too_large for i in range(size))}
        left = [s for s in sets if s not in covered]
        if not left:
            break
        for k, stack in partitions_along(rows, left, run):
            unique = stack[-1].unique / rows.people
            if unique >= share:
                found.append(IdentifyingSet(original_columns(rows, left[k]), unique))
                covered.add(left[k])
        too_large = covered
    return IdentifyingSets(_sort_sets(found), most_size, False)


def _greedy_identifying_set(rows: DivisiblePeople, share: float, most_size: int, run: Run) -> list[IdentifyingSet]:
    """A minimal set that singles out the share, from adding the column that singles out most; nothing if that takes
    more than ``most_size`` columns."""
    chosen, unique = tuple[int, ...](), 0.0
    while unique < share:
        if len(chosen) == most_size:
            return []
        sets = [(*chosen, column) for column in range(len(rows.codes)) if column not in chosen]
        counted = measure_sets(rows, sets, run)
        best = int(np.lexsort((counted[:, 1], counted[:, 0]))[-1])
        chosen, unique = sets[best], int(counted[best, 0]) / rows.people
    for column in chosen[:-1]:
        fewer = tuple(c for c in chosen if c != column)
        without = int(measure_sets(rows, [fewer], run)[0, 0]) / rows.people
        if without >= share:
            chosen, unique = fewer, without
    return [IdentifyingSet(original_columns(rows, chosen), unique)]


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
    person: Int32s | None = None,
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
    rows, c, run = divisible_people(columns, counts, person), len(columns), run or Run()
    if c <= most and rows.estimate_work(2**c) <= work:
        sets = [tuple(i for i in range(c) if mask >> i & 1) for mask in range(2**c)]
        values = measure_sets(rows, sets, run)
        return ShapleyValues(
            _exact_contributions(rows, values[:, 0]), _exact_contributions(rows, values[:, 1]), True, 0
        )
    paths, drawn = _measure_random_orders(rows, rng, _affordable_orders(rows, sample, work), run)
    unique, risk = (_sampled_contributions(rows, paths, drawn[..., which]) for which in range(2))
    return ShapleyValues(unique, risk, False, len(paths))


def _exact_contributions(rows: DivisiblePeople, values: Ints) -> ColumnContributions:
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


def _sampled_contributions(
    rows: DivisiblePeople, paths: Sequence[tuple[int, ...]], values: Ints
) -> ColumnContributions:
    """Contributions from the values of the first 0, 1, 2 … columns of random orders."""
    gains = np.empty((len(paths), len(rows.codes)))
    at = np.array(rows.names)[np.array(paths)]
    np.put_along_axis(gains, at, np.diff(values, axis=1) / max(1, rows.people), axis=1)
    errors = gains.std(axis=0, ddof=1) / sqrt(len(paths))
    return ColumnContributions(gains.mean(axis=0), errors, int(values[0, -1] - values[0, 0]) / max(1, rows.people))
