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
- A group only needs to distinguish entries that differ in the columns still to come. If those are few, entries that
  agree in all of them are merged, and the result holds for each.
- The most distinguishing columns come first: half of all sets contain the first column, a quarter the second but not
  the first. The last columns have few values, so little differs there.
- Groups of up to 64 entries are bit sets, divided by a bitwise *and*.

The sums for a record are identical to the last bit for any order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf

import numpy as np
import numpy.typing as npt

from unveil.arrays import Floats, Ints, Small
from unveil.errors import UnveilError
from unveil.grouping import pack_columns
from unveil.linkage.attack import _exact_success
from unveil.linkage.attack.auxiliary import check_known_counts
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.slices import chunks

__all__ = ["ExactSuccess", "count_success", "counting_cost", "is_countable"]


_SLICE_ENTRIES = 10_000_000  # entries divided between two checks for interruption: a tenth of a second
_MAX_BITSET_GROUP = 64  # entries at most in a group that is a bit set
_MERGE_WORTH = 4  # divisions of a group from which merging entries first pays off
_IDS_PER_ENTRY = 4  # pattern numbers per entry, at most
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
    sizes = [m for m in known if m <= most]
    entries, kind, support = _distinct_entries(records, run)
    even = len(support) == 0 or support[0] == support[-1]
    sums = _walk_all_sets(entries, None if even else np.tile(support, 2), len(support), sizes, ways, run)
    found = []
    for m in known:
        out = np.full((4, records.n), np.nan)
        if m <= most:
            part = sums[sizes.index(m)]
            for first, last in chunks(records.n, run):
                _exact_success.fill_probabilities(
                    m, kind, entries.weight, support, ways[:, m], even, part, first, last, out
                )
        found.append(ExactSuccess(m, *out))
    return tuple(found)


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


def _distinct_entries(records: Records, run: Run) -> tuple[_exact_success.Entries, Ints, Small]:
    """The distinct records by rising support, the entry of each row, and the support of each entry."""
    columns = _sorted_columns(records, run)
    key, _ = pack_columns([records.support.astype(np.int32), *columns], records.n)
    run.check()
    order = np.argsort(key)
    run.check()
    fresh = np.diff(key[order], prepend=-1) != 0
    first, kind = order[fresh], np.empty(records.n, np.int64)
    kind[order] = np.cumsum(fresh) - 1
    count = len(first)
    shared = [_shared_codes(column[first]) for column in columns]
    used = [codes for codes in shared if codes.any()]
    codes = np.empty((2 * count, len(used)), np.uint32)
    for a, column in enumerate(used):
        codes[:count, a] = column
    support = records.support[first].astype(np.int32)
    weight, origin = np.empty(2 * count, np.int64), np.empty(2 * count, np.int32)
    weight[:count], origin[:count] = np.bincount(kind, minlength=count) + _exact_success.ONE_ENTRY, np.arange(count)
    suffix, patterns = _suffix_patterns(codes[:count], support, run)
    return _exact_success.Entries(codes, weight, origin, suffix, patterns), kind, support


def _sorted_columns(records: Records, run: Run) -> list[Small]:
    """The codes of every attribute, −1 where null; attributes in which the fewest pairs of rows agree come first."""
    columns = np.full((records.c, records.n), -1, np.int32)
    for first, last in chunks(records.indptr, run):
        _exact_success.fill_columns(records.indptr, records.attribute, records.value, first, last, columns)
    pairs = []
    for column in columns:
        run.check()
        pairs.append(float((np.bincount(column + 1)[1:].astype(np.float64) ** 2).sum()))
    return [columns[a] for a in np.argsort(pairs, kind="stable")]


def _shared_codes(column: Small) -> Ints:
    """Codes from 1 for values that several entries have, 0 for other values and nulls."""
    count = np.bincount(column + 1, minlength=1)
    several = count > 1
    several[0] = False
    return np.asarray(np.where(several, np.cumsum(several), 0)[column + 1])


def _suffix_patterns(codes: npt.NDArray[np.generic], support: Small, run: Run) -> tuple[Small, Ints]:
    """The pattern of every entry from every column on, and the number of patterns; only where they are few."""
    count, c = codes.shape
    suffix, patterns = np.empty((c, count), np.int32), np.full(c, np.iinfo(np.int64).max // 2)
    after, width = support, int(support.max(initial=0)) + 1
    for a in reversed(range(c)):
        room = (int(codes[:, a].max()) + 1) * width
        if room > _IDS_PER_ENTRY * count or width > count:
            break
        ids, found = np.full(room, -1, np.int32), 0
        for first, last in chunks(count, run):
            found = _exact_success.number_patterns(codes, a, after, width, first, last, found, ids, suffix[a])
        after, width, patterns[a] = suffix[a], found, found
    return suffix, patterns


# ---- sets ------------------------------------------------------------------------------------------------------------


def _walk_all_sets(
    entries: _exact_success.Entries, support: Small | None, count: int, sizes: Sequence[int], ways: Floats, run: Run
) -> Floats:
    """The sums for all entries, by size of the set."""
    c, width = entries.codes.shape[1], 3 if support is None else 4
    sums = np.zeros((len(sizes), 2 * count, width))
    plan = _set_plan([m for m in sizes if m <= c], c, ways)
    if not c or not len(plan.steps) or plan.steps[0, 0] == 0:
        return sums
    depth = len(plan.wanted) - 1
    room, stack = _make_walk_space(entries, count, depth, width), _start_stack(count, depth, width)
    everyone = np.arange(2 * count, dtype=np.int32)
    while stack.at[0] >= 0:
        run.check()
        _exact_success.walk_sets(entries, support, plan, room, stack, everyone, _SLICE_ENTRIES, sums)
        run.progress("counting", _walk_progress(plan, stack))
    return sums


def _set_plan(sizes: Sequence[int], c: int, ways: Floats) -> _exact_success.SetPlan:
    most = max(sizes, default=0)
    wanted, deeper = np.full(most + 2, -1), np.zeros((most + 2, c), np.bool_)
    wanted[list(sizes)] = np.arange(len(sizes))
    steps = np.zeros((most + 2, c + 1))
    for j in reversed(range(most)):
        more = min((m for m in sizes if m > j + 1), default=c + j + 2) - j - 1
        deeper[j + 1, : max(0, c - more)] = True
        for a in reversed(range(c)):
            below = steps[j + 1, a + 1] if deeper[j + 1, a] else 0
            steps[j, a] = steps[j, a + 1] + (1 + below if deeper[j + 1, a] or wanted[j + 1] >= 0 else 0)
    return _exact_success.SetPlan(wanted, deeper, steps, ways, _MAX_BITSET_GROUP, _MERGE_WORTH)


def _make_walk_space(entries: _exact_success.Entries, count: int, depth: int, width: int) -> _exact_success.WalkSpace:
    codes, c = int(entries.codes[:count].max()) + 1, entries.codes.shape[1]
    few = entries.patterns[entries.patterns <= count]
    return _exact_success.WalkSpace(
        seen=np.empty(count, np.uint32),
        touched=np.empty(codes + 1, np.uint32),
        tally=np.zeros(codes, np.int64),
        least=np.empty(codes, np.int32),
        fewest=np.empty(codes, np.int64),
        start=np.empty(codes, np.int32),
        share=np.empty((codes, width)),
        slot=np.full(few.max(initial=0), -1, np.int32),
        mark=np.zeros(codes, np.uint64),
        alike=np.empty((c, 64), np.uint64),
        several=np.empty(c, np.uint64),
        fitting=np.empty(depth, np.uint64),
        todo=np.empty(depth, np.uint64),
        column=np.empty(depth, np.int64),
    )


def _start_stack(count: int, depth: int, width: int) -> _exact_success.WalkStack:
    """A stack that starts with the group of all entries."""
    stack = _exact_success.WalkStack(
        at=np.array([0, count]),
        frame=np.zeros((depth, 9), np.int64),
        rows=np.empty((depth, count), np.int32),
        ends=np.empty((depth, count // 2 + 1), np.int32),
        merged=np.empty((depth, count), np.int32),
        part=np.empty((depth, count, width)),
    )
    stack.frame[0, _exact_success.HIGH], stack.frame[0, _exact_success.BASE] = count, -1
    stack.rows[0], stack.part[0] = np.arange(count), 0
    return stack


def _walk_progress(plan: _exact_success.SetPlan, stack: _exact_success.WalkStack) -> float:
    """The share of sets visited so far; sets with the current column count in proportion to the groups visited."""
    if stack.at[0] < 0:
        return 1.0
    steps, a, child = plan.steps[0], int(stack.frame[0, _exact_success.NEXT]), int(stack.frame[0, _exact_success.CHILD])
    left = steps[a]
    if child < stack.frame[0, _exact_success.CHILDREN]:
        rows = stack.ends[0, child - 1] / stack.rows.shape[1] if child else 0.0
        left += (steps[a - 1] - steps[a]) * (1 - rows)
    return float(1 - left / steps[0])
