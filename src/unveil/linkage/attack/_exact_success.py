"""The compiled inner loops of ``exact``.

*Entries* are records that are alike: at first the different records, in the order of their number of attributes, and
later those of them that a group need not tell apart any more. Code 0 is a value that no other entry has, or none.

``sums[k, e]`` are of entry e, over the sets of the k-th size for which it is not the only candidate: Σ 1/|D|, Σ |D|,
how many sets these are and, if some records have fewer attributes than others, Σ of the probability that Â names it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Floats, Ints, Small, Words
from unveil.compilation import helper, kernel
from unveil.linkage._bits import bit_count, lowest_bit

__all__ = [
    "BASE",
    "CHILD",
    "CHILDREN",
    "HIGH",
    "NEXT",
    "ONE_ENTRY",
    "Entries",
    "SetPlan",
    "WalkSpace",
    "WalkStack",
    "fill_columns",
    "fill_probabilities",
    "number_patterns",
    "walk_sets",
]


LOW, HIGH, FIRST, NEXT, CHILD, CHILDREN, BASE, FROM, TO = range(9)  # what a frame says
ONE_ENTRY = 1 << 32  # one entry, above the bits of its weight
_WEIGHT_MASK = ONE_ENTRY - 1
_NONE, _BIT = np.uint64(0), np.uint64(1)


class Entries(NamedTuple):
    """``codes`` by entry and column, ``weight`` (how many rows, and :data:`ONE_ENTRY` above that), and as which entry
    it began (``origin``). That entry has the pattern ``suffix[a]`` of codes in column a and all after it; others with
    the same have as many attributes. There are ``patterns[a]`` of these.

    How many attributes entries have is ``support``, None if all have as many: kernels take it by itself, for code to be
    compiled with it or without."""

    codes: npt.NDArray[np.uint32]
    weight: Ints
    origin: Small
    suffix: Small
    patterns: Ints


class SetPlan(NamedTuple):
    """Which sets are looked at. Those of m columns are the ``wanted[m]``-th size asked for, or none if −1. Those of m
    columns up to column a are parts of larger ones that are wanted if ``deeper[m, a]``. There are ``steps[m, a]`` sets
    to look at that are made of m columns and others from a on. ``ways[q, m]`` is the number of sets of m out of q.
    Groups of up to ``few`` (64 at most) are sets of bits; larger ones are merged if that saves ``worth`` divisions."""

    wanted: Ints
    deeper: Bools
    steps: Floats
    ways: Floats
    few: int
    worth: int


class WalkStack(NamedTuple):
    """Where the walk is: its depth and how many entries there are (``at``), and for each depth a ``frame``. A frame is
    the group ``rows[depth, LOW:HIGH]`` which is divided by the columns from FIRST to NEXT − 1. The last division left
    CHILDREN groups in the next ``rows``, up to ``ends[depth]``, of which CHILD were taken. If entries were merged, the
    group are the entries from BASE (else −1) on, FROM … TO is the group before that and ``merged`` into which each.
    ``part`` are its sums for the next size."""

    at: Ints
    frame: Ints
    rows: Small
    ends: Small
    merged: Small
    part: Floats


class WalkSpace(NamedTuple):
    """Room to work in: the code of each in the group (``seen``), and by code how many have it (``tally``, as weights
    are), their least support, the weight of those with it, where the next of them goes (``start``) and what is to be
    added (``share``); codes that occur (``touched``), the entry by pattern (``slot``), and for small groups sets of
    bits: by code (``mark``), who agrees with each in a column (``alike``), who is not alone in it (``several``), and
    the set, the part of it still to do, and the column, by depth."""

    seen: npt.NDArray[np.uint32]
    touched: npt.NDArray[np.uint32]
    tally: Ints
    least: Small
    fewest: Ints
    start: Small
    share: Floats
    slot: Small
    mark: Words
    alike: Words
    several: Words
    fitting: Words
    todo: Words
    column: Ints


@helper
def _single_bit(i: Any) -> Any:
    return _BIT << np.uint64(i)


@helper
def _at_most_one_bit(x: Any) -> Any:
    """Whether there is one bit at most."""
    return x & (x - _BIT) == _NONE


# ---- entries ---------------------------------------------------------------------------------------------------------


@kernel
def fill_columns(indptr: Any, attribute: Any, value: Any, first: Any, last: Any, columns: Any) -> None:
    """Fill the codes of some records, by attribute."""
    for r in range(first, last):
        for e in range(indptr[r], indptr[r + 1]):
            columns[attribute[e], r] = value[e]


@kernel
def number_patterns(
    codes: Any, a: Any, after: Any, width: Any, first: Any, last: Any, found: Any, ids: Any, suffix: Any
) -> Any:
    """Number the patterns from column a on, given those of the columns after it, of which there are ``width``; ``ids``
    are −1 at first, and ``found`` were numbered before."""
    for e in range(first, last):
        key = np.int64(codes[e, a]) * width + after[e]
        if ids[key] < 0:
            ids[key] = found
            found += 1
        suffix[e] = ids[key]
    return found


@kernel
def fill_probabilities(
    m: Any, kind: Any, weight: Any, support: Any, sets: Any, even: Any, sums: Any, first: Any, last: Any, found: Any
) -> None:
    """Fill what is found of rows: for Â, Scoreboard, whether it is alone, and how many fit."""
    for r in range(first, last):
        e = kind[r]
        k = support[e]
        if k < m:
            continue
        w = weight[e] & _WEIGHT_MASK
        alone = sets[k] - sums[e, 2]
        found[1, r] = (alone / w + sums[e, 0]) / sets[k]
        found[0, r] = found[1, r] if even else (alone / w + sums[e, 3]) / sets[k]
        found[2, r] = alone / sets[k] if w == 1 else 0.0
        found[3, r] = (alone * w + sums[e, 1]) / sets[k]


# ---- groups of two, and of few ---------------------------------------------------------------------------------------


@helper
def _add_pair(weight: Any, support: Any, x: Any, y: Any, times: Any, k: Any, sums: Any) -> None:
    """That x and y are the candidates, so many times."""
    wx, wy = weight[x] & _WEIGHT_MASK, weight[y] & _WEIGHT_MASK
    both = wx + wy
    for e in (x, y):
        sums[k, e, 0] += times / both
        sums[k, e, 1] += times * both
        sums[k, e, 2] += times
    if support is not None:
        if support[x] <= support[y]:
            sums[k, x, 3] += times / (wx if support[x] < support[y] else both)
        if support[x] >= support[y]:
            sums[k, y, 3] += times / (wy if support[x] > support[y] else both)


@helper
def _count_pair(
    weight: Any, support: Any, wanted: Any, ways: Any, x: Any, y: Any, known: Any, agree: Any, least: Any, sums: Any
) -> None:
    """Two that agree in ``known`` columns, and in ``agree`` of those that may be added: count the sets of ``least``
    columns or more that they both fit."""
    for m in range(least, min(len(wanted) - 2, known + agree) + 1):
        if wanted[m] >= 0:
            _add_pair(weight, support, x, y, ways[agree, m - known], wanted[m], sums)


@helper
def _agreement_bits(codes: Any, group: Any, a: Any, mark: Any, alike: Any) -> Any:
    """Who agrees with each in column a, and all who do not stand alone."""
    several = _NONE
    for i in range(len(group)):
        mark[codes[group[i], a]] |= _single_bit(i)
    mark[0] = _NONE
    for i in range(len(group)):
        alike[a, i] = mark[codes[group[i], a]]
        if not _at_most_one_bit(alike[a, i]):
            several |= _single_bit(i)
    for i in range(len(group)):
        mark[codes[group[i], a]] = _NONE
    return several


@helper
def _total_weight(weight: Any, group: Any, fit: Any) -> Any:
    """The weight of all in a set of bits."""
    total = 0
    while fit != _NONE:
        total += weight[group[lowest_bit(fit)]] & _WEIGHT_MASK
        fit &= fit - _BIT
    return total


@helper
def _count_group(weight: Any, support: Any, group: Any, fit: Any, total: Any, k: Any, sums: Any) -> None:
    """That all in a set of bits are the candidates, of this weight in total."""
    share, best, least = 1 / total, 0, 0
    if support is not None:
        least, left = support[group[lowest_bit(fit)]], fit
        while left != _NONE and support[group[lowest_bit(left)]] == least:
            best += weight[group[lowest_bit(left)]] & _WEIGHT_MASK
            left &= left - _BIT
    while fit != _NONE:
        e = group[lowest_bit(fit)]
        fit &= fit - _BIT
        sums[k, e, 0] += share
        sums[k, e, 1] += total
        sums[k, e, 2] += 1
        if support is not None and support[e] == least:
            sums[k, e, 3] += 1 / best


@helper
def _walk_small_group(
    entries: Any, support: Any, plan: Any, room: Any, group: Any, known: Any, first: Any, sums: Any
) -> Any:
    """All sets with columns from ``first`` on, for a group of few that agree in ``known`` columns. Returns the work."""
    wanted, deeper = plan.wanted, plan.deeper
    fitting, todo, column, alike = room.fitting, room.todo, room.column, room.alike
    c = entries.codes.shape[1]
    for a in range(first, c):
        room.several[a] = _agreement_bits(entries.codes, group, a, room.mark, alike)
    light = True
    for e in group:
        light &= entries.weight[e] == ONE_ENTRY + 1
    spent, d = len(group) * (c - first), 0
    fitting[0], todo[0], column[0] = ~_NONE, _NONE, first - 1
    while d >= 0:
        m, a, left = known + d + 1, column[d], todo[d]
        if _at_most_one_bit(left):
            a += 1
            spent += 1
            if a == c or not (wanted[m] >= 0 or deeper[m, a]):
                d -= 1
            else:
                column[d], todo[d] = a, fitting[d] & room.several[a]
            continue
        x = lowest_bit(left)
        fit = left & alike[a, x]
        todo[d] = left & ~fit
        if _at_most_one_bit(fit):
            continue
        size = np.int64(bit_count(fit))
        spent += size
        if size == 2:
            y = lowest_bit(fit & (fit - _BIT))
            agree = 0
            if deeper[m, a]:
                for b in range(a + 1, c):
                    agree += alike[b, x] & _single_bit(y) != _NONE
            _count_pair(entries.weight, support, wanted, plan.ways, group[x], group[y], m, agree, m, sums)
            continue
        if wanted[m] >= 0:
            total = size if light else _total_weight(entries.weight, group, fit)
            _count_group(entries.weight, support, group, fit, total, wanted[m], sums)
        if deeper[m, a]:
            d += 1
            fitting[d], todo[d], column[d] = fit, _NONE, a
    return spent


# ---- large groups ----------------------------------------------------------------------------------------------------


@helper
def _merge_entries(entries: Any, support: Any, plan: Any, room: Any, stack: Any, d: Any, sums: Any) -> None:
    """Merge those in a group that agree in all columns from FIRST on."""
    codes, weight, origin = entries.codes, entries.weight, entries.origin
    frame, top, a = stack.frame[d], stack.at[1], stack.frame[d, FIRST]
    suffix = entries.suffix[a]
    base = top
    for i in range(frame[LOW], frame[HIGH]):
        e = stack.rows[d, i]
        into = room.slot[suffix[origin[e]]]
        if into < 0:
            into = top
            top += 1
            room.slot[suffix[origin[e]]] = into
            origin[into], weight[into] = origin[e], weight[e]
            if support is not None:
                support[into] = support[e]
            for b in range(a, codes.shape[1]):
                codes[into, b] = codes[e, b]
            for m in range(d + 1, len(plan.wanted) - 1):
                if plan.wanted[m] >= 0:
                    for q in range(sums.shape[2]):
                        sums[plan.wanted[m], into, q] = 0
        else:
            weight[into] += weight[e] & _WEIGHT_MASK
        stack.merged[d, i] = into
    for e in range(base, top):
        room.slot[suffix[origin[e]]] = -1
    frame[FROM], frame[TO] = frame[LOW], frame[HIGH]
    frame[LOW], frame[HIGH], frame[BASE] = 0, top - base, base
    stack.at[1] = top


@helper
def _distribute_sums(entries: Any, support: Any, plan: Any, room: Any, stack: Any, d: Any, sums: Any) -> None:
    """Give those that were merged what was found of them together. Where that is more than one, they are candidates of
    each other in every set, and the only ones in those not counted yet."""
    weight, columns = entries.weight, room.seen
    base, top = stack.frame[d, BASE], stack.at[1]
    for e in range(base, top):
        columns[e - base] = 0
        for b in range(stack.frame[d, FIRST], entries.codes.shape[1]):
            columns[e - base] += entries.codes[e, b] != 0
    for i in range(stack.frame[d, FROM], stack.frame[d, TO]):
        e, into = stack.rows[d, i], stack.merged[d, i]
        several, w = weight[e] != weight[into], weight[into] & _WEIGHT_MASK
        for m in range(d + 1, len(plan.wanted) - 1):
            k = plan.wanted[m]
            if k < 0:
                continue
            alone = plan.ways[columns[into - base], m - d] - sums[k, into, 2] if several else 0.0
            sums[k, e, 0] += sums[k, into, 0] + alone / w
            sums[k, e, 1] += sums[k, into, 1] + alone * w
            sums[k, e, 2] += sums[k, into, 2] + alone
            if support is not None:
                sums[k, e, 3] += sums[k, into, 3] + alone / w
    stack.at[1] = base


@helper
def _tally_codes(codes: Any, weight: Any, support: Any, room: Any, group: Any, a: Any) -> Any:
    """Count the codes of a group in column a, and return how many there are."""
    seen, touched, count, least, fewest = room.seen, room.touched, room.tally, room.least, room.fewest
    n = 0
    for i in range(len(group)):
        e = group[i]
        v = codes[e, a]
        before = count[v]
        seen[i] = v
        touched[n] = v
        n += before == 0
        count[v] = before + weight[e]
        if support is not None:
            if before == 0:
                least[v] = support[e]
                fewest[v] = 0
            fewest[v] += (weight[e] & _WEIGHT_MASK) * (support[e] == least[v])
    return n


@helper
def _plan_division(support: Any, room: Any, size: Any, n: Any, ends: Any) -> Any:
    """Where those with each code go and what is found of them: first those with others, up to ``ends`` each. Returns
    how many such codes there are."""
    count, start, share = room.tally, room.start, room.share
    at, back, children = 0, size, 0
    for t in range(n):
        v = room.touched[t]
        k, w = count[v] >> 32, count[v] & _WEIGHT_MASK
        count[v] = 0
        if v == 0 or k == 1:
            back -= k
            start[v] = back
            for q in range(share.shape[1]):
                share[v, q] = 0
            continue
        start[v] = at
        at += k
        ends[children] = at
        children += 1
        share[v, 0], share[v, 1], share[v, 2] = 1 / w, w, 1
        if support is not None:
            share[v, 3] = 1 / room.fewest[v]
    return children


@helper
def _divide_group(entries: Any, support: Any, plan: Any, room: Any, stack: Any, d: Any, group: Any, a: Any) -> None:
    """Divide a group by column a, for the sums of the next size and for larger sets."""
    seen, start, share, size = room.seen, room.start, room.share, len(group)
    n = _tally_codes(entries.codes, entries.weight, support, room, group, a)
    children = _plan_division(support, room, size, n, stack.ends[d])
    stack.frame[d, NEXT], stack.frame[d, CHILD], stack.frame[d, CHILDREN] = a + 1, 0, 0
    if plan.deeper[d + 1, a]:
        stack.frame[d, CHILDREN] = children
        rows = stack.rows[d + 1]
        for i in range(size):
            v = seen[i]
            rows[start[v]] = group[i]
            start[v] += 1
    if plan.wanted[d + 1] >= 0:
        part = stack.part[d]
        for i in range(size):
            v = seen[i]
            part[i, 0] += share[v, 0]
            part[i, 1] += share[v, 1]
            part[i, 2] += share[v, 2]
            if support is not None:
                part[i, 3] += share[v, 3] if support[group[i]] == room.least[v] else 0.0


@helper
def _take_next_group(entries: Any, support: Any, plan: Any, room: Any, stack: Any, d: Any, sums: Any) -> Any:
    """Take the next group that the frame was divided into. Returns the work, 0 if it is put on the stack."""
    frame = stack.frame[d]
    child, a = frame[CHILD], frame[NEXT]
    frame[CHILD] += 1
    begin, end = stack.ends[d, child - 1] if child else 0, stack.ends[d, child]
    group = stack.rows[d + 1, begin:end]
    if len(group) == 2:
        x, y, codes = group[0], group[1], entries.codes
        agree = 0
        for b in range(a, codes.shape[1]):
            agree += (codes[x, b] == codes[y, b]) & (codes[x, b] != 0)
        if agree:
            _count_pair(entries.weight, support, plan.wanted, plan.ways, x, y, d + 1, agree, d + 2, sums)
        return 2
    if len(group) <= plan.few:
        return _walk_small_group(entries, support, plan, room, group, d + 1, a, sums)
    d += 1
    frame = stack.frame[d]
    frame[LOW], frame[HIGH], frame[FIRST], frame[NEXT] = begin, end, a, a
    frame[CHILD], frame[CHILDREN], frame[BASE] = 0, 0, -1
    if 2 * entries.patterns[a] <= len(group) and plan.steps[d, a] >= plan.worth:
        _merge_entries(entries, support, plan, room, stack, d, sums)
    if plan.wanted[d + 1] >= 0:
        for i in range(frame[HIGH] - frame[LOW]):
            for q in range(stack.part.shape[2]):
                stack.part[d, i, q] = 0
    return 0


@kernel
def walk_sets(
    entries: Any, support: Any, plan: Any, room: Any, stack: Any, everyone: Any, work: Any, sums: Any
) -> None:
    """Go on with the walk through all sets until so much work is done, or there are no more: depth −1. ``everyone`` are
    the numbers of all entries there may be."""
    c, d, spent = entries.codes.shape[1], stack.at[0], 0
    while d >= 0 and spent < work:
        low, high, a, base = stack.frame[d, LOW], stack.frame[d, HIGH], stack.frame[d, NEXT], stack.frame[d, BASE]
        if stack.frame[d, CHILD] < stack.frame[d, CHILDREN]:
            took = _take_next_group(entries, support, plan, room, stack, d, sums)
            d += took == 0
            spent += took
            continue
        group = everyone[base : base + high] if base >= 0 else stack.rows[d, low:high]
        spent += len(group)
        if a < c and (plan.wanted[d + 1] >= 0 or plan.deeper[d + 1, a]):
            _divide_group(entries, support, plan, room, stack, d, group, a)
            continue
        k = plan.wanted[d + 1]
        if k >= 0:
            for i in range(len(group)):
                for q in range(sums.shape[2]):
                    sums[k, group[i], q] += stack.part[d, i, q]
        if base >= 0:
            _distribute_sums(entries, support, plan, room, stack, d, sums)
        d -= 1
    stack.at[0] = d
