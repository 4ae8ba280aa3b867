"""How often would they be found? Counted, for tables with few columns whose values are equal or not.

Of a record r with k attributes, somebody knows m and their values, any m being as likely. The candidates D are the
records that have all of it, r among them. Scoreboard names r with probability 1/|D|; Â, who names a candidate of least
support, does if r is one of these, each being as likely; and r is unique if D = {r}
(:mod:`unveil.linkage.attack.adversaries`). There are C(k, m) sets of attributes to know, so that these probabilities
are sums over all sets s of m columns: the rows that have all of s are grouped by their values there, and the groups are
the D. Without nulls, the success of Scoreboard is the number of groups over that of rows, on average over the sets.

**How it is computed.** Sets are gone through depth first: the groups of s ∪ {a}, for a column a after those of s, are
those of s divided by a. Each group is taken through all larger sets before the next one, so that a small group is
looked at while it is at hand. Most of the work need not be done:

- Rows that are equal are one *entry* with a weight.
- An entry that is alone in its group remains so in all larger sets, and is dropped. Only sets in which it is not alone
  are counted; it is alone in all others of C(k, m).
- Two entries are together in the larger sets whose other columns are among the q in which they agree: C(q, j) of these
  add j columns.
- A group needs to tell apart only what differs in the columns still to come. If that is little, entries that agree in
  all of these are merged, and what is found of them holds for each.
- The columns that distinguish best come first: half of all sets have the first one, a quarter not the first but the
  second. Those that come last have few values, and little that differs.
- Groups of up to 64 are sets of bits, which are divided by the and of two words.

What is added up of a record does not depend on the order of the rows: to the last bit it is the same in any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf

import numpy as np
import numpy.typing as npt

from unveil.errors import UnveilError
from unveil.grouping import packed
from unveil.linkage.attack import _exact
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.slices import pieces

__all__ = ["Exact", "cost", "countable", "exactly"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

_WORK = 10_000_000  # entries divided between two looks at the clock: a tenth of a second
_FEW = 64  # entries in a group that is a set of bits
_WORTH = 4  # divisions of a group from which on it pays to merge entries first
_IDS = 4  # numbers of patterns for each entry, at most
_MOST = 1e300  # sets


@dataclass(frozen=True, eq=False)
class Exact:
    """What is found of each row when ``known`` random things are known: the probability that Â names that ``row`` and
    that ``scoreboard`` does, that nobody else fits (``unique``), and how many fit on average (``size``, itself
    included). NaN where there are fewer things to know."""

    known: int
    row: Floats
    scoreboard: Floats
    unique: Floats
    size: Floats


def countable(records: Records) -> bool:
    """Whether values are equal or not alike at all, for every attribute."""
    return all(s.kind == "equal" for s in records.similarities)


def cost(records: Records, ms: Sequence[int]) -> float:
    """How many rows would be divided for all sets of ``ms`` columns if each row had to be looked at in every set. The
    work of :func:`exactly` is no more than that, and a fraction of it for most tables.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_codes
    >>> from unveil.release.codes import encode
    >>> table = {name: encode(pa.chunked_array([[0, 1, 2]])) for name in "abcd"}
    >>> cost(records_of_codes(table), [2])  # for a, ab, ac, ad, b, bc, bd, c, cd
    27.0
    """
    known = [m for m in _rising(ms) if m <= records.support.max(initial=0)]
    sets = 0
    for j in range(1, max(known, default=0) + 1):
        missing = min(m for m in known if m >= j) - j
        sets += comb(records.c - missing, j)
        if sets > _MOST:
            return inf
    return float(records.n) * sets


def exactly(records: Records, ms: Sequence[int], run: Run | None = None) -> tuple[Exact, ...]:
    """What is found of each row by those who know ``ms`` things, in the order of these numbers.

    Ann and Bob saw the same film, Ann one more:

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_ratings
    >>> from unveil.release.codes import encode
    >>> user, film = ["ann", "ann", "bob"], ["Alien", "Brazil", "Brazil"]
    >>> films = records_of_ratings(*(encode(pa.chunked_array([column])) for column in (user, film)))
    >>> one, two = exactly(films, [1, 2])
    >>> one.row.tolist(), one.scoreboard.tolist(), one.unique.tolist(), one.size.tolist()
    ([0.5, 1.0], [0.75, 0.5], [0.5, 0.0], [1.5, 2.0])
    >>> two.row.tolist()
    [1.0, nan]
    """
    if not countable(records):
        raise UnveilError("what is found can be counted only where values are equal or not alike at all")
    run, known = run or Run(), _rising(ms)
    most = int(records.support.max(initial=0))
    ways = _ways(records.c, min(known[-1], most))
    sizes = [m for m in known if m <= most]
    entries, kind, support = _entries(records, run)
    even = len(support) == 0 or support[0] == support[-1]
    sums = _walked(entries, None if even else np.tile(support, 2), len(support), sizes, ways, run)
    found = []
    for m in known:
        out = np.full((4, records.n), np.nan)
        if m <= most:
            part = sums[sizes.index(m)]
            for first, last in pieces(records.n, run):
                _exact.counted(m, kind, entries.weight, support, ways[:, m], even, part, first, last, out)
        found.append(Exact(m, *out))
    return tuple(found)


def _rising(ms: Sequence[int]) -> list[int]:
    known = sorted(set(ms))
    if not known or known[0] < 1:
        raise UnveilError("numbers of things known must be 1 or more")
    return known


def _ways(c: int, most: int) -> Floats:
    """C(q, m) for q up to c and m up to ``most``, one row for each q."""
    ways = np.zeros((c + 1, most + 1))
    ways[:, 0] = 1
    with np.errstate(over="ignore"):
        for q in range(1, c + 1):
            ways[q, 1:] = ways[q - 1, 1:] + ways[q - 1, :-1]
    if not np.isfinite(ways).all():
        raise UnveilError("there are too many sets of things to know to count them")
    return ways


# ---- entries ---------------------------------------------------------------------------------------------------------


def _entries(records: Records, run: Run) -> tuple[_exact.Entries, Ints, Small]:
    """The different records by rising support, which of them each row is, and how many attributes they have."""
    columns = _columns(records, run)
    key, _ = packed([records.support.astype(np.int32), *columns], records.n)
    run.check()
    order = np.argsort(key)
    run.check()
    fresh = np.diff(key[order], prepend=-1) != 0
    first, kind = order[fresh], np.empty(records.n, np.int64)
    kind[order] = np.cumsum(fresh) - 1
    count = len(first)
    shared = [_shared(column[first]) for column in columns]
    used = [codes for codes in shared if codes.any()]
    codes = np.empty((2 * count, len(used)), np.uint32)
    for a, column in enumerate(used):
        codes[:count, a] = column
    support = records.support[first].astype(np.int32)
    weight, origin = np.empty(2 * count, np.int64), np.empty(2 * count, np.int32)
    weight[:count], origin[:count] = np.bincount(kind, minlength=count) + _exact.ONE, np.arange(count)
    suffix, patterns = _suffixes(codes[:count], support, run)
    return _exact.Entries(codes, weight, origin, suffix, patterns), kind, support


def _columns(records: Records, run: Run) -> list[Small]:
    """The codes of every attribute, −1 where null: first of those in which the fewest pairs of rows agree."""
    columns = np.full((records.c, records.n), -1, np.int32)
    for first, last in pieces(records.indptr, run):
        _exact.spread(records.indptr, records.attribute, records.value, first, last, columns)
    pairs = []
    for column in columns:
        run.check()
        pairs.append(float((np.bincount(column + 1)[1:].astype(np.float64) ** 2).sum()))
    return [columns[a] for a in np.argsort(pairs, kind="stable")]


def _shared(column: Small) -> Ints:
    """Codes from 1 for the values that several have, and 0 for others and nulls."""
    count = np.bincount(column + 1, minlength=1)
    several = count > 1
    several[0] = False
    return np.asarray(np.where(several, np.cumsum(several), 0)[column + 1])


def _suffixes(codes: npt.NDArray[np.generic], support: Small, run: Run) -> tuple[Small, Ints]:
    """The pattern of every entry from every column on, and how many there are; only where they are few."""
    count, c = codes.shape
    suffix, patterns = np.empty((c, count), np.int32), np.full(c, np.iinfo(np.int64).max // 2)
    after, width = support, int(support.max(initial=0)) + 1
    for a in reversed(range(c)):
        room = (int(codes[:, a].max()) + 1) * width
        if room > _IDS * count or width > count:
            break
        ids, found = np.full(room, -1, np.int32), 0
        for first, last in pieces(count, run):
            found = _exact.numbered(codes, a, after, width, first, last, found, ids, suffix[a])
        after, width, patterns[a] = suffix[a], found, found
    return suffix, patterns


# ---- sets ------------------------------------------------------------------------------------------------------------


def _walked(
    entries: _exact.Entries, support: Small | None, count: int, sizes: Sequence[int], ways: Floats, run: Run
) -> Floats:
    """What is found of the entries, for every size."""
    c, width = entries.codes.shape[1], 3 if support is None else 4
    sums = np.zeros((len(sizes), 2 * count, width))
    plan = _plan([m for m in sizes if m <= c], c, ways)
    if not c or not len(plan.steps) or plan.steps[0, 0] == 0:
        return sums
    depth = len(plan.wanted) - 1
    room, stack = _room(entries, count, depth, width), _stack(count, depth, width)
    everyone = np.arange(2 * count, dtype=np.int32)
    while stack.at[0] >= 0:
        run.check()
        _exact.walked(entries, support, plan, room, stack, everyone, _WORK, sums)
        run.progress("counting", _done(plan, stack))
    return sums


def _plan(sizes: Sequence[int], c: int, ways: Floats) -> _exact.Plan:
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
    return _exact.Plan(wanted, deeper, steps, ways, _FEW, _WORTH)


def _room(entries: _exact.Entries, count: int, depth: int, width: int) -> _exact.Room:
    codes, c = int(entries.codes[:count].max()) + 1, entries.codes.shape[1]
    few = entries.patterns[entries.patterns <= count]
    return _exact.Room(
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


def _stack(count: int, depth: int, width: int) -> _exact.Stack:
    """At the group of all."""
    stack = _exact.Stack(
        at=np.array([0, count]),
        frame=np.zeros((depth, 9), np.int64),
        rows=np.empty((depth, count), np.int32),
        ends=np.empty((depth, count // 2 + 1), np.int32),
        merged=np.empty((depth, count), np.int32),
        part=np.empty((depth, count, width)),
    )
    stack.frame[0, _exact.HIGH], stack.frame[0, _exact.BASE] = count, -1
    stack.rows[0], stack.part[0] = np.arange(count), 0
    return stack


def _done(plan: _exact.Plan, stack: _exact.Stack) -> float:
    """The share of sets that were looked at, those with the column at hand in proportion to the groups."""
    if stack.at[0] < 0:
        return 1.0
    steps, a, child = plan.steps[0], int(stack.frame[0, _exact.NEXT]), int(stack.frame[0, _exact.CHILD])
    left = steps[a]
    if child < stack.frame[0, _exact.CHILDREN]:
        rows = stack.ends[0, child - 1] / stack.rows.shape[1] if child else 0.0
        left += (steps[a - 1] - steps[a]) * (1 - rows)
    return float(1 - left / steps[0])
