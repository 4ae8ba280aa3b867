"""The compiled inner loops of ``intersection``.

All releases are stored in the same arrays, one after the other. ``spots[r]`` has each person's spot in release r, −1 if
there is none. Spot q stands for the classes ``classes[starts[q] … starts[q + 1]]``; the values in class c are at
``begins[c] … begins[c + 1]``. A set of values is a list of its non-empty 64-bit words, so it takes no more words than
its class has rows, and no more than one bit per value.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import allocating_kernel, helper

__all__ = ["count_possible_values", "list_fitting_classes", "weigh_values"]

_NONE, _ONE, _TWO, _FOUR, _TOP = (np.uint64(x) for x in (0, 1, 2, 4, 56))
_ODD, _PAIRS, _HALVES, _BYTES = (
    np.uint64(x) for x in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)


@helper
def _count_bits(word):
    """The number of set bits in a word: summed in pairs, in nibbles, in bytes, and the bytes by one multiplication."""
    word = word - ((word >> _ONE) & _ODD)
    word = (word & _PAIRS) + ((word >> _TWO) & _PAIRS)
    word = (word + (word >> _FOUR)) & _HALVES
    return np.int64((word * _BYTES) >> _TOP)


@allocating_kernel
def count_possible_values(
    spots, starts, classes, begins, places, words, first, last, sheet, joint, united, held, bits, alone, together
):
    """For some people, the number of values that each release leaves possible, and that all releases so far leave
    possible.

    ``sheet`` is 0 on entry and exit. ``joint`` and ``united`` are workspace for the words of several classes, ``held``
    and ``bits`` for those of the remaining set.
    """
    for person in range(first, last):
        left = -1  # nothing is known yet
        size = -1
        for release in range(len(spots)):
            spot = spots[release, person]
            low = high = 0
            where, what = places, words
            if spot >= 0 and starts[spot + 1] == starts[spot] + 1:
                low, high = begins[classes[starts[spot]]], begins[classes[starts[spot]] + 1]
            elif spot >= 0:
                high = _unite_classes(
                    starts[spot], starts[spot + 1], classes, begins, places, words, sheet, joint, united
                )
                where, what = joint, united
            single = 0
            for i in range(low, high):
                single += _count_bits(what[i])
            if high > low and left < 0:
                left, size = high - low, single
                for i in range(left):
                    held[i] = where[low + i]
                    bits[i] = what[low + i]
            elif high > low:
                kept = size = i = 0
                while i < left and low < high:
                    if held[i] == where[low]:
                        word = bits[i] & what[low]
                        held[kept] = held[i]
                        bits[kept] = word
                        kept += word != _NONE
                        size += _count_bits(word)
                    before = held[i]
                    i += before <= where[low]
                    low += where[low] <= before
                left = kept
            alone[release, person] = single
            together[release, person] = size


@allocating_kernel
def _unite_classes(start, stop, classes, begins, places, words, sheet, joint, united):
    """Unite the sets of several classes, in ascending order; returns the number of words."""
    filled = 0
    for e in range(start, stop):
        for i in range(begins[classes[e]], begins[classes[e] + 1]):
            if sheet[places[i]] == _NONE:
                joint[filled] = places[i]
                filled += 1
            sheet[places[i]] |= words[i]
    if filled * 4 < len(sheet):
        joint[:filled].sort()
    else:
        filled = 0
        for place in range(len(sheet)):
            joint[filled] = place
            filled += sheet[place] != _NONE
    for i in range(filled):
        united[i] = sheet[joint[i]]
        sheet[joint[i]] = _NONE
    return filled


@helper
def _nth_root(number, n):
    """The n-th root, with shortcuts for n = 1 and n = 2."""
    if n == 1:
        return number
    return np.sqrt(number) if n == 2 else number ** (1.0 / n)


@allocating_kernel
def weigh_values(
    spots, starts, classes, begins, values, counts, prior, rooted, first, last, sheet, touched, held, weights, chance,
    best,
):  # fmt: skip
    """For some people, the likeliest value and its probability after every release: see ``posterior_values``.

    ``sheet`` counts each value in the classes of one release; it is 0 on entry and exit. If ``rooted``, the n-th root
    of the weights is taken after n releases.
    """
    for person in range(first, last):
        left = heard = 0
        for release in range(len(spots)):
            spot = spots[release, person]
            filled = 0
            if spot >= 0:
                for e in range(starts[spot], starts[spot + 1]):
                    for i in range(begins[classes[e]], begins[classes[e] + 1]):
                        if sheet[values[i]] == 0:
                            touched[filled] = values[i]
                            filled += 1
                        sheet[values[i]] += counts[i]
            if filled and heard == 0:
                left = filled
                for i in range(filled):
                    held[i] = touched[i]
                    weights[i] = sheet[touched[i]]
            elif filled:
                kept = 0
                for i in range(left):
                    value = held[i]
                    held[kept] = value
                    weights[kept] = weights[i] * sheet[value] / prior[value]
                    kept += sheet[value] > 0
                left = kept
            heard += filled > 0
            for i in range(filled):
                sheet[touched[i]] = 0
            top = 0
            for i in range(left):
                if weights[i] > weights[top] or (weights[i] == weights[top] and held[i] < held[top]):
                    top = i
            scale = weights[top]
            total = 0.0
            for i in range(left):
                weights[i] /= scale
                total += _nth_root(weights[i], heard) if rooted else weights[i]
            chance[release, person] = 1 / total if left else 0.0
            best[release, person] = held[top] if left else -1


@helper
def _search_from(numbers, number, low, high):
    """The first position from ``low`` that has at least ``number`` (galloping search: fast if it is near)."""
    step = 1
    while low + step < high and numbers[low + step] < number:
        low += step
        step *= 2
    high = min(high, low + step)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@allocating_kernel
def list_fitting_classes(known, labels, starts, fits, first, last, begins, found, filling):
    """For some profiles, all classes whose labels fit in every column, in order.

    ``labels`` has a row for every column; classes are sorted by their labels, so those with the same first labels are
    adjacent. Value v of column d fits the labels ``fits[starts[d, v] … starts[d, v + 1]]``. The search goes column by
    column and intersects the sorted lists of fitting and of existing labels by galloping. Unless ``filling``, it only
    counts the classes, into ``begins[profile + 1]``.
    """
    width = len(labels)
    end = np.empty(
        width + 1, np.int64
    )  # the end of the classes with the same first labels; ``at`` is the position among them
    at = np.empty(width + 1, np.int64)
    fit = np.empty(width + 1, np.int64)
    for profile in range(first, last):
        many = 0
        d = 0
        at[0], end[0] = 0, labels.shape[1]
        fit[0] = starts[0, known[0, profile]]
        while d >= 0:
            stop = starts[d, known[d, profile] + 1]
            x, f = at[d], fit[d]
            while x < end[d] and f < stop and labels[d, x] != fits[f]:
                if labels[d, x] < fits[f]:
                    x = _search_from(labels[d], fits[f], x, end[d])
                else:
                    f = _search_from(fits, labels[d, x], f, stop)
            if x == end[d] or f == stop:
                d -= 1
                continue
            after = _search_from(labels[d], fits[f] + 1, x, end[d])
            at[d], fit[d] = after, f + 1
            if d + 1 < width:
                d += 1
                at[d], end[d] = x, after
                fit[d] = starts[d, known[d, profile]]
            else:  # the last column: one class, since no two have the same labels
                if filling:
                    found[begins[profile] + many] = x
                many += 1
        if not filling:
            begins[profile + 1] = many
