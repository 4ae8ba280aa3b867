"""Number the distinct labels of a file that is read in pieces.

A :class:`LabelTable` holds each distinct label once, one after another as Arrow stores strings, and a hash table of 5
bytes per slot, of which half to three quarters are in use. While a file is read, a distinct label of ``b`` bytes takes
at most ``b`` + 14 bytes, and each occurrence the 4 bytes of its code. Arrow's own dictionary takes some 60 bytes per
label.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.arrays import Int32s
from unveil.release import _label_kernels

__all__ = ["GrowingArray", "LabelTable", "number_dtype", "sort_labels", "string_array"]

# The C library gives arrays of this many bytes pages of their own: pages that are not written take no memory, and what
# is freed is returned at once.
_OWN_PAGES = 1 << 25
_BLOCK = 1 << 18
_MAX_KEYS = 1 << 18
_FIRST_SLOTS = 1 << 16  # mostly free, and so fast, while there are few labels
_WHOLE_NUMBER = r"^(0|[1-9][0-9]{0,17})$"  # 18 digits always fit


def number_dtype(largest: int) -> type[np.signedinteger[Any]]:
    """The type of whole numbers up to this one: 4 bytes if they fit."""
    return np.int32 if largest < 2**31 else np.int64


def _reserve(size: int, dtype: Any) -> NDArray[Any]:
    """Zeros on pages of their own."""
    return np.zeros(max(size, _OWN_PAGES // np.dtype(dtype).itemsize), dtype)[:size]


def _growing_array(dtype: Any) -> NDArray[Any]:
    """An array that grows on pages of its own without being copied. numpy marks all of them but the first as huge, and
    differently marked pages cannot be moved together, so it has to begin with the first."""
    array = np.empty(_OWN_PAGES // np.dtype(dtype).itemsize, dtype)
    array.resize(1, refcheck=False)
    return array


def _grow(array: NDArray[Any], size: int) -> None:
    """Make room for at least ``size`` values, where the array is. Nothing else may refer to its memory."""
    if size > len(array):
        array.resize(size + max(size // 32, 1 << 14), refcheck=False)


class GrowingArray:
    """Whole numbers that arrive piece by piece; 4 bytes each while they fit."""

    def __init__(self, *numbers: int) -> None:
        self._array = _growing_array(np.int32)
        self._count = 0
        self.extend(np.array(numbers, np.int64))

    def extend(self, values: NDArray[Any]) -> None:
        if self._array.dtype == np.int32 and values.dtype != np.int32 and values.max(initial=0) >= 2**31:
            self._array = self._array.astype(np.int64)
        _grow(self._array, self._count + len(values))
        self._array[self._count : self._count + len(values)] = values
        self._count += len(values)

    @property
    def last(self) -> int:
        return int(self._array[self._count - 1])

    def take(self) -> NDArray[Any]:
        """The numbers as one array. The object is used up."""
        found, self._array = self._array, np.empty(0, np.int32)
        found.resize(self._count, refcheck=False)
        return found


class LabelTable:
    """Gives texts codes in the order of their first appearance."""

    def __init__(self) -> None:
        self._seed = np.uint64(secrets.randbits(64))
        self._known, self._ends = _growing_array(np.uint8), _growing_array(np.int32)
        self._ends[0] = self._count = 0
        self._make_slots(_FIRST_SLOTS)

    def __len__(self) -> int:
        return self._count

    def encode(self, texts: pa.Array) -> Int32s:
        """A code for each text."""
        codes, done = np.empty(len(texts), np.int32), 0
        if not len(texts):
            return codes
        data, offsets = _text_bytes(texts)
        while True:
            done, self._count = _label_kernels.find_codes(
                data, offsets, codes, done, self._seed, self._tags, self._slots, self._known, self._ends, self._count
            )
            if done == len(codes):
                return codes
            self._make_room(int(offsets[done + 1] - offsets[done]))

    def take_labels(self) -> pa.Array:
        """The labels in the order of their codes. The table is used up."""
        known, ends = self._known, self._ends
        known.resize(int(ends[self._count]), refcheck=False)
        ends.resize(self._count + 1, refcheck=False)
        self._known = self._ends = self._tags = self._slots = np.empty(0, np.uint8)
        return string_array(known, ends)

    def _make_room(self, length: int) -> None:
        """Make room for a new label of this length."""
        size = int(self._ends[self._count]) + length
        if self._ends.dtype != number_dtype(size):
            self._ends = self._ends.astype(np.int64)
        _grow(self._known, size)
        _grow(self._ends, self._count + 2)
        if 4 * (self._count + 1) > 3 * len(self._slots):
            self._make_slots(3 * len(self._slots) // 2)

    def _make_slots(self, size: int) -> None:
        self._tags = self._slots = np.empty(0, np.uint8)  # frees the old ones first
        self._tags, self._slots = _reserve(size, np.uint8), _reserve(size, np.int32)
        _label_kernels.fill_table(self._known, self._ends, self._count, self._seed, self._tags, self._slots)


def _text_bytes(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """The bytes of texts and where each begins, read-only: with one array type, kernels compile once."""
    wide = pa.types.is_large_string(texts.type)
    offsets = np.frombuffer(texts.buffers()[1], np.int64 if wide else np.int32)
    data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    offsets.flags.writeable = data.flags.writeable = False
    return data, offsets[texts.offset : texts.offset + len(texts) + 1]


def string_array(compact: NDArray[np.uint8], offsets: NDArray[Any]) -> pa.Array:
    """An Arrow string array over these bytes, without a copy."""
    kind = pa.string() if offsets.dtype == np.int32 else pa.large_string()
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(compact)])


def sort_labels(labels: pa.Array, codes: Int32s) -> pa.Array:
    """The distinct labels in order: numbers by size if all are whole numbers without leading zeros, otherwise by text,
    character by character (10 before 9). Changes the codes accordingly."""
    if len(labels) < 2:
        return labels
    known, ends = _text_bytes(labels)
    sorted_ends = _reserve(len(ends), np.int32)
    order = sorted_ends[1:]
    order[:] = np.arange(len(order), dtype=np.int32)
    by_size = bool(pc.all(pc.match_substring_regex(labels, _WHOLE_NUMBER)).as_py())
    _sort_order(known, ends, order, by_size)
    _renumber(codes, order)
    sorted_bytes = np.empty(int(ends[-1]), np.uint8)
    if ends.dtype != sorted_ends.dtype:
        sorted_ends = np.zeros(len(ends), ends.dtype)
    _label_kernels.permute_labels(known, ends, order, sorted_bytes, sorted_ends)
    sorted_ends[0] = 0
    return string_array(sorted_bytes, sorted_ends)


def _sort_order(known: NDArray[np.uint8], ends: NDArray[Any], order: Int32s, by_size: bool) -> None:
    stack, counts = np.empty((_MAX_KEYS // 2 + 128, 3), np.int64), np.empty(256, np.int64)
    keys, places = np.empty((2, _MAX_KEYS), np.uint64), np.empty(_MAX_KEYS, np.int32)
    _label_kernels.sort_labels(known, ends, order, -1 if by_size else 0, stack, keys, places, counts)


def _renumber(codes: Int32s, order: Int32s) -> None:
    ranks = _reserve(len(order), np.int32)
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        ranks[block] = np.arange(start, start + len(block), dtype=np.int32)
    for start in range(0, len(codes), _BLOCK):
        codes[start : start + _BLOCK] = ranks[codes[start : start + _BLOCK]]
