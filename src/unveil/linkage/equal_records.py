"""Which records are equal? Sorting them by a hash brings equal ones together; comparing neighbours confirms it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.arrays import Bools, Ints, Small
from unveil.grouping import class_ids
from unveil.linkage import _equal_records
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.slices import chunks

__all__ = ["count_copies", "group_equal_records", "row_classes"]


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


def group_equal_records(records: Records, value: Small, run: Run) -> tuple[Ints, Bools]:
    """An order that brings equal records together, earlier ones first, and which of them differ from the one before.
    Records are compared by the codes in ``value``."""
    numbers, fresh = np.zeros(records.n, np.uint64), np.ones(records.n, np.bool_)
    for first, last in chunks(records.indptr, run):
        _equal_records.hash_records(records.indptr, records.attribute, value, first, last, numbers)
    order = np.argsort(numbers, kind="stable")
    for first, last in chunks(np.append(0, np.cumsum(records.support[order])), run):
        _equal_records.mark_new_records(records.indptr, records.attribute, value, order, first, last, fresh)
    return order, fresh


def row_classes(columns: Sequence[npt.NDArray[Any]], rows: int) -> Ints:
    """The class of every row by all columns of codes, with −1 as a value of its own. Without columns there is one
    class.

    >>> row_classes([np.array([0, 1, 0, -1]), np.array([5, 5, 5, 5])], 4).tolist()
    [1, 2, 1, 0]
    """
    return class_ids(columns, rows)[0]
