"""Compiled: the walk through all sets of columns for ``exact_success``.

*Entries* are records that are alike, in the order of their number of attributes. Entry e has the values ``codes[e]`` (0
is a value that no other entry has, or none), stands for ``weight[e]`` rows, with :data:`ONE_ENTRY` added, and has
``support[e]`` attributes. ``support`` is None if all have as many: then nothing is compiled for it.

Sets of m columns are the ``wanted[m]``-th size asked for, or none if −1. Columns before ``stop[m]`` are added to them.
``sums[k, e]`` are of entry e, over the sets of the k-th size for which it is not the only candidate: Σ 1/|D|, Σ |D|,
how many sets these are and, with ``support``, Σ of the probability that Â names it.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel
from unveil.linkage._bits import bit_count, lowest_bit

__all__ = ["ONE_ENTRY", "walk_sets"]


ONE_ENTRY = 1 << 32  # one entry, above the bits of its weight
_WEIGHT_MASK = ONE_ENTRY - 1
_NONE, _BIT = np.uint64(0), np.uint64(1)


@helper
def _count_pair(
    codes, weight, support, wanted, stop, ways, x, y, known, least,
    first, sums,
):  # fmt: skip
    """Count the sets of ``least`` columns or more that x and y both fit. They agree in ``known`` columns, to which
    those from ``first`` on may be added. x has no more attributes than y."""
    agree = 0
    for b in range(first, codes.shape[1] if first < stop[known] else first):
        agree += (codes[x, b] == codes[y, b]) & (codes[x, b] != 0)
    wx = weight[x] & _WEIGHT_MASK
    both = wx + (weight[y] & _WEIGHT_MASK)
    for m in range(least, min(len(wanted) - 1, known + agree) + 1):
        k = wanted[m]
        if k >= 0:
            times = ways[agree, m - known]
            for e in (x, y):
                sums[k, e, 0] += times / both
                sums[k, e, 1] += times * both
                sums[k, e, 2] += times
            if support is not None:
                tied = support[x] == support[y]
                sums[k, x, 3] += times / (both if tied else wx)
                sums[k, y, 3] += tied * times / both


@helper
def _walk_small_group(
    codes, weight, support, wanted, stop, ways, rows, begin, end,
    known, first, mark, alike, fitting, todo, column, sums,
):  # fmt: skip
    """Walk through all sets with columns from ``first`` on, for a group of few that agree in ``known`` columns. Returns
    the work.

    Parts of the group are sets of bits. ``mark`` is empty for every code, before and after. ``alike[a]`` says who
    agrees with each in column a and, last, who is not alone there. For sets of m columns, the last of them is
    ``column[m]``, by which those ``fitting`` the others are divided; ``todo`` are those not divided yet.
    """
    for a in range(first, codes.shape[1]):
        for i in range(begin, end):
            mark[codes[rows[i], a]] |= _BIT << np.uint64(i - begin)
        mark[0] = several = _NONE
        for i in range(begin, end):
            v = codes[rows[i], a]
            same = mark[v]
            alike[a, i - begin] = same
            if same & (same - _BIT) != _NONE:
                several |= same
        for i in range(begin, end):
            mark[codes[rows[i], a]] = _NONE
        alike[a, 64] = several
    heavy = _NONE
    for i in range(begin, end):
        if weight[rows[i]] > ONE_ENTRY + 1:
            heavy |= _BIT << np.uint64(i - begin)
    m, spent = known + 1, np.int64(0)
    fitting[m], todo[m], column[m] = ~_NONE, _NONE, first - 1
    while m > known:
        a, left = column[m], todo[m]
        spent += 1
        if left & (left - _BIT) == _NONE:
            a += 1
            if a < stop[m - 1]:
                column[m], todo[m] = a, fitting[m] & alike[a, 64]
            else:
                m -= 1
            continue
        x = lowest_bit(left)
        fit = left & alike[a, x]
        todo[m] = left & ~fit
        size = np.int64(bit_count(fit))
        e, k = rows[begin + x], wanted[m]
        spent += size
        if size <= 2:
            if size == 2:
                y = rows[begin + lowest_bit(fit & (fit - _BIT))]
                _count_pair(codes, weight, support, wanted, stop, ways, e, y, m, m, a + 1, sums)
            continue
        if k >= 0:
            total, best, left = size, 0, fit & heavy
            while left != _NONE:
                total += (weight[rows[begin + lowest_bit(left)]] & _WEIGHT_MASK) - 1
                left &= left - _BIT
            if support is not None:
                left = fit
                while left != _NONE:
                    y = rows[begin + lowest_bit(left)]
                    left &= left - _BIT
                    best += (weight[y] & _WEIGHT_MASK) * (support[y] == support[e])
            left = fit
            while left != _NONE:
                y = rows[begin + lowest_bit(left)]
                left &= left - _BIT
                sums[k, y, 0] += 1 / total
                sums[k, y, 1] += total
                sums[k, y, 2] += 1
                if support is not None:
                    sums[k, y, 3] += (support[y] == support[e]) / best
        if a + 1 < stop[m]:
            m += 1
            fitting[m], todo[m], column[m] = fit, _NONE, a
    return spent


@kernel
def walk_sets(
    codes, weight, support, wanted, stop, ways, few,
    seen, touched, tally, start, share, least, fewest,
    mark, alike, fitting, todo, column,
    rows, tasks, waiting, work, sums,
):  # fmt: skip
    """Go on with the walk through all sets until so much work is done, or no task is ``waiting``. Returns how many are.

    A task (begin, end, m, a) is to divide the group ``rows[begin:end]``, which agrees in m columns, by column a and
    those after it. Groups that come of it are behind it in ``rows``. Pairs and groups of up to ``few`` (64 at most) are
    done at once, larger ones become tasks, and the last task is next.

    For each in a group, ``seen`` is its code in column a; ``touched`` are the codes that occur. By code: how many have
    it (``tally``, as weights are), where the next of them goes (``start``), what each adds to its sums (``share``),
    their least support and the weight of those who have that (``fewest``). The rest is for :func:`_walk_small_group`.
    """
    spent = 0
    while waiting > 0 and spent < work:
        begin, end, m, a = tasks[waiting - 1]
        tasks[waiting - 1, 3] += 1
        if a >= stop[m]:
            waiting -= 1
            continue
        spent += end - begin
        n = 0
        for i in range(begin, end):
            e = rows[i]
            v = codes[e, a]
            seen[i - begin] = v
            before = tally[v]
            touched[n] = v
            n += before == 0
            tally[v] = before + weight[e]
            if support is not None:
                if before == 0:
                    least[v] = support[e]
                    fewest[v] = 0
                fewest[v] += (weight[e] & _WEIGHT_MASK) * (support[e] == least[v])
        place, back = end, 2 * end - begin
        for t in range(n):
            v = touched[t]
            size, w = tally[v] >> 32, tally[v] & _WEIGHT_MASK
            tally[v] = 0
            if v == 0 or size == 1:
                back -= size
                start[v] = back
                share[v, 0] = share[v, 1] = share[v, 2] = 0
                if support is not None:
                    share[v, 3] = 0
            else:
                start[v] = place
                place += size
                share[v, 0], share[v, 1], share[v, 2] = 1 / w, w, 1
                if support is not None:
                    share[v, 3] = 1 / fewest[v]
        m += 1
        a += 1
        k = wanted[m]
        if k >= 0:
            for i in range(begin, end):
                e, v = rows[i], seen[i - begin]
                sums[k, e, 0] += share[v, 0]
                sums[k, e, 1] += share[v, 1]
                sums[k, e, 2] += share[v, 2]
                if support is not None:
                    sums[k, e, 3] += share[v, 3] * (support[e] == least[v])
        if a >= stop[m]:
            continue
        for i in range(begin, end):
            v = seen[i - begin]
            rows[start[v]] = rows[i]
            start[v] += 1
        begin = end
        for t in range(n):
            end = np.int64(start[touched[t]])
            if end > place:
                continue
            if end - begin == 2:
                _count_pair(codes, weight, support, wanted, stop, ways, rows[begin], rows[begin + 1], m, m + 1, a, sums)
                spent += 2
            elif end - begin <= few:
                spent += _walk_small_group(
                    codes, weight, support, wanted, stop, ways, rows, begin, end, m, a, mark, alike, fitting, todo,
                    column, sums,
                )  # fmt: skip
            else:
                tasks[waiting, 0], tasks[waiting, 1], tasks[waiting, 2], tasks[waiting, 3] = begin, end, m, a
                waiting += 1
            begin = end
    return waiting
