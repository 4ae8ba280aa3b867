"""Who may be the same: missing values that match anything.

A value that is missing could be any. Two people *may be the same* when in every quasi-identifier their values agree or
one of the two is missing. Everyone may be themselves, and the relation goes both ways, but it does not carry over: a
person of 30 may be one of unknown age, who may be a person of 40. So people do not fall into classes; everyone has a
*neighbourhood* of their own, all those that may be the same, and neighbourhoods overlap. With

    F(r) = the number of people that may be the same as r, themselves included,

the risk is 1/F(r). This is the sample frequency of sdcMicro's ``freqCalc`` (Templ, *Statistical disclosure control for
microdata using the R-package sdcMicro*, 2008), and what ARX calls risk with wildcards; both make exceptions for rows
that miss everything, which here may be anyone.

**What it does not say.** Let t be the true values of r, and C those that t does not rule out. Then

    the people with the same row, gaps and all ⊆ C ⊆ the neighbourhood of r.

An attacker who knows t finds r with probability 1/|C|, which may be far above 1/F(r); missing as a value of its own
never understates the risk. Of the rows (30, male), (40, male) and (?, male) the last has F = 3; who knows that this
person is 50 rules the others out. The first has F = 2; who knows that the third person is 50 is certain of the first as
well. And F grows with every value that is taken out, whether or not an attacker knows it: one more row with nothing in
it adds 1 to the F of all.

**How it is computed.** Only different rows matter, the *profiles*. Their codes are laid side by side in the bits of one
or more words, missing as 0; two profiles may be the same when their words agree in the fields that both know. Profiles
that miss the same columns have the same *pattern*. What two patterns both know is the same for all their profiles: one
pattern's are put into a table by it, the other's are looked up, which takes time in proportion to the profiles of both.
Patterns of a few profiles are compared with everyone instead, several at a time by the processor. All numbers are
sums of whole numbers: the order of rows and columns changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unveil.classes.models import Classes, classes_of
from unveil.errors import UnveilError
from unveil.grouping import Ints, packed
from unveil.run import Run

__all__ = ["Maybe", "Patterns", "maybe", "maybe_classes"]

_DOING = "matching missing values"
_WORD = 63  # bits that are used of one word
_FEW = 20  # profiles of a pattern up to which comparing is faster than a table
_WORK = 10_000_000  # profiles looked up between two looks at the clock; 16 are compared in the time one is looked up
_HITS = 1 << 21  # room for the cells that profiles may be, and for pairs of profile and value
_ROWS = 1 << 18  # profiles put into a table at a time
_PAIRS = 1 << 27  # most of them in all: with 12 bytes each, 1.6 GB


@dataclass(frozen=True, eq=False)
class Patterns:
    """Profiles by what they miss: ``order[starts[p] : starts[p + 1]]`` are those of pattern p; patterns with many come
    first. ``bits[:, i]`` has the codes of the i-th in this order, ``known[:, i]`` all bits of the columns that it does
    not miss."""

    order: Ints
    starts: Ints
    bits: Ints
    known: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def tables(self) -> int:
        """How many patterns have more than a few profiles."""
        return int((np.diff(self.starts) > _FEW).sum())


@dataclass(frozen=True, eq=False)
class Maybe:
    """The different rows of the quasi-identifiers, *profiles*, and whom each may be.

    ``profile`` is that of every given row; profiles are numbered from 0 in the order of their codes. So many people
    have each profile (``members``), and so many may be the same as they (``size``). ``patterns`` is None where all
    profiles miss the same columns: then people may be the same only if their rows are.
    """

    profile: Ints
    members: Ints
    size: Ints
    patterns: Patterns | None


def maybe(columns: Sequence[npt.NDArray[np.int32]], counts: Ints | None, rows: int, run: Run | None = None) -> Maybe:
    """Whom each row of these columns of codes may be; −1 is missing and matches anything. A row stands for as many
    people as its count says.

    >>> age, sex = np.array([30, 40, -1, 30], np.int32), np.array([1, 1, 1, 0], np.int32)
    >>> found = maybe([age, sex], None, 4)
    >>> found.size[found.profile].tolist()
    [2, 2, 3, 1]
    """
    keys, profile = np.unique(packed(columns, rows)[0], return_inverse=True)
    if counts is None:
        members = np.bincount(profile, minlength=len(keys))
    else:
        members = np.zeros(len(keys), np.int64)
        np.add.at(members, profile, counts)
    patterns = None
    if any(codes.min(initial=0) < 0 for codes in columns):
        one = np.empty(len(keys), np.int64)
        one[profile] = np.arange(rows)  # any row of a profile will do
        patterns = _patterns([codes[one] for codes in columns])
    size = members if patterns is None else _sizes(patterns, members, run)
    return Maybe(profile, members, size, patterns)


def maybe_classes(
    found: Maybe, sensitive: npt.NDArray[np.int32], counts: Ints | None = None, run: Run | None = None
) -> Classes:
    """The neighbourhoods of all profiles with the sensitive values in them; class c is that of profile c. ``sensitive``
    has the code of every given row, −1 (missing) is one more value.

    >>> found = maybe([np.array([30, 40, -1], np.int32)], None, 3)
    >>> classes = maybe_classes(found, np.array([0, 1, 1], np.int32))
    >>> classes.size[found.profile].tolist(), classes.distinct[found.profile].tolist()
    ([2, 2, 3], [2, 1, 2])
    """
    own = classes_of(found.profile, len(found.members), sensitive, counts)
    whole = np.zeros(own.values, np.int64)
    np.add.at(whole, own.value, own.count)
    if found.patterns is None:
        return replace(own, members=found.members, whole=whole)
    begins, value, count = _neighbourhoods(found.patterns, own, run)
    return Classes(own.key, begins, value, count, own.codes, found.members, whole)


# ---- profiles --------------------------------------------------------------------------------------------------------


def _patterns(columns: Sequence[npt.NDArray[np.int32]]) -> Patterns | None:
    """Profiles, given by columns, by what they miss; None if all miss the same."""
    gaps, _ = packed([(codes < 0).astype(np.int32) for codes in columns], len(columns[0]))
    kinds, pattern, profiles = np.unique(gaps, return_inverse=True, return_counts=True)
    if len(kinds) == 1:
        return None
    by_size = np.argsort(-profiles, kind="stable")
    order = np.argsort(np.argsort(by_size)[pattern], kind="stable")
    words, used = list[tuple[Ints, Ints]](), 0
    for codes in columns:
        width = (int(codes.max()) + 1).bit_length()
        if not words or used + width > _WORD:
            words.append((np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)))
            used = 0
        bits, known = words[-1]
        ordered = codes[order].astype(np.int64)
        bits |= (ordered + 1) << used
        known |= np.where(ordered < 0, 0, ((1 << width) - 1) << used)
        used += width
    starts = np.append(0, np.cumsum(profiles[by_size]))
    return Patterns(order, starts, np.array([bits for bits, _ in words]), np.array([known for _, known in words]))


# ---- how many people -------------------------------------------------------------------------------------------------


def _sizes(patterns: Patterns, members: Ints, run: Run | None) -> Ints:
    """How many people may be the same as those of each profile. Of profiles with the same pattern, none may be another:
    they differ in what they know."""
    from unveil.classes import _wildcard

    starts, bits, known, tables = patterns.starts, patterns.bits, patterns.known, patterns.tables
    profiles = np.diff(starts)
    before = np.repeat(starts[:-1], profiles)
    people = members[patterns.order]
    size = people.copy()
    looked_up = 16.0 * (starts[:tables] + np.arange(tables) * profiles[:tables])
    spent = np.cumsum(np.concatenate([[0.0], looked_up, 1.0 * starts[tables:-1] * profiles[tables:]]))
    slots = np.empty(_wildcard.SLOTS * int(profiles[1]), np.int32)
    p, q = 0, 1
    while q < tables:
        _look(run, spent[q] / spent[-1])
        p, q = _wildcard.paired(p, q, tables, _WORK, starts, bits, known, people, slots, size)
    row = int(starts[tables])
    while row < len(people):
        _look(run, spent[int(np.searchsorted(starts, row, "right")) - 1] / spent[-1])
        row = _wildcard.compared(row, 16 * _WORK, before, bits, known, people, size)
    found = np.empty_like(size)
    found[patterns.order] = size
    return found


def _look(run: Run | None, fraction: float) -> None:
    if run is not None:
        run.progress(_DOING, float(fraction))
        run.check()


# ---- and which values they have --------------------------------------------------------------------------------------

Part = tuple[int, Ints, npt.NDArray[np.int32], Ints]


def _neighbourhoods(patterns: Patterns, own: Classes, run: Run | None) -> tuple[Ints, npt.NDArray[np.int32], Ints]:
    """Where the pairs of each neighbourhood begin, the values, and how many people there have them; ``own`` has those
    of the profiles themselves."""
    order, parts, total = patterns.order, list[Part](), 0
    begins = np.zeros(len(order) + 1, np.int64)
    for row, ends, value, count in _parts(patterns, own, run):
        distinct = np.diff(ends, prepend=0)
        begins[order[row : row + len(ends)] + 1] = distinct
        parts.append((row, distinct, value.copy(), count.copy()))
        total += len(value)
        if total > _PAIRS:
            raise UnveilError(
                f"when missing values match anything, there are more than {_PAIRS:,} sensitive values to count; let "
                "missing be a value of its own, or give fewer quasi-identifiers or coarser sensitive values"
            )
    np.cumsum(begins, out=begins)
    values, counts = np.empty(total, np.int32), np.empty(total, np.int64)
    while parts:  # each is dropped when it is in its place
        row, distinct, value, count = parts.pop()
        shift = begins[order[row : row + len(distinct)]] - np.cumsum(distinct) + distinct
        place = np.arange(len(value)) + np.repeat(shift, distinct)
        values[place], counts[place] = value, count
    return begins, values, counts


def _parts(patterns: Patterns, own: Classes, run: Run | None) -> Iterator[Part]:
    """The neighbourhoods in the order of patterns, some at a time: the first profile, where the pairs of each end, the
    values and how many people have them. What is given is overwritten by what comes next."""
    from unveil.classes import _wildcard

    order, starts, bits, known, tables = patterns.order, patterns.starts, patterns.bits, patterns.known, patterns.tables
    by_value = np.argsort(own.value, kind="stable")
    owner = np.repeat(np.argsort(order), own.distinct)[by_value]
    pairs = owner, own.value[by_value], own.count[by_value]
    of_cells = (
        np.empty(len(order) + 1, np.int64),
        np.empty(len(order), np.int64),
        np.empty(len(owner), np.int32),
        np.empty(len(owner), np.int64),
    )
    most = min(int(starts[1]), _ROWS)
    slots, cell = np.empty(_wildcard.SLOTS * most, np.int32), np.empty(len(order), np.int32)
    total, seen = np.empty(own.values, np.int64), np.empty(own.values, np.int64)
    room = max(own.values, _HITS)
    value, count, ends = np.empty(room, np.int32), np.empty(room, np.int64), np.empty(len(order), np.int64)
    of_patterns = known[:, starts[:-1]]
    for p in range(tables):
        turn, until, unders = _shared(of_patterns, p)
        step = max(1, min(most, _HITS // len(unders)))
        for first in range(int(starts[p]), int(starts[p + 1]), step):
            rows, i = min(step, int(starts[p + 1]) - first), 0
            hit = np.empty((rows, len(unders)), np.int32)
            cells = _wildcard.matched(first, first + rows, unders, until, turn, starts, bits, slots, cell, hit)
            _wildcard.dealt(cells, cell, *pairs, *of_cells)
            seen.fill(-1)
            while i < rows:
                _look(run, (first + i) / len(order))
                begin = i
                i, made = _wildcard.gathered(i, rows, _WORK, hit, *of_cells, total, seen, value, count, ends)
                yield first + begin, ends[: i - begin], value[:made], count[:made]
    row = int(starts[tables])
    seen.fill(-1)
    while row < len(order):
        _look(run, row / len(order))
        begin = row
        row, made = _wildcard.listed(
            row, 16 * _WORK, bits, known, order, own.begins, own.value, own.count, total, seen, value, count, ends
        )
        yield begin, ends[: row - begin], value[:made], count[:made]


def _shared(known: Ints, p: int) -> tuple[Ints, Ints, Ints]:
    """What pattern p and each other both know: the patterns ordered by it, where each kind ends, and the bits."""
    shared = known & known[:, p : p + 1]
    turn = np.lexsort(shared)
    ordered = shared[:, turn]
    ends = np.append(np.flatnonzero((np.diff(ordered) != 0).any(axis=0)) + 1, len(turn))
    return turn, ends, np.ascontiguousarray(ordered[:, ends - 1].T)
