"""How often would people be found? Counted exactly, for tables with few columns whose values are equal or different.

An attacker knows m of the k attributes of record r, every set of m being equally likely. The candidates D are the
records that have all of it, including r. Scoreboard names r with probability 1/|D|. Â draws among the candidates of
least support, so it may name r only if r is one of them. r is unique if D = {r}
(:mod:`unveil.linkage.attack.adversaries`). There are C(k, m) sets to know, so these probabilities are sums over all
sets s of m columns: group the rows that have all of s by their values there, and the groups are the sets D. Without
nulls, the success of Scoreboard is the number of groups divided by the number of rows, averaged over the sets.

**How it is computed.** Sets are visited depth first: the groups of s ∪ {a}, for a column a after those of s, are those
of s divided by a. Each group goes through all larger sets before the next group does, while it is in the cache. Most of
the work can be avoided:

- Equal rows are one *entry* with a weight.
- An entry that is alone in its group stays alone in all larger sets and is dropped. Only the sets in which it is not
  alone are counted; in the rest of the C(k, m) sets it is alone.
- Two entries are together in the larger sets whose further columns are among the q in which they agree: C(q, j) sets
  with j more columns.
- Sets that begin with column a need not distinguish entries that agree from a on. Where that leaves much fewer of them,
  such entries are merged, and the result holds for each.
- The most distinguishing columns come first: half of all sets contain the first column, a quarter the second but not
  the first. The last columns have few values, so many entries are merged there.
- Groups of up to 64 entries are bit sets, divided by a bitwise *and*.

The sums for a record are identical to the last bit for any order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from unveil.arrays import Floats, Int32s, Ints
from unveil.errors import UnveilError
from unveil.grouping import pack_columns
from unveil.linkage.attack import _exact_success
from unveil.linkage.attack.auxiliary import check_known_counts
from unveil.linkage.records import Records
from unveil.run import Run

__all__ = ["ExactSuccess", "count_success", "counting_cost", "is_countable"]


_SLICE_ENTRIES = 10_000_000  # entries divided between two checks for interruption: a tenth of a second
_MAX_BITSET_GROUP = 64  # entries at most in a group that is a bit set
_MERGE_SHARE = 0.7  # of the entries that may remain for merging to pay off
_IDS_PER_ENTRY = 32  # numbers for patterns of columns per entry, at most
_MAX_SETS = 1e300  # sets that can be counted


@dataclass(frozen=True, eq=False)
class ExactSuccess:
    """The result for each row if ``known`` random things are known: the probability that Â names the ``row`` and that
    ``scoreboard`` does, that nobody else fits (``unique``), and the mean number of candidates (``size``, itself
    included). NaN for rows with fewer things."""

    known: int
    row: Floats
    scoreboard: Floats
    unique: Floats
    size: Floats


def is_countable(records: Records) -> bool:
    """Whether every attribute is compared for equality."""
    return all(s.kind == "equal" for s in records.similarities)


def counting_cost(records: Records, ms: Sequence[int]) -> float:
    """How many rows would be divided, over all sets of ``ms`` columns, if every row had to be examined in every set.
    :func:`count_success` needs at most that much work, and much less for most tables.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_from_codes
    >>> from unveil.release.codes import encode_column
    >>> table = {name: encode_column(pa.chunked_array([[0, 1, 2]])) for name in "abcd"}
    >>> counting_cost(records_from_codes(table), [2])  # for a, ab, ac, ad, b, bc, bd, c, cd
    27.0
    """
    known = [m for m in check_known_counts(ms) if m <= records.support.max(initial=0)]
    sets = 0
    for j in range(1, max(known, default=0) + 1):
        missing = min(m for m in known if m >= j) - j
        sets += comb(records.c - missing, j)
        if sets > _MAX_SETS:
            return inf
    return float(records.n) * sets


def count_success(records: Records, ms: Sequence[int], run: Run | None = None) -> tuple[ExactSuccess, ...]:
    """The result for each row if ``ms`` things are known, one for each of these numbers.

    Ann and Bob saw the same film, and Ann saw one more:

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_from_ratings
    >>> from unveil.release.codes import encode_column
    >>> user, film = ["ann", "ann", "bob"], ["Alien", "Brazil", "Brazil"]
    >>> films = records_from_ratings(*(encode_column(pa.chunked_array([column])) for column in (user, film)))
    >>> one, two = count_success(films, [1, 2])
    >>> one.row.tolist(), one.scoreboard.tolist(), one.unique.tolist(), one.size.tolist()
    ([0.5, 1.0], [0.75, 0.5], [0.5, 0.0], [1.5, 2.0])
    >>> two.row.tolist()
    [1.0, nan]
    """
    if not is_countable(records):
        raise UnveilError("success can be counted only if all values are compared for equality")
    run, known = run or Run(), check_known_counts(ms)
    most = int(records.support.max(initial=0))
    ways = _binomial_table(records.c, min(known[-1], most))
    entries, kind = _distinct_entries(records, run)
    sizes = [m for m in known if m <= most]
    sums = _walk_all_sets(entries, sizes, ways, run)
    found = []
    for m in known:
        run.check()
        if m <= most:
            row = np.take(_entry_probabilities(entries, m, ways, sums[sizes.index(m)]), kind, axis=1)
        else:
            row = np.full((4, records.n), np.nan)
        found.append(ExactSuccess(m, *row))
    return tuple(found)


def _entry_probabilities(entries: _Entries, m: int, ways: Floats, sums: Floats) -> Floats:
    """The result for each entry if m things are known, as :class:`ExactSuccess` lists it."""
    weight, sets = entries.weight, ways[entries.support, m]
    alone = sets - sums[:, 2]
    with np.errstate(invalid="ignore"):
        scoreboard = (alone / weight + sums[:, 0]) / sets
        best = scoreboard if entries.even else (alone / weight + sums[:, 3]) / sets
        unique, size = np.where(weight == 1, alone / sets, 0.0), (alone * weight + sums[:, 1]) / sets
    found = np.stack([best, scoreboard, unique, size])
    found[:, entries.support < m] = np.nan
    return found


def _binomial_table(c: int, most: int) -> Floats:
    """C(q, m) for q up to c and m up to ``most``, one row per q."""
    ways = np.zeros((c + 1, most + 1))
    ways[:, 0] = 1
    with np.errstate(over="ignore"):
        for q in range(1, c + 1):
            ways[q, 1:] = ways[q - 1, 1:] + ways[q - 1, :-1]
    if not np.isfinite(ways).all():
        raise UnveilError("there are too many sets of known things to count")
    return ways


# ---- entries ---------------------------------------------------------------------------------------------------------


class _Entries(NamedTuple):
    """Records that are alike: their ``codes`` by column, the number of rows they stand for (``weight``) and the number
    of their attributes (``support``, rising; ``even`` if all are equal). Code 0 is a value that no other entry has, or
    none."""

    codes: npt.NDArray[np.uint32]
    weight: Ints
    support: Int32s
    even: bool


def _distinct_entries(records: Records, run: Run) -> tuple[_Entries, Ints]:
    """The distinct records by rising support, and the entry of each row."""
    columns = _sorted_columns(records, run)
    key, _ = pack_columns([records.support.astype(np.int32), *columns], records.n)
    run.check()
    order = np.argsort(key)
    run.check()
    fresh = np.diff(key[order], prepend=-1) != 0
    first, kind = order[fresh], np.empty(records.n, np.int64)
    kind[order] = np.cumsum(fresh) - 1
    shared = [_shared_codes(column[first]) for column in columns]
    used = [codes for codes in shared if codes.any()]
    codes = np.empty((len(first), len(used)), np.uint32)
    for a, column in enumerate(used):
        codes[:, a] = column
    support = records.support[first].astype(np.int32)
    even = len(support) == 0 or support[0] == support[-1]
    return _Entries(codes, np.bincount(kind, minlength=len(first)), support, bool(even)), kind


def _sorted_columns(records: Records, run: Run) -> list[Int32s]:
    """The codes of every attribute, −1 where null; attributes in which the fewest pairs of rows agree come first."""
    places = records.indptr.astype(np.int32 if len(records.value) < 1 << 31 else np.int64)
    given = csr_array((records.value + 1, records.attribute, places), shape=(records.n, records.c))
    columns = given.toarray(order="F").T - 1
    pairs = []
    for column in columns:
        run.check()
        pairs.append(float((np.bincount(column + 1)[1:].astype(np.float64) ** 2).sum()))
    return [columns[a] for a in np.argsort(pairs, kind="stable")]


def _shared_codes(column: Int32s) -> Ints:
    """Codes from 1 for values that several entries have, 0 for other values and nulls."""
    count = np.bincount(column + 1, minlength=1)
    several = count > 1
    several[0] = False
    return np.asarray(np.where(several, np.cumsum(several), 0)[column + 1])


class _Level(NamedTuple):
    """The entries that differ in the columns from ``first`` on, for the sets that begin with a column from ``first`` to
    ``last`` − 1. Each is part of the entry ``within`` of the level before, for the sets that begin later."""

    entries: _Entries
    within: Int32s
    first: int
    last: int


def _merge_levels(entries: _Entries, run: Run) -> list[_Level]:
    """One level for each column, from the last to the first, while merging entries pays off; then one for the rest."""
    codes, weight, support, even = entries
    count, last = codes.shape
    levels, pattern, patterns = list[_Level](), support, int(support.max(initial=0)) + 1
    while last:
        run.check()
        base = int(codes[:, last - 1].max()) + 1
        if patterns * base > _IDS_PER_ENTRY * count:
            break
        key, present = pattern * np.int64(base) + codes[:, last - 1], np.zeros(patterns * base, np.bool_)
        present[key] = True
        found = np.flatnonzero(present)  # in the order of support
        if len(found) > _MERGE_SHARE * count:
            break
        number, one = np.empty(len(present), np.int32), np.empty(len(found), np.int64)
        number[found] = np.arange(len(found))
        within, pattern, patterns = pattern, number[key], len(found)
        one[pattern] = np.arange(count)
        merged = _Entries(codes[one], np.bincount(pattern, weight).astype(np.int64), support[one], even)
        levels.append(_Level(merged, within[one], last - 1, last))
        last -= 1
    return [*levels, _Level(entries, pattern, 0, last)]


# ---- sets ------------------------------------------------------------------------------------------------------------


class _SetPlan(NamedTuple):
    """Sets of m columns are number ``size_index[m]`` of the requested sizes, −1 if they were not requested; they are
    extended by columns before ``stop[m]``. ``ways[q, m]`` is C(q, m)."""

    size_index: Ints
    stop: Ints
    ways: Floats


def _set_plan(sizes: Sequence[int], c: int, ways: Floats) -> _SetPlan:
    most = max(sizes, default=0)
    size_index, stop = np.full(most + 1, -1), np.zeros(most + 1, np.int64)
    size_index[list(sizes)] = np.arange(len(sizes))
    for m in range(most):
        stop[m] = c + 1 - min(size - m for size in sizes if size > m)
    return _SetPlan(size_index, stop, ways)


def _walk_all_sets(entries: _Entries, sizes: Sequence[int], ways: Floats, run: Run) -> Floats:
    """The sums for all entries, by size of the set."""
    c, width = entries.codes.shape[1], 3 if entries.even else 4
    plan = _set_plan([m for m in sizes if m <= c], c, ways)
    before, sums = None, np.zeros((len(sizes), len(entries.weight), width))
    for level in _merge_levels(entries, run) if len(plan.stop) > 1 else ():
        if before:
            sums = _distribute_sums(before, level.within, sizes, ways, sums)
        else:
            sums = np.zeros((len(sizes), len(level.entries.weight), width))
        _walk_level(level, plan, sums, run)
        before = level
    return sums


def _distribute_sums(level: _Level, within: Int32s, sizes: Sequence[int], ways: Floats, sums: Floats) -> Floats:
    """The sums for the entries of the next level, which are ``within`` those of this one. If several are within the
    same, they are candidates of each other in every set, and the only ones in the sets not counted yet."""
    codes, weight = level.entries.codes, level.entries.weight
    several = np.bincount(within, minlength=len(weight)) > 1
    columns = np.count_nonzero(codes[:, level.first :], axis=1)
    for m, part in zip(sizes, sums, strict=True):
        alone = np.where(several, ways[columns, m] - part[:, 2], 0)
        part += np.stack([alone / weight, alone * weight, alone, alone / weight], axis=1)[:, : part.shape[1]]
    return np.take(sums, within, axis=1)


def _walk_level(level: _Level, plan: _SetPlan, sums: Floats, run: Run) -> None:
    """Add what is found in the sets of a level."""
    codes, weight, support, even = level.entries
    count, most = len(weight), len(plan.size_index) - 1
    stop = np.append(min(plan.stop[0], level.last), plan.stop[1:])
    weight = weight + _exact_success.ONE_ENTRY
    tasks, waiting = np.zeros((most * (count // max(3, _MAX_BITSET_GROUP + 1) + 1), 4), np.int64), 1
    tasks[0] = 0, count, 0, level.first
    rows = np.empty(most * count, np.int32)
    rows[:count] = np.arange(count)
    space = _make_walk_space(level.entries, most)
    while waiting:
        run.check()
        waiting = _exact_success.walk_sets(
            codes, weight, None if even else support, *plan._replace(stop=stop), _MAX_BITSET_GROUP, *space, rows, tasks,
            waiting, _SLICE_ENTRIES, sums,
        )  # fmt: skip
        run.progress("counting", _walk_progress(level, plan, tasks[:waiting]))


def _make_walk_space(entries: _Entries, most: int) -> tuple[object, ...]:
    """Working arrays, in the order of :func:`_exact_success.walk_sets`, from ``seen`` to ``column``."""
    codes, (count, c) = int(entries.codes.max()) + 1, entries.codes.shape
    return (
        np.empty(count, np.uint32),
        np.empty(codes + 1, np.uint32),
        np.zeros(codes, np.int64),
        np.empty(codes, np.int32),
        np.empty((codes, 3 if entries.even else 4)),
        None if entries.even else np.empty(codes, np.int32),
        None if entries.even else np.empty(codes, np.int64),
        np.zeros(codes, np.uint64),
        np.empty((c, 65), np.uint64),
        *np.empty((2, most + 1), np.uint64),
        np.empty(most + 1, np.int64),
    )


def _walk_progress(level: _Level, plan: _SetPlan, tasks: Ints) -> float:
    """The share of sets visited so far; sets that begin with the current column count in proportion to the entries
    visited."""
    c, count = level.entries.codes.shape[1], len(level.entries.weight)
    sets = plan.ways[c::-1, np.flatnonzero(plan.size_index >= 0)].sum(axis=1)  # that begin with column a or later
    done = sets[level.last] + sets[level.first]
    if len(tasks):
        a, groups = tasks[0, 3], tasks[tasks[:, 2] == 1, 1]
        left = groups[-1] / count - 1 if len(groups) else 0.0
        done -= sets[a] + (sets[a - 1] - sets[a]) * left
    else:
        done -= sets[level.last]
    return float(done / sets[0])
