"""Compiled: the points of a record that single it out best, for ``worst``.

A point is an attribute with its value. Records are numbered by their place (see ``_index``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Bools, Floats, Ints, Small, Words
from unveil.compilation import helper, kernel
from unveil.linkage._bits import bit_count
from unveil.linkage.attack._posting_index import PostingIndex, locate_things
from unveil.linkage.attack._target_similarity import RecordComparison, clear_target, compare_records, load_target

__all__ = ["find_rarest_points"]


_MAX_POINT_WORDS = 1 << 24  # words of bits for the points of one record


@helper
def _sort_by_length(starts: Any, ends: Any, rank: Any) -> None:
    """Order lists by length, then number (Shell 1959)."""
    gap = len(rank) // 2
    while gap > 0:
        for k in range(gap, len(rank)):
            q, at = rank[k], k
            while at >= gap:
                p = rank[at - gap]
                longer = ends[p] - starts[p] - ends[q] + starts[q]
                if longer < 0 or (longer == 0 and p < q):
                    break
                rank[at] = p
                at -= gap
            rank[at] = q
        gap //= 2


@helper
def _sum_of_greatest(numbers: Any, first: Any, last: Any, many: Any, top: Any) -> Any:
    """The sum of the ``many`` greatest of some numbers."""
    total = 0
    for k in range(many):
        top[k] = 0
    for q in range(first, last):
        x = numbers[q]
        for k in range(many):
            if x > top[k]:
                x, top[k] = top[k], x
    for k in range(many):
        total += top[k]
    return total


@helper
def _mark_sharing_records(
    indptr: Any, attribute: Any, value: Any, holder: Any, low: Any, high: Any, place_of: Any, first: Any, has: Any,
    live: Any,
) -> Any:  # fmt: skip
    """Fill, for all that have one point, a bit for those who also have each point after the ``first``, and a bit for
    those who do not have all points. Returns how many these are, and how many entries were gone through."""
    words, points, count, done = (len(holder) + 63) >> 6, len(has), 0, 0
    for w in range(words):
        live[w] = 0
        for q in range(first + 1, points):
            has[q, w] = 0
    for z in range(len(holder)):
        y, alike, bit = holder[z], 0, np.uint64(1) << np.uint64(z & 63)
        for e in range(indptr[y], indptr[y + 1]):
            i = attribute[e]
            if low[i] <= value[e] and value[e] <= high[i]:
                alike += 1
                if place_of[i] > first:
                    has[place_of[i], z >> 6] |= bit
        if alike < points:  # the others stay in any case
            live[z >> 6] |= bit
            count += 1
        done += indptr[y + 1] - indptr[y]
    return count, done


@helper
def _follow_paths(
    has: Any, words: Any, needs: Any, plain: Any, first: Any, size: Any, same: Any, least: Any, cap: Any, live: Any,
    count: Any, gone: Any, top: Any, path: Any, at: Any, chosen: Any,
) -> Any:  # fmt: skip
    """Follow all paths of ``size`` points that begin with the ``first``. Returns the least number of records, and how
    many words were gone through: more than ``cap`` if it was given up."""
    points, done, depth = len(needs), 0, 0
    for q in range(points):
        chosen[q] = False
    path[0], at[0], chosen[first] = first, -1, True
    while depth >= 0:
        if at[depth] < 0:  # a new path: how many records lack each further point?
            for q in range(path[depth] + 1, points):
                bits = np.uint64(0)
                for w in range(words):
                    bits += bit_count(live[depth, w] & ~has[q, w])
                gone[depth, q] = np.int64(bits)
                if needs[q] < 0 or chosen[needs[q]]:
                    least = min(least, same + count[depth] - gone[depth, q])
            done += (points - path[depth]) * (words + 1)
            at[depth] = path[depth] + 1 if depth < size - 2 else points
        if least == same or done > cap:
            break
        q = at[depth]
        if q >= points:
            chosen[path[depth]] = False
            depth -= 1
            continue
        at[depth] += 1
        if (plain and gone[depth, q] == 0) or (needs[q] >= 0 and not chosen[needs[q]]):
            continue
        done += points - q
        most = gone[depth, q] + _sum_of_greatest(gone[depth], q + 1, points, size - 2 - depth, top)
        if same + count[depth] - most < least:
            for w in range(words):
                live[depth + 1, w] = live[depth, w] & has[q, w]
            count[depth + 1] = count[depth] - gone[depth, q]
            depth += 1
            path[depth], at[depth], chosen[q] = q, -1, True
    return least, done


class _Room(NamedTuple):
    """Room to work in. By attribute: what the target has, and its place among the points. By point: attribute, codes
    alike, where the list of its holders begins and ends, the rows of planes between which they are, its rank and what
    it needs. By record: what is found of it. Then what :func:`_follow_paths` takes."""

    low: Small
    high: Small
    number: Floats
    place_of: Ints
    which: Small
    lows: Small
    highs: Small
    starts: Ints
    ends: Ints
    under: Ints
    upto: Ints
    rank: Ints
    needed: Ints
    similar: Bools
    learned: Ints
    has: Words
    live: Words
    counts: Ints
    gone: Ints
    top: Ints
    path: Ints
    at: Ints
    chosen: Bools


def find_rarest_points(
    index: PostingIndex, like: RecordComparison, targets: Ints, needs: Small, size: int, cap: int, first: int,
    last: int, work: int,
    least: Ints, twins: Ints, exact: Bools,
) -> tuple[int, int]:  # fmt: skip
    """Fill, for each target, how few records have the same ``size`` of its points, however they are chosen, and how
    many have all of them. Returns the target to go on with and the work done."""
    c, n, words = len(index.plane), len(index.last), (len(index.last) + 63) >> 6
    points = int(np.diff(index.indptr).max(initial=0))
    room = _Room(*(
        np.ones(c, np.int32), np.zeros(c, np.int32), np.empty(c), np.full(c, -1), *np.empty((3, 1, points), np.int32),
        *np.empty((6, points), np.int64), np.empty(n, np.bool_), np.empty(n, np.int64),
        np.empty(min(_MAX_POINT_WORDS, points * words), np.uint64), np.empty((size, words), np.uint64),
        np.empty(size, np.int64),
        np.empty((size, points), np.int64), *np.empty((3, size), np.int64), np.empty(points, np.bool_),
    ))  # fmt: skip
    reached: tuple[int, int] = _fill_rarest(
        index, like, targets, needs, size, cap, first, last, work, least, twins, exact, room
    )
    return reached


@kernel
def _fill_rarest(
    index: Any, like: Any, targets: Any, needs: Any, size: Any, cap: Any, first: Any, last: Any, work: Any,
    least: Any, twins: Any, exact: Any, room: Any,
) -> Any:  # fmt: skip
    """Fill, for each target, how few records have the same ``size`` of its points, however they are chosen, and how
    many have all of them. A point that ``needs`` another is chosen only with it. Not ``exact`` where more than ``cap``
    words and entries would have to be gone through. Returns the target to go on with and the work done.

    Paths of points are followed depth first, the rarest point first; a path goes with a bit for each record that has
    all its points. Left out are paths that cannot get below the least so far: a further point takes away at most as
    many records as lack it.
    """
    indptr, attribute, value, holder = index.indptr, index.attribute, index.value, index.holder
    low, high, number, place_of, which, lows, highs, starts, ends, under, upto = room[:11]
    similar, learned, live, count, gone = room.similar, room.learned, room.live, room.counts, room.gone
    n, plain, zero, total = len(index.last), len(needs) == 0, np.int64(0), 0
    for t in range(first, last):
        if total >= work:
            return t, total
        target, begin = targets[t], indptr[targets[t]]
        points = indptr[target + 1] - begin
        least[t], twins[t], exact[t] = n, n, True
        if points == 0:
            continue
        load_target(index, like, target, low, high, number)
        rank, needed, shortest, longest = room.rank[:points], room.needed[:points], 0, 0
        for q in range(points):
            i = attribute[begin + q]
            which[0, q], lows[0, q], highs[0, q], rank[q], needed[q] = i, low[i], high[i], q, -1
        locate_things(
            index.starts, index.code, index.codes, index.fine, index.plane, index.before, which, lows, highs, zero,
            zero, points, starts, ends, under, upto,
        )  # fmt: skip
        if plain:
            _sort_by_length(starts, ends, rank)
        for q in range(points):
            place_of[which[0, rank[q]]] = q
        for q in range(points):
            i, many = which[0, rank[q]], ends[rank[q]] - starts[rank[q]]
            if not plain and needs[i] >= 0:
                needed[q] = place_of[needs[i]]
            else:
                least[t] = min(least[t], many)
            longest = max(longest, many)
            if many < ends[shortest] - starts[shortest]:
                shortest = rank[q]
        among = holder[starts[shortest] : ends[shortest]]
        done = compare_records(index, like, among, len(among), points, low, high, number, similar, learned)
        same = np.int64(0)
        for k in range(len(among)):
            same += learned[k] == points
        twins[t] = same
        if points <= size:
            least[t] = same
        width = (longest + 63) >> 6
        if size > 1 and least[t] > same:
            exact[t] = points * width <= _MAX_POINT_WORDS
        if size > 1 and least[t] > same and exact[t]:
            has = room.has[: points * width].reshape(points, width)
            for f in range(points - 1):
                if needed[f] < 0 and least[t] > same and done <= cap:
                    those = holder[starts[rank[f]] : ends[rank[f]]]
                    count[0], spent = _mark_sharing_records(
                        indptr, attribute, value, those, low, high, place_of, f, has, live[0]
                    )
                    done += spent
                    least[t], spent = _follow_paths(
                        has, (len(those) + 63) >> 6, needed, plain, f, size, same, least[t], cap - done, live,
                        count, gone, room.top, room.path, room.at, room.chosen,
                    )  # fmt: skip
                    done += spent
            exact[t] = least[t] == same or done <= cap
        for q in range(points):
            place_of[which[0, q]] = -1
        clear_target(index, target, low, high)
        total += done
    return last, total
