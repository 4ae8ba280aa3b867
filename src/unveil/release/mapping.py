"""The mapping of a protected release: what each item of the original became. It stays with the owner.

A table with the columns ``item`` and ``pseudonym``; an item that was left out has no pseudonym, and items that were put
together have the same one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.wording import listed, shown

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["mapped", "truth_from"]


def mapped(original: Transactions, release: Transactions, truth: NDArray[np.int64]) -> pa.Table:
    """The mapping as a table."""
    import numpy as np
    import pyarrow as pa

    gone = truth < 0
    places = pa.array(np.where(gone, 0, truth), mask=gone)
    return pa.table({"item": original.labels, "pseudonym": release.labels.take(places)})


def truth_from(mapping: Table, original: Transactions, release: Transactions) -> NDArray[np.int64]:
    """What each item of the original became, from a mapping that was written as a table."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    name = shown(mapping.name)
    lacking = [c for c in ("item", "pseudonym") if c not in mapping.columns]
    if lacking:
        raise UnveilError(f"{name}: there is no column {listed(lacking)}; a mapping has the columns item and pseudonym")
    whole = pa.Table.from_batches(mapping.batches())
    items, pseudonyms = (whole.column(c).combine_chunks().cast("string") for c in ("item", "pseudonym"))
    places = _places(items, original, name)
    if len(np.unique(places)) < len(places) or len(places) < len(original.labels):
        raise UnveilError(
            f"{name}: does not name every item of {shown(original.name)} once; use the mapping as written"
        )
    left_out = np.asarray(pc.equal(pc.fill_null(pseudonyms, ""), ""))
    truth = np.full(len(places), -1)
    truth[places[~left_out]] = _places(pseudonyms.filter(pa.array(~left_out)), release, name)
    return truth


def _places(names: pa.Array, baskets: Transactions, name: str) -> NDArray[np.int64]:
    import numpy as np
    import pyarrow.compute as pc

    found = np.asarray(pc.index_in(names, baskets.labels.cast("string")).fill_null(-1), np.int64)
    if (found < 0).any():
        raise UnveilError(f"{name}: names something that is not in {shown(baskets.name)}; use the mapping as written")
    return found
