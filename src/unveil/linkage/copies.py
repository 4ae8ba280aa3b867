"""Which records are equal? They are sorted by a number that is the same for equal ones, and neighbours compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.grouping import class_ids
from unveil.linkage import _copies
from unveil.linkage.records import Records
from unveil.run import Run
from unveil.slices import pieces

__all__ = ["copies", "grouped", "same"]

Ints = npt.NDArray[np.int64]


def copies(records: Records, run: Run | None = None) -> Ints:
    """How many records are equal to each, itself included.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_of_codes
    >>> from unveil.release.codes import encode
    >>> copies(records_of_codes({"age": encode(pa.chunked_array([[30, 41, 30, None]]))})).tolist()
    [2, 1, 2, 1]
    """
    order, fresh = grouped(records, records.value, run or Run())
    kind = np.empty(records.n, np.int64)
    kind[order] = np.cumsum(fresh) - 1
    return np.bincount(kind, minlength=1)[kind]


def grouped(records: Records, value: npt.NDArray[np.int32], run: Run) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """An order in which equal records come together, earlier ones first, and which of them differ from the one before.
    ``value`` are the codes by which they are compared."""
    numbers, fresh = np.zeros(records.n, np.uint64), np.ones(records.n, np.bool_)
    for first, last in pieces(records.indptr, run):
        _copies.mixed(records.indptr, records.attribute, value, first, last, numbers)
    order = np.argsort(numbers, kind="stable")
    for first, last in pieces(np.append(0, np.cumsum(records.support[order])), run):
        _copies.compared(records.indptr, records.attribute, value, order, first, last, fresh)
    return order, fresh


def same(columns: Sequence[npt.NDArray[Any]], rows: int) -> Ints:
    """The class of every row by all columns of codes, −1 being a value; without columns all are in one.

    >>> same([np.array([0, 1, 0, -1]), np.array([5, 5, 5, 5])], 4).tolist()
    [1, 2, 1, 0]
    """
    return class_ids(columns, rows)[0]
