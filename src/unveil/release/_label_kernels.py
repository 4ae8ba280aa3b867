"""The compiled inner loops of :mod:`unveil.release.label_table`.

Labels lie one after another in ``known``; label ``k`` is ``known[ends[k] : ends[k + 1]]``. The hash table has open
addressing with linear probing: ``slots`` holds codes, and ``tags``, 0 where a slot is free, seven bits of the hash, so
that hardly any two different labels are compared.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel

__all__ = ["find_codes", "fill_table", "permute_labels", "sort_labels"]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_USED = np.uint64(128)
_HALF = np.uint64(32)
_SMALL = 12  # labels that are sorted by insertion
_END = -1


@helper
def _hash_bytes(data, begin, end, seed):
    """A hash that depends on a secret seed, so that no file can be made of colliding labels."""
    h = seed
    for i in range(begin, end):
        h = (h ^ np.uint64(data[i])) * _FACTOR
        h ^= h >> _HALF
    return h * _FACTOR


@helper
def _is_label(known, first, last, data, begin, end):
    if last - first != end - begin:
        return False
    for i in range(end - begin):
        if known[first + i] != data[begin + i]:
            return False
    return True


@kernel
def find_codes(data, offsets, codes, done, seed, tags, slots, known, ends, count):
    """Fill the codes of texts from ``done`` on, and add new texts to the labels until there is no more room; returns
    the numbers of texts done and of labels."""
    size = np.uint64(len(slots))
    for k in range(done, len(codes)):
        begin, end = offsets[k], offsets[k + 1]
        h = _hash_bytes(data, begin, end, seed)
        tag = np.uint8((h & np.uint64(127)) | _USED)
        place = np.int64(((h >> _HALF) * size) >> _HALF)
        code = np.int64(-1)
        while code < 0 and tags[place] != 0:
            if tags[place] == tag:
                other = slots[place]
                if _is_label(known, ends[other], ends[other + 1], data, begin, end):
                    code = np.int64(other)
            place += 1
            if place == len(slots):
                place = 0
        if code < 0:
            filled = np.int64(ends[count])
            length = end - begin
            if 4 * (count + 1) > 3 * len(slots) or count + 2 > len(ends) or filled + length > len(known):
                return k, count
            for i in range(length):
                known[filled + i] = data[begin + i]
            code = count
            tags[place], slots[place] = tag, code
            count += 1
            ends[count] = filled + length
        codes[k] = code
    return len(codes), count


@kernel
def fill_table(known, ends, count, seed, tags, slots):
    """Enter all labels into an empty table."""
    size = np.uint64(len(slots))
    for k in range(count):
        h = _hash_bytes(known, ends[k], ends[k + 1], seed)
        place = np.int64(((h >> _HALF) * size) >> _HALF)
        while tags[place] != 0:
            place += 1
            if place == len(slots):
                place = 0
        tags[place], slots[place] = np.uint8((h & np.uint64(127)) | _USED), k


@helper
def _sort_key(known, ends, label, depth):
    """What labels are compared by at some depth: their length at −1, or a byte."""
    begin, end = np.int64(ends[label]), np.int64(ends[label + 1])
    if depth < 0:
        return end - begin
    return np.int64(known[begin + depth]) if begin + depth < end else np.int64(_END)


@helper
def _comes_before(known, ends, one, other, depth):
    while True:
        a, b = _sort_key(known, ends, one, depth), _sort_key(known, ends, other, depth)
        if a != b or a == _END:
            return a < b
        depth += 1


@helper
def _insert_labels(known, ends, order, begin, end, depth):
    for i in range(begin + 1, end):
        label, k = order[i], i
        while k > begin and _comes_before(known, ends, label, order[k - 1], depth):
            order[k] = order[k - 1]
            k -= 1
        order[k] = label


@helper
def _median_key(known, ends, order, begin, end, depth):
    a = _sort_key(known, ends, order[begin], depth)
    b = _sort_key(known, ends, order[(begin + end) // 2], depth)
    c = _sort_key(known, ends, order[end - 1], depth)
    return max(min(a, b), min(max(a, b), c))


@kernel
def sort_labels(known, ends, order, depth, stack):
    """Sort the distinct labels in ``order`` by their bytes, after their lengths if ``depth`` is −1, without further
    memory: three-way radix quicksort (Bentley and Sedgewick 1997). ``stack`` holds the ranges that are to be sorted;
    since the shortest comes first, there are at most twice as many as the length has bits.
    """
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, len(order), depth
    top = 1
    while top > 0:
        top -= 1
        begin, end, level = stack[top, 0], stack[top, 1], stack[top, 2]
        if end - begin <= _SMALL:
            _insert_labels(known, ends, order, begin, end, level)
            continue
        pivot = _median_key(known, ends, order, begin, end, level)
        low, i, high = begin, begin, end
        while i < high:
            label = order[i]
            key = _sort_key(known, ends, label, level)
            if key < pivot:
                order[i], order[low] = order[low], label
                low += 1
                i += 1
            elif key > pivot:
                high -= 1
                order[i], order[high] = order[high], label
            else:
                i += 1
        first = top
        for part in range(3):
            a, b = (begin, low) if part == 0 else (low, high) if part == 1 else (high, end)
            if b - a > 1 and (part != 1 or pivot != _END):
                at = top
                while at > first and stack[at - 1, 1] - stack[at - 1, 0] < b - a:
                    stack[at, 0], stack[at, 1], stack[at, 2] = stack[at - 1, 0], stack[at - 1, 1], stack[at - 1, 2]
                    at -= 1
                stack[at, 0], stack[at, 1], stack[at, 2] = a, b, level + 1 if part == 1 else level
                top += 1


@kernel
def permute_labels(known, ends, order, sorted_bytes, sorted_ends):
    """Copy the labels in this order. ``sorted_ends`` may be the memory of ``order`` but begins one place before it: a
    place is read before it is filled."""
    filled = np.int64(0)
    for k in range(len(order)):
        label = order[k]
        for i in range(ends[label], ends[label + 1]):
            sorted_bytes[filled] = known[i]
            filled += 1
        sorted_ends[k + 1] = filled
