"""Which records have which values? Postings, the inverted index of records.

The entries of all records are sorted by attribute, then by code, then by record. The holders of an attribute are then
consecutive, and so are the holders of any range of its codes.

**How it is computed.** Two stable counting sorts, by code and then by attribute. Transposing a sparse matrix is such a
sort: in scipy, in one pass, and without compiling anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unveil.arrays import Bools, Int32s, Ints
from unveil.linkage.records import Records

__all__ = ["Postings", "build_postings"]


class Postings(NamedTuple):
    """The holders of attribute i are ``holder[starts[i] : starts[i + 1]]``, by rising ``code`` and then record."""

    starts: Ints
    holder: Int32s
    code: Int32s


def build_postings(records: Records, attributes: Bools | None = None) -> Postings:
    """The postings of the marked attributes, by default of all; the others have no holders.

    >>> import pyarrow as pa
    >>> from unveil.linkage.records import records_from_codes
    >>> from unveil.release.codes import encode_column
    >>> table = {"age": [41, None, 30], "sex": ["f", "f", "m"]}
    >>> found = build_postings(records_from_codes({name: encode_column(pa.chunked_array([v])) for name,
    ...     v in table.items()}))
    >>> found.starts.tolist(), found.holder.tolist(), found.code.tolist()
    ([0, 2, 5], [2, 0, 0, 1, 2], [0, 1, 0, 0, 1])
    """
    indptr, attribute, value = records.indptr, records.attribute, records.value
    if attributes is not None:
        kept = attributes[attribute]
        indptr, attribute, value = np.append(0, np.cumsum(kept))[indptr], attribute[kept], value[kept]
    codes = int(value.max(initial=-1)) + 1
    places = indptr.astype(np.int32 if len(value) < 1 << 31 else np.int64)
    by_code = csr_array((attribute, value, places), shape=(records.n, codes)).tocsc()
    found = csr_array((by_code.indices, by_code.data, by_code.indptr), shape=(codes, records.c)).tocsc()
    return Postings(
        found.indptr.astype(np.int64),
        found.data.astype(np.int32, copy=False),
        found.indices.astype(np.int32, copy=False),
    )
