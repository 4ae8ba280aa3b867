"""Compiled: the points of a record that single it out best, for ``worst_case``.

A point is an attribute with its value. Records are numbered by their place (see ``_posting_index``).
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil._bits import bit_count
from unveil.arrays import BitWords, Bools, Int32s, Ints
from unveil.compilation import helper, kernel
from unveil.linkage.attack._posting_index import PostingIndex, search_codes
from unveil.linkage.attack._target_similarity import RecordComparison

__all__ = ["find_rarest_points"]


_MAX_POINT_WORDS = 1 << 24  # words in the bit sets of one record's points
_POINT_BITS = 31  # a sort key is the number of holders of a point, above the bits of its position
_POINT_MASK = (1 << _POINT_BITS) - 1


@helper
def _sort_keys(keys, count):
    """Sort the first ``count`` keys (Shell 1959)."""
    gap = count >> 1
    while gap > 0:
        for k in range(gap, count):
            x, at = keys[k], k
            while at >= gap and keys[at - gap] > x:
                keys[at] = keys[at - gap]
                at -= gap
            keys[at] = x
        gap >>= 1


@helper
def _mark_sharing_records(
    indptr, attribute, value, holder, point_of, base, low, high, points,
    first, has, live,
):  # fmt: skip
    """For each ``holder`` of one point, numbered z: set bit z of ``has[q]`` for every point q after ``first`` that it
    also has, and bit z of ``live`` unless it has all points. Returns the number of bits set in ``live``, and of entries
    visited."""
    count, done = 0, 0
    for w in range((len(holder) + 63) >> 6):
        live[w] = 0
        for q in range(first + 1, points):
            has[q, w] = 0
    for z in range(len(holder)):
        y, alike, bit = holder[z], 0, np.uint64(1) << np.uint64(z & 63)
        for e in range(indptr[y], indptr[y + 1]):
            q = point_of[attribute[e]] - base
            if q >= 0 and low[q] <= value[e] and value[e] <= high[q]:
                alike += 1
                if q > first:
                    has[q, z >> 6] |= bit
        if alike < points:  # the others are on every path
            live[z >> 6] |= bit
            count += 1
        done += indptr[y + 1] - indptr[y]
    return count, done


@helper
def _follow_paths(
    has, words, points, needed, plain, first, size, same, least, cap,
    stamp, live, count, gone, most_gone, path, at, chosen,
):  # fmt: skip
    """Follow all paths of ``size`` points that begin with point ``first``. Returns the least number of records on any
    path, and the number of words visited: more than ``cap`` if the search was abandoned. A point q is on the current
    path if ``chosen[q]`` is the ``stamp``. The last element of ``chosen`` always is: it stands for a point that needs
    no other."""
    done, depth = 0, 0
    path[0], at[0], chosen[first], chosen[-1] = first, -1, stamp, stamp
    while depth >= 0:
        p = path[depth]
        if at[depth] < 0:  # a new path: gone[q] records lack point q, and most_gone is its maximum from q on
            at[depth], q, most_gone[depth, points] = points, points - 1, 0
            if depth < size - 2:
                at[depth] = p + 1
            while q > p:
                bits = np.uint64(0)
                for w in range(words):
                    bits += bit_count(live[depth, w] & ~has[q, w])
                lost, most = np.int64(bits), most_gone[depth, q + 1]
                if lost > most:
                    most = lost
                gone[depth, q], most_gone[depth, q] = lost, most
                left = same + count[depth] - lost
                if left < least and chosen[needed[q]] == stamp:
                    least = left
                q -= 1
            done += (points - p) * (words + 1)
        if least == same or done > cap:
            break
        q = at[depth]
        if q >= points:
            chosen[p] = -1
            depth -= 1
            continue
        at[depth] += 1
        lost = gone[depth, q]
        if (plain and lost == 0) or chosen[needed[q]] != stamp:
            continue
        if same + count[depth] - lost - (size - 2 - depth) * most_gone[depth, q + 1] < least:
            for w in range(words):
                live[depth + 1, w] = live[depth, w] & has[q, w]
            count[depth + 1] = count[depth] - lost
            depth += 1
            path[depth], at[depth], chosen[q] = q, -1, stamp
    return least, done


class _Workspace(NamedTuple):
    """Working arrays. By attribute: its position among the points. By point: its sort key, and the begin and the end of
    its list of holders; in sorted order, the matching codes and the point it needs. The rest are arguments of
    :func:`_follow_paths`."""

    point_of: Ints
    key: Ints
    start: Ints
    end: Ints
    low: Ints
    high: Ints
    needed: Ints
    has: BitWords
    live: BitWords
    counts: Ints
    gone: Ints
    most_gone: Ints
    path: Ints
    at: Ints
    chosen: Ints


def find_rarest_points(
    index: PostingIndex, like: RecordComparison, targets: Ints, needs: Int32s, size: int, cap: int, first: int,
    last: int, work: int, least: Ints, twins: Ints, exact: Bools,
) -> tuple[int, int]:  # fmt: skip
    """Fill, for each target, the least number of records that share ``size`` of its points, over all choices of these,
    and the number that share all points. Returns the next target and the work done."""
    c, n, words = len(index.plane), len(index.last), (len(index.last) + 63) >> 6
    points = int(np.diff(index.indptr).max(initial=0))
    space = _Workspace(*(
        np.full(c + 1, -1), *np.empty((6, points), np.int64),
        np.empty(min(_MAX_POINT_WORDS, points * words), np.uint64), np.empty((size, words), np.uint64),
        np.empty(size, np.int64), *np.empty((2, size, points + 1), np.int64), *np.empty((2, size), np.int64),
        np.full(points + 1, -1),
    ))  # fmt: skip
    holders = (
        index.indptr, index.attribute, index.value, index.starts, index.holder, index.code, index.plane, index.before
    )  # fmt: skip
    reached: tuple[int, int] = _fill_rarest_points(
        holders, n, like.starts, like.low, like.high, targets, needs, not (needs >= 0).any(), size, cap, first, last,
        work, least, twins, exact, space,
    )  # fmt: skip
    return reached


@kernel
def _fill_rarest_points(
    index, n, like_starts, like_low, like_high, targets, needs, plain,
    size, cap, first, last, work, least, twins, exact, space,
):  # fmt: skip
    """Fill, for each target, the least number of records that share ``size`` of its points, over all choices of these,
    and the number that share all points (``twins``). A point that ``needs`` another is only chosen together with it;
    ``plain`` says that no point does. A result that would take more than ``cap`` words and entries is not ``exact``.
    Returns the next target and the work done.

    The paths of points are followed depth first, rarest points first, each with the bit set of the records that have
    all its points. A path is abandoned if it cannot beat the least number so far: a further point removes at most the
    records that lack it.
    """
    indptr, attribute, value, starts, holder, code, plane, before = index
    point_of, key, start, end, low, high, needed = space[:7]
    zero: Any = np.int64(0)  # not a literal, for which the helpers would be compiled a second time
    live, count, base, total, stamp = space.live, space.counts, zero, zero, zero
    for t in range(first, last):
        if total >= work:
            return t, total
        begin, best, same, done = indptr[targets[t]], n, n, zero
        points = indptr[targets[t] + 1] - begin
        for q in range(points):
            i = attribute[begin + q]
            at = like_starts[i] + value[begin + q]
            if plane[i] >= 0:
                start[q], end[q] = before[plane[i] + like_low[at]], before[plane[i] + like_high[at] + 1]
            else:
                start[q] = search_codes(code, starts[i], starts[i + 1], like_low[at])
                end[q] = search_codes(code, start[q], starts[i + 1], np.int32(like_high[at] + 1))
            key[q] = ((end[q] - start[q]) * plain << _POINT_BITS) + q
        _sort_keys(key, points)
        shortest, longest = zero, zero
        for q in range(points):
            p = key[q] & _POINT_MASK
            i = attribute[begin + p]
            at = like_starts[i] + value[begin + p]
            low[q], high[q], point_of[i] = like_low[at], like_high[at], base + q
            need, many = point_of[needs[i]] - base, end[p] - start[p]
            needed[q] = need
            if need < 0:
                needed[q] = -1
            if needs[i] < 0 and many < best:
                best = many
            if many > longest:
                longest = many
            if many < end[shortest] - start[shortest]:
                shortest = p
        width = (longest + 63) >> 6
        fits = points * width <= _MAX_POINT_WORDS
        has = space.has[: points * width * fits].reshape(points * fits, width)
        for f in range(-1, points - 1):  # −1, before the first path, counts the records that have all points
            if f >= 0 and (needed[f] >= 0 or best == same or done > cap):
                continue
            p, after = shortest, points
            if f >= 0:
                p, after = key[f] & _POINT_MASK, f
            those = holder[start[p] : end[p]]
            count[0], spent = _mark_sharing_records(
                indptr, attribute, value, those, point_of, base, low, high, points, after, has, live[0]
            )
            done += spent
            if f < 0:
                same = len(those) - count[0]
                if points <= size:
                    best = same
                if size == 1 or not fits:
                    break
            else:
                stamp += 1
                best, spent = _follow_paths(
                    has, (len(those) + 63) >> 6, points, needed, plain, f, size, same, best, cap - done, stamp, live,
                    count, space.gone, space.most_gone, space.path, space.at, space.chosen,
                )  # fmt: skip
                done += spent
        least[t], twins[t], exact[t] = best, same, size == 1 or best == same or (fits and done <= cap)
        base += points
        total += done
    return last, total
