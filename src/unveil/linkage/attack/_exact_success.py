"""Compiled: the walk through all sets of columns for ``exact_success``.

An *entry* stands for equal records; entries are sorted by number of attributes. Entry e has the values ``codes[e]``,
where 0 is a missing value or one that no other entry has; it stands for ``weight[e]`` − :data:`ONE_ENTRY` rows and has
``support[e]`` attributes. ``support`` is None if all have equally many; the code for it is then not compiled.

Sets of m columns are number ``size_index[m]`` of the requested sizes, −1 if they were not requested. They are extended
by columns before ``stop[m]``. ``sums[k, e]`` are sums over the sets of the k-th size on which entry e is not the only
one among its candidates D: Σ 1/|D|, Σ |D|, Σ 1 and, with ``support``, Σ P(Â names e).
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil._bits import bit_count, lowest_bit
from unveil.compilation import helper, kernel

__all__ = ["ONE_ENTRY", "walk_sets"]


ONE_ENTRY = 1 << 32  # one entry, above the bits of its weight
_WEIGHT_MASK = ONE_ENTRY - 1
_NONE, _BIT = np.uint64(0), np.uint64(1)


@helper
def _count_pair(
    codes, weight, support, size_index, stop, ways, x, y, known, least,
    first, sums,
):  # fmt: skip
    """Count the sets of at least ``least`` columns on which x and y agree. They agree on ``known`` columns, to which
    those from ``first`` on may be added. x has no more attributes than y."""
    agree = 0
    for b in range(first, codes.shape[1] if first < stop[known] else first):
        agree += (codes[x, b] == codes[y, b]) & (codes[x, b] != 0)
    wx = weight[x] & _WEIGHT_MASK
    both = wx + (weight[y] & _WEIGHT_MASK)
    for m in range(least, min(len(size_index) - 1, known + agree) + 1):
        k = size_index[m]
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
    codes, weight, support, size_index, stop, ways, rows, begin, end,
    known, first, mark, alike, fitting, todo, column, sums,
):  # fmt: skip
    """Walk through all sets with more columns, from ``first`` on, for a small group that agrees on ``known`` columns.
    Returns the work done.

    Subsets of the group are bit sets. ``mark`` is 0 for every code, before and after. ``alike[a, i]`` are the members
    that agree with member i in column a, and ``alike[a, 64]`` all that agree with any other. For sets of m columns,
    ``column[m]`` is the last column, ``fitting[m]`` the members that agree on the columns before it, and ``todo[m]``
    those of them that it has not divided yet.
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
        e, k = rows[begin + x], size_index[m]
        spent += size
        if size <= 2:
            if size == 2:
                y = rows[begin + lowest_bit(fit & (fit - _BIT))]
                _count_pair(codes, weight, support, size_index, stop, ways, e, y, m, m, a + 1, sums)
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
    codes, weight, support, size_index, stop, ways, few,
    seen, touched, tally, start, share, least, fewest,
    mark, alike, fitting, todo, column,
    rows, tasks, waiting, work, sums,
):  # fmt: skip
    """Continue the walk through all sets until ``work`` is done or no task is ``waiting``. Returns the number of
    waiting tasks.

    Task (begin, end, m, a) divides the group ``rows[begin:end]``, which agrees on m columns, by column a and each later
    one. The resulting groups follow it in ``rows``. Pairs and groups of up to ``few`` (at most 64) are finished at
    once; larger ones become tasks, and the last task comes next.

    ``seen`` is the code of each member in column a, ``touched`` are the codes that occur. By code: the sum of weights
    (``tally``), the position of its next member (``start``), what each member adds to its sums (``share``), the
    ``least`` support, and the weight of the members that have it (``fewest``). The other arrays are for
    :func:`_walk_small_group`.
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
        k = size_index[m]
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
                _count_pair(
                    codes, weight, support, size_index, stop, ways, rows[begin], rows[begin + 1], m, m + 1, a, sums
                )
                spent += 2
            elif end - begin <= few:
                spent += _walk_small_group(
                    codes, weight, support, size_index, stop, ways, rows, begin, end, m, a, mark, alike, fitting, todo,
                    column, sums,
                )  # fmt: skip
            else:
                tasks[waiting, 0], tasks[waiting, 1], tasks[waiting, 2], tasks[waiting, 3] = begin, end, m, a
                waiting += 1
            begin = end
    return waiting
