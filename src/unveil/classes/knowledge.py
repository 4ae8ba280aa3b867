"""How much must they know? Re-identification against the columns that an attacker knows.

Whoever knows some columns of a person sees the class of people who agree on them. For a set S of columns

    risk(S) = classes(S)/people, the average over people of 1/(size of their class), and
    unique(S) = (people who are alone in their class)/people.

Neither falls when a column is added. There are three things to learn from them:

- :func:`by_known`: the least, the mean and the greatest of both over all sets of m columns, for every m;
- :func:`discover`: the smallest sets that single out a given share of the people: quasi-identifiers, whether or not
  anyone thought of them. With two numbers of Motwani and Xu (*Efficient algorithms for masking and finding
  quasi-identifiers*, 2008): the *distinction*, the share of rows that would remain without duplicates, which is
  risk(S), and the *separation*, the share of pairs of people that the columns tell apart;
- :func:`shapley`: what each column contributes, divided fairly (Shapley 1953). With c columns

      φᵢ = Σ over sets S without i: |S|! (c − |S| − 1)!/c! · (v(S + i) − v(S)),

  the mean gain from column i when columns become known in a random order. They sum to v(all) − v(none).

**How it is computed.** Only different rows matter. The classes of a set are those of a set with one column fewer,
divided by that column; a row that is apart from all others takes no further part. Sets are gone through in an order in
which the next one shares most of its columns with the one before, and columns with many values come first, as they set
most rows apart. Counts are whole numbers until the last division, so that the order of rows changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.classes import _uniques
from unveil.errors import UnveilError
from unveil.grouping import Ints, packed
from unveil.run import Run

__all__ = [
    "Band",
    "Columns",
    "Discovery",
    "Identifying",
    "Known",
    "Rows",
    "Shapley",
    "Shares",
    "Split",
    "by_known",
    "different",
    "discover",
    "shapley",
]

Columns = Sequence[npt.NDArray[np.int32]]
Floats = npt.NDArray[np.float64]
Small = npt.NDArray[np.int32]

_SETS = 2_000
_SAMPLE = 1_000
_FEWEST = 30
_EXACT = 12
_WORK = 1_000_000_000
_LEAST = 5_000


# ---- different rows and their classes --------------------------------------------------------------------------------


class Split(NamedTuple):
    """Different rows divided into classes. Classes of one row are left out of ``order``: there are ``apart`` of them.
    ``unique`` people are alone in their class; ``fresh`` are the rows of those whom the last column singled out."""

    order: Small
    starts: Small
    apart: int
    unique: int
    fresh: Small

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.starts) - 1 + self.apart


@dataclass(frozen=True, eq=False)
class Rows:
    """Different rows. ``codes`` has their columns, coded from 0, those with most values first; ``names[i]`` is the
    place that column i was given at. Each row stands for ``weights`` people and is row ``where`` of the ``given``."""

    codes: tuple[Small, ...]
    names: tuple[int, ...]
    weights: Ints
    where: Ints
    given: int
    people: int
    lone: npt.NDArray[np.bool_]
    tally: Small
    place: Small
    inside: Small

    def __len__(self) -> int:
        return len(self.where)

    def whole(self) -> Split:
        """All in one class, as someone sees them who knows nothing."""
        rows = np.arange(len(self), dtype=np.int32)
        starts = np.array([0, len(rows)] if len(rows) else [0], np.int32)
        return Split(rows, starts, 0, int(self.people == 1), rows[:0])

    def divide(self, split: Split, column: int) -> Split:
        """The classes that someone sees who knows one more column."""
        rows = len(split.order)
        order, singles = np.empty(rows, np.int32), np.empty(rows + 1, np.int32)
        starts = np.empty(rows // 2 + 2, np.int32)
        left, classes, apart, found = _uniques.divided(
            split.order, split.starts, len(split.starts) - 1, self.codes[column], self.lone, self.tally, self.place,
            self.inside, order, starts, singles,
        )  # fmt: skip
        before = split.unique if split.apart else 0  # the only person there is would be counted twice
        return Split(order[:left], starts[: classes + 1], split.apart + apart, before + found, singles[:found])

    def named(self, columns: Iterable[int]) -> tuple[int, ...]:
        """A set of columns as the caller knows them."""
        return tuple(sorted(self.names[c] for c in columns))

    def cost(self, sets: int) -> int:
        """About how many rows are gone through, at most, for so many sets; very few rows cost as much as some."""
        return sets * max(len(self), _LEAST)


def different(columns: Columns, counts: Ints | None = None) -> Rows:
    """The different rows of these columns, in which −1 is a value of its own. ``counts`` says how many people each row
    stands for; one if it is not given."""
    rows = len(columns[0]) if columns else 0 if counts is None else len(counts)
    weight = np.ones(rows, np.int64) if counts is None else counts
    if any(len(column) != rows for column in columns) or len(weight) != rows:
        raise UnveilError("columns and counts must be of the same length")
    if (weight < 0).any():
        raise UnveilError("counts must not be negative")
    some = np.flatnonzero(weight)
    coded = [_from_zero(column[some]) for column in columns]
    values = [int(codes.max(initial=-1)) + 1 for codes in coded]
    names = sorted(range(len(columns)), key=lambda c: (-values[c], c))
    key = packed([coded[c] for c in names], len(some))[0]  # in this order rows of the same class will be neighbours
    _, first, ids = np.unique(key, return_index=True, return_inverse=True)
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, ids, weight[some])
    tally, place = np.zeros(max(values, default=0), np.int32), np.empty(max(values, default=0), np.int32)
    codes, inside = tuple(coded[c][first] for c in names), np.empty(len(first), np.int32)
    people, lone = int(weights.sum()), weights == 1
    return Rows(codes, tuple(names), weights, some[first], rows, people, lone, tally, place, inside)


def _from_zero(codes: Small) -> Small:
    """The same values, numbered from 0 without gaps."""
    most = int(codes.max(initial=-1)) + 2
    if most > 4 * len(codes) + 1_000:
        return np.unique(codes, return_inverse=True)[1].astype(np.int32)
    seen = np.zeros(most, np.bool_)
    seen[codes + 1] = True
    return (np.cumsum(seen, dtype=np.int32) - 1)[codes + 1]


def _along(rows: Rows, paths: Sequence[tuple[int, ...]], run: Run | None) -> Iterator[tuple[int, list[Split]]]:
    """For every path of columns, in some order, its number and the classes after 0, 1, 2 … of them."""
    stack, on = [rows.whole()], list[int]()
    for done, k in enumerate(sorted(range(len(paths)), key=paths.__getitem__)):
        path, same = paths[k], 0
        while same < min(len(on), len(path)) and on[same] == path[same]:
            same += 1
        del stack[same + 1 :], on[same:]
        for column in path[same:]:
            if run is not None:
                run.progress("going through sets of columns", done / len(paths))
                run.check()
            stack.append(rows.divide(stack[-1], column))
            on.append(column)
        yield k, stack


def _measured(rows: Rows, sets: Sequence[tuple[int, ...]], run: Run | None) -> Ints:
    """How many unique people (column 0) and how many classes (column 1) each set of columns makes."""
    found = np.empty((len(sets), 2), np.int64)
    for k, stack in _along(rows, sets, run):
        found[k] = stack[-1].unique, stack[-1].classes
    return found


def _drawn(rows: Rows, rng: np.random.Generator, orders: int, run: Run | None) -> tuple[list[tuple[int, ...]], Ints]:
    """Random orders of the columns, and the same of the first 0, 1, 2 … columns in each."""
    paths = [tuple(rng.permutation(len(rows.codes)).tolist()) for _ in range(orders)]
    found = np.empty((orders, len(rows.codes) + 1, 2), np.int64)
    for k, stack in _along(rows, paths, run):
        found[k] = [(split.unique, split.classes) for split in stack]
    return paths, found


def _orders(rows: Rows, sample: int, left: int) -> int:
    """How many random orders the work that is left allows."""
    if sample < 2:
        raise UnveilError("the sample must be 2 or more")
    return min(sample, max(_FEWEST, left // max(1, rows.cost(len(rows.codes)))))


# ---- the more columns they know --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Band:
    """The least, the mean and the greatest share over sets of as many columns, and a set that has the greatest.

    Where only a sample of the sets was seen, the true least is at most ``low`` and the true greatest at least ``high``,
    and the true mean lies in ``interval`` with the confidence asked for (Maurer and Pontil 2009, Theorem 4: valid for
    any distribution). None where all were seen."""

    low: float
    mean: float
    high: float
    at: tuple[int, ...]
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Known:
    """What someone achieves who knows ``known`` columns: the share of people who are unique, and the average risk of
    re-identification. So many ``sets`` of columns were looked at: all there are if ``all_seen``, random ones that may
    be the same otherwise."""

    known: int
    sets: int
    all_seen: bool
    unique: Band
    risk: Band


def by_known(
    columns: Columns,
    counts: Ints | None,
    rng: np.random.Generator,
    *,
    most: int = _SETS,
    sample: int = _SAMPLE,
    work: int = _WORK,
    confidence: float = 0.95,
    run: Run | None = None,
) -> tuple[Known, ...]:
    """For every number of known columns from none to all, what an attacker achieves with the worst, the average and the
    best choice of columns.

    All sets of as many columns are looked at if they are at most ``most`` and ``work`` (rows gone through) allows.
    Otherwise the first columns of ``sample`` random orders are; one order serves all numbers of columns, so that the
    curve through them is not torn, but each number has its own confidence.

    >>> table, rng = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 0], np.int32)], np.random.default_rng(0)
    >>> [(k.known, k.unique.low, k.unique.mean, k.unique.high, k.unique.at) for k in by_known(table, None, rng)]
    [(0, 0.0, 0.0, 0.0, ()), (1, 0.0, 0.125, 0.25, (1,)), (2, 0.5, 0.5, 0.5, (0, 1))]
    """
    rows, c = different(columns, counts), len(columns)
    seen, used = [], 0
    for m in sorted(range(c + 1), key=lambda m: (comb(c, m), m)):
        cost = rows.cost(comb(c + 1, m))  # so many different beginnings do the sets have
        if comb(c, m) == 1 or (comb(c, m) <= most and used + cost <= work):
            seen.append(m)
            used += cost
    sets = [s for m in seen for s in combinations(range(c), m)]
    values = _measured(rows, sets, run)
    sizes = np.array([len(s) for s in sets])
    found = {}
    for m in seen:
        some = np.flatnonzero(sizes == m)
        found[m] = _known(rows, [sets[k] for k in some], values[some], None)
    if len(found) <= c:
        paths, values = _drawn(rows, rng, _orders(rows, sample, work - used), run)
        ends = values[0, [0, c]] / max(1, rows.people)
        for m in sorted(set(range(c + 1)) - set(found)):
            found[m] = _known(rows, [path[:m] for path in paths], values[:, m], (ends, confidence))
    return tuple(found[m] for m in range(c + 1))


def _known(rows: Rows, sets: Sequence[tuple[int, ...]], values: Ints, drawn: tuple[Floats, float] | None) -> Known:
    bands = []
    for which in range(2):
        counted = values[:, which]
        shares = counted / max(1, rows.people)
        best = min(rows.named(sets[k]) for k in np.flatnonzero(counted == counted.max()).tolist())
        mean = int(counted.sum()) / max(1, len(sets) * rows.people)
        interval = None if drawn is None else _interval(shares, mean, drawn[0][:, which].tolist(), drawn[1])
        bands.append(Band(float(shares.min()), mean, float(shares.max()), best, interval))
    return Known(len(sets[0]), len(sets), drawn is None, *bands)


def _interval(shares: Floats, mean: float, ends: Sequence[float], confidence: float) -> tuple[float, float]:
    """Where the mean lies of which these are independent draws, all between the two ends."""
    draws, term = len(shares), log(4 / (1 - confidence))
    width = sqrt(2 * float(shares.var(ddof=1)) * term / draws) + 7 * (ends[1] - ends[0]) * term / (3 * (draws - 1))
    return max(ends[0], mean - width), min(ends[1], mean + width)


# ---- the columns that are enough -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Identifying:
    """A set of columns, the share of people it singles out, its distinction and its separation."""

    columns: tuple[int, ...]
    unique: float
    distinction: float
    separation: float


@dataclass(frozen=True)
class Discovery:
    """All sets found, smaller ones first, then those that single out more. They are all there are up to ``size``
    columns; ``truncated`` if the work ran out before the size asked for."""

    sets: tuple[Identifying, ...]
    size: int
    truncated: bool


def discover(
    columns: Columns,
    counts: Ints | None,
    share: float,
    most_size: int,
    *,
    work: int = _WORK,
    run: Run | None = None,
) -> Discovery:
    """The smallest sets of columns that single out at least a share of the people: all of at most ``most_size`` columns
    of which no part is enough.

    More columns never single out fewer people. So a set with a part that is enough is not looked at, and neither is one
    without a column that all others together cannot do without.

    >>> table = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32), np.array([0, 1, 2, 2], np.int32)]
    >>> [(s.columns, s.unique) for s in discover(table, None, 1.0, 3).sets]
    [((0, 1), 1.0), ((1, 2), 1.0)]
    """
    if not 0 < share <= 1:
        raise UnveilError("the share of people must be above 0 and at most 1")
    rows, c = different(columns, counts), len(columns)
    most_size = min(most_size, c)
    every = tuple(range(c))
    tried = [every, *(every[:i] + every[i + 1 :] for i in every)]
    enough = _measured(rows, tried, run)[:, 0] / max(1, rows.people) >= share
    if not enough[0]:
        return Discovery((), most_size, False)
    needed = [i for i in every if not enough[i + 1]]
    others = [i for i in every if enough[i + 1]]
    found: list[Identifying] = []
    too_large: set[tuple[int, ...]] = set()
    for size in range(len(needed), most_size + 1):
        work -= rows.cost(comb(len(others), size - len(needed)))
        if work < 0:
            return Discovery(_in_order(found), size - 1, True)
        sets = [tuple(sorted((*needed, *some))) for some in combinations(others, size - len(needed))]
        covered = {s for s in sets if any(s[:i] + s[i + 1 :] in too_large for i in range(size))}
        left = [s for s in sets if s not in covered]
        if not left:
            break
        for k, stack in _along(rows, left, run):
            if stack[-1].unique / rows.people >= share:
                found.append(_identifying(rows, left[k], stack[-1]))
                covered.add(left[k])
        too_large = covered
    return Discovery(_in_order(found), most_size, False)


def _in_order(found: Iterable[Identifying]) -> tuple[Identifying, ...]:
    return tuple(sorted(found, key=lambda one: (len(one.columns), -one.unique, one.columns)))


def _identifying(rows: Rows, path: tuple[int, ...], split: Split) -> Identifying:
    together = _pairs(rows.weights)
    if len(split.order):
        kept = rows.weights[split.order]
        together += _pairs(np.add.reduceat(kept, split.starts[:-1])) - _pairs(kept)
    pairs = rows.people * (rows.people - 1)
    separation = (pairs - together) / pairs if pairs else 1.0
    return Identifying(rows.named(path), split.unique / rows.people, split.classes / rows.people, separation)


def _pairs(sizes: Ints) -> int:
    """How many ordered pairs there are within classes of these sizes; as a whole number, however large."""
    return sum(
        s * (s - 1) * n for s, n in zip(*(x.tolist() for x in np.unique(sizes, return_counts=True)), strict=True)
    )


# ---- what each column contributes ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Shares:
    """What every column contributes to a total, in the order given, and the standard errors: 0 where exact."""

    values: Floats
    errors: Floats
    total: float


@dataclass(frozen=True, eq=False)
class Shapley:
    """The contribution of columns to the share of unique people and to the average risk; exact, or the mean over so
    many random orders of the columns."""

    unique: Shares
    risk: Shares
    exact: bool
    orders: int


def shapley(
    columns: Columns,
    counts: Ints | None,
    rng: np.random.Generator,
    *,
    most: int = _EXACT,
    sample: int = _SAMPLE,
    work: int = _WORK,
    run: Run | None = None,
) -> Shapley:
    """What every column contributes to re-identification, over all sets of columns if there are at most ``most``
    columns and ``work`` (rows gone through) allows, over random orders otherwise.

    >>> table = [np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32), np.zeros(4, np.int32)]
    >>> shapley(table, None, np.random.default_rng(0)).unique.values.tolist()
    [0.5, 0.5, 0.0]
    """
    rows, c = different(columns, counts), len(columns)
    if c <= most and rows.cost(2**c) <= work:
        sets = [tuple(i for i in range(c) if mask >> i & 1) for mask in range(2**c)]
        values = _measured(rows, sets, run)
        return Shapley(_all_sets(rows, values[:, 0]), _all_sets(rows, values[:, 1]), True, 0)
    paths, drawn = _drawn(rows, rng, _orders(rows, sample, work), run)
    unique, risk = (_some_orders(rows, paths, drawn[..., which]) for which in range(2))
    return Shapley(unique, risk, False, len(paths))


def _all_sets(rows: Rows, values: Ints) -> Shares:
    """From the value of every set, which is at the place that has its bits."""
    c = len(rows.codes)
    masks = np.arange(2**c)
    sizes = np.bitwise_count(masks)
    found = np.zeros(c)
    for i, name in enumerate(rows.names):
        without = masks[masks >> i & 1 == 0]
        gains = np.zeros(c, np.int64)
        np.add.at(gains, sizes[without], values[without | 1 << i] - values[without])
        found[name] = sum(int(g) / (c * comb(c - 1, s)) for s, g in enumerate(gains)) / max(1, rows.people)
    return Shares(found, np.zeros(c), int(values[-1] - values[0]) / max(1, rows.people))


def _some_orders(rows: Rows, paths: Sequence[tuple[int, ...]], values: Ints) -> Shares:
    """From the values of the first 0, 1, 2 … columns of some orders."""
    gains = np.empty((len(paths), len(rows.codes)))
    at = np.array(rows.names)[np.array(paths)]
    np.put_along_axis(gains, at, np.diff(values, axis=1) / max(1, rows.people), axis=1)
    errors = gains.std(axis=0, ddof=1) / sqrt(len(paths))
    return Shares(gains.mean(axis=0), errors, int(values[0, -1] - values[0, 0]) / max(1, rows.people))
