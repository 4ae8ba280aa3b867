"""Which records are equal? Sorting them by a hash brings equal ones together; comparing neighbours confirms it."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from unveil.arrays import BitWords, Bools, Int32s, Ints
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.slices import chunks

__all__ = ["count_copies", "group_equal_records"]


def count_copies(records: Records, run: Run | None = None) -> Ints:
    """Number of records equal to each, itself included.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_from_codes
    >>> from unveil.release.codes import encode_column
    >>> count_copies(records_from_codes({"age": encode_column(pa.chunked_array([[30, 41, 30, None]]))})).tolist()
    [2, 1, 2, 1]
    """
    order, fresh = group_equal_records(records, records.value, run or Run())
    kind = np.empty(records.n, np.int64)
    kind[order] = np.cumsum(fresh) - 1
    return np.bincount(kind, minlength=1)[kind]


def group_equal_records(records: Records, value: Int32s, run: Run) -> tuple[Ints, Bools]:
    """An order that brings equal records together, earlier ones first, and which of them differ from the one before.
    Records are compared by the codes in ``value``."""
    matrix = csr_array((value, records.attribute, records.indptr), shape=(records.n, records.c))
    numbers = _hash_records(matrix)
    run.check()
    order = np.argsort(numbers, kind="stable")
    fresh = np.ones(records.n, np.bool_)
    fresh[1:] = np.diff(numbers[order]) != 0
    first_one = np.empty(records.n, np.int64)
    first_one[order] = order[fresh][np.cumsum(fresh) - 1]
    differs = _differing_records(matrix, first_one, run)[order]
    fresh |= differs
    fresh[1:] |= differs[:-1]
    return order, fresh


def _differing_records(matrix: csr_array, others: Ints, run: Run) -> Bools:
    """Which records differ from the others they are to be compared with."""
    sizes = np.diff(matrix.indptr)
    differs: Bools = sizes != sizes[others]
    doubtful = np.flatnonzero(~differs & (others != np.arange(len(others))))
    for first, last in chunks(np.append(0, np.cumsum(sizes[doubtful], dtype=np.int64)), run):
        some = doubtful[first:last]
        one, two = matrix[some], matrix[others[some]]
        unequal = np.append(0, np.cumsum((one.indices != two.indices) | (one.data != two.data)))
        differs[some] = np.diff(unequal[one.indptr]) > 0
    return differs


def _hash_records(matrix: csr_array) -> BitWords:
    """A number for each record that is the same for equal ones, and hardly ever for others: the sum of its codes times
    a random number for each attribute, in 64 bits (Carter and Wegman 1979)."""
    factors = np.random.default_rng(0).integers(1 << 64, size=matrix.shape[1], dtype=np.uint64)
    data = matrix.data.astype(np.uint64) + np.uint64(1)
    return np.asarray(csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape) @ factors)
