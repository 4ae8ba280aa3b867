"""Compiled: the records that have all that is known.

Candidates are a set of bits as long as they are many, and a list of places then (see ``_index``). Arrays of two axes go
by target and by thing or number of things known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import Bools, Floats, Ints, Small, Words
from unveil.compilation import helper, kernel
from unveil.linkage._bits import bit_count, has_bit, lowest_bit
from unveil.linkage.attack._outcomes import TargetOutcomes, average_candidates
from unveil.linkage.attack._posting_index import PostingIndex, locate_things, search_codes
from unveil.linkage.attack._target_similarity import RecordComparison, clear_target, compare_records, load_target

__all__ = ["narrow_candidates"]


@helper
def _start_bits(live: Any, upto: Any, under: Any) -> None:
    """Those below one value and not below another."""
    for w in range(len(live)):
        live[w] = upto[w] & ~under[w]


@helper
def _intersect_bits(live: Any, upto: Any, under: Any) -> Any:
    """Keep of a set those below one value and not below another, and count them."""
    bits = np.uint64(0)
    for w in range(len(live)):
        x = live[w] & upto[w] & ~under[w]
        live[w] = x
        bits += bit_count(x)
    return np.int64(bits)


@helper
def _unpack_bits(live: Any, places: Any) -> Any:
    """List the places whose bits are set."""
    made = 0
    for w in range(len(live)):
        x = live[w]
        while x:
            places[made] = (w << 6) + lowest_bit(x)
            x &= x - np.uint64(1)
            made += 1
    return made


@helper
def _filter_by_bits(these: Any, not_these: Any, places: Any, count: Any) -> Any:
    """Keep those of some places that are in one set and not in another, and count them."""
    made: Any = 0
    for k in range(count):
        y = places[k]
        places[made] = y
        made += np.int64(has_bit(these, y) & ~has_bit(not_these, y))
    return made


@helper
def _filter_by_values(
    indptr: Any, attribute: Any, value: Any, i: Any, low: Any, high: Any, places: Any, count: Any
) -> Any:  # fmt: skip
    """Keep those of some places that have attribute i with a code from ``low`` to ``high``, and count them."""
    made = 0
    for k in range(count):
        y = places[k]
        end = indptr[y + 1]
        at = search_codes(attribute, indptr[y], end, i)
        places[made] = y
        made += at < end and attribute[at] == i and low <= value[at] and value[at] <= high
    return made


@helper
def _least_support(last: Any, live: Any) -> Any:
    """The first of a set that is not empty, and how many of the set have as little support."""
    w = 0
    while live[w] == 0:
        w += 1
    least = (w << 6) + lowest_bit(live[w])
    until, bits = last[least], np.uint64(0)
    while w << 6 < until:
        x = live[w]
        if until - (w << 6) < 64:
            x &= (np.uint64(1) << np.uint64(until - (w << 6))) - np.uint64(1)
        bits += bit_count(x)
        w += 1
    return least, np.int64(bits)


@helper
def _least_support_listed(last: Any, places: Any, count: Any) -> Any:
    """The same of a list, which may be empty."""
    least, ties = len(last), 0
    for k in range(count):
        least = min(least, places[k])
    if count:
        until = last[least]
        for k in range(count):
            ties += places[k] < until
    return least, ties


class _Room(NamedTuple):
    """Room to work in: candidates as a set of bits and as a list; which things known were applied, where the list of
    holders of each begins and ends, and the rows of planes between which they are; what the target has, by attribute,
    and what is found of each candidate that is compared with it."""

    live: Words
    places: Small
    applied: Bools
    begin: Ints
    end: Ints
    under: Ints
    upto: Ints
    low: Small
    high: Small
    number: Floats
    similar: Bools
    learned: Ints


def narrow_candidates(
    index: PostingIndex, like: RecordComparison, targets: Ints, usable: Ints, attribute: Small, low: Small,
    high: Small, ms: Ints,
    few: int, first: int, last: int, work: int, seen: TargetOutcomes,
) -> int:  # fmt: skip
    """Fill what is seen by someone who considers the records that have all that is known, from target ``first`` to
    ``last`` or as far as ``work`` allows; returns the target to go on with."""
    n, most, c = len(index.last), attribute.shape[1], len(index.plane) if like.kind else 0
    room = _Room(*(
        np.empty(index.planes.shape[1], np.uint64), np.empty(n, np.int32), np.empty(most, np.bool_),
        *np.empty((4, most), np.int64), np.ones(c, np.int32), np.zeros(c, np.int32), np.empty(c),
        np.empty(n, np.bool_), np.empty(n, np.int64),
    ))  # fmt: skip
    reached: int = _fill_narrowed(
        index, like, targets, usable, attribute, low, high, ms, few, first, last, work, seen, room
    )
    return reached


@kernel
def _fill_narrowed(
    index: Any, like: Any, targets: Any, usable: Any, attribute: Any, low: Any, high: Any, ms: Any, few: Any,
    first: Any, last: Any, work: Any, seen: Any, room: Any,
) -> Any:  # fmt: skip
    """Fill what is seen by someone who considers the records that have all that is known: all the same, or only those
    of least support.

    Begins with the shortest run of the first things. Candidates are bits, as long as they are more than ``few`` and the
    attributes have planes, and a list from then on. Goes from target ``first`` to ``last``, or as far as ``work``
    allows; returns the target to go on with.
    """
    planes, ends = index.planes, index.last
    indptr, had, value = index.indptr, index.attribute, index.value
    starts, holder, code, codes = index.starts, index.holder, index.code, index.codes
    fine, plane, before = index.fine, index.plane, index.before
    live, places, applied, begin, end, under, upto, own_low, own_high, own_number, similar, learned = room
    done = 0
    for t in range(first, last):
        if done >= work:
            return t
        target, known, bits, count = targets[t], np.int64(0), False, 0
        if like.kind:
            load_target(index, like, target, own_low, own_high, own_number)
        for j in range(len(ms)):
            m = ms[j]
            if usable[t] < m:
                break
            locate_things(
                starts, code, codes, fine, plane, before, attribute, low, high, t, known, m, begin, end, under, upto
            )
            for k in range(known, m):
                applied[k] = attribute[t, k] < 0
            if known == 0:
                chosen = 0
                for k in range(1, m):
                    if attribute[t, k] >= 0 and end[k] - begin[k] < end[chosen] - begin[chosen]:
                        chosen = k
                applied[chosen], count = True, end[chosen] - begin[chosen]
                bits = under[chosen] >= 0 and count > few
                if bits:
                    _start_bits(live, planes[upto[chosen]], planes[under[chosen]])
                else:
                    for k in range(count):
                        places[k] = holder[begin[chosen] + k]
                done += count
            if bits:
                left = False
                for k in range(known, m):
                    if not applied[k]:
                        if under[k] >= 0 and count > few:
                            count = _intersect_bits(live, planes[upto[k]], planes[under[k]])
                            applied[k] = True
                            done += len(live)
                        else:
                            left = True
                if left or count <= few:
                    count, bits = _unpack_bits(live, places), False
            if not bits:
                for k in range(known, m):
                    if not applied[k] and count > 0:
                        done += 10 * count + 1
                        if under[k] >= 0:
                            count = _filter_by_bits(planes[upto[k]], planes[under[k]], places, count)
                        else:
                            count = _filter_by_values(
                                indptr, had, value, attribute[t, k], low[t, k], high[t, k], places, count
                            )
            known, hit = m, False
            if bits:
                least, ties = _least_support(ends, live)
                hit = has_bit(live, target) == np.uint64(1)
            else:
                least, ties = _least_support_listed(ends, places, count)
                for k in range(count):
                    hit |= places[k] == target
            until = ends[least] if count else 0
            seen.size[t, j], seen.ties[t, j], seen.apart[t, j] = count, ties, 0.0
            seen.spread[t, j] = 1.0 / count if hit else 0.0
            seen.best[t, j] = 1.0 / ties if hit and target < until else 0.0
            done += 20
            if like.kind:
                if bits:
                    _unpack_bits(live, places)
                support = indptr[target + 1] - indptr[target]
                done += compare_records(
                    index, like, places, count, support, own_low, own_high, own_number, similar, learned
                )
                average_candidates(places, count, similar, learned, until, ties, t, j, seen)
        if like.kind:
            clear_target(index, target, own_low, own_high)
    return last
