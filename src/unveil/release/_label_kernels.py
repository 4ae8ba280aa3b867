"""The compiled inner loops of :mod:`unveil.release.label_table`.

Labels lie one after another in ``known``; label ``k`` is ``known[ends[k] : ends[k + 1]]``. The hash table has open
addressing with linear probing: ``slots`` holds codes, and ``tags``, 0 where a slot is free, seven bits of the hash, so
that hardly any two different labels are compared.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import helper, kernel

__all__ = ["fill_table", "find_codes", "permute_labels", "sort_labels"]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_USED = np.uint64(128)
_HALF = np.uint64(32)
_SMALL = 12  # labels that are sorted by insertion
_KEYS = 7  # bytes of a label that are sorted at once
_BYTE = np.uint64(8)
_LAST_BYTE = np.uint64(255)
_END = -1


@helper
def _hash_bytes(data, begin, end, seed):
    """A hash that depends on a secret seed, so that no file can be made of colliding labels."""
    h = seed
    for i in range(begin, end):
        h = (h ^ np.uint64(data[i])) * _FACTOR
    return (h ^ (h >> _HALF)) * _FACTOR


@helper
def _is_label(known, first, last, data, begin, end):
    if last - first != end - begin:
        return False
    i = 0
    while begin + i < end and known[first + i] == data[begin + i]:
        i += 1
    return begin + i == end


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
        code = -1
        while code < 0 and tags[place] != 0:
            if tags[place] == tag:
                other = slots[place]
                if _is_label(known, ends[other], ends[other + 1], data, begin, end):
                    code = other
            place += 1
            if place == len(slots):
                place = np.int64(0)
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
                place = np.int64(0)
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


@helper
def _pack_key(known, ends, label, depth):
    """The next bytes of a label, and after them how many there are, as one number in the same order."""
    begin = np.int64(ends[label]) + depth
    left = np.int64(ends[label + 1]) - begin
    key = np.uint64(0)
    for i in range(_KEYS):
        key <<= _BYTE
        if i < left:
            key |= np.uint64(known[begin + i])
    return (key << _BYTE) | np.uint64(min(left, _KEYS + 1))


@helper
def _sort_by_keys(order, begin, size, keys, places, counts):
    """Sort some labels by ``keys[0]``, byte by byte from the last one; the second rows are work space."""
    for shift in range(0, 64, 8):
        by = np.uint64(shift)
        for byte in range(256):
            counts[byte] = 0
        for i in range(size):
            counts[(keys[0, i] >> by) & _LAST_BYTE] += 1
        if counts[(keys[0, 0] >> by) & _LAST_BYTE] == size:
            continue
        filled = 0
        for byte in range(256):
            counts[byte], filled = filled, filled + counts[byte]
        for i in range(size):
            byte = (keys[0, i] >> by) & _LAST_BYTE
            keys[1, counts[byte]], places[counts[byte]] = keys[0, i], order[begin + i]
            counts[byte] += 1
        for i in range(size):
            keys[0, i], order[begin + i] = keys[1, i], places[i]


@kernel
def sort_labels(known, ends, order, depth, stack, keys, places, counts):
    """Sort the distinct labels in ``order`` by their bytes, after their lengths if ``depth`` is −1, in little memory.

    Three-way radix quicksort (Bentley and Sedgewick 1997) divides them until their next bytes fit into the processor's
    cache, as ``keys``. ``stack`` holds the ranges that are to be sorted. Of large ones the shortest comes first, so
    there are at most twice as many as their number has bits; small ones are disjoint parts of one that fits into
    ``keys``.
    """
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, len(order), depth
    top = 1
    while top > 0:
        top -= 1
        begin, end, level = stack[top, 0], stack[top, 1], stack[top, 2]
        size = end - begin
        if size <= _SMALL:
            _insert_labels(known, ends, order, begin, end, level)
            continue
        if level >= 0 and size <= len(places):
            for i in range(size):
                keys[0, i] = _pack_key(known, ends, order[begin + i], level)
            _sort_by_keys(order, begin, size, keys, places, counts)
            first = 0
            for i in range(1, size + 1):
                if i == size or keys[0, i] != keys[0, first]:
                    if i - first > 1:
                        stack[top, 0], stack[top, 1], stack[top, 2] = begin + first, begin + i, level + _KEYS
                        top += 1
                    first = i
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
            if b - a > 1:
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
