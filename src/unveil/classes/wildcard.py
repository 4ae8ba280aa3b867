"""Who may be the same person? Missing values that match anything.

A missing value could be any value. Two people *may be the same* if, in every quasi-identifier, their values agree or at
least one is missing. The relation is reflexive and symmetric but not transitive: a person of 30 may be the same as one
of unknown age, who may be the same as a person of 40. So people do not fall into classes. Each has a *neighbourhood*,
all those who may be the same, and neighbourhoods overlap. With

    F(r) = the number of people who may be the same as r, including r,

the risk is 1/F(r). This is the sample frequency of sdcMicro's ``freqCalc`` (Templ, *Statistical disclosure control for
microdata using the R-package sdcMicro*, 2008) and ARX's wildcard risk. Both make exceptions for rows in which
everything is missing; here such a row may be anyone.

**What it does not say.** Let t be the true values of r, and C the people whom t does not rule out. Then

    the people with the same row, gaps included ⊆ C ⊆ the neighbourhood of r.

An attacker who knows t finds r with probability 1/|C|, which may be far above 1/F(r). Reading missing as a value of its
own never understates the risk. Of the rows (30, male), (40, male) and (?, male), the last has F = 3, but an attacker
who knows that this person is 50 rules the others out. The first has F = 2, but an attacker who knows that the third
person is 50 is certain of the first as well. And F grows with every suppressed value, whether or not an attacker knows
it: one more empty row adds 1 to everyone's F.

**Computation.** Only distinct rows, the *profiles*, matter. Profiles that miss the same columns share a *pattern*, and
two patterns know the same columns in common for all their profiles. The profiles of one are put into a hash table by
these columns and those of the other are looked up, in time proportional to both. Patterns with few profiles are
compared with everyone instead, with vector instructions (``_wildcard``). All results are sums of integers: the order of
rows and columns changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unveil.arrays import Int32s, Ints
from unveil.classes.diversity import SensitiveClasses, group_sensitive_values
from unveil.errors import UnveilError
from unveil.grouping import pack_columns
from unveil.run import Run

__all__ = ["Neighbourhoods", "find_neighbourhoods", "neighbourhood_classes"]

_WORD_BITS = 63  # bits used per word
_FEW_PROFILES = 20  # up to this many profiles per pattern, comparing is faster than a table
_LOOKUPS_PER_SLICE = 10_000_000  # between two progress checks; 16 comparisons take as long as one look-up
_MOST_HITS = 1 << 21  # buffer size for cells that profiles may match, and for pairs of profile and value
_PROFILES_PER_TABLE = 1 << 18  # profiles put into a table at a time
_MOST_PAIRS = 1 << 27  # the most pairs in all: with 12 bytes each, 1.6 GB


@dataclass(frozen=True, eq=False)
class GapPatterns:
    """Profiles by what they miss: ``order[starts[p] : starts[p + 1]]`` are those of pattern p; patterns with most
    profiles come first. For the i-th profile in this order, ``bits[:, i]`` holds its codes and ``known[:, i]`` has all
    bits of the columns it does not miss set."""

    order: Ints
    starts: Ints
    bits: Ints
    known: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def large_patterns(self) -> int:
        """The number of patterns with enough profiles for a table."""
        return int((np.diff(self.starts) > _FEW_PROFILES).sum())


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """The distinct rows of the quasi-identifiers, or *profiles*, and the size of their neighbourhoods.

    ``row_profile`` is the profile of every given row; profiles are numbered from 0 in the order of their codes. Each is
    shared by ``members`` people, and ``size`` people may be the same as they. ``patterns`` is None if all profiles miss
    the same columns: people then may be the same only if their rows are equal.
    """

    row_profile: Ints
    members: Ints
    size: Ints
    patterns: GapPatterns | None


def find_neighbourhoods(
    columns: Sequence[Int32s], counts: Ints | None, rows: int, run: Run | None = None
) -> Neighbourhoods:
    """Find who may be the same as each row of these columns of codes; −1 is missing and matches anything. A row stands
    for ``counts`` people, or for one by default.

    >>> age, sex = np.array([30, 40, -1, 30], np.int32), np.array([1, 1, 1, 0], np.int32)
    >>> found = find_neighbourhoods([age, sex], None, 4)
    >>> found.size[found.row_profile].tolist()
    [2, 2, 3, 1]
    """
    keys, profile = np.unique(pack_columns(columns, rows)[0], return_inverse=True)
    if counts is None:
        members = np.bincount(profile, minlength=len(keys))
    else:
        members = np.zeros(len(keys), np.int64)
        np.add.at(members, profile, counts)
    patterns = None
    if any(codes.min(initial=0) < 0 for codes in columns):
        one = np.empty(len(keys), np.int64)
        one[profile] = np.arange(rows)  # any row of a profile will do
        patterns = _group_by_gaps([codes[one] for codes in columns])
    size = members if patterns is None else _neighbourhood_sizes(patterns, members, run or Run())
    return Neighbourhoods(profile, members, size, patterns)


def neighbourhood_classes(
    found: Neighbourhoods, sensitive: Int32s, counts: Ints | None = None, run: Run | None = None
) -> SensitiveClasses:
    """The neighbourhoods of all profiles with their sensitive values; class c belongs to profile c. ``sensitive`` is
    the code of every given row; −1 (missing) is one more value.

    >>> found = find_neighbourhoods([np.array([30, 40, -1], np.int32)], None, 3)
    >>> classes = neighbourhood_classes(found, np.array([0, 1, 1], np.int32))
    >>> classes.size[found.row_profile].tolist(), classes.distinct[found.row_profile].tolist()
    ([2, 2, 3], [2, 1, 2])
    """
    own = group_sensitive_values(found.row_profile, len(found.members), sensitive, counts)
    table_counts = np.zeros(own.values, np.int64)
    np.add.at(table_counts, own.value, own.count)
    if found.patterns is None:
        return replace(own, members=found.members, table_counts=table_counts)
    begins, value, count = _neighbourhood_values(found.patterns, own, run or Run())
    return SensitiveClasses(own.key, begins, value, count, own.codes, found.members, table_counts)


def _group_by_gaps(columns: Sequence[Int32s]) -> GapPatterns | None:
    """Group profiles by the columns they miss; None if all miss the same columns."""
    gaps, _ = pack_columns([(codes < 0).astype(np.int32) for codes in columns], len(columns[0]))
    kinds, pattern, profiles = np.unique(gaps, return_inverse=True, return_counts=True)
    if len(kinds) == 1:
        return None
    by_size = np.argsort(-profiles, kind="stable")
    order = np.argsort(np.argsort(by_size)[pattern], kind="stable")
    words, used = list[tuple[Ints, Ints]](), 0
    for codes in columns:
        width = (int(codes.max()) + 1).bit_length()
        if not words or used + width > _WORD_BITS:
            words.append((np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)))
            used = 0
        bits, known = words[-1]
        ordered = codes[order].astype(np.int64)
        bits |= (ordered + 1) << used
        known |= np.where(ordered < 0, 0, ((1 << width) - 1) << used)
        used += width
    starts = np.append(0, np.cumsum(profiles[by_size]))
    return GapPatterns(order, starts, np.array([bits for bits, _ in words]), np.array([known for _, known in words]))


def _neighbourhood_sizes(patterns: GapPatterns, members: Ints, run: Run) -> Ints:
    """The number of people who may be the same as those of each profile. Two profiles of one pattern cannot be the
    same: they differ in a column that both know."""
    from unveil.classes import _wildcard

    starts, bits, known, tables = patterns.starts, patterns.bits, patterns.known, patterns.large_patterns
    profiles = np.diff(starts)
    before = np.repeat(starts[:-1], profiles)
    people = members[patterns.order]
    size = people.copy()
    looked_up = 16.0 * (starts[:tables] + np.arange(tables) * profiles[:tables])
    spent = np.cumsum(np.concatenate([[0.0], looked_up, 1.0 * starts[tables:-1] * profiles[tables:]]))
    slots = np.empty(_wildcard.SLOTS * int(profiles[1]), np.int32)
    p, q = 0, 1
    while q < tables:
        _report_progress(run, spent[q] / spent[-1])
        p, q = _wildcard.count_by_table(p, q, tables, _LOOKUPS_PER_SLICE, starts, bits, known, people, slots, size)
    row = int(starts[tables])
    while row < len(people):
        _report_progress(run, spent[int(np.searchsorted(starts, row, "right")) - 1] / spent[-1])
        row = _wildcard.count_by_comparison(row, 16 * _LOOKUPS_PER_SLICE, before, bits, known, people, size)
    found = np.empty_like(size)
    found[patterns.order] = size
    return found


def _report_progress(run: Run, fraction: float) -> None:
    run.progress("matching missing values", float(fraction))
    run.check()


NeighbourhoodPart = tuple[int, Ints, Int32s, Ints]


def _neighbourhood_values(patterns: GapPatterns, own: SensitiveClasses, run: Run) -> tuple[Ints, Int32s, Ints]:
    """The values in each neighbourhood: where its pairs begin, the values, and their counts. ``own`` holds the pairs of
    the profiles themselves."""
    order, parts, total = patterns.order, list[NeighbourhoodPart](), 0
    begins = np.zeros(len(order) + 1, np.int64)
    for row, ends, value, count in _neighbourhood_parts(patterns, own, run):
        distinct = np.diff(ends, prepend=0)
        begins[order[row : row + len(ends)] + 1] = distinct
        parts.append((row, distinct, value.copy(), count.copy()))
        total += len(value)
        if total > _MOST_PAIRS:
            raise UnveilError(
                f"with missing values as wildcards, there are more than {_MOST_PAIRS:,} sensitive values to count; "
                "read missing as a value of its own, or give fewer quasi-identifiers or coarser sensitive values"
            )
    np.cumsum(begins, out=begins)
    values, counts = np.empty(total, np.int32), np.empty(total, np.int64)
    while parts:  # freed as soon as it is copied
        row, distinct, value, count = parts.pop()
        shift = begins[order[row : row + len(distinct)]] - np.cumsum(distinct) + distinct
        place = np.arange(len(value)) + np.repeat(shift, distinct)
        values[place], counts[place] = value, count
    return begins, values, counts


def _neighbourhood_parts(patterns: GapPatterns, own: SensitiveClasses, run: Run) -> Iterator[NeighbourhoodPart]:
    """The neighbourhoods in the order of patterns, several at a time: the first profile, where the pairs of each end,
    the values, and their counts. The next part overwrites these arrays."""
    from unveil.classes import _wildcard

    order, starts, bits, known = patterns.order, patterns.starts, patterns.bits, patterns.known
    by_value = np.argsort(own.value, kind="stable")
    owner = np.repeat(np.argsort(order), own.distinct)[by_value]
    pairs = owner, own.value[by_value], own.count[by_value]
    of_cells = (
        np.empty(len(order) + 1, np.int64),
        np.empty(len(order), np.int64),
        np.empty(len(owner), np.int32),
        np.empty(len(owner), np.int64),
    )
    most = min(int(starts[1]), _PROFILES_PER_TABLE)
    slots, cell = np.empty(_wildcard.SLOTS * most, np.int32), np.empty(len(order), np.int32)
    total, seen = np.empty(own.values, np.int64), np.empty(own.values, np.int64)
    most_pairs = max(own.values, _MOST_HITS)
    value, count, ends = np.empty(most_pairs, np.int32), np.empty(most_pairs, np.int64), np.empty(len(order), np.int64)
    of_patterns = known[:, starts[:-1]]
    for p in range(patterns.large_patterns):
        turn, until, unders = _shared_columns(of_patterns, p)
        step = max(1, min(most, _MOST_HITS // len(unders)))
        for first in range(int(starts[p]), int(starts[p + 1]), step):
            rows, i = min(step, int(starts[p + 1]) - first), 0
            hit = np.empty((rows, len(unders)), np.int32)
            cells = _wildcard.assign_cells(first, first + rows, unders, until, turn, starts, bits, slots, cell, hit)
            _wildcard.group_values_by_cell(cells, cell, *pairs, *of_cells)
            seen.fill(-1)
            while i < rows:
                _report_progress(run, (first + i) / len(order))
                begin = i
                i, made = _wildcard.gather_values(
                    i, rows, _LOOKUPS_PER_SLICE, hit, *of_cells, total, seen, value, count, ends
                )
                yield first + begin, ends[: i - begin], value[:made], count[:made]
    row = int(starts[patterns.large_patterns])
    seen.fill(-1)
    while row < len(order):
        _report_progress(run, row / len(order))
        begin = row
        row, made = _wildcard.list_values(
            row, 16 * _LOOKUPS_PER_SLICE, bits, known, order, own.begins, own.value, own.count, total, seen, value,
            count, ends,
        )  # fmt: skip
        yield begin, ends[: row - begin], value[:made], count[:made]


def _shared_columns(known: Ints, p: int) -> tuple[Ints, Ints, Ints]:
    """What pattern p and each other both know: the patterns sorted by it, where each group ends, and its bits."""
    shared = known & known[:, p : p + 1]
    turn = np.lexsort(shared)
    ordered = shared[:, turn]
    ends = np.append(np.flatnonzero((np.diff(ordered) != 0).any(axis=0)) + 1, len(turn))
    return turn, ends, np.ascontiguousarray(ordered[:, ends - 1].T)
