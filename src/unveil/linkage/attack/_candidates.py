"""Compiled: the records that fit everything that is known.

Candidates are a bit set while there are many, and a list of places afterwards (see ``_posting_index``). Arrays with two
axes are indexed by target, and by known thing or number of known things.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unveil._bits import bit_count, has_bit, lowest_bit
from unveil.arrays import BitWords, Floats, Int32s, Ints
from unveil.compilation import helper, kernel
from unveil.linkage.attack._posting_index import PostingIndex, search_codes
from unveil.linkage.attack._target_similarity import (
    RecordComparison,
    TargetValues,
    compare_records,
    load_target,
    target_values,
)

__all__ = ["narrow_candidates"]

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_APPLIED = -2  # replaces the row of planes of a thing once it is applied; −1 if it has none


@helper
def _intersect_bits(live, more, upto, under):
    """live ← (live ∪ more) ∩ upto ∖ under, with ``more`` added to every word; returns the size of the set."""
    bits = np.uint64(0)
    for w in range(len(upto)):
        x = (live[w] | more) & upto[w] & ~under[w]
        live[w] = x
        bits += bit_count(x)
    return np.int64(bits)


@helper
def _unpack_bits(live, places):
    """List the places whose bits are set."""
    made = 0
    for w in range(len(live)):
        x = live[w]
        while x:
            places[made] = (w << 6) + lowest_bit(x)
            x &= x - np.uint64(1)
            made += 1


@helper
def _filter_by_bits(these, not_these, places, count):
    """Keep the places that are in ``these`` and not in ``not_these``; returns how many."""
    made: Any = 0
    for k in range(count):
        y = np.int64(places[k])
        places[made] = y
        made += np.int64(has_bit(these, y) & ~has_bit(not_these, y))
    return made


@helper
def _filter_by_values(
    indptr, attribute, value, i, low, high, places, count
):  # fmt: skip
    """Keep the places that have attribute i with a code from ``low`` to ``high``; returns how many."""
    made = 0
    for k in range(count):
        y = places[k]
        end = indptr[y + 1]
        at = search_codes(attribute, indptr[y], end, i)
        places[made] = y
        if at < end:
            made += (attribute[at] == i) & (low <= value[at]) & (value[at] <= high)
    return made


@helper
def _least_support(last, live):
    """The end of the run of places with the least support in a non-empty set, and how many members of the set are in
    that run."""
    w = 0
    while live[w] == 0:
        w += 1
    until, bits = last[(w << 6) + lowest_bit(live[w])], np.uint64(0)
    while w < until >> 6:
        bits += bit_count(live[w])
        w += 1
    return until, np.int64(bits + bit_count(live[w] & ((np.uint64(1) << np.uint64(until & 63)) - np.uint64(1))))


class _Workspace(NamedTuple):
    """Working arrays: the candidates as a bit set, with an empty word at the end, and as a list; the two rows of planes
    between which the holders of each known thing lie; and the values of the target."""

    live: BitWords
    places: Int32s
    under: Ints
    upto: Ints
    own: TargetValues


def narrow_candidates(
    index: PostingIndex, like: RecordComparison, targets: Ints, usable: Ints, attribute: Int32s, low: Int32s,
    high: Int32s, ms: Ints, few: int, found: Floats, first: int, last: int, work: int,
) -> int:  # fmt: skip
    """Fill the outcomes of an attacker who considers the records that fit everything that is known. Processes the
    targets ``first`` to ``last``, or as many as ``work`` allows; returns the next target."""
    n, most, compared = len(index.last), attribute.shape[1], like.sigma >= 0
    space = _Workspace(*(
        np.zeros(index.planes.shape[1] + 1, np.uint64), np.empty(n, np.int32), *np.empty((2, most), np.int64),
        target_values(len(index.plane) * compared, like.grades),
    ))  # fmt: skip
    reached: int = _fill_outcomes(
        index, like, targets, usable, attribute.ravel(), low.ravel(), high.ravel(), ms, few, found, first, last, work,
        space,
    )  # fmt: skip
    return reached


@kernel
def _fill_outcomes(
    index, like, targets, usable, attribute, low, high, ms, few,
    found, first, last, work, space,
):  # fmt: skip
    """Fill ``found``, with a row for every target and number of known things and the columns of ``TargetOutcomes``. The
    best candidates are those of least support. The last four columns are filled only if records are compared.

    The search starts from the known thing with the fewest holders. Candidates are bits while there are more than
    ``few`` and the attributes have planes, and a list from then on. Processes the targets ``first`` to ``last``, or as
    many as ``work`` allows; returns the next target.
    """
    indptr, had, value, ends, starts, holder, code, plane, before, planes = index
    live, places, under, upto, own = space
    compared, done = like.sigma >= 0.0, 0
    for t in range(first, last):
        if done >= work:
            return t
        target, known, bits, count = targets[t], 0, False, 0
        if compared:
            load_target(indptr, had, value, like, like.grades, target, own)
        for j in range(len(ms)):
            m, shortest, chosen, begin, left = ms[j], len(ends) + 1, 0, 0, False
            if usable[t] < m:
                break
            for k in range(known, m):
                thing = t * len(under) + k
                i, least, most = attribute[thing], low[thing], high[thing]
                under[k] = _APPLIED
                if i < 0:
                    continue
                here, length = 0, shortest
                if plane[i] >= 0:
                    under[k], upto[k] = plane[i] + least, plane[i] + most + 1
                    here = before[under[k]]
                    length = before[upto[k]] - here
                else:
                    under[k] = -1
                    if known == 0:
                        here = search_codes(code, starts[i], starts[i + 1], least)
                        length = search_codes(code, here, starts[i + 1], np.int32(most + 1)) - here
                if length < shortest:
                    shortest, chosen, begin = length, k, here
            if known == 0:
                count, bits = shortest, under[chosen] >= 0 and shortest > few
                if bits:
                    _intersect_bits(live, _ALL, planes[upto[chosen]], planes[under[chosen]])
                else:
                    for k in range(count):
                        places[k] = holder[begin + k]
                under[chosen] = _APPLIED
                done += count
            for k in range(known, m):
                if bits and under[k] >= 0 and count > few:
                    count = _intersect_bits(live, np.uint64(0), planes[upto[k]], planes[under[k]])
                    under[k] = _APPLIED
                    done += len(live)
                left |= under[k] > _APPLIED
            if bits and (left or compared or count <= few):
                _unpack_bits(live, places)
                bits = False
            for k in range(known, m):
                if under[k] > _APPLIED:
                    done += 10 * count + 1
                    if under[k] >= 0:
                        count = _filter_by_bits(planes[upto[k]], planes[under[k]], places, count)
                    else:
                        thing = t * len(under) + k
                        count = _filter_by_values(
                            indptr, had, value, attribute[thing], low[thing], high[thing], places, count
                        )
            known, hit, until, ties = m, False, len(ends) + 1, 0
            if bits:
                until, ties = _least_support(ends, live)
                hit = has_bit(live, target) == np.uint64(1)
            else:
                for k in range(count):
                    y = places[k]
                    hit |= y == target
                    if y < until:
                        if ends[y] < until:
                            until, ties = ends[y], 0
                        ties += 1
            seen, divisor, best_divisor = found[t * len(ms) + j], count + (count == 0), ties + (count == 0)
            seen[0], seen[1], seen[2] = hit / divisor, (hit and target < until) / best_divisor, count
            seen[3], seen[4] = ties, 0.0
            done += 20
            if compared:
                more, similar, learned, best_similar, best_learned = compare_records(
                    indptr, had, value, like, like.grades, target, own, places, count, until, None
                )
                done += more
                seen[5], seen[6] = similar / divisor, learned / divisor
                seen[7], seen[8] = best_similar / best_divisor, best_learned / best_divisor
    return last
