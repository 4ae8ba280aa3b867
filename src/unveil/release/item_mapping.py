"""The secret mapping of a protected release: what each original item became. It stays with the owner.

A mapping is a table with the columns ``item`` and ``pseudonym``. A suppressed item has no pseudonym; items merged into
a category share one. A third column, ``release``, holds the same mark in every row: a digest of the baskets that the
mapping belongs to. Names and order of these baskets are random, so that no two releases have the same mark, and a
mapping is refused beside any other release. The mark needs no place in the release, which any program can read. A
mapping that was made by hand may lack it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from unveil.errors import UnveilError
from unveil.release.secret_csv import unescape_formulas
from unveil.release.table import Table
from unveil.release.transactions import Transactions
from unveil.wording import list_text, safe_text

if TYPE_CHECKING:
    import pyarrow as pa

    from unveil.arrays import Ints

__all__ = ["mapping_table", "truth_from_mapping"]


def mapping_table(original: Transactions, release: Transactions, truth: Ints) -> pa.Table:
    """The mapping as a table with the columns ``item``, ``pseudonym`` and ``release``."""
    import numpy as np
    import pyarrow as pa

    gone = truth < 0
    places = pa.array(np.where(gone, 0, truth), mask=gone)
    marks = pa.repeat(_release_mark(release), len(truth))
    return pa.table({"item": original.labels, "pseudonym": release.labels.take(places), "release": marks})


def _release_mark(release: Transactions) -> str:
    """A digest of the baskets, whatever the format they are written in and however their items are numbered."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    order = pc.sort_indices(release.labels)
    rank = np.empty(len(order), np.int64)
    rank[np.asarray(order)] = np.arange(len(order))
    entries = np.sort(release.entry_baskets * len(rank) + rank[release.items])
    labels = release.labels.take(order).cast(pa.large_string()).to_pylist()
    digest = hashlib.sha256("".join(f"{len(label)}:{label}" for label in labels).encode())
    digest.update(entries.astype("<i8").tobytes())
    return digest.hexdigest()[:32]


def truth_from_mapping(mapping: Table, original: Transactions, release: Transactions) -> Ints:
    """The released item of each original item, −1 if suppressed, from a mapping that was written as a table."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    name = safe_text(mapping.name)
    lacking = [c for c in ("item", "pseudonym") if c not in mapping.columns]
    if lacking:
        raise UnveilError(f"{name}: no column {list_text(lacking)}; a mapping needs the columns item and pseudonym")
    whole = pa.Table.from_batches(mapping.batches())
    items, pseudonyms = (whole.column(c).combine_chunks().cast("string") for c in ("item", "pseudonym"))
    has_mark = "release" in mapping.columns
    if has_mark:
        if pc.unique(whole.column("release")).to_pylist() != [_release_mark(release)]:
            raise UnveilError(
                f"{name}: belongs to another release than {safe_text(release.name)}, or {safe_text(release.name)} was "
                "changed after it was written; use the mapping that was written with it"
            )
        items, pseudonyms = unescape_formulas(items), unescape_formulas(pseudonyms)
    places = _label_positions(items, np.arange(len(items)), original, name, has_mark)
    if len(np.unique(places)) < len(places) or len(places) < len(original.labels):
        raise UnveilError(
            f"{name}: does not name every item of {safe_text(original.name)} exactly once; use the mapping as written"
        )
    left_out = np.asarray(pc.equal(pc.fill_null(pseudonyms, ""), ""))
    truth = np.full(len(places), -1)
    kept = np.flatnonzero(~left_out)
    truth[places[kept]] = _label_positions(pseudonyms.filter(pa.array(~left_out)), kept, release, name, has_mark)
    return truth


def _label_positions(labels: pa.Array, rows: Ints, baskets: Transactions, name: str, has_mark: bool) -> Ints:
    """The codes of these labels, which stand in these rows of the mapping. Only one that unveil wrote has the mark of a
    release, and apostrophes before labels that a spreadsheet would take for formulas."""
    found = _label_codes(labels, baskets)
    if (found < 0).any():
        row = int(rows[(found < 0).argmax()]) + 1
        if not has_mark and _label_codes(unescape_formulas(labels), baskets).min() >= 0:
            raise UnveilError(
                f"{name}: has apostrophes before labels, as unveil writes them, but the column release is missing; use "
                "the mapping as written"
            )
        raise UnveilError(
            f"{name}: row {row:,} names an item that is not in {safe_text(baskets.name)}; use the mapping as written"
        )
    return found


def _label_codes(labels: pa.Array, baskets: Transactions) -> Ints:
    """The code of each label, −1 where there is no such item."""
    import numpy as np
    import pyarrow.compute as pc

    return np.asarray(pc.index_in(labels, baskets.labels.cast("string")).fill_null(-1), np.int64)
